"""The case that is running here: what it asked, what it scored.

A context variable holds it, so that a body on a thread or a task of its own finds its
own case. Outside a case (a notebook, a plain script) there is none, and the assertion
helpers work all the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_llmeval.diffs import cut
from pytest_llmeval.errors import EvalAssertionError, UnscoredError, UserError
from pytest_llmeval.types import (
    Call,
    Case,
    Check,
    Fingerprints,
    Sample,
    as_text,
    comparison_noted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_llmeval.types import Response

__all__ = ["CaseRun", "Plan", "SampleRun", "begin", "current_sample", "end", "pause"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the markers and options say about a test's cases."""

    prompt: Any = None
    """A `prompts.Template`, or None: the case's input is the prompt."""
    system: Any = None
    generator: Any = None
    """A model spec, a mapping or a callable; None when none is configured."""
    judge: Any = None
    kind: Any = None
    """A `kinds.KindUse`, or None."""
    has_own_prompt: bool = False
    """Whether the test gives the prompt; else it is that of the kind, or none."""
    gates: tuple[str, ...] = ()
    """Bars for all of the test's cases together."""
    repeat: int = 1
    """How many samples of each case there are: runs of the body."""
    min_sample_rate: float = 1.0
    """The share of them that must pass."""
    stops_early: bool = True
    """Whether samples are left out that can't change the outcome any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One case of one test, as it is about to run."""

    nodeid: str
    test: str
    case: Case
    plan: Plan = field(default_factory=Plan)
    params: Mapping[str, str] = field(default_factory=dict)
    rerun: str = ""
    """The command that runs this case alone."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)


class SampleRun:
    """One run of a case's body, filled while it runs.

    Args:
        run: The case.
        index: 0 for the first run of the body.
    """

    def __init__(self, run: CaseRun, index: int = 0) -> None:
        self.run = run
        self.index = index
        self.calls: list[Call] = []
        self.checks: list[Check] = []
        self.attachments: dict[str, str] = {}
        self.recordings: list[dict[str, Any]] = []
        """Replies to be kept on disk, as the recordings room writes them."""
        self.logged: list[dict[str, Any]] = []
        """Lines of a YAML task's log of samples, where one is kept."""
        self.deferred: list[EvalAssertionError | UnscoredError] | None = None
        """What an `all_checks` block has gathered; None outside of one."""
        self.pauses: Callable[[bool], None] | None = None
        """Told when a call of it begins to wait for another attempt, and ends to."""
        self.is_in_setup = False
        """Its fixtures are being made: what they ask may be for other cases too."""
        self.is_over = False
        """Nobody waits for the body any more: what it still asks is not asked."""
        self.checked_nothing = False
        """The body ended without a check, so that it says nothing of the reply."""
        self.calibration: dict[str, Any] | None = None
        """In a calibration: what a person and the judge say of the reply."""
        self.stand_in: Callable[[str], Response] | None = None
        """Gives the replies of a role in place of its model, to try the checks."""

    def add_call(self, call: Call) -> None:
        """Keep a question to a model and its answer."""
        self.calls.append(call)

    @property
    def reply(self) -> str | None:
        """What the model under test replied last; None where it did not."""
        for call in reversed(self.calls):
            response = call.response if call.role == "generator" else None
            if response is not None and not (
                response.likelihood is not None or response.embeddings
            ):
                return response.text
        return None

    def add_check(self, check: Check) -> None:
        """Keep a check.

        Raises:
            UserError: Another check of this case has the name.
        """
        if any(other.name == check.name for other in self.checks):
            message = (
                f"this case has a check named {check.name!r} already: reports and "
                f"baselines tell checks apart by name, so give the second one "
                f"its own, name='...'"
            )
            raise UserError(message)
        self.checks.append(check)

    def note_comparison(self, check: Check) -> None:
        """Keep the comparison of a Score with a number under a name of its own."""
        taken = {other.name for other in self.checks}
        name, count = check.name, 1
        while name in taken:
            count += 1
            name = f"{check.name} {count}"
        self.checks.append(_renamed(check, name))

    def add_attachment(self, name: str, value: object) -> None:
        """Keep a text that a reader of the report should see beside the case."""
        self.attachments[name] = as_text(value)

    def follow(self, earlier: SampleRun) -> None:
        """Take in what was kept of the same case before its body ran."""
        self.calls[:0] = earlier.calls
        self.checks[:0] = earlier.checks
        self.recordings[:0] = earlier.recordings
        self.attachments = {**earlier.attachments, **self.attachments}

    def stop_or_defer(self, error: EvalAssertionError | UnscoredError) -> None:
        """Raise `error`, or keep it for the end of an `all_checks` block."""
        __tracebackhide__ = True
        if self.deferred is None:
            raise error
        self.deferred.append(error)

    def all_checks(self, *, outweighs: type[BaseException] | None = None) -> AllChecks:
        """Return a block that runs every check in it before failing with all of them.

        Args:
            outweighs: What a check that did not hold is heavier than: ended by such an
                exception (a skip), the block fails with its checks all the same.
        """
        return AllChecks(self, outweighs)

    def sample(self, status: str, *, cause: str | None, reason: str) -> Sample:
        """Return what is kept of this run."""
        return Sample(
            index=self.index,
            status=status,
            cause=cause,
            reason=reason,
            calls=tuple(self.calls),
            checks=tuple(self.checks),
            attachments=dict(self.attachments),
        )


