"""Claims that processes see of each other, and that end with them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_llmeval.store.claims import Claims

KEY = "0123456789abcdef" * 2
OTHER = "f" * 32

CHILD = """
import sys
from pathlib import Path
from pytest_llmeval.store.claims import Claims

claims = Claims(Path(sys.argv[1]))
for line in sys.stdin:
    act, key = line.split()
    print(getattr(claims, act)(key), flush=True)
"""


class Child:
    """Another process, which does as it is told."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, act: str, key: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{act} {key}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.lock"


@pytest.fixture
def child(path: Path) -> Iterator[Callable[[], Child]]:
    children: list[Child] = []

    def start() -> Child:
        children.append(Child(path))
        return children[-1]

    yield start
    for one in children:
        one.end()


def test_one_process_at_a_time_has_a_question(
    path: Path, child: Callable[[], Child]
) -> None:
    mine, other = Claims(path), child()

    assert mine.take(KEY)
    assert other.tell("take", KEY) == "False"
    assert other.tell("take", OTHER) == "True"
    assert not mine.take(OTHER)

    mine.give_back(KEY)
    assert other.tell("take", KEY) == "True"
    assert not mine.take(KEY)
    mine.close()


def test_a_process_that_is_killed_has_no_claims(
    path: Path, child: Callable[[], Child]
) -> None:
    mine, other = Claims(path), child()
    assert other.tell("take", KEY) == "True"
    assert not mine.take(KEY)

    other.end()

    assert mine.take(KEY)
    mine.close()


def test_what_is_closed_is_given_back(path: Path, child: Callable[[], Child]) -> None:
    mine, other = Claims(path), child()
    assert mine.take(KEY)

    mine.close()

    assert other.tell("take", KEY) == "True"


def test_where_nothing_can_be_locked_everybody_may_ask(path: Path) -> None:
    claims = Claims(path)
    claims.close()  # a descriptor that is gone stands for a system without locks

    assert claims.take(KEY)
    claims.give_back(KEY)
