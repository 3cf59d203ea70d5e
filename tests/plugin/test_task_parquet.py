"""Parquet files as data of tasks."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.conftest import Suite

# Here once: its modules can't be loaded again by a run in this process.
pyarrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")

TASK = """\
task: demo
dataset_path: parquet
dataset_kwargs: {data_files: {test: rows.parquet}}
test_split: test
doc_to_text: "{{q}}: {{choices | join(', ')}}"
doc_to_target: "{{choices[best]}}"
"""


@pytest.fixture
def demo(suite: Suite) -> Suite:
    (suite.path / "demo.llmeval.yaml").write_text(TASK, "utf-8")
    suite.write(
        parquetapp_py="def answer(prompt):\n    return prompt.split()[-1]\n",
        llmeval_yaml="generator: 'python:parquetapp:answer'\n",
    )
    suite.pytester.syspathinsert()
    return suite


def test_rows_are_read(demo: Suite) -> None:
    table = pyarrow.table(
        {"q": ["one", "two"], "choices": [["a", "b"], ["c"]], "best": [0, 0]}
    )
    parquet.write_table(table, demo.path / "rows.parquet")

    _, data = demo.report()

    assert data["tests"][0]["metrics"]["exact_match,none"]["mean"] == 0.5
    prompts = [case["samples"][0]["prompt"][0]["content"] for case in data["cases"]]
    assert prompts == ["one: a, b", "two: c"]
    assert data["cases"][1]["source"] == "rows.parquet:2"


def test_what_is_no_parquet_is_told(demo: Suite) -> None:
    (demo.path / "rows.parquet").write_text("q,a\n", "utf-8")

    result = demo.run()

    result.stdout.fnmatch_lines(
        ["demo.llmeval.yaml:3: *rows.parquet can't be read as Parquet: *"]
    )


def test_a_missing_file_is_told(demo: Suite) -> None:
    result = demo.run()

    result.stdout.fnmatch_lines(
        ["demo.llmeval.yaml:3: *rows.parquet: there is no such*"]
    )


def test_a_missing_extra_is_named(demo: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    result = demo.run()

    result.stdout.fnmatch_lines(
        ["demo.llmeval.yaml:3: *needs the extra 'parquet' (no module 'pyarrow')*"]
    )
