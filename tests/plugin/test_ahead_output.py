"""What a body prints and logs stands under its own case, whoever has the turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

#: Every body writes line by line in turn with the others.
SUITE = """
import logging, os, sys, threading
import pytest

ROWS = [{"id": f"c{n}"} for n in range(4)]
COUNT = 10
log = logging.getLogger("app")
alone = "PYTEST_XDIST_WORKER" in os.environ
turn = int if alone else threading.Barrier(4, timeout=20).wait

@pytest.mark.llmeval(ROWS)
def test_a(case):
    parts = ["begin"]
    for n in range(10):
        turn()
        print(f"out {case.id} {n}")
        print(f"err {case.id} {n}", file=sys.stderr)
        sys.stdout.writelines([f"lines {case.id} ", f"{n}\\n"])
        parts.append(n)
        log.info("log %s %s", case.id, parts)
    parts.clear()
    assert COUNT == 9
"""


def section(text: str, case: str) -> str:
    """Return what pytest prints about a failed case."""
    found = re.search(
        rf"_ test_a\[{case}\] _(.*?)(?=\n_{{5,}} test_a|\n=====)", text, re.S
    )
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "options",
    [[], ["--capture=sys"], ["-n1"], ["-p", "no:logging"]],
    ids=["fd", "sys", "xdist", "no-logging"],
)
def test_every_line_stands_under_its_case(suite: Suite, options: list[str]) -> None:
    suite.write(test_a=SUITE)

    arguments = [] if "no:logging" in options else ["--log-level=INFO"]
    result = suite.run_alone("--llmeval-concurrency=4", *arguments, *options)

    text = result.stdout.str()
    for number in range(4):
        shown = section(text, f"c{number}")
        assert set(re.findall(r"\bc\d\b", shown)) == {f"c{number}"}
        for kind in ("out", "err", "lines"):
            found = re.findall(rf"^{kind} c\d (\d)$", shown, re.M)
            assert found == [str(n) for n in range(10)]
        if arguments:
            logged = re.findall(r"INFO +app:test_a.py:\d+ log c\d (.*)", shown)
            assert logged == [str(["begin", *range(n + 1)]) for n in range(10)]
    assert "c1" not in text[: text.index("FAILURES")].replace("test_a[c1]", "")


def test_without_capture_the_lines_come_in_the_order_of_the_cases(suite: Suite) -> None:
    suite.write(test_a=SUITE)

    result = suite.run_alone("-s", "--llmeval-concurrency=4")

    found = re.findall(r"out (c\d) \d$", result.stdout.str(), re.M)
    assert found == sorted(found)
    assert len(found) == 40


def test_junit_has_the_output_of_each_case(suite: Suite) -> None:
    suite.write(test_a=SUITE)

    suite.run(
        "--junitxml=out.xml", "-o", "junit_logging=all", "--llmeval-concurrency=4"
    )

    cases = list(ElementTree.parse(suite.path / "out.xml").iter("testcase"))
    assert len(cases) == 4
    for case in cases:
        text = "".join(case.itertext())
        name = case.attrib["name"].removeprefix("test_a[")[:2]
        assert set(re.findall(r"^out (c\d)", text, re.M)) == {name}


def test_streams_and_loggers_are_as_before_afterwards(suite: Suite) -> None:
    suite.write(
        test_a=SUITE.replace("== 9", "== 10"),
        test_b="""
import logging, sys

def test_world():
    for stream in (sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__):
        assert "write" not in vars(stream)
    names = [type(handler).__name__ for handler in logging.getLogger().handlers]
    assert "_Collector" not in names
    assert not any(handler.filters for handler in logging.getLogger().handlers)
""",
    )

    suite.run_alone("--llmeval-concurrency=4").assert_outcomes(passed=5)
