"""One host for several processes: what each may take, and what the dead give back."""

from __future__ import annotations

import asyncio
import math
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.clients import Owner, Request, remove_shared
from pytest_llmeval.clients._host import Ended, Host
from pytest_llmeval.clients._keeper import Shared
from pytest_llmeval.clients._shared_file import SharedFile
from pytest_llmeval.clients.limits import Limiter, Limiters
from pytest_llmeval.config import Limits
from pytest_llmeval.types import Prompt

Run = Callable[[Coroutine[Any, Any, Any]], Any]

#: Two processes that are alive for as long as a test runs.
HERE, PARENT = os.getpid(), os.getppid()


def keeper(home: Path, process: int = HERE, host: str = "x", **limits: Any) -> Shared:
    owner = Owner(run="r", process=PARENT)
    file = SharedFile(home=home, owner=owner, process=process)
    known = Limits(**{"concurrency": 4, **limits})
    return Shared(file=file, name=host, limits=known)


def taken(keeper: Shared, now: float = 0, count: int = 9, *, waiting: int = 0) -> int:
    """Take as many slots as there are, up to a number; return how many."""
    with keeper.host(now) as host:
        host.waiting = waiting
        for number in range(count):
            if host.wait(now) > 0:
                return number
            host.begin(now, 0)
    return count


def give_back(keeper: Shared, now: float = 0, *, waiting: int = 0) -> None:
    with keeper.host(now) as host:
        host.end(now, Ended(number=0, began=0, how="answered"))
        host.waiting = waiting


def dead_process() -> int:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


# --- what each may take --------------------------------------------------------------


def test_all_processes_together_hold_no_more_than_is_allowed(tmp_path: Path) -> None:
    one, other = keeper(tmp_path), keeper(tmp_path, PARENT)

    assert (taken(one, count=3), taken(other), taken(one)) == (3, 1, 0)

    give_back(one)

    assert (taken(other), taken(one)) == (1, 0)


def test_hosts_do_not_share(tmp_path: Path) -> None:
    assert taken(keeper(tmp_path)) == 4
    assert taken(keeper(tmp_path, PARENT, host="y")) == 4


def test_who_has_most_takes_no_more_while_others_wait(tmp_path: Path) -> None:
    one, other = keeper(tmp_path), keeper(tmp_path, PARENT)
    assert (taken(one, waiting=3), taken(other, waiting=5)) == (4, 0)

    for waiting in (4, 3):
        give_back(one, waiting=3)

        assert taken(one, waiting=3) == 0
        assert taken(other, waiting=waiting) == 1

    give_back(one, waiting=3)

    assert taken(other, waiting=1) == 0
    assert taken(one, waiting=3) == 1


def test_a_pause_and_a_rate_hold_for_all(tmp_path: Path) -> None:
    one = keeper(tmp_path, requests_per_minute=60)
    other = keeper(tmp_path, PARENT, requests_per_minute=60)
    taken(one, now=10, count=1)

    with other.host(10) as host:
        assert host.wait(10) == pytest.approx(0.95)
        host.paused_until = 30.0
    with one.host(12) as host:
        assert host.wait(12) == 18


def test_what_one_has_learned_the_others_know(tmp_path: Path) -> None:
    one, other = keeper(tmp_path), keeper(tmp_path, PARENT)
    for _ in range(6):
        with one.host(1) as host:
            number = host.begin(1, 0)
        with one.host(1) as host:
            host.end(1, Ended(number=number, began=1, how="refused"))

    with other.host(1) as host:
        assert host.allowed == 2
        assert host.wait(1) == pytest.approx(1)


