"""YAML as JSON would have it: safe, with lines, and every scalar as it was written.

Only JSON's own words mean something without quotes: ``true``, ``false``, ``null`` and
JSON's numbers. ``no``, ``on``, ``007``, ``1_000``, ``12:30`` and ``2020-01-01`` are the
texts they look like. Nothing is ever constructed but texts, numbers, lists and dicts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_llmeval.errors import UserError
from pytest_llmeval.types import WrittenFloat

__all__ = ["YamlFile", "written_number"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_PREFIX = "tag:yaml.org,2002:"
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
#: YAML 1.1 ends lines at these; JSON, YAML 1.2 and people don't.
_NO_LINE_ENDS = "\x85\u2028\u2029"
_PRIVATE_USE = range(0xE000, 0xF8FF)

#: What helps, by PyYAML's words for what it met.
_HINTS = {
    "a block ": "keys of one mapping, or entries of one list, have one indentation",
    "cannot start any token": "indent by spaces, and put other signs in quotes",
    "mapping values are not allowed": "a text with ': ' in it stands in quotes",
}
#: Values that aliases may add to a file, besides one for each of its characters.
_ALIASED_VALUES = 100_000
#: int() refuses longer ones, and no language model will mind.
_LONGEST_INT = 4000


def written_number(text: str) -> int | WrittenFloat:
    """Return a JSON number, printing as it was written."""
    if text == "-0" or len(text) > _LONGEST_INT or not text.lstrip("-").isdigit():
        return WrittenFloat(text)
    return int(text)


class YamlFile:
    """One YAML document: its nodes, their values and lines.

    Args:
        text: The document.
        shown: The file's name in error texts.
        error: What to raise.
        words: Further words that mean something without quotes.
        tags: What to make of the text of a scalar that has one of these tags.

    Raises:
        UserError: It isn't YAML.
    """

    def __init__(
        self,
        text: str,
        *,
        shown: str,
        error: type[UserError],
        words: Mapping[str, Any] | None = None,
        tags: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> None:
        self.shown = shown
        self._error = error
        self._words = words or {}
        self._tags = tags or {}
        self._back: dict[int, str] = {}
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._budget = _ALIASED_VALUES + len(text)
        self.root = self._compose(self._guarded(text))

    def line(self, node: Any) -> int:
        """Return the line a node starts in, counted from 1."""
        return int(node.start_mark.line) + 1

    def fail(self, line: int, message: str) -> UserError:
        """Return the error to raise for something in `line`."""
        return self._error(f"{self.shown}:{line}: {message}")

    def items(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield a list's items as ``(node, value)``."""
        for item in node.value:
            yield item, self.value(item)

    def key_lines(self) -> dict[tuple[str | int, ...], int]:
        """Return the line of everything in the document by its path of keys."""
        return dict(self._paths(self.root, ())) if self.root is not None else {}

    def value(self, node: Any) -> Any:
        """Return a node's value, aliases and merge keys expanded.

        Raises:
            UserError: A key stands twice, a tag is unknown, aliases expand to a
                bomb or to themselves.
        """
        self._count(node)
        kind = node.id
        if kind == "scalar":
            return self._scalar(node)
        key = id(node)
        if key in self._open:
            raise self.fail(self.line(node), "an alias holds itself")
        self._open.add(key)
        try:
            if kind == "sequence":
                self._check_tag(node, "seq")
                return [self.value(item) for item in node.value]
            self._check_tag(node, "map")
            return self._mapping(node)
        except RecursionError as exc:
            raise self.fail(self.line(node), "values are nested too deeply") from exc
        finally:
            self._open.discard(key)

    def _count(self, node: Any) -> None:
        """Spend the budget of aliases: each value visited again is one of theirs."""
        if id(node) not in self._seen:
            self._seen.add(id(node))
            return
        self._budget -= 1
        if self._budget < 0:
            message = "aliases expand to far more values than the file holds"
            raise self.fail(self.line(node), message)

    def _mapping(self, node: Any) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _PREFIX + "merge":
                for name, value in self._merged(value_node).items():
                    merged.setdefault(name, value)
                continue
            name = self._key(key_node)
            if name in own:
                message = f"the key {name!r} stands twice in one mapping"
                raise self.fail(self.line(key_node), message)
            own[name] = self.value(value_node)
        return {**merged, **own} if merged else own

    def _merged(self, node: Any) -> dict[str, Any]:
        value = self.value(node)
        parts = value if isinstance(value, list) else [value]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, dict):
                message = f"<< merges a mapping or a list of mappings, not {part!r}"
                raise self.fail(self.line(node), message)
            for name, inner in part.items():
                merged.setdefault(name, inner)
        return merged

    def _key(self, node: Any) -> str:
        """Return a key as the text it was written as, numbers and words too."""
        if node.id != "scalar":
            raise self.fail(self.line(node), "a key is a text, not a list or mapping")
        return self._restored(node.value)

    def _scalar(self, node: Any) -> Any:
        tag, text = node.tag, node.value
        if tag in self._tags:
            return self._tags[tag](self._restored(text))
        if not node.style and tag == _PREFIX + "str" and text in self._words:
            return self._words[text]
        if tag == _PREFIX + "str" or tag == "!":
            return self._restored(text)
        if tag == _PREFIX + "float" and _NUMBER.match(text):
            return written_number(text)
        if tag in {_PREFIX + "bool", _PREFIX + "null"} and text in _WORDS:
            return _WORDS[text]
        if tag == _PREFIX + "int" and _NUMBER.match(text):
            return written_number(text)
        if tag == _PREFIX + "merge":
            return text
        shown = str(tag).replace(_PREFIX, "!!")
        message = (
            f"{text!r} can't have the tag {shown}: texts, numbers, true, false and "
            f"null are read, nothing is built from a data file"
        )
        raise self.fail(self.line(node), message)

    def _check_tag(self, node: Any, expected: str) -> None:
        if node.tag != _PREFIX + expected:
            shown = str(node.tag).replace(_PREFIX, "!!")
            message = f"the tag {shown} is not read: lists and mappings are plain"
            raise self.fail(self.line(node), message)

    def _paths(
        self, node: Any, path: tuple[str | int, ...]
    ) -> Iterator[tuple[tuple[str | int, ...], int]]:
        yield path, self.line(node)
        if node.id == "mapping":
            for key_node, value_node in node.value:
                here = (*path, str(key_node.value))
                yield from self._paths(value_node, here)
                # The key's own line, where people look: its value may begin below.
                yield here, self.line(key_node)
        elif node.id == "sequence":
            for index, item in enumerate(node.value):
                yield from self._paths(item, (*path, index))

    def _guarded(self, text: str) -> str:
        """Return the text with stand-ins for what YAML 1.1 would take for line ends."""
        for character in _NO_LINE_ENDS:
            if character in text:
                free = next(c for c in _PRIVATE_USE if chr(c) not in text)
                self._back[free] = character
                text = text.replace(character, chr(free))
        return text

    def _restored(self, text: str) -> str:
        return text.translate(self._back) if self._back else text

    def _compose(self, text: str) -> Any:
        import yaml

        try:
            return yaml.compose(text, Loader=_loader())
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            told = f"not valid YAML: {_told(exc)}"
            # At the end of a text the mark stands in the line after it.
            last = text.rstrip().count("\n")
            raise self.fail(min(mark.line, last) + 1 if mark else 1, told) from exc
        except yaml.reader.ReaderError as exc:
            line = _line_of_first(text, exc.character)
            message = f"not valid YAML: a control character ({exc.reason})"
            raise self.fail(line, message) from exc
        except RecursionError as exc:
            raise self.fail(1, "values are nested too deeply") from exc


