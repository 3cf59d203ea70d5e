"""Files that users write: datasets, llmeval.yaml, task files, templates."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_llmeval.config import load_config
from pytest_llmeval.datasets import load_cases, write_cases
from pytest_llmeval.errors import EvalAssertionError, LLMEvalError, UnscoredError
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.tasks import Task, TaskGroup, TaskOptions, load_member, load_task
from pytest_llmeval.types import Likelihood, Response
from tests.fuzz.files import DATA, FileKind, as_json, seeds

__all__ = ["WRITTEN"]

CASES, TASKS, MORE = DATA / "cases", DATA / "tasks", DATA / "lm_eval_tasks"


def use_dataset(path: Path) -> None:
    cases = load_cases(path)
    template = Template.of("{{ input }} {{ case.id }} {{ expected | default('') }}")
    for case in cases:
        with suppress(LLMEvalError):
            render(template, case)
    again = path.with_name(f"again{path.suffix}")
    with suppress(LLMEvalError):
        write_cases(cases, again)
        assert [case.id for case in load_cases(again)] == [case.id for case in cases]


def use_config(path: Path) -> None:
    load_config(path)


def use_task(path: Path) -> None:
    found = load_task(path, TaskOptions(root=path.parent))
    tasks = [found] if isinstance(found, Task) else members(found, path)
    for task in tasks:
        for case in task.cases[:2]:
            sample = SampleRun(CaseRun(nodeid="t[a]", test="t", case=case))
            begin(sample)
            try:
                task.run(case, Model(), Model())
            except (LLMEvalError, EvalAssertionError):
                pass
            finally:
                end()
            for check in sample.checks:
                function = task.aggregations.get(check.name)
                if function is not None and check.value is not None:
                    function([check.value])


def members(group: TaskGroup, path: Path) -> list[Task]:
    found = []
    for member in group.members:
        with suppress(LLMEvalError):
            found.append(load_member(member, TaskOptions(root=path.parent)))
    return found


class Model:
    """Answers anything, but not for ever: a file may ask a thousand times."""

    def __init__(self) -> None:
        self._left = 30

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise UnscoredError("it was asked often enough", cause="provider")

    def __call__(self, *_: Any, **__: Any) -> Response:
        self._count()
        return Response(text="PASS: the answer is 5.\n(A)", model="any")

    def loglikelihoods(self, asked: Any) -> list[Likelihood]:
        return [self.loglikelihood(*one) for one in itertools.islice(asked, 100)]

    def loglikelihood(self, *_: Any) -> Likelihood:
        self._count()
        return Likelihood.of([-0.5, -1.0], is_greedy=False)

    loglikelihood_rolling = loglikelihood


def use_template(path: Path) -> None:
    (case,) = load_cases(path.with_name("one.jsonl"))
    render(Template.of(path.name, base=path.parent), case)


CONFIG = b"""
generator: app
judge: panel
models:
  app: {provider: python, model: "app:answer", pass: case, reply: "a.b", cache: true}
  lab: {provider: openai, base_url: "http://127.0.0.1:1/v1?k=${KEY}", model: m,
        api_key_env: LAB_KEY, headers: {X-Team: "${TEAM}"}, params: {temperature: 0},
        prices: {input: 0.15, output: 0.6}, limits: {retries: 0}, on_length: score}
  api: {provider: "http://127.0.0.1:1/x", body: {q: "{{ prompt }}"}, reply: "a.0.b"}
  panel: {panel: [lab, lab2]}
  lab2: {provider: anthropic, model: m}
gates: ["pass_rate >= 0.9", "cost <= 0.5"]
limits: {concurrency: 10, requests_per_minute: 500, timeout_seconds: 60}
"""
OWN_TASK = b"""
task: own
prompt: "Say {{ input }}"
generator: "column:reply"
judge: "column:reply"
gate: ["pass_rate >= 0.5"]
tags: [x]
dataset:
  - {id: a, input: hi, expected: hi, reply: "hi, 5", label: 1, tags: [x]}
  - {id: b, input: {x: 1}, expected: [1, 2.50], reply: "PASS", choices: [a, b]}
assert:
  - exact
  - {f1: {threshold: 0.5}}
  - {number: {tolerance: 0.5}}
  - {judge: {rubric: "Is it?"}}
"""
KIND_TASK = b"""
task: kind
kind: choice
dataset: rows.jsonl
columns: {input: question}
repeat: 3
min_sample_rate: 0.5
limit: 2
"""
KIND_ROWS = b'{"question": "which?", "choices": ["a", "b"], "label": 0}\n'
GROUP = b"""
group: all
group_alias: All of them
task:
  - capitals_gen
  - {task: boolq, num_fewshot: 0}
  - llmeval_demo
  - group: inner
    task: [sums_cot]
    aggregate_metric_list: {metric: exact_match, filter_list: strict}
  - task: inline
    dataset_path: json
    dataset_kwargs: {data_files: {test: data/notes.jsonl}}
    test_split: test
    output_type: loglikelihood_rolling
    doc_to_target: note
    doc_to_text: ""
aggregate_metric_list:
  - {metric: acc, weight_by_size: true, aggregation: mean}
