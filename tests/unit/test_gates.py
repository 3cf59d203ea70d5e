"""Bars for a whole test: read, measured, decided."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.gates import Gate, evaluate, parse_gate, scoped_gate
from pytest_llmeval.types import Record


def check(value: Any, name: str = "f1", **rest: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "low": 0.0, "high": 1.0, **rest}


def call(**response: Any) -> dict[str, Any]:
    return {"role": "generator", "response": {"origin": "live", **response}}


def record(status: str = "passed", *checks: Any, calls: Any = ()) -> Record:
    sample = {"index": 0, "checks": list(checks), "calls": list(calls)}
    return Record(nodeid="t", test="t", case_id="c", status=status, samples=(sample,))


def records(**counts: int) -> list[Record]:
    return [record(status) for status, n in counts.items() for _ in range(n)]


def state(gate: str, cases: list[Record]) -> str:
    return evaluate(parse_gate(gate), cases).state


@pytest.mark.parametrize(
    ("text", "name", "operator", "bar"),
    [
        ("pass_rate >= 0.9", "pass_rate", ">=", 0.9),
        ("pass_rate>=90%", "pass_rate", ">=", 0.9),
        (" f1 >= .7 ", "f1", ">=", 0.7),
        ("p95_seconds <= 3", "p95_seconds", "<=", 3),
        ("cost <= 5e-1", "cost", "<=", 0.5),
        ("names the city >= 1.", "names the city", ">=", 1),
    ],
)
def test_a_gate_is_a_quantity_and_its_bar(
    text: str, name: str, operator: Any, bar: float
) -> None:
    assert parse_gate(text) == Gate(name=name, operator=operator, bar=bar)


@pytest.mark.parametrize(
    "text", ["", "pass_rate", "pass_rate > 0.9", "pass_rate >= high", ">= 1", 0.9, None]
)
def test_what_is_no_gate_is_refused(text: Any) -> None:
    with pytest.raises(ConfigError, match="such as 'pass_rate >= 0.9'"):
        parse_gate(text)


@pytest.mark.parametrize(
    ("counts", "decided"),
    [
        ({"passed": 9, "failed": 1}, "holds"),
        ({"passed": 9, "gated": 1}, "holds"),
        ({"passed": 8, "known": 2}, "fails"),
        # The unscored one as a failure: 9 of 11. As a pass: 10 of 11.
        ({"passed": 9, "failed": 1, "unscored": 1}, "undecided"),
        ({"passed": 99, "unscored": 1}, "holds"),
        ({"passed": 1, "failed": 9, "unscored": 1}, "fails"),
        ({"passed": 9, "failed": 1, "skipped": 5, "xfailed": 3}, "holds"),
        ({"unscored": 3}, "undecided"),
        ({"skipped": 3}, "undecided"),
    ],
)
def test_an_unscored_case_decides_for_nobody(
    counts: dict[str, int], decided: str
) -> None:
    assert state("pass_rate >= 0.9", records(**counts)) == decided


def test_a_rate_has_its_count_and_interval() -> None:
    measured = evaluate(
        parse_gate("pass_rate >= 0.9"), records(passed=9, failed=1, unscored=2)
    ).measured

    assert measured is not None
    assert (measured.value, measured.n, measured.unknown) == (0.9, 10, 2)
    assert measured.interval == pytest.approx((0.596, 0.982), abs=1e-3)


@pytest.mark.parametrize(
    ("gate", "cases"),
    [
        # 7 / 20 and 8 / 20 - 0.05 differ in the last bit of a double.
        (f"pass_rate >= {8 / 20 - 0.05!r}", records(passed=7, failed=13)),
        ("f1 >= 0.7", [record("passed", check(0.7)) for _ in range(3)]),
        ("f1 <= 0.7", [record("passed", check(0.7)) for _ in range(3)]),
    ],
)
def test_float_noise_decides_no_gate(gate: str, cases: list[Record]) -> None:
    assert state(gate, cases) == "holds"


@pytest.mark.parametrize(
    ("bar", "decided"), [(0.5, "holds"), (0.75, "undecided"), (0.9, "fails")]
)
def test_the_mean_of_a_check_takes_unscored_ones_as_worst_and_best(
    bar: float, decided: str
) -> None:
    cases = [record("passed", check(0.8)), record("passed", check(0.7))]

    assert state(f"f1 >= {bar}", [*cases, record("unscored", check(None))]) == decided


def test_a_case_that_never_came_to_its_check_is_unknown_too() -> None:
    cases = [record("passed", check(1.0)), record("unscored")]

    assert state("f1 >= 0.9", cases) == "undecided"


def test_a_scale_without_an_end_can_not_be_decided() -> None:
    cases = [record("passed", check(50.0, high="inf")), record("unscored", check(None))]

    assert state("f1 <= 60", cases) == "undecided"


def test_a_misspelt_quantity_names_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"'pas_rate' \(did you mean 'pass_rate'\?\).* f1, "
    ):
        evaluate(parse_gate("pas_rate >= 1"), [record("passed", check(1.0))])


@pytest.mark.parametrize(
    ("costs", "decided"),
    [
        ([0.2, 0.2], "holds"),
        ([0.4, 0.4], "fails"),
        ([0.2, None], "undecided"),
        ([0.6, None], "fails"),
        ([], "holds"),
    ],
)
def test_an_unknown_price_may_be_any(costs: list[float | None], decided: str) -> None:
    calls = [call(cost=cost) for cost in costs]

    assert state("cost <= 0.5", [record(calls=calls)]) == decided


def test_tokens_are_those_of_question_and_answer() -> None:
    usage = {"input_tokens": 60, "output_tokens": 40}

    assert state("tokens <= 100", [record(calls=[call(usage=usage)])]) == "holds"
    assert state("tokens <= 99", [record(calls=[call(usage=usage)])]) == "fails"


def test_seconds_count_live_replies_alone() -> None:
    replayed = {"role": "generator", "response": {"origin": "recording"}}
    live = call(latency_seconds=2.0)

    assert state("p95_seconds <= 3", [record(calls=[live, replayed])]) == "holds"
    result = evaluate(parse_gate("p95_seconds <= 3"), [record(calls=[replayed])])
    assert (result.state, result.reason) == ("undecided", "not measured")


@pytest.mark.parametrize("text", ["pass_rate >= 90", "pass@2 >= 90", "pass^2 <= 90"])
def test_a_bar_that_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"from 0 to 1, .* is 90 \(90 % is 0.9\)"):
        parse_gate(text)


def test_a_tag_without_its_word_is_told_what_to_write() -> None:
    with pytest.raises(ConfigError, match="write 'tag hard: pass_rate >= 0.8'"):
        scoped_gate("hard: pass_rate >= 0.8")

    assert scoped_gate("my: check >= 0.8")[1].name == "my: check"
