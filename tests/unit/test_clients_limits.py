"""The limiter, in virtual time: rules of a host, order of calls, rates, whole runs."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.clients import Clients, Request
from pytest_llmeval.clients._host import Ended, Host, How
from pytest_llmeval.clients._pace import Pace
from pytest_llmeval.clients.limits import Limiter, Limiters
from pytest_llmeval.clients.retry import RetryBackend
from pytest_llmeval.config import Config, Limits
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.types import Prompt, Response, Usage

Run = Callable[[Coroutine[Any, Any, Any]], Any]


# --- the rules of a host -------------------------------------------------------------


class Told:
    """A host that is told of attempts one by one."""

    def __init__(self, **limits: Any) -> None:
        self.host = Host.of(Limits(**{"concurrency": 20, **limits}))

    def tell(self, now: float, how: How, *, after: float | None = 1.0) -> None:
        """Tell of an attempt that began and ended at a moment."""
        number = self.host.begin(now, 0)
        asked = after if how == "refused" else None
        self.host.end(
            now, Ended(number=number, began=now, how=how, retry_after_seconds=asked)
        )

    @property
    def pause(self) -> float:
        return self.host.paused_until - self.host.paused_at


def test_a_lone_refusal_holds_nobody_back() -> None:
    told = Told()
    for now in range(40):
        told.tell(now / 20, "refused" if now % 5 == 0 else "answered")

    assert told.host.wait(2) == 0
    assert told.host.allowed == 20


@pytest.mark.parametrize(("refused", "wait"), [(5, 0), (6, 1)])
def test_six_refusals_in_a_row_pause_the_host(refused: int, wait: float) -> None:
    told = Told()
    for _ in range(50):
        told.tell(0.1, "answered")
    for _ in range(refused):
        told.tell(0.2, "refused")

    assert told.host.wait(0.2) == pytest.approx(wait)


@pytest.mark.parametrize(
    ("hows", "wait"),
    [
        ("ararararar", 1),  # five, and half of all
        ("arararara", 0),  # four
        ("aaararararar", 0),  # five, and less than half
    ],
)
def test_half_of_the_last_seconds_attempts_pause_the_host(
    hows: str, wait: float
) -> None:
    told = Told()
    for number, letter in enumerate(hows):
        told.tell(number / 20, "refused" if letter == "r" else "answered")

    assert told.host.wait(len(hows) / 20) == pytest.approx(wait, abs=0.06)


def test_attempts_of_more_than_a_second_ago_count_no_more() -> None:
    told = Told()
    for now in (0, 0.1, 0.3, 1.5, 1.6):
        told.tell(now, "answered")
        told.tell(now, "refused")

    assert told.host.wait(1.6) == 0


def test_a_pause_halves_the_concurrency_once_for_all_that_was_under_way() -> None:
    told = Told()
    numbers = [told.host.begin(0, 0) for _ in range(20)]
    for number in numbers:
        ended = Ended(number=number, began=0, how="refused", retry_after_seconds=3)
        told.host.end(0.1, ended)

    assert told.host.allowed == 10
    assert told.host.wait(0.1) == pytest.approx(3)


def test_concurrency_falls_to_one_and_grows_back_to_all() -> None:
    told = Told(concurrency=3)
    for pause in range(4):
        for _ in range(6):
            told.tell(10 * pause, "refused")

    assert told.host.allowed == 1
    for second in range(9):
        told.tell(100 + second, "answered")

    assert told.host.allowed == 3


def test_pauses_without_a_word_of_the_server_double_up_to_half_a_minute() -> None:
    told, pauses = Told(), []
    for pause in range(7):
        for _ in range(6):
            told.tell(100 * pause, "refused", after=None)
        pauses.append(told.pause)
    told.tell(1000, "answered")
    for _ in range(6):
        told.tell(1100, "refused", after=None)

    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert told.pause == 1


def test_a_host_that_answers_nothing_teaches_no_rate() -> None:
    told = Told()
    for _ in range(6):
        told.tell(0, "refused")
    told.tell(1, "answered")

    assert told.host.borne.rate == math.inf


def test_what_was_answered_over_a_pause_is_the_rate_it_bears() -> None:
    told = Told()
    for _ in range(60):
        told.tell(100.5, "answered")
    for _ in range(6):
        told.tell(101, "refused", after=1.5)
    told.tell(102.5, "answered")

    assert told.host.borne.rate == pytest.approx(60 / 2)


def test_lost_attempts_neither_press_nor_prove() -> None:
    told = Told()
    for _ in range(20):
        told.tell(0, "lost")

    assert told.host.wait(0) == 0
    assert told.host.in_flight == 0


@given(
    most=st.integers(1, 6),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["begin", "answered", "refused", "lost"]),
            st.floats(0, 2),
            st.sampled_from([None, 0.0, 0.5, 5.0]),
        ),
        max_size=120,
    ),
)
def test_whatever_happens_a_host_keeps_its_bounds(most: int, steps: list[Any]) -> None:
    host, now, under_way = Host.of(Limits(concurrency=most)), 0.0, list[Any]()
    for what, seconds, asked in steps:
        now += seconds
        if what == "begin":
            if host.wait(now) == 0:
                under_way.append((host.begin(now, 1), now))
        elif under_way:
            number, began = under_way.pop(0)
            host.end(
                now,
                Ended(number=number, began=began, how=what, retry_after_seconds=asked),
            )
        assert host.in_flight == len(under_way) <= most
        assert 1 <= host.allowed <= most
        assert host.borne.rate > 0
    for number, began in under_way:
        host.end(now, Ended(number=number, began=began, how="answered"))
    # Whatever it went through, it comes to be asked again within the longest pause.
    later = host.wait(now)
    assert later < math.inf
    assert host.wait(now + later + 1e-6) == 0


@given(
    rate=st.floats(0.5, 100),
    costs=st.lists(
        st.tuples(st.floats(0.01, 50), st.floats(0, 1)), min_size=2, max_size=60
    ),
)
def test_a_pace_never_bursts(rate: float, costs: list[tuple[float, float]]) -> None:
    pace, now = Pace(rate), 10.0
    granted: list[tuple[float, float]] = []
    for cost, idle in costs:
        now = max(now + idle, pace.next_at)
        pace.take(cost, now)
        granted.append((now, cost))

    for start in range(len(granted)):
        for end in range(start + 1, len(granted)):
            seconds = granted[end][0] - granted[start][0]
            paid = sum(cost for _, cost in granted[start:end])
            assert paid <= (seconds + 0.05) * rate * (1 + 1e-9)


# --- the order of calls --------------------------------------------------------------


def limiter(**limits: Any) -> Limiter:
    return Limiters().of("x", Limits(**limits))


async def hold(
    limiter: Limiter,
    name: str,
    log: list[Any],
    *,
    seconds: float = 1,
    is_new: bool = True,
    deadline: float = math.inf,
) -> None:
    request = Request(prompt=Prompt.of("hi"))
    async with limiter.slot(request, is_new=is_new, deadline=deadline):
        log.append((name, round(asyncio.get_running_loop().time() - 1000, 3)))
        await asyncio.sleep(seconds)


def test_who_waits_for_a_retry_goes_before_who_is_new(in_virtual_time: Run) -> None:
    log: list[Any] = []

    async def run() -> None:
        one = limiter(concurrency=1)
        await asyncio.gather(
            hold(one, "a", log),
            hold(one, "b", log),
            hold(one, "c", log, is_new=False),
            hold(one, "d", log, is_new=False),
            hold(one, "e", log),
        )

    in_virtual_time(run())

    assert log == [("a", 0), ("c", 1), ("d", 2), ("b", 3), ("e", 4)]


def test_a_slot_goes_to_another_call_while_one_waits_for_its_retry(
    in_virtual_time: Run,
) -> None:
    server = Server(latency=1, plan=[500, 200, 200])

    outcome = in_virtual_time(ask_all(server, 2, concurrency=1))

    # The second call was asked while the first one waited.
    assert [text for text, _ in server.seen] == ["q0", "q1", "q0"]
    assert outcome.answered == 2


def test_a_call_that_is_cancelled_while_it_waits_takes_no_slot(
    in_virtual_time: Run,
) -> None:
    log: list[Any] = []

    async def run() -> None:
        one = limiter(concurrency=1)
        first = asyncio.create_task(hold(one, "a", log))
        second = asyncio.create_task(hold(one, "b", log))
        third = asyncio.create_task(hold(one, "c", log))
        await asyncio.sleep(0.5)
        second.cancel()
        await asyncio.gather(first, third)

    in_virtual_time(run())

    assert log == [("a", 0), ("c", 1)]


def test_a_call_that_is_cancelled_as_it_is_let_go_gives_its_slot_back(
    in_virtual_time: Run,
) -> None:
    log: list[Any] = []

    async def run() -> None:
        one = limiter(concurrency=1)
        request = Request(prompt=Prompt.of("hi"))
        async with one.slot(request, is_new=True, deadline=math.inf):
            second = asyncio.create_task(hold(one, "b", log))
            await asyncio.sleep(1)
        # The slot is its own by now, but it has not heard of it.
        second.cancel()
        await asyncio.wait([second])
        await hold(one, "c", log)

    in_virtual_time(run())

    assert log == [("c", 1)]


def test_a_pause_beyond_their_deadline_ends_the_calls_that_wait(
    in_virtual_time: Run,
) -> None:
    server = Server(refusals=math.inf, retry_after=3600)

    outcome = in_virtual_time(ask_all(server, 30, concurrency=6))

    assert outcome.seconds < 1
    assert len(outcome.errors) == 30
    assert server.codes[429] < 20
    assert set(outcome.errors) == {
        "429; the server asks to wait 3,600 s, longer than the deadline of 300 s "
        "(limits: deadline_seconds) leaves",
        "the server refuses every request (429) and asks for a pause of 3,600 s, longer "
        "than a call may take (limits: deadline_seconds)",
    }


# --- rates ---------------------------------------------------------------------------


def test_requests_a_minute_are_spread_evenly(in_virtual_time: Run) -> None:
    server = Server(latency=0.3)

    in_virtual_time(ask_all(server, 20, requests_per_minute=240))

    gaps = [later - earlier for (_, earlier), (_, later) in pairwise(server.seen)]
    assert gaps[1:] == pytest.approx([0.25] * 18)
    assert gaps[0] == pytest.approx(0.2)  # a first one is never late


def test_tokens_a_minute_are_estimated_and_put_right(in_virtual_time: Run) -> None:
    # 100 characters are about 25 tokens, and 200 are guessed for the reply: 225 in all.
    cheap = Server(latency=0.1, tokens=25)
    dear = Server(latency=0.1, tokens=1025)

    first = in_virtual_time(ask_all(cheap, 10, "x" * 98, tokens_per_minute=6000))
    second = in_virtual_time(ask_all(dear, 10, "x" * 98, tokens_per_minute=6000))

    # At 100 tokens a second, what was said to be used decides over the guess.
    assert first.seconds == pytest.approx(250 / 100, rel=0.9)
    assert second.seconds == pytest.approx(10250 / 100, rel=0.2)
    assert first.seconds < 5 < 80 < second.seconds


def test_an_unknown_usage_leaves_the_guess(in_virtual_time: Run) -> None:
    server = Server(latency=0.1, tokens=None)

    outcome = in_virtual_time(ask_all(server, 11, "x" * 98, tokens_per_minute=6000))

    assert outcome.seconds == pytest.approx(10 * 225 / 100, rel=0.01)


# --- whole runs ----------------------------------------------------------------------


@dataclass(slots=True)
class Server:
    """A model whose server counts, in virtual time."""

    latency: float = 0.05
    plan: list[int] = field(default_factory=list)
    """The first statuses."""
    faults: dict[int, float] = field(default_factory=dict)
    """Statuses by chance; 0 is a connection reset."""
    rate: float = math.inf
    """Requests a second that are allowed, out of a bucket of one second's."""
    refusals: float = 0
    retry_after: float | None = 1.0
    tokens: int | None = 15
    seed: int = 1
    name: str = "app"
    sends_prompt: bool = True
    seen: list[tuple[str, float]] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0
    _level: float = math.inf
    _filled_at: float = 0.0
    _chance: random.Random | None = None

    def identity(self, request: Request) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        self.seen.clear()

    async def answer(self, request: Request) -> Response:
        now = asyncio.get_running_loop().time()
        self.seen.append((request.prompt.text.strip(), now))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        code = self._code(now)
        self.codes[code] += 1
        await asyncio.sleep(0.001 if code == 429 else self.latency)
        self.in_flight -= 1
        if code == 200:
            usage = Usage(input_tokens=self.tokens, output_tokens=None)
            return Response(text="fine", usage=usage if self.tokens else None)
        raise ProviderError(
            str(code),
            status=code or None,
            retry_after_seconds=self.retry_after if code == 429 else None,
            is_transient=True,
        )

    def _code(self, now: float) -> int:
        if self.plan:
            return self.plan.pop(0)
        if self.refusals > 0 or self._is_over(now):
            self.refusals -= 1
            return 429
        if self._chance is None:
            self._chance = random.Random(self.seed)
        drawn = self._chance.random()
        for code, share in self.faults.items():
            if drawn < share:
                return code
            drawn -= share
        return 200

    def _is_over(self, now: float) -> bool:
        if self.rate == math.inf:
            return False
        more = (now - self._filled_at) * self.rate
        self._level = min(self.rate, self._level + more)
        self._filled_at = now
        if self._level < 1:
            return True
        self._level -= 1
        return False


