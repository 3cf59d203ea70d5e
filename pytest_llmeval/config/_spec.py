"""Specs and entries of models: ``provider:rest``, a URL, a name, a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from pytest_llmeval.config._check import Section, plain
from pytest_llmeval.config._limits import LIMITS, limits_of
from pytest_llmeval.config._model import Config, ModelEntry
from pytest_llmeval.config._options import OPTIONS, options_of, refuse_idle
from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["PROVIDERS", "model_entry", "parse_spec"]

#: The providers there are, and how a spec for each looks.
PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "openai:MODEL",
    "openai-responses": "openai-responses:MODEL",
    "anthropic": "anthropic:MODEL",
    "gemini": "gemini:MODEL",
    "python": "python:package.module:name",
    "column": "column:NAME",
    "local": "local:MODEL",
    "fake": "fake:PATH",
    "http": "https://host/path",
}
#: Providers that need nothing after the colon.
_NO_MODEL: Final = frozenset({"local", "http"})
_NO_SERVER: Final = frozenset({"python", "column", "fake"})
_KEYS: Final = (
    "provider",
    "model",
    "base_url",
    "api_key_env",
    "headers",
    "ca_bundle",
    "params",
    "prices",
    "cache",
    "on_length",
    "pass",
    "reply",
    "panel",
    "limits",
    *OPTIONS,
)
_PRICES: Final = ("input", "output", "cached_input")
_URL: Final = re.compile(r"https?://\S+\Z", re.IGNORECASE)


def parse_spec(spec: Any, config: Config) -> ModelEntry:
    """Return the entry a spec names.

    Args:
        spec: A name in ``models``, ``provider:rest``, a URL, or an entry as a mapping.
        config: What llmeval.yaml says.

    Raises:
        ConfigError: There is no such model or provider, or the mapping is wrong.
    """
    if isinstance(spec, Mapping):
        name = ":".join(str(spec[k]) for k in ("provider", "model") if spec.get(k))
        section = Section(data=spec, what=f"model {{{name or '...'}}}")
        return model_entry(name or "inline", section, frozenset(config.models))
    if not isinstance(spec, str) or not spec.strip():
        message = f"a model is a name, a spec or a mapping, not {spec!r}; {_forms()}"
        raise ConfigError(message)
    if spec in config.models:
        return config.models[spec]
    if _URL.match(spec):
        return ModelEntry(name=spec, provider="http", base_url=spec)
    provider, colon, rest = spec.partition(":")
    if not colon or provider not in PROVIDERS or provider == "http":
        raise ConfigError(_unknown(spec, config))
    if not rest.strip() and provider not in _NO_MODEL:
        message = f"the spec {spec!r} ends after its colon: write {PROVIDERS[provider]}"
        raise ConfigError(message)
    return ModelEntry(name=spec, provider=provider, model=rest.strip())


def _unknown(spec: str, config: Config) -> str:
    provider, colon, rest = spec.partition(":")
    guess = did_you_mean(spec, config.models)
    if colon and not guess:
        near = did_you_mean(provider, PROVIDERS)
        guess = near.replace("'?)", f":{rest}'?)") if near else ""
    where = config.path or "llmeval.yaml"
    names = ", ".join(config.models) or "none"
    return f"there is no model {spec!r}{guess}; models of {where}: {names}; {_forms()}"


def _forms() -> str:
    return f"specs: {', '.join(PROVIDERS.values())}"


def model_entry(name: str, section: Section, names: frozenset[str]) -> ModelEntry:
    """Return the entry that a mapping describes.

    Args:
        name: Its name in reports.
        section: The mapping.
        names: The names of all configured models, for a panel's members.

    Raises:
        ConfigError: A key is unknown, missing, or has a value it can't have.
    """
    section.only(_KEYS)
    if "panel" in section.data:
        return _panel(name, section, names)
    provider, base_url = _provider(section)
    refuse_idle(section, provider)
    model = section.text("model")
    if model is None and provider not in _NO_MODEL:
        message = f"model is missing: {provider} needs one ({PROVIDERS[provider]})"
        raise section.fail(message)
    if provider == "http" and base_url is None:
        raise section.fail("base_url is missing: http needs the URL to call")
    on_length = section.choice("on_length", ("unscored", "score"))
    passes = section.choice("pass", ("prompt", "case"))
    return ModelEntry(
        name=name,
        provider=provider,
        model=model or "",
        base_url=base_url,
        api_key_env=_variable(section),
        headers=section.mapped("headers", _header),
        ca_bundle=section.text("ca_bundle"),
        params=section.mapped("params", lambda inner, key: plain(inner.data[key])),
        prices=_prices(section),
        cache=section.flag("cache"),
        on_length=cast(Literal["unscored", "score"], on_length),
        pass_=cast(Literal["prompt", "case"], passes),
        reply=section.text("reply"),
        limits=_limits(section, provider),
        options=options_of(section),
    )


def _panel(name: str, section: Section, names: frozenset[str]) -> ModelEntry:
    others = [key for key in section.data if key != "panel"]
    if others:
        message = f"a panel has no key beside panel, and here is {others[0]!r}"
        raise section.fail(message, others[0])
    members = section.texts("panel")
    if not members:
        raise section.fail("a panel names its judges: panel: [NAME, NAME]", "panel")
    for index, member in enumerate(members):
        if member == name or (":" not in member and member not in names):
            guess = did_you_mean(member, names - {name})
            message = (
                f"a panel can't hold {member!r}{guess}; models: "
                f"{', '.join(sorted(names - {name})) or 'none'}"
            )
            raise section.fail(message, "panel", index)
        if member in members[:index]:
            message = (
                f"the panel names {member!r} twice, which would give the same votes: "
                f"votes=2 asks each of its judges twice"
            )
            raise section.fail(message, "panel", index)
    return ModelEntry(name=name, provider="panel", panel=members)


def _provider(section: Section) -> tuple[str, str | None]:
    """Return provider and base URL; a provider may be given as its URL."""
    base_url = section.text("base_url")
    if base_url is not None and not _URL.match(base_url):
        message = f"base_url is a URL, https://..., not {base_url!r}"
        raise section.fail(message, "base_url")
    provider = section.text("provider")
    if provider is None:
        message = f"provider is missing; providers: {', '.join(PROVIDERS)}"
        raise section.fail(message)
    if _URL.match(provider) and base_url is None:
        return "http", provider
    if provider not in PROVIDERS:
        head, colon, rest = provider.partition(":")
        hint = did_you_mean(provider, PROVIDERS)
        if colon and head in PROVIDERS:
            hint = f" (write provider: {head} and model: {rest})"
        message = (
            f"unknown provider {provider!r}{hint}; providers: {', '.join(PROVIDERS)}"
        )
        raise section.fail(message, "provider")
    return provider, base_url


def _variable(section: Section) -> str | None:
    name = section.text("api_key_env")
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # The text may be a key: it is not repeated.
        message = (
            "api_key_env is the name of an environment variable (letters, digits and "
            "underscores), and never the key itself"
        )
        raise section.fail(message, "api_key_env")
    return name


def _header(section: Section, name: str) -> str:
    value = section.data[name]
    if not isinstance(value, str) or "\n" in value or "\r" in value:
        # Headers carry secrets: the value is not repeated.
        raise section.fail(f"the header {name!r} is a text of one line", name)
    return value


def _prices(section: Section) -> dict[str, float]:
    section.section("prices", f"{section.what}, prices").only(_PRICES)
    prices: dict[str, float | None] = section.mapped(
        "prices", lambda inner, key: inner.number(key)
    )
    return {name: price for name, price in prices.items() if price is not None}


def _limits(section: Section, provider: str) -> dict[str, Any]:
    if "limits" in section.data and provider in _NO_SERVER:
        message = f"limits hold for models with a server, which {provider} has not"
        raise section.fail(message, "limits")
    own = section.section("limits", f"{section.what}, limits")
    own.only(LIMITS)
    return limits_of(own)
