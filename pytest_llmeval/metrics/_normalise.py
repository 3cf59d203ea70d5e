"""Presets that make texts comparable, and users' own rows of named steps.

``default`` is ours: for a person two texts it makes equal are the same answer, and no
published number is comparable with it. ``squad_v1``, ``squad_v2`` and ``hotpotqa`` have
the normaliser of the official scripts, byte for byte; ``teff`` is teff's exact mode;
``raw`` changes nothing. DROP's is no row of steps and stands in `_drop`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.metrics._stemming import stemming_step
from pytest_llmeval.metrics._steps import ARTICLE, STEPS, NamedStep

__all__ = ["PRESETS", "Preset", "normaliser", "removed"]

_WORD_CHAR: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A sequence of named steps."""

    steps: tuple[NamedStep, ...] = ()
    may_empty: bool = True
    """Whether a text may normalise to nothing; else the step that would is skipped."""

    def __call__(self, text: str) -> str:
        if self.may_empty:
            for _, step in self.steps:
                text = step(text)
            return text
        for _, step in self.steps:
            after = step(text)
            text = text if _is_emptied(text, after) else after
        return text if text.strip() else ""


def _is_emptied(before: str, after: str) -> bool:
    """Return whether a step took all that was there: "(A)" must not become "( )"."""
    if _WORD_CHAR.search(after) is not None:
        return False
    return _WORD_CHAR.search(before) is not None or not after.strip()


#: Characters of a text looked at for what was removed: a line shows no more.
_LONGEST: Final = 10_000


def _steps(*names: str) -> tuple[NamedStep, ...]:
    return tuple(STEPS[name] for name in names)


_OFFICIAL: Final = Preset(
    steps=_steps("lower", "ascii_punctuation", "ascii_articles", "whitespace")
)
PRESETS: Final[Mapping[str, Preset]] = {
    "default": Preset(
        steps=_steps(
            *("unicode", "invisible", "casefold", "numbers", "quotes", "articles"),
            *("punctuation", "words"),
        ),
        may_empty=False,
    ),
    "squad_v1": _OFFICIAL,
    "squad_v2": _OFFICIAL,
    "hotpotqa": _OFFICIAL,
    "teff": Preset(steps=_steps("whitespace", "lower")),
    "raw": Preset(),
}


def normaliser(preset: str | Sequence[str]) -> Preset:
    """Return the preset of that name, or one of named steps in the order given.

    A preset's name among the steps stands for all of its steps. A step that would leave
    nothing of a text is skipped for it.

    Args:
        preset: A name of `PRESETS`, or a list of names of `STEPS`, `PRESETS`,
            ``stem`` or ``stem:LANGUAGE``.

    Raises:
        ConfigError: There is no such preset or step.
        MissingExtraError: A stemmer is asked for, and none is installed.
    """
    if isinstance(preset, str) and preset in PRESETS:
        return PRESETS[preset]
    if not isinstance(preset, list | tuple) or not preset:
        message = f"preset is a name or a list of steps, not {preset!r}"
        raise ConfigError(message)
    steps: list[NamedStep] = []
    for name in preset:
        is_preset = isinstance(name, str) and name in PRESETS
        steps += PRESETS[name].steps if is_preset else [_step(name)]
    return Preset(steps=tuple(steps), may_empty=False)


def _step(name: object) -> NamedStep:
    if isinstance(name, str) and name.partition(":")[0] == "stem":
        return stemming_step(name.partition(":")[2] or "english")
    if isinstance(name, str) and name in STEPS:
        return STEPS[name]
    names = (*STEPS, "stem", *PRESETS)
    message = (
        f"there is no step of normalisation {name!r}{did_you_mean(str(name), names)}; "
        f"there are: {', '.join(names)}"
    )
    raise ConfigError(message)


def removed(text: str, preset: Preset) -> tuple[str, ...]:
    """Return what normalisation took away, step by step: ``articles: the``.

    Args:
        text: Of a long one its beginning is looked at.
        preset: What normalised it.
    """
    notes, text = [], text[:_LONGEST]
    for name, step in preset.steps:
        after = step(text)
        if not preset.may_empty and _is_emptied(text, after):
            after = text
        if after != text and name not in {"letter case", "white space"}:
            gone = _gone(text, after, name)
            notes.append(f"{name}: {' '.join(gone)}" if gone else name)
        elif name == "letter case" and after != text:
            notes.append(name)
        text = after
    return tuple(notes)


def _gone(before: str, after: str, name: str) -> list[str]:
    """Return the distinct words (of articles) or characters that `after` lacks."""
    if name in {"endings", "accents"}:
        return []
    if name == "articles":
        return sorted(set(ARTICLE.findall(before)))
    # A dictionary keeps the order in which they stand.
    return [c for c in dict.fromkeys(before) if not c.isspace() and c not in after]
