"""A long run with faults, looked at from outside: what it holds, and what it tells.

``python benchmarks soak``: 20,000 cases, at least five minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import suites
from measure import Server

CASES = 20_000
WIDTH = 20
FAULTS = {"latency": 0.3, "refused": 0.02, "broken": 0.02, "reset": 0.02}
SECONDS_BETWEEN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a process held at a time."""

    ended: int
    """Cases that were journalled."""
    mib: float
    handles: int
    threads: int


def soak(server: Server, folder: Path, command: list[str], count: int) -> Iterator[str]:
    """Run so many cases against a server with faults; yield lines of what was seen.

    Args:
        server: Answers.
        folder: For the suite.
        command: What runs pytest.
        count: Cases.
    """
    suite = suites.evaluations(folder / "soak", count=count, url=server.url)
    server.reset(FAULTS)
    began = time.monotonic()
    args = [f"--llmeval-concurrency={WIDTH}", "--llmeval-mode=live"]
    report = suite / "report.json"
    with subprocess.Popen(
        [*command, *args, f"--llmeval-report={report}"],
        cwd=suite,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    ) as process:
        samples = list(_watched(process, suite))
    seconds = time.monotonic() - began
    yield f"soak: {count:,} cases in {seconds:.0f} s, exit status {process.returncode}"
    yield from _held(samples)
    yield from _told(suite, report, count, server.stats())


def _watched(process: subprocess.Popen[bytes], suite: Path) -> Iterator[Sample]:
    """Yield samples until the process ends."""
    while process.poll() is None:
        try:
            process.wait(SECONDS_BETWEEN)
        except subprocess.TimeoutExpired:
            sample = _sample(process.pid, suite)
            if sample is not None:
                yield sample


def _sample(pid: int, suite: Path) -> Sample | None:
    home = Path("/proc") / str(pid)
    try:
        status = (home / "status").read_text("utf-8")
        handles = len(os.listdir(home / "fd"))
    except OSError:  # it has just ended
        return None
    values = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if "VmRSS" not in values:
        return None
    return Sample(
        ended=sum(
            _lines(path) for path in (suite / ".llmeval" / "runs").glob("*.jsonl")
        ),
        mib=int(values["VmRSS"].split()[0]) / 1024,
        handles=handles,
        threads=int(values["Threads"]),
    )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _held(samples: list[Sample]) -> Iterator[str]:
    """Yield how memory, handles and threads stood while cases ran."""
    running = [sample for sample in samples if sample.ended > 0]
    if len(running) < 4:
        yield "  too short to say what it held"
        return
    half = running[len(running) // 2 :]
    grown = half[-1].mib - half[0].mib
    cases = max(half[-1].ended - half[0].ended, 1)
    quarters = [running[(len(running) - 1) * n // 4].mib for n in range(5)]
    yield (
        f"  memory {' → '.join(f'{mib:.0f}' for mib in quarters)} MiB; "
        f"{grown * 1024 / cases:.1f} KiB a case in the second half (to hold: 4, of "
        f"which bare pytest keeps 2.6 of a test that does nothing)"
    )
    for name in ("handles", "threads"):
        values = [getattr(sample, name) for sample in running]
        later = [getattr(sample, name) for sample in half]
        yield (
            f"  {name} {min(values)} to {max(values)}, in the second half at most "
            f"{max(later)} (flat)"
        )


def _told(
    suite: Path, report: Path, count: int, stats: dict[str, int]
) -> Iterator[str]:
    """Yield whether every case is accounted for, once and rightly."""
    data = json.loads(report.read_text("utf-8"))
    statuses = Counter(case["status"] for case in data["cases"])
    ids = {case["case_id"] for case in data["cases"]}
    wrong = sum(not _is_own(case) for case in data["cases"])
    (journal,) = (suite / ".llmeval" / "runs").glob("*.jsonl")
    yield (
        f"  {len(ids):,} different cases in the report, {_lines(journal) - 2:,} in the "
        f"journal ({count:,}); {dict(statuses)}; {wrong} with another case's reply (0); "
        f"{stats['calls']:,} requests, {stats['most']} at most in flight ({WIDTH}), "
        f"{stats['after_answer']} for what had been answered (0)"
    )


def _is_own(case: dict[str, object]) -> bool:
    """Whether a case's reply is the one to its own question, or none came."""
    (sample,) = case["samples"]  # type: ignore[misc]
    number = int(str(case["case_id"]).removeprefix("case-"))
    reply = sample["response"]  # type: ignore[has-type]
    return reply in {None, f"answer {number}"}