metadata: {version: 2, llmeval: {gate: ["acc,none >= 0.1"]}}
"""
DATA_TASK = b"""
task: rows
dataset_path: csv
dataset_kwargs: {data_files: {test: rows.csv}}
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
output_type: generate_until
generation_kwargs: {until: ["\\n"]}
"""
ROWS = (
    {"id": "a", "input": "q", "expected": "a", "tags": ["t"], "skip": "why"},
    {"id": 2, "input": {"x": [1]}, "expected": ["a", 1.5], "context": ["c"]},
    {"id": "c", "choices": ["x", "y"], "label": 0, "labels": [1], "must_pass": True},
)
TEMPLATES = (
    b"{% for x in choices %}{{ loop.index }}. {{ x }}\n{% endfor %}{{ input | upper }}",
    b"{{ input }}{% if expected is defined %}{{ expected | tojson }}{% endif %}",
    b"{% set x = namespace(a=1) %}{% macro m(a) %}{{ a }}{% endmacro %}{{ m(input) }}",
)
TEMPLATE_ROW = {"id": "a", "input": "q {{ 7*7 }}", "expected": ["a"], "choices": ["x"]}


def _below(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder of tasks, without code."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in {"", ".yaml", ".jsonl", ".csv"}
    }


def _tasks(folder: Path) -> tuple[bytes, ...]:
    return seeds(*sorted(folder.glob("*.yaml")))


def _data_task(kind: str, suffix: str) -> bytes:
    return re.sub(rb"rows\.csv", f"rows{suffix}".encode(), DATA_TASK).replace(
        b": csv", f": {kind}".encode()
    )


def use_data(path: Path) -> None:
    use_task(path.with_name("task.yaml"))


WRITTEN = {
    "dataset .jsonl": FileKind(
        name="rows.jsonl",
        use=use_dataset,
        seeds=seeds(CASES / "n39_odd_ids.jsonl", CASES / "n29_separators.jsonl"),
    ),
    "dataset .json": FileKind(
        name="rows.json",
        use=use_dataset,
        seeds=(
            *seeds(CASES / "n35_nested.json", CASES / "n35_mixed.json"),
            as_json(ROWS),
        ),
    ),
    "dataset .csv": FileKind(
        name="rows.csv",
        use=use_dataset,
        seeds=seeds(CASES / "n25_bom_quoted.csv", CASES / "n27_crlf.csv"),
    ),
    "dataset .tsv": FileKind(
        name="rows.tsv",
        use=use_dataset,
        seeds=(b"id\tquestion\texpected\n1\tq\ta\n",),
    ),
    "dataset .yaml": FileKind(
        name="rows.yaml",
        use=use_dataset,
        seeds=(
            *seeds(CASES / "n31_norway.yaml"),
            b"- &a {id: 1, input: {x: [1, 2]}, expected: [a, b], tags: [t]}\n"
            b"- {<<: *a, id: 2, skip: true}\n",
        ),
    ),
    "llmeval.yaml": FileKind(name="llmeval.yaml", use=use_config, seeds=(CONFIG,)),
    "own task": FileKind(
        name="own.llmeval.yaml",
        use=use_task,
        seeds=(OWN_TASK, KIND_TASK),
        beside={"rows.jsonl": KIND_ROWS},
    ),
    "lm_eval task": FileKind(
        name="task.yaml",
        use=use_task,
        seeds=(*_tasks(TASKS), *_tasks(MORE)),
        beside={**_below(TASKS), **_below(MORE)},
    ),
    "group": FileKind(
        name="group.yaml",
        use=use_task,
        seeds=(GROUP, *seeds(MORE / "groups/over.yaml", MORE / "mmlu/_mmlu.yaml")),
        beside={**_below(TASKS), **_below(MORE)},
    ),
    "task in a group": FileKind(
        name="member.yaml",
        use=lambda path: use_task(path.with_name("of_one.yaml")),
        seeds=(
            b"task: member\ntag: [t, u]\n" + DATA_TASK.replace(b"task: rows\n", b""),
        ),
        beside={
            "of_one.yaml": b"group: one\ntask: [t, member]\n",
            "rows.csv": b"q,a\n1,2\n",
        },
    ),
    "data .csv": FileKind(
        name="rows.csv",
        use=use_data,
        seeds=(b"q,a\n1,2\n1.5,-3e5\n", b'q,a\r\n"x, y",""\r\n'),
        beside={"task.yaml": DATA_TASK},
    ),
    "data .txt": FileKind(
        name="rows.txt",
        use=use_data,
        seeds=(b"one\ntwo\n",),
        beside={
            "task.yaml": re.sub(rb"{{.}}", b"{{text}}", _data_task("text", ".txt"))
        },
    ),
    "data .jsonl": FileKind(
        name="rows.jsonl",
        use=use_data,
        seeds=(b'{"q": "one", "a": ["x", 2.5]}\n{"q": {"b": 1}, "a": null}\n',),
        beside={"task.yaml": _data_task("json", ".jsonl")},
    ),
    "template": FileKind(
        name="ask.j2",
        use=use_template,
        seeds=TEMPLATES,
        beside={"one.jsonl": as_json(TEMPLATE_ROW)},
    ),
}
