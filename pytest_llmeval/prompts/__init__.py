"""Prompts: a template and a case become the messages that are sent.

Jinja in a sandbox. A variable no column fills is an error, data is never rendered as
a template, and values print as a model should read them: true, null-free, JSON, numbers
as they were written.
"""

from __future__ import annotations

from pytest_llmeval.prompts._free import render_text
from pytest_llmeval.prompts._jinja import MissingValue, PrintError
from pytest_llmeval.prompts._render import render, template_check
from pytest_llmeval.prompts._template import Template

__all__ = [
    "MissingValue",
    "PrintError",
    "Template",
    "render",
    "render_text",
    "template_check",
]
