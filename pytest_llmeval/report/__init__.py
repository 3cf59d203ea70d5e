"""What a run came to: a model of plain values, and its renderers."""

from __future__ import annotations
