"""The tests of what runs at the same time, again and again: no flake may be left.

``python benchmarks storm`` runs them fifty times, each time in another order, with other
latencies of the servers and other pauses around bodies, and prints each round's seed;
``--seed=N --rounds=1`` runs one of them again. Given to pytest by ``-p storm``, this file
is the plugin that does so.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROUNDS = 50
ROOT = Path(__file__).parent.parent
#: What has threads, an event loop, connections or several processes.
TESTS = (
    "tests/unit/test_ahead_engine.py",
    "tests/unit/test_blocks.py",
    "tests/unit/test_clients_flights.py",
    "tests/unit/test_clients_keeper.py",
    "tests/unit/test_clients_limits.py",
    "tests/unit/test_clients_retry.py",
    "tests/unit/test_loop.py",
    "tests/unit/test_store_answers.py",
    "tests/unit/test_store_cache.py",
    "tests/unit/test_store_claims.py",
    "tests/plugin/test_ahead.py",
    "tests/plugin/test_ahead_alone.py",
    "tests/plugin/test_ahead_output.py",
    "tests/plugin/test_ahead_xdist.py",
    "tests/plugin/test_repeats.py",
    "tests/wire/test_connections.py",
    "tests/wire/test_event_loop.py",
    "tests/wire/test_retries.py",
)
_LONGEST_SECONDS = 0.02
_VARIABLE = "LLMEVAL_TEST_STORM"


def storm(rounds: int, first: int | None) -> Iterator[str]:
    """Run the tests so many times; yield a line for each round.

    Args:
        rounds: How many times.
        first: Seed of the first round; the next ones follow it. None for any.
    """
    failed = []
    seed = random.SystemRandom().randrange(10**6) if first is None else first
    for number in range(rounds):
        began = time.monotonic()
        code, output = _round(seed + number)
        line = f"storm: round {number + 1} of {rounds}, seed {seed + number}: "
        if code:
            failed.append(seed + number)
            line += f"exit status {code}\n{output}"
        last = output.strip().splitlines()[-1] if output.strip() else "no output"
        yield f"{line}{last} (whole: {time.monotonic() - began:.0f} s)"
    seeds = ", ".join(map(str, failed)) or "none"
    yield f"storm: {rounds} rounds; failed: {seeds}"


def _round(seed: int) -> tuple[int, str]:
    path = os.pathsep.join(
        [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    )
    plugins = ("storm", "no:randomly", "no:cacheprovider")
    given = [part for plugin in plugins for part in ("-p", plugin)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *given, *TESTS],
        cwd=ROOT,
        env={**os.environ, _VARIABLE: str(seed), "PYTHONPATH": path},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


# --- as a plugin of pytest -----------------------------------------------------------


def pytest_configure(config: Any) -> None:
    """Put pauses around bodies and before the answers of the tests' server."""
    from pytest_llmeval.ahead import Body

    draw = random.Random(os.environ[_VARIABLE])
    run, run_async = Body.run, Body.run_async

    def paused(self: Body) -> None:
        time.sleep(_drawn(draw))
        run(self)

    async def paused_async(self: Body) -> None:
        await asyncio.sleep(_drawn(draw))
        await run_async(self)

    Body.run, Body.run_async = paused, paused_async  # type: ignore[method-assign]


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Shuffle files, and the tests in each of them."""
    from tests.wire.conftest import FaultServer

    seed = os.environ[_VARIABLE]
    draw = random.Random(seed)
    place = {item.path: draw.random() for item in items}
    items.sort(key=lambda item: (place[item.path], draw.random()))
    FaultServer.more_seconds = lambda: _drawn(draw)


def _drawn(draw: random.Random) -> float:
    """Return seconds: mostly none to speak of, at times long ones."""
    return float(draw.random() ** 4 * _LONGEST_SECONDS)
