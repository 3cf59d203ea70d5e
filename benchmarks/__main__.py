"""How much pytest-llmeval costs beside the waiting: ``python benchmarks``.

Each line is measured beside a bare loop of asyncio and httpx, or bare pytest, in the same
run and in turns with it, against a small server on loopback. Shared machines are noisy:
trust ratios above seconds, CPU above both, and look at the load in the last line.
``python benchmarks NAME...`` measures some alone, ``--rounds=N`` says how often (5);
``python benchmarks soak`` looks at a run of 20,000 cases with faults, ``python benchmarks
storm`` runs the tests of what runs at the same time fifty times.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import soak
import storm
import suites
from measure import Server, Took, median, run, serving, spread

FLOOR = Path(__file__).with_name("floor.py")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@dataclass
class Bench:
    """One run of the benchmarks."""

    server: Server
    folder: Path
    rounds: int
    cases: int | None = None
    """Of a long run, where it is not the usual number."""
    seed: int | None = None
    """Of the first round of a storm."""
    spread: str = ""
    """How far apart the rounds of the last measurement lie."""

    def say(self, text: str) -> None:
        """Print a line at once: the whole takes minutes."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def ours(self, suite: Path, *args: str) -> Took:
        """Return what our run of a suite took."""
        return run([*PYTEST, *args], suite)

    def side_by_side(self, **runs: Callable[[], Took]) -> dict[str, Took]:
        """Return the median of each, measured in turns."""
        found: dict[str, list[Took]] = {name: [] for name in runs}
        for _ in range(self.rounds):
            for name, one in runs.items():
                found[name].append(one())
        self.spread = ", ".join(f"{n} {spread(v)}" for n, v in found.items())
        return {name: median(values) for name, values in found.items()}


def waiting(
    bench: Bench, name: str, *, count: int, width: int, calls: int, bar: float
) -> None:
    """Measure a run that waits 200 ms for each call against the ideal."""
    suite = suites.evaluations(
        bench.folder / name, count=count, url=bench.server.url, is_judged=calls == 2
    )
    seen: list[dict[str, int]] = []

    def floor() -> Took:
        bench.server.reset({"latency": 0.2})
        given = [f"{bench.server.url}/v1", *map(str, (count, width, calls))]
        return run([sys.executable, str(FLOOR), *given], bench.folder)

    def ours() -> Took:
        bench.server.reset({"latency": 0.2})
        took = bench.ours(
            suite, f"--llmeval-concurrency={width}", "--llmeval-mode=live"
        )
        seen.append(bench.server.stats())
        return took

    took = bench.side_by_side(floor=floor, ours=ours)
    ideal = count * calls * 0.2 / width
    cpu = took["ours"].cpu_seconds / (count * calls) * 1000
    bench.say(
        f"{name}: {took['ours'].seconds / ideal:.2f} of the ideal {ideal:.1f} s "
        f"(to hold: {bar}), bare loop {took['floor'].seconds / ideal:.2f}; "
        f"{cpu:.2f} ms CPU a call (1.2); {seen[-1]['calls']:,} calls "
        f"({count * calls:,}), {max(s['most'] for s in seen)} in flight ({width}); "
        f"{_outcome(took['ours'])}; {bench.spread}"
    )


def generated(bench: Bench) -> None:
    """500 cases, a call each."""
    waiting(bench, "generated", count=500, width=50, calls=1, bar=1.35)


def judged(bench: Bench) -> None:
    """500 cases, generated and judged."""
    waiting(bench, "judged", count=500, width=50, calls=2, bar=1.20)


def wide(bench: Bench) -> None:
    """2,000 cases, 200 at once."""
    waiting(bench, "wide", count=2000, width=200, calls=1, bar=1.7)


