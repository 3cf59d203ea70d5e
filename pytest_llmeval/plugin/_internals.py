"""Every touch of what pytest does not promise, in one place.

Attributes are read with a default, so a pytest that moves them loses a convenience
and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_llmeval.redact import Redactor

__all__ = [
    "can_show",
    "given_paths",
    "is_of_subtest",
    "line_width",
    "own_fixtures_used",
    "parameter_marks",
    "parameters",
    "redact_report",
    "writer_of",
]


def own_fixtures_used(node: Any, names: Iterable[str], module: str) -> set[str]:
    """Return which fixtures of ours a test uses, not those a project has overridden.

    Args:
        node: A `pytest.Metafunc` or an item.
        names: The fixtures we define.
        module: The module that defines them.
    """
    used = set(names).intersection(getattr(node, "fixturenames", ()))
    if not used:
        return used
    known = getattr(node, "_arg2fixturedefs", None)
    if known is None:
        known = getattr(getattr(node, "_fixtureinfo", None), "name2fixturedefs", {})
    return {
        name
        for name in used
        if known.get(name)
        and getattr(known[name][-1].func, "__module__", module) == module
    }


def given_paths(config: pytest.Config) -> list[str]:
    """Return the files, folders and node ids of the command line, as they were typed."""
    known = set(getattr(config, "args", ()))
    return [str(a) for a in config.invocation_params.args if str(a) in known]


def parameters(item: pytest.Item) -> Mapping[str, Any]:
    """Return an item's parameters by name."""
    return getattr(getattr(item, "callspec", None), "params", {})


def parameter_marks(item: Any) -> list[pytest.Mark]:
    """Return the marks that came with an item's parameters."""
    return list(getattr(getattr(item, "callspec", None), "marks", ()))


def is_of_subtest(report: Any) -> bool:
    """Return whether a report is of a block of the `subtests` fixture (pytest 9)."""
    return hasattr(report, "context")


def writer_of(reporter: pytest.TerminalReporter) -> Any:
    """Return the writer that a report's own `toterminal` writes to."""
    return reporter._tw


def line_width(reporter: pytest.TerminalReporter) -> int:
    """Return the cells of a terminal line."""
    return int(getattr(writer_of(reporter), "fullwidth", 80))


def can_show(reporter: pytest.TerminalReporter, text: str) -> bool:
    """Return whether the terminal's encoding has these characters."""
    stream = getattr(writer_of(reporter), "_file", None)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def redact_report(report: pytest.TestReport, redactor: Redactor) -> None:
    """Take secrets out of all that pytest prints of a phase.

    A traceback shows source lines, messages, and with -l local variables; a captured
    output shows what the code under test printed.
    """
    if redactor.is_idle:
        return
    _redact(report.longrepr, redactor, seen=set())
    report.sections[:] = [
        (redactor.text(name), redactor.text(text)) for name, text in report.sections
    ]
    if isinstance(report.longrepr, str):
        report.longrepr = redactor.text(report.longrepr)


def _redact(value: Any, redactor: Redactor, *, seen: set[int]) -> Any:
    """Return `value` without secrets; objects of pytest's are changed in place."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, list | tuple):
        return type(value)(_redact(item, redactor, seen=seen) for item in value)
    if id(value) not in seen and hasattr(value, "__dict__"):
        seen.add(id(value))
        for name, inner in vars(value).items():
            setattr(value, name, _redact(inner, redactor, seen=seen))
    return value