@dataclass(slots=True)
class Outcome:
    answered: int
    errors: list[str]
    seconds: float


async def ask_all(
    server: Server, count: int, padding: str = "", *, calls: int = 1, **limits: Any
) -> Outcome:
    """Ask a server questions at once, each as many times as there are calls."""
    known = Limits(**{"concurrency": 20, **limits})
    backend = RetryBackend(
        inner=server,
        limiter=Limiters().of("x", known),
        limits=known,
        draw=random.Random(7).random,
    )
    outcome = Outcome(0, [], 0.0)

    async def case(number: int) -> None:
        for _ in range(calls):
            try:
                await backend.answer(Request(prompt=Prompt.of(f"q{number}{padding}")))
            except ProviderError as exc:
                outcome.errors.append(str(exc))
            else:
                outcome.answered += 1

    loop = asyncio.get_running_loop()
    start = loop.time()
    await asyncio.gather(*map(case, range(count)))
    outcome.seconds = loop.time() - start
    return outcome


@pytest.mark.parametrize("seed", range(5))
def test_a_server_that_fails_now_and_then_answers_every_call(
    in_virtual_time: Run, seed: int
) -> None:
    server = Server(faults={429: 0.1, 500: 0.05, 0: 0.02}, seed=seed)

    outcome = in_virtual_time(ask_all(server, 300, calls=2))

    assert (outcome.answered, outcome.errors) == (600, [])
    assert server.codes.total() <= 1.25 * 600
    assert server.most_in_flight == 20


