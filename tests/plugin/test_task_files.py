"""YAML tasks in our own words, collected and run as a user would."""

from __future__ import annotations

import sys
from typing import Any

import pytest

APP = """
def answer(prompt):
    return {"France": "Paris", "Peru": "Lima"}.get(prompt.split()[-1].strip("?"), "Rome")
"""
ROWS: list[dict[str, Any]] = [
    {"id": "france", "input": "France", "expected": "Paris"},
    {"id": "peru", "input": "Peru", "expected": "Lima", "tags": ["south"]},
    {"id": "japan", "input": "Japan", "expected": "Tokyo"},
]
TASK = """\
task: capitals
dataset: rows.jsonl
prompt: "Capital of {{ input }}?"
assert:
  - exact
tags: [geo]
"""


@pytest.fixture
def capitals(suite: Any) -> Any:
    suite.write(app=APP, llmeval_yaml='generator: "python:app:answer"\n')
    suite.rows("rows.jsonl", ROWS)
    suite.pytester.syspathinsert()
    return suite


def write_task(suite: Any, text: str, name: str = "capitals.llmeval.yaml") -> None:
    path = suite.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def refused(suite: Any, text: str) -> str:
    write_task(suite, text)
    result = suite.run()
    result.assert_outcomes(errors=1)
    return str(result.stdout.str())


def test_each_row_is_an_item_with_its_checks(capitals: Any) -> None:
    write_task(capitals, TASK)

    result, data = capitals.report("-v")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*capitals.llmeval.yaml::capitals?france?*", "exact failed:*'Tokyo'"]
    )
    (test,) = data["tests"]
    assert test["name"] == "capitals"
    assert test["metrics"]["exact"]["mean"] == pytest.approx(2 / 3)
    assert data["cases"][0]["source"] == "rows.jsonl:1"


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["-m", "south"], ["peru"]),
        (["-m", "geo and not south"], ["france", "japan"]),
        (["-k", "france"], ["france"]),
        (["--llmeval-limit=1"], ["france"]),
        (["--llmeval-cases=japan"], ["japan"]),
        (["capitals.llmeval.yaml::capitals[peru]"], ["peru"]),
        (["capitals.llmeval.yaml::capitals"], ["france", "peru", "japan"]),
        (["-m", "not llmeval"], []),
    ],
)
def test_cases_are_selected_as_those_of_functions(
    capitals: Any, arguments: list[str], ids: list[str]
) -> None:
    write_task(capitals, TASK)

    result = capitals.run("--collect-only", "-q", *arguments)

    found = [line for line in result.outlines if "::" in line]
    assert found == [f"capitals.llmeval.yaml::capitals[{one}]" for one in ids]


def test_a_task_without_checks_passes_when_it_is_scored(capitals: Any) -> None:
    write_task(capitals, TASK.replace("assert:\n  - exact\n", ""))

    result = capitals.run()

    result.assert_outcomes(passed=3)


def test_an_application_that_raises_leaves_the_case_unscored(capitals: Any) -> None:
    write_task(capitals, TASK)
    capitals.write(app="def answer(prompt):\n    raise OSError('down')\n")

    result, data = capitals.report()

    assert data["totals"]["unscored"] == 3
    assert result.ret == 1


def test_checks_take_keywords_and_short_forms(capitals: Any) -> None:
    text = TASK.replace(
        "  - exact\n",
        "  - f1: 0.5\n"
        "  - contains: {expected: [PARIS, Lima], mode: any}\n"
        "  - regex: '^[A-Z]'\n"
        "  - regex: {expected: '[0-9]', negate: true, name: no digits}\n"
        "  - levenshtein: {threshold: 0.2}\n",
    )
    write_task(capitals, text)

    _, data = capitals.report("--llmeval-cases=france")

    scores = data["cases"][0]["samples"][0]["scores"]
    assert [(s["name"], s["passed"]) for s in scores] == [
        ("f1", True),
        ("contains", True),
        ("regex", True),
        ("no digits", True),
        ("levenshtein", True),
    ]


