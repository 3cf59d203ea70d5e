"""From a YAML task file to its items."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_llmeval.clients import is_able, without_likelihoods
from pytest_llmeval.datasets import check_node_ids, node_id
from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin.marker import Marker
from pytest_llmeval.plugin.rows import row_marks
from pytest_llmeval.plugin.runtime import Runtime, runtime_of
from pytest_llmeval.plugin.task_groups import add_group, homes_of
from pytest_llmeval.plugin.task_item import TaskItem
from pytest_llmeval.plugin.variants import check_variant, limited, pinned, variants
from pytest_llmeval.tasks import Task, TaskGroup, load_member, load_task
from pytest_llmeval.types import Case

__all__ = ["TaskFile"]


class TaskFile(pytest.File):
    """A task file."""

    def collect(self) -> Iterator[TaskItem]:
        """Yield an item a case, for each model and prompt.

        Raises:
            pytest.fail.Exception: Something in the file can't be used.
        """
        problem, items = "", list[TaskItem]()
        try:
            runtime = runtime_of(self.config)
            found = load_task(self.path, runtime.tasks.options)
            for task in self._tasks(found, runtime):
                items += self._items(task, runtime)
        except UserError as exc:
            problem = str(exc)
        if problem:
            # Unlike a CollectError this has its reason in the short summary too; here,
            # what led to it would only say the same again.
            pytest.fail(problem, pytrace=False)
        yield from items

    def _tasks(self, found: Task | TaskGroup, runtime: Runtime) -> Iterator[Task]:
        """Yield the file's task; of a group those that no file of their own brings."""
        if isinstance(found, Task):
            yield found
            return
        homes = homes_of(found, self)
        for group in found.all_groups():
            add_group(group, homes, runtime)
        for member in found.members:
            if homes[member.name] == self.nodeid:
                yield load_member(member, runtime.tasks.options)

    def _items(self, task: Task, runtime: Runtime) -> Iterator[TaskItem]:
        marker = Marker(**task.keywords)
        test = f"{self.nodeid}::{task.name}"
        runtime.tasks.keep(test, task)
        cases = list(task.cases)
        check_node_ids(cases)
        kept = limited(cases, marker, runtime)
        runtime.collected.add_dataset(test, cases, kept)
        if runtime.settings.mode != "live":
            runtime.clients.shelf.check_module(self.nodeid)
        markers = variants(runtime, marker, set(task.uses))
        for variant in markers:
            self._check(task, variant, kept, runtime)
        runtime.collected.add_test(test, len(markers) * len(kept))

        def body(case: Case) -> None:
            __tracebackhide__ = True
            task.run(case, runtime.facades.generator, runtime.facades.judge)

        for variant, (pins, marks) in zip(markers, pinned(markers), strict=True):
            marks = [*marks, *self._skip(task, variant, runtime)]
            for index, case in enumerate(kept):
                name = "-".join([node_id(case.id), *pins])
                item: TaskItem = TaskItem.from_parent(
                    self,
                    name=f"{task.name}[{name}]",
                    case=case,
                    body=body,
                    task=task.name,
                    has_checks=task.has_checks,
                    index=index,
                    pins=tuple(mark.mark for mark in marks if mark.name == "llmeval"),
                )
                own = pytest.mark.llmeval(**task.keywords)
                for mark in (*row_marks(case, self.config), *marks, own):
                    item.add_marker(mark)
                yield item

    def _skip(
        self, task: Task, variant: Marker, runtime: Runtime
    ) -> list[pytest.MarkDecorator]:
        """Return the mark that skips what a model can't be asked."""
        if not task.needs_likelihood:
            return []
        backend = runtime.clients.backend(variant.generator)
        if is_able(backend, "likelihood"):
            return []
        return [pytest.mark.skip(reason=without_likelihoods(backend.name).reason)]

    def _check(
        self, task: Task, variant: Marker, cases: list[Case], runtime: Runtime
    ) -> None:
        try:
            check_variant(runtime, variant, set(task.uses), self.path.parent, cases)
        except UserError as exc:
            message = f"{task.shown}: task {task.name!r}: {exc}"
            raise type(exc)(message) from exc