def _told(exc: Any) -> str:
    """Return what PyYAML says of a mistake, where its part began, and what helps."""
    told = str(exc.problem or exc.context)
    begun = exc.context_mark
    if exc.context and exc.problem:
        is_before = begun is not None and begun.line < exc.problem_mark.line
        where = f", begun in line {begun.line + 1}" if is_before else ""
        told += f" ({exc.context}{where})"
    hints = [hint for sign, hint in _HINTS.items() if sign in told]
    return "; ".join([told, *hints])


def _line_of_first(text: str, character: Any) -> int:
    found = text.find(character if isinstance(character, str) else chr(character))
    return text.count("\n", 0, max(found, 0)) + 1


@functools.cache
def _loader() -> Any:
    """Return the safe loader that gives only JSON's words and numbers a meaning."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own form

    words = re.compile(r"true\Z|false\Z"), re.compile(r"null\Z|~\Z|\Z")
    Loader.add_implicit_resolver(_PREFIX + "bool", words[0], list("tf"))
    Loader.add_implicit_resolver(_PREFIX + "null", words[1], ["n", "~", ""])
    Loader.add_implicit_resolver(_PREFIX + "float", _NUMBER, list("-0123456789"))
    Loader.add_implicit_resolver(_PREFIX + "merge", re.compile(r"<<\Z"), ["<"])
    return Loader
