"""A question is under way once: for tasks, threads and processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients.flights import Flights, Landed, Wanted
from pytest_llmeval.errors import ProviderError, UnscoredError
from pytest_llmeval.store.cache import Reply
from pytest_llmeval.store.safecache import SafeCache

KEY = "0123456789abcdef" * 2
WANTED = Wanted(key=KEY)


class Model:
    """Answers when it is let; counts how often it is asked."""

    def __init__(self, *, error: BaseException | None = None) -> None:
        self.asked = 0
        self.let = threading.Event()
        self.let.set()
        self.error = error
        self.is_kept = True

    async def ask(self) -> Landed:
        self.asked += 1
        number = self.asked
        await asyncio.sleep(0)  # as on a wire: others come meanwhile
        while not self.let.is_set():
            await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        data = {"text": f"reply {number}", "provider": "openai"}
        reply = Reply(key=KEY, response=data, model="openai:m")
        return Landed(reply=reply, is_kept=self.is_kept)


@pytest.fixture
def flights(tmp_path: Path) -> Iterator[Flights]:
    flights = Flights(SafeCache(tmp_path))
    yield flights
    flights.close()


def fetch(flights: Flights, model: Model, wanted: Wanted = WANTED) -> Any:
    return asyncio.run(flights.fetch(wanted, model.ask))


async def started(condition: Callable[[], bool]) -> None:
    """Let others go on until something has come to be."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0)


def together(*tasks: Awaitable[Any]) -> list[Any]:
    async def gather() -> list[Any]:
        return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(gather())


def test_who_asks_has_the_reply_itself_and_who_comes_later_finds_it(
    flights: Flights,
) -> None:
    model = Model()

    assert fetch(flights, model) is None
    assert fetch(flights, model)["text"] == "reply 1"
    assert model.asked == 1


def test_tasks_that_ask_the_same_at_once_ask_once(flights: Flights) -> None:
    model = Model()

    found = together(*(flights.fetch(WANTED, model.ask) for _ in range(50)))

    assert model.asked == 1
    assert sorted(str(one and one["text"]) for one in found) == [
        *["None"],
        *["reply 1"] * 49,
    ]


def test_threads_that_ask_the_same_at_once_ask_once(flights: Flights) -> None:
    model = Model()
    model.let.clear()
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch(flights, model)))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    model.let.set()
    for thread in threads:
        thread.join()

    assert model.asked == 1
    assert sum(one is None for one in found) == 1
    assert {one["text"] for one in found if one is not None} == {"reply 1"}


def test_an_error_counts_for_who_waits_and_for_nobody_after(flights: Flights) -> None:
    error = ProviderError("HTTP 503", status=503, is_transient=True)
    model = Model(error=error)

    found = together(*(flights.fetch(WANTED, model.ask) for _ in range(5)))

    assert model.asked == 1
    assert [(type(one), str(one), one.status) for one in found] == [
        (ProviderError, "HTTP 503", 503)
    ] * 5
    assert len({id(one) for one in found}) == 5

    model.error = None
    assert fetch(flights, model) is None
    assert model.asked == 2


def test_the_cause_of_an_error_goes_with_it(flights: Flights) -> None:
    error = UnscoredError("the app raised", cause="application")
    error.__cause__ = ZeroDivisionError("division by zero")
    model = Model(error=error)

    found = together(*(flights.fetch(WANTED, model.ask) for _ in range(2)))

    assert [one.cause for one in found] == ["application"] * 2
    assert {id(one.__cause__) for one in found} == {id(error.__cause__)}


def test_an_error_of_ours_is_nobody_elses(flights: Flights) -> None:
    model = Model(error=ZeroDivisionError("a bug"))

    found = together(*(flights.fetch(WANTED, model.ask) for _ in range(3)))

    assert model.asked == 3
    assert all(isinstance(one, ZeroDivisionError) for one in found)


