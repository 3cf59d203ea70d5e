"""The file of a baseline: JSON to be committed, a line a case, sorted.

Format 1: ``{"format", "name", "created", "commit", "dirty", "run", "cases": [...]}``;
a case is the JSON of a `Standing`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from pytest_llmeval.baseline._standing import Standing
from pytest_llmeval.errors import UserError
from pytest_llmeval.store.lines import parse, strict_json
from pytest_llmeval.store.shapes import BASELINE, STANDING, misfit

__all__ = ["FOLDER", "FORMAT", "Baseline", "parse_baseline", "write_baseline"]

FORMAT: Final = 1
#: Of the committed files, in the root directory.
FOLDER: Final = "llmeval_baselines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How the cases of a run stood, and which run it was."""

    name: str
    cases: tuple[Standing, ...]
    created: str = ""
    """When the run began, in UTC."""
    commit: str | None = None
    """Of the code that ran; None outside of a git repository."""
    dirty: bool | None = None
    """Whether files differed from the commit; None when that is not known."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """The run's header: mode, models, limit."""

    @property
    def shown(self) -> str:
        """Its name for people: ``main (3f2a1bc, 2026-01-05)``."""
        commit = f"{self.commit[:7]}{'+' if self.dirty else ''}" if self.commit else ""
        parts = [part for part in (commit, self.created[:10]) if part]
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "format": FORMAT,
            "name": self.name,
            "created": self.created,
            "commit": self.commit,
            "dirty": self.dirty,
            "run": dict(self.run),
            "cases": [case.to_json() for case in self.cases],
        }

    @classmethod
    def from_json(cls, data: Any, shown: str) -> Self:
        """Rebuild it from the data of `to_json`.

        Args:
            data: As read.
            shown: The file's name in error texts.

        Raises:
            UserError: It is no baseline of this format; the text says what is wrong.
        """
        if not isinstance(data, Mapping) or "format" not in data:
            raise _refusal(shown, "it has no 'format'")
        if data["format"] != FORMAT:
            message = (
                f"it has format {data['format']!r}, and this version reads {FORMAT}: "
                f"save it anew, or use the version that wrote it"
            )
            raise _refusal(shown, message)
        if (wrong := misfit(data, BASELINE)) is not None:
            raise _refusal(shown, wrong)
        run = data.get("run")
        return cls(
            name=str(data.get("name") or shown),
            cases=tuple(_cases(data.get("cases"), shown)),
            created=str(data.get("created") or ""),
            commit=data.get("commit"),
            dirty=data.get("dirty"),
            run=run if isinstance(run, Mapping) else {},
        )


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write the file: a reader sees the old one or the whole new one, never half.

    Raises:
        OSError: It can't be written; an older file at `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}-{os.urandom(4).hex()}.tmp")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_lines(baseline))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _lines(baseline: Baseline) -> Iterable[str]:
    cases = sorted(baseline.cases, key=lambda case: case.identity)
    head = replace(baseline, cases=()).to_json()
    del head["cases"]
    yield "{\n"
    for key, value in head.items():
        yield f"{strict_json(key)}: {strict_json(value)},\n"
    lines = ",\n".join(strict_json(case.to_json()) for case in cases)
    yield f'"cases": [\n{lines}\n]\n}}\n'


def parse_baseline(content: bytes, shown: str) -> Baseline:
    """Return the baseline of a file's content.

    Args:
        content: The file.
        shown: Its name in error texts.

    Raises:
        UserError: It is no baseline of this format; the text says what is wrong.
    """
    try:
        data = parse(content)
    except ValueError as exc:
        raise _refusal(shown, f"it is not JSON ({exc})") from exc
    return Baseline.from_json(data, shown)


def _cases(entries: Any, shown: str) -> Iterator[Standing]:
    if not isinstance(entries, list):
        raise _refusal(shown, f"'cases' is {entries!r:.60}, not a list")
    for number, entry in enumerate(entries, start=1):
        if (wrong := misfit(entry, STANDING)) is not None:
            raise _refusal(shown, f"case {number} is not whole ({wrong})")
        try:
            yield Standing.from_json(entry)
        except (TypeError, AttributeError, KeyError) as exc:
            raise _refusal(shown, f"case {number} is not whole ({exc})") from exc


def _refusal(shown: str, detail: str) -> UserError:
    return UserError(f"{shown} is no baseline of pytest-llmeval: {detail}")
