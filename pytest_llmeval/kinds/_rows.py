"""Whether rows hold what their kind needs, and count their choices one way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.kinds._table import Kind
from pytest_llmeval.kinds._use import KindUse
from pytest_llmeval.types import Case, as_text

__all__ = ["check_rows", "row_problem"]


def row_problem(kind: Kind, case: Case) -> str | None:
    """Return what a row lacks for its kind, None when it lacks nothing."""
    for field in _NEEDS[kind.name]:
        if (problem := _PROBLEMS[field](case)) is not None:
            return (
                f"case {case.id!r}{_place(case)} is of the kind {kind.name!r} "
                f"({kind.holds}), and {problem}; columns: "
                f"{', '.join(map(str, case.fields)) or 'none'}"
            )
    return None


def check_rows(use: KindUse, cases: Sequence[Case]) -> None:
    """Find mistakes that are the dataset's: none of its rows fits, labels are mixed.

    A row that alone lacks something is unscored when it runs.

    Raises:
        ConfigError: There is such a mistake.
    """
    problems = [row_problem(use.kind, case) for case in cases]
    if problems and all(problems):
        message = (
            f"no row fits: {problems[0]}. Columns are named by "
            f"columns={{'our field': 'their.column'}} or a preset"
        )
        raise ConfigError(message)
    if use.label_base is not None:
        _check_base(use, cases)


def _check_base(use: KindUse, cases: Sequence[Case]) -> None:
    """Refuse labels that another base fits: the other rows would be off by one."""
    base = use.label_base
    if base not in (0, 1):
        message = f"label_base is 0 or 1, the number of the first choice, not {base!r}"
        raise ConfigError(message)
    other = 1 - base
    outside = next((c for c in cases if _is_outside(c, base, other)), None)
    if outside is None:
        return
    against = next((c for c in cases if _is_outside(c, other, base)), None)
    label = outside.label if outside.labels is None else list(outside.labels)
    count = len(outside.choices or ())
    message = (
        f"case {outside.id!r}{_place(outside)} has the label {label!r} with {count} "
        f"choices, which counts them from {other}, not from {base}: all rows would be "
        f"off by one"
    )
    if against is not None:
        message += (
            f"; and case {against.id!r}{_place(against)} counts from {base}: a data set "
            f"counts one way"
        )
    else:
        message += f"; say kind={{'name': {use.kind.name!r}, 'label_base': {other}}}"
    raise ConfigError(message)


def _is_outside(case: Case, base: int, other: int) -> bool:
    """Return whether a position of a row is one from `other` on, but not from `base`."""
    count = len(case.choices or ())
    values = case.labels if case.labels is not None else (case.label,)
    for value in values:
        place = _position(value, case)
        if place is None:
            continue
        if not 0 <= place - base < count and 0 <= place - other < count:
            return True
    return False


def _position(value: Any, case: Case) -> int | None:
    """Return a label that can only be a position."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        is_text = any(as_text(choice).strip() == text for choice in case.choices or ())
        return int(text) if text.isdecimal() and len(text) < 6 and not is_text else None
    if isinstance(value, int | float):
        return int(value) if value == value and abs(value) < 1e6 else None
    return None


def _no_question(case: Case) -> str | None:
    is_there = case.input is not None and as_text(case.input).strip()
    return None if is_there else "it has no input"


def _no_text(case: Case) -> str | None:
    if isinstance(case.input, str) and case.input.strip():
        return None
    return f"its input is {_short(case.input)}"


def _no_expected(case: Case) -> str | None:
    return "it has no expected value" if case.expected is None else None


def _no_references(case: Case) -> str | None:
    if isinstance(case.expected, list | tuple):
        return None if case.expected else "its list of expected values is empty"
    return f"its expected value is {_short(case.expected)}, not a list"


def _no_choices(case: Case) -> str | None:
    return None if case.choices else "it has no choices"


def _no_label(case: Case) -> str | None:
    if case.labels is not None:
        return "it has labels, which make the kind 'choice_multi'"
    missing = case.label is None and case.expected is None
    return "it has no label" if missing else None


def _no_labels(case: Case) -> str | None:
    return "it has no labels" if case.labels is None else None


def _no_pair(case: Case) -> str | None:
    for name in ("better", "rejected"):
        if not as_text(getattr(case, name)).strip():
            return f"it has no {name} text"
    return None


def _place(case: Case) -> str:
    return f" ({case.source})" if case.source else ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_PROBLEMS: Final[Mapping[str, Callable[[Case], str | None]]] = {
    "question": _no_question,
    "text": _no_text,
    "expected": _no_expected,
    "references": _no_references,
    "choices": _no_choices,
    "label": _no_label,
    "labels": _no_labels,
    "pair": _no_pair,
}
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "qa": ("question", "expected"),
    "qa_multi": ("question", "references"),
    "choice": ("question", "choices", "label"),
    "choice_multi": ("question", "choices", "labels"),
    "preference": ("question", "pair"),
}
