"""Files from anywhere: each is read, or refused with an error of ours.

What can be read can also be used: reported, compared, written again, rendered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from pytest_llmeval.baseline import compare, parse_baseline
from pytest_llmeval.clients._script import load_script
from pytest_llmeval.conclusion import KeptRun
from pytest_llmeval.config import load_config
from pytest_llmeval.datasets import load_cases, write_cases
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.report.files import write
from pytest_llmeval.store.recordings import Recordings
from pytest_llmeval.store.runs import read_run
from pytest_llmeval.tasks import TaskOptions, load_task
from tests.unit.fuzzing import as_json, changed_json, damaged, fuzz

#: Of Hypothesis, about its own messages: files may be long.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

DATA = Path(__file__).parents[1] / "data"
FUZZ = DATA / "fuzz"
CASES = DATA / "cases"
TASKS = DATA / "tasks"


def seeds(*paths: Path) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# --- datasets ------------------------------------------------------------------------

DATASETS = {
    ".jsonl": seeds(CASES / "n39_odd_ids.jsonl", CASES / "n29_separators.jsonl"),
    ".json": seeds(CASES / "n35_nested.json", CASES / "n35_mixed.json"),
    ".csv": seeds(CASES / "n25_bom_quoted.csv", CASES / "n27_crlf.csv"),
    ".tsv": [b"id\tquestion\texpected\n1\tq\ta\n"],
    ".yaml": [
        *seeds(CASES / "n31_norway.yaml"),
        b"- &a {id: 1, input: {x: [1, 2]}, expected: [a, b], tags: [t]}\n"
        b"- {<<: *a, id: 2, skip: true}\n",
    ],
}
ROWS = [
    [
        {"id": "a", "input": "q", "expected": "a", "tags": ["t"], "skip": "why"},
        {"id": 2, "input": {"x": [1]}, "expected": ["a", 1.5], "context": ["c"]},
        {
            "id": "c",
            "choices": ["x", "y"],
            "label": 0,
            "labels": [1],
            "must_pass": True,
        },
    ]
]


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


@pytest.mark.parametrize("suffix", DATASETS)
def test_a_damaged_dataset_is_read_or_refused(suffix: str, tmp_path: Path) -> None:
    read_or_refused(tmp_path / f"rows{suffix}", use_dataset, DATASETS[suffix])


def test_rows_of_any_values_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"

    @fuzz(80)
    @given(changed_json(ROWS))
    def check(rows: Any) -> None:
        one(path, as_json(rows), use_dataset)

    check()


# --- what a run leaves ---------------------------------------------------------------


def use_run(path: Path) -> None:
    kept = KeptRun.of(read_run(path))
    report = kept.report(kept.conclude())
    for suffix in (".json", ".jsonl", ".csv", ".md", ".html"):
        write(report, path.with_name(f"report{suffix}"))
    json.loads(
        path.with_name("report.json").read_text("utf-8"), parse_constant=no_number
    )


def no_number(word: str) -> None:
    pytest.fail(f"{word} stands in a JSON report")


def use_baseline(path: Path) -> None:
    baseline = parse_baseline(path.read_bytes(), "main.json")
    compare(list(baseline.cases), list(baseline.cases))
    compare([case.settled() for case in baseline.cases], ())


def use_recordings(path: Path) -> None:
    recordings = Recordings.read(path)
    entries = list(recordings.entries.values())
    for entry in entries[:2]:
        recordings.nearest(entry.request)
    recordings.write(entries, only_these=True)
    assert Recordings.read(path).entries.keys() == recordings.entries.keys()


def use_script(path: Path) -> None:
    for line in load_script(path):
        if line.replies("Lima"):
            line.said("Lima", 0)


LEFT: dict[str, tuple[str, Callable[[Path], None]]] = {
    "journal": ("run.jsonl", use_run),
    "baseline": ("baseline.json", use_baseline),
    "recordings": ("recordings.jsonl", use_recordings),
    "script": ("script.jsonl", use_script),
}


@pytest.mark.parametrize("kind", LEFT)
def test_a_damaged_file_of_a_run_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    name, use = LEFT[kind]
    read_or_refused(tmp_path / name, use, seeds(FUZZ / name))


@pytest.mark.parametrize("kind", LEFT)
def test_any_values_in_a_file_of_a_run_are_read_or_refused(
    kind: str, tmp_path: Path
) -> None:
    name, use = LEFT[kind]
    is_lines = name.endswith(".jsonl")
    whole: Any = rows_of(FUZZ / name) if is_lines else json.loads(*seeds(FUZZ / name))

    @fuzz(60)
    @given(changed_json([whole]))
    def check(data: Any) -> None:
        is_rows = is_lines and isinstance(data, list)
        lines = map(as_json, data) if is_rows else [as_json(data)]
        one(tmp_path / name, b"\n".join(lines) + b"\n", use)

    check()


# --- what the user writes ------------------------------------------------------------

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
cases:
  - {id: a, input: hi, expected: hi, reply: "hi, 5", label: 1, tags: [x]}
  - {id: b, input: {x: 1}, expected: [1, 2.50], reply: "PASS"}
assert:
  - exact
  - {f1: {threshold: 0.5}}
  - {judge: {rubric: "Is it?"}}
"""


