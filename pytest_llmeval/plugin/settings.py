"""What the command line and the ini file say, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, get_args

import pytest

from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.plugin.apart import refuse_pairs
from pytest_llmeval.plugin.options import OPTIONS, Option
from pytest_llmeval.plugin.task_settings import gen_kwargs, truth
from pytest_llmeval.store.failures import find_answers
from pytest_llmeval.types import Mode

__all__ = ["Settings", "check_options", "settings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line and the ini file say, checked."""

    config: str | None = None
    mode: Mode = "auto"
    replay: Path | None = None
    """The answers of a failure that is run again."""
    generators: tuple[str, ...] = ()
    judge: str | None = None
    concurrency: int | None = None
    limit: int | float | None = None
    """A number of cases, or a share of them (0 to 1) as a float."""
    sample: tuple[int, int] | None = None
    """A number of cases and a seed."""
    cases: tuple[str, ...] = ()
    repeat: int | None = None
    """How many samples each case has; None: as its marker says."""
    fail_on_unstable: bool = False
    budget: float | None = None
    """US dollars."""
    reports: tuple[Path, ...] = ()
    show: str = "failures"
    log_samples: Path | None = None
    """Folder for the samples of YAML tasks."""
    num_fewshot: int | None = None
    """Worked examples that YAML tasks show."""
    gen_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the generation_kwargs of YAML tasks."""
    system_instruction: str | None = None
    """Before the description of YAML tasks."""
    apply_chat_template: bool = False
    """Whether prompts of YAML tasks are sent as messages of a chat."""
    fewshot_as_multiturn: bool | None = None
    """Whether worked examples are turns of it."""
    mutate: bool = False
    """Whether the checks are tried on wrong replies."""
    resume: str | None = None
    """The run to go on with."""
    rescore: str | None = None
    """The run whose replies are scored again."""
    save: str | None = None
    """Name of the baseline to be written."""
    save_force: bool = False
    compare: str | None = None
    """What to compare with, as `baseline.find_baseline` takes it."""
    fail_on: str = "any"
    allow_missing: bool = False
    require_baseline: bool = False
    max_unscored: int = 0
    require: int | str | None = None
    """A number of cases, or "all"."""


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of a session.

    Raises:
        ConfigError: An option or ini key has a value it can't have.
    """
    try:
        return _settings(config)
    except ConfigError as exc:
        raise ConfigError(_named_as_written(str(exc), config)) from exc


def _named_as_written(message: str, config: pytest.Config) -> str:
    """Return an error text that calls a value from the ini file by its key there."""
    for option in OPTIONS:
        if config.getoption(option.flag) is None:
            where = (
                f"{option.key} in {config.inipath.name if config.inipath else 'ini'}"
            )
            message = re.sub(rf"{option.flag}(?![\w-])", where, message)
    return message


def _settings(config: pytest.Config) -> Settings:
    given = {o.name: _values(config, o) for o in OPTIONS if not o.is_switch}
    switches = {o.key: _is_on(config, o) for o in OPTIONS if o.is_switch}
    refuse_pairs(
        {
            **switches,
            **{o.key: _single(given[o.name]) for o in OPTIONS if not o.is_switch},
        }
    )
    return Settings(
        config=_single(given["config"]),
        mode=_mode(config, _single(given["mode"]), _single(given["replay"])),
        replay=_replay(config, _single(given["replay"])),
        generators=_distinct("generator", given["generator"]),
        judge=_single(given["judge"]),
        concurrency=_count("concurrency", _single(given["concurrency"]), least=1),
        limit=_limit(_single(given["limit"])),
        sample=_sample(_single(given["sample"])),
        cases=tuple(part for v in given["cases"] for part in v.split(",") if part),
        repeat=_count("repeat", _single(given["repeat"]), least=1),
        budget=_budget(_single(given["budget"])),
        fail_on_unstable=switches["llmeval_fail_on_unstable"],
        reports=tuple(
            _report(value, config.invocation_params.dir) for value in given["report"]
        ),
        show=_show(_single(given["show"])),
        log_samples=_folder(
            _single(given["log-samples"]), config.invocation_params.dir
        ),
        num_fewshot=_count("num-fewshot", _single(given["num-fewshot"])),
        gen_kwargs=gen_kwargs(_single(given["gen-kwargs"])),
        system_instruction=_single(given["system-instruction"]),
        apply_chat_template=switches["llmeval_apply_chat_template"],
        fewshot_as_multiturn=truth(
            "fewshot-as-multiturn", _single(given["fewshot-as-multiturn"])
        ),
        mutate=switches["llmeval_mutate"],
        resume=_single(given["resume"]),
        rescore=_single(given["rescore"]),
        save=_save(_single(given["save"]), config.rootpath),
        save_force=switches["llmeval_save_force"],
        compare=_single(given["compare"]),
        fail_on=_fail_on(_single(given["fail-on"])),
        allow_missing=switches["llmeval_allow_missing"],
        require_baseline=switches["llmeval_require_baseline"],
        max_unscored=_count("max-unscored", _single(given["max-unscored"])) or 0,
        require=_require(_single(given["require"])),
    )


