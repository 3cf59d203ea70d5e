"""Several judges under one name: ``panel: [NAME, NAME]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._base import Backend, Request
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Response

__all__ = ["Panel", "members_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Judges who vote. Each is asked by itself; together they have no reply."""

    name: str
    members: tuple[Backend, ...]
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the identities of its members."""
        return {
            "provider": "panel",
            "members": [member.identity(request) for member in self.members],
        }

    def no_reply(self) -> ConfigError:
        """Return the error of asking it for a reply: what several say is no one's."""
        message = (
            f"{self.name!r} is a panel, which judges and can't reply: name one of its "
            f"models, {', '.join(member.name for member in self.members)}"
        )
        return ConfigError(message)

    async def answer(self, request: Request) -> Response:
        """Refuse.

        Raises:
            ConfigError: Always.
        """
        raise self.no_reply()

    async def close(self) -> None:
        """Hold nothing: its members are closed as the models they are."""


def members_of(backend: Backend) -> tuple[Backend, ...]:
    """Return the judges of a panel, of any other model itself."""
    return backend.members if isinstance(backend, Panel) else (backend,)
