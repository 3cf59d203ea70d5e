"""BLEU, chrF and TER by sacrebleu (extra ``overlap``), from 0 to 1.

The values are sacrebleu's, divided by 100 and never above 1 by float noise. Each score
brings the counts from which reports make the corpus value beside the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._explain import labelled, nearest_texts
from pytest_llmeval.metrics._extras import needed
from pytest_llmeval.metrics._lengths import check_length
from pytest_llmeval.metrics._texts import references_of, text_of
from pytest_llmeval.stats import pooled
from pytest_llmeval.types import Pool, Score

__all__ = ["BLEU", "CHRF", "TER", "bleu", "chrf", "explain", "ter"]

BLEU: Final = Declaration(name="bleu", extra="overlap", module="sacrebleu")
CHRF: Final = Declaration(name="chrf", extra="overlap", module="sacrebleu")
TER: Final = Declaration(
    name="ter", high=inf, higher_is_better=False, extra="overlap", module="sacrebleu"
)

#: sacrebleu's tokenizers that need neither a further package nor a download.
_TOKENIZERS: Final = ("13a", "intl", "zh", "char", "none")
#: Pairs of words that TER compares in a few seconds at worst; it grows by their square.
_TER_PAIRS: Final = 250_000
_SMOOTHINGS: Final = ("exp", "none", "add_one")


@scored_by(BLEU)
def bleu(
    response: Any,
    expected: Any,
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    smooth: str = "exp",
) -> Score:
    """Return the BLEU of the reply: how many runs of up to 4 words it shares.

    Of a text of less than four words the orders it has count alone (effective order),
    so a perfect short answer scores 1; an order without a match is smoothed
    exponentially. The corpus value in reports has no effective order.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or several, all of which count.
        tokenize: ``13a`` (that of published numbers), ``intl``, ``zh``, ``char`` (for
            Japanese, Thai …) or ``none``.
        lowercase: Whether letter case matters not.
        smooth: ``exp`` (sacrebleu's), or that of evaluate's ``bleu``, which knows no
            effective order and counts the shortest reference: ``none``, or ``add_one``
            where it says ``smooth=True``.

    Raises:
        ConfigError: There is no such tokenizer or smoothing.
        MissingExtraError: sacrebleu isn't installed.
    """
    one_of("tokenizer", tokenize, _TOKENIZERS, "bleu")
    one_of("smoothing", smooth, _SMOOTHINGS, "bleu")
    metrics = needed("sacrebleu.metrics", extra="overlap", metric="bleu")
    text, references = _texts(response, expected)
    scorer = metrics.BLEU(tokenize=tokenize, lowercase=lowercase, effective_order=True)
    found = scorer.sentence_score(text, references)
    value, form, length = found.score / 100, "bleu", found.ref_len
    if smooth != "exp":
        form = f"bleu_{smooth}"
        length = min(scorer.sentence_score(text, [r]).ref_len for r in references)
    pool = _pool(form, (*found.counts, *found.totals, found.sys_len, length))
    if smooth != "exp":
        value = pooled(form, [pool.counts]) or 0.0
    details = _details(text, references, {"brevity_penalty": found.bp})
    return BLEU.scored(min(1.0, value), "", details, pool)


@scored_by(CHRF)
def chrf(
    response: Any,
    expected: Any,
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
) -> Score:
    """Return the chrF of the reply: how many runs of up to 6 characters it shares.

    It needs no words, so it suits scripts that are written without spaces.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or several, the best of which
            counts.
        char_order: Longest run of characters.
        word_order: Longest run of words, 0 for none; 2 is chrF++.
        beta: How many times recall counts as much as precision.
        lowercase: Whether letter case matters not.

    Raises:
        ConfigError: An order or beta is no whole number, or too small.
        MissingExtraError: sacrebleu isn't installed.
    """
    options = {"char_order": char_order, "word_order": word_order, "beta": beta}
    for (name, given), least in zip(options.items(), (1, 0, 1), strict=True):
        _check_whole(f"chrf's {name}", given, least)
    metrics = needed("sacrebleu.metrics", extra="overlap", metric="chrf")
    text, references = _texts(response, expected)
    scorer = metrics.CHRF(**options, lowercase=lowercase)
    # What sacrebleu adds up for a corpus; its score object doesn't show it, and to ask
    # for both would count twice.
    counts = scorer._extract_corpus_statistics([text], [[one] for one in references])
    pool = _pool(f"chrf{beta}", counts[0])
    value = pooled(pool.form, [pool.counts]) or 0.0
    return CHRF.scored(value, "", _details(text, references, {}), pool)


@scored_by(TER)
def ter(
    response: Any,
    expected: Any,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Score:
    """Return the translation edit rate: edits a word of the reference. Less is better.

    0 is the same text; a reply much longer than its reference has more than 1.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or several: the fewest edits over
            their mean length.
        normalized: Whether punctuation is parted from words first.
        no_punct: Whether punctuation is taken away.
        asian_support: Whether CJK is compared by character; with the two before it.
        case_sensitive: Whether letter case matters.

    Raises:
        MissingExtraError: sacrebleu isn't installed.
    """
    metrics = needed("sacrebleu.metrics", extra="overlap", metric="ter")
    text, references = _texts(response, expected)
    check_length("ter", text, references, _TER_PAIRS)
    scorer = metrics.TER(
        normalized=normalized,
        no_punct=no_punct,
        asian_support=asian_support,
        case_sensitive=case_sensitive,
    )
    found = scorer.sentence_score(text, references)
    details = _details(text, references, {"edits": found.num_edits})
    pool = _pool("ratio", (found.num_edits, found.ref_length))
    return TER.scored(found.score / 100, "", details, pool)


def _texts(response: Any, expected: Any) -> tuple[str, list[str]]:
    references = references_of(expected)
    return text_of(response, references), list(references)


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        message = f"{name} is a whole number from {least} up, not {value!r}"
        raise ConfigError(message)


def _pool(form: str, counts: Sequence[float]) -> Pool:
    return Pool(form=form, counts=tuple(float(count) for count in counts))


def _details(
    text: str, references: list[str], more: dict[str, float]
) -> dict[str, Any]:
    expected = references[0] if len(references) == 1 else references
    return {"response": text, "expected": expected, **more}


def explain(score: Score) -> list[str]:
    """Return both texts, their difference, and what the number is made of."""
    lines = nearest_texts(score)
    details = score.details
    if details.get("brevity_penalty", 1) < 1:
        lines += labelled("short", f"brevity penalty {details['brevity_penalty']:.2f}")
    if "edits" in details:
        lines += labelled("edits", f"{details['edits']:g}")
    return lines
