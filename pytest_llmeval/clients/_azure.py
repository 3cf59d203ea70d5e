"""Azure OpenAI: the address that an entry's resource, deployment and version make.

https://learn.microsoft.com/azure/ai-foundry/openai/reference
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote

from pytest_llmeval.config import ModelEntry
from pytest_llmeval.errors import ConfigError

__all__ = ["azure_base_url", "is_azure"]

#: The newer interface is OpenAI's own, with the deployment as the model.
_NEWER = "/openai/v1"


def is_azure(entry: ModelEntry) -> bool:
    """Return whether an entry says that its server is Azure's."""
    return not entry.options.keys().isdisjoint(("deployment", "api_version"))


def azure_base_url(entry: ModelEntry) -> str:
    """Return the address below which a deployment has OpenAI's paths.

    Args:
        entry: Of a model at Azure; base_url is the resource's, or any address below it.

    Raises:
        ConfigError: A part of it is missing, or stands where it means nothing.
    """
    deployment = entry.options.get("deployment")
    version = entry.options.get("api_version")
    if entry.base_url is None:
        message = (
            f"{entry.name!r}: deployment and api_version are Azure's, and there is no "
            f"base_url: name the resource, https://NAME.openai.azure.com"
        )
        raise ConfigError(message)
    base, _, query = entry.base_url.partition("?")
    base = base.rstrip("/")
    if base.endswith(_NEWER):
        if deployment is not None:
            message = (
                f"{entry.name!r}: below {_NEWER} a deployment is named as the model, "
                f"so leave deployment: {deployment} out and say model: {deployment}"
            )
            raise ConfigError(message)
    elif "/deployments/" not in base:
        name = quote(deployment or entry.model, safe="")
        base = f"{base.removesuffix('/openai')}/openai/deployments/{name}"
    elif deployment is not None:
        message = (
            f"{entry.name!r}: base_url names a deployment, and so does deployment: "
            f"{deployment}; leave one out"
        )
        raise ConfigError(message)
    return f"{base}?{_query(entry.name, query, version)}"


def _query(name: str, query: str, version: str | None) -> str:
    given = dict(parse_qsl(query)).get("api-version")
    if version is None and given is None:
        message = (
            f"{name!r}: deployment is Azure's, which wants a version of its interface "
            f"too: api_version: '2024-10-21'"
        )
        raise ConfigError(message)
    if version is None or given == version:
        return query
    if given is not None:
        message = (
            f"{name!r}: base_url says api-version={given}, and the entry api_version: "
            f"{version}; leave one out"
        )
        raise ConfigError(message)
    return "&".join(filter(None, (query, f"api-version={quote(version, safe='')}")))