def replayed(bench: Bench) -> None:
    """2,000 recorded replies, beside as many tests that do nothing."""
    count = 2000
    suite = suites.evaluations(
        bench.folder / "replayed", count=count, url=bench.server.url
    )
    bare = suites.bare(bench.folder / "bare", count=count)
    bench.server.reset({"latency": 0.0})
    bench.ours(suite, "--llmeval-mode=record", "--llmeval-concurrency=50")
    took = bench.side_by_side(
        bare=lambda: bench.ours(bare),
        replay=lambda: bench.ours(suite, "--llmeval-mode=replay"),
        cached=lambda: bench.ours(suite),
    )
    for name in ("replay", "cached"):
        bench.say(
            f"replayed ({name}): {count / took[name].seconds:,.0f} cases a second (to "
            f"hold: 1,800 on a quiet machine), bare pytest "
            f"{count / took['bare'].seconds:,.0f}; CPU {took[name].cpu_seconds:.2f} s, "
            f"bare {took['bare'].cpu_seconds:.2f} s; {_outcome(took[name])}"
        )


def collected(bench: Bench) -> None:
    """100,000 cases in one dataset, collected, beside as many bare parameters."""
    count = 100_000
    suite = suites.evaluations(
        bench.folder / "collected", count=count, url=bench.server.url
    )
    bare = suites.bare(bench.folder / "bare-100k", count=count)
    took = bench.side_by_side(
        bare=lambda: bench.ours(bare, "--collect-only", "-qq"),
        ours=lambda: bench.ours(suite, "--collect-only", "-qq"),
    )
    ours, floor = took["ours"], took["bare"]
    bench.say(
        f"collected: {ours.seconds / floor.seconds:.2f} of bare pytest's time (to hold: "
        f"1.3; CPU {ours.cpu_seconds / floor.cpu_seconds:.2f}), "
        f"{ours.most_mib / floor.most_mib:.2f} of its memory (1.5; "
        f"{ours.most_mib:.0f} MiB)"
    )


def large(bench: Bench) -> None:
    """5,000 cases with replies of 2 kB: the memory."""
    suite = suites.evaluations(bench.folder / "large", count=5000, url=bench.server.url)
    bench.server.reset({"latency": 0.005, "padding": 2000})
    took = bench.ours(suite, "--llmeval-concurrency=50", "--llmeval-mode=live")
    bench.say(f"large: {took.most_mib:.0f} MiB at most (to hold: 90); {_outcome(took)}")


def spread_out(bench: Bench) -> None:
    """400 cases of 200 ms, with and without four workers of xdist."""
    suite = suites.evaluations(bench.folder / "xdist", count=400, url=bench.server.url)
    bare = suites.bare(bench.folder / "bare-400", count=400)
    seen: dict[str, dict[str, int]] = {}

    def once(name: str, *args: str) -> Took:
        bench.server.reset({"latency": 0.2})
        took = bench.ours(suite, "--llmeval-mode=live", *args)
        seen[name] = bench.server.stats()
        return took

    took = bench.side_by_side(
        alone=lambda: once("alone"),
        workers=lambda: once("workers", "-n4"),
        bare=lambda: bench.ours(bare),
        bare_workers=lambda: bench.ours(bare, "-n4"),
    )
    start = took["bare_workers"].seconds - took["bare"].seconds
    bench.say(
        f"xdist: {took['workers'].seconds:.1f} s with four workers, "
        f"{took['alone'].seconds:.1f} s without (to hold: no longer, but for their "
        f"start, which takes bare pytest {start:.1f} s); {seen['workers']['calls']} calls (400), "
        f"{seen['workers']['most']} in flight (10); {_outcome(took['workers'])}"
    )


def faulty(bench: Bench) -> None:
    """300 cases, generated and judged: 10 % 429, 5 % 500, 2 % closed connections."""
    troubled(
        bench,
        "faulty",
        {"latency": 0.05, "refused": 0.10, "broken": 0.05, "reset": 0.02},
        calls=2,
        bar="6 s, none repeated after a success",
    )


