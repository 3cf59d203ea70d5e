"""The embedded model: ``local:smollm2``, one server a run, shared by its workers.

The first process that needs it starts it and leaves its address in ``.llmeval/``; the
others wait for that. It ends with the pytest run that owns it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_llmeval.clients._base import Owner, Request
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients.models import weights_path
from pytest_llmeval.clients.openai import OpenAIBackend
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ProviderError, UserError
from pytest_llmeval.store.lines import prepare_home
from pytest_llmeval.types import Response

__all__ = ["LocalBackend"]

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05
_DAY_SECONDS = 86400.0
_KEY_VARIABLE = "LLMEVAL_LOCAL_KEY"


@dataclass(slots=True, kw_only=True)
class LocalBackend:
    """Asks the embedded model, starting its server with the first question."""

    name: str
    model: str
    home: Path
    """The suite's ``.llmeval`` folder."""
    owner: Owner
    limits: Limits
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str = "chat"
    sends_prompt: bool = True
    _client: OpenAIBackend | None = None

    def identity(self, request: Request) -> dict[str, Any]:
        """Return model, messages and parameters; the port is of the moment."""
        return {
            "provider": "local",
            "model": self.model,
            "api": self.api,
            "messages": request.prompt.to_json(),
            "params": {**self.params, **request.params},
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: The server can't be started, or gave none.
        """
        from dataclasses import replace

        from pytest_llmeval.loop import in_daemon_thread

        if self._client is None:
            address, key = await in_daemon_thread(self._address)
            self._client = self._client_of(address, key)
        response = await self._client.answer(request)
        return replace(response, provider="local", cost=0.0)

    async def close(self) -> None:
        """Close the connections; the server goes with its owner."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _client_of(self, address: str, key: str) -> OpenAIBackend:
        return OpenAIBackend(
            name=self.name,
            model=self.model,
            base_url=f"{address}/v1",
            keys=Keys.of(key),
            wire=Wire(
                width=self.limits.concurrency,
                timeout_seconds=self.limits.timeout_seconds,
            ),
            params=self.params,
            api=self.api,
            deadline_seconds=self.limits.deadline_seconds,
        )

    def _address(self) -> tuple[str, str]:
        """Return address and key of the run's server, started if nobody has."""
        try:
            prepare_home(self.home)
            note = self.home / f"local-{self.owner.run}-{self.model}.json"
            try:
                os.close(os.open(f"{note}.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                return self._waited_for(note)
            return self._started(note)
        except OSError as exc:
            message = f"{self.name}: the server can't be started: {exc}"
            raise ProviderError(message) from exc

    def _waited_for(self, note: Path) -> tuple[str, str]:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if note.exists():
                data = json.loads(note.read_text("utf-8"))
                if "failed" in data:
                    raise ProviderError(data["failed"])
                return data["address"], data["key"]
            time.sleep(_LOOK_SECONDS)
        message = f"{self.name}: its server was not ready within {_START_SECONDS:g} s"
        raise ProviderError(message)

    def _started(self, note: Path) -> tuple[str, str]:
        key = secrets.token_hex(16)
        _forget_old(self.home)
        try:
            address = self._launched(key)
        except ProviderError as exc:
            _leave(note, {"failed": exc.reason})
            raise
        _leave(note, {"address": address, "key": key})
        return address, key

    def _launched(self, key: str) -> str:
        """Return the address of a server that this process starts."""
        try:
            weights = weights_path(self.model)
        except UserError as exc:
            raise ProviderError(f"{self.name}: {exc}") from exc
        if find_spec("xllamacpp") is None:
            message = (
                f"{self.name} needs the extra local: "
                f"pip install 'pytest-llm-regression[local]'"
            )
            raise ProviderError(message)
        if not weights.exists():
            message = (
                f"{self.name}: the weights are not here ({weights}); get them: "
                f"python -m pytest_llmeval model {self.model}"
            )
            raise ProviderError(message)
        return self._ready(weights, key)

    def _ready(self, weights: Path, key: str) -> str:
        command = [sys.executable, "-m", "pytest_llmeval.clients.serve", str(weights)]
        command += ["--alias", self.model, "--owner", str(self.owner.process)]
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # Not of our group: Ctrl-C is for pytest, which may still have questions.
            start_new_session=True,
            env={**os.environ, _KEY_VARIABLE: key, "OMP_WAIT_POLICY": "passive"},
        )
        assert server.stdout is not None
        with server.stdout:
            word, _, rest = server.stdout.readline().strip().partition(" ")
        if word != "ready":
            server.kill()
            server.wait()
            message = f"{self.name}: the server did not start: {rest or 'no word'}"
            raise ProviderError(message)
        return rest


def _forget_old(home: Path) -> None:
    """Remove the notes of runs that ended long ago."""
    for note in home.glob("local-*"):
        if time.time() - note.stat().st_mtime > _DAY_SECONDS:
            note.unlink(missing_ok=True)


def _leave(note: Path, data: Mapping[str, str]) -> None:
    """Leave word for the other processes, whole or not at all."""
    part = note.with_suffix(".part")
    part.touch(mode=0o600)
    part.write_text(json.dumps(data), encoding="utf-8")
    os.replace(part, note)
