"""``on_length: score``: a model whose cut replies are scored as they are."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmeval.clients._layer import Layer

__all__ = ["CutAccepted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAccepted(Layer):
    """Says of a model that a reply at its token limit is a reply; changes nothing."""