@pytest.mark.parametrize("concurrency", [5, 10, 20])
@pytest.mark.parametrize("latency", [0.01, 0.05, 0.2])
def test_a_server_that_allows_fifty_a_second_is_served_at_its_rate(
    in_virtual_time: Run, concurrency: int, latency: float
) -> None:
    server = Server(rate=50, latency=latency)

    outcome = in_virtual_time(ask_all(server, 300, concurrency=concurrency))

    # A bucket of fifty and fifty a second: five seconds are the bound, but for
    # latencies that concurrency can't hide.
    bound = max(5.0, 300 * latency / concurrency)
    assert outcome.answered == 300
    assert outcome.seconds <= bound * 1.16
    assert server.codes.total() <= 330


def test_a_long_run_at_a_rate_is_refused_little(in_virtual_time: Run) -> None:
    server = Server(rate=50)

    outcome = in_virtual_time(ask_all(server, 2000))

    assert outcome.answered == 2000
    assert outcome.seconds <= 1950 / 50 * 1.05
    assert server.codes[429] <= 100


def test_a_rate_that_is_named_is_never_refused(in_virtual_time: Run) -> None:
    server = Server(rate=50)

    outcome = in_virtual_time(ask_all(server, 300, requests_per_minute=3000))

    assert outcome.seconds == pytest.approx(6, abs=0.1)
    assert server.codes == {200: 300}


