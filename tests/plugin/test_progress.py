"""The line on a terminal while cases wait."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin.progress import Standing, line_of
from tests.conftest import QUIET

if TYPE_CHECKING:
    from tests.conftest import Suite


def standing(**given: Any) -> Standing:
    start: dict[str, Any] = {"done": 0, "total": 500, "running": 50, "retrying": 0}
    return Standing(**{**start, "cost": None, "seconds": 10.0, **given})


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, "0 of 500 done · 50 running · 450 waiting"),
        (
            {"done": 1200, "total": 5000, "retrying": 3, "cost": 0.125},
            "1,200 of 5,000 done · 50 running · 3,750 waiting · 3 retrying · $0.12"
            " · 32 s left",
        ),
        ({"done": 490, "running": 10}, "490 of 500 done · 10 running · 0 s left"),
        (
            {"done": 50, "seconds": 60.0},
            "50 of 500 done · 50 running · 400 waiting · 9 min 00 s left",
        ),
        (
            {"done": 50, "seconds": 600.0},
            "50 of 500 done · 50 running · 400 waiting · 1 h 30 min left",
        ),
    ],
)
def test_the_line_says_how_the_run_stands(given: dict[str, Any], line: str) -> None:
    assert line_of(standing(**given)) == line


SUITE = """
import threading
import pytest

ROWS = [{"id": f"c{n}"} for n in range(4)]

@pytest.mark.llmeval(ROWS)
def test_a(case):
    # Longer than the main thread waits before it writes.
    threading.Event().wait(0.5)
    assert case.id != "c3"
"""


def on_terminal(suite: Suite, *args: str) -> str:
    """Return what a run writes to a terminal of 100 columns."""
    import pty

    command = [sys.executable, "-m", "pytest", *QUIET, "-p", "no:cacheprovider", *args]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(suite.path)
        os.environ.update(COLUMNS="100", TERM="xterm")
        os.execv(sys.executable, command)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not piece:
            break
        written += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return written.decode()


LINE = re.compile("\x1b7 (.*?)\x1b\\[K\x1b8")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_terminal_shows_it_and_is_otherwise_as_without(suite: Suite) -> None:
    suite.write(test_a=SUITE)

    text = on_terminal(suite, "--color=no", "--tb=no")

    lines = LINE.findall(text)
    assert "0 of 4 done · 4 running" in lines
    rest = LINE.sub("", text).replace("\x1b[K", "")
    assert re.search(r"test_a.py \.\.\.F +\[100%\]", rest)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
@pytest.mark.parametrize("option", ["-q", "-s"])
def test_it_is_left_out_where_it_would_be_in_the_way(suite: Suite, option: str) -> None:
    suite.write(test_a=SUITE)

    assert "\x1b7" not in on_terminal(suite, option)


def test_a_file_never_has_it(suite: Suite) -> None:
    suite.write(test_a=SUITE)

    assert "\x1b" not in suite.run_alone().stdout.str()
