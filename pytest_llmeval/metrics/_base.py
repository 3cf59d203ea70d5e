"""What every metric is made of: its declaration, its two texts, and its scores.

A metric is a function ``(response, expected, **options) -> Score`` decorated with
`scored_by`; it reads its texts with `text_of` and `references_of`, which say why where
there is nothing to score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, ParamSpec

from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.types import Case, Pool, Response, Score, as_text

__all__ = [
    "Declaration",
    "Details",
    "best_of",
    "one_of",
    "references_of",
    "scored_by",
    "text_of",
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
                details = {} if given is None else {"response": _plain_text(given)}
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


def text_of(response: Any, references: Sequence[str] = ()) -> str:
    """Return the text a metric looks at.

    Args:
        response: A Response, a text, or a value with a text.
        references: What is expected: an empty one makes an empty reply a right one.

    Raises:
        UnscoredError: There is no reply, or a model replied with nothing. An
            application may answer with an empty text; a model that does has failed.
    """
    if response is None:
        message = "there is no reply to score: the metric was given None"
        raise UnscoredError(message, cause="application")
    if hasattr(response, "__await__") or callable(response):
        # Scored by its repr it would pass whatever must not be in a reply.
        kind = type(response).__name__
        hint = "await it" if hasattr(response, "__await__") else "call it with the case"
        message = f"the metric was given a {kind} in place of a reply: {hint}"
        raise UnscoredError(message, cause="suite")
    text = _plain_text(response)
    if text.strip() or not isinstance(response, Response):
        return text
    if not response.is_from_model or any(not r.strip() for r in references):
        return text
    raise _no_text(response)


def _no_text(response: Response) -> UnscoredError:
    """Return the error of a model's reply that says nothing."""
    who = response.model or response.provider or "the model"
    reason = f"(finish_reason {response.finish_reason or 'not given'})"
    if response.refusal:
        message = f"{who} refused to answer: {response.refusal!r} {reason}"
        return UnscoredError(message, cause="refused")
    if response.tool_calls:
        names = ", ".join(str(call.get("name")) for call in response.tool_calls)
        message = f"{who} asked for tools ({names}) and said nothing {reason}"
        return UnscoredError(message, cause="empty")
    what = "white space only" if response.text else "an empty text"
    return UnscoredError(f"{who} replied with {what} {reason}", cause="empty")


def _plain_text(response: Any) -> str:
    return response.text if isinstance(response, Response) else as_text(response)


def references_of(expected: Any) -> tuple[str, ...]:
    """Return the acceptable texts: of a case its ``expected``, of a list each item.

    Raises:
        UnscoredError: Nothing is expected where something is needed.
    """
    case = expected if isinstance(expected, Case) else None
    value = case.expected if case else expected
    if isinstance(value, str):
        return (value,)
    if value is None:
        raise UnscoredError(_nothing_expected(case), cause="data")
    if isinstance(value, set | frozenset):
        value = sorted(value, key=as_text)
    if not isinstance(value, list | tuple):
        return (_reference(value, case),)
    if not value:
        message = f"{_expected_of(case)} is an empty list: no answer is acceptable"
        raise UnscoredError(message, cause="data")
    return tuple(_reference(item, case) for item in value)


def _reference(value: Any, case: Case | None) -> str:
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    if is_missing:
        shown = "null" if value is None else "NaN, a table's empty cell"
        message = f"{_expected_of(case)} is or holds {shown}: nothing to compare with"
        raise UnscoredError(message, cause="data")
    return as_text(value)


def _expected_of(case: Case | None) -> str:
    return f"expected of {named(case)}" if case else "expected"


def named(case: Case) -> str:
    """Return a case's id and place as a message names them."""
    return f"case {case.id!r}" + (f" ({case.source})" if case.source else "")


def _nothing_expected(case: Case | None) -> str:
    if case is None:
        return (
            "expected is None: give a text, a list of acceptable ones, or a case "
            "that has an expected value"
        )
    columns = ", ".join(map(str, case.fields)) or "none"
    return (
        f"{named(case)} has no expected value; its columns: {columns}. Name the "
        f'right one by columns={{"expected": "..."}}'
    )


def best_of(
    declaration: Declaration,
    response: Any,
    expected: Any,
    compare: Callable[[str, str], Score],
) -> Score:
    """Return the best of the scores against each acceptable text, the first on a tie.

    Args:
        declaration: The metric; its direction says what is best.
        response: What `text_of` takes.
        expected: What `references_of` takes.
        compare: Scores a reply against one reference.
    """
    references = references_of(expected)
    text = text_of(response, references)
    best = compare(text, references[0])
    sign = 1 if declaration.higher_is_better else -1
    place = 0
    for index, reference in enumerate(references[1:], 1):
        score = compare(text, reference)
        if sign * float(score) > sign * float(best):
            best, place = score, index
    if len(references) > 1 and isinstance(best.details, Details):
        best.details.ready.update(reference_index=place, references=references)
    return best


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
