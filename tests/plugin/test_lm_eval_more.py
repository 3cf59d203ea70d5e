"""Tasks of the kinds that lm-evaluation-harness's repository holds, against its results.

What it asked and found is in ../data/lm_eval_tasks: the model knows these requests alone.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "lm_eval_tasks"
FOUND = json.loads((DATA / "expected.json").read_text("utf-8"))
EXPECTED, GROUPS = FOUND["results"], FOUND["groups"]

MODEL = """
import json, zlib
from collections import Counter
from pathlib import Path

LINES = Path(__file__).with_name("expected_requests.jsonl").read_text("utf-8")
ASKED = [json.loads(line) for line in LINES.splitlines()]
REPLIES = {r["prompt"]: r["replies"] for r in ASKED if "prompt" in r}
PAIRS = {(r["context"], r["continuation"]) for r in ASKED if "context" in r}
TEXTS = {r["text"] for r in ASKED if "text" in r}

class Model:
    def __init__(self):
        self.asked = Counter()
    def generate(self, prompt, **params):
        turn = self.asked[prompt.text]
        self.asked[prompt.text] += 1
        return REPLIES[prompt.text][turn % len(REPLIES[prompt.text])]
    def loglikelihood(self, context, continuation):
        assert (context, continuation) in PAIRS, (context, continuation)
        c = zlib.crc32((context + "\\x1f" + continuation).encode())
        return -(c % 10000) / 1000, c % 3 == 0
    def loglikelihood_rolling(self, text):
        assert text in TEXTS, text
        data = text.encode()
        return -len(data) * (1 + (zlib.crc32(data) % 100) / 100)

model = Model()
"""


def with_data(suite: Any, *names: str) -> None:
    shutil.copytree(DATA, suite.path, dirs_exist_ok=True)
    suite.write(
        lmmodel_py=MODEL,
        llmeval_yaml='generator: "python:lmmodel:model"\n',
    )
    suite.pytester.syspathinsert()
    files = sorted(path.name for path in DATA.glob("*.yaml"))
    paths = "\n  ".join(names or (*files, "mmlu"))
    suite.pytester.makeini(
        f"[pytest]\nllmeval_allow_functions = true\nllmeval_task_paths =\n  {paths}\n"
    )


def test_prompts_values_and_errors_are_those_of_lm_eval(suite: Any) -> None:
    with_data(suite)

    result, data = suite.report("--llmeval-mode=live")

    assert result.ret == 0
    assert data["totals"]["unscored"] == 0  # whatever else is asked is a KeyError
    check(data["tests"], EXPECTED)
    check(data["groups"], {name: GROUPS[name] for name in ("mmlu_x", "mmlu_x::hard")})


def check(found: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    """Hold rows of the report against lm-eval's values and standard errors."""
    values = {
        row["name"]: {
            key: value
            for name, one in row["metrics"].items()
            for key, value in (
                (name, one["mean"]),
                (name.replace(",", "_stderr,", 1), one["stderr"]),
            )
        }
        for row in found
    }
    assert values.keys() == expected.keys()
    for name, wanted in expected.items():
        assert values[name] == pytest.approx(wanted, abs=1e-9), name


@pytest.mark.parametrize("arguments", [[], ["-n1"]])
def test_a_group_alone_brings_its_tasks_with_its_own_keys(
    suite: Any, arguments: list[str]
) -> None:
    with_data(suite)

    result, data = suite.report("groups/over.yaml", *arguments)

    assert result.ret == 0
    assert [t["nodeid"] for t in data["tests"]] == [
        f"groups/over.yaml::{name}" for name in ("boolq", "cb", "inline_wiki")
    ]
    check(data["groups"], {"over": GROUPS["over"]})
    result.stdout.fnmatch_lines(
        ["groups", "  over", "    acc,none 0.*±*(2 tasks, n 14)"]
    )


GROUP = """\
group: both
group_alias: Both of them
task: [first, second]
aggregate_metric_list: [{metric: exact_match}]
"""
TASK = """\
task: NAME
dataset_path: json
dataset_kwargs: {data_files: {test: NAME.jsonl}}
test_split: test
doc_to_text: "{{q}}"
doc_to_target: a
"""


@pytest.fixture
def both(suite: Any) -> Any:
    """Two tasks: of the first one of two rows is right, of the second the only one."""
    suite.write(
        groupapp_py="def answer(prompt):\n    return prompt\n",
        llmeval_yaml='generator: "python:groupapp:answer"\n',
    )
    suite.pytester.syspathinsert()
    suite.pytester.makeini("[pytest]\nllmeval_task_paths = evals\n")
    folder = suite.path / "evals"
    folder.mkdir()
    suite.rows("evals/first.jsonl", [{"q": "x", "a": "x"}, {"q": "y", "a": "z"}])
    suite.rows("evals/second.jsonl", [{"q": "x", "a": "x"}])
    for name in ("first", "second"):
        (folder / f"{name}.yaml").write_text(TASK.replace("NAME", name), "utf-8")
    return suite


