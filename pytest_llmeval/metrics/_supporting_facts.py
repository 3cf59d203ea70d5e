"""HotpotQA's supporting facts, and its joint scores of answer and facts.

Source: `update_sp` and `eval` of hotpot_evaluate_v1.py. A fact is a pair of a title and
the index of a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import inline, labelled, shown_empty, words_line
from pytest_llmeval.metrics._official import official_words
from pytest_llmeval.metrics._texts import named, references_of, text_of
from pytest_llmeval.metrics._token_f1 import hotpot_overlap
from pytest_llmeval.types import Case, Score, as_text

__all__ = [
    "JOINT_F1",
    "SUPPORTING_FACTS",
    "Hotpot",
    "explain",
    "hotpot_scores",
    "joint_f1",
    "supporting_facts",
]

SUPPORTING_FACTS: Final = Declaration(name="supporting_facts")
JOINT_F1: Final = Declaration(name="joint_f1")

Fact = tuple[Any, Any]

_FENCED: Final = re.compile(r"\s*```\w*\s*(\{.*\})\s*```\s*", re.DOTALL)
_LONGEST: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hotpot:
    """HotpotQA's values of one row, each from 0 to 1."""

    em: float
    f1: float
    precision: float
    recall: float
    sp_em: float
    sp_f1: float
    sp_precision: float
    sp_recall: float
    joint_em: float
    joint_f1: float
    joint_precision: float
    joint_recall: float


def hotpot_scores(
    answer: str | None,
    gold_answer: str,
    facts: Iterable[Sequence[Any]] | None,
    gold_facts: Iterable[Sequence[Any]],
) -> Hotpot:
    """Return HotpotQA's values of one row; what is missing counts 0, as there.

    Args:
        answer: The answer given, None if it is missing.
        gold_answer: The right one.
        facts: The facts given, None if they are missing.
        gold_facts: The right ones.
    """
    em = precision = recall = f1 = 0.0
    if answer is not None:
        em = float(official_words(answer) == official_words(gold_answer))
        f1, precision, recall = hotpot_overlap(answer, gold_answer)
    sp_em = sp_precision = sp_recall = 0.0
    if facts is not None:
        found, right = {tuple(f) for f in facts}, {tuple(f) for f in gold_facts}
        shared = len(found & right)
        sp_em = float(found == right)
        sp_precision = shared / len(found) if found else 0.0
        sp_recall = shared / len(right) if right else 0.0
    joint_precision, joint_recall = precision * sp_precision, recall * sp_recall
    return Hotpot(
        em=em,
        f1=f1,
        precision=precision,
        recall=recall,
        sp_em=sp_em,
        sp_f1=_harmonic(sp_precision, sp_recall),
        sp_precision=sp_precision,
        sp_recall=sp_recall,
        joint_em=em * sp_em,
        joint_f1=_harmonic(joint_precision, joint_recall),
        joint_precision=joint_precision,
        joint_recall=joint_recall,
    )


