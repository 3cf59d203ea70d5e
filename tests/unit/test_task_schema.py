"""The JSON schema of task files: it takes what is read, and refuses what is not."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_llmeval.cli import main
from pytest_llmeval.tasks._own import KEYS
from pytest_llmeval.tasks._read import read_mapping
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._assemble import LM_EVAL_KEYS
from pytest_llmeval.tasks.lm_eval._generation import GENERATION_KEYS
from pytest_llmeval.tasks.lm_eval._own_keys import OWN_KEYS
from pytest_llmeval.tasks.lm_eval._shots import SHOT_KEYS

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(
    path
    for folder in ("tasks", "lm_eval_tasks")
    for path in (DATA / folder).rglob("*")
    if path.suffix == ".yaml" or path.name.endswith("_yaml")
)
OWN = {"dataset": "a.jsonl", "assert": ["exact", {"f1": 0.6}], "gate": "f1 >= 0.7"}
TASK = {"task": "a", "dataset_path": "json", "test_split": "test", "doc_to_text": "q"}
GROUP = {"group": "g", "task": ["a", {"task": "b", "num_fewshot": 2}]}


@pytest.fixture(scope="module")
def schema() -> Any:
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert main(["schema", "task"]) == 0
    found = json.loads(printed.getvalue())
    Draft202012Validator.check_schema(found)
    return found


def plain(value: Any) -> Any:
    """Return what a reader of YAML without our tag has in its place."""
    if isinstance(value, FunctionName):
        return value.name
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def complaints(schema: Any, data: Any) -> str:
    return " ".join(e.message for e in Draft202012Validator(schema).iter_errors(data))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_task_files_follow_it(schema: Any, path: Path) -> None:
    data = plain(read_mapping(path, DATA).data)

    assert complaints(schema, data) == ""


@pytest.mark.parametrize(
    "data",
    [
        OWN,
        {"dataset": [{"input": "a"}], "kind": "choice", "repeat": 2, "tags": ["x"]},
        TASK,
        {**TASK, "metadata": {"version": 1, "llmeval": {"gate": ["acc,none >= 0.5"]}}},
        GROUP,
        {**GROUP, "metadata": {"llmeval": {"gate": "acc,none >= 0.5"}}},
    ],
)
def test_what_is_read_follows_it(schema: Any, data: Any) -> None:
    assert complaints(schema, data) == ""


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({**OWN, "promt": "x"}, "promt"),
        ({**OWN, "repeat": 0}, "0"),
        ({**TASK, "doc_to_txt": "q"}, "doc_to_txt"),
        ({**TASK, "dataset_path": "hub/name"}, "hub/name"),
        ({**TASK, "output_type": "generate"}, "generate"),
        ({**TASK, "generation_kwargs": {"untl": "x"}}, "untl"),
        ({**TASK, "fewshot_config": {"smpler": "x"}}, "smpler"),
        ({**TASK, "metadata": {"llmeval": {"gte": "x"}}}, "gte"),
        ({**GROUP, "agregate_metric_list": []}, "agregate_metric_list"),
        ({"group": "g", "task": "a"}, "'a'"),
        ({}, "dataset"),
    ],
)
def test_a_mistake_does_not(schema: Any, data: Any, part: str) -> None:
    assert part in complaints(schema, data)


def test_it_knows_the_keys_that_are_read(schema: Any) -> None:
    parts = schema["$defs"]
    task = parts["lm_eval"]["properties"]
    shots, generation = (
        task[name]["anyOf"][0]["properties"]
        for name in ("fewshot_config", "generation_kwargs")
    )

    assert set(parts["own"]["properties"]) == set(KEYS)
    assert set(task) == {*LM_EVAL_KEYS, "include"}
    assert set(parts["llmeval"]["properties"]) == set(OWN_KEYS)
    assert set(shots) == set(SHOT_KEYS)
    assert set(generation) == set(GENERATION_KEYS)
