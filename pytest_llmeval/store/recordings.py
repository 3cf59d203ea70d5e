"""Recordings: replies kept beside the tests, committed, replayed without a network.

``<folder of the tests>/llmeval_recordings/<stem of the file>.jsonl``: one entry a line,
sorted by request, so that a changed prompt is a small diff. No timings and no secrets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Self

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.key import canonical, request_key
from pytest_llmeval.types import Prompt, Response, Usage, clean_json

__all__ = ["FOLDER", "Entry", "Recordings", "difference", "recording_path"]

FOLDER = "llmeval_recordings"

#: Fields of a response that are kept; what it took to get it is nobody's to replay.
_KEPT = (
    "text",
    "model",
    "provider",
    "finish_reason",
    "usage",
    "cost",
    "sources",
    "tool_calls",
    "refusal",
    "reasoning",
    "logprobs",
)


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
        kept = {name: getattr(response, name) for name in _KEPT}
        if response.usage is not None:
            # How much of a prompt a server had cached is of that hour.
            usage = {**response.usage.to_json(), "cached_tokens": None}
            kept["usage"] = {k: v for k, v in usage.items() if v is not None}
        return cls(
            request=clean_json(request),
            sample=sample,
            response={k: v for k, v in clean_json(kept).items() if v not in (None, [])},
        )

    def replayed(self, prompt: Prompt) -> Response:
        """Return the reply, as one that was recorded."""
        data = dict(self.response)
        usage = data.pop("usage", None)
        for name in ("sources", "tool_calls"):
            data[name] = tuple(data.get(name, ()))
        return Response(
            **data,
            usage=Usage(**usage) if usage else None,
            messages=prompt.messages,
            origin="recording",
        )

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
        """Rebuild it from the data of `to_json`."""
        return cls(
            request=data["request"], sample=data["sample"], response=data["response"]
        )


@dataclass(slots=True)
class Recordings:
    """One file of recordings.

    Args:
        path: The file; it need not exist.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the entries of a file, none when there is no file.

        Raises:
            UserError: A line is no entry; the text names it.
        """
        recordings = cls(path)
        if path.is_file():
            for number, line in enumerate(_lines(path), 1):
                entry = _parsed(line, path, number)
                recordings.entries[entry.key] = entry
        return recordings

    def write(self, entries: Iterable[Entry], *, only_these: bool) -> bool:
        """Add entries to the file; return whether it changed.

        Args:
            entries: What the tests used.
            only_these: Drop all others: the tests of the file ran whole.
        """
        used = {entry.key: entry for entry in entries}
        kept = used if only_these else {**self.entries, **used}
        ordered = sorted(kept.values(), key=lambda e: (canonical(e.request), e.sample))
        text = "".join(
            json.dumps(entry.to_json(), ensure_ascii=False) + "\n" for entry in ordered
        )
        self.entries = kept
        before = self.path.read_text("utf-8") if self.path.is_file() else ""
        if text == before:
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, self.path)
        return True

    def nearest(self, request: Mapping[str, Any]) -> Entry | None:
        """Return the entry most like a request, None when there are none."""
        wanted = canonical(request)
        matcher = SequenceMatcher(None, "", wanted, autojunk=False)
        best, best_ratio = None, -1.0
        for entry in self.entries.values():
            matcher.set_seq1(canonical(entry.request)[:2000])
            if matcher.real_quick_ratio() > best_ratio and (
                (ratio := matcher.quick_ratio()) > best_ratio
            ):
                best, best_ratio = entry, ratio
        return best


def recording_path(folder: Path, stem: str) -> Path:
    """Return the recordings of a test file or task."""
    return folder / FOLDER / f"{stem}.jsonl"


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each part in which two requests differ."""
    for name in sorted({*wanted, *found}):
        asked, had = wanted.get(name), found.get(name)
        if canonical({"": asked}) == canonical({"": had}):
            continue
        if name == "messages":
            yield from _messages(asked or [], had or [])
        else:
            yield f"{name}: recorded {_shown(had)}, asked {_shown(asked)}"


def _messages(asked: list[Any], had: list[Any]) -> Iterator[str]:
    for index in range(max(len(asked), len(had))):
        one = asked[index] if index < len(asked) else None
        other = had[index] if index < len(had) else None
        if one == other:
            continue
        role = (one or other or {}).get("role")
        before, after = _around(_content(other), _content(one))
        yield f"{role} message: recorded {before!r}, asked {after!r}"


def _content(message: Any) -> str:
    content = message["content"] if message else ""
    return content if isinstance(content, str) else json.dumps(content)


def _around(before: str, after: str, *, context: int = 20) -> tuple[str, str]:
    """Return the parts of two texts in which they differ, with a little around."""
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    start, end = max(0, head - context), max(0, tail - context)

    def part(text: str) -> str:
        cut = text[start : len(text) - end]
        shown = cut if len(cut) <= 200 else cut[:197] + "..."
        return f"{'…' if start else ''}{shown}{'…' if end else ''}"

    return part(before), part(after)


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    pairs = zip(one, other, strict=False)
    differing = (place for place, (a, b) in enumerate(pairs) if a != b)
    return next(differing, min(len(one), len(other)))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        message = f"the recordings {str(path)!r} can't be read: {exc}"
        raise UserError(message) from exc
    return [line for line in text.split("\n") if line.strip()]


def _parsed(line: str, path: Path, number: int) -> Entry:
    try:
        entry = Entry.from_json(json.loads(line))
        _ = entry.replayed(Prompt.of(""))
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        message = (
            f"{path.name}:{number}: no recording ({type(exc).__name__}: {exc}); "
            f"restore the file from version control, or delete it and record anew "
            f"with --llmeval-mode=record"
        )
        raise UserError(message) from exc
    return entry