def _harmonic(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0


@scored_by(SUPPORTING_FACTS)
def supporting_facts(
    response: Any,
    expected: Any,
    *,
    facts: Iterable[Sequence[Any]] | None = None,
    gold_facts: Any = None,
) -> Score:
    """Return the F1 of the supporting facts a reply names, as HotpotQA counts it.

    Args:
        response: A Response or a text: a JSON object with ``supporting_facts`` (or
            ``sp``), a list of ``[title, index]``; any text where `facts` are given.
        expected: A case with the column ``supporting_facts``; else `gold_facts` are
            needed.
        facts: The facts the application names, where they don't stand in the reply.
        gold_facts: The right facts.

    Raises:
        ConfigError: `facts` are no pairs.
    """
    right = _gold_facts(expected, gold_facts)
    text = text_of(response)
    _, found = _given(text, facts)
    values = hotpot_scores(None, "", found, right)
    return _score(SUPPORTING_FACTS, values.sp_f1, text, values, found, right)


@scored_by(JOINT_F1)
def joint_f1(
    response: Any,
    expected: Any,
    *,
    facts: Iterable[Sequence[Any]] | None = None,
    gold_facts: Any = None,
) -> Score:
    """Return HotpotQA's joint F1: of precisions and recalls of answer and facts.

    Args:
        response: A Response or a text: a JSON object with ``answer`` and
            ``supporting_facts`` (or ``sp``); the bare answer where `facts` are given.
        expected: A case with an expected answer and the column ``supporting_facts``; or
            the answer, and `gold_facts`.
        facts: The facts the application names, where they don't stand in the reply.
        gold_facts: The right facts.

    Raises:
        ConfigError: `facts` are no pairs.
    """
    right = _gold_facts(expected, gold_facts)
    references = references_of(expected)
    text = text_of(response, references)
    answer, found = _given(text, facts)
    best = max(
        (hotpot_scores(answer, gold, found, right) for gold in references),
        key=lambda values: values.joint_f1,
    )
    return _score(JOINT_F1, best.joint_f1, text, best, found, right)


def _score(
    declaration: Declaration,
    value: float,
    text: str,
    values: Hotpot,
    found: list[Fact] | None,
    right: list[Fact],
) -> Score:
    reason = "the reply names no supporting facts" if found is None else ""
    details = {
        "response": text,
        "expected": ", ".join(map(_shown, right)),
        "values": values,
        "missing": tuple(fact for fact in right if fact not in (found or ())),
        "extra": tuple(fact for fact in found or () if fact not in right),
    }
    return declaration.scored(value, reason, details)


def _gold_facts(expected: Any, given: Any) -> list[Fact]:
    value = given
    if value is None and isinstance(expected, Case):
        value = expected.fields.get("supporting_facts")
        if value is None:
            columns = ", ".join(map(str, expected.fields)) or "none"
            message = (
                f"{named(expected)} has no column supporting_facts; its columns: "
                f"{columns}"
            )
            raise UnscoredError(message, cause="data")
    if value is None:
        message = (
            "the right facts are needed: a case with supporting_facts, or gold_facts="
        )
        raise ConfigError(message)
    facts = _pairs(value)
    if facts is None:
        where = f"{named(expected)}: " if isinstance(expected, Case) else ""
        shown = inline(repr(value), 60)
        message = f"{where}supporting_facts are {shown}, not [[title, index], ...]"
        raise UnscoredError(message, cause="data")
    return facts


def _given(
    text: str, facts: Iterable[Sequence[Any]] | None
) -> tuple[str | None, list[Fact] | None]:
    """Return the answer and the facts of a reply, None for what it doesn't give."""
    if facts is not None:
        given: Any = facts
        pairs = _pairs(list(given)) if isinstance(given, Iterable) else None
        if pairs is None:
            message = f"facts are pairs of a title and an index, not {facts!r}"
            raise ConfigError(message)
        return text, pairs
    value = _object(text)
    if value is None:
        return text, None
    named_facts = value.get("supporting_facts", value.get("sp"))
    answer = value.get("answer")
    return None if answer is None else as_text(answer), _pairs(named_facts)


def _object(text: str) -> Mapping[str, Any] | None:
    if len(text) > _LONGEST:
        return None
    fenced = _FENCED.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _pairs(value: Any) -> list[Fact] | None:
    """Return facts from pairs, or from the Hub's two lists; None from anything else."""
    if isinstance(value, Mapping):
        titles, indices = value.get("title"), value.get("sent_id")
        if not isinstance(titles, list) or not isinstance(indices, list):
            return None
        value = list(zip(titles, indices, strict=False))
    if not isinstance(value, list | tuple):
        return None
    pairs = [tuple(item) for item in value if isinstance(item, list | tuple)]
    is_whole = len(pairs) == len(value) and all(len(pair) == 2 for pair in pairs)
    is_flat = all(
        isinstance(part, str | int | float) for pair in pairs for part in pair
    )
    return [(pair[0], pair[1]) for pair in pairs] if is_whole and is_flat else None


def _shown(fact: Fact) -> str:
    return f"{inline(as_text(fact[0]), 40)}[{inline(repr(fact[1]), 12)}]"


def explain(score: Score) -> list[str]:
    """Return lines that say which facts are missing and which too many."""
    details = score.details
    values: Hotpot = details["values"]
    facts = f"{values.sp_precision:.2f}, recall {values.sp_recall:.2f} of the facts"
    lines = labelled("reason", score.reason) if score.reason else []
    if score.metric == "joint_f1":
        answer = f"{values.precision:.2f}, recall {values.recall:.2f} of the answer"
        lines += labelled("precision", answer)
    return [
        *lines,
        *labelled("precision", facts),
        *words_line("missing", map(_shown, details["missing"])),
        *words_line("extra", map(_shown, details["extra"])),
        *labelled("reply", shown_empty(details["response"])),
    ]
