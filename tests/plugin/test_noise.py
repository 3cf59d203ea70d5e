"""Models that answer by chance, at known rates, through whole runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="fake:noisy.jsonl")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""


def noisy(suite: Suite, rate: float, seed: int, cases: int = 200) -> None:
    """Write a suite whose model answers each case rightly at this rate."""
    rows = [{"id": f"c{n}", "input": f"<{n}>", "expected": "yes"} for n in range(cases)]
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=TEST)
    reply = {"yes": rate, "no": 1 - rate}
    suite.rows("noisy.jsonl", [{"reply": reply, "seed": seed}])


def test_noise_passes_and_a_loss_of_15_points_fails(suite: Suite) -> None:
    def compared(rate: float, seed: int) -> tuple[int, str]:
        noisy(suite, rate, seed)
        result, report = suite.report(
            "--llmeval-compare=main", "--llmeval-fail-on=significant", "--tb=no"
        )
        return result.ret, report["comparison"]["state"]

    noisy(suite, 0.9, seed=1)
    suite.run("--llmeval-save=main", "--tb=no")

    assert compared(0.9, seed=2)[0] == pytest.ExitCode.OK
    assert compared(0.75, seed=3) == (pytest.ExitCode.TESTS_FAILED, "fails")


def test_repeats_find_the_rates_of_the_model(suite: Suite) -> None:
    noisy(suite, 0.7, seed=4, cases=100)

    # What asks for all samples, so that no case is stopped by what it said.
    _, report = suite.report(
        "--llmeval-repeat=4", "--llmeval-fail-on-unstable", "--tb=no"
    )

    repeats = report["repeats"]
    assert (repeats["samples"], repeats["whole"]) == (400, 100)
    for k in (1, 2, 3, 4):
        # Four standard errors of a rate over 100 cases.
        assert repeats["pass_at"][str(k)] == pytest.approx(1 - 0.3**k, abs=0.2)
        assert repeats["pass_hat"][str(k)] == pytest.approx(0.7**k, abs=0.2)
