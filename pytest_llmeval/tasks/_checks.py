"""The checks of a task file: the assertion helpers by name, with their keywords."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_llmeval import assertions, metrics
from pytest_llmeval.assertions._arguments import checked_threshold
from pytest_llmeval.config import Section, plain
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.prompts import Template
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.types import NOT_A_PATTERN, Case

__all__ = ["TaskCheck", "make_checks", "read_checks"]

#: What each helper is called in a file.
_HELPERS: Final[Mapping[str, Callable[..., Any]]] = {
    "exact": assertions.assert_exact,
    "f1": assertions.assert_f1,
    "contains": assertions.assert_contains,
    "regex": assertions.assert_regex,
    "number": assertions.assert_number,
    "choice": assertions.assert_choice,
    "json": assertions.assert_json,
    "tool_calls": assertions.assert_tool_calls,
    "judge": assertions.assert_judge,
    "pairwise": assertions.assert_pairwise,
    "case": assertions.assert_case,
}
_JUDGED: Final = frozenset({"judge", "pairwise"})
#: What the bare value of a check means, where it is not what is expected.
_MAIN: Final = {"judge": "rubric", "pairwise": "against", "f1": "threshold"}
#: What is given by us.
_GIVEN: Final = frozenset({"response", "expected", "case", "generator", "metric"})
#: Keywords of a helper that are no options of its metric.
_OURS: Final = frozenset({"threshold", "name", "equals"})
_WITHOUT_EXPECTED: Final = frozenset({"json", "judge", "pairwise", "case"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCheck:
    """One check of a task."""

    name: str
    """Of the helper, or of a metric."""
    options: Mapping[str, Any]
    """Keywords of the helper."""
    expected: Any = field(default=None)
    """What is expected of every row; None for the row's own."""

    @property
    def asks_judge(self) -> bool:
        """Whether it needs a judge."""
        return self.name in _JUDGED

    @property
    def reads_reply(self) -> bool:
        """Whether it looks at a reply of the model's."""
        if self.name in _HELPERS:
            return self.name != "case"
        return metrics.get_metric(self.name).declaration.takes == "text"

    def make(self, response: Any, case: Case, generator: Any, judge: Any) -> None:
        """Make the check of a case.

        Raises:
            EvalAssertionError: It does not hold.
            UnscoredError: It can't be made.
        """
        __tracebackhide__ = True
        options = dict(self.options)
        expected = case if self.expected is None else self.expected
        if self.name == "judge":
            assertions.assert_judge(response, case, judge, **options)
        elif self.name == "pairwise":
            options["against"] = case[options["against"]]
            assertions.assert_pairwise(response, case, judge, **options)
        elif self.name == "json":
            own = {k: case for k in ("equals", "subset") if options.get(k) is True}
            assertions.assert_json(response, **{**options, **own})
        elif self.name == "case":
            assertions.assert_case(case, generator, **options)
        elif self.name in _HELPERS:
            _HELPERS[self.name](response, expected, **options)
        else:
            given = response if self.reads_reply else generator
            assertions.assert_metric(given, expected, self.name, **options)


def make_checks(
    checks: tuple[TaskCheck, ...], response: Any, case: Case, generator: Any, judge: Any
) -> None:
    """Make every check of a case, then fail with all that did not hold.

    Raises:
        EvalAssertionError: One or more did not hold.
        UnscoredError: One or more can't be made.
    """
    __tracebackhide__ = True
    sample = current_sample()
    if sample is None or not checks:
        return
    with sample.all_checks():
        for check in checks:
            check.make(response, case, generator, judge)


def read_checks(top: Section, *, base: Path, root: Path) -> tuple[TaskCheck, ...]:
    """Return the checks of a task.

    Args:
        top: What the file says.
        base: Where relative paths of templates begin.
        root: Where they must lie.

    Raises:
        ConfigError: A check, a keyword or its value can't be used.
    """
    value = top.data.get("assert")
    if value is None:
        return ()
    if not isinstance(value, list):
        message = (
            f"assert is a list, - exact or - f1: {{threshold: 0.6}}, not {value!r:.60}"
        )
        raise top.fail(message, "assert")
    found: list[TaskCheck] = []
    for index, entry in enumerate(value):
        try:
            check = _read(entry)
            _check_values(check, base, root)
            _check_label(check, found)
        except UserError as exc:
            raise top.fail(f"assert: {exc}", "assert", index) from exc
        found.append(check)
    return tuple(found)


