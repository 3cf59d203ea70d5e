"""What llmeval.yaml says, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["Config", "Limits", "ModelEntry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model, application or panel under a name."""

    name: str
    """As configured, or the spec itself."""
    provider: str
    """Who answers, one of `PROVIDERS`; ``panel`` where several judges vote."""
    model: str = ""
    """What follows the colon in a spec: a model, ``package.module:name``, a column, a
    path; nothing where the URL says it all."""
    base_url: str | None = None
    """The server's address; for ``http`` the URL to call."""
    api_key_env: str | None = None
    """The environment variable with the key: the key itself is never written down."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """As written: ``${NAME}`` stands for an environment variable."""
    ca_bundle: str | None = None
    """A file of certificates to trust."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Sent with every request, under the names of our own or of the provider."""
    prices: Mapping[str, float] = field(default_factory=dict)
    """US dollars per million tokens: input, output, cached_input."""
    cache: bool | None = None
    """Whether its replies are cached, and recorded ones taken in ``auto``; None: the
    provider's own default."""
    on_length: Literal["unscored", "score"] = "unscored"
    """What a reply that was cut off at a limit is: ``unscored``, or taken to ``score``."""
    pass_: Literal["prompt", "case"] = "prompt"
    """What code gets: the ``prompt`` or the ``case``. ``pass`` in the file."""
    reply: str | None = None
    """Dotted path of the text in what comes back."""
    panel: tuple[str, ...] = ()
    """Judges whose majority decides."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Limits of this model's own."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keys that only some providers know (`_options.OPTIONS`), as far as given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How hard a run may press its models."""

    concurrency: int = 10
    """Requests in flight at once, to one server with one key."""
    requests_per_minute: float | None = None
    """No bound without it."""
    tokens_per_minute: float | None = None
    """No bound without it."""
    retries: int = 5
    """Further attempts of a call."""
    timeout_seconds: float = 60.0
    """Of one attempt."""
    deadline_seconds: float = 300.0
    """Of a call with all its retries."""
    cache_days: float | None = None
    """How old a reply of the cache may be; None: as old as it is."""

    def stricter(self, other: Limits) -> Limits:
        """Return what keeps to both where they bound what a server is sent."""
        bounds = ("concurrency", "requests_per_minute", "tokens_per_minute")
        return replace(
            self,
            **{key: _least(getattr(self, key), getattr(other, key)) for key in bounds},
        )


def _least(one: float | None, other: float | None) -> Any:
    return min((n for n in (one, other) if n is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """llmeval.yaml; without one every field is as here."""

    generator: str | None = None
    """The model under test, by its name or spec."""
    judge: str | None = None
    """The judge, by its name or spec."""
    models: Mapping[str, ModelEntry] = field(default_factory=dict)
    """Models and applications by name."""
    gates: tuple[str, ...] = ()
    """Bars for the whole run, and for tags."""
    limits: Limits = field(default_factory=Limits)
    """How hard the run may press its models."""
    path: str | None = None
    """The file, None when there is none."""
