"""The embedded model's server: llama.cpp in a process of its own, on loopback.

Started by `local` as ``python -m pytest_llmeval.clients.serve``; leaves its address and
key in a note, says that it is ready, and ends when the pytest run that owns it has
ended, however that was, or when the note is taken away.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from pytest_llmeval.clients._process import is_alive

__all__ = ["KEY_VARIABLE", "main", "write_note"]

KEY_VARIABLE = "LLMEVAL_LOCAL_KEY"

#: One thread: beside any other busy process llama.cpp falls from 150 tokens a second to
#: about one with two.
_THREADS = 1
_SLOTS = 1
_CONTEXT = 2048
_LOOK_SECONDS = 0.25


def main() -> int:
    """Serve until the owner is gone; return the exit status."""
    parser = ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--alias", required=True)
    parser.add_argument("--owner", type=int, required=True)
    parser.add_argument("--note", type=Path, required=True)
    options = parser.parse_args()
    key = os.environ[KEY_VARIABLE]
    try:
        server = _server(options.weights, options.alias, key)
    except (ImportError, RuntimeError, ValueError) as exc:
        sys.stdout.write(f"failed {exc}\n")
        return 1
    data = {"address": server.listening_address, "key": key}
    write_note(options.note, data)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    gone = threading.Event()
    while is_alive(options.owner):
        if not _holds(options.note, data):
            return 0
        gone.wait(_LOOK_SECONDS)
    for path in (options.note, options.note.with_suffix(".lock")):
        path.unlink(missing_ok=True)
    return 0


def _holds(note: Path, data: dict[str, str]) -> bool:
    """Return whether a note is there and still speaks of this server."""
    try:
        return bool(json.loads(note.read_text("utf-8")) == data)
    except (OSError, ValueError):
        return False


def write_note(note: Path, data: dict[str, str]) -> None:
    """Leave word for the run's processes: whole or not at all, and for no one else."""
    part = note.with_suffix(".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(data, file)
    os.replace(part, note)


def _server(weights: str, alias: str, key: str) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights
    parameters.model_alias = {alias}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = _SLOTS
    parameters.n_ctx = _CONTEXT * _SLOTS
    parameters.cpuparams.n_threads = _THREADS
    parameters.cpuparams_batch.n_threads = _THREADS
    parameters.verbosity = 0
    # Without a key any page in a browser could ask it: it allows every origin.
    parameters.api_keys = [key]
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    raise SystemExit(main())
