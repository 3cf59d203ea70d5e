"""lm-evaluation-harness's Jinja: values print as Python's texts, in a sandbox."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from pytest_llmeval.errors import TemplateError, did_you_mean

__all__ = ["JinjaText"]


@functools.cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # No autoescape: what a model reads is no HTML.
    made = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    made.filters["regex_replace"] = _regex_replace
    return made


def _regex_replace(text: str, pattern: str, repl: str, count: int = 0) -> str:
    return re.sub(pattern, repl, text, count=count)


class JinjaText:
    """A template of a task file.

    Args:
        text: Its source.

    Raises:
        TemplateError: It isn't Jinja.
    """

    def __init__(self, text: str) -> None:
        from jinja2 import TemplateError as JinjaError

        self._text = text
        try:
            self._compiled = _environment().from_string(text)
        except JinjaError as exc:
            message = f"{text!r:.80} is not a Jinja template: {exc}"
            raise TemplateError(message) from exc

    def rendered(self, row: Mapping[str, Any]) -> str:
        """Return the text for a row.

        Raises:
            TemplateError: A column is not there, or rendering fails.
        """
        from jinja2 import UndefinedError

        try:
            return str(self._compiled.render(**row))
        except UndefinedError as exc:
            found = re.match(r"'(\w+)' is undefined", str(exc))
            hint = did_you_mean(found[1], row) if found else ""
            message = (
                f"{self._text!r:.80}: {exc}{hint}; columns: {', '.join(map(str, row))}"
            )
            raise TemplateError(message) from exc
        except Exception as exc:
            # Whatever a template's expression raises: a method, a filter, the sandbox.
            message = f"{self._text!r:.80}: rendering it raised {exc!r}"
            raise TemplateError(message) from exc