def group(suite: Any, text: str) -> None:
    (suite.path / "evals" / "_both.yaml").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("bar", "options", "state"),
    [
        ("0.6", [], "holds"),
        ("0.7", [], "fails"),
        ("0.6", ["-k", "first"], "not evaluated"),
    ],
)
def test_a_group_has_gates(both: Any, bar: str, options: list[str], state: str) -> None:
    gate = f"metadata: {{llmeval: {{gate: 'exact_match,none >= {bar}'}}}}\n"
    group(both, GROUP + gate)

    result, data = both.report(*options)

    (found,) = data["gates"]
    assert (found["state"], found["scope"]) == (state, "group both")
    assert result.ret == (1 if state == "fails" else 0)
    if state != "not evaluated":
        assert found["value"] == pytest.approx(2 / 3)


def test_an_unscored_case_leaves_a_group_s_gate_undecided(both: Any) -> None:
    both.write(
        groupapp_py="def answer(prompt):\n    return {'x': 'x'}[prompt]\n",
    )
    gate = "metadata: {llmeval: {gate: 'exact_match,none >= 0.8'}}\n"
    group(both, GROUP + gate)

    _, data = both.report()

    (found,) = data["gates"]
    assert (found["state"], found["unknown"]) == ("undecided", 1)


def test_a_report_from_the_journal_has_the_groups(both: Any) -> None:
    group(both, GROUP)
    _, data = both.report()

    ended = both.pytester.run(
        sys.executable, "-m", "pytest_llmeval", "report", "last", "-o", "again.json",
        "-o", "again.md", "-o", "again.html",
    )  # fmt: skip

    assert ended.ret == 0
    again = json.loads((both.path / "again.json").read_text("utf-8"))
    assert again["groups"] == data["groups"]
    assert again["groups"][0]["alias"] == "Both of them"
    text = (both.path / "again.md").read_text("utf-8")
    assert "Both of them</code>: <code>exact_match,none 0.67 (2 tasks, n 3)<" in text
    page = (both.path / "again.html").read_text("utf-8")
    assert ">Both of them</b> <span>exact_match,none 0.67 (2 tasks, n 3)<" in page


def test_a_group_may_name_a_tag(both: Any) -> None:
    for name in ("first", "second"):
        path = both.path / "evals" / f"{name}.yaml"
        path.write_text(path.read_text("utf-8") + "tag: [pair]\n", "utf-8")
    group(both, GROUP.replace("[first, second]", "[pair]"))

    _, data = both.report()

    assert data["groups"][0]["metrics"]["exact_match,none"]["tests"] == 2


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("second]", "secnd]", "there is no task, group or tag 'secnd' (did you mean 'second"),
        ("[first, second]", "first", "a group's task is a list of names, not 'first'; what"),
        ("[first, second]", "[]", "a group's task is a list of names"),
        ("second]", "both]", "group 'both' holds itself: both"),
        ("second]", "{task: first, num_fewshot: 1}]", "'first' is there twice, with"),
        ("second]", "{tsk: first}]", "an entry is a task's name, or has the key task or"),
        ("group: both", "group: [x]", "group is a name, not"),
        ("{metric: exact_match}", "{metrc: a}", "an entry names its metric"),
        ("{metric: exact_match}", "{metric: a, weight: 1}", "unknown key 'weight' (did you"),
        ("{metric: exact_match}", "{metric: a, weight_by_size: 1}", "is true or false, not 1"),
        ("{metric: exact_match}", "{metric: a, aggregation: sum}", "of a group is mean, not"),
        ("{metric: exact_match}", "{metric: a, filter_list: {}}", "a list of names, not {}"),
        ("[{metric: exact_match}]", "x", "aggregate_metric_list is a list of {metric"),
        ("group_alias", "metadata: {llmeval: {gate: 'f1,none >= 1'}}\ngroup_alias",
         "gate: 'f1,none' is nothing this group puts together; there is: exact_match,FI"),
        ("group_alias", "metadata: {llmeval: {gte: 1}}\ngroup_alias", "unknown key 'gte'"),
    ],
)  # fmt: skip
def test_mistakes_in_a_group_are_collection_errors(
    both: Any, old: str, new: str, complaint: str
) -> None:
    group(both, GROUP.replace(old, new, 1))

    result = both.run()

    result.assert_outcomes(errors=1)
    pattern = complaint.replace("[", "[[]")
    result.stdout.fnmatch_lines([f"evals/_both.yaml:*{pattern}*"])
