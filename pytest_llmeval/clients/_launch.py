"""One server of the embedded model a run, whichever of its processes needs it first.

The first one takes a lock in ``.llmeval`` and starts the server, which leaves a note
with its address; the others wait for that.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from pytest_llmeval.clients._base import Owner
from pytest_llmeval.clients._process import forget_old
from pytest_llmeval.clients.models import weights_path
from pytest_llmeval.clients.serve import KEY_VARIABLE, write_note
from pytest_llmeval.config.environment import environment
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.store.lines import prepare_home

__all__ = ["Launch"]

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The server of a run's model."""

    name: str
    """Of the entry, for error texts."""
    model: str
    home: Path
    """The suite's ``.llmeval`` folder."""
    owner: Owner

    @property
    def _note(self) -> Path:
        name = f"local-{self.owner.process}-{self.owner.run}-{self.model}.json"
        return self.home / name

    @property
    def _lock(self) -> Path:
        return self._note.with_suffix(".lock")

    def address(self) -> tuple[str, str]:
        """Return the server's address and key; blocks while it starts.

        Raises:
            ProviderError: It can't be started.
        """
        try:
            prepare_home(self.home)
            try:
                os.close(os.open(self._lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                return self._waited_for()
            forget_old(self.home, "local")
            try:
                self._start()
            except ProviderError as exc:
                # The others need not try what has just failed.
                write_note(self._note, {"failed": exc.reason})
                raise
            return self._waited_for()
        except OSError as exc:
            message = f"{self.name}: the server can't be started: {exc}"
            raise ProviderError(message) from exc

    def end(self) -> None:
        """End the server, if this process owns the run; else it ends with its owner."""
        if self.owner.process == os.getpid():
            with suppress(OSError):  # most often there is none
                self._note.unlink(missing_ok=True)
                self._lock.unlink(missing_ok=True)

    def _waited_for(self) -> tuple[str, str]:
        end = time.monotonic() + _START_SECONDS
        while not self._note.exists():
            if time.monotonic() > end:
                message = (
                    f"{self.name}: its server was not ready within {_START_SECONDS:g} s"
                )
                raise ProviderError(message)
            time.sleep(_LOOK_SECONDS)
        data = json.loads(self._note.read_text("utf-8"))
        if "failed" in data:
            raise ProviderError(data["failed"])
        return data["address"], data["key"]

    def _start(self) -> None:
        """Start a server and wait until it is ready."""
        if find_spec("xllamacpp") is None:
            message = (
                f"{self.name} needs the extra local: "
                f"pip install 'pytest-llm-regression[local]'"
            )
            raise ProviderError(message)
        weights = weights_path(self.model)
        if not weights.exists():
            message = (
                f"{self.name}: the weights are not here ({weights}); get them: "
                f"python -m pytest_llmeval model {self.model}"
            )
            raise ProviderError(message)
        with tempfile.TemporaryFile() as errors:
            said = self._said_by_server(weights, errors)
            if said == "ready":
                return
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        said = said.removeprefix("failed ") or (
            lines[-1] if lines else "it said nothing"
        )
        message = (
            f"{self.name}: the server did not start: {said}; are the weights whole "
            f"({weights})?"
        )
        raise ProviderError(message)

    def _said_by_server(self, weights: Path, errors: IO[bytes]) -> str:
        # -P: nothing in the suite's folder may stand in for a module of Python's.
        command = [sys.executable, "-P", "-m", "pytest_llmeval.clients.serve"]
        command += [str(weights), "--alias", self.model, "--note", str(self._note)]
        command += ["--owner", str(self.owner.process)]
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            # Not of our group: Ctrl-C is for pytest, which may still have questions.
            start_new_session=True,
            env=environment(
                **{KEY_VARIABLE: secrets.token_hex(16), "OMP_WAIT_POLICY": "passive"}
            ),
        )
        patience = threading.Timer(_START_SECONDS, server.kill)
        patience.start()
        assert server.stdout is not None
        with server.stdout:
            said = server.stdout.readline().strip()
        patience.cancel()
        if said == "ready":
            # Not ours to wait for, it ends after us; Popen would warn of it.
            server.returncode = 0
        else:
            server.kill()
            server.wait()
        return said
