"""Options: what they do, how a wrong value is told, their ini twins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""


@pytest.fixture
def rows(suite: Suite) -> Suite:
    data = [
        {"id": f"c{n}", "input": "?", "expected": "a", "good": "a", "bad": "b"}
        for n in range(9)
    ]
    data[3].pop("good")
    suite.rows("rows.jsonl", data)
    suite.write(test_it=TEST)
    return suite


WRONG = [
    ("--llmeval-limit=0", "*--llmeval-limit is a whole number from 1 up, not '0'*"),
    ("--llmeval-limit=x%", "*--llmeval-limit is a number of cases or 0-100 %*'x%'*"),
    ("--llmeval-limit=101%", "*0-100 %*'101%'*"),
    ("--llmeval-sample=0", "*--llmeval-sample is a whole number from 1 up, not '0'*"),
    ("--llmeval-sample=3:x", "*--llmeval-sample is a whole number from 0 up*'x'*"),
    ("--llmeval-report=x.pdf", "*no report format is called '.pdf'*.json*"),
    ("--llmeval-show=some", "*--llmeval-show is failures, all or none, not 'some'*"),
    ("--llmeval-max-unscored=-1", "*--llmeval-max-unscored is a whole number*'-1'*"),
    ("--llmeval-require=few", "*--llmeval-require is a whole number*'few'*"),
    ("--llmeval-generator=clmn:good", "*'clmn:good'*column:good*"),
    ("--llmeval-config=gone.yaml", "*gone.yaml*"),
    (
        "--llmeval-cases=c77",
        "*no dataset has a case 'c77' (did you mean 'c7'?); cases: c0, c1, *, c8",
    ),
]


@pytest.mark.parametrize(("option", "message"), WRONG)
def test_a_wrong_value_is_told_at_the_start(
    rows: Suite, option: str, message: str
) -> None:
    options = {"--llmeval-generator=column:good", option}
    if option.startswith("--llmeval-generator"):
        options = {option}

    result = rows.run(*sorted(options))

    output = result.stdout.str() + result.stderr.str()
    assert result.ret in {2, 4}
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    assert "Traceback" not in output
    lines = [*result.outlines, *result.errlines]
    pytest.LineMatcher(lines).fnmatch_lines([message])


@pytest.mark.parametrize("option", ["judge", "limit", "config", "require"])
def test_a_single_option_given_twice_is_refused(rows: Suite, option: str) -> None:
    result = rows.run(f"--llmeval-{option}=1", f"--llmeval-{option}=2")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--llmeval-{option} takes one value, and got '1*"])


def test_a_generator_named_twice_is_refused(rows: Suite) -> None:
    result = rows.run(*["--llmeval-generator=column:good"] * 2)

    result.stderr.fnmatch_lines(["*--llmeval-generator names a model twice*"])


def test_two_generators_run_the_suite_for_each(rows: Suite) -> None:
    result, report = rows.report(
        "--llmeval-generator=column:good", "--llmeval-generator=column:bad"
    )

    assert result.parseoutcomes()["passed"] == 8
    assert {test["params"]["generator"] for test in report["tests"]} == {
        "column:good",
        "column:bad",
    }


def test_a_generator_pinned_in_the_marker_stays(rows: Suite) -> None:
    rows.write(test_it=TEST.replace(".jsonl", '.jsonl", generator="column:bad'))

    result = rows.run("--llmeval-generator=column:good")

    result.assert_outcomes(failed=9)


@pytest.mark.parametrize(
    ("option", "count"),
    [("--llmeval-limit=2", 2), ("--llmeval-limit=34%", 3), ("--llmeval-limit=1%", 1)],
)
def test_limit_leaves_the_first_cases(rows: Suite, option: str, count: int) -> None:
    result = rows.run("--llmeval-generator=column:bad", option)

    result.assert_outcomes(failed=count)


def test_sample_draws_the_same_cases_for_a_seed(rows: Suite) -> None:
    def drawn(sample: str) -> list[str]:
        arguments = ("--llmeval-generator=column:bad", f"--llmeval-sample={sample}")
        lines = rows.run(*arguments, "--collect-only", "-q").outlines
        return [line for line in lines if "::" in line]

    assert len(drawn("4")) == 4
    assert drawn("4:7") == drawn("4:7")
    assert drawn("4:7") != drawn("4:8")


def test_cases_selects_by_id(rows: Suite) -> None:
    result = rows.run("--llmeval-generator=column:bad", "--llmeval-cases=c1,c4")

    result.assert_outcomes(failed=2, deselected=7)


def test_unscored_cases_can_be_tolerated(rows: Suite) -> None:
    result = rows.run("--llmeval-generator=column:good", "--llmeval-max-unscored=1")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 unscored, tolerated by --llmeval-max-unscored=1*"])


def test_more_unscored_cases_than_tolerated_fail(rows: Suite) -> None:
    rows.rows("rows.jsonl", [{"id": str(n), "expected": "a"} for n in range(2)])
    rows.rows("rows.jsonl", [{"expected": "a"}, {"expected": "a"}, {"good": "a"}])

    result = rows.run("--llmeval-generator=column:good", "--llmeval-max-unscored=1")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*3 unscored, and --llmeval-max-unscored=1*"])


def test_a_crash_of_the_application_is_never_tolerated(rows: Suite) -> None:
    rows.write(app="def answer(prompt):\n    raise ValueError('no')\n")

    result = rows.run(
        "--llmeval-generator=python:app:answer", "--llmeval-max-unscored=9"
    )

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*9 of them by the application*does not cover that*"])


def test_tolerating_unscored_cases_forgives_no_failure(rows: Suite) -> None:
    rows.write(test_other="def test_other():\n    assert 0\n")

    result = rows.run("--llmeval-generator=column:good", "--llmeval-max-unscored=1")

    assert result.ret == 1


@pytest.mark.parametrize(
    ("required", "status"), [("8", 0), ("9", 1), ("all", 1), ("0", 0)]
)
def test_a_run_can_be_required_to_score_enough(
    rows: Suite, required: str, status: int
) -> None:
    result = rows.run(
        "--llmeval-generator=column:good",
        "--llmeval-max-unscored=1",
        f"--llmeval-require={required}",
    )

    assert result.ret == status


def test_a_run_without_evaluations_can_be_required_to_have_some(suite: Suite) -> None:
    suite.write(test_plain="def test_plain():\n    pass\n")

    result = suite.run("--llmeval-require=1")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*0 of 0 cases were scored, and --llmeval-require=1*"])


def test_options_have_ini_twins(rows: Suite) -> None:
    rows.pytester.makeini(
        "[pytest]\nllmeval_generator = column:bad\nllmeval_limit = 2\n"
    )

    result = rows.run()

    result.assert_outcomes(failed=2)


def test_a_wrong_ini_value_is_told_at_the_start_by_its_key(rows: Suite) -> None:
    rows.pytester.makeini("[pytest]\nllmeval_limit = none\n")

    result = rows.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*llmeval_limit in tox.ini is a whole number from 1 up, not 'none'"]
    )


def test_the_default_models_stand_in_the_configuration(rows: Suite) -> None:
    rows.write(
        llmeval_yaml="generator: app\n"
        "models:\n  app: {provider: column, model: good}\n",
    )

    result = rows.run("--llmeval-limit=3")

    result.assert_outcomes(passed=3)


def test_a_mistake_in_the_configuration_is_a_collection_error(rows: Suite) -> None:
    rows.write(llmeval_yaml="generater: app\n")

    result = rows.run()

    result.stdout.fnmatch_lines(["*llmeval.yaml:1*generater*generator*"])
    assert "Traceback" not in result.stdout.str()


def test_listing_cases_requires_none(rows: Suite) -> None:
    result = rows.run("--llmeval-generator=column:bad", "--llmeval-require=3", "--co")

    assert result.ret == 0


def test_a_run_that_was_stopped_tolerates_nothing(rows: Suite) -> None:
    rows.rows("rows.jsonl", [{"expected": "a"}, {"expected": "a", "good": "b"}])

    result = rows.run(
        "--llmeval-generator=column:good", "--llmeval-max-unscored=1", "-x"
    )

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*stopped early, so nothing is tolerated*"])
