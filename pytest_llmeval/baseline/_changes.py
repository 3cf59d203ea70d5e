"""Which part of a case differs between two runs, and what that means."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.baseline._drift import drifts
from pytest_llmeval.baseline._standing import Standing

__all__ = ["changed_parts", "makes_incomparable"]


def changed_parts(before: Standing, now: Standing) -> tuple[str, ...]:
    """Return the parts that differ, in words; the outcome is none of them."""
    columns = _changed_columns(before, now)
    looks = {
        f"row ({', '.join(columns)})": bool(columns),
        "row": not columns and before.row != now.row,
        "prompt template": before.template != now.template,
        # What follows from the row or the template needs no word of its own.
        "prompt": before.prompt != now.prompt
        and before.template == now.template
        and not columns
        and before.row == now.row,
        f"model ({before.model} → {now.model})": before.model != now.model,
        "address or parameters": before.settings != now.settings,
        # Where nothing was decided there may be no judge to speak of.
        "judge": before.judge != now.judge and None not in (before.passed, now.passed),
        **dict.fromkeys(_snapshots(before, now), True),
        **{
            f"metric {name} (version {old} → {new})": True
            for name, old, new in _versions(before, now)
        },
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
        if part.startswith(("row", "metric ")) or part == "judge":
            return f"{part} changed"
    if before.passed is not None and now.passed is None:
        return f"{now.status} now"
    if before.passed is None and now.passed is not None:
        return f"{before.status} in the baseline"
    return ""


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


def _versions(before: Standing, now: Standing) -> list[tuple[str, int, int]]:
    return [
        (name, before.values[name].version, value.version)
        for name, value in now.values.items()
        if name in before.values
        and before.values[name].metric == value.metric
        and before.values[name].version != value.version
    ]
