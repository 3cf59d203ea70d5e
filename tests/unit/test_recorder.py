from __future__ import annotations

import pytest

from pytest_llmeval.errors import EvalAssertionError, UnscoredError, UserError
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, current_sample, end
from pytest_llmeval.types import Case, Score


@pytest.fixture
def sample() -> SampleRun:
    return SampleRun(CaseRun(nodeid="t.py::t[a]", test="t.py::t", case=Case(id="a")))


def score(value: float | None = 1.0) -> Score:
    return Score(metric="f1", value=value)


def test_there_is_no_sample_outside_a_case() -> None:
    assert current_sample() is None


def test_a_comparison_of_a_running_case_is_kept(sample: SampleRun) -> None:
    begin(sample)
    assert score() >= 0.5
    assert score(0.4) <= 0.5
    end()

    assert [check.name for check in sample.checks] == ["f1", "f1 2"]
    assert current_sample() is None


def test_two_checks_can_not_share_a_name(sample: SampleRun) -> None:
    sample.add_check(score().check(">=", 0.5))

    with pytest.raises(UserError, match="has a check named 'f1' already.*name="):
        sample.add_check(score().check(">=", 0.6))


def test_a_block_without_trouble_ends_quietly(sample: SampleRun) -> None:
    with sample.all_checks():
        pass


def run_block(sample: SampleRun, *errors: Exception) -> None:
    """Run a block in which each of `errors` happens, ours by way of the sample."""
    with sample.all_checks():
        for error in errors:
            if isinstance(error, EvalAssertionError | UnscoredError):
                sample.stop_or_defer(error)
            else:
                raise error


def test_a_block_fails_with_all_of_its_checks(sample: SampleRun) -> None:
    errors = (EvalAssertionError("first"), UnscoredError("second", cause="judge"))

    with pytest.raises(EvalAssertionError, match="2 checks did not hold") as caught:
        run_block(sample, *errors)

    assert "(1 failed, 1 unscored)" in str(caught.value)
    assert "1. first" in str(caught.value)
    assert "2. second" in str(caught.value)


def test_a_block_with_one_error_raises_it_as_it_is(sample: SampleRun) -> None:
    with pytest.raises(EvalAssertionError, match="^only$"):
        run_block(sample, EvalAssertionError("only"))


def test_a_block_of_unscored_checks_is_unscored(sample: SampleRun) -> None:
    errors = [UnscoredError(name, cause=name) for name in ("judge", "data")]

    with pytest.raises(UnscoredError) as caught:
        run_block(sample, *errors)

    assert caught.value.cause == "judge"


def test_an_exception_in_a_block_carries_what_failed_before(sample: SampleRun) -> None:
    with pytest.raises(KeyError) as caught:
        run_block(sample, EvalAssertionError("first"), KeyError("boom"))

    assert caught.value.__notes__ == [
        "before that, in the same all_checks block: first"
    ]


class Skipped(BaseException):
    """What ends a block early, as pytest.skip does."""


def test_what_a_failed_check_outweighs_hides_none(sample: SampleRun) -> None:
    def skipping() -> None:
        with sample.all_checks(outweighs=Skipped):
            sample.stop_or_defer(EvalAssertionError("first"))
            raise Skipped

    with pytest.raises(EvalAssertionError, match="^first$"):
        skipping()


def test_a_check_without_a_value_does_not_outweigh(sample: SampleRun) -> None:
    def skipping() -> None:
        with sample.all_checks(outweighs=Skipped):
            sample.stop_or_defer(UnscoredError("no value", cause="data"))
            raise Skipped

    with pytest.raises(Skipped):
        skipping()


def test_a_block_in_a_block_is_ended_by_the_outer_one(sample: SampleRun) -> None:
    def nested() -> None:
        with sample.all_checks():
            run_block(sample, EvalAssertionError("first"))
            sample.stop_or_defer(EvalAssertionError("second"))

    with pytest.raises(EvalAssertionError, match="2 checks"):
        nested()


def test_checks_after_a_block_stop_at_once_again(sample: SampleRun) -> None:
    with sample.all_checks():
        pass

    with pytest.raises(EvalAssertionError, match="after"):
        sample.stop_or_defer(EvalAssertionError("after"))


def test_what_is_kept_has_calls_checks_and_attachments(sample: SampleRun) -> None:
    sample.add_check(score().check(">=", 0.5))
    sample.add_attachment("trace", {"step": 1})

    kept = sample.sample("passed", cause=None, reason="").to_json()

    assert kept["checks"][0]["value"] == 1.0
    assert kept["attachments"] == {"trace": '{"step": 1}'}
