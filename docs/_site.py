"""A hook of mkdocs: pages that are no files of docs/.

That of all error texts is made while the site is built: it would change with every text,
and says nothing that the texts don't (`docs/errors.md` is written by hand). SECURITY.md
stands where everybody looks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "pytest_llmeval"
HOLE = "…"
#: What raises or makes an error whose text users read.
RAISING = {
    "ConfigError": "a mistake in llmeval.yaml, a marker, an option or a call",
    "DatasetError": "a dataset that can't be used",
    "TemplateError": "a prompt that can't be used",
    "UserError": "a mistake in the suite",
    "MissingExtraError": "an optional package that is missing",
    "UnscoredError": "the case is unscored",
    "ProviderError": "the case is unscored: the server",
    "UsageError": "pytest ends at once",
    "fail": "a mistake in a YAML file",
}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those of the site."""
    from mkdocs.structure.files import File

    security = (PACKAGE.parent / "SECURITY.md").read_text("utf-8")
    security = security.replace("](docs/", "](")
    files.append(File.generated(config, "security.md", content=security))
    files.append(File.generated(config, "reference/messages.md", content=page()))
    return files


def page() -> str:
    """Return the page: texts by what they are about."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for kind, text in messages(ast.parse(path.read_text("utf-8"))):
            found.setdefault(kind, set()).add(text)
    lines = ["# All messages", ""]
    lines += [
        f"As they stand in the code, `{HOLE}` for what differs each time; the most"
    ]
    lines += ["frequent ones with cause and remedy: [errors](../errors.md).", ""]
    for kind, what in RAISING.items():
        lines += [f"## {what[0].upper()}{what[1:]}", ""]
        lines += [f"- `{text.replace('`', chr(39))}`" for text in sorted(found[kind])]
        lines += [""]
    return "\n".join(lines)


def messages(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what errors say in a module, each with the name of what is raised."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        named = dict(_assigned(function))
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            kind = getattr(node.func, "id", getattr(node.func, "attr", ""))
            texts = [text for argument in node.args if (text := _text(argument, named))]
            # Of several arguments the longest is the message; a short one is a key.
            text = max(texts, key=len, default="")
            if kind in RAISING and len(text.replace(HOLE, "").split()) > 2:
                yield kind, " ".join(text.split())


def _assigned(function: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, _text(node.value, {})


def _text(node: ast.AST, named: dict[str, str]) -> str:
    """Return a text of the code with holes, nothing for what is none."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            parts = (_text(part, {}) or HOLE for part in values)
            return "".join(parts)
        case ast.Name(id=name):
            return named.get(name, "")
    return ""
