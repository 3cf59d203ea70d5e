"""BERTScore (extra ``bertscore``), and BLEURT, which can't be had.

bert-score brings torch and fetches its model's weights when it is first used; nothing
of ours does, so it is the only metric that may open a connection.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._explain import generic, labelled
from pytest_llmeval.metrics._extras import needed
from pytest_llmeval.metrics._texts import references_of, text_of
from pytest_llmeval.types import Score

__all__ = ["BERTSCORE", "BLEURT", "bertscore", "bleurt", "explain"]

#: Rescaled with a baseline, a value can be below 0.
BERTSCORE: Final = Declaration(
    name="bertscore", low=-1.0, extra="bertscore", module="bert_score"
)
BLEURT: Final = Declaration(name="bleurt")

_FIELDS: Final = ("f1", "precision", "recall")


@scored_by(BERTSCORE)
def bertscore(
    response: Any,
    expected: Any,
    *,
    model: str = "distilbert-base-uncased",
    field: str = "f1",
    rescale_with_baseline: bool = False,
) -> Score:
    """Return the BERTScore of the reply: how well the vectors of its words match.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or several, the best of which counts.
        model: The name of a model of transformers, fetched when it isn't there.
        field: ``f1``, ``precision`` or ``recall``.
        rescale_with_baseline: Whether unrelated texts are near 0, as bert-score does it
            for English and the models it has baselines of.

    Raises:
        ConfigError: There is no such field.
        MissingExtraError: bert-score isn't installed.
    """
    one_of("field", field, _FIELDS, "bertscore")
    needed("bert_score", extra="bertscore", metric="bertscore")
    references = references_of(expected)
    text = text_of(response, references)
    scorer = _scorer(model, rescale_with_baseline)
    found = [_parts(scorer.score([text], [reference])) for reference in references]
    best = max(range(len(found)), key=lambda place: found[place]["f1"])
    details = {"response": text, "expected": references[best], **found[best]}
    value = max(-1.0, min(1.0, found[best][field]))
    return BERTSCORE.scored(value, "", details)


def _parts(answer: Any) -> dict[str, float]:
    precision, recall, f1 = (float(column[0]) for column in answer)
    return {"precision": precision, "recall": recall, "f1": f1}


@cache
def _scorer(model: str, rescale_with_baseline: bool) -> Any:
    from bert_score import BERTScorer

    try:
        return BERTScorer(
            model_type=model, lang="en", rescale_with_baseline=rescale_with_baseline
        )
    except OSError as exc:  # transformers: no such model, or no network to fetch it
        message = f"bertscore's model {model!r} can't be had: {exc}"
        raise UnscoredError(message.partition("\n")[0], cause="suite") from None


@scored_by(BLEURT)
def bleurt(response: Any, expected: Any) -> Score:
    """Return no value: BLEURT's package is on no index, and its weights in no package."""
    message = (
        "bleurt is not available: its code and checkpoint are on no package index; "
        "bertscore (extra 'bertscore') and similarity (extra 'similarity') are near to it"
    )
    raise UnscoredError(message, cause="suite")


def explain(score: Score) -> list[str]:
    """Return both texts, precision and recall."""
    details = score.details
    shown = f"{details['precision']:.2f}, recall {details['recall']:.2f}"
    return [*generic(score), *labelled("precision", shown)]
