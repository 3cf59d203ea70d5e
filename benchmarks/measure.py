"""Running a command and saying what it took."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a process took, its children included."""

    seconds: float
    cpu_seconds: float
    most_mib: float
    """Of the process and its children, the largest."""
    output: str


def run(command: list[str], folder: Path) -> Took:
    """Return what a command took; what it wrote stands in `output`."""
    environment = {k: v for k, v in os.environ.items() if "DONTWRITE" not in k}
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # it is waited for already
    return Took(
        seconds=time.perf_counter() - began,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        most_mib=usage.ru_maxrss / 1024,
        output=output,
    )


def median(values: list[Took]) -> Took:
    """Return the one in the middle, by its seconds."""
    return sorted(values, key=lambda took: took.seconds)[len(values) // 2]


def spread(values: list[Took]) -> str:
    """Return how far apart they lie."""
    seconds = [took.seconds for took in values]
    if len(seconds) < 2:
        return ""
    return f"± {statistics.stdev(seconds):.2f} s"


class Server:
    """The server, in a process of its own."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def reset(self, options: Mapping[str, Any]) -> None:
        """Begin to count anew, and answer so."""
        data = json.dumps(dict(options)).encode()
        with urlopen(Request(f"{self.url}/reset", data=data, method="POST")):
            pass

    def stats(self) -> dict[str, int]:
        """Return what it has seen."""
        with urlopen(f"{self.url}/stats") as reply:
            found: dict[str, int] = json.load(reply)
        return found


@contextmanager
def serving() -> Iterator[Server]:
    """Give a server while the block runs."""
    command = [sys.executable, str(Path(__file__).with_name("server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline()))
        finally:
            process.kill()
