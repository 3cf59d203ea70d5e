"""Options and ini keys in one table, and the Settings they become."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest

from pytest_llmeval.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from pytest_llmeval.types import Mode

__all__ = ["Settings", "add_options", "check_options", "settings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, with the ini key of the same name as its default."""

    name: str
    metavar: str
    help: str
    is_repeatable: bool = False


_OPTIONS = (
    Option(
        name="config",
        metavar="PATH",
        help="read models and limits from PATH instead of llmeval.yaml in the rootdir",
    ),
    Option(
        name="mode",
        metavar="MODE",
        help="auto: recorded replies, else live; replay: recorded ones alone, no "
        "network; record: as auto, and keep what was used; rerecord: live, and keep; "
        "live: neither read nor keep",
    ),
    Option(
        name="generator",
        metavar="SPEC",
        help="test this model: a spec like python:app:answer, or a name from "
        "llmeval.yaml; given several times, the suite runs for each",
        is_repeatable=True,
    ),
    Option(name="judge", metavar="SPEC", help="judge with this model"),
    Option(
        name="limit",
        metavar="N|P%",
        help="run the first N cases, or P percent, of each dataset",
    ),
    Option(
        name="sample",
        metavar="N[:SEED]",
        help="run N cases of each dataset, drawn with SEED (default 0)",
    ),
    Option(
        name="cases",
        metavar="IDS",
        help="run the cases with these ids (comma-separated) alone",
        is_repeatable=True,
    ),
    Option(
        name="report",
        metavar="PATH",
        help="write the report to PATH (.json)",
        is_repeatable=True,
    ),
    Option(
        name="show",
        metavar="failures|all|none",
        help="which cases the summary lists (default: failures)",
    ),
    Option(
        name="max-unscored",
        metavar="N",
        help="tolerate N cases that could not be scored (default: 0)",
    ),
    Option(
        name="require",
        metavar="N|all",
        help="fail if fewer than N cases (or not all) were scored",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line and the ini file say, checked."""

    config: str | None = None
    mode: Mode = "auto"
    generators: tuple[str, ...] = ()
    judge: str | None = None
    limit: int | float | None = None
    """A number of cases, or a share of them (0 to 1) as a float."""
    sample: tuple[int, int] | None = None
    """A number of cases and a seed."""
    cases: tuple[str, ...] = ()
    reports: tuple[Path, ...] = ()
    show: str = "failures"
    max_unscored: int = 0
    require: int | str | None = None
    """A number of cases, or "all"."""


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini key."""
    group = parser.getgroup("llmeval", "regression tests of LLM applications")
    for option in _OPTIONS:
        # Always "append": a second value of a single option is then a clear error
        # and not a silent override.
        group.addoption(
            f"--llmeval-{option.name}",
            action="append",
            metavar=option.metavar,
            help=option.help,
        )
        kind: Literal["linelist", "string"] = (
            "linelist" if option.is_repeatable else "string"
        )
        parser.addini(
            f"llmeval_{option.name.replace('-', '_')}",
            type=kind,
            default=[] if option.is_repeatable else "",
            help=option.help,
        )


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of a session.

    Raises:
        ConfigError: An option has a value it can't have.
    """
    given = {option.name: _values(config, option) for option in _OPTIONS}
    return Settings(
        config=_single(given["config"]),
        mode=_mode(_single(given["mode"])),
        generators=_distinct("generator", given["generator"]),
        judge=_single(given["judge"]),
        limit=_limit(_single(given["limit"])),
        sample=_sample(_single(given["sample"])),
        cases=tuple(part for v in given["cases"] for part in v.split(",") if part),
        reports=tuple(
            _report(value, config.invocation_params.dir) for value in given["report"]
        ),
        show=_show(_single(given["show"])),
        max_unscored=_count("max-unscored", _single(given["max-unscored"])) or 0,
        require=_require(_single(given["require"])),
    )


def check_options(config: pytest.Config) -> Settings | None:
    """Return the settings if the command line has any of our options.

    Raises:
        pytest.UsageError: One has a value it can't have.
    """
    if all(config.getoption(f"--llmeval-{o.name}") is None for o in _OPTIONS):
        return None
    try:
        return settings_of(config)
    except ConfigError as exc:
        raise pytest.UsageError(str(exc)) from exc


def _values(config: pytest.Config, option: Option) -> list[str]:
    values = config.getoption(f"--llmeval-{option.name}")
    if values is None:
        found = config.getini(f"llmeval_{option.name.replace('-', '_')}")
        return [found] if isinstance(found, str) and found else list(found)
    if len(values) > 1 and not option.is_repeatable:
        shown = ", ".join(map(repr, values))
        message = f"--llmeval-{option.name} takes one value, and got {shown}"
        raise ConfigError(message)
    return list(values)


def _single(values: list[str]) -> str | None:
    return values[0] if values else None


def _distinct(name: str, values: list[str]) -> tuple[str, ...]:
    if len(set(values)) < len(values):
        message = f"--llmeval-{name} names a model twice: {', '.join(values)}"
        raise ConfigError(message)
    return tuple(values)


def _count(name: str, value: str | None, *, least: int = 0) -> int | None:
    if value is None:
        return None
    if not (value.isascii() and value.isdigit()) or int(value) < least:
        message = f"--llmeval-{name} is a whole number from {least} up, not {value!r}"
        raise ConfigError(message)
    return int(value)


def _limit(value: str | None) -> int | float | None:
    if value is None or not value.endswith("%"):
        return _count("limit", value, least=1)
    try:
        share = float(value[:-1]) / 100
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        message = f"--llmeval-limit is a number of cases or 0-100 %, not {value!r}"
        raise ConfigError(message)
    return share


def _sample(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, _, seed = value.partition(":")
    count = _count("sample", number, least=1)
    return (count or 1, _count("sample", seed or "0") or 0)


def _report(value: str, base: Path) -> Path:
    path = base / value
    if path.suffix.lower() != ".json":
        message = (
            f"--llmeval-report={value}: no report format is called "
            f"{path.suffix or 'nothing'!r}; there is: .json"
        )
        raise ConfigError(message)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        message = f"--llmeval-report={value}: can't make its folder: {exc}"
        raise ConfigError(message) from exc
    return path


def _mode(value: str | None) -> Mode:
    from pytest_llmeval.types import Mode

    for mode in get_args(Mode):
        if value == mode or (value is None and mode == "auto"):
            found: Mode = mode
            return found
    modes = ", ".join(get_args(Mode))
    message = f"--llmeval-mode is one of {modes}, not {value!r}"
    raise ConfigError(message + did_you_mean(value or "", get_args(Mode)))


def _show(value: str | None) -> str:
    if value not in {None, "failures", "all", "none"}:
        message = f"--llmeval-show is failures, all or none, not {value!r}"
        raise ConfigError(message)
    return value or "failures"


def _require(value: str | None) -> int | str | None:
    return "all" if value == "all" else _count("require", value)


def as_option_arguments(config: pytest.Config) -> list[str]:
    """Return the options a rerun of one case needs to see the same models."""
    arguments: list[str] = []
    for name in ("config", "generator", "judge"):
        values: Any = config.getoption(f"--llmeval-{name}") or []
        arguments += (f"--llmeval-{name}={value}" for value in values)
    return arguments
