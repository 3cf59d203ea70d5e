"""Filters: named pipelines from a row's replies to what is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.config import plain
from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._docs import Row
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys
from pytest_llmeval.tasks.lm_eval._multi_choice import letter_reader
from pytest_llmeval.tasks.lm_eval._patterns import RegexOptions

__all__ = ["Pipeline", "read_pipelines"]

_Step = Callable[[Any, Row], Any]
_REGEX: Final = ("regex_pattern", "group_select", "fallback")
_LETTERS: Final = ("ignore_case", "ignore_punctuation", "regexes_to_ignore")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A named pipeline."""

    name: str
    steps: tuple[_Step, ...]
    functions: tuple[str, ...] = ("take_first",)
    """The names of the steps."""

    def applied(self, replies: list[Any], row: Row) -> Any:
        """Return what a row's replies become: one value where a step takes the first.

        Raises:
            UnscoredError: The task's own filter raised.
        """
        value: Any = replies
        for step in self.steps:
            value = step(value, row)
        return value


def read_pipelines(keys: Keys, functions: Functions) -> tuple[Pipeline, ...]:
    """Return the pipelines of filter_list, by default one that takes the first reply.

    Raises:
        ConfigError: A filter, an option or a pattern can't be used.
    """
    given = keys.data.get("filter_list")
    if given is None:
        return (Pipeline(name="none", steps=(_take_first({}),)),)
    if not isinstance(given, list) or not given:
        message = "filter_list is a list of {name:, filter: [{function:}]}"
        raise keys.fail(message, "filter_list")
    found = []
    for index, entry in enumerate(given):
        try:
            found.append(_pipeline(entry, functions))
        except ConfigError as exc:
            raise keys.fail(f"filter_list: {exc}", "filter_list", index) from exc
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            message = f"filter_list: two pipelines are called {name!r}"
            raise keys.fail(message, "filter_list")
    return tuple(found)


def _pipeline(entry: Any, functions: Functions) -> Pipeline:
    if not isinstance(entry, Mapping) or set(entry) - {"name", "filter", "metric_list"}:
        message = f"a pipeline has the keys name and filter, not {entry!r:.80}"
        raise ConfigError(message)
    if "metric_list" in entry:
        message = "a metric_list of a pipeline's own is not supported"
        raise ConfigError(message)
    name, steps = entry.get("name"), entry.get("filter")
    if not isinstance(name, str) or not isinstance(steps, list) or not steps:
        message = f"a pipeline has a name and a list of filters, not {entry!r:.80}"
        raise ConfigError(message)
    return Pipeline(
        name=name,
        steps=tuple(_step(one, functions) for one in steps),
        functions=tuple(str(one["function"]) for one in steps),
    )


def _step(entry: Any, functions: Functions) -> _Step:
    if not isinstance(entry, Mapping) or "function" not in entry:
        message = f"a filter names its function, not {entry!r:.80}"
        raise ConfigError(message)
    options = {k: plain(v) for k, v in entry.items() if k != "function"}
    name = entry["function"]
    if isinstance(name, FunctionName):
        return _own_class(functions.resolved(name), options, repr(name))
    if name == "custom":
        given = options.get("filter_fn")
        if not isinstance(given, FunctionName) or len(options) > 1:
            raise ConfigError("custom needs filter_fn: !function module.name, alone")
        return _own_function(functions.resolved(given), repr(given))
    if not isinstance(name, str) or name not in _MAKERS:
        known = [*_MAKERS, "custom"]
        message = (
            f"there is no filter {name!r}{did_you_mean(str(name), known)}; there are: "
            f"{', '.join(known)}"
        )
        raise ConfigError(message)
    maker, allowed = _MAKERS[name]
    for option in options:
        if option not in allowed:
            message = (
                f"the filter {name} has no option {option!r}"
                f"{did_you_mean(option, allowed)}; options: "
                f"{', '.join(allowed) or 'none'}"
            )
            raise ConfigError(message)
    return maker(options)


def _take_first(_: Mapping[str, Any]) -> _Step:
    return lambda replies, row: replies[0]


def _take_first_k(options: Mapping[str, Any]) -> _Step:
    count = options.get("k")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ConfigError(f"take_first_k needs k, a whole number, not {count!r}")

    def take(replies: Any, row: Row) -> Any:
        if len(replies) < count:
            message = (
                f"take_first_k: {count} replies are wanted, there are {len(replies)}"
            )
            raise UnscoredError(message, cause="data")
        return list(replies[:count])

    return take


def _regex(options: Mapping[str, Any]) -> _Step:
    pattern = RegexOptions.of(options)
    return _each(lambda reply: pattern.found_in(reply, pattern.fallback))


def _multi_choice_regex(options: Mapping[str, Any]) -> _Step:
    pattern = RegexOptions.of(options)
    reader = letter_reader(options, lambda reply: pattern.found_in(reply, None))

    def step(replies: Any, row: Row) -> Any:
        if isinstance(replies, list):
            return [reader.letter(reply, row) for reply in replies]
        return reader.letter(replies, row)

    return step


def _map(options: Mapping[str, Any]) -> _Step:
    table, default = options.get("mapping_dict"), options.get("default_value")
    if not isinstance(table, Mapping):
        raise ConfigError(f"map needs mapping_dict, a mapping, not {table!r:.60}")
    return _each(lambda reply: table.get(str(reply), default))


def _majority_vote(_: Mapping[str, Any]) -> _Step:
    return lambda replies, row: [Counter(replies).most_common(1)[0][0]]


def _each(change: Callable[[Any], Any]) -> _Step:
    """Return a step that changes each reply, or the one that was taken."""

    def step(replies: Any, row: Row) -> Any:
        if isinstance(replies, list):
            return [change(reply) for reply in replies]
        return change(replies)

    return step


def _plain(change: Callable[[str], str]) -> Callable[[Mapping[str, Any]], _Step]:
    return lambda options: _each(lambda r: change(r) if isinstance(r, str) else r)


def _own_function(function: Callable[..., Any], name: str) -> _Step:
    """Return the step of a function of all rows' replies; each row is given alone."""
    return lambda replies, row: _row_alone(function, name, replies, row)


def _own_class(
    make: Callable[..., Any], options: Mapping[str, Any], name: str
) -> _Step:
    try:
        own = make(**options)
    except Exception as exc:
        message = f"{name} raised {type(exc).__name__}: {exc}"
        raise ConfigError(message) from exc
    if not callable(getattr(own, "apply", None)):
        raise ConfigError(f"{name} has no method apply(resps, docs)")
    return lambda replies, row: _row_alone(own.apply, name, replies, row)


def _row_alone(function: Callable[..., Any], name: str, replies: Any, row: Row) -> Any:
    try:
        (value,) = function([replies], [row])
    except Exception as exc:
        message = f"{name} raised {type(exc).__name__}: {exc}"
        raise UnscoredError(message, cause="application") from exc
    return value


_MAKERS: Final[
    Mapping[str, tuple[Callable[[Mapping[str, Any]], _Step], tuple[str, ...]]]
] = {
    "take_first": (_take_first, ()),
    "take_first_k": (_take_first_k, ("k",)),
    "regex": (_regex, _REGEX),
    "multi_choice_regex": (_multi_choice_regex, (*_REGEX, *_LETTERS)),
    "remove_whitespace": (_plain(str.strip), ()),
    "lowercase": (_plain(str.lower), ()),
    "uppercase": (_plain(str.upper), ()),
    "map": (_map, ("mapping_dict", "default_value")),
    "majority_vote": (_majority_vote, ()),
}
