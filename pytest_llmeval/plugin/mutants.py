"""--llmeval-mutate: do the assertions catch wrong replies?

After a case has passed, its body runs again with each of its replies replaced by wrong
ones. No model under test is asked for that; judges are. What an assertion lets through
is listed, and one that lets everything through fails the run: it checks nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.evaluate import wrong_replies
from pytest_llmeval.plugin._internals import parameters
from pytest_llmeval.plugin.bodies import call_body
from pytest_llmeval.plugin.survivors import Survivors
from pytest_llmeval.plugin.task_item import TaskItem
from pytest_llmeval.recorder import SampleRun, begin, current_sample
from pytest_llmeval.types import Call, Case, Check, Response, as_text

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run
    from pytest_llmeval.plugin.siblings import Evaluation

__all__ = ["Mutants"]

#: The role under which what a judge is asked about wrong replies is kept.
_ROLE = "mutation"
_FOUND = pytest.StashKey[list[dict[str, Any]]]()


class Mutants:
    """Runs bodies again on wrong replies, and tells what got through.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._survivors = Survivors()
        self._said: dict[str, str] = {}
        """Of each test, what was said last in a case of it."""
        self._unchecked: dict[str, bool] = {}
        """Tasks that check nothing of a reply: gates and comparisons judge them."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Evaluation) -> Generator[None, Any, Any]:
        """Try the checks of a body that has passed."""
        result = yield
        self._try(pyfuncitem)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Try the checks of a YAML task's case that has passed."""
        result = yield
        if isinstance(item, TaskItem) and item.has_checks:
            self._try(item)
        return result

    def _try(self, item: Evaluation) -> None:
        sample = current_sample()
        if sample is not None:
            item.stash[_FOUND] = list(self._tried(item, sample))
            begin(sample)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, Any, Any]:
        """Put what was found on the report."""
        report: pytest.TestReport = yield
        if call.when == "call" and _FOUND in item.stash:
            report.llmeval_mutants = item.stash[_FOUND]  # type: ignore[attr-defined]
            del item.stash[_FOUND]
        if call.when == "call" and isinstance(item, TaskItem) and not item.has_checks:
            report.llmeval_unchecked = True  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what was found; also what workers send."""
        if getattr(report, "llmeval_unchecked", False) and not self._run.is_worker:
            self._unchecked[report.nodeid.partition("[")[0].partition("::")[2]] = True
        found = getattr(report, "llmeval_mutants", None)
        if found is not None and not self._run.is_worker:
            self._survivors.add(report.nodeid.partition("[")[0], found)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, Any, Any]:
        """Fail a run with an assertion that checks nothing."""
        if not self._run.is_worker:
            if self._unchecked:
                self._run.outputs.note(
                    f"--llmeval-mutate: left alone, for they have no checks of replies: "
                    f"{', '.join(self._unchecked)}"
                )
            self._run.outputs.known["mutants"] = self._survivors.to_json()
            if self._survivors.vacuous and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
                self._run.outputs.notes.append(
                    "--llmeval-mutate: the run fails, for it has assertions that let "
                    "every wrong reply through"
                )
        return (yield)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Write what wrong replies got through."""
        if self._run.is_worker or not self._survivors.tests:
            return
        terminalreporter.write_sep("=", "wrong replies", bold=True)
        for text, is_bad in self._survivors.lines():
            terminalreporter.write_line(text, red=is_bad)

    # --- a case ----------------------------------------------------------------------

    def _tried(self, item: Evaluation, sample: SampleRun) -> Iterator[dict[str, Any]]:
        """Yield what became of each kind of wrong reply."""
        role, replies = _replies(sample.calls)
        if not replies or not _can_run_again(item):
            return
        wrong = wrong_replies(replies, other=self._other(item, sample.run.case))
        self._said[sample.run.test] = replies[-1].text
        for kind, versions in wrong.items():
            mutant = SampleRun(sample.run, sample.index)
            mutant.stand_in = _stand_in(role, versions, sample.calls)
            mutant.deferred = []  # one check that fails hides no other
            begin(mutant)
            error = _raised(item)
            sample.recordings += mutant.recordings
            sample.calls += (
                replace(call, role=_ROLE if call.role == "judge" else call.role)
                for call in mutant.calls
            )
            errors = len(mutant.deferred) + (error is not None)
            yield {
                "kind": kind,
                "passed": _accepted(errors, mutant.checks),
                "checks": {
                    check.name: None if _is_unasked(check) else check.passed is True
                    for check in mutant.checks
                    # A check of money or time says nothing about a text.
                    if (check.response is not None and _is_held(check))
                    or _is_unasked(check)
                },
            }

    def _other(self, item: Evaluation, case: Case) -> str | None:
        """Return what is right in another case of the test, else what was said there."""
        own = _expected(case)
        siblings = [
            other
            for other in item.session.items
            if other is not item
            and other.nodeid.partition("[")[0] == item.nodeid.partition("[")[0]
        ]
        for other in siblings:
            found = parameters(other).get("case")
            text = _expected(found) if isinstance(found, Case) else None
            if text and own and text.casefold() != own.casefold():
                return text
        return self._said.get(item.nodeid.partition("[")[0])


