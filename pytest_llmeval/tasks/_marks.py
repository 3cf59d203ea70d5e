"""What a task file says as the llmeval marker of a test function would."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pytest_llmeval.config import Section, plain
from pytest_llmeval.errors import ConfigError, percent_hint
from pytest_llmeval.gates import parse_gate
from pytest_llmeval.kinds import kind_use

__all__ = ["gates_of", "kind_of", "marker_keywords", "rows_of_share", "share_of"]

_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def marker_keywords(top: Section) -> dict[str, Any]:
    """Return what a test function's marker would say."""
    found = {
        "prompt": top.text("prompt") if _is_single(top, "prompt") else _list(top),
        "system": top.text("system"),
        "generator": _model(top, "generator"),
        "judge": _model(top, "judge"),
        "kind": kind_of(top),
        "gate": gates_of(top),
        "limit": None if share_of(top) else top.whole("limit", least=1),
        "concurrency": top.whole("concurrency", least=1),
        "repeat": top.whole("repeat", least=1),
        "min_sample_rate": _share(top, "min_sample_rate"),
    }
    return {name: value for name, value in found.items() if value is not None}


def share_of(top: Section) -> float | None:
    """Return the share of the rows that ``limit: 10%`` stands for, None for others.

    Raises:
        ConfigError: It is above 100 %, or none.
    """
    value = top.data.get("limit")
    if not isinstance(value, str):
        return None
    found = _PERCENT.fullmatch(value)
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share <= 1:
        message = f"limit is a number of rows, or a share such as 10%, not {value!r}"
        raise top.fail(message, "limit")
    return share


def rows_of_share(share: float | None, count: int, top: Section) -> int:
    """Return how many of `count` rows a share of them is, rounded down.

    Raises:
        ConfigError: That is none.
    """
    if share is None:
        return count
    kept = int(share * count)
    if not kept:
        message = f"limit: {top.data['limit']} of {count} rows is none of them"
        raise top.fail(message, "limit")
    return kept


def _share(top: Section, key: str) -> float | None:
    share = top.number(key, above=0)
    if share is not None and share > 1:
        message = f"{key} is a share above 0, at most 1, not {share!r}"
        message += percent_hint(share)
        raise top.fail(message, key)
    return share


def _is_single(top: Section, key: str) -> bool:
    return not isinstance(top.data.get(key), list)


def _list(top: Section) -> list[str]:
    return list(top.texts("prompt"))


def _model(top: Section, key: str) -> Any:
    value = plain(top.data.get(key))
    models = value if isinstance(value, list) and key == "generator" else [value]
    for model in models:
        if not (model is None or (isinstance(model, str | Mapping) and model)):
            message = (
                f"{key} is a model's name in llmeval.yaml, a spec like openai:MODEL, or "
                f"a mapping, not {model!r:.60}"
            )
            raise top.fail(message, key)
    return value


def kind_of(top: Section) -> Any:
    kind = plain(top.data.get("kind"))
    if kind is not None:
        try:
            kind_use(kind)
        except ConfigError as exc:
            raise top.fail(str(exc), "kind") from exc
    return kind


def gates_of(top: Section) -> list[str] | None:
    """Return the gates of a file, None for none.

    Raises:
        ConfigError: One is no gate.
    """
    value = top.data.get("gate")
    gates = [top.text("gate")] if isinstance(value, str) else top.texts("gate")
    for gate in gates:
        try:
            parse_gate(gate)
        except ConfigError as exc:
            raise top.fail(f"gate: {exc}", "gate") from exc
    return [gate for gate in gates if gate] or None
