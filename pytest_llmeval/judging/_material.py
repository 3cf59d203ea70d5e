"""What a judge's template is rendered with: fenced texts under their names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from pytest_llmeval.errors import TemplateError
from pytest_llmeval.judging._fence import fence_token, fenced
from pytest_llmeval.prompts import Template, render_text
from pytest_llmeval.types import Prompt, as_text

__all__ = ["default_template", "judge_prompt"]


def default_template(name: str) -> Template:
    """Return one of the package's templates."""
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
        plain: Variables of our own making, which need no fence (rubric, token).
        inputs: Further variables of the caller; texts among them are fenced.

    Raises:
        TemplateError: The template uses a variable there is not, or a name of
            `inputs` is taken.
    """
    if template.text is None:
        message = "a judge's template is a text or a file, and not a callable"
        raise TemplateError(message)
    extra = {name: as_text(value) for name, value in (inputs or {}).items()}
    texts = [text for text, _ in material.values() if text is not None]
    token = fence_token(template.text, [*texts, *extra.values()])
    values: dict[str, Any] = {**plain, "fence": token}
    for name, (text, variables) in material.items():
        shown = None if text is None else fenced(name, text, token)
        values.update(dict.fromkeys(variables, shown))
    for name, text in extra.items():
        if name in values:
            message = (
                f"inputs has {name!r}, which is a variable of the template already"
            )
            raise TemplateError(message)
        values[name] = fenced(name, text, token)
    return Prompt.of(render_text(template, values))