def test_rows_may_be_skipped_and_expected_to_fail(capitals: Any) -> None:
    write_task(capitals, TASK)
    capitals.rows(
        "rows.jsonl",
        [{**ROWS[0], "skip": "not now"}, ROWS[1], {**ROWS[2], "xfail": "known"}],
    )

    result = capitals.run("-rs")

    result.assert_outcomes(passed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["SKIPPED*capitals.llmeval.yaml*: not now"])


def test_a_judge_is_asked_where_a_check_names_it(capitals: Any) -> None:
    write_task(
        capitals, TASK.replace("- exact", "- judge: Names the right city.") +
        "judge: fake:judge.jsonl\n",
    )  # fmt: skip
    capitals.rows("judge.jsonl", [{"match": "Tokyo", "reply": "no\nVERDICT: FAIL"},
                                  {"match": "", "reply": "yes\nVERDICT: PASS"}])  # fmt: skip

    result = capitals.run()

    result.assert_outcomes(passed=2, failed=1)


def test_a_gate_holds_for_all_cases(capitals: Any) -> None:
    write_task(capitals, TASK + 'gate: "pass_rate >= 0.2"\n')

    result = capitals.run()

    result.stdout.fnmatch_lines(["*2 passed*1 gated*"])


def test_rows_may_stand_in_the_task(capitals: Any) -> None:
    write_task(
        capitals,
        "dataset:\n  - {id: fr, input: France, expected: Paris}\n"
        "  - {id: jp, input: Japan, expected: Tokyo}\nassert: [exact]\n",
    )

    _, data = capitals.report()

    assert [c["source"] for c in data["cases"]] == [
        "capitals.llmeval.yaml:2",
        "capitals.llmeval.yaml:3",
    ]
    assert data["tests"][0]["name"] == "capitals"


def test_several_models_make_a_matrix(capitals: Any) -> None:
    write_task(capitals, TASK + "generator: ['python:app:answer', 'column:input']\n")

    _, data = capitals.report()

    assert [test["totals"]["passed"] for test in data["tests"]] == [2, 0]


def test_bodies_run_ahead_of_their_turn(capitals: Any) -> None:
    write_task(capitals, TASK)
    capitals.write(
        app="import threading\nmeeting = threading.Barrier(3)\n"
        "def answer(prompt):\n    meeting.wait(30)\n    return 'Paris'\n"
    )

    result = capitals.run()

    result.assert_outcomes(passed=1, failed=2)


def test_xdist_runs_tasks(capitals: Any) -> None:
    write_task(capitals, TASK)

    result, data = capitals.report("-n", "2")

    result.assert_outcomes(passed=2, failed=1)
    assert data["totals"]["cases"] == 3


def test_files_of_the_ini_key_are_tasks(capitals: Any) -> None:
    capitals.pytester.makeini("[pytest]\nllmeval_task_paths = evals\n")
    write_task(capitals, TASK.replace("rows", "../rows"), "evals/one.yaml")
    write_task(capitals, "nothing: here\n", "evals/_base.yml")
    write_task(capitals, TASK, "other.yaml")

    result = capitals.run()

    result.assert_outcomes(passed=2, failed=1)


def test_an_ini_key_that_names_nothing_is_refused(capitals: Any) -> None:
    capitals.pytester.makeini("[pytest]\nllmeval_task_paths = evils\n")
    write_task(capitals, TASK, "other.yaml")

    result = capitals.run()

    result.stderr.fnmatch_lines(["*llmeval_task_paths: nothing is at 'evils'*"])


