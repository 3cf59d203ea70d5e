"""llmeval.yaml from its file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from pytest_llmeval.config._check import Section
from pytest_llmeval.config._limits import limits_of
from pytest_llmeval.config._model import Config, Limits, ModelEntry
from pytest_llmeval.config._spec import model_entry, parse_spec
from pytest_llmeval.config.files import read_text
from pytest_llmeval.config.yamlfile import YamlFile
from pytest_llmeval.errors import ConfigError

__all__ = ["load_config"]


def load_config(path: Path | None) -> Config:
    """Return what a configuration file says, the defaults for None.

    Args:
        path: The file; it must be there.

    Raises:
        ConfigError: It isn't, or something in it is wrong; the text has file and line.
    """
    if path is None:
        return Config()
    shown = path.name if path.name == "llmeval.yaml" else path.as_posix()
    file = YamlFile(
        read_text(path, shown=shown, error=ConfigError), shown=shown, error=ConfigError
    )
    if file.root is None:
        return Config(path=shown)
    data = file.value(file.root)
    if data is None:
        return Config(path=shown)
    if not isinstance(data, dict):
        message = f"a mapping (generator:, models:, ...) is expected, not {data!r:.60}"
        raise file.fail(1, message)
    top = Section(data=data, what="", shown=shown, lines=file.key_lines())
    return _config(top)


def _config(top: Section) -> Config:
    top.only([field.name for field in fields(Config) if field.name != "path"])
    config = Config(
        generator=top.text("generator"),
        judge=top.text("judge"),
        models=_models(top),
        gates=top.texts("gates"),
        limits=_limits(top.section("limits", "limits")),
        path=top.shown,
    )
    for role in ("generator", "judge"):
        spec = getattr(config, role)
        if spec is not None:
            _check_default(top, role, spec, config)
    return config


def _check_default(top: Section, role: str, spec: str, config: Config) -> None:
    try:
        parse_spec(spec, config)
    except ConfigError as exc:
        raise top.fail(f"{role}: {exc}", role) from exc


def _models(top: Section) -> dict[str, ModelEntry]:
    models = top.section("models", "models")
    names = frozenset(models.data)
    found = {}
    for name, value in models.data.items():
        if not isinstance(value, dict):
            message = (
                f"{name} is a mapping, {{provider: openai, model: NAME}}, not {value!r}"
            )
            raise models.fail(message, name)
        found[name] = model_entry(name, models.section(name, f"model {name!r}"), names)
    _check_panels(models, found)
    return found


def _check_panels(models: Section, found: dict[str, ModelEntry]) -> None:
    for name, entry in found.items():
        for index, member in enumerate(entry.panel):
            if member in found and found[member].panel:
                message = f"the panel {name!r} holds the panel {member!r}: name judges"
                raise models.fail(message, name, "panel", index)


def _limits(section: Section) -> Limits:
    section.only([field.name for field in fields(Limits)])
    return Limits(**limits_of(section))
