"""Installed and unused: no output, no file, no heavy import, no environment change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

PLAIN = """
import json, os, sys
import pytest

@pytest.fixture
def generator():
    # A project's own fixture that happens to share a name of ours.
    return lambda text: text.upper()

@pytest.mark.parametrize("n", [1, 2])
def test_plain(n, generator, tmp_path):
    assert generator("x") == "X"

def test_failing():
    assert "a b" == "a c"

def test_world():
    names = sorted(name for name in sys.modules if not name.startswith("pytest_llmev"))
    with open(os.environ["WORLD"], "w") as file:
        json.dump({"modules": names, "environ": dict(os.environ)}, file)
"""

HEAVY = {"httpx", "jinja2", "yaml", "asyncio", "sqlite3", "tenacity", "anyio"}


def _run(suite: Suite, monkeypatch: pytest.MonkeyPatch, *args: str) -> dict[str, Any]:
    world = suite.path / "world.json"
    monkeypatch.setenv("WORLD", str(world))
    result = suite.run_alone("-v", "-p", "no:xdist", *args)
    data: dict[str, Any] = json.loads(world.read_text("utf-8"))
    world.unlink()
    lines = [line.split(" in 0.")[0].split(" in 1.")[0] for line in result.outlines]
    data["output"] = [line for line in lines if not line.startswith("plugins:")]
    data["status"] = result.ret
    data["files"] = sorted(
        str(path.relative_to(suite.path))
        for path in suite.path.rglob("*")
        if not path.relative_to(suite.path).parts[0].startswith(("runpy", "__py"))
    )
    return data


@pytest.fixture
def both(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], dict[str, Any]]:
    suite.write(test_plain=PLAIN)
    monkeypatch.setenv("COLUMNS", "100")
    without = _run(suite, monkeypatch, "-p", "no:llmeval")
    return _run(suite, monkeypatch), without


@pytest.mark.parametrize("what", ["output", "files", "status"])
def test_a_suite_without_evaluations_sees_nothing(
    both: tuple[dict[str, Any], dict[str, Any]], what: str
) -> None:
    installed, without = both

    assert installed[what] == without[what]


def test_a_suite_without_evaluations_imports_nothing_heavy(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    installed, without = both

    more = set(installed["modules"]) - set(without["modules"])
    assert not {name.partition(".")[0] for name in more} & HEAVY
    assert more == set()


def test_the_environment_stays(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    installed, without = both

    changing = {"PYTEST_CURRENT_TEST", "PYTEST_VERSION"}
    for name in installed["environ"].keys() | without["environ"].keys():
        if name not in changing and "PYTEST" not in name:
            assert installed["environ"].get(name) == without["environ"].get(name), name


def test_a_fixture_of_the_project_makes_no_evaluation(suite: Suite) -> None:
    suite.write(test_plain=PLAIN)

    result = suite.run("-m", "llmeval", "--collect-only", "-q")

    result.stdout.fnmatch_lines(["*4 deselected*"])


def test_the_help_lists_every_option(suite: Suite) -> None:
    text = suite.run("--help").stdout.str()

    for name in ("generator", "judge", "limit", "sample", "cases", "report", "require"):
        assert f"--llmeval-{name}=" in text
        assert f"llmeval_{name}" in text


def test_the_marker_is_listed(suite: Suite) -> None:
    result = suite.run("--markers")

    result.stdout.fnmatch_lines(["@pytest.mark.llmeval(dataset=None, *"])
