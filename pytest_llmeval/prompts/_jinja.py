"""The sandbox: what a template may do, and how a value prints."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from pytest_llmeval.datasets import json_text

__all__ = ["MissingValue", "PrintError", "compile_template", "environment"]

#: Filters that turn what they get into text: it turns as it would print.
_TEXT_FILTERS: Final = frozenset(
    [
        "capitalize",
        "center",
        "e",
        "escape",
        "indent",
        "lower",
        "replace",
        "title",
        "trim",
        "truncate",
        "upper",
        "urlencode",
        "wordcount",
        "wordwrap",
        "string",
        "striptags",
    ]
)


class MissingValue(Exception):
    """A template used a name or key that isn't there.

    Args:
        name: The name.
        owner: What it was looked up in, None for a variable.
        is_variable: Whether it is a variable of the template.
    """

    def __init__(self, name: str, owner: Any, *, is_variable: bool) -> None:
        super().__init__(name)
        self.name = name
        self.owner = owner
        self.is_variable = is_variable


class PrintError(Exception):
    """A template printed a value that is no text for a model.

    Args:
        problem: What is wrong with it.
        name: The expression that printed it, where it is a plain one.
    """

    def __init__(self, problem: str, name: str = "") -> None:
        shown = f"{{{{ {name} }}}}" if name else "an expression"
        super().__init__(f"{shown} {problem}")


def compile_template(text: str, filename: str) -> Any:
    """Return a compiled template.

    Args:
        text: Its source.
        filename: Its name in tracebacks.

    Raises:
        jinja2.TemplateSyntaxError: It isn't Jinja, or loads another template.
    """
    from jinja2 import Template, TemplateSyntaxError, nodes

    jinja = environment()
    tree = jinja.parse(text)
    foreign = (nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)
    for node in tree.find_all(foreign):
        kind = type(node).__name__.lower().replace("fromimport", "from … import")
        message = f"{{% {kind} %}} is not there: a prompt is one file"
        raise TemplateSyntaxError(message, node.lineno)
    for output in tree.find_all(nodes.Output):
        output.nodes = [_as_printed(child) for child in output.nodes]
    for concat in tree.find_all(nodes.Concat):
        concat.nodes = [_as_printed(child) for child in concat.nodes]
    for used in list(tree.find_all(nodes.Filter)):
        if used.node is not None and used.name in _TEXT_FILTERS:
            used.node = _as_printed(used.node)
    code = jinja.compile(tree, filename=filename)
    return Template.from_code(jinja, code, jinja.make_globals(None))


def _as_printed(node: Any) -> Any:
    """Return an expression whose value becomes text as `_printed` has it."""
    from jinja2 import nodes

    if isinstance(node, nodes.TemplateData):
        return node
    name = [nodes.Const(_name_of(node))]
    return nodes.Filter(node, "printed", name, [], None, None, lineno=node.lineno)


def _name_of(node: Any) -> str:
    """Return a variable or what stands below one as it was written, else nothing."""
    from jinja2 import nodes

    if isinstance(node, nodes.Name):
        return str(node.name)
    if isinstance(node, nodes.Getattr) and (owner := _name_of(node.node)):
        return f"{owner}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        owner = _name_of(node.node)
        return f"{owner}[{node.arg.value!r}]" if owner else ""
    return ""


@functools.cache
def environment() -> Any:
    """Return the sandboxed environment all templates share; nothing changes it."""
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import missing

    class Missing(StrictUndefined):
        """Undefined that knows what was asked for, for the error text."""

        def __init__(
            self,
            hint: str | None = None,
            obj: Any = missing,
            name: str | None = None,
            exc: Any = None,
        ) -> None:
            def make(message: str | None = None) -> Exception:
                if str(name).startswith("_") and exc is SecurityError:
                    return SecurityError(message)
                return MissingValue(
                    str(name), obj, is_variable=obj is missing and name is not None
                )

            super().__init__(hint, obj, name, make)  # type: ignore[arg-type]

    class Sandbox(ImmutableSandboxedEnvironment):
        """A sandbox in which a mapping's keys come before its methods."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, Mapping) and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

    sandbox = Sandbox(undefined=Missing, autoescape=False)
    sandbox.filters["printed"] = _printed
    sandbox.filters["join"] = _joined
    sandbox.filters["tojson"] = _json
    return sandbox


def _printed(value: Any, name: str = "") -> str:
    """Return a value as it stands in a prompt."""
    from jinja2 import Undefined

    if isinstance(value, str | Undefined):
        return str(value)
    if value is None:
        optional = f"{{{{ {name or 'name'} | default('', true) }}}}"
        raise PrintError(f"prints null: an optional value is written {optional}", name)
    if isinstance(value, bool | Mapping | list | tuple):
        try:
            return json_text(value)
        except ValueError as exc:
            raise PrintError(f"can't be written as JSON: {exc}", name) from exc
    is_number = isinstance(value, int | float)
    if callable(value) or not (is_number or _has_text(value)):
        hint = ": end it with | list" if hasattr(value, "__next__") else ""
        kind = type(value).__name__
        raise PrintError(f"prints a {kind}, no text for a model{hint}", name)
    return str(value)


def _has_text(value: Any) -> bool:
    """Return whether a value has a text of its own, not only Python's ``<...>``."""
    kind: Any = type(value)
    return kind.__str__ is not object.__str__ and not isinstance(value, bytes)


def _joined(values: Any, separator: str = "", attribute: Any = None) -> str:
    """Join values as they would print."""
    if attribute is not None:
        parts = str(attribute).split(".")
        sandbox = environment()
        values = [functools.reduce(sandbox.getitem, parts, item) for item in values]
    return str(separator).join(_printed(value) for value in values)


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON; Jinja's own filter writes signs of HTML as escapes."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        return str(value)
    if indent is None:
        return json_text(value)
    import json

    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
