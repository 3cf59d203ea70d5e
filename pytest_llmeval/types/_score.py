"""Scores and the checks made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Self

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.types._text import clean_json

#: How far float noise may carry a value over or under a bar without deciding anything.
TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What of a score is added up over cases, for a value over all of them at once."""

    form: str
    """What `stats.pooled` makes of the sums: bleu, chrf2, ratio, f1, exp_rate, bits."""
    counts: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {"form": self.form, "counts": list(self.counts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`."""
        return cls(form=data["form"], counts=tuple(data["counts"]))


_PLAIN: Final = (
    *("metric", "name", "value", "operator", "threshold", "passed", "reason"),
    *("cause", "higher_is_better", "version", "low", "high", "response", "judge"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A score held against a bar: what a report lists and a baseline compares."""

    metric: str
    name: str
    """Unique in its case; the metric's name by default."""
    value: float | None
    operator: str
    """>=, <=, >, <, == or !=."""
    threshold: float | None
    passed: bool | None
    """None: the score is unscored."""
    reason: str = ""
    cause: str | None = None
    higher_is_better: bool = True
    version: int = 1
    """Of the metric: values of different versions are never compared."""
    low: float = -inf
    """The ends of the metric's scale."""
    high: float = inf
    response: str | None = None
    """The text that was scored."""
    judge: Mapping[str, Any] | None = None
    """What a judge said: votes, fingerprint, both orders of a comparison; JSON."""
    pool: Pool | None = None
    """Of a metric that has a value over all cases beside the mean."""
    explanation: tuple[str, ...] = ()
    """Of a check that did not hold, what stood against what: lines of a diff."""
    aggregation: str = "mean"
    """What the value over all cases is: one of `stats.AGGREGATIONS`, or the name of a
    task's own function."""
    item: Any = None
    """What that is made of, where it is not the value; JSON."""
    row: int | None = None
    """Of the case in its dataset, where the order matters for what that is."""
    resamples: int | None = None
    """How often cases are drawn anew for the standard error of the value over all of
    them; None where none is asked for."""
    score: Score | None = field(default=None, compare=False)
    """Only within the process, and of a check that does not hold: the score, for the
    explanation of the failure."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        data = {name: clean_json(getattr(self, name)) for name in _PLAIN}
        if self.pool:
            data["pool"] = self.pool.to_json()
        if self.aggregation != "mean":
            data["aggregation"] = clean_json(self.aggregation)
        if self.item is not None:
            data["item"] = clean_json(self.item)
        for name in ("row", "resamples"):
            if getattr(self, name) is not None:
                data[name] = getattr(self, name)
        if self.explanation:
            data["explanation"] = clean_json(self.explanation)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        pool = data.get("pool")
        # An end that is infinite stands in JSON as its text.
        ends = {name: float(data[name]) for name in ("low", "high") if name in data}
        parts = {
            "pool": pool and Pool.from_json(pool),
            "explanation": tuple(data.get("explanation", ())),
        }
        return cls(**{**data, **ends, **parts})


#: Called with each comparison of a Score, so that a plain ``assert f1(...) >= 0.6``
#: stands in the case's record; set while a case runs.
comparison_noted: ContextVar[Callable[[Check], None] | None] = ContextVar(
    "llmeval_comparison_noted", default=None
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Score:
    """A metric's value for one reply. Compares with numbers.

    ``bool(score)`` is "equals 1" for a pass/fail metric and a TypeError for a graded
    one: without it every ``assert f1(...)`` would hold. Comparing an unscored score
    raises UnscoredError.
    """

    metric: str
    value: float | None
    """None: could not be scored, see `cause` and `reason`."""
    reason: str = ""
    cause: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    binary: bool = False
    """Pass or fail, nothing between."""
    version: int = 1
    pool: Pool | None = None

    def holds(self, operator: str, bar: float) -> bool:
        """Return whether the value stands in this relation to `bar`.

        Values nearer than `TOLERANCE` count as equal.

        Raises:
            UnscoredError: The value is None.
        """
        if self.value is None:
            raise UnscoredError(self.reason, cause=self.cause or "data")
        gap = self.value - bar
        is_equal = abs(gap) <= TOLERANCE
        return {
            ">=": gap > 0 or is_equal,
            "<=": gap < 0 or is_equal,
            ">": gap > 0 and not is_equal,
            "<": gap < 0 and not is_equal,
            "==": is_equal,
            "!=": not is_equal,
        }[operator]

    def check(self, operator: str, bar: float, *, name: str | None = None) -> Check:
        """Return this score held against `bar`; an unscored one has passed=None."""
        passed = None if self.value is None else self.holds(operator, bar)
        return Check(
            metric=self.metric,
            name=name or self.metric,
            value=self.value,
            operator=operator,
            threshold=float(bar),
            passed=passed,
            reason=self.reason,
            cause=self.cause,
            higher_is_better=self.higher_is_better,
            version=self.version,
            low=self.low,
            high=self.high,
            response=self.details.get("response"),
            judge=self.details.get("record"),
            pool=self.pool,
            # It may hold the reply once more, in a form of its own.
            score=None if passed else self,
        )

    def _compare(self, operator: str, bar: object) -> bool:
        if not isinstance(bar, int | float):
            if operator in {"==", "!="}:
                return operator == "!="
            message = f"{self.metric} compares with a number, not with {bar!r}"
            raise TypeError(message)
        if (note := comparison_noted.get()) is not None:
            note(self.check(operator, bar))
        return self.holds(operator, bar)

    def __ge__(self, bar: object) -> bool:
        return self._compare(">=", bar)

    def __le__(self, bar: object) -> bool:
        return self._compare("<=", bar)

    def __gt__(self, bar: object) -> bool:
        return self._compare(">", bar)

    def __lt__(self, bar: object) -> bool:
        return self._compare("<", bar)

    def __eq__(self, bar: object) -> bool:
        return self is bar if isinstance(bar, Score) else self._compare("==", bar)

    def __ne__(self, bar: object) -> bool:
        return self is not bar if isinstance(bar, Score) else self._compare("!=", bar)

    def __hash__(self) -> int:
        return hash((self.metric, self.value, self.reason))

    def __bool__(self) -> bool:
        if not self.binary:
            message = (
                f"{self.metric} is graded from {self.low:g} to {self.high:g}, so it "
                f"is neither true nor false: compare it with a bar, "
                f"`assert {self.metric}(response, case) >= 0.6`"
            )
            raise TypeError(message)
        return self._compare("==", 1)

    def __float__(self) -> float:
        if self.value is None:
            raise UnscoredError(self.reason, cause=self.cause or "data")
        return self.value

    def __repr__(self) -> str:
        value = "unscored" if self.value is None else f"{self.value:.4g}"
        return f"{self.metric}={value}"
