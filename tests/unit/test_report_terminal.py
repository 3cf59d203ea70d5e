from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_llmeval.baseline import Compared, compare, decide, standing_of
from pytest_llmeval.diffs import columns
from pytest_llmeval.gates import evaluate, parse_gate
from pytest_llmeval.report import terminal
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.decisions import gate_lines
from pytest_llmeval.report.files import text_of
from pytest_llmeval.report.lines import Line, Page
from pytest_llmeval.report.model import STATUSES
from pytest_llmeval.types import (
    Call,
    Check,
    Pool,
    Prompt,
    Record,
    Response,
    Sample,
    Usage,
)

HOSTILE = "\x1b[2J\x07\u202e\udc80\x9b31m\u200b"


def call(role: str = "generator", **changes: Any) -> Call:
    values: dict[str, Any] = {
        "text": "Lima",
        "provider": "openai",
        "usage": Usage(input_tokens=1000, output_tokens=20),
        "cost": 0.0004,
        "latency_seconds": 0.8,
    }
    response = Response(**{**values, **changes})
    prompt = Prompt.of("?")
    return Call(role=role, client="app", prompt=prompt, response=response)


def check(value: float | None, name: str = "f1", **changes: Any) -> Check:
    values: dict[str, Any] = {
        "metric": name,
        "name": name,
        "value": value,
        "operator": ">=",
        "threshold": 0.6,
        "passed": None if value is None else value >= 0.6,
    }
    return Check(**{**values, **changes})


def record(case_id: str = "peru", status: str = "passed", **changes: Any) -> Record:
    test = changes.pop("test", "test_a.py::test_x")
    sample = Sample(
        index=0,
        status=status,
        checks=changes.pop("checks", ()),
        calls=changes.pop("calls", ()),
    )
    values: dict[str, Any] = {
        "nodeid": f"{test}[{case_id}]",
        "test": test,
        "case_id": case_id,
        "status": status,
        "samples": (sample.to_json(),),
    }
    return Record(**{**values, **changes})


def lines_of(records: Iterable[Record], **options: Any) -> list[str]:
    report = build_report(records, {})
    return [line.text.rstrip() for line in terminal.render(report, **options)]


def colours_of(records: Iterable[Record], text: str) -> list[set[str]]:
    report = build_report(records, {})
    found: list[Line] = list(terminal.render(report))
    return [set(s.markup) for line in found for s in line.segments if s.text == text]


def test_a_report_with_everything() -> None:
    records = [
        *(
            record(
                f"case-{i}",
                checks=(check(0.95), check(1.0, "judge")),
                calls=(call(), call("judge", cost=None)),
            )
            for i in range(9)
        ),
        record(
            "peru",
            "failed",
            checks=(check(0.33), check(1.0, "judge")),
            calls=(call(origin="cache"),),
            reason="f1 = 0.33, below the bar of 0.6",
            source="data/capitals.jsonl:2",
        ),
        record(
            "chad",
            "unscored",
            checks=(check(0.9), check(None, "judge")),
            cause="judge",
            reason="judge unscored: no verdict",
            source="data/capitals.jsonl:7",
        ),
        record("1", test="test_b.py::test_routes", checks=(check(1.0, "choice"),)),
    ]

    assert lines_of(records, next_command="pytest --lf -m llmeval", seconds=4.2) == [
        "             cases  passed  failed  unscored   rate  95 % CI",
        "test_x          11       9       1         1   90 %    60–98",
        "    f1 0.89 (n 11)   judge 1.00 (n 10, 1 unscored)",
        "    tokens 19,000 in, 380 out · cost at least $0.0040 ($0.0036 of it now)",
        "    cost unknown for 9 of 19 calls · p50 0.80 s, p95 0.80 s",
        "test_routes      1       1       0         0  100 %   21–100",
        "    choice 1.00 (n 1)",
        "",
        "all             12      10       1         1   91 %    62–98",
        "    tokens 19,000 in, 380 out · cost at least $0.0040 ($0.0036 of it now)",
        "    cost unknown for 9 of 19 calls · p50 0.80 s, p95 0.80 s",
        "",
        "live 18 · cached 1 · 4.20 s in all",
        "",
        "1 failed",
        "  F test_x[peru]  data/capitals.jsonl:2",
        "    f1 = 0.33, below the bar of 0.6",
        "",
        "1 unscored: 1 judge",
        "  U test_x[chad]  data/capitals.jsonl:7",
        "    judge unscored: no verdict",
        "",
        "next: pytest --lf -m llmeval",
    ]


