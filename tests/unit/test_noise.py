"""What a comparison says of models that answer by chance, their rates known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_llmeval.baseline import Standing, compare, decide
from pytest_llmeval.clients.fake import Line
from pytest_llmeval.report.repeats import RepeatCounter
from pytest_llmeval.types import Record

#: Of a case to pass, before; as in a suite, some cases are sure and others waver.
STEADY = [0.95] * 100 + [0.8] * 60 + [0.5] * 40


def passes(rates: Sequence[float], seed: int, repeat: int = 1) -> list[list[bool]]:
    """Return how the samples of each case end, of a model with these rates."""
    return [
        [line.said(f"question {n}", sample) == "yes" for sample in range(repeat)]
        for n, rate in enumerate(rates)
        for line in [Line(reply=("yes", "no"), weights=(rate, 1 - rate), seed=seed)]
    ]


def run(rates: Sequence[float], seed: int) -> list[Standing]:
    return [
        Standing(test="t", case_id=str(n), status="passed" if passed else "failed")
        for n, (passed,) in enumerate(passes(rates, seed))
    ]


def fires(now: list[Standing], before: list[Standing]) -> bool:
    decision = decide(compare(now, before), "significant", allow_missing=False)
    return decision.state == "fails"


def test_two_runs_of_one_model_are_rarely_called_different() -> None:
    found = sum(
        fires(run(STEADY, seed + 1), run(STEADY, seed)) for seed in range(1, 401, 2)
    )

    assert found <= 10  # of 200


def test_a_loss_of_15_points_in_200_cases_is_nearly_always_found() -> None:
    worse = [rate - 0.15 for rate in STEADY]

    found = sum(
        fires(run(worse, seed + 1), run(STEADY, seed)) for seed in range(1, 201, 2)
    )

    assert found >= 90  # of 100


def test_repeats_estimate_what_a_model_of_known_rate_does() -> None:
    rate, cases, repeat = 0.7, 400, 5
    counter = RepeatCounter()

    for case in passes([rate] * cases, 1, repeat):
        statuses = ["passed" if passed else "failed" for passed in case]
        counter.add(
            Record(
                nodeid="t.py::t[c]",
                test="t.py::t",
                case_id="c",
                status="passed" if all(case) else "failed",
                repeat=repeat,
                samples=tuple({"status": status} for status in statuses),
            )
        )

    summary = counter.summary()
    for k in range(1, repeat + 1):
        at, hat = 1 - (1 - rate) ** k, rate**k
        # Four standard errors of a rate over as many cases, more than estimates have.
        allowed = 4 * (0.25 / cases) ** 0.5
        assert summary.pass_at[k - 1] == pytest.approx(at, abs=allowed)
        assert summary.pass_hat[k - 1] == pytest.approx(hat, abs=allowed)