def _expected(case: Case) -> str | None:
    value = case.expected
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value is None else as_text(value)


def _replies(calls: list[Call]) -> tuple[str, list[Response]]:
    """Return the role under test and what it said, in order."""
    said: dict[str, list[Response]] = {}
    for call in calls:
        if call.role != "judge" and call.response is not None:
            said.setdefault(call.role, []).append(call.response)
    role = "generator" if "generator" in said else next(iter(said), "")
    return role, said.get(role, [])


def _stand_in(
    role: str, versions: tuple[Response, ...], calls: list[Call]
) -> Callable[[str], Response]:
    """Return what gives the wrong replies of a role, and the true ones of others."""
    left: Mapping[str, Iterator[Response]] = {
        name: iter(
            versions
            if name == role
            else [c.response for c in calls if c.role == name and c.response]
        )
        for name in {call.role for call in calls}
    }

    def reply(asked: str) -> Response:
        found = next(left.get(asked, iter(())), None)
        if found is None:
            message = (
                f"on a wrong reply the test asks {asked} more than on the right one"
            )
            raise UnscoredError(message, cause="suite")
        return found

    return reply


def _can_run_again(item: Evaluation) -> bool:
    is_claimed = any(item.get_closest_marker(name) for name in ("asyncio", "anyio"))
    return not (is_claimed and inspect.iscoroutinefunction(item.obj))


def _raised(item: Evaluation) -> BaseException | None:
    """Run the body, and return what ended it early."""
    names = inspect.signature(item.obj).parameters
    arguments = {name: item.funcargs[name] for name in names if name in item.funcargs}
    try:
        if isinstance(item, TaskItem) or call_body(item) is None:
            item.obj(**arguments)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as exc:  # noqa: BLE001
        return exc
    return None


#: Why nothing can be said of an assertion: it was not the reply that was refused.
_UNASKED = frozenset({"recording", "provider"})


def _is_unasked(check: Check) -> bool:
    """Whether a judge could not be asked about the wrong reply."""
    if check.passed is not None or check.judge is not None:
        return False
    return check.cause in _UNASKED or (
        check.cause == "judge" and check.metric in {"judge", "pairwise"}
    )


def _is_held(check: Check) -> bool:
    """Whether a check's value is held against a bar, and not only kept."""
    return check.passed is not None or check.cause is not None


def _accepted(errors: int, checks: Sequence[Check]) -> bool | None:
    """Whether the whole body took the reply; None where that could not be seen."""
    if not errors:
        return True
    return None if errors <= sum(map(_is_unasked, checks)) else False
