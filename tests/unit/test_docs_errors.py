"""The page about errors: each text stands in the code, in words that users see."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

import pytest_llmeval

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
PACKAGE = Path(pytest_llmeval.__file__).parent
HOLE = "…"


def texts_of_the_page() -> list[str]:
    rows = re.findall(r"^\| (`.+?)(?<!\\) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return [text for row in rows for text in re.findall(r"`([^`]+)`", row)]


@cache
def texts_of_the_code() -> str:
    found = []
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)]
        for node in ast.walk(tree):
            if node in docstrings:
                continue
            if isinstance(node, ast.JoinedStr):
                parts = (
                    str(v.value) if isinstance(v, ast.Constant) else HOLE
                    for v in node.values
                )
                found.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(text.replace("\n", " ") for text in found)


def test_the_page_lists_what_users_meet() -> None:
    assert len(texts_of_the_page()) > 90


@pytest.mark.parametrize("text", texts_of_the_page())
def test_a_text_of_the_page_is_one_of_the_code(text: str) -> None:
    parts = [re.escape(part.strip()) for part in text.split(HOLE) if part.strip()]

    assert re.search(r"[^\n]*".join(parts), texts_of_the_code())


def test_the_page_of_all_messages_has_them() -> None:
    spec = importlib.util.spec_from_file_location("docs_site", PAGE.parent / "_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    page = module.page()

    assert page.count("\n- ") > 300
    assert "- `the llmeval marker has no keyword ……; keywords: …`" in page
    assert all(
        f"## {what[:1].upper()}{what[1:]}" in page for what in module.RAISING.values()
    )
