"""The marker: what it takes, how it stacks, how its mistakes are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

ROWS = [
    {"id": "france", "question": "Capital of France?", "expected": "Paris"},
    {"id": "peru", "question": "Capital of Peru?", "expected": "Lima"},
]


def _test(marker: str, arguments: str = "case", body: str = "assert case") -> str:
    return f"""
import pytest

@pytest.mark.llmeval({marker})
def test_it({arguments}):
    {body}
"""


@pytest.fixture
def capitals(suite: Suite) -> Suite:
    suite.rows("capitals.jsonl", ROWS)
    return suite


MISTAKES = [
    (
        '"capitals.jsonl", promt="x"',
        "*the llmeval marker has no keyword 'promt' (did you mean 'prompt'?)*",
    ),
    ('"capitals.jsonl", "b.jsonl"', "*takes one dataset, and got 2*glob*"),
    ('"capitals.jsonl", dataset="b.jsonl"', "*got its dataset twice*"),
    ('"capitals.jsonl", limit=0', "*limit is a whole number from 1 up, not 0*"),
    ("7", "*dataset is a path or glob, a list of mappings*not 7*"),
    ('"capitals.jsonl", columns=3', "*columns is a mapping*not 3*"),
    ('"capitals.jsonl", prompt=[]', "*prompt is a template, a path*not []*"),
    ('"capitals.jsonl", system=1', "*system is a template*not 1*"),
    ('"capitals.jsonl", judge=["a", "b"]', "*judge is a model spec*not*"),
    ('"capitals.jsonl", generator=[]', "*generator is a model spec*not []*"),
    ('"capital.jsonl"', "*capital.jsonl*"),
    ('"capitals.jsonl", columns={"input": "qestion"}', "*qestion*question*"),
    ('"capitals.jsonl", columns={"inptu": "question"}', "*inptu*input*"),
    ("[]", "*holds no cases*"),
    ('"capitals.jsonl", prompt="Q: {question}"', "*{{ question }}*"),
    ('"capitals.jsonl", prompt="{{ qestion }}"', "*qestion*question*"),
    ('"capitals.jsonl", prompt="nothing.j2"', "*nothing.j2*"),
    ('"capitals.jsonl", prompt="{% if %}"', "*test_it*"),
]


@pytest.mark.parametrize(("marker", "message"), MISTAKES)
def test_a_mistake_is_a_collection_error(
    capitals: Suite, marker: str, message: str
) -> None:
    capitals.write(test_it=_test(marker))

    result = capitals.run()

    result.stdout.fnmatch_lines(["*ERROR collecting test_it.py*", message])
    result.assert_outcomes(errors=1)
    assert "Traceback" not in result.stdout.str()
    assert result.ret == 2


def test_a_dataset_needs_an_argument_for_its_rows(capitals: Suite) -> None:
    capitals.write(test_it=_test('"capitals.jsonl"', arguments="", body="pass"))

    result = capitals.run()

    result.stdout.fnmatch_lines(["*the function has no argument `case`*"])


def test_cases_from_two_sides_are_refused(capitals: Suite) -> None:
    capitals.write(
        test_it="""
import pytest

@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.llmeval("capitals.jsonl")
def test_it(case):
    assert case
"""
    )

    result = capitals.run()

    result.stdout.fnmatch_lines(["*case comes from the marker's dataset and from*"])


@pytest.mark.parametrize("role", ["generator", "judge"])
def test_a_model_that_is_not_configured_names_the_three_ways(
    capitals: Suite, role: str
) -> None:
    capitals.write(
        test_it=_test('"capitals.jsonl"', arguments=f"case, {role}", body="assert 1")
    )

    result = capitals.run()

    result.stdout.fnmatch_lines([f"*no {role} is configured: *"])
    text = " ".join(result.stdout.str().split())
    assert f"@pytest.mark.llmeval({role}='python:package.module:name')" in text
    assert f"--llmeval-{role}=SPEC" in text
    assert f"at the top of a YAML task, {role}: NAME" in text
    assert f"llmeval.yaml, {role}: NAME" in text


def test_an_unknown_model_names_what_there_is(capitals: Suite) -> None:
    capitals.write(
        llmeval_yaml="models:\n  clerk: {provider: column, model: answer}\n",
        test_it=_test(
            '"capitals.jsonl", generator="clark"', "case, generator", "assert 1"
        ),
    )

    result = capitals.run()

    result.stdout.fnmatch_lines(["*'clark'*did you mean 'clerk'*"])


def test_an_unknown_judge_is_told_although_nobody_uses_it(capitals: Suite) -> None:
    capitals.write(test_it=_test('"capitals.jsonl", judge="gradr"'))

    result = capitals.run()

    result.stdout.fnmatch_lines(["*'gradr'*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_column_no_row_has_is_refused(capitals: Suite) -> None:
    capitals.write(
        test_it=_test(
            '"capitals.jsonl", generator="column:expectd"',
            "case, generator",
            "assert 1",
        ),
    )

    result = capitals.run()

    result.stdout.fnmatch_lines(["*no row has a column 'expectd' (did you mean 'exp*"])


def test_the_closest_marker_wins(capitals: Suite) -> None:
    capitals.write(
        test_it="""
