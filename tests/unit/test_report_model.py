from __future__ import annotations

from typing import Any, get_args

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.model import STATUSES, Report, Row, Totals
from pytest_llmeval.report.usage import Cost, Latency, Origins, Tokens
from pytest_llmeval.types import (
    Call,
    Check,
    Pool,
    Prompt,
    Record,
    Response,
    Sample,
    Status,
    Usage,
)

PROMPT = Prompt.of("Capital of Peru?")
USAGE = Usage(input_tokens=10, output_tokens=2)


def check(value: float | None, name: str = "f1", **changes: Any) -> Check:
    values: dict[str, Any] = {
        "metric": "f1",
        "name": name,
        "value": value,
        "operator": ">=",
        "threshold": 0.6,
        "passed": None if value is None else value >= 0.6,
    }
    return Check(**{**values, **changes})


def call(role: str = "generator", **changes: Any) -> Call:
    values: dict[str, Any] = {"text": "Lima", "provider": "openai", "usage": USAGE}
    response = Response(**{**values, **changes})
    return Call(role=role, client="app", prompt=PROMPT, response=response)


def record(
    case_id: str = "peru",
    status: str = "passed",
    *,
    test: str = "test_a.py::test_x",
    checks: tuple[Check, ...] = (),
    calls: tuple[Call, ...] = (),
    **changes: Any,
) -> Record:
    sample = Sample(index=0, status=status, checks=checks, calls=calls)
    values: dict[str, Any] = {
        "nodeid": f"{test}[{case_id}]",
        "test": test,
        "case_id": case_id,
        "status": status,
        "samples": (sample.to_json(),),
    }
    return Record(**{**values, **changes})


def report_of(*records: Record) -> Report:
    return build_report(records, {})


def row_of(*records: Record) -> Row:
    (row,) = report_of(*records).rows
    return row


def row_of_calls(*calls: Call) -> Row:
    return row_of(record(calls=calls))


def test_every_status_of_a_record_is_known() -> None:
    assert set(get_args(Status)) < set(STATUSES)


def test_every_case_is_counted_once() -> None:
    totals = report_of(*(record(status, status) for status in STATUSES)).totals

    assert totals == Totals(cases=9, **dict.fromkeys(STATUSES, 1))


def test_the_pass_rate_is_of_scored_cases() -> None:
    statuses = ["passed", "failed", "gated", "known", "unscored", "skipped", "not_run"]
    totals = report_of(*(record(status, status) for status in statuses)).totals

    assert totals.scored == 4
    assert totals.pass_rate == 0.25
    assert totals.interval == pytest.approx((0.0456, 0.6994), abs=5e-5)


def test_without_a_scored_case_there_is_no_pass_rate() -> None:
    totals = report_of(record(status="unscored")).totals

    assert totals.pass_rate is None
    assert totals.interval is None


def test_an_empty_run_has_no_rows() -> None:
    report = build_report([], {"started": "now"})

    assert report.rows == ()
    assert report.totals == Totals()
    assert report.run == {"started": "now"}


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(UserError) as caught:
        report_of(record(status="lost"))

    assert str(caught.value) == (
        "test_a.py::test_x[peru] has the status 'lost'; there are passed, failed, "
        "unscored, gated, known, skipped, xfailed, xpassed, not_run"
    )


def test_rows_are_tests_with_their_parameters_in_the_order_first_seen() -> None:
    report = report_of(
        record("1", test="b.py::TestB::test_x"),
        record("2", test="a.py::test_x", params={"generator": "lab"}),
        record("3", test="a.py::test_x", params={"generator": "app"}),
        record("4", test="b.py::TestB::test_x"),
    )

    assert [(row.name, row.nodeid, row.params) for row in report.rows] == [
        ("TestB::test_x", "b.py::TestB::test_x", {}),
        ("test_x", "a.py::test_x", {"generator": "lab"}),
        ("test_x", "a.py::test_x", {"generator": "app"}),
    ]
    assert [case.case_id for case in report.cases] == ["1", "4", "2", "3"]
    assert [row.totals.cases for row in report.rows] == [2, 1, 1]


