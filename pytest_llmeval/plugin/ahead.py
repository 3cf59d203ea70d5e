"""Running ahead: while a case has its turn, the bodies of its siblings run too.

Each item keeps its own set-up, call, teardown and reports. Only what its body does has
begun before: in its call phase the outcome is collected, and what the body printed and
logged is written again, so that pytest shows it where it belongs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_llmeval.ahead import Routes
from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin.begun import Begun, Bodies
from pytest_llmeval.plugin.bodies import check_returned
from pytest_llmeval.plugin.circumstances import ends_early, in_the_way, log_level
from pytest_llmeval.plugin.fixtures import __name__ as own_module
from pytest_llmeval.plugin.marker import read_marker
from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.plugin.samples import NOT_NEEDED, Samples, ends_run
from pytest_llmeval.plugin.siblings import Evaluation, Group, Watch, siblings
from pytest_llmeval.plugin.upcoming import Upcoming
from pytest_llmeval.plugin.waiting import Standing, Tally, Waiting

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Ahead"]


#: How many times the width may have begun, or be about to, and not be collected: enough
#: to go on while the case whose turn it is waits for a server that says "in a second".
_LEAD: Final = 16
#: More than these pytest can't collect in that time, and each holds a reply.
_MOST: Final = 640
#: Of a wide test so many times the width, all the same.
_LEAST: Final = 4
_ALONE = pytest.StashKey[str]()


class Ahead:
    """Runs bodies ahead of their items' turns.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._runtime: Runtime = run.runtime
        self._begun = Begun(run.runtime.loop)
        self._routes = Routes()
        self._watch = Watch()
        self._groups: dict[tuple[int, str | None], Group | None] = {}
        self._in_turn: pytest.Item | None = None
        """What runs in its own turn though it might run ahead."""
        self._seconds: float | None = None
        """How long the bodies took of the item that was collected last."""
        self._upcoming: Upcoming | None = None
        self._waiting = Waiting(run.config)
        self._tally = Tally()

    # --- what pytest does ------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Follow the session through its items."""
        if self._upcoming is None:
            self._upcoming = Upcoming(item.session)
        self._upcoming.begin(item)
        group = self._group(item)
        if not self._routes.are_open and group is not None and not group.pace.is_quick:
            self._routes.open(log_level(item.config))
            self._routes.cover()  # the streams that are there while nothing is captured
        try:
            return (yield)
        finally:
            left = self._begun.take(item)
            if left is not None:  # its set-up failed, or skipped it
                self._begun.drop(left)
            if group is not None:
                self._tally.ended += 1
            if not self._begun.by_item:
                self._routes.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Watch what is set up for an item, anew when it is run again."""
        self._watch.begin(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: Any, request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """See what is set up."""
        self._watch.see(fixturedef, request)
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Collect a function's outcome, and start its siblings' bodies."""
        __tracebackhide__ = True
        return self.run(pyfuncitem)

    def run(self, item: Evaluation) -> bool | None:
        """Collect an item's outcome, and start its siblings' bodies.

        Returns:
            True, or None when the item is to run in the main thread, as ever.
        """
        __tracebackhide__ = True
        started = self._begun.take(item)
        group = self._group(item)
        if group is None:
            return None
        if started is None and self._runs_in_turn(item, group):
            return None
        if not self._may_run_beside(item, group):
            if started is not None:
                self._begun.drop(started)
            return None
        if started is not None and not group.is_what_it_got(item, started.given):
            self._begun.drop(started)
            started = None
        self._routes.cover()
        following = self._following(item, group)
        first = next(following, None)
        if started is None:
            is_one = not self._run.samples_of(item).are_several
            if first is None and not self._begun.by_item and is_one:
                return None  # alone
            given = {name: item.funcargs[name] for name in group.arguments}
            samples = self._run.samples_of(item)
            started = self._begun.made(item, group, given, samples)
            self._begun.add_next(started)
        if first is not None:
            self._begun.add(*first)
        for sibling, bodies in following:
            self._begun.add(sibling, bodies)
        return self._collect(item, started)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, Any, Any]:
        """Give a report the time of the body instead of that of waiting for it."""
        report: pytest.TestReport = yield
        if call.when == "call" and _ALONE in item.stash:
            report.llmeval_alone = item.stash[_ALONE]  # type: ignore[attr-defined]
        if call.when == "call" and item is self._in_turn:
            self._in_turn = None
            group = self._group(item)
            if group is not None:
                group.pace.note(call.duration)
        if call.when == "call" and self._seconds is not None:
            report.duration, self._seconds = self._seconds, None
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        """Begin nothing more; also after Ctrl-C and -x."""
        self._begun.close()
        self._routes.close()
        return (yield)

    def has_begun(self, item: pytest.Item) -> bool:
        """Return whether a body of an item has begun before its turn."""
        started = self._begun.by_item.get(item)
        return started is not None and started.have_begun

    def begun(self) -> list[Samples]:
        """Return the samples of cases whose bodies have begun before their turn."""
        return [
            started.samples
            for started in self._begun.by_item.values()
            if started.have_begun
        ]

    # --- what it comes to ------------------------------------------------------------

    def _group(self, item: pytest.Item) -> Group | None:
        """Return an item's group, None for what is no evaluation."""
        if not isinstance(item, Evaluation):
            return None
        key = _key(item)
        if key not in self._groups:
            self._groups[key] = self._new_group(item)
        return self._groups[key]

    def _new_group(self, item: Evaluation) -> Group | None:
        if item.get_closest_marker("llmeval") is None:
            return None
        width = self._runtime.plans.width(read_marker(item))
        group = Group.of(item, width, own_module)
        known = self._upcoming is None or self._upcoming.is_known
        found = in_the_way(item.config, is_queue_known=known)
        if found is not None:
            group.obstacle = found
        return group

    def _may_run_beside(self, item: Evaluation, group: Group) -> bool:
        """Return whether an item that was set up leaves room for others."""
        if group.width == 1:
            return False
        group.direct |= self._watch.direct
        reason = group.speaks_against(item, self._watch)
        if reason is not None:
            group.is_proven = False
            if group.has_several or self._run.samples_of(item).are_several:
                item.stash[_ALONE] = reason
            group.has_several = True
            return False
        group.is_proven = True
        return True

    def _runs_in_turn(self, item: Evaluation, group: Group) -> bool:
        """Return whether a body that has not begun is to run in its own turn, as ever."""
        plan = self._run.samples_of(item).run.plan
        at_once = self._runtime.facades.answers_at_once(plan, group.own)
        if group.pace.runs_in_turn(answers_at_once=at_once):
            self._in_turn = item
            return True
        return False

    def _following(
        self, item: Evaluation, group: Group
    ) -> Iterator[tuple[Evaluation, Bodies]]:
        """Yield the siblings to begin now, as many as there is room for."""
        assert self._upcoming is not None
        room = self._lead(item, group) - self._begun.count
        if room <= 0 or self._runtime.is_spent():
            return
        for sibling in siblings(item, group, self._upcoming, self._group):
            if self._run.takes_over(sibling):
                continue
            try:
                samples = self._run.samples_for(sibling)
                self._run.outlived.check(sibling, samples.run.plan)
            except UserError:
                continue  # told in its own turn
            given = group.given_to(sibling, item)
            yield sibling, self._begun.made(sibling, group, given, samples)
            room -= len(samples.runs)
            if room <= 0:
                return

    def _lead(self, item: pytest.Item, group: Group) -> int:
        """Return how many bodies may have begun without having had their turn."""
        if ends_early(item.config):
            failed = any(one.samples.has_failed for one in self._begun.by_item.values())
            return 0 if failed else group.width - 1
        return max(min(group.width * _LEAD, _MOST), group.width * _LEAST)

    def _collect(self, item: Evaluation, started: Bodies) -> bool:
        """Wait for an item's bodies, and let it end as they did."""
        __tracebackhide__ = True
        try:
            outcomes = [
                self._waiting.wait_for(body, self._standing) for body in started.bodies
            ]
        except BaseException:
            self._begun.drop(started, hang=True)
            self._run.conclude(item, started.samples)
            raise
        error = self._run.conclude(item, started.samples)
        for sample in started.samples.runs:
            self._tally.take(sample)
        for body in started.bodies:
            self._routes.replay(body.pieces)
        self._seconds = sum(outcome.seconds for outcome in outcomes)
        for outcome in outcomes:
            if outcome.exception is not None and ends_run(outcome.exception):
                raise outcome.exception
        if error is not None:
            raise error
        for outcome in outcomes:
            if outcome.value is not NOT_NEEDED:
                check_returned(item, outcome.value)
        return True

    def _standing(self) -> Standing:
        """Return how the run stands."""
        assert self._upcoming is not None
        done = sum(started.are_done for started in self._begun.by_item.values())
        return self._tally.standing(
            self._upcoming.evaluations,
            done=done,
            running=self._begun.engine.running,
            retrying=self._begun.engine.waiting,
        )


def _key(item: pytest.Item) -> tuple[int, str | None]:
    """Return what the items of one test function have in common."""
    return id(item.parent), getattr(item, "originalname", None)
