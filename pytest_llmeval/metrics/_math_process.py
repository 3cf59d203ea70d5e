"""The process that compares formulas: started on first need, killed when it hangs."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final

from pytest_llmeval.config.environment import environment
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._extras import needed

__all__ = ["PROCESS", "MathProcess"]

_WORKER: Final = Path(__file__).with_name("_math_worker.py")
#: Importing sympy takes a second, on a busy machine many.
_START_SECONDS: Final = 120.0


class MathProcess:
    """A worker and the pipes to it; one request at a time, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    def compare(self, gold: str, reply: str, *, seconds: float) -> dict[str, Any]:
        """Return what the worker found: ``is_equal`` and the two formulas it read.

        Args:
            gold: What is expected.
            reply: The reply.
            seconds: After which the worker is killed.

        Raises:
            MissingExtraError: math-verify isn't installed.
            UnscoredError: It took too long, or the worker ended.
        """
        with self._lock:
            process = self._started()
            request = json.dumps({"gold": gold, "reply": reply})
            line = self._asked(process, request + "\n", seconds)
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            message = f"the formulas could not be compared: {found['error']}"
            raise UnscoredError(message, cause="data")
        return found

    def stop(self) -> None:
        """Kill the worker, if there is one of this process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _started(self) -> subprocess.Popen[str]:
        # After a fork the worker is the parent's.
        if self._owner != os.getpid():
            self._process = None
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.stop()
        needed("math_verify", extra="math", metric="math")
        # -P: the worker's neighbours are named like modules of the standard library.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env=environment(
                # It imports what we can.
                PYTHONPATH=os.pathsep.join(filter(None, sys.path))
            ),
        )
        self._owner = os.getpid()
        atexit.register(self.stop)
        self._asked(self._process, "", _START_SECONDS)
        return self._process

    def _asked(
        self, process: subprocess.Popen[str], request: str, seconds: float
    ) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        lines: SimpleQueue[str] = SimpleQueue()
        read = process.stdout.readline
        Thread(target=lambda: lines.put(read()), daemon=True).start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            line = lines.get(timeout=seconds)
        except Empty:
            self.stop()
            message = (
                f"comparing the formulas took longer than {seconds:g} s and was "
                f"stopped; seconds= gives it longer"
            )
            raise UnscoredError(message, cause="suite") from None
        except OSError:
            line = ""
        if not line:
            self.stop()
            message = "the process that compares formulas ended without an answer"
            raise UnscoredError(message, cause="suite")
        return line


#: One worker for all metrics of a process. It has no other owner: metrics are plain
#: functions, and starting a worker for each would take a second.
PROCESS: Final = MathProcess()
