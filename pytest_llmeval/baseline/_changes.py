"""Which part of a case differs between two runs, and what that means."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.baseline._drift import drifts
from pytest_llmeval.baseline._standing import Standing, Value

__all__ = ["changed_parts", "makes_incomparable"]

#: Differences below it are those of floating point.
_NOISE = 1e-9


def changed_parts(before: Standing, now: Standing) -> tuple[str, ...]:
    """Return the parts that differ, in words; the outcome is none of them.

    Of a case that failed early less was asked and checked: what one of the runs has
    nothing of, is no change.
    """
    columns = _changed_columns(before, now)
    is_other_row = bool(columns) or before.row != now.row
    looks = {
        f"row ({', '.join(columns)})": bool(columns),
        "row": not columns and before.row != now.row,
        "prompt template": before.template != now.template,
        # What follows from the row or the template needs no word of its own.
        "prompt": not is_other_row
        and before.template == now.template
        and _differ(before.prompts, now.prompts),
        f"model ({before.model} → {now.model})": before.model != now.model
        and None not in (before.model, now.model),
        "address or parameters": _differ(before.settings, now.settings),
        **dict.fromkeys(_snapshots(before, now), True),
        **dict.fromkeys(_measures(before, now), True),
        **dict.fromkeys(_checks(before, now), True),
    }
    return tuple(words for words, differs in looks.items() if differs)


def makes_incomparable(before: Standing, now: Standing, parts: tuple[str, ...]) -> str:
    """Return why two outcomes can't be compared; an empty text when they can.

    Args:
        before: The case in the baseline.
        now: The case in the run.
        parts: What `changed_parts` says of them.
    """
    for part in parts:
        if part.startswith(("row", "metric ", "judge (")) or part == "judge":
            return f"{part} changed"
        is_other = part.startswith("checks") and before.passed != now.passed
        if is_other and _is_explained(before, now):
            return f"{part} changed"
    if before.passed is not None and now.passed is None:
        return f"{now.status} now"
    if before.passed is None and now.passed is not None:
        return f"{before.status} in the baseline"
    return ""


def _differ(before: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Return whether each of two runs has something that the other has not."""
    return bool({*before} - {*now}) and bool({*now} - {*before})


def _changed_columns(before: Standing, now: Standing) -> list[str]:
    """Return the columns that differ, those with a reply under test left out."""
    replies = {*before.read, *now.read}
    return [
        name
        for name, value in now.columns.items()
        if name not in replies and before.columns.get(name, value) != value
    ]


def _snapshots(before: Standing, now: Standing) -> Iterator[str]:
    """Yield how the models that answered are others than those of the same name."""
    if before.served == now.served:
        return
    for drift in drifts([(before.served, now.served)]):
        who = {"generator": "model", "judge": "judge"}.get(drift.role)
        who = who or f"client {drift.role}"
        if drift.part == "system_fingerprint":
            # No values: where there are many, each case would have words of its own.
            yield f"{who}'s system_fingerprint"
        else:
            yield f"{who} snapshot ({', '.join(drift.before)} → {', '.join(drift.now)})"


def _measures(before: Standing, now: Standing) -> Iterator[str]:
    """Yield the checks of both runs that do not measure the same in both."""
    for name, value in now.values.items():
        old = before.values.get(name)
        if old is None:
            continue
        if old.metric != value.metric:
            yield f"metric of {name} ({old.metric} → {value.metric})"
        elif old.version != value.version:
            yield f"metric {name} (version {old.version} → {value.version})"
        elif old.judge != value.judge and None not in (old.judge, value.judge):
            yield "judge" if name == "judge" else f"judge ({name})"


def _checks(before: Standing, now: Standing) -> Iterator[str]:
    """Yield that checks have come or gone: a case that failed may not have got there."""
    new = [name for name in now.values if name not in before.values]
    gone = [name for name in before.values if name not in now.values]
    notes = [
        *(f"{name} new" for name in new if before.passed),
        *(f"{name} gone" for name in gone if now.passed),
    ]
    if notes:
        yield f"checks ({', '.join(notes)})"


def _is_explained(before: Standing, now: Standing) -> bool:
    """Return whether the checks that came or went account for another outcome."""
    if now.passed:
        return True
    shared = before.values.keys() & now.values.keys()
    return not any(_is_worse(before.values[name], now.values[name]) for name in shared)


def _is_worse(old: Value, new: Value) -> bool:
    if old.value is None or new.value is None:
        return False
    lost = old.value - new.value if new.higher_is_better else new.value - old.value
    return lost > _NOISE
