"""What SECURITY.md says of files that may come from a stranger."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_llmeval.config import load_config
from pytest_llmeval.datasets import load_cases
from pytest_llmeval.errors import LLMEvalError, UserError
from pytest_llmeval.metrics import score
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.tasks import TaskOptions, load_task

ROOT = Path(__file__).parents[2]
TAGS = [
    "!!python/object/apply:pathlib.Path.touch [{path}]",
    "!!python/name:os.system",
    "!!python/object/new:os.system [touch {path}]",
    "!function os.system",
]


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "dataset": ("- id: a\n  input: VALUE\n", load_cases),
    "config": ("generator: VALUE\n", load_config),
    "task": (
        "task: t\ncases: VALUE\n",
        lambda path: load_task(path, TaskOptions(root=path.parent)),
    ),
}


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("kind", READERS)
def test_no_code_runs_from_a_file(tmp_path: Path, tag: str, kind: str) -> None:
    bait = tmp_path / "bait"
    value = tag.format(path=bait)
    path = tmp_path / f"{kind}.yaml"

    text, read = READERS[kind]
    path.write_text(text.replace("VALUE", value), encoding="utf-8")

    with pytest.raises(UserError, match=rf"{kind}\.yaml"):
        read(path)

    assert not bait.exists()


def test_a_task_file_imports_nothing_unasked(tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    (tmp_path / "utils.py").write_text(
        f"import pathlib; pathlib.Path({str(bait)!r}).touch()\ndef f(doc): return 'x'\n",
        encoding="utf-8",
    )
    (tmp_path / "rows.jsonl").write_text('{"q": "a"}\n', encoding="utf-8")
    path = tmp_path / "t.yaml"
    path.write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\n"
        "test_split: test\noutput_type: generate_until\n"
        "doc_to_text: !function utils.f\ndoc_to_target: x\n",
        encoding="utf-8",
    )

    with pytest.raises(UserError, match="llmeval_allow_functions"):
        load_task(path, TaskOptions(root=tmp_path))

    assert not bait.exists()


DEEP = 100_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[" * DEEP),
        ("a.jsonl", '{"input": ' + "[" * DEEP),
        ("a.yaml", "[" * DEEP),
        ("b.yaml", "- " * DEEP),
        ("c.yaml", "- input: " + "{a: " * 2000 + "1" + "}" * 2000),
    ],
)
def test_nesting_and_numbers_are_bounded(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with pytest.raises(LLMEvalError, match=re.escape(name)):
        load_cases(path)


@pytest.mark.parametrize("suffix", ["jsonl", "yaml"])
def test_a_number_of_any_length_is_text_that_costs_nothing(
    tmp_path: Path, suffix: str
) -> None:
    digits = "9" * 100_000
    path = tmp_path / f"a.{suffix}"
    row = f'{{"id": "a", "input": {digits}, "expected": 1e999999999}}'
    path.write_text(f"- {row}\n" if suffix == "yaml" else row, encoding="utf-8")

    (case,) = load_cases(path)

    assert render(Template.of("{{ input }}"), case).text == digits
    assert score("number", digits, 7).value == 0
    assert score("number", "1e999999999", 7).value == 0


def test_every_claim_has_its_test() -> None:
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", page)

    assert len(named) > 20
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), name
