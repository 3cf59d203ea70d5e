"""Every touch of what pytest does not promise, in one place.

Attributes are read with a default, so a pytest that moves them loses a convenience
and breaks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_llmeval.redact import Redactor

__all__ = [
    "can_show",
    "clean_report",
    "fixture_names",
    "given_paths",
    "hands_out_work",
    "has_texts",
    "is_direct",
    "line_width",
    "name_crash",
    "own_fixtures_used",
    "parameter_indices",
    "parameter_marks",
    "parameters",
    "redact_report",
    "worker_queue",
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


def _callspec(item: Any) -> Any:
    """Return what says an item's parameters: pytest's of a function, ours of a task."""
    return getattr(item, "callspec", None) or getattr(item, "task_parameters", None)


def parameters(item: pytest.Item) -> Mapping[str, Any]:
    """Return an item's parameters by name."""
    return getattr(_callspec(item), "params", {})


def parameter_marks(item: Any) -> list[pytest.Mark]:
    """Return the marks that came with an item's parameters."""
    return list(getattr(_callspec(item), "marks", ()))


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


_Cleaning = Callable[[str], str]

#: What a terminal or xdist must not get: controls, but for line ends, tabs and colours;
#: marks that turn the direction of text, that end a line for some readers or that nobody
#: sees, but for the joiners of scripts and emoji; halves of surrogate pairs.
_UNSAFE = re.compile(
    "\x1b(?!\\[[0-9;]{0,20}m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def clean_report(report: pytest.TestReport, redactor: Redactor) -> None:
    """Make all that pytest prints of a phase inert, and take secrets out of it.

    A traceback shows messages, source lines, and with -l local variables: the text of
    models and of code under test. Colours stay, for pytest puts its own there.
    """
    from pytest_llmeval.types import clean_text

    def clean(text: str) -> str:
        return redactor.text(_UNSAFE.sub(_escaped, text))

    def clean_section(text: str) -> str:
        return redactor.text(clean_text(text))

    _clean(report, clean, clean_section)


def has_texts(report: Any) -> bool:
    """Return whether a report holds any text but those we put there: most have none."""
    return bool(
        report.sections
        or report.longrepr
        or hasattr(report, "wasxfail")
        or any(not name.startswith("llmeval_") for name, _ in report.user_properties)
    )


def redact_report(report: pytest.TestReport, redactor: Redactor) -> None:
    """Take secrets out of the report of a test that is no evaluation of ours."""
    _clean(report, redactor.text, redactor.text)


def _clean(report: Any, clean: _Cleaning, clean_section: _Cleaning) -> None:
    report.sections[:] = [(name, clean_section(text)) for name, text in report.sections]
    report.user_properties[:] = [
        (name, clean(value) if isinstance(value, str) else value)
        for name, value in report.user_properties
    ]
    if hasattr(report, "wasxfail"):
        report.wasxfail = clean(report.wasxfail)
    report.longrepr = _cleaned(report.longrepr, clean, seen=set())


def name_crash(report: pytest.TestReport, text: str) -> None:
    """Let pytest's short summary say `text` alone, without the exception's name."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and hasattr(crash, "message"):
        crash.message = text


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _cleaned(value: Any, clean: Callable[[str], str], *, seen: set[int]) -> Any:
    """Return `value` with clean texts; objects of pytest's are changed in place."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(item, clean, seen=seen) for item in value)
    if id(value) not in seen and hasattr(value, "__dict__"):
        seen.add(id(value))
        for name, inner in vars(value).items():
            setattr(value, name, _cleaned(inner, clean, seen=seen))
    return value


def is_direct(fixturedef: Any, item: pytest.Item) -> bool:
    """Return whether a fixture is no fixture but a parameter's value, given as it is."""
    module = getattr(getattr(fixturedef, "func", None), "__module__", "") or ""
    return fixturedef.argname in parameters(item) and module.startswith("_pytest.")


def parameter_indices(item: pytest.Item) -> Mapping[str, int]:
    """Return which value of each parameter an item has."""
    return getattr(_callspec(item), "indices", {})


def fixture_names(item: pytest.Item) -> tuple[str, ...]:
    """Return every fixture an item uses, those that its fixtures use included."""
    return tuple(getattr(item, "fixturenames", ()))


def worker_queue(config: pytest.Config) -> Callable[[], list[int]] | None:
    """Return what gives the indices of the items that wait on an xdist worker.

    The next item first. None where it can't be seen.
    """
    for plugin in config.pluginmanager.get_plugins():
        if hasattr(plugin, "torun") and hasattr(plugin, "nextitem_index"):
            worker: Any = plugin
            break
    else:
        return None
    if not hasattr(worker.torun, "lock"):
        return None

    def waiting() -> list[int]:
        with worker.torun.lock() as queue:
            found = [worker.nextitem_index, *queue]
        # The queue may end with a mark that nothing more will come.
        return [index for index in found if isinstance(index, int)]

    return waiting


def hands_out_work(scheduling: type) -> bool:
    """Return whether a scheduler of xdist's has its one place that hands out work."""
    return hasattr(scheduling, "_send_tests")
