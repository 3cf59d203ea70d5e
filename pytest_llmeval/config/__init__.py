"""llmeval.yaml: models by name, defaults, limits, gates."""

from __future__ import annotations

from pytest_llmeval.config._check import Section, plain
from pytest_llmeval.config._load import load_config
from pytest_llmeval.config._model import Config, Limits, ModelEntry
from pytest_llmeval.config._spec import parse_spec

__all__ = [
    "Config",
    "Limits",
    "ModelEntry",
    "Section",
    "load_config",
    "parse_spec",
    "plain",
]
