"""Groups: which tasks they hold, and what is put together of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config import Section, plain
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.gates import parse_gate
from pytest_llmeval.tasks._marks import gates_of
from pytest_llmeval.tasks._task import Member, TaskGroup, TaskOptions
from pytest_llmeval.tasks.lm_eval._include import Keys, read_keys
from pytest_llmeval.tasks.lm_eval._index import TaskIndex
from pytest_llmeval.types import GroupMetric

__all__ = ["GroupReader"]

_KEYS: Final = ("group", "group_alias", "task", "aggregate_metric_list", "metadata")
_METRIC_KEYS: Final = ("metric", "aggregation", "weight_by_size", "filter_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Within:
    """Where a group stands, and what the groups above say."""

    path: Path
    keys: Keys
    over: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the groups above, over those of their tasks."""
    above: tuple[str, ...] = ()
    """Names of the groups above."""


class GroupReader:
    """Reads groups.

    Args:
        options: What holds for all task files.
    """

    def __init__(self, options: TaskOptions) -> None:
        self._options = options
        self._index = TaskIndex(options.root, options.task_paths)

    def read(self, keys: Keys, path: Path) -> TaskGroup:
        """Return the group of a file.

        Raises:
            UserError: A key can't be used, or a task of it is not there.
        """
        return self._group(keys.data, _Within(path=path, keys=keys))

    def _group(
        self, data: Mapping[str, Any], within: _Within, parent: str = ""
    ) -> TaskGroup:
        """Return a group; one written inside another is called after that too."""
        name = data["group"]
        if not isinstance(name, str) or not name.strip():
            raise within.keys.fail(f"group is a name, not {name!r:.60}", "group")
        if name in within.above:
            message = f"group {name!r} holds itself: {' > '.join(within.above)}"
            raise within.keys.fail(message, "task")
        over = {k: v for k, v in data.items() if k not in {*_KEYS, "tag"}}
        below = _Within(
            path=within.path,
            keys=within.keys,
            over={**over, **within.over},
            above=(*within.above, name),
        )
        whole = f"{parent}::{name}" if parent else name
        members: list[Member] = []
        groups: list[TaskGroup] = []
        for one in self._entries(data, within.keys):
            for found in self._entry(one, below, whole):
                if isinstance(found, TaskGroup):
                    groups.append(found)
                    members += found.members
                else:
                    members.append(found)
        metrics = _metrics(data, within.keys)
        return TaskGroup(
            name=whole,
            alias=str(data.get("group_alias") or whole),
            shown=within.keys.top.shown,
            path=within.path,
            members=_distinct(members, within.keys),
            groups=tuple(groups),
            metrics=metrics,
            gates=_gates(data, within.keys, metrics),
        )

    def _entries(self, data: Mapping[str, Any], keys: Keys) -> Sequence[Any]:
        entries = data.get("task")
        if isinstance(entries, str):
            message = (
                f"a group's task is a list of names, not {entries!r}; what was a group "
                f"of its own with every task is a tag now: tag: {data['group']}"
            )
            raise keys.fail(message, "task")
        if not isinstance(entries, list) or not entries:
            raise keys.fail("a group's task is a list of names", "task")
        return entries

    def _entry(
        self, entry: Any, within: _Within, parent: str
    ) -> Iterator[Member | TaskGroup]:
        if isinstance(entry, str):
            yield from self._named(entry, within, {})
        elif isinstance(entry, Mapping) and "group" in entry:
            yield from self._subgroup(entry, within, parent)
        elif isinstance(entry, Mapping) and isinstance(entry.get("task"), str):
            own = {k: v for k, v in entry.items() if k != "task"}
            if "dataset_path" in own or "include" in own:
                yield self._inline(entry, within)
            else:
                yield from self._named(entry["task"], within, own)
        else:
            message = f"an entry is a task's name, or has the key task or group, not {entry!r:.80}"
            raise within.keys.fail(message, "task")

    def _subgroup(
        self, entry: Mapping[str, Any], within: _Within, parent: str
    ) -> Iterator[Member | TaskGroup]:
        if "task" in entry:
            yield self._group(entry, within, parent)
            return
        own = {k: v for k, v in entry.items() if k != "group"}
        yield from self._named(str(entry["group"]), within, own)

    def _named(
        self, name: str, within: _Within, own: Mapping[str, Any]
    ) -> Iterator[Member | TaskGroup]:
        try:
            paths = self._index.found(name, within.path.parent)
        except ConfigError as exc:
            raise within.keys.fail(f"task: {exc}", "task") from exc
        over = {**within.over, **own}
        for path in paths:
            keys = read_keys(path, self._options.root)
            if "group" in keys.data:
                inner = _Within(path=path, keys=keys, over=over, above=within.above)
                yield self._group(keys.data, inner)
            else:
                given = keys.data.get("task")
                shown = within.keys.top.shown
                yield Member(name=str(given or name), path=path, over=over, shown=shown)

    def _inline(self, entry: Mapping[str, Any], within: _Within) -> Member:
        keys = {**within.over, **{k: v for k, v in entry.items() if k != "task"}}
        return Member(
            name=entry["task"],
            path=within.path,
            shown=within.keys.top.shown,
            over=keys,
            stands_alone=True,
        )


