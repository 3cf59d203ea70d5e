from __future__ import annotations

import compileall
import gc
import importlib
import json
import pkgutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# Imported here, these are the same modules in every run that pytester makes in this
# process: it takes back what a run imports.
import httpcore  # noqa: F401 - httpx imports it with its first request
import httpx  # noqa: F401
import jinja2  # noqa: F401
import pytest
import yaml  # noqa: F401

import pytest_llmeval
from pytest_llmeval.metrics._custom import REGISTERED

# Tests start hundreds of processes. Where the environment says that nobody writes
# bytecode, each of them would compile the package anew.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    compileall.compile_dir(pytest_llmeval.__path__[0], quiet=1)

for module in pkgutil.walk_packages(pytest_llmeval.__path__, "pytest_llmeval."):
    if not module.name.endswith(("__main__", "_worker")):  # those run when imported
        importlib.import_module(module.name)

# In the background of a script (nohup, some CI runners) SIGINT is ignored, and so it would
# be by the suites that tests stop by it: they would run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep what is there by now out of the garbage collector's way.

    pytest collects garbage at the end of each run, also of the thousand that pytester
    makes in this process.
    """
    gc.collect()
    gc.freeze()


#: Plugins of the machine that have no part in what is tested here.
QUIET = tuple(
    part
    for name in ("randomly", "hypothesispytest", "anyio")
    for part in ("-p", f"no:{name}")
)


class LastFrame:
    """Leaves of a run that is refused the one frame whose place pytest tells.

    pytest makes a traceback for --full-trace ready, and reads its own sources for it.
    """

    @staticmethod
    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if isinstance(excinfo.value, pytest.Session.Interrupted):
            excinfo.traceback = excinfo.traceback[-1:]


class Suite:
    """A user's suite in a temporary directory, run as a user would."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path: Path = pytester.path
        # A root directory of its own: reports name files relative to it.
        pytester.makeini("[pytest]\n")

    def write(self, **files: str) -> None:
        """Write files; ``test_a`` becomes test_a.py, ``data__x_csv`` data/x.csv."""
        for name, text in files.items():
            path = self.path / _file_name(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def rows(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a JSONL dataset."""
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest on the suite, in this process."""
        return self.pytester.runpytest_inprocess(
            *QUIET, "-p", "no:cacheprovider", *args, plugins=[LastFrame]
        )

    def run_alone(self, *args: str) -> pytest.RunResult:
        """Run pytest on the suite in a process of its own."""
        return self.pytester.runpytest_subprocess(
            *QUIET, "-p", "no:cacheprovider", *args
        )

    def run_with_cache(self, *args: str) -> pytest.RunResult:
        """Run pytest with its cache, which --lf needs."""
        return self.pytester.runpytest_inprocess(*QUIET, *args, plugins=[LastFrame])

    def report(self, *args: str) -> tuple[pytest.RunResult, dict[str, Any]]:
        """Run pytest and return its JSON report beside the result."""
        result = self.run("--llmeval-report=report.json", *args)
        data = json.loads((self.path / "report.json").read_text("utf-8"))
        return result, data

    def journal(self) -> list[dict[str, Any]]:
        """Return the lines of the newest run's journal."""
        newest = max((self.path / ".llmeval" / "runs").glob("*.jsonl"))
        return [json.loads(line) for line in newest.read_text("utf-8").splitlines()]


def _file_name(name: str) -> str:
    if name.startswith("test_") or name in {"conftest", "app"}:
        return f"{name}.py"
    stem, _, suffix = name.replace("__", "/").rpartition("_")
    return f"{stem}.{suffix}"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    # Where these are set pytest shortens nothing: what is tested is a user's terminal.
    # What CI adds to the output is asked for where it is tested.
    for name in ("CI", "BUILD_NUMBER", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    # A file that is written anew within a second, as long as before, would be run from
    # the old one's bytecode.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Suite(pytester)


@pytest.fixture(scope="module", autouse=True)
def no_metrics_kept() -> Iterator[None]:
    """Forget the metrics that a module registered: the next one has its own."""
    yield
    REGISTERED.clear()


class Troubles:
    """Troublesome situations of people who do this job: ``tests/data/cases.jsonl``.

    docs/faults.md says what is promised in each.
    """

    folder = Path(__file__).parent / "data"

    def __init__(self) -> None:
        lines = (self.folder / "cases.jsonl").read_text("utf-8").splitlines()
        self._inputs = {row["n"]: row["input"] for row in map(json.loads, lines)}

    def input(self, n: int) -> Any:
        """Return the small input that brings a row out."""
        return self._inputs[n]

    def path(self, name: str) -> Path:
        """Return the path of a file that belongs to a row."""
        return self.folder / "cases" / name

    def copy(self, name: str, suite: Suite) -> None:
        """Copy a file that belongs to a row into a suite, byte by byte."""
        (suite.path / name).write_bytes(self.path(name).read_bytes())


@pytest.fixture(scope="session")
def troubles() -> Troubles:
    return Troubles()