def test_when_the_leader_is_cancelled_the_next_one_asks(flights: Flights) -> None:
    model = Model()
    model.let.clear()

    async def run() -> Any:
        leader = asyncio.create_task(flights.fetch(WANTED, model.ask))
        await started(lambda: model.asked == 1)
        others = [
            asyncio.create_task(flights.fetch(WANTED, model.ask)) for _ in range(3)
        ]
        await asyncio.sleep(0)
        leader.cancel()
        await started(lambda: model.asked == 2)
        model.let.set()
        return await asyncio.gather(leader, *others, return_exceptions=True)

    first, *rest = asyncio.run(run())

    assert isinstance(first, asyncio.CancelledError)
    assert model.asked == 2
    assert sorted(str(one and one["text"]) for one in rest) == [
        "None",
        "reply 2",
        "reply 2",
    ]


def test_who_stops_waiting_stops_nobody_else(flights: Flights) -> None:
    model = Model()
    model.let.clear()

    async def run() -> Any:
        leader = asyncio.create_task(flights.fetch(WANTED, model.ask))
        await started(lambda: model.asked == 1)
        impatient, patient = (
            asyncio.create_task(flights.fetch(WANTED, model.ask)) for _ in range(2)
        )
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)
        model.let.set()
        return await asyncio.gather(leader, patient)

    assert asyncio.run(run()) == [None, {"text": "reply 1", "provider": "openai"}]
    assert model.asked == 1


def test_what_says_nothing_is_shared_and_not_kept(flights: Flights) -> None:
    model = Model()
    model.is_kept = False

    found = together(*(flights.fetch(WANTED, model.ask) for _ in range(3)))
    assert sum(one is None for one in found) == 1
    assert model.asked == 1

    assert fetch(flights, model) is None
    assert model.asked == 2


def test_only_what_this_run_asked_for_will_do(flights: Flights) -> None:
    model = Model()
    fetch(flights, model)
    flights.close()

    assert fetch(flights, model, Wanted(key=KEY, run="another")) is None
    assert model.asked == 2


def test_without_a_cache_every_question_is_asked(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    flights = Flights(SafeCache(tmp_path / "home"))
    model = Model()

    assert fetch(flights, model) is None
    flights.close()
    assert fetch(flights, model) is None
    assert model.asked == 2
    flights.close()


# --- processes -----------------------------------------------------------------------

CHILD = """
import asyncio, sys
from pathlib import Path
from pytest_llmeval.clients.flights import Flights, Landed, Wanted
from pytest_llmeval.store.cache import Reply
from pytest_llmeval.store.safecache import SafeCache

async def ask():
    print("asking", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    reply = Reply(key=sys.argv[2], response={"text": "theirs"}, model="m")
    return Landed(reply=reply, is_kept=True)

flights = Flights(SafeCache(Path(sys.argv[1])))
asyncio.run(flights.fetch(Wanted(key=sys.argv[2]), ask))
flights.close()
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a process that asks the question, and waits for its answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asking\n"
    yield process
    process.kill()
    process.communicate()


def waiting(
    flights: Flights, model: Model, then: Callable[[], object]
) -> dict[str, Any] | None:
    """Fetch, and do something once it is plain that another process is waited for."""
    looked = threading.Event()
    take = flights.cache.take

    class Watched(SafeCache):
        def take(self, key: str) -> bool:
            taken = take(key)
            looked.set()
            return taken

    flights.cache.__class__ = Watched

    async def run() -> dict[str, Any] | None:
        task = asyncio.create_task(flights.fetch(WANTED, model.ask))
        await started(looked.is_set)
        assert not task.done()
        then()
        return await task

    return asyncio.run(run())


def test_what_another_process_asks_is_waited_for(
    flights: Flights, child: subprocess.Popen[str]
) -> None:
    model = Model()

    found = waiting(flights, model, lambda: child.communicate("\n"))

    assert found == {"text": "theirs"}
    assert model.asked == 0


def test_a_process_that_takes_too_long_is_not_waited_for(
    flights: Flights, child: subprocess.Popen[str]
) -> None:
    model = Model()

    assert fetch(flights, model, Wanted(key=KEY, patience_seconds=0.01)) is None
    assert model.asked == 1


def test_a_process_that_dies_while_it_asks_blocks_nobody(
    flights: Flights, child: subprocess.Popen[str]
) -> None:
    model = Model()

    found = waiting(flights, model, child.kill)

    assert found is None
    assert model.asked == 1
