"""What the text given to an option stands for."""

from __future__ import annotations

import json
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.types import whole_number

__all__ = [
    "budget",
    "count",
    "distinct",
    "fail_on",
    "folder",
    "gen_kwargs",
    "limit",
    "report",
    "require",
    "sample",
    "save",
    "show",
    "truth",
]


def distinct(name: str, values: list[str]) -> tuple[str, ...]:
    """Return the models named, each once.

    Raises:
        ConfigError: One is named twice.
    """
    if len(set(values)) < len(values):
        message = f"--llmeval-{name} names a model twice: {', '.join(values)}"
        raise ConfigError(message)
    return tuple(values)


def count(name: str, value: str | None, *, least: int = 0) -> int | None:
    """Return a whole number from `least` up, None for nothing.

    Raises:
        ConfigError: It is none.
    """
    if value is None:
        return None
    number = whole_number(value)
    if number is None or number < least:
        message = (
            f"--llmeval-{name} is a whole number from {least} up, not {value!r:.80}"
        )
        raise ConfigError(message)
    return number


def limit(value: str | None) -> int | float | None:
    """Return a number of cases, or a share of them as a float.

    Raises:
        ConfigError: It is neither.
    """
    if value is None or not value.endswith("%"):
        return count("limit", value, least=1)
    try:
        share = float(value[:-1]) / 100
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        message = f"--llmeval-limit is a number of cases or 0-100 %, not {value!r}"
        raise ConfigError(message)
    return share


def sample(value: str | None) -> tuple[int, int] | None:
    """Return a number of cases and a seed.

    Raises:
        ConfigError: One of them is no whole number.
    """
    if value is None:
        return None
    number, _, seed = value.partition(":")
    cases = count("sample", number, least=1)
    return (cases or 1, count("sample", seed or "0") or 0)


def folder(value: str | None, base: Path) -> Path | None:
    """Return a folder, made.

    Raises:
        ConfigError: It can't be made.
    """
    if value is None:
        return None
    path = base / value
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        message = f"--llmeval-log-samples={value}: can't make the folder: {exc}"
        raise ConfigError(message) from exc
    return path


def budget(value: str | None) -> float | None:
    """Return US dollars above 0.

    Raises:
        ConfigError: It is no such sum.
    """
    if value is None:
        return None
    try:
        dollars = float(value)
    except ValueError:
        dollars = -1.0
    if not (dollars > 0 and isfinite(dollars)):
        message = f"--llmeval-budget is US dollars above 0, such as 2.50, not {value!r}"
        raise ConfigError(message)
    return dollars


def report(value: str, base: Path) -> Path:
    """Return the file of a report; its folder is made.

    Raises:
        ConfigError: There is no such format, or the folder can't be made.
    """
    path = base / value
    from pytest_llmeval.report.files import check_suffix

    check_suffix(path, f"--llmeval-report={value}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        message = f"--llmeval-report={value}: can't make its folder: {exc}"
        raise ConfigError(message) from exc
    return path


def show(value: str | None) -> str:
    """Return which cases the summary lists.

    Raises:
        ConfigError: There is no such choice.
    """
    if value not in {None, "failures", "all", "none"}:
        message = f"--llmeval-show is failures, all or none, not {value!r}"
        raise ConfigError(message)
    return value or "failures"


def require(value: str | None) -> int | str | None:
    """Return a number of cases, or "all".

    Raises:
        ConfigError: It is neither.
    """
    return "all" if value == "all" else count("require", value)


def save(value: str | None, root: Path) -> str | None:
    """Return the name of a baseline.

    Raises:
        ConfigError: It can't be one.
    """
    if value is not None:
        from pytest_llmeval.baseline import baseline_path

        baseline_path(root, value)  # refuses what can't be a name
    return value


def fail_on(value: str | None) -> str:
    """Return what a comparison fails on.

    Raises:
        ConfigError: There is no such choice.
    """
    words = ("any", "significant", "none")
    if value not in {None, *words}:
        message = f"--llmeval-fail-on is {', '.join(words)}, not {value!r}"
        raise ConfigError(message + did_you_mean(value or "", words))
    return value or "any"


def truth(name: str, value: str | None) -> bool | None:
    """Return what true or false stands for, None for nothing.

    Raises:
        ConfigError: It is neither.
    """
    if value not in {None, "true", "false"}:
        message = f"--llmeval-{name} is true or false, not {value!r}"
        raise ConfigError(message)
    return None if value is None else value == "true"


def gen_kwargs(value: str | None) -> dict[str, Any]:
    """Return the mapping of ``temperature=0.2,until=END``, or of a JSON object.

    Raises:
        ConfigError: It is neither.
    """
    if value is None:
        return {}
    if value.lstrip().startswith("{"):
        with suppress(ValueError):
            return dict(json.loads(value))
    pairs = [part.partition("=") for part in value.split(",")]
    if any(not name.strip() or not equals for name, equals, _ in pairs):
        message = f"--llmeval-gen-kwargs is KEY=VALUE,KEY=VALUE or a JSON object, not {value!r}"
        raise ConfigError(message)
    return {name.strip(): _literal(text.strip()) for name, _, text in pairs}


def _literal(text: str) -> Any:
    """Return a number, true or false for what is written so, else the text."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
