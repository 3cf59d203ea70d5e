"""ROUGE by rouge-score (extra ``overlap``): words, pairs of words, a common sequence.

rouge-score's own words are runs of Latin letters without accents and of digits: it
finds none in a Chinese text, and the value is 0 whatever the reply is. A failure says
so; ``tokenize="unicode"`` reads the words of every script.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._explain import labelled, nearest_texts
from pytest_llmeval.metrics._extras import needed
from pytest_llmeval.metrics._lengths import check_length
from pytest_llmeval.metrics._normalise import PRESETS
from pytest_llmeval.metrics._texts import references_of, text_of
from pytest_llmeval.types import Score

__all__ = ["ROUGE1", "ROUGE2", "ROUGEL", "explain", "rouge1", "rouge2", "rougeL"]

ROUGE1: Final = Declaration(name="rouge1", extra="overlap", module="rouge_score")
ROUGE2: Final = Declaration(name="rouge2", extra="overlap", module="rouge_score")
ROUGEL: Final = Declaration(name="rougeL", extra="overlap", module="rouge_score")

_FIELDS: Final = ("fmeasure", "precision", "recall")
#: Pairs of words whose longest common sequence is found in a few seconds.
_SEQUENCE_PAIRS: Final = 10_000_000
_TOKENIZERS: Final = ("latin", "unicode")


@scored_by(ROUGE1)
def rouge1(
    response: Any,
    expected: Any,
    *,
    use_stemmer: bool = False,
    field: str = "fmeasure",
    tokenize: str = "latin",
) -> Score:
    """Return the ROUGE-1 of the reply: how many words it shares with the reference.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or several, the best of which (by
            F-measure) counts.
        use_stemmer: Whether English words are compared by their stem.
        field: ``fmeasure``, ``precision`` or ``recall``.
        tokenize: ``latin`` (rouge-score's, that of published numbers) or ``unicode``
            (words of every script, CJK by character).

    Raises:
        ConfigError: There is no such field or tokenizer.
        MissingExtraError: rouge-score isn't installed.
    """
    return _scored(ROUGE1, response, expected, use_stemmer, field, tokenize)


@scored_by(ROUGE2)
def rouge2(
    response: Any,
    expected: Any,
    *,
    use_stemmer: bool = False,
    field: str = "fmeasure",
    tokenize: str = "latin",
) -> Score:
    """Return the ROUGE-2 of the reply: as `rouge1`, of pairs of words.

    A text of one word has no pair, and 0 even where it is the reference.
    """
    return _scored(ROUGE2, response, expected, use_stemmer, field, tokenize)


@scored_by(ROUGEL)
def rougeL(
    response: Any,
    expected: Any,
    *,
    use_stemmer: bool = False,
    field: str = "fmeasure",
    tokenize: str = "latin",
) -> Score:
    """Return the ROUGE-L of the reply: as `rouge1`, of the longest common sequence."""
    return _scored(ROUGEL, response, expected, use_stemmer, field, tokenize)


def _scored(
    declaration: Declaration,
    response: Any,
    expected: Any,
    use_stemmer: bool,
    field: str,
    tokenize: str,
) -> Score:
    name = declaration.name
    one_of("field", field, _FIELDS, name)
    one_of("tokenizer", tokenize, _TOKENIZERS, name)
    needed("rouge_score.rouge_scorer", extra="overlap", metric=name)
    references = references_of(expected)
    text = text_of(response, references)
    if declaration is ROUGEL:
        check_length(name, text, references, _SEQUENCE_PAIRS)
    scorer = _scorer(name, bool(use_stemmer), tokenize)
    found = scorer.score_multi(list(references), text)[name]
    value = min(1.0, float(getattr(found, field)))
    details = {
        "response": text,
        "expected": references[0] if len(references) == 1 else list(references),
        "precision": found.precision,
        "recall": found.recall,
        "has_words": tokenize != "latin" or _has_words(text, *references),
    }
    return declaration.scored(value, "", details)


@cache
def _scorer(name: str, use_stemmer: bool, tokenize: str) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    tokenizer = _Words() if tokenize == "unicode" else None
    return RougeScorer([name], use_stemmer=use_stemmer, tokenizer=tokenizer)


class _Words:
    """The words of the default preset: of every script, CJK by character."""

    def tokenize(self, text: str) -> list[str]:
        """Return the words, as rouge-score asks for them."""
        return PRESETS["default"](text).split()


def _has_words(*texts: str) -> bool:
    """Return whether each text that isn't empty has a word for rouge-score."""
    return all(
        any(char.isascii() and char.isalnum() for char in text)
        for text in texts
        if text.strip()
    )


def explain(score: Score) -> list[str]:
    """Return both texts, their difference, precision and recall."""
    details = score.details
    lines = nearest_texts(score)
    shown = f"{details['precision']:.2f}, recall {details['recall']:.2f}"
    lines += labelled("precision", shown)
    if not details["has_words"]:
        note = "a text without Latin letters has no words here; tokenize='unicode'"
        lines += labelled("note", note, lines=2)
    return lines
