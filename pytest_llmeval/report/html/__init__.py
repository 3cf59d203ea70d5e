"""The report as one HTML file that asks nothing of anybody."""

from __future__ import annotations

from pytest_llmeval.report.html._page import html_text

__all__ = ["html_text"]
