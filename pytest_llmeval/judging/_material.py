"""What a judge's template is rendered with: fenced texts under their names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pytest_llmeval.errors import TemplateError
from pytest_llmeval.judging._fence import (
    Fenced,
    are_whole,
    fence_token,
    texts_in,
    wrapped,
)
from pytest_llmeval.prompts import Template, render_text
from pytest_llmeval.types import Prompt

__all__ = ["default_template", "judge_prompt"]


@cache
def default_template(name: str) -> Template:
    """Return one of the package's templates; compiled once, and not for every reply."""
    text = files("pytest_llmeval.judging").joinpath(f"templates/{name}.j2")
    return Template(text=text.read_text("utf-8"), name=f"{name}.j2")


def judge_prompt(
    template: Template,
    material: Mapping[str, tuple[str | None, tuple[str, ...]]],
    *,
    plain: Mapping[str, Any],
    inputs: Mapping[str, Any] | None,
) -> Prompt:
    """Return the prompt for a judge.

    Args:
        template: Ours or a user's.
        material: Texts from elsewhere by what they are called on their fence; each
            with the variables that give it. None stays None, so that
            ``{% if src is not none %}`` works.
        plain: Variables of the test's author, which need no fence (rubric, labels).
        inputs: Further variables of the caller; every text in them is fenced.

    Raises:
        TemplateError: The template uses a variable there is not, or cuts a text that
            is fenced, or a name of `inputs` is taken.
    """
    if template.text is None:
        message = "a judge's template is a text or a file, and not a callable"
        raise TemplateError(message)
    extra = dict(inputs or {})
    texts = [text for text, _ in material.values() if text is not None]
    token = fence_token(template.text, [*texts, *texts_in(extra)])
    values: dict[str, Any] = dict(plain)
    for name, (text, variables) in material.items():
        shown = None if text is None else Fenced(name, text, token)
        values.update(dict.fromkeys(variables, shown))
    for name, value in extra.items():
        if name in values:
            message = (
                f"inputs has {name!r}, which is a variable of the template already"
            )
            raise TemplateError(message)
        values[name] = wrapped(name, value, token)
    rendered = render_text(template, values)
    if not are_whole(rendered, token, [*material, *extra]):
        message = (
            f"{template.filename} changes a text that is judged, or the marker lines "
            f"around it: print it as it is, {{{{ gen_output }}}}, without a filter"
        )
        raise TemplateError(message)
    return Prompt.of(rendered)