def test_a_server_that_refuses_everything_is_given_up_in_the_end(
    in_virtual_time: Run,
) -> None:
    server = Server(refusals=math.inf)

    outcome = in_virtual_time(ask_all(server, 30))

    assert set(outcome.errors) == {"429; 6 attempts were made"}
    assert len(outcome.errors) == 30
    assert server.codes == {429: 180}


# --- one limiter a server and key ----------------------------------------------------


def retrying_of(backend: Any) -> RetryBackend:
    while not isinstance(backend, RetryBackend):
        backend = backend.inner
    return backend


def limiter_of(clients: Clients, **entry: Any) -> Limiter:
    spec = {"provider": "openai", "model": "m", "base_url": "http://lab/v1", **entry}
    return retrying_of(clients.backend(spec)).limiter


def test_a_server_and_key_have_one_limiter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_A", "a-secret")
    monkeypatch.setenv("KEY_B", "another")
    monkeypatch.setenv("KEY_C", "a-secret")
    clients = Clients(Config(), tmp_path, "live")

    generator = limiter_of(clients, api_key_env="KEY_A")

    assert limiter_of(clients, model="judge", api_key_env="KEY_A") is generator
    assert limiter_of(clients, api_key_env="KEY_C") is generator
    assert limiter_of(clients, api_key_env="KEY_B") is not generator
    assert limiter_of(clients) is not generator
    assert (
        limiter_of(clients, api_key_env="KEY_A", base_url="http://other/v1")
        is not generator
    )


