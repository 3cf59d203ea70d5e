"""Recordings: replies kept beside the tests, committed, replayed without a network.

``<folder of the tests>/llmeval_recordings/<stem of the file>.jsonl``: one entry a line,
sorted by request, so that a changed prompt is a small diff. No timings and no secrets.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.difference import nearest, words
from pytest_llmeval.store.key import canonical, normal, request_key
from pytest_llmeval.store.lines import parse, strict_json
from pytest_llmeval.store.replies import packed, unpacked
from pytest_llmeval.types import Prompt, Response

__all__ = ["FOLDER", "Change", "Entry", "Filed", "Recordings", "recording_path"]

FOLDER = "llmeval_recordings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A request and its reply."""

    request: Mapping[str, Any]
    sample: int
    response: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The key of the reply."""
        return request_key(self.request, self.sample)

    @classmethod
    def of(cls, request: Mapping[str, Any], sample: int, response: Response) -> Self:
        """Return the entry of a reply, without what is of the moment."""
        kept = packed(response)
        # How much of a prompt a server had cached is of that hour.
        kept.get("usage", {}).pop("cached_tokens", None)
        return cls(request=normal(request), sample=sample, response=kept)

    def replayed(self, prompt: Prompt) -> Response:
        """Return the reply, as one that was recorded."""
        return unpacked(self.response, prompt, "recording")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "key": self.key,
            "request": dict(self.request),
            "sample": self.sample,
            "response": dict(self.response),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`.

        Raises:
            TypeError: A part is not what it should be.
            KeyError: A part is missing.
        """
        entry = cls(
            request=data["request"], sample=data["sample"], response=data["response"]
        )
        _require(entry.request, "request", dict)
        _require(entry.sample, "sample", int)
        _require(entry.response, "response", dict)
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """An entry and the file it stands in, or is to stand in."""

    path: Path
    entry: Entry

    def to_json(self, root: Path) -> dict[str, Any]:
        """Return it as plain JSON types, the file as seen from the root directory."""
        return {
            "file": self.path.relative_to(root).as_posix(),
            "entry": self.entry.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], root: Path) -> Self:
        """Rebuild it from the data of `to_json`."""
        return cls(path=root / data["file"], entry=Entry.from_json(data["entry"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How many entries of a file are not as they were."""

    new: int
    changed: int
    dropped: int

    def __str__(self) -> str:
        counts = {"new": self.new, "changed": self.changed, "dropped": self.dropped}
        parts = [f"{count:,} {name}" for name, count in counts.items() if count]
        return ", ".join(parts) or "written anew"


@dataclass(slots=True)
class Recordings:
    """One file of recordings.

    Args:
        path: The file; it need not exist.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the entries of a file, none when there is no file.

        Raises:
            UserError: A line is no entry; the text names it.
        """
        recordings = cls(path)
        if path.is_file():
            for number, line in enumerate(_lines(path), 1):
                if line.strip():
                    key, entry = _parsed(line, path, number)
                    recordings.entries[key] = entry
        return recordings

    def write(self, entries: Iterable[Entry], *, only_these: bool) -> Change | None:
        """Add entries to the file; return what changed in it, None if nothing did.

        Args:
            entries: What the tests used.
            only_these: Drop all others: the tests of the file ran whole.
        """
        before, used = self.entries, {entry.key: entry for entry in entries}
        self.entries = used if only_these else {**before, **used}
        ordered = sorted(
            self.entries.values(), key=lambda e: (canonical(e.request), e.sample)
        )
        text = "".join(strict_json(entry.to_json()) + "\n" for entry in ordered)
        there = self.path.read_bytes() if self.path.is_file() else b""
        if text.encode() == there:
            return None
        self._replace(text)
        shared = before.keys() & self.entries.keys()
        return Change(
            new=len(self.entries) - len(shared),
            changed=sum(before[key] != self.entries[key] for key in shared),
            dropped=len(before) - len(shared),
        )

    def _replace(self, text: str) -> None:
        """Write the file whole or not at all; one without a line is none."""
        if not text:
            self.path.unlink(missing_ok=True)
            with suppress(OSError):  # other files are in it
                self.path.parent.rmdir()
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8", newline="\n")
            os.replace(part, self.path)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def nearest(self, request: Mapping[str, Any]) -> Entry | None:
        """Return the entry most like a request, None when there are none."""
        if not self.entries:
            return None
        for key, entry in self.entries.items():
            if key not in self._words:
                self._words[key] = words(entry.request)
        pairs = [(entry, self._words[key]) for key, entry in self.entries.items()]
        return nearest(request, pairs)


def _require(value: Any, name: str, kind: type) -> None:
    if not isinstance(value, kind):
        message = f"{name} is {value!r:.60}"
        raise TypeError(message)


def recording_path(folder: Path, stem: str) -> Path:
    """Return the recordings of a test file or task."""
    return folder / FOLDER / f"{stem}.jsonl"


def _lines(path: Path) -> list[bytes]:
    try:
        data = path.read_bytes()
    except OSError as exc:
        message = f"the recordings {str(path)!r} can't be read: {exc}"
        raise UserError(message) from exc
    # Some editors put a mark before UTF-8.
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _parsed(line: bytes, path: Path, number: int) -> tuple[str, Entry]:
    """Return the entry of a line and its key, whatever key the line says."""
    try:
        entry = Entry.from_json(parse(line))
        key, _ = entry.key, entry.replayed(Prompt.of(""))
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        message = (
            f"{path.parent.name}/{path.name}:{number}: no recording "
            f"({_reason(line, exc)}); restore the file from version control, or "
            f"delete the line and record anew with --llmeval-mode=record"
        )
        raise UserError(message) from exc
    return key, entry


def _reason(line: bytes, exc: Exception) -> str:
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")):
        return "the mark of a merge conflict"
    if isinstance(exc, KeyError):
        return f"it has no {exc}"
    return str(exc)
