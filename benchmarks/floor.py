"""The floor: the same work by a bare loop of asyncio and httpx, a client a slot.

``python benchmarks/floor.py URL CASES WIDTH CALLS`` asks CALLS questions for each case, one
after the other, WIDTH cases at once, and tries again what may pass.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import sys
from typing import Any

import httpx


async def ask(client: httpx.AsyncClient, url: str, body: dict[str, Any]) -> str:
    """Return a reply, after as many attempts as it takes."""
    while True:
        try:
            reply = await client.post(f"{url}/chat/completions", json=body)
        except httpx.TransportError:
            await asyncio.sleep(random.random() / 2)
            continue
        if reply.status_code == 200:
            return str(reply.json()["choices"][0]["message"]["content"])
        seconds = float(reply.headers.get("retry-after", random.random() / 2))
        await asyncio.sleep(seconds)


async def worker(url: str, cases: list[int], calls: int, tls: ssl.SSLContext) -> None:
    """Do cases until there are none left."""
    async with httpx.AsyncClient(timeout=60, verify=tls) as client:
        while cases:
            number = cases.pop()
            for model in ("m", "grader")[:calls]:
                messages = [{"role": "user", "content": f"case {number}: what is it?"}]
                text = await ask(client, url, {"model": model, "messages": messages})
                assert text.startswith(f"answer {number}" if model == "m" else "PASS")


async def main(url: str, count: int, width: int, calls: int) -> None:
    """Do all cases."""
    cases = list(range(count))
    tls = ssl.create_default_context()
    await asyncio.gather(*(worker(url, cases, calls, tls) for _ in range(width)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
