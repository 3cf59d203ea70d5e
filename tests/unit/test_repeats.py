"""Repeated cases in numbers: when they are decided, what is estimated from them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.gates import evaluate, parse_gate
from pytest_llmeval.report.repeats import RepeatCounter
from pytest_llmeval.report.replies import grouped, replies_line
from pytest_llmeval.stats import samples_needed, settled
from pytest_llmeval.types import Record


def record(*statuses: str, repeat: int | None = None, status: str = "passed") -> Record:
    return Record(
        nodeid="t.py::t[c]",
        test="t.py::t",
        case_id="c",
        status=status,
        repeat=len(statuses) if repeat is None else repeat,
        samples=tuple(sample(one) for one in statuses),
    )


def sample(status: str) -> dict[str, Any]:
    return {"status": status, "calls": [], "checks": []}


@pytest.mark.parametrize(
    ("n", "rate", "needed"),
    [(5, 1.0, 5), (5, 0.6, 3), (10, 0.7, 7), (3, 0.01, 1), (3, 0.34, 2), (1, 0.5, 1)],
)
def test_how_many_must_pass(n: int, rate: float, needed: int) -> None:
    assert samples_needed(n, rate) == needed


def test_what_is_settled_holds_however_the_others_end() -> None:
    n = 5
    for needed, ends in product(range(1, n + 1), product("pf", repeat=n)):
        whole = settled(
            n=n, needed=needed, passed=ends.count("p"), failed=ends.count("f")
        )
        for ended in range(n):
            some = ends[:ended]
            early = settled(
                n=n, needed=needed, passed=some.count("p"), failed=some.count("f")
            )
            assert early in {None, whole}
        assert whole is not None


def test_estimates_are_the_share_of_all_pairs() -> None:
    counter = RepeatCounter()
    counter.add(record("passed", "failed", "passed"))
    counter.add(record("failed", "failed", "failed", status="failed"))
    counter.add(record("failed", repeat=3, status="failed"))  # stopped early
    counter.add(record("passed"))  # not repeated

    found = counter.summary()

    assert (found.cases, found.whole, found.samples) == (3, 2, 7)
    assert found.pass_at == pytest.approx((1 / 3, 1 / 2, 1 / 2))
    assert found.pass_hat == pytest.approx((1 / 3, (1 / 3) / 2, 0))
    assert found.unstable == 1


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        ("pass@2 >= 1", "holds"),
        ("pass^2 >= 0.3", "undecided"),
        ("pass^2 >= 1", "undecided"),
        ("pass@3 <= 0.5", "fails"),
    ],
)
def test_an_unscored_sample_may_be_anything(gate: str, state: str) -> None:
    records = [record("passed", "passed", "unscored")]

    assert evaluate(parse_gate(gate), records).state in {state, "undecided"}


def test_a_gate_holds_where_no_sample_could_break_it() -> None:
    records = [record("passed", "passed", "unscored"), record("passed", "passed")]

    result = evaluate(parse_gate("pass@2 >= 1"), records)

    assert result.state == "holds"
    assert result.measured is not None
    assert (result.measured.n, result.measured.unknown) == (1, 1)


def test_a_gate_is_undecided_where_a_sample_decides() -> None:
    records = [record("passed", "unscored")]

    result = evaluate(parse_gate("pass^2 >= 1"), [*records, record("passed", "passed")])

    assert result.state == "undecided"


def test_skipped_cases_are_left_out() -> None:
    records = [
        record("skipped", repeat=2, status="skipped"),
        record("passed", "passed"),
    ]

    result = evaluate(parse_gate("pass^2 >= 1"), records)

    assert result.state == "holds"


def test_a_gate_about_more_samples_than_there_are_is_told() -> None:
    with pytest.raises(ConfigError, match=r"pass@3 needs 3 samples .* there are 2"):
        evaluate(parse_gate("pass@3 >= 1"), [record("passed", "passed")])


def test_alike_replies_stand_together() -> None:
    replies = ["Lyon", *["Paris"] * 4, "Paris, France", None, " Paris\n"]

    assert grouped(replies) == [("Paris", 5), ("Lyon", 1), ("Paris, France", 1)]
    assert replies_line(replies) == "5× Paris · 1× Lyon · 1× Paris, France"


def test_a_line_of_replies_is_short_and_inert() -> None:
    replies = ["", "\x1b[31mred", "a\nb", "x" * 100_000, "y", "z", "w"]

    line = replies_line(replies)

    assert line.startswith("1× (empty) · 1× \\x1b[31mred · 1× a\\nb · 1× xxx")
    assert line.endswith("· 1× y · 2 others")
    assert len(line) < 200
