"""The table of troublesome situations: no row is missing, every test is there."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
TABLE = (DATA / "cases_wire.md").read_text("utf-8")
ROWS = {
    int(n): (kind, tests.split(", "), branch)
    for n, kind, tests, branch in re.findall(
        r"^\| (\d+) \| (\S+) \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE
    )
}
CASES = {
    row["n"]: row["kind"]
    for row in map(json.loads, (DATA / "cases.jsonl").read_text("utf-8").splitlines())
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


def test_every_case_of_a_kind_that_is_done_has_a_row() -> None:
    listed = re.search(r"^Kinds done: (.+)$", TABLE, re.MULTILINE)
    assert listed is not None
    done = set(listed[1].split(", "))

    assert done
    assert done <= set(CASES.values())
    assert {n: kind for n, (kind, _, _) in ROWS.items()} == {
        n: kind for n, kind in CASES.items() if kind in done
    }


@pytest.mark.parametrize("n", ROWS)
def test_the_tests_of_a_row_are_there(n: int) -> None:
    _, tests, branch = ROWS[n]

    assert branch.strip()
    for nodeid in tests:
        file, _, name = nodeid.strip().partition("::")
        assert name in names_in(file), nodeid