def test_when_all_passed_the_table_is_the_report() -> None:
    assert lines_of([record()]) == [
        "        cases  passed  failed  unscored   rate  95 % CI",
        "test_x      1       1       0         0  100 %   21–100",
    ]


def test_a_run_without_cases_shows_its_notes() -> None:
    assert lines_of([], notes=["no case ran"]) == ["", "no case ran"]


def test_rare_outcomes_have_a_column_where_there_are_any() -> None:
    head, row = lines_of([record("1"), record("2", "xfailed"), record("3", "not_run")])

    assert " ".join(head.split()) == (
        "cases passed failed unscored xfailed not run rate 95 % CI"
    )
    assert " ".join(row.split()) == "test_x 3 1 0 0 1 1 100 % 21–100"


def test_a_test_without_scored_cases_has_no_rate() -> None:
    assert lines_of([record(status="skipped")])[1].split()[-2:] == ["–", "–"]


def test_parameters_stand_with_the_name() -> None:
    params = {"generator": "app", "temperature": "0.2"}

    assert lines_of([record(params=params)], width=120)[1].startswith(
        "test_x[app, temperature=0.2] "
    )


def test_tests_of_one_name_show_their_files() -> None:
    records = [record(test="a.py::test_x"), record(test="b.py::test_x")]
    lines = lines_of(records)

    assert lines[1].startswith("a.py::test_x ")
    assert lines[2].startswith("b.py::test_x ")


def test_a_long_name_is_cut_in_its_middle() -> None:
    records = [record(test=f"a.py::test_{'long_' * 20}name")]

    assert lines_of(records)[1].startswith("test_long_long_…_long_long_name ")


def test_names_of_wide_characters_keep_the_columns_straight() -> None:
    records = [record(test="a.py::test_首都"), record(test="a.py::test_y")]
    head, first, second, *_ = lines_of(records)

    assert columns(head) == columns(first) == columns(second)


def test_a_narrow_terminal_gets_sentences() -> None:
    records = [
        record("1", test="a.py::test_a_rather_long_name"),
        record("2", "failed", test="a.py::test_a_rather_long_name"),
    ]

    assert lines_of(records, width=48, show="none") == [
        "test_a_rather_long_name",
        "    2 cases · 1 passed · 1 failed",
        "    50 % (95 % CI 9–91)",
    ]


def test_a_single_test_has_no_sum() -> None:
    assert not any(line.startswith("all") for line in lines_of([record(), record("2")]))


def test_a_metric_says_when_lower_is_better() -> None:
    wer = check(0.1234, "wer", higher_is_better=False)

    assert "    wer 0.12 (n 1, lower is better)" in lines_of([record(checks=(wer,))])


def test_a_metric_without_values_has_no_mean() -> None:
    records = [record(status="unscored", checks=(check(None),))]

    assert "    f1 – (n 0, 1 unscored)" in lines_of(records)


def test_tokens_and_cost_that_nobody_knows_are_said_to_be_unknown() -> None:
    unknown = call(usage=None, cost=None, latency_seconds=None)

    assert "    tokens unknown for 1 call · cost unknown for 1 call" in lines_of(
        [record(calls=(unknown,))]
    )


def test_zeros_beside_unknown_costs_are_no_least_cost() -> None:
    calls = (call(cost=0.0), call("judge", cost=0.0), call("judge", cost=None))
    (line,) = [one for one in lines_of([record(calls=calls)]) if "cost" in one]

    assert "cost unknown for 1 of 3 calls" in line
    assert "$" not in line


def test_a_cost_of_zero_that_is_known_is_told() -> None:
    (line,) = [
        one for one in lines_of([record(calls=(call(cost=0.0),))]) if "cost" in one
    ]

    assert "cost $0" in line


