"""How a case stood in a run: what a baseline keeps and a comparison looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from pytest_llmeval.baseline._drift import Snapshot, snapshots_of
from pytest_llmeval.store.key import fingerprint
from pytest_llmeval.types import BELOW, Record

__all__ = ["SCORED", "Standing", "Value", "standing_of"]

#: The statuses that say whether a reply was right.
SCORED = {"passed": True, **dict.fromkeys(BELOW, False)}
_TUPLES = ("read", "prompts", "settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a check measured."""

    metric: str
    value: float | None
    """The mean over the samples that have one; None when none has."""
    version: int
    higher_is_better: bool = True
    judge: str | None = None
    """Fingerprint of what judged: model, template, rubric; None for a metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One case in one run. Fingerprints are short hashes: equal, or not."""

    test: str
    """File, class and function."""
    case_id: str
    status: str
    nodeid: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    """Parameters besides the case; the model's name where several run."""
    source: str | None = None
    """``file:line`` of the row."""
    is_numbered: bool = False
    """The id is the row's number: rows are then paired by their content."""
    must_pass: bool = False
    row: str = ""
    """Fingerprint of the row as the test reads it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Fingerprint of each column."""
    read: tuple[str, ...] = ()
    """Columns that held the reply under test: no part of the question."""
    template: str | None = None
    """Fingerprint of the prompt's template, None without one."""
    prompts: tuple[str, ...] = ()
    """Fingerprints of the prompts sent."""
    model: str | None = None
    """What answered, in words: ``openai:gpt-4o``."""
    settings: tuple[str, ...] = ()
    """Fingerprints of address and parameters."""
    served: tuple[Snapshot, ...] = ()
    """The models as their servers called them."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """By the check's name."""
    reply: str | None = None

    @property
    def identity(self) -> str:
        """What tells the case from every other of its run."""
        params = ",".join(f"{name}={self.params[name]}" for name in sorted(self.params))
        return f"{self.test}[{params}]::{self.case_id}"

    @property
    def passed(self) -> bool | None:
        """Whether the reply was right, None when nothing was scored."""
        return SCORED.get(self.status)

    def settled(self) -> Self:
        """Return it as a baseline keeps it: below the bar or known is failed."""
        if self.passed is False and self.status != "failed":
            return replace(self, status="failed")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types, without what is empty."""
        data = {key: value for key, value in asdict(self).items() if value}
        if self.served:
            data["served"] = [one.to_json() for one in self.served]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`.

        Raises:
            TypeError: Something is missing, or there is something else.
        """
        values = {n: Value(**value) for n, value in data.get("values", {}).items()}
        parts = {
            "values": values,
            **{name: tuple(data.get(name, ())) for name in _TUPLES},
            "served": tuple(Snapshot(**one) for one in data.get("served", ())),
        }
        return cls(**{**data, **parts})


def standing_of(record: Record) -> Standing:
    """Return how the case of a record stood."""
    calls = [call for sample in record.samples for call in sample["calls"]]
    asked = [call for call in calls if call["role"] == "generator"]
    replies = [call["response"] for call in asked if call["response"]]
    columns = (call["settings"] for call in asked)
    return Standing(
        test=record.test,
        case_id=record.case_id,
        status=record.status,
        nodeid=record.nodeid,
        params=record.params,
        source=record.source,
        is_numbered=record.fingerprints.is_numbered,
        must_pass=record.fingerprints.must_pass,
        row=record.fingerprints.row,
        columns=record.fingerprints.columns,
        read=tuple(
            sorted({s["model"] for s in columns if s.get("provider") == "column"})
        ),
        template=record.fingerprints.template,
        prompts=_prints_of(call["prompt"] for call in asked if call["prompt"]),
        model=_text_of(_model(call) for call in asked),
        settings=_prints_of(_rest(call["settings"]) for call in asked),
        served=snapshots_of(
            (call["role"], _model(call), call["response"])
            for call in calls
            if call["response"]
        ),
        values=_values(record.samples),
        reply=replies[-1].get("text") if replies else None,
    )


def _judge_of(checks: Iterable[Mapping[str, Any]]) -> str | None:
    judged = (check["judge"] for check in checks if check.get("judge"))
    prints = _prints_of(one.get("fingerprint") for one in judged)
    return ",".join(prints) or None


def _model(call: Mapping[str, Any]) -> str:
    settings = call["settings"]
    if "provider" not in settings:
        return str(call["client"])
    model = str(settings.get("model", "")).removeprefix(f"{settings['provider']}:")
    return f"{settings['provider']}:{model}".removesuffix(":")


def _rest(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is left of a client's settings when its name is told apart."""
    return {k: v for k, v in settings.items() if k not in {"provider", "model"}}


def _prints_of(parts: Iterable[Any]) -> tuple[str, ...]:
    """Return the fingerprints of several things, whatever order they came in."""
    return tuple(sorted({fingerprint(part) for part in parts}))


def _text_of(parts: Iterable[str]) -> str | None:
    return ", ".join(sorted(set(parts))) or None


def _values(samples: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    checks: dict[str, list[Mapping[str, Any]]] = {}
    for sample in samples:
        for check in sample["checks"]:
            checks.setdefault(check["name"], []).append(check)
    return {name: _value(found) for name, found in checks.items()}


def _value(checks: list[Mapping[str, Any]]) -> Value:
    from pytest_llmeval.stats import mean

    numbers = [c["value"] for c in checks if isinstance(c["value"], int | float)]
    first = checks[0]
    return Value(
        metric=first["metric"],
        value=mean(numbers),
        version=first["version"],
        higher_is_better=first["higher_is_better"],
        judge=_judge_of(checks),
    )
