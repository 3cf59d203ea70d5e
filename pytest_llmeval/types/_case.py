"""A dataset row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a case stands: a file, relative to the root directory, and its line."""

    file: str
    line: int
    """1-based."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Case:
    """One row of a dataset.

    ``input`` is any JSON value (text or chat messages, mostly); ``expected`` text, a
    number, an object, or a list of acceptable ones; ``fields`` all columns as they
    were, also by ``case["name"]``.
    """

    id: str
    is_numbered: bool = False
    """The id is the number of the row, which names none."""
    input: Any = None
    expected: Any = None
    context: Any = None
    choices: tuple[Any, ...] | None = None
    label: Any = None
    labels: tuple[Any, ...] | None = None
    better: Any = None
    rejected: Any = None
    tags: tuple[str, ...] = ()
    skip: str | None = None
    """Reason, when the row asks to be skipped."""
    xfail: str | None = None
    """Reason, when a failing check is expected."""
    must_pass: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None

    def __getitem__(self, name: str) -> Any:
        __tracebackhide__ = True
        try:
            return self.fields[name]
        except KeyError:
            columns = ", ".join(map(str, self.fields)) or "none"
            message = f"case {self.id!r} has no column {name!r}; columns: {columns}"
            raise KeyError(message) from None

    if not TYPE_CHECKING:  # to a type checker there is nothing but the fields

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            message = f"a Case has no {name!r}"
            # While it is copied it has no fields yet.
            if name != "fields" and name in self.fields:
                message += f": its column is case[{name!r}]"
            raise AttributeError(message, name=name, obj=self)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        place = f" {self.source}" if self.source else ""
        return f"<Case {self.id!r}{place}>"