def test_cost_is_told_apart_by_who_was_asked() -> None:
    calls = (call(), call("judge", cost=0.25))

    assert (
        "    tokens 2,000 in, 40 out · cost $0.2504 · generator $0.0004, judge $0.2500"
        in lines_of([record(calls=calls)])
    )


def test_tokens_unknown_of_some_calls_are_said_to_be_unknown() -> None:
    some = (call(), call(usage=None))

    assert (
        "    tokens 1,000 in, 20 out · tokens unknown for 1 of 2 calls · cost $0.0008"
        in lines_of([record(calls=some)])
    )


def test_replies_of_a_column_need_no_line_of_tokens_cost_or_time() -> None:
    column = call(
        origin="column",
        provider="column",
        usage=None,
        cost=None,
        latency_seconds=None,
    )

    assert lines_of([record(calls=(column,))])[2:] == ["", "column 1"]


def test_calls_without_an_answer_are_counted() -> None:
    failed = Call(role="judge", client="x", prompt=Prompt.of("?"), error="HTTP 500")

    assert lines_of([record(calls=(failed,))])[-1] == "unanswered 1"


def test_of_many_failures_ten_are_shown() -> None:
    lines = lines_of(record(str(i), "failed") for i in range(100))

    assert "100 failed" in lines
    assert "  F test_x[9]" in lines
    assert "  F test_x[10]" not in lines
    assert lines[-1] == "  and 90 more (--llmeval-show=all lists them)"


def test_ten_failures_are_all() -> None:
    lines = lines_of(record(str(i), "failed") for i in range(10))

    assert not any("more" in line for line in lines)


def test_causes_of_unscored_cases_are_counted() -> None:
    causes = ["provider", "judge", "provider"]
    lines = lines_of(
        record(str(i), "unscored", cause=cause) for i, cause in enumerate(causes)
    )

    assert "3 unscored: 2 provider, 1 judge" in lines


def test_a_gate_too_long_for_a_line_goes_on_in_the_next() -> None:
    gate = evaluate(
        parse_gate("pass_rate >= 1"),
        [record("1"), record("2", "unscored")],
        scope="tag policy",
    )

    lines = [line.text for line in gate_lines([gate], Page(width=60, unicode=True))]

    assert lines[2:] == [
        "  undecided  tag policy  pass_rate 1.00 >= 1.00 (n 1,",
        "                         21–100 %, 1 unknown decides)",
    ]


def test_gated_cases_are_listed_and_known_ones_only_counted() -> None:
    lines = lines_of([record("1", "gated"), record("2", "known")])

    assert "  g test_x[1]" in lines
    assert "  k test_x[2]" not in lines


def test_show_none_lists_no_case() -> None:
    assert len(lines_of([record(status="failed")], show="none")) == 2


def test_show_all_lists_every_case() -> None:
    records = [
        record(f"{status}-{i}", status) for status in STATUSES for i in range(12)
    ]
    lines = lines_of(records, show="all", width=120)

    for letter in "FUgkXxs-.":
        assert sum(line.startswith(f"  {letter} test_x[") for line in lines) == 12


def test_the_check_is_named_when_the_reason_does_not() -> None:
    records = [record(status="failed", checks=(check(0.33),), reason="wrong city")]

    assert lines_of(records)[-1] == "    f1 0.33, needs >= 0.6 · wrong city"


def test_an_unscored_check_is_named_when_the_reason_does_not() -> None:
    records = [record(status="unscored", checks=(check(None),), reason="empty reply")]

    assert lines_of(records)[-1] == "    f1 unscored · empty reply"


def test_a_check_without_a_bar_shows_its_value() -> None:
    bare = check(0.33, threshold=None)

    assert lines_of([record(status="failed", checks=(bare,))])[-1] == "    f1 0.33"


def test_of_a_repeated_case_the_samples_are_counted() -> None:
    samples = tuple(
        Sample(index=i, status=status).to_json()
        for i, status in enumerate(["failed", "passed", "failed"])
    )
    records = [record(status="failed", samples=samples, repeat=3, reason="f1 = 0.3")]

    assert lines_of(records)[-1] == "    1 of 3 samples passed · f1 = 0.3"


def test_only_the_first_line_of_a_reason_is_shown() -> None:
    assert lines_of([record(status="failed", reason="\n one\ntwo")])[-1] == "    one"


