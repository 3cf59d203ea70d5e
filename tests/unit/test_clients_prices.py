"""What a reply costs: each token once, and nothing guessed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients import Clients, Request, Spending, never_waits
from pytest_llmeval.clients.prices import PricedBackend, PriceList, cost_of
from pytest_llmeval.config import Config, ModelEntry
from pytest_llmeval.types import Prompt, Response, Usage

PRICES = {"input": 2.0, "output": 10.0, "cached_input": 0.5}
MILLION = 1_000_000


def usage(
    read: int | None = 1000,
    written: int | None = 100,
    *,
    cached: int | None = None,
    reasoning: int | None = None,
) -> Usage:
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=cached,
        reasoning_tokens=reasoning,
    )


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        (usage(), 1000 * 2 + 100 * 10),
        (usage(0, 0), 0),
        # Cached tokens are a part of the input, and paid for once.
        (usage(cached=400), 600 * 2 + 400 * 0.5 + 100 * 10),
        (usage(cached=1000), 1000 * 0.5 + 100 * 10),
        (usage(cached=0), 1000 * 2 + 100 * 10),
        # Reasoning tokens are a part of the output, and paid for once.
        (usage(reasoning=90), 1000 * 2 + 100 * 10),
        (usage(reasoning=100), 1000 * 2 + 100 * 10),
    ],
)
def test_each_token_is_paid_once(tokens: Usage, dollars: float) -> None:
    assert cost_of(tokens, PRICES) == pytest.approx(dollars / MILLION, rel=1e-12)


def test_cached_tokens_without_a_price_cost_what_others_do() -> None:
    prices = {"input": 2.0, "output": 10.0}

    assert cost_of(usage(cached=400), prices) == cost_of(usage(), prices)


@pytest.mark.parametrize(
    "tokens",
    [
        None,
        Usage(),
        usage(None),
        usage(written=None),
        # Servers that count apart what should be a part.
        usage(cached=1001),
        usage(reasoning=101),
        usage(None, cached=5),
        usage(written=None, reasoning=5),
    ],
)
def test_what_is_not_known_costs_nobody_knows_what(tokens: Usage | None) -> None:
    assert cost_of(tokens, PRICES) is None


@pytest.mark.parametrize(
    ("prices", "tokens", "dollars"),
    [
        ({"output": 10.0}, usage(), None),
        ({"input": 2.0}, usage(), None),
        ({"input": 2.0}, usage(written=0), 2000 / MILLION),
        ({"input": 2.0, "output": 0.0}, usage(written=None), 2000 / MILLION),
        ({"input": 0.0, "output": 0.0}, usage(None, None), 0.0),
        ({"cached_input": 1.0, "output": 10.0}, usage(cached=1000), 2000 / MILLION),
    ],
)
def test_a_missing_price_matters_where_there_are_tokens(
    prices: dict[str, float], tokens: Usage, dollars: float | None
) -> None:
    assert cost_of(tokens, prices) == dollars


# --- the list ------------------------------------------------------------------------


def listed(tokens: Usage | None = None, *, model: str, **entry: Any) -> float | None:
    given = {"name": "m", "provider": "openai", **entry}
    response = Response(text="x", model=model, usage=tokens or usage())
    return asyncio.run(PriceList().cost(ModelEntry(**given), response))


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ({}, "gpt-4o-mini"),
        ({}, "gpt-4o-mini-2024-07-18"),
        ({"provider": "openai-responses"}, "gpt-4o-mini"),
        ({"base_url": "https://api.openai.com/v1"}, "gpt-4o-mini"),
    ],
)
def test_listed_prices(entry: dict[str, Any], model: str) -> None:
    prices = {"input": 0.15, "output": 0.60, "cached_input": 0.075}
    tokens = usage(cached=400, reasoning=50)

    assert listed(tokens, model=model, **entry) == pytest.approx(
        cost_of(tokens, prices), rel=1e-9
    )


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "claude-haiku-4-5"), ("gemini", "gemini-2.0-flash")],
)
def test_the_other_providers_are_listed(provider: str, model: str) -> None:
    assert listed(model=model, provider=provider)


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ({}, "no-such-model"),
        # A server of one's own does not sell at OpenAI's prices.
        ({"base_url": "http://127.0.0.1:8080/v1"}, "gpt-4o-mini"),
        ({"base_url": "http://server:8080/v1"}, "gpt-4o-mini"),
        ({"base_url": "https://models.example.com/v1"}, "gpt-4o-mini"),
        ({"provider": "local"}, "gpt-4o-mini"),
        ({"provider": "python"}, "gpt-4o-mini"),
    ],
)
def test_what_the_list_does_not_have_is_unknown(
    entry: dict[str, Any], model: str
) -> None:
    assert listed(model=model, **entry) is None


@pytest.mark.parametrize("tokens", [usage(None), usage(cached=2000)])
def test_the_list_prices_no_tokens_that_make_no_sense(tokens: Usage) -> None:
    assert listed(tokens, model="gpt-4o-mini") is None


def test_a_server_of_ones_own_loads_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PriceList, "_load", None)

    assert listed(model="m", base_url="http://127.0.0.1:8080/v1") is None


def test_without_the_extra_listed_prices_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert listed(model="gpt-4o-mini") is None


# --- a priced model ------------------------------------------------------------------


class Answers:
    name = "m"
    sends_prompt = True

    def __init__(self, response: Response) -> None:
        self.response = response

    def identity(self, request: Request) -> dict[str, Any]:
        return {"model": "m"}

    async def answer(self, request: Request) -> Response:
        return self.response

    async def close(self) -> None:
        self.name = "closed"


def priced(response: Response, **entry: Any) -> Response:
    backend = PricedBackend(
        inner=Answers(response),
        entry=ModelEntry(**{"name": "m", "provider": "openai", **entry}),
        listed=PriceList(),
    )
    return asyncio.run(backend.answer(Request(prompt=Prompt.of("hi"))))


def test_the_prices_of_the_entry_come_before_the_list() -> None:
    response = Response(text="x", model="gpt-4o-mini", usage=usage())

    assert priced(response, prices=PRICES).cost == cost_of(usage(), PRICES)


def test_a_cost_that_was_told_stays() -> None:
    response = Response(text="x", usage=usage(), cost=0.5)

    assert priced(response, prices=PRICES).cost == 0.5


@pytest.mark.parametrize("origin", ["live", "cache", "recording"])
def test_a_reply_has_a_price_wherever_it_comes_from(origin: Any) -> None:
    response = Response(text="x", usage=usage(), origin=origin)

    assert priced(response, prices=PRICES).cost == cost_of(usage(), PRICES)


def test_a_price_changes_nothing_else() -> None:
    answers = Answers(Response(text="x"))
    backend = PricedBackend(
        inner=answers,
        entry=ModelEntry(name="m", provider="python"),
        listed=PriceList(),
    )
    request = Request(prompt=Prompt.of("hi"))

    assert (backend.name, backend.sends_prompt) == ("m", True)
    assert backend.identity(request) == {"model": "m"}
    assert asyncio.run(backend.answer(request)) is answers.response
    asyncio.run(backend.close())
    assert answers.name == "closed"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"provider": "openai", "base_url": "http://localhost:1/v1"}, True),
        ({"provider": "openai", "prices": PRICES}, True),
        ({"provider": "gemini", "prices": PRICES}, True),
        ({"provider": "openai"}, False),  # until the list has been read
    ],
)
def test_a_replay_never_waits_for_a_price_that_is_there(
    entry: dict[str, Any], expected: bool, tmp_path: Path
) -> None:
    config = Config()
    named = {"model": "m", **entry}
    clients = Clients(config, tmp_path, "replay", spending=Spending(1.0))

    assert never_waits(clients.backend(named)) is expected
    assert not never_waits(Clients(config, tmp_path, "live").backend(named))
