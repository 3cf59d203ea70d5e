"""Workers run ahead what their queue holds; every body runs once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

SUITE = """
import threading
from pathlib import Path
from pytest_llmeval import assert_exact
import pytest

ROWS = [{"id": f"c{n}", "question": str(n), "expected": str(n)} for n in range(40)]
here = Path(__file__).parent
beside = 0

@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator):
    is_main = threading.current_thread() is threading.main_thread()
    with open(here / f"ran-{case.id}", "a") as file:
        file.write(f"{is_main}\\n")
    assert_exact(generator(case), case)

@pytest.mark.parametrize("n", range(20))
def test_plain(n):
    assert n >= 0
"""


def ran(suite: Suite) -> Counter[str]:
    """Return how often bodies ran in a main thread ("True") and beside others."""
    return Counter(
        line
        for path in suite.path.glob("ran-*")
        for line in path.read_text().splitlines()
    )


@pytest.mark.parametrize("mode", ["load", "loadfile", "worksteal"])
def test_every_body_runs_once(suite: Suite, mode: str) -> None:
    suite.write(test_a=SUITE)

    result = suite.run("-n2", f"--dist={mode}")

    result.assert_outcomes(passed=60)
    assert ran(suite).total() == 40
    assert len(list(suite.path.glob("ran-*"))) == 40
    text = result.stdout.str()
    said = "one at a time: test_a (--dist=worksteal takes cases back"
    assert (said in text) is (mode == "worksteal")
    assert (ran(suite)["False"] > 0) is (mode != "worksteal")


def test_a_crash_loses_only_the_case_it_was_in(suite: Suite) -> None:
    crash = '    if case.id == "c3":\n        import os\n        os._exit(1)\n'
    suite.write(test_a=SUITE.replace("    assert_exact", crash + "    assert_exact"))

    result, report = suite.report("-n2")

    statuses = Counter(case["status"] for case in report["cases"])
    assert statuses == {"passed": 39, "unscored": 1}
    crashed = [case for case in report["cases"] if case["status"] == "unscored"]
    assert [case["cause"] for case in crashed] == ["crashed"]
    result.stdout.fnmatch_lines(["*1 unscored*"])
