"""lm-evaluation-harness's Jinja: values print as Python's texts, in a sandbox."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Mapping
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


def _expression(text: str) -> Any:
    """Return what evaluates a template that is one expression, None for others."""
    from jinja2 import nodes
    from jinja2.environment import TemplateExpression

    body = _environment().parse(text).body
    if len(body) != 1 or not isinstance(body[0], nodes.Output):
        return None
    found = body[0].nodes
    if len(found) != 1 or isinstance(found[0], nodes.TemplateData):
        return None
    result = nodes.Assign(nodes.Name("result", "store"), found[0], lineno=1)
    template = _environment().from_string(nodes.Template([result], lineno=1))
    return TemplateExpression(template, undefined_to_none=False)


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
            with warnings.catch_warnings():
                # Of '\\s' in a text of the template's: it means what it looks like.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._compiled = _environment().from_string(text)
                self._expression = _expression(text)
        except (JinjaError, RecursionError, ValueError, SyntaxError) as exc:
            message = f"{text!r:.80} is not a Jinja template: {exc}"
            raise TemplateError(message) from exc

    def rendered(self, row: Mapping[str, Any]) -> str:
        """Return the text for a row.

        Raises:
            TemplateError: A column is not there, or rendering fails.
        """
        return str(self._tried(self._compiled.render, row))

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return what a template that is a single ``{{ … }}`` stands for, else None.

        Raises:
            TemplateError: A column is not there, or rendering fails.
        """
        if self._expression is None:
            return None
        return self._tried(self._expression, row)

    def _tried(self, make: Callable[..., Any], row: Mapping[str, Any]) -> Any:
        from jinja2 import UndefinedError

        try:
            return make(**row)
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
