"""Keys of an entry that only some providers know."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from pytest_llmeval.config._check import Section, plain

__all__ = ["OPTIONS", "options_of", "refuse_idle"]

_SERVERS: Final = ("openai", "openai-responses", "anthropic", "gemini", "http")
_MODELS: Final = ("openai", "openai-responses", "anthropic", "gemini", "local")
_METHODS: Final = ("POST", "GET", "PUT", "PATCH", "DELETE")
#: The keys, and the providers that know each.
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "body": ("http",),
    "method": ("http",),
    "usage": ("http",),
    "cost": ("http",),
    "sources": ("http",),
    "served_model": ("http",),
    "system_fingerprint": ("http",),
    "error": ("http",),
    "api": ("openai", "local"),
    "api_version": ("openai",),
    "deployment": ("openai",),
    "stream": ("openai",),
    "json_schema": _MODELS,
    "omit": _MODELS,
    "max_tokens_key": ("openai", "local"),
    "system_role": _MODELS,
}

#: Keys that have a field of their own, and the providers for which they do something.
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "base_url": _SERVERS,
    "ca_bundle": _SERVERS,
    "reply": ("python", "http"),
    "pass": ("python",),
}


def refuse_idle(section: Section, provider: str) -> None:
    """Refuse keys of an entry that do nothing for its provider.

    Raises:
        ConfigError: There is one.
    """
    for key, providers in {**OPTIONS, **_FIELDS}.items():
        if section.data.get(key) is not None and provider not in providers:
            message = f"{key} is for {', '.join(providers)}, not for {provider}"
            raise section.fail(message, key)


def options_of(section: Section) -> dict[str, Any]:
    """Return the keys of an entry that only some providers know.

    Raises:
        ConfigError: One has a value it can't have.
    """
    given = [key for key in OPTIONS if section.data.get(key) is not None]
    return {key: _value(section, key) for key in given}


def _value(section: Section, key: str) -> Any:
    match key:
        case "json_schema" | "stream":
            return section.flag(key)
        case "omit":
            return section.texts(key)
        case "system_role":
            return section.choice(key, ("system", "developer", "user"))
        case "method":
            return section.choice(key, _METHODS)
        case "max_tokens_key" | "usage" | "cost" | "sources" | "error" | "deployment":
            return section.text(key)
        case "served_model" | "system_fingerprint":
            return section.text(key)
        case "api_version" if isinstance(section.data[key], date):
            return section.data[key].isoformat()  # as YAML reads 2024-10-21
        case "api_version":
            return section.text(key)
        case "body":
            return _body(section)
    return plain(section.data[key])


def _body(section: Section) -> Any:
    body = section.data["body"]
    if not isinstance(body, str | dict):
        message = f"body is a template's text or a mapping of templates, not {body!r}"
        raise section.fail(message, "body")
    return plain(body)
