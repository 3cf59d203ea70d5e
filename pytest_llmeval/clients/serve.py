"""The embedded model's server: llama.cpp in a process of its own, on loopback.

Started by `local` as ``python -m pytest_llmeval.clients.serve``; prints its address
when it is ready and ends when the pytest run that owns it has ended, however that was.
"""

from __future__ import annotations

import os
import sys
import threading
from argparse import ArgumentParser
from typing import Any

#: One thread: beside any other busy process llama.cpp falls from 150 tokens a second to
#: about one with two.
_THREADS = 1
_SLOTS = 2
_CONTEXT = 2048
_LOOK_SECONDS = 0.5


def main() -> int:
    """Serve until the owner is gone; return the exit status."""
    parser = ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--alias", required=True)
    parser.add_argument("--owner", type=int, required=True)
    options = parser.parse_args()
    try:
        server = _server(options.weights, options.alias)
    except (ImportError, RuntimeError, ValueError) as exc:
        sys.stdout.write(f"failed {exc}\n")
        return 1
    sys.stdout.write(f"ready {server.listening_address}\n")
    sys.stdout.flush()
    gone = threading.Event()
    while _is_alive(options.owner):
        gone.wait(_LOOK_SECONDS)
    return 0


def _server(weights: str, alias: str) -> Any:
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
    parameters.api_keys = [os.environ["LLMEVAL_LOCAL_KEY"]]
    return xllamacpp.Server(parameters)


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # os.kill would end it
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x100000, 0, process)
        return bool(handle) and bool(
            ctypes.windll.kernel32.WaitForSingleObject(handle, 0)
        )
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    raise SystemExit(main())
