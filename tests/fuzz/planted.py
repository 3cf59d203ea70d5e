"""Three bugs that fuzzers have to find before what they don't find means anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

__all__ = ["PLANTED", "Bug"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A part of a reader that is another one for a while."""

    module: str
    name: str
    instead: Callable[..., Any]
    shows_as: tuple[type[Exception], ...] = (AssertionError,)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Have the bug in the package."""
        with patch.object(import_module(self.module), self.name, self.instead):
            yield


#: By the kind in which it shows.
PLANTED: Mapping[str, Bug] = {
    # An exception of Python's: the values of a journal are not looked at.
    "journal": Bug(
        module="pytest_llmeval.store.runs",
        name="misfit",
        instead=lambda *_: None,
        shows_as=(AttributeError, KeyError, TypeError, ValueError),
    ),
    # A wrong pass: a field of a judge's object is weighed by Python's truth.
    "verdict": Bug(
        module="pytest_llmeval.judging._objects",
        name="_field_verdict",
        instead=lambda key, value, read_text: "PASS" if value else "FAIL",
    ),
    # A wrong pass: a number's sign is lost.
    "number": Bug(
        module="pytest_llmeval.metrics._number",
        name="_is_equal",
        instead=lambda left, right, bar: abs(left.value or 0) == abs(right.value or 0),
    ),
}
