"""The model that answered, as its server called it: another one than before, or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Drift", "Snapshot", "drifts", "snapshots_of"]

Pair = tuple[Iterable["Snapshot"], Iterable["Snapshot"]]
_Names = dict[tuple[str, str], tuple[set[str], set[str]]]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Snapshot:
    """What a server said of the model that answered."""

    role: str
    """generator, judge, or the name of a further client."""
    asked: str
    """The model asked for: ``openai:gpt-4o``."""
    model: str = ""
    """Its name as the server gave it; empty where it gave none."""
    system_fingerprint: str = ""

    def to_json(self) -> dict[str, str]:
        """Return it as plain JSON types, without what is empty."""
        parts = {
            "role": self.role,
            "asked": self.asked,
            "model": self.model,
            "system_fingerprint": self.system_fingerprint,
        }
        return {name: text for name, text in parts.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A model that is served as another one than before."""

    role: str
    asked: str
    part: Literal["model", "system_fingerprint"]
    """What the server says otherwise; its fingerprint only where the name is the same."""
    before: tuple[str, ...]
    now: tuple[str, ...]


def snapshots_of(
    calls: Iterable[tuple[str, str, Mapping[str, Any]]],
) -> tuple[Snapshot, ...]:
    """Return what servers said of their models, each once.

    Args:
        calls: Of each answered call: role, the model asked for, the reply.
    """
    found = {
        Snapshot(
            role=role,
            asked=asked,
            model=str(reply.get("model") or ""),
            system_fingerprint=str(reply.get("system_fingerprint") or ""),
        )
        for role, asked, reply in calls
    }
    return tuple(sorted(one for one in found if one.model or one.system_fingerprint))


def drifts(pairs: Iterable[Pair]) -> tuple[Drift, ...]:
    """Return the models that are served as something that was not seen before.

    A server with several machines gives several fingerprints in any run, so that those
    of all cases are looked at together, and fewer of them are no news.

    Args:
        pairs: Of each case that asked in both runs: its snapshots before and now.
    """
    models: _Names = {}
    prints: _Names = {}
    for before, now in pairs:
        for index, snapshots in enumerate((before, now)):
            for one in snapshots:
                _add(models, one, index, one.model)
                _add(prints, one, index, one.system_fingerprint)
    named = list(_new(models, "model"))
    told = {(drift.role, drift.asked) for drift in named}
    for key in told:
        prints.pop(key, None)  # another model has another fingerprint
    return (*named, *_new(prints, "system_fingerprint"))


def _add(names: _Names, one: Snapshot, index: int, name: str) -> None:
    if name:
        names.setdefault((one.role, one.asked), (set(), set()))[index].add(name)


def _new(
    names: _Names, part: Literal["model", "system_fingerprint"]
) -> Iterable[Drift]:
    for (role, asked), (before, now) in sorted(names.items()):
        if before and now - before:
            yield Drift(
                role=role,
                asked=asked,
                part=part,
                before=tuple(sorted(before)),
                now=tuple(sorted(now)),
            )