def _read(entry: Any) -> TaskCheck:
    """Return the check of ``exact``, ``{f1: 0.6}`` or ``{f1: {threshold: 0.6}}``."""
    if isinstance(entry, str):
        entry = {entry: None}
    if not isinstance(entry, Mapping) or len(entry) != 1:
        message = (
            f"a check is one name with its keywords, {{f1: {{threshold: 0.6}}}}, "
            f"not {entry!r:.80}"
        )
        raise ConfigError(message)
    ((name, given),) = entry.items()
    helper = _helper(name)
    options = dict(_options(name, given))
    expected = options.pop("expected", None)
    if expected is not None and name in _WITHOUT_EXPECTED:
        raise ConfigError(f"{name} takes no expected: it reads the row")
    _check_keywords(name, helper, options)
    return TaskCheck(name=name, options=options, expected=expected)


def _helper(name: str) -> Callable[..., Any]:
    if name in _HELPERS:
        return _HELPERS[name]
    if name in metrics.metric_names() or ":" in name:
        return assertions.assert_metric
    known = sorted({*_HELPERS, *metrics.metric_names()})
    message = (
        f"there is no check {name!r}{did_you_mean(name, known)}; there are: "
        f"{', '.join(_HELPERS)}, and the metrics: "
        f"{', '.join(n for n in known if n not in _HELPERS)}"
    )
    raise ConfigError(message)


def _options(name: str, given: Any) -> Mapping[str, Any]:
    given = plain(given)
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    main = _MAIN.get(name)
    if main is None and name not in _HELPERS:
        main = "threshold"
    if main == "threshold" and not is_number:
        main = None
    return {main or "expected": given}


def _check_keywords(
    name: str, helper: Callable[..., Any], options: Mapping[str, Any]
) -> None:
    parameters = inspect.signature(helper).parameters
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    known = [
        p.name
        for p in parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.name not in _GIVEN
    ]
    if name not in _WITHOUT_EXPECTED:
        known.append("expected")
    for key in options:
        if key not in known and not is_open:
            message = (
                f"{name} has no keyword {key!r}{did_you_mean(str(key), known)}; "
                f"keywords: {', '.join(known)}"
            )
            raise ConfigError(message)
    for parameter in parameters.values():
        is_needed = (
            parameter.kind is parameter.KEYWORD_ONLY
            and parameter.default is parameter.empty
        )
        if is_needed and parameter.name not in options:
            raise ConfigError(f"{name} needs the keyword {parameter.name}")


def _check_values(check: TaskCheck, base: Path, root: Path) -> None:
    """Try what can be tried of a check's values before anything is asked."""
    options = check.options
    if check.name not in _JUDGED and check.name != "case":
        own = {k: v for k, v in options.items() if k not in _OURS}
        metrics.check_ready(check.name, own)
    if "threshold" in options and check.name not in {"judge", "case"}:
        checked_threshold(options["threshold"], check.name)
    if check.name == "regex" and isinstance(check.expected, str):
        try:
            re.compile(check.expected)
        except NOT_A_PATTERN as exc:
            message = f"regex: {check.expected!r} is no regular expression: {exc}"
            raise ConfigError(message) from exc
    if options.get("template") is not None:
        Template.of(options["template"], base=base, root=root)


def _check_label(check: TaskCheck, earlier: list[TaskCheck]) -> None:
    """Refuse a second check of a name: reports and baselines tell them apart by it."""
    label = check.options.get("name", check.name)
    if any(other.options.get("name", other.name) == label for other in earlier):
        message = f"a second check is called {label!r}: give it a name: of its own"
        raise ConfigError(message)
