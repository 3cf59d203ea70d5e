"""What the command line and the ini file say, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest

from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.plugin import option_values
from pytest_llmeval.plugin.apart import could_be_given, refuse_pairs
from pytest_llmeval.plugin.options import OPTIONS, Option
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
    can_be_resumed: bool = True
    """Whether --llmeval-resume goes with the other options."""
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
    by_key = {
        **switches,
        **{o.key: _single(given[o.name]) for o in OPTIONS if not o.is_switch},
    }
    refuse_pairs(by_key)
    return Settings(
        config=_single(given["config"]),
        mode=_mode(config, _single(given["mode"]), _single(given["replay"])),
        replay=_replay(config, _single(given["replay"])),
        generators=option_values.distinct("generator", given["generator"]),
        judge=_single(given["judge"]),
        concurrency=option_values.count(
            "concurrency", _single(given["concurrency"]), least=1
        ),
        limit=option_values.limit(_single(given["limit"])),
        sample=option_values.sample(_single(given["sample"])),
        cases=tuple(part for v in given["cases"] for part in v.split(",") if part),
        repeat=option_values.count("repeat", _single(given["repeat"]), least=1),
        budget=option_values.budget(_single(given["budget"])),
        fail_on_unstable=switches["llmeval_fail_on_unstable"],
        reports=tuple(
            option_values.report(value, config.invocation_params.dir)
            for value in given["report"]
        ),
        show=option_values.show(_single(given["show"])),
        log_samples=option_values.folder(
            _single(given["log-samples"]), config.invocation_params.dir
        ),
        num_fewshot=option_values.count("num-fewshot", _single(given["num-fewshot"])),
        gen_kwargs=option_values.gen_kwargs(_single(given["gen-kwargs"])),
        system_instruction=_single(given["system-instruction"]),
        apply_chat_template=switches["llmeval_apply_chat_template"],
        fewshot_as_multiturn=option_values.truth(
            "fewshot-as-multiturn", _single(given["fewshot-as-multiturn"])
        ),
        mutate=switches["llmeval_mutate"],
        resume=_single(given["resume"]),
        can_be_resumed=could_be_given("llmeval_resume", by_key),
        rescore=_single(given["rescore"]),
        save=option_values.save(_single(given["save"]), config.rootpath),
        save_force=switches["llmeval_save_force"],
        compare=_single(given["compare"]),
        fail_on=option_values.fail_on(_single(given["fail-on"])),
        allow_missing=switches["llmeval_allow_missing"],
        require_baseline=switches["llmeval_require_baseline"],
        max_unscored=option_values.count("max-unscored", _single(given["max-unscored"]))
        or 0,
        require=option_values.require(_single(given["require"])),
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
