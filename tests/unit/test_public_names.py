"""The names users import: all there, loaded when first used, and nothing besides."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import pytest_llmeval
from pytest_llmeval.cli import parser
from pytest_llmeval.config import Config
from pytest_llmeval.config._model import Limits
from pytest_llmeval.config._spec import _KEYS
from pytest_llmeval.metrics import metric_names
from pytest_llmeval.plugin import calibration_marker, fixtures, hookspecs, marker
from pytest_llmeval.plugin.options import OPTIONS

ROOT = Path(__file__).parents[2]
LISTED = ROOT / "tests" / "data" / "public_names.txt"

#: What a pytest run without evaluations must not pay for.
HEAVY = ("httpx", "jinja2", "yaml", "asyncio", "sqlite3", "tenacity")
#: What users use by a room of their own.
BY_ROOM = {
    "pytest_llmeval.metrics": [
        *("exact", "f1", "contains", "regex", "number", "choice", "read_choices"),
        *("token_f1", "hotpot_scores", "levenshtein", "starts_with"),
        *("metric", "score"),
    ],
    "pytest_llmeval.judging": ["compare", "evaluate", "read_verdict", "settle"],
    "pytest_llmeval.stats": [
        *("wilson_interval", "mcnemar_exact", "paired_bootstrap"),
        *("pass_at_k", "pass_hat_k"),
    ],
    "pytest_llmeval.baseline": ["compare"],
}


def python(code: str) -> str:
    """Return what code prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_names_are_sorted_and_each_is_there_once() -> None:
    assert pytest_llmeval.__all__ == sorted(set(pytest_llmeval.__all__))


def test_the_names_are_those_that_load_lazily() -> None:
    assert sorted(pytest_llmeval.__all__) == sorted(pytest_llmeval._ROOM_OF)


@pytest.mark.parametrize("name", pytest_llmeval.__all__)
def test_each_name_resolves_to_that_of_its_room(name: str) -> None:
    room = import_module(f"pytest_llmeval.{pytest_llmeval._ROOM_OF[name]}")

    assert getattr(pytest_llmeval, name) is getattr(room, name)
    assert name in room.__all__


@pytest.mark.parametrize("name", pytest_llmeval.__all__)
def test_each_name_says_what_it_is_for(name: str) -> None:
    assert getattr(pytest_llmeval, name).__doc__


def test_every_helper_and_every_exception_of_users_is_public() -> None:
    from pytest_llmeval import assertions, errors

    inner = {"ProviderError", "did_you_mean"}
    assert {*assertions.__all__, *errors.__all__} - inner <= set(pytest_llmeval.__all__)


@pytest.mark.parametrize(
    ("room", "name"),
    [(room, name) for room, names in BY_ROOM.items() for name in names],
)
def test_what_users_import_from_a_room_is_there(room: str, name: str) -> None:
    module = import_module(room)

    assert callable(getattr(module, name))
    assert name in module.__all__
    assert name in dir(module)


def test_dir_lists_the_names_before_they_are_loaded() -> None:
    names = python("import pytest_llmeval; print(*dir(pytest_llmeval))").split()

    assert set(pytest_llmeval.__all__) <= set(names)
    assert names == sorted(names)


def test_a_star_import_brings_all_of_them() -> None:
    code = (
        "from pytest_llmeval import *; print(*sorted(k for k in dir() if k[0] != '_'))"
    )

    assert python(code).split() == sorted(pytest_llmeval.__all__)


def test_a_name_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'assert_f2'"):
        _ = pytest_llmeval.assert_f2  # type: ignore[attr-defined]


def test_importing_a_name_there_is_not_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'assert_f2'"):
        exec("from pytest_llmeval import assert_f2")