def limited(bench: Bench) -> None:
    """300 cases against a server that allows 50 requests a second."""
    troubled(
        bench,
        "limited",
        {"latency": 0.05, "per_second": 50},
        calls=1,
        bar="5.6 s with 330 calls",
    )


def troubled(
    bench: Bench, name: str, options: dict[str, Any], *, calls: int, bar: str
) -> None:
    """Measure a run against a server in trouble."""
    suite = suites.evaluations(
        bench.folder / name, count=300, url=bench.server.url, is_judged=calls == 2
    )
    seen: dict[str, dict[str, int]] = {}

    def once(who: str, one: Callable[[], Took]) -> Took:
        bench.server.reset(options)
        took = one()
        seen[who] = bench.server.stats()
        return took

    given = [f"{bench.server.url}/v1", "300", "20", str(calls)]
    took = bench.side_by_side(
        floor=lambda: once(
            "floor", lambda: run([sys.executable, str(FLOOR), *given], bench.folder)
        ),
        ours=lambda: once(
            "ours",
            lambda: bench.ours(
                suite, "--llmeval-concurrency=20", "--llmeval-mode=live"
            ),
        ),
    )
    bench.say(
        f"{name}: {took['ours'].seconds:.1f} s (to hold: {bar}), bare loop "
        f"{took['floor'].seconds:.1f} s; {seen['ours']['calls']} calls, "
        f"{seen['ours']['after_answer']} after an answer; bare loop "
        f"{seen['floor']['calls']}; {_outcome(took['ours'])}"
    )


def unused(bench: Bench) -> None:
    """What the import costs a suite that has no evaluations."""
    bare = suites.bare(bench.folder / "unused", count=1)
    command = [sys.executable, "-X", "importtime", "-m", "pytest", "-q"]
    best = 1e9
    for _ in range(max(bench.rounds, 3)):
        output = run(command, bare).output
        # Once for each of our modules, by itself: "import time: self | all | name".
        own = re.findall(r"import time: +(\d+) \| +\d+ \| +pytest_llmeval", output)
        best = min(best, sum(map(int, own)) / 1000)
    bench.say(f"unused: {best:.1f} ms for our own modules (to hold: 10)")


def soaked(bench: Bench) -> None:
    """A long run with faults: what it holds, and whether every case is told."""
    for line in soak.soak(
        bench.server, bench.folder, PYTEST, bench.cases or soak.CASES
    ):
        bench.say(line)


def stormy(bench: Bench) -> None:
    """The tests of what runs at the same time, many times over."""
    for line in storm.storm(bench.rounds, bench.seed):
        bench.say(line)


ALL: dict[str, Callable[[Bench], None]] = {
    "generated": generated,
    "judged": judged,
    "wide": wide,
    "replayed": replayed,
    "collected": collected,
    "large": large,
    "xdist": spread_out,
    "faulty": faulty,
    "limited": limited,
    "unused": unused,
    "soak": soaked,
    "storm": stormy,
}
#: What is only measured when it is named: it takes long.
LONG = {"soak", "storm"}


def _outcome(took: Took) -> str:
    """Return pytest's last line."""
    lines = [line for line in took.output.splitlines() if line.strip()]
    return lines[-1].strip("= ") if lines else "no output"


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--rounds", type=int, help="5; of storm 50")
    parser.add_argument("--cases", type=int, help="of soak (20,000)")
    parser.add_argument("--seed", type=int, help="of storm's first round")
    given = parser.parse_args()
    unknown = set(given.names) - set(ALL)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}: {', '.join(ALL)}")
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        usual = storm.ROUNDS if given.names == ["storm"] else 5
        bench = Bench(
            server=server,
            folder=Path(folder),
            rounds=given.rounds or usual,
            cases=given.cases,
            seed=given.seed,
        )
        for name in given.names or [name for name in ALL if name not in LONG]:
            ALL[name](bench)
        load = " ".join(f"{value:.1f}" for value in os.getloadavg())
        bench.say(f"load of the machine: {load} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