def use_config(path: Path) -> None:
    load_config(path)


def use_task(path: Path) -> None:
    load_task(path, TaskOptions(root=path.parent))


@pytest.mark.filterwarnings("ignore::pytest_llmeval.EvaluationWarning")
def test_a_damaged_configuration_is_read_or_refused(tmp_path: Path) -> None:
    read_or_refused(tmp_path / "llmeval.yaml", use_config, [CONFIG])


@pytest.mark.filterwarnings("ignore::pytest_llmeval.EvaluationWarning")
@pytest.mark.parametrize("dialect", ["own", "lm_eval"])
def test_a_damaged_task_is_read_or_refused(dialect: str, tmp_path: Path) -> None:
    texts = [OWN_TASK] if dialect == "own" else seeds(*TASKS.glob("*.yaml"))
    (tmp_path / "data").mkdir()
    for file in (TASKS / "data").iterdir():
        (tmp_path / "data" / file.name).write_bytes(file.read_bytes())
    base = TASKS / "_sums_base_yaml"
    (tmp_path / base.name).write_bytes(base.read_bytes())

    read_or_refused(tmp_path / "task.yaml", use_task, texts)


TEMPLATES = [
    b"{% for x in choices %}{{ loop.index }}. {{ x }}\n{% endfor %}{{ input | upper }}",
    b"{{ input }}{% if expected is defined %}{{ expected | tojson }}{% endif %}",
    b"{% set x = namespace(a=1) %}{% macro m(a) %}{{ a }}{% endmacro %}{{ m(input) }}",
]


def use_template(path: Path) -> None:
    (case,) = load_cases(path.with_name("one.jsonl"))
    render(Template.of(path.name, base=path.parent), case)


def test_a_damaged_template_is_rendered_or_refused(tmp_path: Path) -> None:
    row = {"id": "a", "input": "q {{ 7*7 }}", "expected": ["a"], "choices": ["x", "y"]}
    (tmp_path / "one.jsonl").write_bytes(as_json(row))

    read_or_refused(tmp_path / "ask.j2", use_template, TEMPLATES)


def read_or_refused(
    path: Path, use: Callable[[Path], None], texts: list[bytes]
) -> None:
    @fuzz(80)
    @given(damaged(texts))
    def check(data: bytes) -> None:
        one(path, data, use)

    check()


def one(path: Path, data: bytes, use: Callable[[Path], None]) -> None:
    path.parent.mkdir(exist_ok=True)  # recordings without an entry take it along
    path.write_bytes(data)
    with suppress(LLMEvalError):
        use(path)
