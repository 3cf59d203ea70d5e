"""Whether a reply picks the right choice, or how far it picks the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from pytest_llmeval.metrics._base import Declaration, checked_base, one_of, scored_by
from pytest_llmeval.metrics._choice_gold import Gold, gold_of
from pytest_llmeval.metrics._choice_labels import LETTERS
from pytest_llmeval.metrics._choice_reading import ChoiceReading, read_choices
from pytest_llmeval.metrics._explain import inline, labelled, shown_empty, words_line
from pytest_llmeval.metrics._texts import text_of
from pytest_llmeval.types import Pool, Score

__all__ = ["CHOICE", "choice", "explain"]

CHOICE: Final = Declaration(name="choice")
_ONE: Final = replace(CHOICE, binary=True)

Measure = Literal["f1", "jaccard", "exact_set"]
_MEASURES: Final = ("f1", "jaccard", "exact_set")


@scored_by(CHOICE)
def choice(
    response: Any,
    expected: Any,
    *,
    choices: Sequence[Any] | None = None,
    measure: Measure = "f1",
    label_base: int = 0,
    reply_base: int = 1,
) -> Score:
    """Return whether the reply picks the right choice; of several labels, their F1.

    A reply that picks nothing, or of one choice several, is wrong; the score's details
    say as what it was read. Labels are letters, texts of choices or positions; positions
    that the row can't mean, or that are mixed with letters, make the case unscored.

    Args:
        response: A Response or a text.
        expected: A case with choices and a ``label`` (or ``expected``), or ``labels``;
            or a label, or a list of labels, and `choices`.
        choices: The choices, where `expected` is no case or other ones count.
        measure: For several labels: ``f1``, ``jaccard`` or ``exact_set``. Two empty sets
            are equal.
        label_base: The number of the first choice where a label is a position: 0 or 1.
        reply_base: The same for a reply that gives one.

    Raises:
        ConfigError: There are no choices, no such measure or no such base.
    """
    one_of("measure", measure, _MEASURES, "choice")
    checked_base("reply_base", reply_base)
    gold = gold_of(expected, choices=choices, label_base=label_base)
    text = text_of(response, () if gold.letters else ("",))
    reading = read_choices(text, gold.choices, multiple=gold.multiple, base=reply_base)
    details = _details(text, gold, reading)
    value = details[measure]
    reason = "" if value == 1 else _reason(gold, reading)
    declaration = CHOICE if gold.multiple and measure != "exact_set" else _ONE
    pool = _pool(details) if declaration is CHOICE and measure == "f1" else None
    return declaration.scored(value, reason, details, pool)


def _details(text: str, gold: Gold, reading: ChoiceReading) -> dict[str, Any]:
    right, picked = set(gold.letters), set(reading.labels)
    shared = len(right & picked)
    is_read = reading.status == "ok"
    is_same = is_read and right == picked
    total, union = len(right) + len(picked), len(right | picked)
    return {
        "response": text,
        "expected": ", ".join(gold.letters),
        "choices": gold.choices,
        "labels": reading.labels,
        "expected_labels": gold.letters,
        "status": reading.status,
        "reading": reading,
        "shared": shared,
        "precision": shared / len(picked) if picked else float(is_same),
        "recall": shared / len(right) if right else float(is_same),
        "f1": 2 * shared / total if total else float(is_same),
        "jaccard": shared / union if union else float(is_same),
        "exact_set": float(is_same),
    }


def _reason(gold: Gold, reading: ChoiceReading) -> str:
    right = _listed(gold.letters, gold.choices)
    if reading.status == "ok" and not gold.letters:
        picked = _listed(reading.labels, gold.choices)
        return f"the reply picks {picked}, and no choice is right"
    seen = ", ".join(reading.seen)
    if reading.status == "none":
        return f"no choice found in the reply; right is {right}"
    if reading.status == "refusal":
        return f"the reply refuses to choose; right is {right}"
    if reading.status == "ambiguous":
        return f"the reply does not decide between {seen}; right is {right}"
    if reading.status == "out_of_range":
        last = LETTERS[len(gold.choices) - 1]
        return f"the reply picks {seen}, and choices are A to {last}; right is {right}"
    return f"the reply picks {_listed(reading.labels, gold.choices)}, not {right}"


def _listed(letters: Sequence[str], choices: Sequence[str]) -> str:
    if not letters:
        return "none of them"
    if len(letters) > 1:
        return ", ".join(letters)
    return f"{letters[0]} ('{inline(choices[LETTERS.index(letters[0])], 40)}')"


def _pool(details: Mapping[str, Any]) -> Pool:
    """Return the counts of which all rows together make the micro F1."""
    shared = details["shared"]
    extra = len(details["labels"]) - shared
    missing = len(details["expected_labels"]) - shared
    # Nothing read where nothing is to be picked is wrong all the same.
    is_lost = not details["exact_set"] and not extra and not missing
    return Pool(form="f1", counts=(shared, extra + is_lost, missing))


def explain(score: Score) -> list[str]:
    """Return lines that say what was picked, what is right, and where it was read."""
    details = score.details
    reading: ChoiceReading = details["reading"]
    lines = _choice_lines("expected", details["expected_labels"], details["choices"])
    if reading.status == "ok":
        lines += _choice_lines("picked", reading.labels, details["choices"])
    else:
        seen = f" ({', '.join(reading.seen)})" if reading.seen else ""
        lines += labelled("picked", f"{_STATUS[reading.status]}{seen}")
    if reading.rule:
        lines += labelled("read", inline(reading.rule, 60))
    if not score.binary:
        lines += _overlap_lines(details)
    return [*lines, *labelled("reply", shown_empty(details["response"]))]


def _overlap_lines(details: Mapping[str, Any]) -> list[str]:
    right, picked = details["expected_labels"], details["labels"]
    counts = f"{details['precision']:.2f}, recall {details['recall']:.2f}"
    return [
        *words_line("missing", [letter for letter in right if letter not in picked]),
        *words_line("extra", [letter for letter in picked if letter not in right]),
        *labelled("precision", counts),
    ]


_STATUS: Final = {
    "none": "no choice found",
    "ambiguous": "undecided",
    "out_of_range": "a choice there isn't",
    "refusal": "a refusal",
}


def _choice_lines(
    label: str, letters: Sequence[str], choices: Sequence[str]
) -> list[str]:
    if not letters:
        return labelled(label, "none of them")
    lines = []
    for place, letter in enumerate(letters[:6]):
        text = inline(choices[LETTERS.index(letter)], 50)
        lines += labelled("" if place else label, f"{letter}. {text}")
    return lines
