"""What the documentation shows: every block parses, and names what there is."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from pytest_llmeval.cli import parser
from pytest_llmeval.config import load_config
from pytest_llmeval.plugin.options import OPTIONS

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    ROOT / "example_project" / "README.md",
]
#: Keys at the top of llmeval.yaml.
CONFIG_KEYS = {"generator", "judge", "models", "gates", "limits"}


@dataclass(frozen=True)
class Block:
    """A fenced block and where it stands."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    pattern = re.compile(
        r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL
    )
    found = []
    for match in pattern.finditer(text):
        indent, language, body = match.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, language, body))
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def written_in(*languages: str) -> pytest.MarkDecorator:
    found = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", found, ids=str)


def commands() -> list[tuple[Block, list[str]]]:
    """Return the commands of the shell blocks, as words."""
    found = []
    for block in BLOCKS:
        if block.language not in ("sh", "console"):
            continue
        lines = block.text.replace("\\\n", " ").splitlines()
        if block.language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines:
            words = shlex.split(line, comments=True)
            if words:
                found.append((block, words))
    return found


def shown(value: object) -> str:
    return str(value) if isinstance(value, Block) else shlex.join(value)  # type: ignore[arg-type]


OURS = [
    (block, words)
    for block, words in commands()
    if any("pytest" in word for word in words[:3])
]


def test_every_block_says_its_language() -> None:
    known = {"python", "yaml", "toml", "json", "jsonl", "sh", "console", "text", "ini"}

    assert [str(b) for b in BLOCKS if b.language not in known] == []
    assert len(BLOCKS) > 60


@written_in("python")
def test_python_compiles_and_imports_what_there_is(block: Block) -> None:
    # Fragments may await or return, as the body of a test does.
    indented = "".join(f"    {line}\n" for line in block.text.splitlines())
    tree = ast.parse(f"async def body():\n{indented}")
    compile(tree, str(block), "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] != "pytest_llmeval":
                continue
            module = import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


@written_in("yaml")
def test_yaml_parses_and_a_configuration_is_one(block: Block, tmp_path: Path) -> None:
    value = yaml.safe_load(block.text)

    assert value is not None
    if isinstance(value, dict) and set(value) <= CONFIG_KEYS:
        path = tmp_path / "llmeval.yaml"
        path.write_text(block.text, "utf-8")
        load_config(path)


@written_in("toml")
def test_toml_parses(block: Block) -> None:
    assert tomllib.loads(block.text)


@written_in("json", "jsonl")
def test_json_parses(block: Block) -> None:
    """Whole, or line by line."""
    with contextlib.suppress(ValueError):
        json.loads(block.text)
        return
    for line in block.text.splitlines():
        json.loads(line)


@pytest.mark.parametrize(("block", "words"), OURS, ids=shown)
def test_a_command_has_options_that_there_are(block: Block, words: list[str]) -> None:
    if "pytest_llmeval" in words:
        call = words[words.index("pytest_llmeval") + 1 :]
        call = call[: call.index(">")] if ">" in call else call
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                parser().parse_args(call)
            except SystemExit:
                pytest.fail(errors.getvalue())
    flags = {option.flag: option for option in OPTIONS}
    for word in words:
        if word.startswith("--llmeval"):
            name, equals, _ = word.partition("=")
            assert name in flags
            option = flags[name]
            assert bool(equals) != option.is_switch or option.bare is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)

    assert [t for t in targets if not (page.parent / t).exists()] == []