def test_colours_say_what_is_good_and_bad() -> None:
    records = [record("1"), record("2"), record("3", "failed")]

    assert colours_of(records, "2") == [{"green"}]
    assert colours_of(records, "1") == [{"red"}]
    assert colours_of(records, "0") == [set()]
    assert colours_of(records, "1 failed") == [{"red", "bold"}]


def test_without_unicode_every_line_is_ascii() -> None:
    records = [
        record("ü", "failed", reason="größer · 😀", source="ü.jsonl:1"),
        record("2", test=f"b.py::test_{'首' * 40}", checks=(check(None, "ä"),)),
    ]
    lines = lines_of(records, unicode=False, notes=["–"], next_command="ü", seconds=1)

    assert all(line.isascii() for line in lines)
    assert "    gr\\xf6\\xdfer \\xb7 \\U0001f600" in lines


@pytest.mark.parametrize("unicode", [True, False])
def test_foreign_text_is_inert(unicode: bool) -> None:
    bad = check(0.1, f"m{HOSTILE}")
    hostile = record(
        HOSTILE,
        "failed",
        test=f"a{HOSTILE}.py::t{HOSTILE}",
        params={HOSTILE: HOSTILE},
        checks=(bad,),
        cause=f"c{HOSTILE}",
        reason=f"r{HOSTILE}",
        source=f"s{HOSTILE}:1",
    )
    text = "".join(
        lines_of(
            [hostile], unicode=unicode, notes=[HOSTILE], next_command=HOSTILE, width=500
        )
    )

    assert text.isprintable()


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    records = [
        record(
            f"case-{'x' * 50}-{i}",
            status,
            test=f"dir/test_{'file' * 5}.py::TestClass::test_{'首都' * i}_name",
            params={"generator": "openai:gpt" * (i % 3)},
            checks=(check(0.5), check(None, "a_rather_long_name_of_a_check")),
            calls=(call(), call("judge", cost=None, usage=None)),
            cause="provider",
            reason="größer " * 40,
            source=f"{'data/' * 12}capitals.jsonl:12345",
        )
        for i, status in enumerate(STATUSES)
    ]

    for line in lines_of(records, width=width, show="all", seconds=3.0):
        assert columns(line) <= width


def test_a_megabyte_of_reason_costs_one_line() -> None:
    lines = lines_of([record(status="failed", reason="ü\x1b" * 500_000)])

    assert columns(lines[-1]) == 80


def test_a_value_over_all_cases_stands_beside_the_mean() -> None:
    pools = [Pool(form="f1", counts=counts) for counts in ((1, 0, 0), (0, 1, 9))]
    records = [record(checks=(check(1.0, pool=pool),)) for pool in pools]

    assert any("f1 1.00 (micro 0.17, n 2)" in line for line in lines_of(records))
    assert any("f1 1.00 (n 1)" in line for line in lines_of(records[:1]))


def test_cases_that_got_worse_are_listed_first() -> None:
    before = [record(f"c{n}", "failed") for n in range(15)] + [record("worse")]
    now = [*before[:15], record("worse", "failed")]
    comparison = compare(
        [standing_of(r) for r in now], [standing_of(r) for r in before]
    )
    decision = decide(comparison, "any", allow_missing=False)
    compared = Compared(name="main", comparison=comparison, decision=decision)
    report = build_report(now, {}, compared=compared)

    lines = [line.text for line in terminal.render(report)]
    listed = [line.strip() for line in lines if line.startswith("  F ")]

    assert listed[:2] == ["F test_x[worse]", "F test_x[c0]"]
    assert len(listed) == 10
    markdown = text_of(report, ".md").partition("**16 failed**")[2]
    assert markdown.index("worse") < markdown.index("c0")


def test_a_brief_report_has_decisions_cases_and_no_numbers() -> None:
    bad = record(status="failed", reason="too low", checks=(check(0.1),))

    lines = lines_of([bad], is_brief=True, next_command="pytest x")

    assert lines == [
        "",
        "1 failed",
        "  F test_x[peru]",
        "    f1 0.10, needs >= 0.6 · too low",
        "",
        "next: pytest x",
    ]
