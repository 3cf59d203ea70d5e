"""A template: where it came from, its text, compiled once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final, Self

from pytest_llmeval.config.files import inside, read_text, shown_path
from pytest_llmeval.errors import TemplateError
from pytest_llmeval.prompts._jinja import compile_template, environment
from pytest_llmeval.types import Case

__all__ = ["Template"]

_SUFFIXES: Final = (".j2", ".jinja2", ".txt", ".md")
_JINJA: Final = re.compile(r"\{\{|\{%|\{#")
_BRACES: Final = re.compile(
    r"(?<!\{)\{\s*([^\W\d]\w*)(?:[.\[!][^{}]*|:(?!\s)[^{}]*|\s*)\}(?!\})"
)


class Template:
    """A prompt's template: a Jinja text, or a callable that builds the prompt.

    Args:
        text: The Jinja source; None where a callable builds the prompt.
        call: The callable; it gets the case.
        name: The file, or the callable's name; None for a text in code.
    """

    def __init__(
        self,
        *,
        text: str | None = None,
        call: Callable[[Case], Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.text = text
        self.call = call
        self.name = name

    @classmethod
    def of(
        cls, source: Any, *, base: Path | None = None, root: Path | None = None
    ) -> Self:
        """Return the template of what a user gives as a prompt.

        Args:
            source: A text; a path ending in .j2, .jinja2, .txt or .md; a callable
                ``(case)`` that returns text, messages or a Prompt; a Template.
            base: Where a relative path begins, by default the current directory.
            root: Where a file must lie, None for no limit.

        Raises:
            TemplateError: The file can't be read, the text isn't Jinja, or it is none
                of these.
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, PurePath) or (
            isinstance(source, str) and _is_path(source)
        ):
            return cls._of_file(Path(source), base or Path(), root)
        if isinstance(source, str):
            template = cls(text=source)
        elif callable(source):
            name = getattr(source, "__qualname__", type(source).__name__)
            return cls(call=source, name=name)
        else:
            message = (
                f"a prompt is a text, a path ending in {', '.join(_SUFFIXES)}, or a "
                f"callable, not {source!r}"
            )
            raise TemplateError(message)
        _ = template.compiled
        return template

    @classmethod
    def _of_file(cls, path: Path, base: Path, root: Path | None) -> Self:
        given = path.as_posix()
        target = inside(base / path, root, shown=given, error=TemplateError)
        shown = given if root is None else shown_path(target, root)
        text = read_text(target, shown=shown, error=TemplateError)
        template = cls(text=text, name=shown)
        _ = template.compiled
        return template

    @property
    def filename(self) -> str:
        """The name in tracebacks and error texts."""
        return self.name or "the prompt"

    @cached_property
    def compiled(self) -> Any:
        """The compiled Jinja template.

        Raises:
            TemplateError: The text isn't Jinja; the error has file and line.
        """
        from jinja2 import TemplateError as JinjaError
        from jinja2 import TemplateSyntaxError

        try:
            return compile_template(self.text or "", self.filename)
        except TemplateSyntaxError as exc:
            message = (
                f"{self.filename}:{exc.lineno}: not a Jinja template: {exc.message}"
            )
            raise TemplateError(message) from exc
        except (JinjaError, RecursionError, ValueError, SyntaxError) as exc:
            # Python's own limits: digits of a number, blocks within blocks.
            message = f"{self.filename}: not a Jinja template: {exc}"
            raise TemplateError(message) from exc

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables that the text takes from outside; none of a callable."""
        from jinja2 import meta

        _ = self.compiled  # a text that isn't Jinja is told
        jinja = environment()
        found = meta.find_undeclared_variables(jinja.parse(self.text or ""))
        return frozenset(map(str, found - jinja.globals.keys()))

    @cached_property
    def braced(self) -> tuple[str, ...]:
        """Names in single braces, in a text without anything of Jinja."""
        if self.text is None or _JINJA.search(self.text):
            return ()
        return tuple(dict.fromkeys(_BRACES.findall(self.text)))

    def __repr__(self) -> str:
        text = self.text or ""
        shown = self.name or repr(text if len(text) <= 60 else text[:57] + "...")
        return f"<Template {shown}>"


def _is_path(source: str) -> bool:
    """Return whether a text is meant as a path: its suffix says so."""
    is_line = "\n" not in source and not _JINJA.search(source)
    return is_line and source.rstrip().lower().endswith(_SUFFIXES)
