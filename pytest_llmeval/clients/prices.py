"""What a reply costs: its tokens times the prices of its entry, or those of a list.

The list is genai-prices (extra ``prices``), which has the models of the large providers
and comes with its data: nothing is looked up on a network. A price is known or it is
not; nothing is guessed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from math import fsum
from typing import Any, Final
from urllib.parse import urlsplit

from pytest_llmeval.clients._base import Request, never_waits
from pytest_llmeval.clients._layer import Layer
from pytest_llmeval.config import ModelEntry
from pytest_llmeval.loop import in_daemon_thread
from pytest_llmeval.types import Response, Usage

__all__ = ["PriceList", "PricedBackend", "cost_of"]

_MILLION: Final = 1_000_000
#: What the list calls those of our providers that it has.
_LISTED: Final[Mapping[str, str]] = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
}


def cost_of(usage: Usage | None, prices: Mapping[str, float]) -> float | None:
    """Return what tokens cost, in US dollars; None when a part of it is not known.

    Cached tokens are a part of the input, reasoning tokens one of the output: each token
    is paid once. Without a price of their own, cached ones cost what others do.

    Args:
        usage: The tokens of a reply.
        prices: US dollars per million tokens: input, output, cached_input.
    """
    if usage is None or not _is_consistent(usage):
        return None
    cached = usage.cached_tokens or 0
    fresh = None if usage.input_tokens is None else usage.input_tokens - cached
    price = prices.get("input")
    parts = (
        _part(fresh, price),
        _part(cached, prices.get("cached_input", price)),
        _part(usage.output_tokens, prices.get("output")),
    )
    known = [part for part in parts if part is not None]
    return fsum(known) if len(known) == len(parts) else None


def _part(tokens: int | None, price: float | None) -> float | None:
    if tokens == 0 or price == 0:
        return 0.0
    return None if tokens is None or price is None else tokens * price / _MILLION


def _is_consistent(usage: Usage) -> bool:
    """Return whether parts are no larger than what they are parts of.

    What a server means that counts them apart, nobody knows.
    """
    pairs = (
        (usage.cached_tokens, usage.input_tokens),
        (usage.reasoning_tokens, usage.output_tokens),
    )
    return all(
        whole is not None and part <= whole for part, whole in pairs if part is not None
    )


class PriceList:
    """The prices of genai-prices; nothing is known where it is not installed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_loaded = False
        self._package: Any = None

    async def cost(self, entry: ModelEntry, response: Response) -> float | None:
        """Return what a reply cost by the list, None when the list has no such model.

        Args:
            entry: The model that was asked. One with an address of its own is looked
                up by that: a server of one's own sells nothing at OpenAI's prices.
            response: The reply.
        """
        usage = response.usage
        if usage is None or not _is_consistent(usage) or not _is_listed(entry):
            return None
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if not self._is_loaded:
            # Half a second: not on the event loop.
            await in_daemon_thread(self._load)
        return self._listed(entry, response.model or entry.model, usage)

    def waits_for(self, entry: ModelEntry) -> bool:
        """Return whether a price of a model has to wait until the list is read."""
        return not self._is_loaded and _is_listed(entry)

    def _load(self) -> None:
        with self._lock:
            if not self._is_loaded and find_spec("genai_prices") is not None:
                import genai_prices

                self._package = genai_prices
            self._is_loaded = True

    def _listed(self, entry: ModelEntry, model: str, usage: Usage) -> float | None:
        if self._package is None:
            return None
        where: dict[str, str] = {"provider_id": _LISTED[entry.provider]}
        if entry.base_url is not None:
            where = {"provider_api_url": entry.base_url}
        tokens = self._package.Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
        )
        try:
            found = self._package.calc_price(tokens, model_ref=model, **where)
        except (LookupError, ValueError):
            return None
        return float(found.total_price)


def _is_listed(entry: ModelEntry) -> bool:
    """Return whether the list may have a model."""
    if entry.provider not in _LISTED:
        return False
    return entry.base_url is None or not _is_private(entry.base_url)


@cache
def _is_private(base_url: str) -> bool:
    """Return whether an address is in one's own network: no list has it."""
    from ipaddress import ip_address

    host = urlsplit(base_url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedBackend(Layer):
    """Says of each reply what it costs, wherever it comes from.

    In front of recordings and cache: a reply on file is priced as it would be today.
    """

    entry: ModelEntry
    listed: PriceList

    @property
    def never_waits(self) -> bool:
        """As the model behind, once its price needs no list that is still to be read."""
        is_price_there = bool(self.entry.prices) or not self.listed.waits_for(
            self.entry
        )
        return is_price_there and never_waits(self.inner)

    async def answer(self, request: Request) -> Response:
        """Return the reply of the model behind with its cost."""
        response = await self.inner.answer(request)
        if response.cost is not None:  # told by who answered
            return response
        if self.entry.prices:
            cost = cost_of(response.usage, self.entry.prices)
        else:
            cost = await self.listed.cost(self.entry, response)
        return response if cost is None else replace(response, cost=cost)
