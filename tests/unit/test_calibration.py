"""A judge against people: words, numbers, gates."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.calibration import (
    Labelled,
    calibration_of,
    labelled,
    lines_of,
)
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.gates import calibration_gate, decided, measured_of
from pytest_llmeval.judging import settle
from pytest_llmeval.types import Verdict


def rows(**counts: int) -> list[Labelled]:
    """``PF=3``: three replies that people pass and the judge fails; ``_``: nothing."""
    words = {"P": "PASS", "F": "FAIL", "_": None}
    return [
        Labelled(true=str(words[name[0]]), said=words[name[1]])
        for name, count in counts.items()
        for _ in range(count)
    ]


# --- words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("true", "verdict", "expected"),
    [
        ("PASS", "PASS", ("PASS", "PASS")),
        ("pass", "FAIL", ("PASS", "FAIL")),
        (" Fail ", "FAIL", ("FAIL", "FAIL")),
        (True, "FAIL", ("PASS", "FAIL")),
        ("false", "PASS", ("FAIL", "PASS")),
        ("pass", None, ("PASS", None)),
    ],
)
def test_a_label_is_compared_with_the_verdict(
    true: Any, verdict: Any, expected: tuple[str, str | None]
) -> None:
    found = labelled(true, Verdict(verdict=verdict).to_json(), passed=None)

    assert (found.true, found.said) == expected


@pytest.mark.parametrize(
    ("true", "passed", "expected"),
    [
        ("good", True, ("Good", "Good")),
        ("Bad", True, ("Bad", "Good")),
        ("PASS", True, ("PASS", "PASS")),
        ("PASS", False, ("PASS", "FAIL")),
    ],
)
def test_a_label_of_a_score_map_is_compared_with_labels_or_with_the_bar(
    true: str, passed: bool, expected: tuple[str, str]
) -> None:
    verdict = Verdict(verdict=None, label="Good", score=1.0)

    found = labelled(true, verdict.to_json(), passed)

    assert (found.true, found.said) == expected


def test_a_comparison_is_held_against_win_tie_and_loss() -> None:
    won = settle("Response B", "Response A").to_json()
    torn = settle("Response A", "Response A").to_json()

    assert labelled("Win", won, None) == Labelled(true="win", said="win")
    assert labelled("tie", torn, None) == Labelled(true="tie", said=None)


@pytest.mark.parametrize("true", [None, "", " ", "maybe", 3])
def test_a_row_without_a_usable_label_is_a_broken_row(true: Any) -> None:
    with pytest.raises(UnscoredError) as caught:
        labelled(true, Verdict(verdict="PASS").to_json(), passed=True)

    assert caught.value.cause == "data"


# --- numbers ----------------------------------------------------------------------------


def test_undecided_replies_are_told_apart() -> None:
    found = calibration_of(rows(PP=8, FF=6, PF=1, FP=1, P_=2, F_=2))

    assert (found.n, found.undecided) == (20, 4)
    assert found.agreement.n == 16
    assert found.agreement.accuracy == 14 / 16
    assert found.agreement.kappa == pytest.approx(1 - (2 / 16) / (1 - 130 / 256))
    data = found.to_json()
    assert data["undecided_rate"] == 0.2
    assert {"true": "PASS", "said": "FAIL", "count": 1} in data["confusion"]


@pytest.mark.parametrize(
    ("counts", "gate", "state"),
    [
        ({"PP": 10, "FF": 10}, "kappa >= 0.6", "holds"),
        ({"PP": 10, "FF": 10, "P_": 1}, "kappa >= 0.6", "holds"),
        ({"PP": 5, "FF": 5, "P_": 5}, "kappa >= 0.6", "undecided"),
        ({"PP": 5, "FF": 5, "PF": 5, "FP": 5}, "kappa >= 0.6", "fails"),
        ({"PP": 5, "FF": 5, "PF": 5, "FP": 5, "F_": 1}, "kappa >= 0.6", "fails"),
        ({"PP": 10}, "kappa >= 0.6", "undecided"),
        ({}, "kappa >= 0.6", "undecided"),
        ({"PP": 9, "PF": 1}, "accuracy >= 0.9", "holds"),
        ({"PP": 9, "P_": 1}, "accuracy >= 0.95", "undecided"),
        ({"PP": 9, "P_": 1}, "undecided <= 0.1", "holds"),
        ({"PP": 8, "P_": 2}, "undecided <= 0.1", "fails"),
    ],
)
def test_a_gate_holds_only_whatever_the_missing_verdicts_were(
    counts: dict[str, int], gate: str, state: str
) -> None:
    found = calibration_of(rows(**counts))

    parsed = calibration_gate(gate)
    result = decided(parsed, measured_of(found, parsed.name))

    assert result.state == state
    assert bool(result.reason) == (state == "undecided")


@pytest.mark.parametrize(
    ("text", "message"),
    [("kapa >= 0.6", "did you mean 'kappa'"), ("kappa > 0.6", "a gate is")],
)
def test_a_gate_that_can_not_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        calibration_gate(text)


def test_the_lines_of_a_calibration() -> None:
    found = calibration_of(rows(PP=24, FF=12, PF=2, FP=2, F_=1))

    assert list(lines_of(found, "grader")) == [
        "calibration of grader: 41 labelled replies",
        "  accuracy   90 % (36 of 40, 77–96)",
        "  kappa      0.78 (0.49 to 0.91)",
        "  base rate  65 %: what saying PASS every time would score",
        "  undecided  2 % (1 of 41)",
        "  label, judge:       FAIL    PASS",
        "  FAIL                  12       2",
        "  PASS                   2      24",
    ]


def test_a_kappa_that_is_not_defined_says_why() -> None:
    lines = list(lines_of(calibration_of(rows(PP=3)), "grader"))

    assert (
        "  kappa      not defined: every label or every verdict is the same word"
        in (lines)
    )
