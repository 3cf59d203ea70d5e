"""A server of chat completions on loopback that answers after a while, or with faults.

``python benchmarks/server.py`` prints its port and serves until it is killed. A
prompt "case 12" is answered "answer 12"; the model "grader" says PASS. ``GET /stats``
gives what it has seen since ``POST /reset``, whose body sets the options anew. A fault is
drawn from prompt and attempt, so every client that asks the same meets the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_CASE = re.compile(rb"case (\d+)")


@dataclass
class Options:
    """How it answers; shares are of all requests."""

    latency: float = 0.2
    refused: float = 0.0
    """429, Retry-After 1."""
    broken: float = 0.0
    """500."""
    reset: float = 0.0
    """The connection is closed."""
    per_second: float = 0.0
    """More requests a second are refused with 429; 0 for no limit."""
    padding: int = 0
    """Bytes that are added to a reply."""


@dataclass
class Server:
    """What it has seen."""

    options: Options = field(default_factory=Options)
    calls: int = 0
    now: int = 0
    most: int = 0
    after_answer: int = 0
    """Requests for what had been answered already."""
    attempts: Counter[bytes] = field(default_factory=Counter)
    answered: set[bytes] = field(default_factory=set)
    bucket: float = 1.0
    bucket_at: float = 0.0

    def stats(self) -> dict[str, int]:
        """Return the counts."""
        names = ("calls", "most", "after_answer")
        return {name: getattr(self, name) for name in names}

    def status(self, body: bytes) -> int:
        """Return what happens to a request: a status, 0 for a closed connection."""
        options, key = self.options, hashlib.sha256(body).digest()
        if key in self.answered:
            self.after_answer += 1
        self.attempts[key] += 1
        if self._is_over_rate():
            return 429
        seed = key + self.attempts[key].to_bytes(2, "big")
        drawn = int.from_bytes(hashlib.sha256(seed).digest()[:6], "big") / 2**48
        for share, status in (
            (options.refused, 429),
            (options.broken, 500),
            (options.reset, 0),
        ):
            if drawn < share:
                return status
            drawn -= share
        self.answered.add(key)
        return 200

    def _is_over_rate(self) -> bool:
        rate = self.options.per_second
        if not rate:
            return False
        now = time.monotonic()
        filled = self.bucket + (now - self.bucket_at) * rate
        self.bucket, self.bucket_at = min(rate, filled), now
        if self.bucket < 1:
            return True
        self.bucket -= 1
        return False

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one connection's requests until it is closed."""
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(found[1])) if found else b""
        if b" /stats " in head:
            return _reply(writer, 200, self.stats())
        if b" /reset " in head:
            self.__init__(options=Options(**json.loads(body or b"{}")))  # type: ignore[misc]
            return _reply(writer, 200, {})
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        status = self.status(body)
        # Faults come at once, as they do from a gateway.
        await asyncio.sleep(self.options.latency if status == 200 else 0)
        self.now -= 1
        if status == 0:
            return False
        return _reply(writer, status, self._completion(body) if status == 200 else {})

    def _completion(self, body: bytes) -> dict[str, Any]:
        case = _CASE.search(body)
        number = case[1].decode() if case else "?"
        is_grader = b'"grader"' in body
        text = "PASS: it is so." if is_grader else f"answer {number}"
        text += " and so on" * (0 if is_grader else self.options.padding // 10)
        return {
            "id": "c",
            "object": "chat.completion",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }


def _reply(writer: asyncio.StreamWriter, status: int, data: Any) -> bool:
    body = json.dumps(data).encode()
    retry = b"retry-after: 1\r\n" if status == 429 else b""
    writer.write(
        b"HTTP/1.1 %d x\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n"
        % (status, retry, len(body))
        + body
    )
    return True


async def main() -> None:
    """Serve, and print the port."""
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
