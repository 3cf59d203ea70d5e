"""Differences between values as lines of text, without colours.

Everything that comes out is inert: model text can't move a terminal's cursor, turn the
direction of the line or break a file's encoding. Generators take a budget of lines.
"""

from __future__ import annotations

from pytest_llmeval.diffs._json import json_diff, list_diff
from pytest_llmeval.diffs._text import WIDTH, columns, cut, printable, within, wrap
from pytest_llmeval.diffs._words import word_diff

__all__ = [
    "WIDTH",
    "columns",
    "cut",
    "json_diff",
    "list_diff",
    "printable",
    "within",
    "word_diff",
    "wrap",
]
