"""Beside other plugins, and where pytest is set up otherwise than here.

A plugin that is not installed skips its tests; .ci/run installs all of them.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

ROWS = [{"id": f"c{n}", "input": f"q{n}", "expected": f"q{n}"} for n in range(4)]

@pytest.mark.llmeval(ROWS, generator="python:compat_app:answer")
def test_plain(case, generator):
    assert_exact(generator(case), case)

@pytest.mark.llmeval(ROWS, generator="python:compat_app:answer")
async def test_async(case, generator):
    assert_exact(await generator.acall(case), case)

@pytest.mark.llmeval(ROWS, generator="python:compat_app:answer")
def test_wrong(case, generator):
    assert_exact(generator(case), "another")
"""
APP = "async def answer(prompt):\n    return prompt\n"

#: What each is given that it has work to do.
PLUGINS = {
    "pytest-asyncio": ["-o", "asyncio_mode=auto"],
    "anyio": ["-p", "anyio"],
    "pytest-rerunfailures": ["--reruns=1"],
    "pytest-randomly": ["-p", "randomly", "-p", "no:cacheprovider"],
    "pytest-timeout": ["--timeout=60"],
    "pytest-cov": ["--cov=compat_app", "--cov-report="],
    "pytest-html": ["--html=h.html", "--self-contained-html"],
}


@pytest.fixture
def mixed(suite: Suite) -> Suite:
    suite.write(test_mixed=TEST, compat_app_py=APP)
    return suite


def outcomes(result: pytest.RunResult) -> dict[str, int]:
    counts = result.parseoutcomes()
    return {name: counts.get(name, 0) for name in ("passed", "failed", "unscored")}


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_beside_another_plugin(mixed: Suite, plugin: str, workers: list[str]) -> None:
    try:
        version(plugin)
    except PackageNotFoundError:
        if os.environ.get("LLMEVAL_PLUGINS") == "required":
            raise
        pytest.skip(f"{plugin} is not installed")

    result = mixed.pytester.runpytest_subprocess(*PLUGINS[plugin], *workers)

    assert outcomes(result) == {"passed": 8, "failed": 4, "unscored": 0}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_in_each_import_mode(mixed: Suite, mode: str) -> None:
    result = mixed.run(f"--import-mode={mode}")

    assert outcomes(result) == {"passed": 8, "failed": 4, "unscored": 0}


def test_the_root_directory_may_be_elsewhere(mixed: Suite) -> None:
    root = mixed.path / "root"
    root.mkdir()
    inner = mixed.path / "suite"
    inner.mkdir()
    for name in ("test_mixed.py", "compat_app.py"):
        (mixed.path / name).rename(inner / name)

    result = mixed.run(f"--rootdir={root}", "-o", f"pythonpath={inner}", str(inner))

    assert outcomes(result) == {"passed": 8, "failed": 4, "unscored": 0}
    assert (root / ".llmeval" / "runs").is_dir()


def test_switched_off_it_is_not_there(mixed: Suite) -> None:
    mixed.write(test_other="def test_plain():\n    pass\n")

    result = mixed.run_alone("-p", "no:llmeval", "test_other.py")

    result.assert_outcomes(passed=1)
    assert "llmeval" not in result.stdout.str().replace("llm-regression", "")
    assert not (mixed.path / ".llmeval").exists()


def test_line_ends_and_paths_of_windows_are_data(suite: Suite) -> None:
    (suite.path / "rows.csv").write_bytes(
        b'id,input,expected\r\na,C:\\dir\\new,C:\\dir\\new\r\nb,"x\r\ny","x\r\ny"\r\n'
    )
    (suite.path / "ask.j2").write_bytes(b"{{ input }}\r\n")
    (suite.path / "llmeval.yaml").write_bytes(
        b"generator: app\r\nmodels:\r\n"
        b"  app: {provider: python, model: 'compat_app:answer'}\r\n"
    )
    suite.write(
        compat_app_py=APP,
        test_rows="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.csv", prompt="ask.j2")
def test_rows(case, generator):
    assert_exact(generator(case), case)
""",
    )

    suite.run().assert_outcomes(passed=2)
