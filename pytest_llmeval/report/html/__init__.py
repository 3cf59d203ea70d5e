"""The report as one HTML file that asks nothing of anybody."""

from __future__ import annotations

from pytest_llmeval.report.html._page import html_pieces

__all__ = ["html_pieces"]