class AllChecks:
    """A block of checks; a block within another is a part of it.

    A class and no generator: a traceback would show the frames of contextlib.

    Args:
        sample: The case that is running.
        outweighs: See `SampleRun.all_checks`.
    """

    def __init__(
        self, sample: SampleRun, outweighs: type[BaseException] | None
    ) -> None:
        self._sample = sample
        self._outweighs = outweighs
        self._is_outer = False

    def __enter__(self) -> None:
        self._is_outer = self._sample.deferred is None
        if self._is_outer:
            self._sample.deferred = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: object,
    ) -> None:
        __tracebackhide__ = True
        if not self._is_outer:
            return
        found, self._sample.deferred = self._sample.deferred or [], None
        has_failed = any(isinstance(one, EvalAssertionError) for one in found)
        if error is None or (self._outweighs and isinstance(error, self._outweighs)):
            if error is None or has_failed:
                _raise_all(found)
            return
        for one in found:
            error.add_note(f"before that, in the same all_checks block: {one}")


def _renamed(check: Check, name: str) -> Check:
    return check if name == check.name else replace(check, name=name)


def _raise_all(found: list[EvalAssertionError | UnscoredError]) -> None:
    """Raise one error for all: a check that did not hold outweighs an unscored one."""
    __tracebackhide__ = True
    if not found:
        return
    if len(found) == 1:
        raise found[0]
    failed = sum(isinstance(error, EvalAssertionError) for error in found)
    texts = "\n\n".join(f"{n}. {error}" for n, error in enumerate(found, 1))
    counts = f"{failed} failed" if failed else ""
    if unscored := len(found) - failed:
        counts += f"{', ' if counts else ''}{unscored} unscored"
    heads = "; ".join(cut(str(error).partition("\n")[0], 60) for error in found[:3])
    more = "; …" if len(found) > 3 else ""
    message = f"{len(found)} checks did not hold ({counts}): {heads}{more}\n\n{texts}"
    if failed:
        raise EvalAssertionError(message)
    first = next(error for error in found if isinstance(error, UnscoredError))
    raise UnscoredError(message, cause=first.cause)


_current: ContextVar[SampleRun | None] = ContextVar("llmeval_sample", default=None)


def current_sample() -> SampleRun | None:
    """Return the case that is running here, None outside of one."""
    return _current.get()


@contextmanager
def pause() -> Iterator[None]:
    """Let other cases have the place of the running one: it waits for another attempt."""
    sample = _current.get()
    tell = sample.pauses if sample is not None else None
    if tell is None:
        yield
        return
    tell(True)
    try:
        yield
    finally:
        tell(False)


def begin(sample: SampleRun) -> None:
    """Make `sample` the current one, in this context and those copied from it."""
    _current.set(sample)
    comparison_noted.set(sample.note_comparison)


def end() -> None:
    """Leave the current sample."""
    _current.set(None)
    comparison_noted.set(None)