def check_options(config: pytest.Config) -> Settings:
    """Return the settings at the start of a session.

    Raises:
        pytest.UsageError: An option has a value it can't have.
    """
    try:
        return settings_of(config)
    except ConfigError as exc:
        raise pytest.UsageError(str(exc)) from exc


def _values(config: pytest.Config, option: Option) -> list[str]:
    values = config.getoption(option.flag)
    if values is None:
        found = config.getini(option.key)
        return [found] if isinstance(found, str) and found else list(found)
    if len(values) > 1 and not option.is_repeatable:
        shown = ", ".join(map(repr, values))
        message = f"--llmeval-{option.name} takes one value, and got {shown}"
        raise ConfigError(message)
    return list(values)


def _is_on(config: pytest.Config, option: Option) -> bool:
    given = config.getoption(option.flag)
    return bool(config.getini(option.key) if given is None else given)


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


def _folder(value: str | None, base: Path) -> Path | None:
    if value is None:
        return None
    path = base / value
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        message = f"--llmeval-log-samples={value}: can't make the folder: {exc}"
        raise ConfigError(message) from exc
    return path


def _budget(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        budget = float(value)
    except ValueError:
        budget = -1.0
    if not (budget > 0 and isfinite(budget)):
        message = f"--llmeval-budget is US dollars above 0, such as 2.50, not {value!r}"
        raise ConfigError(message)
    return budget


def _report(value: str, base: Path) -> Path:
    path = base / value
    from pytest_llmeval.report.files import check_suffix

    check_suffix(path, f"--llmeval-report={value}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        message = f"--llmeval-report={value}: can't make its folder: {exc}"
        raise ConfigError(message) from exc
    return path


def _mode(config: pytest.Config, value: str | None, replay: str | None) -> Mode:
    if replay is not None:
        if value not in {None, "replay"} and config.getoption("--llmeval-mode"):
            message = (
                f"--llmeval-replay={replay} replays, and --llmeval-mode={value} does "
                f"not; leave one out"
            )
            raise ConfigError(message)
        return "replay"
    for mode in get_args(Mode):
        if value == mode or (value is None and mode == "auto"):
            found: Mode = mode
            return found
    modes = ", ".join(get_args(Mode))
    message = f"--llmeval-mode is one of {modes}, not {value!r}"
    raise ConfigError(message + did_you_mean(value or "", get_args(Mode)))


def _replay(config: pytest.Config, value: str | None) -> Path | None:
    if value is None:
        return None
    home = config.rootpath / ".llmeval"
    try:
        return find_answers(value, base=config.invocation_params.dir, home=home)
    except UserError as exc:
        raise ConfigError(f"--llmeval-replay={value}: {exc}") from exc


def _show(value: str | None) -> str:
    if value not in {None, "failures", "all", "none"}:
        message = f"--llmeval-show is failures, all or none, not {value!r}"
        raise ConfigError(message)
    return value or "failures"


def _require(value: str | None) -> int | str | None:
    return "all" if value == "all" else _count("require", value)


def _save(value: str | None, root: Path) -> str | None:
    if value is not None:
        from pytest_llmeval.baseline import baseline_path

        baseline_path(root, value)  # refuses what can't be a name
    return value


def _fail_on(value: str | None) -> str:
    words = ("any", "significant", "none")
    if value not in {None, *words}:
        message = f"--llmeval-fail-on is {', '.join(words)}, not {value!r}"
        raise ConfigError(message + did_you_mean(value or "", words))
    return value or "any"