@pytest.mark.parametrize("module", ["pytest_llmeval", "pytest_llmeval.plugin"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"""
import sys
import pytest
before = set(sys.modules)
import {module}
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(new & set({HEAVY!r})))
"""
    assert python(code) == ""


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = """
import sys
import pytest_llmeval
print(*sorted(name for name in sys.modules if name.startswith("pytest_llmeval")))
"""
    assert python(code) == "pytest_llmeval pytest_llmeval.late"


@pytest.mark.parametrize(
    "name", ["Case", "Generator", "UnscoredError", "assert_f1", "load_cases"]
)
def test_one_name_of_each_room_needs_neither_pytest_nor_a_network(name: str) -> None:
    code = f"""
import sys
from pytest_llmeval import {name}
print(*sorted({{"pytest", "httpx", "sqlite3"}} & set(sys.modules)))
"""
    assert python(code) == ""


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(pytest_llmeval.__file__).parent / "py.typed").exists()


# --- the whole surface, against a list that is committed ----------------------------------


def test_the_surface_is_what_is_listed() -> None:
    """Users rely on these names: none goes, and none comes, without a line of the list."""
    listed = LISTED.read_text("utf-8").splitlines()
    there = list(surface())

    assert sorted(set(listed) - set(there)) == []
    assert sorted(set(there) - set(listed)) == [], f"add these to {LISTED}"
    assert listed == sorted(set(listed))


@pytest.mark.parametrize("name", pytest_llmeval.__all__)
def test_each_name_is_typed_in_a_suite_of_a_user(name: str) -> None:
    suite = (ROOT / "tests" / "typing" / "suite.py").read_text("utf-8")

    assert len(re.findall(rf"\b{name}\b", suite)) > 1


def test_the_reference_says_what_the_code_says() -> None:
    path = ROOT / "docs" / "_reference.py"
    spec = importlib.util.spec_from_file_location("docs_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages = {
        p.name: p.read_text("utf-8") for p in (path.parent / "reference").iterdir()
    }

    stale = [name for name, text in module.pages().items() if pages.get(name) != text]

    assert stale == [], "python docs/_reference.py writes them anew"
    assert set(pages) == set(module.pages())


def surface() -> Iterator[str]:
    yield from (f"import {name}" for name in pytest_llmeval.__all__)
    for room, names in BY_ROOM.items():
        yield from (f"import {room.partition('.')[2]}.{name}" for name in names)
    yield from (f"marker llmeval {name}" for name in marker._SIGNATURE.parameters)
    for name in calibration_marker._SIGNATURE.parameters:
        yield f"marker llmeval_calibration {name}"
    yield from (f"fixture {name}" for name in (*fixtures.NAMES, "case"))
    yield from (f"hook {name}" for name in hookspecs.__all__)
    yield from (f"metric {name}" for name in metric_names())
    for option in OPTIONS:
        yield f"option {option.flag}"
        yield f"ini {option.key}"
    yield from ("ini llmeval_task_paths", "ini llmeval_allow_functions")
    yield from (
        f"config {field.name}" for field in fields(Config) if field.name != "path"
    )
    yield from (f"config models.NAME.{key}" for key in _KEYS)
    yield from (f"config limits.{field.name}" for field in fields(Limits))
    yield from (f"command {name}" for name in commands(parser()))
    schema = json.loads(
        (Path(pytest_llmeval.__file__).parent / "report/report.schema.json").read_text()
    )
    yield from (f"report {key}" for key in schema["properties"])
    for part, value in schema["$defs"].items():
        yield from (f"report {part}.{key}" for key in value.get("properties", ()))


def commands(whole: argparse.ArgumentParser) -> Iterator[str]:
    for action in whole._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for name, command in action.choices.items():
            yield name
            yield from (f"{name} {inner}" for inner in commands(command))
            yield from (f"{name} {flag}" for flag in flags(command))


def flags(command: argparse.ArgumentParser) -> list[Any]:
    return [
        flag
        for action in command._actions
        for flag in action.option_strings
        if flag.startswith("--") and flag != "--help"
    ]
