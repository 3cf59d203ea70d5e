"""What every metric is made of: its declaration, its two texts, and its scores.

A metric is a function ``(response, expected, **options) -> Score`` decorated with
`scored_by`; it reads its texts with `text_of` and `references_of`, which say why where
there is nothing to score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, ParamSpec

from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.types import Pool, Response, Score, as_text

__all__ = [
    "Declaration",
    "Details",
    "checked_base",
    "one_of",
    "plain_text_of",
    "scored_by",
]

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a metric says about itself; part of each of its scores."""

    name: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    binary: bool = False
    """Pass or fail, nothing between."""
    version: int = 1
    """Raised when its values change: values of different versions don't compare."""
    extra: str | None = None
    """The optional dependency it needs."""
    module: str | None = None
    """What that extra installs, by its import name."""
    takes: Literal["text", "calls", "model"] = "text"
    """What it looks at: a reply's text, its tool calls, or the model itself, which it
    asks how likely texts are."""

    def scored(
        self,
        value: float,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
        pool: Pool | None = None,
    ) -> Score:
        """Return a score with a value."""
        return Score(
            metric=self.name,
            value=float(value),
            reason=reason,
            details={} if details is None else details,
            low=self.low,
            high=self.high,
            higher_is_better=self.higher_is_better,
            binary=self.binary,
            version=self.version,
            pool=pool,
        )

    def unscored(
        self, reason: str, cause: str, details: Mapping[str, Any] | None = None
    ) -> Score:
        """Return a score without a value, which is neither a pass nor a failure."""
        return Score(
            metric=self.name,
            value=None,
            reason=reason,
            cause=cause,
            details={} if details is None else details,
            low=self.low,
            high=self.high,
            higher_is_better=self.higher_is_better,
            binary=self.binary,
            version=self.version,
        )


def scored_by(
    declaration: Declaration,
) -> Callable[[Callable[P, Score]], Callable[P, Score]]:
    """Return a decorator that makes an unscored Score of an UnscoredError."""

    def decorate(function: Callable[P, Score]) -> Callable[P, Score]:
        @wraps(function)
        def scored(*args: P.args, **kwargs: P.kwargs) -> Score:
            try:
                return function(*args, **kwargs)
            except UnscoredError as exc:
                given = args[0] if args else kwargs.get("response")
                details = {} if given is None else {"response": plain_text_of(given)}
                return declaration.unscored(exc.reason, exc.cause, details)

        return scored

    return decorate


@dataclass(slots=True, eq=False)
class Details(Mapping[str, Any]):
    """Details of a score; what only an explanation needs is made when it is read."""

    ready: dict[str, Any]
    build: Callable[[], Mapping[str, Any]]
    is_built: bool = field(default=False, init=False)

    def _all(self) -> dict[str, Any]:
        if not self.is_built:
            self.ready.update(self.build())
            self.is_built = True
        return self.ready

    def __getitem__(self, name: str) -> Any:
        return self.ready[name] if name in self.ready else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._all(),)  # what is yet to be built can't be pickled


def plain_text_of(response: Any) -> str:
    """Return the text of a reply as it is."""
    return response.text if isinstance(response, Response) else as_text(response)


def checked_base(name: str, base: Any) -> None:
    """Refuse what is not the number of the first choice.

    Raises:
        ConfigError: It is neither 0 nor 1.
    """
    if base not in (0, 1):
        message = f"{name} is 0 or 1, the number of the first choice, not {base!r}"
        raise ConfigError(message)


def one_of(kind: str, name: str, available: Sequence[str], metric: str) -> str:
    """Return `name` if it is one of `available`.

    Raises:
        ConfigError: It isn't; the text has the names there are.
    """
    if name in available:
        return name
    message = (
        f"{metric} has no {kind} {name!r}{did_you_mean(str(name), available)}; "
        f"there are: {', '.join(available)}"
    )
    raise ConfigError(message)