@pytest.mark.parametrize("provider", ["fake", "column"])
def test_what_has_no_server_has_no_limiter(tmp_path: Path, provider: str) -> None:
    (tmp_path / "x").write_text('{"reply": "yes"}\n', "utf-8")

    backend: Any = Clients(Config(), tmp_path, "live").backend(f"{provider}:x")

    while hasattr(backend, "inner"):
        assert not isinstance(backend, RetryBackend)
        backend = backend.inner


def test_models_of_one_server_keep_to_the_strictest_of_their_limits(
    tmp_path: Path, in_virtual_time: Run
) -> None:
    clients = Clients(Config(), tmp_path, "live")
    log: list[Any] = []

    async def run() -> None:
        limiter_of(clients, limits={"concurrency": 3})
        one = limiter_of(clients, limits={"requests_per_minute": 6})
        await asyncio.gather(*(hold(one, "a", log, seconds=99) for _ in range(4)))

    in_virtual_time(run())

    assert [at for _, at in log] == pytest.approx([0, 9.95, 19.95, 99])


def test_a_model_has_retries_and_times_of_its_own(tmp_path: Path) -> None:
    config = Config(limits=Limits(retries=1, timeout_seconds=7))
    clients = Clients(config, tmp_path, "live")
    spec = {"provider": "openai", "model": "m", "base_url": "http://lab/v1"}

    own = retrying_of(clients.backend({**spec, "limits": {"retries": 0}}))

    assert (own.limits.retries, own.limits.timeout_seconds) == (0, 7)