def test_an_error_inside_changes_nothing(tmp_path: Path) -> None:
    one = keeper(tmp_path)

    def fail() -> None:
        with one.host(0) as host:
            host.begin(0, 0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    with keeper(tmp_path, PARENT).host(0) as host:
        assert host.in_flight == 0
    assert taken(one) == 4


@given(
    numbers=st.lists(st.floats(0, 5), min_size=1, max_size=40),
    hows=st.lists(st.sampled_from(["answered", "refused", "lost"]), min_size=40),
)
def test_a_state_is_the_same_after_it_was_written(
    numbers: list[float], hows: list[Any]
) -> None:
    host, now = Host.of(Limits(tokens_per_minute=60)), 0.0
    for seconds, how in zip(numbers, hows, strict=False):
        now += seconds
        number = host.begin(now, seconds)
        host.end(now, Ended(number=number, began=now, how=how))

    copy = Host.of(Limits(tokens_per_minute=60))
    copy.load(host.dump())

    assert copy.dump() == host.dump()
    assert copy.wait(now) == host.wait(now)


# --- what the dead give back ---------------------------------------------------------


def test_slots_of_a_process_that_is_gone_come_back(tmp_path: Path) -> None:
    other, one = keeper(tmp_path, PARENT), keeper(tmp_path)
    taken(other)
    other.file.close()  # as the system does when a process ends

    assert taken(one, now=0.5) == 0  # it has just been heard of
    assert taken(one, now=2) == 4


def test_slots_of_a_process_that_hangs_come_back(tmp_path: Path) -> None:
    other, one = keeper(tmp_path, PARENT), keeper(tmp_path)
    taken(other)

    assert taken(one, now=9) == 0
    assert taken(one, now=11) == 4


def test_who_holds_slots_says_so_again_and_again(
    tmp_path: Path, in_virtual_time: Run
) -> None:
    other = keeper(tmp_path, PARENT)

    async def run() -> int:
        limiter = Limiter(keeper(tmp_path, concurrency=4))
        request = Request(prompt=Prompt.of("hi"))
        async with limiter.slot(request, is_new=True, deadline=math.inf):
            await asyncio.sleep(60)
            return taken(other, asyncio.get_running_loop().time())

    assert in_virtual_time(run()) == 3


# --- processes at work ---------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_workers_with_queues_keep_to_the_limit_and_all_get_their_turn(
    tmp_path: Path, in_virtual_time: Run, concurrency: int
) -> None:
    in_flight, most = 0, 0
    done: list[str] = []

    async def call(limiter: Limiter, worker: str) -> None:
        nonlocal in_flight, most
        request = Request(prompt=Prompt.of("hi"))
        async with limiter.slot(request, is_new=True, deadline=math.inf):
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0.2)
            in_flight -= 1
            done.append(worker)

    async def run() -> None:
        limiters = {
            name: Limiter(keeper(tmp_path, process, concurrency=concurrency))
            for name, process in (("one", HERE), ("other", PARENT))
        }
        await asyncio.gather(
            *(
                call(limiter, name)
                for name, limiter in limiters.items()
                for _ in range(24)
            )
        )

    in_virtual_time(run())

    assert most == concurrency
    # Neither had to wait for the other's end.
    assert min(Counter(done[:24]).values()) >= 24 / 4


def test_a_closed_limiter_leaves_the_file_closed(
    tmp_path: Path, in_virtual_time: Run
) -> None:
    file = keeper(tmp_path).file
    limiters = Limiters(file)

    async def hold() -> None:
        limiter = limiters.of("x", Limits())
        request = Request(prompt=Prompt.of("hi"))
        async with limiter.slot(request, is_new=True, deadline=math.inf):
            await asyncio.sleep(60)

    async def run() -> None:
        task = asyncio.create_task(hold())
        await asyncio.sleep(30)
        limiters.close()
        task.cancel()
        await asyncio.wait([task])

    in_virtual_time(run())

    assert file._connection is None


# --- the file ------------------------------------------------------------------------


def test_the_file_goes_with_the_run_and_old_ones_too(tmp_path: Path) -> None:
    home = tmp_path / ".llmeval"
    mine = SharedFile(home=home, owner=Owner(run="r", process=HERE))
    taken(Shared(file=mine, name="x", limits=Limits()))
    mine.close()
    old = home / f"limits-{dead_process()}-r.sqlite"
    others = home / f"limits-{PARENT}-r.sqlite"
    for path in (old, others):
        path.touch()

    remove_shared(home)

    assert list(home.glob("limits-*")) == [others]
    assert (home / ".gitignore").exists()


def test_no_home_is_nothing_to_remove(tmp_path: Path) -> None:
    remove_shared(tmp_path / ".llmeval")

    assert list(tmp_path.iterdir()) == []


def test_where_the_file_can_not_be_used_a_worker_goes_on_by_itself(
    tmp_path: Path,
) -> None:
    home = tmp_path / "file"
    home.touch()
    one = keeper(home)

    assert taken(one) == 4
    assert taken(one) == 0
    assert "can't share their limits" in str(one.file.trouble)

    give_back(one)

    assert taken(one) == 1


class Full:
    """A connection whose disk is full from a statement on."""

    def __init__(self, inner: Any, statement: str) -> None:
        self.inner = inner
        self.statement = statement

    def execute(self, statement: str, *args: Any) -> Any:
        if statement.startswith(self.statement):
            message = "database or disk is full"
            raise sqlite3.OperationalError(message)
        return self.inner.execute(statement, *args)

    def rollback(self) -> None:
        self.inner.rollback()

    def close(self) -> None:
        self.inner.close()


@pytest.mark.parametrize("statement", ["BEGIN", "SELECT", "INSERT", "COMMIT"])
def test_a_disk_that_is_full_at_a_write_costs_no_slot(
    tmp_path: Path, statement: str
) -> None:
    one, other = keeper(tmp_path), keeper(tmp_path, PARENT)
    assert taken(one, count=1) == 1
    one.file._connection = Full(one.file._connection, statement)  # type: ignore[assignment]

    assert taken(one, count=2) == 2
    assert "disk is full): each keeps to them by itself" in str(one.file.trouble)
    # None is lost, none is there twice, and the others are not kept waiting.
    assert taken(one) == 1
    assert taken(other, count=3) == 3
