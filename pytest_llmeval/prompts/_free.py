"""A template rendered with values of its caller, in place of a case's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.errors import TemplateError, UnscoredError, did_you_mean
from pytest_llmeval.prompts._jinja import MissingValue, PrintError
from pytest_llmeval.prompts._template import Template

__all__ = ["render_text"]


def render_text(template: Template, values: Mapping[str, Any]) -> str:
    """Return a template's text.

    Args:
        template: A template that is a text.
        values: Its variables.

    Raises:
        TemplateError: It uses a variable that is not there.
        UnscoredError: It prints one that is None: the row has no such thing.
    """
    from jinja2.exceptions import TemplateRuntimeError

    try:
        return str(template.compiled.render(values))
    except MissingValue as exc:
        if not exc.is_variable:
            message = (
                f"{template.filename}: {exc.owner!r:.60} has no {exc.name!r}; a text "
                f"prints whole, as it is"
            )
            raise TemplateError(message) from exc
        names = list(values)
        message = (
            f"{template.filename}: the variable {exc.name!r} is not there"
            f"{did_you_mean(exc.name, names)}; variables: {', '.join(names)}"
        )
        raise TemplateError(message) from exc
    except PrintError as exc:
        message = (
            f"{template.filename}: {exc}; leave it out where it is missing, "
            f"{{% if name is not none %}}...{{% endif %}}"
        )
        raise UnscoredError(message, cause="data") from exc
    except (TemplateRuntimeError, TypeError, ValueError, ArithmeticError) as exc:
        message = f"{template.filename}: rendering it raised {exc!r}"
        raise TemplateError(message) from exc
