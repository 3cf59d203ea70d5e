"""The import rules of ARCHITECTURE.md, held over every file of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "pytest_llmeval"

#: A room imports from rooms before it, and from nothing after it.
ORDER = (
    *("late", "errors", "types"),
    *("stats", "diffs", "redact", "config"),
    *("datasets", "prompts", "recorder", "loop"),
    *("store", "clients", "metrics", "kinds", "judging"),
    *("evaluate", "assertions", "ahead", "baseline", "calibration", "gates"),
    *("tasks", "report", "conclusion"),
    *("cli", "__main__", "plugin"),
)
RANK = {room: rank for rank, room in enumerate(ORDER)}
#: What a run without evaluations must not pay for.
HEAVY = {"asyncio", "httpx", "jinja2", "sqlite3", "tenacity", "yaml"}
#: Classes of ours that derive from heavy ones; as heavy themselves.
DERIVED = {
    Path("clients", "_network.py"): "pytest_llmeval.clients._network",
    Path("clients", "_connections.py"): "pytest_llmeval.clients._connections",
}
#: The one file that touches what pytest doesn't promise.
QUARANTINE = Path("plugin", "_internals.py")

MODULE_PATH = re.compile(r"pytest_llmeval(\.\w+)+(:\w+)?")

Rule = Callable[[Path, ast.Module], Iterator[str]]


def test_every_file_belongs_to_a_room_of_the_order() -> None:
    rooms = {room_of(path) for path in files(ROOT)}

    assert rooms - {"__init__"} <= set(ORDER)


def test_imports_point_one_way() -> None:
    assert broken(ROOT, only_from_rooms_above) == []


def test_only_the_plugin_imports_pytest() -> None:
    assert broken(ROOT, pytest_in_the_plugin_alone) == []


def test_private_names_are_read_in_the_quarantined_file_alone() -> None:
    assert broken(ROOT, private_names_in_quarantine) == []


def test_nothing_heavy_is_imported_with_a_module() -> None:
    assert broken(ROOT, heavy_inside_functions) == []


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("stats.py", "import pytest_llmeval.diffs", "stats imports diffs"),
        ("types/_case.py", "from pytest_llmeval.loop import x", "types imports loop"),
        ("clients/fake.py", "from pytest_llmeval import metrics", "imports metrics"),
        ("config.py", "def f():\n    import pytest_llmeval.cli", "imports cli"),
        ("loop.py", "try:\n    import pytest_llmeval.cli\nfinally: ...", "imports cli"),
        ("diffs.py", "import typing\nif typing.TYPE_CHECKING:\n"
         "    from pytest_llmeval.plugin.run import Run", "diffs imports plugin"),
        ("metrics/__init__.py", "_TABLE = {'j': 'pytest_llmeval.judging:judge'}",
         "metrics imports judging"),
        ("report/model.py", "from pytest_llmeval import assert_f1",
         "imports the public name assert_f1"),
        ("report/model.py", "from . import x", "imports relatively"),
        ("report/model.py", "from pytest_llmeval import *", "imports the public name"),
        ("__init__.py", "import pytest_llmeval.types", "__init__ imports types"),
        ("__init__.py", "from pytest_llmeval import types", "__init__ imports types"),
    ],
)  # fmt: skip
def test_a_wrong_direction_is_found(
    tmp_path: Path, file: str, line: str, complaint: str
) -> None:
    plant(tmp_path, file, line)

    assert complaint in "\n".join(broken(tmp_path, only_from_rooms_above))


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("diffs.py", "from pytest_llmeval.stats import mean"),
        ("types/_case.py", "from pytest_llmeval.types._text import as_text"),
        ("plugin/run.py", "from pytest_llmeval import judging"),
        ("plugin/run.py", "x = 'see pytest_llmeval.plugin for more'"),
        ("metrics/__init__.py", "_TABLE = {'f1': 'pytest_llmeval.metrics._f1:f1'}"),
        ("__init__.py", "ROOM_OF = {'Case': 'pytest_llmeval.types'}"),
        ("__init__.py", "if TYPE_CHECKING:\n    from pytest_llmeval.types import Case"),
    ],
)
def test_a_right_direction_is_left_alone(tmp_path: Path, file: str, line: str) -> None:
    plant(tmp_path, file, line)

    assert broken(tmp_path, only_from_rooms_above) == []


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("evaluate.py", "import pytest", "imports pytest"),
        ("evaluate.py", "def f():\n    from pytest import fail", "imports pytest"),
        ("evaluate.py", "import importlib as i\ni.import_module('pytest')", "pytest"),
        ("plugin/run.py", "from _pytest.config import Config", "imports _pytest"),
        ("plugin/_internals.py", "import _pytest", "imports _pytest"),
    ],
)
def test_a_forbidden_pytest_is_found(
    tmp_path: Path, file: str, line: str, complaint: str
) -> None:
    plant(tmp_path, file, line)

    assert complaint in "\n".join(broken(tmp_path, pytest_in_the_plugin_alone))


@pytest.mark.parametrize(
    "line", ["x = item._request", "x = getattr(item, '_fixtureinfo', None)"]
)
def test_a_private_name_of_pytest_is_found(tmp_path: Path, line: str) -> None:
    plant(tmp_path, "plugin/run.py", line)
    plant(tmp_path, "plugin/_internals.py", line)

    assert len(broken(tmp_path, private_names_in_quarantine)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "import httpx",
        "import asyncio.events",
        "from yaml import safe_load",
        "try:\n    import sqlite3\nexcept ImportError:\n    pass",
        "class Store:\n    import sqlite3",
        "from pytest_llmeval.clients._network import Network",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import jinja2",
    ],
)
def test_a_heavy_import_is_found(tmp_path: Path, line: str) -> None:
    plant(tmp_path, "store/cache.py", line)

    assert len(broken(tmp_path, heavy_inside_functions)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def f():\n    import httpx",
        "class Store:\n    async def f(self):\n        import asyncio",
        "if TYPE_CHECKING:\n    import jinja2",
        "if typing.TYPE_CHECKING:\n    import jinja2",
    ],
)
def test_an_import_that_costs_nothing_is_left_alone(tmp_path: Path, line: str) -> None:
    plant(tmp_path, "store/cache.py", line)

    assert broken(tmp_path, heavy_inside_functions) == []


# The checker.


def plant(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def files(root: Path) -> list[Path]:
    """Return the package's Python files, relative to it."""
    return sorted(path.relative_to(root) for path in root.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def broken(root: Path, rule: Rule) -> list[str]:
    """Return what `rule` finds in every file of the package at `root`."""
    return [
        f"{path} {complaint}"
        for path in files(root)
        for complaint in rule(path, ast.parse((root / path).read_text("utf-8")))
    ]


def only_from_rooms_above(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find imports of rooms below, wherever they stand; tables of names count too."""
    here = room_of(path)
    if here == "__init__":
        # It names every room, and loads none with itself.
        statements = (
            node for node in at_module_level(tree) if not isinstance(node, ast.Constant)
        )
        rooms = (room for room in _rooms(statements) if room != "late")
        yield from (f": __init__ imports {room}" for room in rooms)
        return
    for name in _rooms(ast.walk(tree)):
        if name == ".":
            yield "imports relatively"
        elif name not in RANK:
            yield f"imports the public name {name}: import it from its room"
        elif RANK[name] > RANK[here]:
            yield f": {here} imports {name}, a room below"


def pytest_in_the_plugin_alone(path: Path, tree: ast.Module) -> Iterator[str]:
    for name in imported(ast.walk(tree)):
        top = name.partition(".")[0]
        if top == "_pytest" or (top == "pytest" and room_of(path) != "plugin"):
            yield f"imports {top}"


def private_names_in_quarantine(path: Path, tree: ast.Module) -> Iterator[str]:
    if room_of(path) != "plugin" or path == QUARANTINE:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name("self" | "cls"), _):
                continue
            case ast.Attribute(ast.Call(ast.Name("super")), _):
                continue
            case ast.Attribute(_, name):
                pass
            case ast.Call(
                ast.Name("getattr" | "hasattr"), [_, ast.Constant(str(name)), *_]
            ):
                pass
            case _:
                continue
        if name.startswith("_") and not name.endswith("__"):
            yield f"line {node.lineno} reads {name}"


def heavy_inside_functions(path: Path, tree: ast.Module) -> Iterator[str]:
    if path in DERIVED:
        return
    for name in imported(at_module_level(tree)):
        if name.partition(".")[0] in HEAVY or name in DERIVED.values():
            yield f"imports {name} at its top"


def at_module_level(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when the module is imported, not what only a checker reads."""
    yield node
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        children = list(node.orelse)
    for child in children:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from at_module_level(child)


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the modules that nodes import, by statement or by `import_module`."""
    for node in nodes:
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield module
            case ast.Call(
                ast.Name("import_module" | "__import__")
                | ast.Attribute(_, "import_module"),
                [ast.Constant(str(name)), *_],
            ):
                yield name


def _rooms(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the rooms that nodes import or name in a table; "." for a relative one."""
    for node in nodes:
        match node:
            case ast.ImportFrom(module="pytest_llmeval", names=names, level=0):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(level=level) if level:
                yield "."
            case ast.Constant(str(text)) if MODULE_PATH.fullmatch(text):
                yield _room(text)
            case ast.Import() | ast.ImportFrom():
                names_ = imported(iter([node]))
                yield from (_room(n) for n in names_ if n.startswith("pytest_llmeval."))


def _room(name: str) -> str:
    return re.split(r"[.:]", name)[1]
