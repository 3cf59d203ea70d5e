"""Data sets people have already: their columns and what these hold.

A reader takes the column's value and its name and returns the field's value; one it
can't read raises DatasetError without the place, which the caller puts before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.datasets._json import decoder
from pytest_llmeval.errors import DatasetError

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Columns and their reading in one known data set."""

    name: str
    aliases: Mapping[str, tuple[str, ...]]
    readers: Mapping[str, Callable[[Any, str], Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    first_wins: tuple[str, ...] = ()
    """Fields for which the first alias counts; else two at once are an error."""


def _hotpot_context(value: Any, column: str) -> str | None:
    """Return the paragraphs as text, one a line, without their titles.

    As AFlow builds it: sentences joined by a space, paragraphs by a line end. The Hub's
    form with one list of titles and one of sentences is read too.
    """
    if value is None:
        return None
    if isinstance(value, Mapping) and isinstance(value.get("sentences"), list):
        titles = value.get("title")
        if not isinstance(titles, list) or len(titles) != len(value["sentences"]):
            message = f"{column} has not as many titles as lists of sentences"
            raise DatasetError(message)
        value = list(zip(titles, value["sentences"], strict=True))
    if not isinstance(value, list):
        message = f"{column} is {_short(value)}, not [[title, [sentences]], ...]"
        raise DatasetError(message)
    return "\n".join(
        _hotpot_paragraph(paragraph, number)
        for number, paragraph in enumerate(value, start=1)
    )


def _hotpot_paragraph(paragraph: Any, number: int) -> str:
    if isinstance(paragraph, list | tuple) and len(paragraph) == 2:
        title, sentences = paragraph
        is_text = isinstance(title, str) and isinstance(sentences, list)
        if is_text and all(isinstance(sentence, str) for sentence in sentences):
            return " ".join(sentences)
    message = (
        f"paragraph {number} of context, counted from 1, is {_short(paragraph)}, not "
        f"[title, [sentences]]"
    )
    raise DatasetError(message)


def _gsm8k_answer(value: Any, column: str) -> str:
    """Return the final number, commas between its digits taken off."""
    _, marker, final = _text(value, column).rpartition("####")
    if not marker or not final.strip():
        message = f"{column} has no final number after ####: {_short(value)}"
        raise DatasetError(message)
    return re.sub(r"(?<=\d),(?=\d)", "", final.strip())


def _squad_answers(value: Any, column: str) -> str | list[Any]:
    """Return the answers' texts, each once; no answer at all is the empty text."""
    found = value
    if isinstance(value, Mapping):
        found = value.get("text")
    elif isinstance(value, list):
        found = [a.get("text") if isinstance(a, Mapping) else a for a in value]
    if not isinstance(found, list) or not all(isinstance(a, str) for a in found):
        message = f"{column} is {_short(value)}, not {{'text': [...]}}"
        raise DatasetError(message)
    return list(dict.fromkeys(found)) or ""


def _drop_references(value: Any, column: str) -> list[str]:
    """Return the references AFlow writes as ``a|b``, blank ones left out."""
    found = [part.strip() for part in _text(value, column).split("|")]
    found = [part for part in found if part]
    if not found:
        raise DatasetError(f"{column} {value!r} holds no reference")
    return found


def _dataflow_context(value: Any, column: str) -> str | None:
    """Return the passages one a line, blank ones left out, None when none is left."""
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        if part is not None and not isinstance(part, str):
            raise DatasetError(f"{column} holds {_short(part)}, not text")
    return "\n".join(part.strip() for part in parts if part and part.strip()) or None


def _dataflow_expected(value: Any, column: str) -> Any:
    """Return one target as it is; `targets` as a list, from one or from text.

    Text is a JSON list, or has ``||``, else ``|``, else ``;`` between the targets.
    """
    if column != "targets":
        return value
    if isinstance(value, str):
        value = _listed(value, _target_separator(value))
    if not isinstance(value, list):
        raise DatasetError(f"{column} is {_short(value)}, not a list of references")
    found = [v for v in value if v is not None and str(v).strip()]
    if not found:
        raise DatasetError(f"{column} holds no reference")
    return found


def _target_separator(text: str) -> str:
    return next((re.escape(sign) for sign in ("||", "|") if sign in text), ";")


def _dataflow_labels(value: Any, column: str) -> Any:
    """Return labels as a list, also from text with separators."""
    return _listed(value, r"[,;/|\s]+") if isinstance(value, str) else value


def _listed(text: str, separator: str) -> Any:
    """Return the list in a text: as JSON, else split at `separator`."""
    if text.lstrip().startswith("["):
        # A text that only looks like JSON is split like any other.
        with suppress(ValueError, RecursionError):
            return decoder().decode(text)
    return [part.strip() for part in re.split(separator, text) if part.strip()]


def _text(value: Any, column: str) -> str:
    if not isinstance(value, str):
        raise DatasetError(f"{column} is {_short(value)}, and a text is expected")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


_ALL: Final = (
    Preset(
        name="teff",
        # In teff's own order: the first that is there is the question.
        aliases={
            "input": ("query", "question", "input", "prompt"),
            "expected": ("expected",),
        },
        first_wins=("input",),
    ),
    Preset(
        name="hotpotqa",
        aliases={
            "id": ("_id", "id"),
            "input": ("question",),
            "expected": ("answer",),
        },
        readers={"context": _hotpot_context},
        required=("input",),
        first_wins=("id",),
    ),
    Preset(
        name="gsm8k",
        aliases={"input": ("question",), "expected": ("answer",)},
        readers={"expected": _gsm8k_answer},
        required=("input", "expected"),
    ),
    Preset(
        name="squad",
        aliases={"input": ("question",), "expected": ("answers",)},
        readers={"expected": _squad_answers},
        required=("input", "expected"),
    ),
    Preset(
        name="drop",
        aliases={
            "input": ("context",),
            "expected": ("ref_text",),
            # AFlow's context is the whole prompt: nothing of it is left over.
            "context": (),
        },
        readers={"expected": _drop_references},
        required=("input", "expected"),
    ),
    Preset(
        name="dataflow",
        aliases={
            "input": ("question", "text"),
            "expected": ("golden_label", "golden_answer", "target", "targets"),
        },
        readers={
            "context": _dataflow_context,
            "expected": _dataflow_expected,
            "labels": _dataflow_labels,
        },
        required=("input",),
        first_wins=("input",),
    ),
)
PRESETS: Final[Mapping[str, Preset]] = {preset.name: preset for preset in _ALL}