def test_a_test_without_a_function_is_named_by_its_node_id() -> None:
    assert row_of(record(test="task.yaml")).name == "task.yaml"


def test_a_mean_is_of_scored_checks_alone() -> None:
    row = row_of(
        record("1", checks=(check(1.0),)),
        record("2", checks=(check(0.5),)),
        record("3", checks=(check(None),)),
    )
    (metric,) = row.metrics

    assert (metric.mean, metric.n, metric.unscored) == (0.75, 2, 1)


def test_a_metric_that_was_never_scored_has_no_mean() -> None:
    (metric,) = row_of(record(checks=(check(None),))).metrics

    assert (metric.mean, metric.n, metric.unscored) == (None, 0, 1)


def test_a_value_that_is_no_number_in_json_is_not_in_the_mean() -> None:
    (metric,) = row_of(record(checks=(check(float("inf")),))).metrics

    assert (metric.mean, metric.n, metric.unscored) == (None, 0, 1)


def test_checks_of_one_metric_are_told_apart_by_name() -> None:
    row = row_of(record(checks=(check(1.0, "city"), check(0.0, "land"))))

    assert [(m.name, m.metric, m.mean) for m in row.metrics] == [
        ("city", "f1", 1.0),
        ("land", "f1", 0.0),
    ]


def test_direction_and_version_stand_beside_a_mean() -> None:
    (metric,) = row_of(
        record(checks=(check(1.0, higher_is_better=False, version=3),))
    ).metrics

    assert (metric.higher_is_better, metric.version) == (False, 3)


def test_mixed_versions_of_a_metric_are_no_version() -> None:
    (metric,) = row_of(
        record("1", checks=(check(1.0, version=1),)),
        record("2", checks=(check(1.0, version=2),)),
    ).metrics

    assert metric.version is None


def f1_check(right: int, too_many: int, missing: int) -> Check:
    value = 2 * right / (2 * right + too_many + missing)
    return check(value, pool=Pool(form="f1", counts=(right, too_many, missing)))


def test_counts_make_a_value_over_all_cases_beside_the_mean() -> None:
    checks = [f1_check(1, 0, 0), f1_check(0, 1, 9), check(None)]
    (metric,) = row_of(*(record(checks=(c,)) for c in checks)).metrics

    assert (metric.mean, metric.n, metric.unscored) == (0.5, 2, 1)
    assert (metric.pooled, metric.pooled_as) == (2 / 12, "micro")


@pytest.mark.parametrize(
    "other",
    [
        check(1.0),
        check(1.0, pool=Pool(form="ratio", counts=(1, 2))),
        check(1.0, pool=Pool(form="f1", counts=(1, 2))),
    ],
)
def test_checks_that_do_not_add_up_have_a_mean_alone(other: Check) -> None:
    (metric,) = row_of(
        record(checks=(f1_check(1, 0, 0),)), record(checks=(other,))
    ).metrics

    assert (metric.mean, metric.pooled, metric.pooled_as) == (1.0, None, None)


def test_an_endless_value_over_all_cases_is_none() -> None:
    pool = Pool(form="exp_rate", counts=(-1e6, 1))
    (metric,) = row_of(record(checks=(check(0.5, pool=pool),))).metrics

    assert metric.pooled is None


def test_counts_survive_a_journal() -> None:
    found = f1_check(1, 2, 3)

    assert Check.from_json(found.to_json()) == found
    assert Check.from_json(check(0.5).to_json()) == check(0.5)


def test_every_sample_counts_in_means_and_calls() -> None:
    samples = tuple(
        Sample(index=i, status="passed", checks=(check(v),), calls=(call(),)).to_json()
        for i, v in enumerate([1.0, 0.0])
    )
    row = row_of(record(samples=samples))

    assert (row.metrics[0].mean, row.metrics[0].n) == (0.5, 2)
    assert row.origins.live == 2


def test_tokens_are_added_and_unknown_ones_counted() -> None:
    row = row_of_calls(
        call(),
        call(usage=Usage(input_tokens=5)),
        call(usage=None),
    )

    assert row.tokens == Tokens(input=15, output=2, unknown=2, calls=3)


