"""Keys of an entry that only some providers know."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from pytest_llmeval.config._check import Section, plain

__all__ = ["OPTIONS", "options_of", "refuse_idle"]

_SERVERS: Final = ("openai", "openai-responses", "anthropic", "gemini", "http")
_MODELS: Final = ("openai", "openai-responses", "anthropic", "gemini", "local")
_METHODS: Final = ("POST", "GET", "PUT", "PATCH", "DELETE")


class Key(NamedTuple):
    """A key that some providers know."""

    providers: tuple[str, ...]
    meaning: str


OPTIONS: Final[Mapping[str, Key]] = {
    "body": Key(("http",), "the request's JSON, as templates"),
    "method": Key(("http",), "`POST`, `GET`, `PUT`, `PATCH` or `DELETE`"),
    "usage": Key(("http",), "dotted path of the tokens"),
    "cost": Key(("http",), "dotted path of the US dollars"),
    "sources": Key(("http",), "dotted path of the passages used"),
    "served_model": Key(("http",), "dotted path of the model that answered"),
    "system_fingerprint": Key(("http",), "dotted path of its configuration's mark"),
    "error": Key(("http",), "dotted path of an error in a reply with a good status"),
    "api": Key(("openai", "local"), "`chat` or `completions`"),
    "api_version": Key(("openai",), "of Azure"),
    "deployment": Key(("openai",), "of Azure"),
    "stream": Key(("openai",), "for a server that sends nothing but streams"),
    "json_schema": Key(
        _MODELS, "`true`: the server holds a judge to its verdict's form"
    ),
    "omit": Key(_MODELS, "parameters that are never sent"),
    "max_tokens_key": Key(("openai", "local"), "the name max_tokens is sent under"),
    "system_role": Key(
        _MODELS, "`system`, `developer` or `user`: who says the system's text"
    ),
}

#: Keys that have a field of their own, and the providers for which they do something.
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
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
    providers_of = {name: key.providers for name, key in OPTIONS.items()} | _FIELDS
    for key, providers in providers_of.items():
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
