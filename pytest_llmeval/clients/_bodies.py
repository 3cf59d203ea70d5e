"""The body that a URL is sent: templates filled with the request.

A text is one template, whose result is JSON; in a mapping every text is a template of
its own, and what is no text is sent as it is. They know ``prompt`` (the whole prompt's
text), ``system``, ``user`` (the last message of the user), ``messages``, ``case`` (id,
input and the columns of the row), ``params`` and ``sample``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._turns import SYSTEM_ROLES
from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.prompts import MissingValue, PrintError, Template
from pytest_llmeval.types import Case, clean_json

__all__ = ["Body"]

_OF_PROMPT: Final = ("prompt", "system", "user", "messages")
_NAMES: Final = (*_OF_PROMPT, "case", "params", "sample")


class Body:
    """The body of an entry, its templates compiled.

    Args:
        name: The entry's name, for error texts.
        source: A template's text or path, a mapping, or None: the prompt's text as
            ``prompt``, beside the parameters.
        root: Root directory of the suite, in which a template's file lies.

    Raises:
        ConfigError: A template names a variable that there is not.
        TemplateError: One is not Jinja, or its file can't be read.
    """

    def __init__(self, name: str, source: Any, *, root: Path) -> None:
        self._name = name
        self._tree = _compiled(source, root)
        for template in _templates(self._tree):
            self._check(template)

    @property
    def takes_prompt(self) -> bool:
        """Whether any of the prompt is sent."""
        names = {name for t in _templates(self._tree) for name in t.names}
        return self._tree is None or not names.isdisjoint(_OF_PROMPT)

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters that would not be sent.

        Raises:
            ConfigError: There are some, and no template takes them.
        """
        names = {name for t in _templates(self._tree) for name in t.names}
        if params and self._tree is not None and "params" not in names:
            first = next(iter(params))
            message = (
                f"{self._name!r}: its body takes no parameters, and {first!r} is one: "
                f"write {{{{ params.{first} }}}} where it belongs"
            )
            raise ConfigError(message)

    def filled(self, request: Request) -> Any:
        """Return the body of a request, as JSON values.

        Raises:
            UnscoredError: A template can't be filled from this row.
            ConfigError: What a template's text became is not JSON, or a parameter
                would not be sent.
        """
        self.check_params(
            {k: v for k, v in request.params.items() if k not in request.optional}
        )
        if self._tree is None:
            return {"prompt": request.prompt.text, **request.params}
        values = _values(request)
        if not isinstance(self._tree, Template):
            return self._walked(self._tree, values)
        text = self._text(self._tree, values)
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as exc:
            message = (
                f"{self._name}: its body is not JSON once it is filled ({exc}); put "
                f"values in with a filter, {{{{ prompt | tojson }}}}, or write a "
                f"mapping; it is {text[:200]!r}"
            )
            raise ConfigError(message) from exc

    def _check(self, template: Template) -> None:
        for name in sorted(template.names - set(_NAMES)):
            hint = did_you_mean(name, _NAMES)
            message = (
                f"{self._name!r}: its body uses the variable {name!r}{hint}; there "
                f"are: {', '.join(_NAMES)}; a column is {{{{ case.{name} }}}}"
            )
            raise ConfigError(message)

    def _walked(self, value: Any, values: Mapping[str, Any]) -> Any:
        if isinstance(value, Template):
            return self._text(value, values)
        if isinstance(value, dict):
            return {key: self._walked(item, values) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walked(item, values) for item in value]
        return value

    def _text(self, template: Template, values: Mapping[str, Any]) -> str:
        try:
            return str(template.compiled.render(values))
        except MissingValue as exc:
            columns = ", ".join(values["case"]) or "none: no case runs"
            message = (
                f"{self._name}: its body uses {exc.name!r}, which is not there; "
                f"columns of the case: {columns}"
            )
            raise UnscoredError(message, cause="data") from exc
        except PrintError as exc:
            message = f"{self._name}: its body: {exc}"
            raise UnscoredError(message, cause="data") from exc
        except Exception as exc:
            # A template's own operators and filters may raise anything.
            message = f"{self._name}: filling its body raised {exc!r}"
            raise UnscoredError(message, cause="suite") from exc


def _compiled(source: Any, root: Path) -> Any:
    """Return a body with templates in place of its texts."""
    if isinstance(source, str):
        return Template.of(source, base=root, root=root)
    return _texts_compiled(source)


def _texts_compiled(value: Any) -> Any:
    if isinstance(value, str):
        return Template(text=value)
    if isinstance(value, Mapping):
        return {str(key): _texts_compiled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts_compiled(item) for item in value]
    return value


def _templates(value: Any) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    items = value.values() if isinstance(value, dict) else value
    for item in items if isinstance(value, dict | list) else ():
        yield from _templates(item)


def _values(request: Request) -> dict[str, Any]:
    messages = request.prompt.messages
    system = [m.content for m in messages if m.role in SYSTEM_ROLES]
    user = [m.content for m in messages if m.role == "user"]
    return {
        "prompt": request.prompt.text,
        "system": system[0] if system else "",
        "user": user[-1] if user else "",
        "messages": request.prompt.to_json(),
        "case": _columns(request.case),
        "params": clean_json(request.params),
        "sample": request.sample,
    }


def _columns(case: Case | None) -> dict[str, Any]:
    if case is None:
        return {}
    return {"id": case.id, "input": case.input, **case.fields}