def _distinct(members: Sequence[Member], keys: Keys) -> tuple[Member, ...]:
    """Return the tasks of a group, each once.

    Raises:
        ConfigError: One is there twice, with different keys.
    """
    found: dict[str, Member] = {}
    for member in members:
        other = found.setdefault(member.name, member)
        if other != member:
            message = f"task: {member.name!r} is there twice, with different keys"
            raise keys.fail(message, "task")
    return tuple(found.values())


def _metrics(data: Mapping[str, Any], keys: Keys) -> tuple[GroupMetric, ...]:
    given = data.get("aggregate_metric_list")
    if isinstance(given, Mapping):
        given = [given]
    if given is not None and not isinstance(given, list):
        message = "aggregate_metric_list is a list of {metric: NAME}"
        raise keys.fail(message, "aggregate_metric_list")
    found = []
    for index, entry in enumerate(given or ()):
        try:
            found.append(_metric(entry))
        except ConfigError as exc:
            message = f"aggregate_metric_list: {exc}"
            raise keys.fail(message, "aggregate_metric_list", index) from exc
    return tuple(found)


def _metric(entry: Any) -> GroupMetric:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("metric"), str):
        raise ConfigError(f"an entry names its metric, not {entry!r:.80}")
    for key in entry:
        if key not in _METRIC_KEYS:
            message = (
                f"unknown key {key!r}{did_you_mean(str(key), _METRIC_KEYS)}; keys: "
                f"{', '.join(_METRIC_KEYS)}"
            )
            raise ConfigError(message)
    if entry.get("aggregation", "mean") != "mean":
        message = (
            f"the aggregation of a group is mean, not {entry['aggregation']!r:.60}"
        )
        raise ConfigError(message)
    by_size = entry.get("weight_by_size", True)
    if not isinstance(by_size, bool):
        raise ConfigError(f"weight_by_size is true or false, not {by_size!r:.60}")
    filters = plain(entry.get("filter_list"))
    if isinstance(filters, str):
        filters = [filters]
    if filters is not None and not isinstance(filters, list):
        raise ConfigError(f"filter_list is a list of names, not {filters!r:.60}")
    return GroupMetric(
        metric=entry["metric"],
        filters=None if filters is None else tuple(map(str, filters)),
        weight_by_size=by_size,
    )


def _gates(
    data: Mapping[str, Any], keys: Keys, metrics: Sequence[GroupMetric]
) -> tuple[str, ...]:
    """Return the gates of a group: about what it puts together alone.

    Raises:
        ConfigError: One is about something else, or no gate.
    """
    metadata = data.get("metadata")
    own = metadata.get("llmeval") if isinstance(metadata, Mapping) else None
    if own is None:
        return ()
    if not isinstance(own, Mapping):
        raise keys.fail(f"metadata.llmeval is a mapping, not {own!r:.60}", "metadata")
    section = Section(data=own, what="metadata.llmeval", shown=keys.top.shown)
    section.only(("gate",))
    try:
        gates = gates_of(section) or []
    except UserError as exc:
        raise keys.fail(str(exc), "metadata") from exc
    names = [metric.metric for metric in metrics]
    for gate in gates:
        name = parse_gate(gate).name
        if name.partition(",")[0] not in names or "," not in name:
            message = (
                f"gate: {name!r} is nothing this group puts together; there is: "
                f"{', '.join(f'{one},FILTER' for one in names) or 'nothing'}"
            )
            raise keys.fail(message, "metadata")
    return tuple(gates)
