"""A template and a case become a prompt."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_llmeval.datasets import json_text
from pytest_llmeval.errors import TemplateError, UnscoredError, did_you_mean
from pytest_llmeval.prompts._jinja import MissingValue, PrintError
from pytest_llmeval.prompts._template import Template
from pytest_llmeval.prompts._variables import variables
from pytest_llmeval.types import Case, Message, Prompt, as_text

__all__ = ["render", "template_check"]


def render(template: Template | None, case: Case, *, system: Any = None) -> Prompt:
    """Return the prompt of a case.

    Args:
        template: The template; without one the case's input is the prompt: a text, chat
            messages, else its JSON.
        case: The case.
        system: A template (or what `Template.of` takes) of the system message.

    Raises:
        UnscoredError: The row lacks what the template uses (cause data), or the
            template or callable failed on it (cause suite).
        TemplateError: The template can't be used with any row.
    """
    if template is None:
        prompt = _input_prompt(case)
    elif template.call is not None:
        prompt = _as_prompt(_called(template, case), template)
    else:
        prompt = Prompt.of(_text(template, case))
    if system is None:
        return prompt
    text = _system_text(Template.of(system), case)
    if not text.strip():
        return prompt
    return Prompt(messages=(Message(role="system", content=text), *prompt.messages))


def template_check(template: Template, case: Case, *others: Case) -> None:
    """Find mistakes of a template before anything is asked.

    Only what holds for every row given is a mistake of the template; what one row lacks
    leaves that row unscored when it runs. Callables are not called.

    Args:
        template: The template.
        case: The dataset's first row.
        *others: Further rows.

    Raises:
        TemplateError: It names a variable that no row has, or can't be rendered.
    """
    if template.call is not None:
        return
    _check_braces(template, case)
    try:
        template.compiled.render(variables(case))
    except MissingValue as exc:
        if exc.is_variable and not any(exc.name in variables(o) for o in others):
            raise TemplateError(_missing_text(exc, template, case)) from exc
    except PrintError:
        # A null, or a value that prints as nothing: of this row, perhaps.
        return
    except Exception as exc:
        if _is_security(exc):
            raise TemplateError(_failed_text(exc, template, case)) from exc


def _is_security(exc: Exception) -> bool:
    from jinja2.exceptions import SecurityError

    return isinstance(exc, SecurityError)


def _text(template: Template, case: Case) -> str:
    _check_braces(template, case)
    try:
        return str(template.compiled.render(variables(case)))
    except MissingValue as exc:
        text = _missing_text(exc, template, case)
        raise UnscoredError(text, cause="data") from exc
    except PrintError as exc:
        text = f"{_place(exc, template)}{_of_case(case)}: {exc}"
        raise UnscoredError(text, cause="data") from exc
    except Exception as exc:
        # A template's own operators and filters may raise anything.
        text = _failed_text(exc, template, case)
        raise UnscoredError(text, cause="suite") from exc


def _check_braces(template: Template, case: Case) -> None:
    if not template.braced:
        return
    known = variables(case)
    for name in template.braced:
        if name in known:
            message = (
                f"{template.filename} says {{{name}}} in single braces, which is sent "
                f"as it stands: write {{{{ {name} }}}}"
            )
            raise TemplateError(message)


def _missing_text(exc: MissingValue, template: Template, case: Case) -> str:
    place = f"{_place(exc, template)}{_of_case(case)}"
    if not exc.is_variable:
        return f"{place}: {_missing_part(exc)}"
    names = list(map(str, case.fields))
    known = [name for name in variables(case) if name != "case"]
    return (
        f"{place}: the variable {exc.name!r} is not there"
        f"{did_you_mean(exc.name, known)}; columns: {', '.join(names) or 'none'}; an "
        f"optional one is written {{{{ {exc.name} | default('') }}}}"
    )


def _missing_part(exc: MissingValue) -> str:
    if isinstance(exc.owner, Mapping):
        keys = list(map(str, exc.owner))
        hint = f"{did_you_mean(exc.name, keys)}; keys: {', '.join(keys) or 'none'}"
    elif isinstance(exc.owner, Case):
        keys = list(map(str, exc.owner.fields))
        hint = f"{did_you_mean(exc.name, keys)}; columns: {', '.join(keys) or 'none'}"
    else:
        hint = ""
    return f"{_short(exc.owner)} has no {exc.name!r}{hint}"


def _failed_text(exc: Exception, template: Template, case: Case) -> str:
    return (
        f"{_place(exc, template)}{_of_case(case)}: the template raised "
        f"{type(exc).__name__}: {exc}"
    )


def _place(exc: Exception, template: Template) -> str:
    """Return the template and the line an exception came from."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(exc.__traceback__)
        if frame.filename == template.filename
    ]
    return f"{template.filename}:{lines[-1]}" if lines else template.filename


def _of_case(case: Case) -> str:
    source = f" ({case.source})" if case.source else ""
    return f", case {case.id!r}{source}"


def _system_text(template: Template, case: Case) -> str:
    if template.call is None:
        return _text(template, case)
    value = _called(template, case)
    if not isinstance(value, str):
        message = f"the system prompt's {template.filename} returned {_short(value)}"
        raise UnscoredError(f"{message}, not text", cause="suite")
    return value


def _called(template: Template, case: Case) -> Any:
    assert template.call is not None
    try:
        return template.call(case)
    except UnscoredError:
        raise
    except Exception as exc:
        message = (
            f"the prompt's function {template.filename} raised {type(exc).__name__} "
            f"for case {case.id!r}: {exc}"
        )
        raise UnscoredError(message, cause="suite") from exc


def _as_prompt(value: Any, template: Template) -> Prompt:
    if isinstance(value, Prompt):
        return value
    if isinstance(value, str):
        return Prompt.of(value)
    if isinstance(value, list | tuple) and _are_messages(value):
        return _messages_prompt(value)
    returned = f"returned {_short(value)}"
    if hasattr(value, "send") and hasattr(value, "close"):
        value.close()
        returned = "is async or a generator: give a plain function"
    message = (
        f"the prompt's function {template.filename} {returned}, and a prompt is a "
        f"text, a list of messages with role and content, or a Prompt"
    )
    raise UnscoredError(message, cause="suite")


def _input_prompt(case: Case) -> Prompt:
    value = case.input
    if value is None:
        columns = ", ".join(map(str, case.fields))
        message = f"case {case.id!r} has no input to send "
        if columns:
            message += (
                f"(columns: {columns}): give the test a prompt, or map one, "
                f"columns={{'input': '...'}}"
            )
        else:
            message += (
                "(and no columns): give the test a dataset, "
                "@pytest.mark.llmeval('data.jsonl'), or ask generator('a text')"
            )
        raise UnscoredError(message, cause="data")
    if isinstance(value, list | tuple) and _are_messages(value):
        return _messages_prompt(value)
    if isinstance(value, Mapping | list | tuple):
        return Prompt.of(json_text(value))
    return Prompt.of(as_text(value))


def _are_messages(value: Iterable[Any]) -> bool:
    items = list(value)
    return bool(items) and all(
        isinstance(item, Message)
        or (
            isinstance(item, Mapping)
            and isinstance(item.get("role"), str)
            and ("content" in item or "tool_calls" in item)
        )
        for item in items
    )


def _messages_prompt(value: Iterable[Any]) -> Prompt:
    messages = []
    for item in value:
        if isinstance(item, Message):
            messages.append(item)
        else:
            given = {"content": None, **item}
            messages.extend(Prompt.from_json([given]).messages)
    return Prompt(messages=tuple(messages))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