def test_a_file_named_to_pytest_is_a_task(capitals: Any) -> None:
    write_task(capitals, TASK, "mine.yaml")
    write_task(capitals, "stages: []\n", "test_other.tavern.yaml")

    result = capitals.run("mine.yaml")

    result.assert_outcomes(passed=2, failed=1)
    others = capitals.run("test_other.tavern.yaml")
    others.stderr.fnmatch_lines(["*no match in any of*"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("prompt:", "promt:", "yaml:3: task 'capitals': unknown key 'promt' (did you"),
        ("- exact", "- exat", "yaml:5: *assert: there is no check 'exat' (did you mean"),
        ("- exact", "- f1", "yaml:5: *f1 needs the keyword threshold"),
        ("- exact", "- f1: 60", "threshold=60 is not on the scale of f1*60 % is 0.6"),
        ("- exact", "- f1: {treshold: 1}", "f1 has no keyword 'treshold' (did you mean"),
        ("- exact", "- regex: '('", "regex: '(' is no regular expression"),
        ("- exact", "- exact\n  - exact", "yaml:6: *a second check is called 'exact'"),
        ("- exact", "- {exact: , f1: 1}", "a check is one name with its keywords"),
        ("- exact", "- judge: {template: nope.j2}", "nope.j2"),
        ("{{ input }}", "{{ inptu }}", "'inptu'*did you mean"),
        ("rows.jsonl", "rows.json", "yaml:2: *rows.json*no such file*did you mean"),
        ("rows.jsonl", "../../x.jsonl", "yaml:2: *outside the root directory"),
        ("tags: [geo]", "gate: pas_rate > 1", "yaml:6: *gate:"),
        ("tags: [geo]", "tags: geo", "yaml:6: *tags is a list of texts"),
        ("tags: [geo]", "tags: [slow", "yaml:*not valid YAML"),
        ("tags: [geo]", "limit: 0", "yaml:6: *limit is a whole number from 1"),
        ("tags: [geo]", "kind: hotpot", "yaml:6: *hotpot"),
        ("tags: [geo]", "task: b", "yaml:6: the key 'task' stands twice"),
        ("task: capitals", "task: 'a[b]'", "yaml:1: *holds '['"),
        ("task: capitals", "task: !!python/name:os.system", "yaml:1: *tag"),
        ("tags: [geo]", "generator: 3", "yaml:6: *generator is a model's name"),
        ("tags: [geo]", "generator: nobody", "nobody"),
    ],
)  # fmt: skip
def test_mistakes_are_collection_errors_with_file_and_line(
    capitals: Any, old: str, new: str, complaint: str
) -> None:
    output = refused(capitals, TASK.replace(old, new))

    assert "INTERNALERROR" not in output
    pytest.LineMatcher(output.splitlines()).fnmatch_lines(
        [f"*{complaint.replace('[', '[[]')}*"]
    )
    assert "capitals.llmeval.yaml" in output


def test_a_broken_task_does_not_hide_the_others(capitals: Any) -> None:
    write_task(capitals, TASK)
    write_task(capitals, "- a list\n", "broken.llmeval.yml")

    result = capitals.run("--continue-on-collection-errors")

    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*broken.llmeval.yml:1: a mapping is expected*"])


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("json: {schema: {type: objct}}", "schema is no valid JSON Schema: $.type"),
        ("exact: {preset: [casefld]}", "there is no step of normalisation 'casefld'"),
        ("number: {tolerance: -1}", "tolerance is a number of 0 or more, not -1"),
    ],
)
def test_a_value_that_no_check_can_use_is_a_collection_error(
    capitals: Any, check: str, told: str
) -> None:
    text = refused(capitals, TASK.replace("- exact", f"- {check}"))

    assert f"capitals.llmeval.yaml:5: task 'capitals': assert: {told}" in text


def test_the_extra_of_an_option_is_missed_at_collection(
    capitals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)

    text = refused(capitals, TASK.replace("- exact", "- json: {schema: true}"))

    assert (
        "assert: json with schema= needs the extra 'json' (no module 'jsonschema'): pip "
        "install 'pytest-llm-regression[json]'\n"
    ) in text