import pytest

pytestmark = pytest.mark.llmeval("capitals.jsonl", generator="column:question")

def test_module(case, generator):
    assert str(generator(case)).startswith("Capital")

@pytest.mark.llmeval(generator="column:expected")
class TestClass:
    def test_class(self, case, generator):
        assert str(generator(case)) == case.expected

    @pytest.mark.llmeval(generator="column:id")
    def test_function(self, case, generator):
        assert str(generator(case)) == case.id
"""
    )

    result = capitals.run()

    result.assert_outcomes(passed=6)


def test_a_test_without_a_dataset_is_one_case_named_after_it(suite: Suite) -> None:
    suite.write(
        test_it="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval
def test_alone(case):
    assert_exact("x", "x")
"""
    )

    result, report = suite.report("-v")

    result.stdout.fnmatch_lines(["test_it.py::test_alone PASSED*"])
    assert report["cases"][0]["case_id"] == "test_alone"


def test_stacked_parameters_become_columns(capitals: Suite) -> None:
    capitals.write(
        test_it="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.parametrize("tone", ["formal", "friendly"])
@pytest.mark.llmeval("capitals.jsonl", generator="column:expected")
def test_it(case, tone, generator):
    assert_exact(generator(case), case)
"""
    )

    result, report = capitals.report()

    result.assert_outcomes(passed=4)
    assert [test["params"] for test in report["tests"]] == [
        {"tone": "formal"},
        {"tone": "friendly"},
    ]


def test_a_list_of_generators_is_a_matrix(capitals: Suite) -> None:
    capitals.write(
        test_it="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("capitals.jsonl", generator=["column:expected", "column:id"])
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
    )

    result, report = capitals.report("-v")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["test_it.py::test_it?france-column_expected] PASSED*"])
    rates = {t["params"]["generator"]: t["totals"]["passed"] for t in report["tests"]}
    assert rates == {"column:expected": 2, "column:id": 0}


def test_a_list_of_prompts_is_a_matrix(capitals: Suite) -> None:
    capitals.write(
        app="def echo(prompt):\n    return prompt\n",
        test_it="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval(
    "capitals.jsonl",
    generator="python:app:echo",
    prompt=["{{ expected }}", "{{ id }}"],
)
def test_it(case, generator):
    assert_exact(generator(case), case)
""",
    )

    result, report = capitals.report()

    result.assert_outcomes(passed=2, failed=2)
    assert len(report["tests"]) == 2


def test_the_limit_of_the_marker_leaves_the_first_cases(capitals: Suite) -> None:
    capitals.write(test_it=_test('"capitals.jsonl", limit=1'))

    result = capitals.run("-v")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_it?france? PASSED*"])


def test_a_case_that_checks_nothing_draws_one_warning_a_test(capitals: Suite) -> None:
    capitals.write(test_it=_test('"capitals.jsonl"', body="print(case.id)"))

    result = capitals.run_alone()

    result.assert_outcomes(passed=2, warnings=2)
    text = " ".join(result.stdout.str().split())
    assert text.count("checked nothing, so it passes whatever the reply") == 1


def test_a_callable_and_a_list_are_datasets(suite: Suite) -> None:
    suite.write(
        test_it="""
import pytest

def make_rows():
    return [{"id": "a", "input": "x"}, "just a text"]

# pytest takes a lone function for what the mark decorates: by keyword, then.
@pytest.mark.llmeval(dataset=make_rows)
def test_callable(case):
    assert case.input in {"x", "just a text"}

@pytest.mark.llmeval([{"input": "x"}])
def test_list(case):
    assert case.id == "1"
"""
    )

    result = suite.run()

    result.assert_outcomes(passed=3)
