"""Retries, in virtual time: how often, when, until when, and what is said at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.clients._base import Trail
from pytest_llmeval.clients._retry_after import retry_after_seconds
from pytest_llmeval.clients.limits import Limiters
from pytest_llmeval.clients.retry import RetryBackend
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ConfigError, ProviderError
from pytest_llmeval.types import Prompt, Response

Run = Callable[[Coroutine[Any, Any, Any]], Any]

#: As case row 55 has it.
NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC).timestamp()


def fault(
    status: int | None = 500, *, after: float | None = None, is_transient: bool = True
) -> ProviderError:
    return ProviderError(
        f"fault {status}",
        status=status,
        retry_after_seconds=after,
        is_transient=is_transient,
    )


@dataclass(slots=True)
class Script:
    """Answers as it is told, each time after a second; then always well."""

    steps: list[Exception] = field(default_factory=list)
    always: Exception | None = None
    seconds: float = 1.0
    begun: list[float] = field(default_factory=list)
    """Seconds from the first request to each."""
    name: str = "app"
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        return {"model": "m"}

    async def answer(self, request: Request) -> Response:
        self.begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds)
        if self.steps:
            raise self.steps.pop(0)
        if self.always:
            raise self.always
        return Response(text="fine", provider="fake")

    async def close(self) -> None:
        self.begun.clear()


@dataclass(frozen=True, slots=True)
class Outcome:
    text: str
    trail: Trail
    begun: list[float]
    ended: float


def asked(run: Run, script: Script, *, draw: float = 1.0, **limits: Any) -> Outcome:
    """Return what comes of one question; its times count from the beginning."""
    backend = retrying(script, draw=draw, **limits)
    request = Request(prompt=Prompt.of("hi"))

    async def ask() -> Outcome:
        loop = asyncio.get_running_loop()
        start = loop.time()
        try:
            text = (await backend.answer(request)).text
        except ProviderError as exc:
            text = f"{exc}"
        begun = [time - start for time in script.begun]
        return Outcome(text, request.trail, begun, loop.time() - start)

    outcome: Outcome = run(ask())
    return outcome


def retrying(script: Script, *, draw: float = 1.0, **limits: Any) -> RetryBackend:
    known = Limits(**limits)
    return RetryBackend(
        inner=script,
        limiter=Limiters().of("x", known),
        limits=known,
        draw=lambda: draw,
    )


# --- how often, and when -------------------------------------------------------------


def test_what_may_pass_is_asked_again_after_growing_waits(in_virtual_time: Run) -> None:
    script = Script([fault(), fault(None), fault(503)])

    outcome = asked(in_virtual_time, script)

    assert outcome.text == "fine"
    assert outcome.begun == pytest.approx([0, 1.5, 3.5, 6.5])
    assert outcome.trail.attempts == 4
    assert outcome.trail.waits == pytest.approx([0.5, 1, 2])


def test_the_waits_are_drawn_between_nothing_and_their_most(
    in_virtual_time: Run,
) -> None:
    script = Script([fault(), fault()])

    assert asked(in_virtual_time, script, draw=0.25).trail.waits == pytest.approx(
        [0.125, 0.25]
    )


def test_a_wait_of_ours_is_never_longer_than_half_a_minute(
    in_virtual_time: Run,
) -> None:
    script = Script([fault()] * 9)

    outcome = asked(in_virtual_time, script, retries=9, deadline_seconds=1000)

    assert max(outcome.trail.waits) == pytest.approx(30)


def test_retries_are_finite_and_the_last_error_says_how_many_there_were(
    in_virtual_time: Run,
) -> None:
    script = Script(always=fault(500))

    outcome = asked(in_virtual_time, script, retries=3)

    assert outcome.text == "fault 500; 4 attempts were made"
    assert len(outcome.begun) == outcome.trail.attempts == 4


def test_without_retries_there_is_one_attempt(in_virtual_time: Run) -> None:
    outcome = asked(in_virtual_time, Script(always=fault(500)), retries=0)

    assert (outcome.text, len(outcome.begun)) == ("fault 500", 1)


def test_what_can_not_pass_is_asked_once(in_virtual_time: Run) -> None:
    script = Script([fault(500), fault(400, is_transient=False)])

    outcome = asked(in_virtual_time, script)

    assert outcome.text == "fault 400; 2 attempts were made"


def test_what_is_no_fault_of_the_server_goes_through(in_virtual_time: Run) -> None:
    script = Script([ConfigError("a parameter")])

    with pytest.raises(ConfigError, match="a parameter"):
        asked(in_virtual_time, script)

    assert len(script.begun) == 1


def test_the_servers_own_wait_counts_with_a_little_spread(in_virtual_time: Run) -> None:
    script = Script([fault(429, after=7), fault(503, after=2)])

    assert asked(in_virtual_time, script).trail.waits == pytest.approx([7.7, 2.2])


def test_a_server_that_asks_for_no_wait_is_believed_once(in_virtual_time: Run) -> None:
    script = Script([fault(429, after=0), fault(429, after=0)])

    assert asked(in_virtual_time, script).trail.waits == pytest.approx([0, 1])


# --- until when ----------------------------------------------------------------------


def test_no_attempt_begins_after_the_deadline(in_virtual_time: Run) -> None:
    script = Script(always=fault(500), seconds=4)

    outcome = asked(in_virtual_time, script, retries=99, deadline_seconds=20)

    assert outcome.begun == pytest.approx([0, 4.5, 9.5, 15.5])
    assert outcome.ended <= 20
    assert outcome.text == (
        "fault 500; 4 attempts were made, and the deadline of 20 s (limits: "
        "deadline_seconds) leaves no time for another"
    )


def test_an_attempt_ends_with_the_deadline(in_virtual_time: Run) -> None:
    script = Script([fault(500)], seconds=6)

    outcome = asked(in_virtual_time, script, deadline_seconds=10)

    assert outcome.ended == pytest.approx(10)
    assert outcome.text == (
        "app: no whole reply within 10 s (limits: deadline_seconds); 2 attempts were "
        "made"
    )


def test_a_wait_that_goes_beyond_the_deadline_ends_the_call_at_once(
    in_virtual_time: Run,
) -> None:
    script = Script(always=fault(429, after=86400))

    outcome = asked(in_virtual_time, script)

    assert outcome.ended == pytest.approx(1)
    assert outcome.text == (
        "fault 429; the server asks to wait 86,400 s, longer than the deadline of 300 s "
        "(limits: deadline_seconds) leaves"
    )


def test_the_deadline_ends_the_waiting_for_a_slot_too(in_virtual_time: Run) -> None:
    script = Script([fault(500)], seconds=20)
    backend = retrying(script, concurrency=1, deadline_seconds=30)

    async def ask() -> list[Any]:
        first = asyncio.ensure_future(
            backend.answer(Request(prompt=Prompt.of("first")))
        )
        await asyncio.sleep(20.1)  # it failed, and waits
        others = [backend.answer(Request(prompt=Prompt.of("b"))) for _ in range(1)]
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, other = in_virtual_time(ask())

    assert str(first) == (
        "fault 500; its deadline of 30 s (limits: deadline_seconds) came while it "
        "waited for its turn"
    )
    assert other.text == "fine"


# --- a host that nobody has ever heard -----------------------------------------------


def test_a_host_that_never_answers_is_tried_in_full_once(in_virtual_time: Run) -> None:
    script = Script(always=fault(None))
    backend = retrying(script)

    async def ask() -> list[int]:
        counts = []
        for _ in range(3):
            request = Request(prompt=Prompt.of("hi"))
            with pytest.raises(ProviderError):
                await backend.answer(request)
            counts.append(request.trail.attempts)
        script.always = None
        await backend.answer(Request(prompt=Prompt.of("hi")))
        script.steps = [fault(None)]
        request = Request(prompt=Prompt.of("hi"))
        await backend.answer(request)
        return [*counts, request.trail.attempts]

    assert in_virtual_time(ask()) == [6, 1, 1, 2]


# --- Retry-After ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:07 GMT", 7),
        ("Wednesday, 21-Oct-26 07:28:07 GMT", 7),
        ("Wed Oct 21 07:28:07 2026", 7),
        ("Wed, 21 Oct 2026 07:27:00 GMT", 0),
        ("2", 2),
        (" 1.5 ", 1.5),
        ("0", 0),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("１２", None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 99 Oct 2026 07:28:00 GMT", None),
        ("86400", 86400),
    ],
)
def test_retry_after_in_all_its_forms(value: str, seconds: float | None) -> None:
    assert retry_after_seconds({"retry-after": value}, now=NOW) == seconds


def test_milliseconds_count_before_seconds() -> None:
    headers = {"retry-after-ms": "250", "retry-after": "1"}

    assert retry_after_seconds(headers) == 0.25


def test_nonsense_of_milliseconds_leaves_the_seconds() -> None:
    headers = {"retry-after-ms": "soon", "retry-after": "1"}

    assert retry_after_seconds(headers) == 1


def test_a_date_is_read_by_the_servers_own_clock() -> None:
    headers = {
        "retry-after": "Wed, 21 Oct 2026 07:28:07 GMT",
        "date": "Wed, 21 Oct 2026 07:28:04 GMT",
    }

    assert retry_after_seconds(headers, now=NOW - 3600) == 3


def test_no_header_is_no_wait() -> None:
    assert retry_after_seconds({}) is None