@pytest.mark.parametrize("provider", ["column", "python", ""])
def test_what_asked_no_model_has_no_unknown_tokens_or_cost(provider: str) -> None:
    row = row_of_calls(call(provider=provider, usage=None))

    assert row.tokens == Tokens(input=0, output=0, unknown=0, calls=0)
    assert row.cost == Cost(total=None, live=None, known=0, calls=0)


def test_code_that_tells_its_usage_is_counted() -> None:
    row = row_of_calls(call(provider="python", cost=0.5))

    assert row.tokens == Tokens(input=10, output=2, unknown=0, calls=1)
    assert row.cost == Cost(
        total=0.5, live=0.5, known=1, calls=1, by_role={"generator": 0.5}
    )


def test_cost_is_over_the_calls_whose_cost_is_known() -> None:
    row = row_of_calls(
        call(cost=0.5), call(cost=0.25, origin="cache"), call("judge", cost=None)
    )

    assert row.cost == Cost(
        total=0.75, live=0.5, known=2, calls=3, by_role={"generator": 0.75}
    )


def test_cost_is_told_apart_by_who_was_asked() -> None:
    row = row_of_calls(
        call("embedder", cost=0.125),
        call("judge", cost=0.5),
        call(cost=0.25),
        call("translator", cost=0.125),
        call("judge", cost=None),
    )

    parts = {"generator": 0.25, "judge": 0.5, "others": 0.25}
    assert row.cost == Cost(total=1.0, live=1.0, known=4, calls=5, by_role=parts)
    assert list(row.cost.by_role) == ["generator", "judge", "others"]


def test_cost_that_is_known_of_no_call_is_none() -> None:
    assert row_of_calls(call()).cost == Cost(total=None, live=None, known=0, calls=1)


def test_a_model_on_this_machine_sends_no_bill() -> None:
    assert row_of_calls(call(provider="local")).cost.calls == 0


def test_numbers_that_an_application_got_wrong_are_unknown() -> None:
    row = row_of_calls(call(cost=float("nan"), latency_seconds=float("inf")))

    assert (row.cost.known, row.cost.calls) == (0, 1)
    assert row.latency.n == 0


def test_seconds_are_of_live_generator_calls() -> None:
    row = row_of_calls(
        call(latency_seconds=1.0),
        call(latency_seconds=3.0),
        call(latency_seconds=None),
        call(latency_seconds=50.0, origin="cache"),
        call(latency_seconds=50.0, origin="recording"),
        call("judge", latency_seconds=50.0),
    )

    assert (row.latency.p50_seconds, row.latency.n) == (2.0, 2)
    assert row.latency.p95_seconds == pytest.approx(2.9)


def test_without_live_calls_seconds_are_not_measured() -> None:
    row = row_of_calls(call(latency_seconds=1.0, origin="cache"))

    assert row.latency == Latency(p50_seconds=None, p95_seconds=None, n=0)


def test_origins_count_every_call() -> None:
    failed = Call(role="generator", client="app", prompt=PROMPT, error="HTTP 500")
    row = row_of_calls(
        call(),
        call("judge"),
        call(origin="cache"),
        call(origin="recording"),
        call(origin="column", provider="column"),
        failed,
    )

    assert row.origins == Origins(live=2, cached=1, recorded=1, column=1, unanswered=1)


def test_the_run_adds_up_its_rows() -> None:
    report = report_of(
        record("1", calls=(call(cost=1.0, latency_seconds=1.0),)),
        record("2", "failed", test="b.py::test_y", calls=(call(latency_seconds=2.0),)),
    )

    assert report.totals == Totals(cases=2, passed=1, failed=1)
    assert report.tokens == Tokens(input=20, output=4, unknown=0, calls=2)
    assert report.cost == Cost(
        total=1.0, live=1.0, known=1, calls=2, by_role={"generator": 1.0}
    )
    assert report.latency.p50_seconds == 1.5
    assert report.origins == Origins(live=2)
