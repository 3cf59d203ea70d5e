"""The page of faults: no trouble is missing, every test it names is there."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "faults.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "tests/" in line
]
KINDS = {
    row["n"]: row["kind"]
    for row in map(
        json.loads,
        (ROOT / "tests" / "data" / "cases.jsonl").read_text("utf-8").splitlines(),
    )
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


def test_no_trouble_is_missing() -> None:
    listed = {int(row[0]): row[1] for row in ROWS if row[0].isdigit()}

    assert len(listed) == 46
    assert listed == KINDS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].replace(" ", "-")[:40])
def test_a_promise_has_its_tests(row: list[str]) -> None:
    *promised, tests = row

    assert all(promised)
    for nodeid in tests.split(", "):
        file, _, name = nodeid.partition("::")
        assert name in names_in(file), nodeid
