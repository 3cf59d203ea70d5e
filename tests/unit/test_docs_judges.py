"""The pages about judges: what can run by itself does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.config import load_config

DOCS = Path(__file__).parents[2] / "docs"


def blocks() -> list[str]:
    found = []
    for name in ("judges", "calibration"):
        text = (DOCS / f"{name}.md").read_text("utf-8")
        found += re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


ALONE = [block for block in blocks() if "pytest_llmeval.judging import" in block]


@pytest.mark.parametrize("block", ALONE)
def test_a_block_that_stands_alone_runs(block: str) -> None:
    exec(compile(block, "judges.md", "exec"), {})


@pytest.mark.parametrize("block", blocks())
def test_every_block_is_python(block: str) -> None:
    compile(f"async def test():\n{indented(block)}", "judges.md", "exec")


def test_the_panel_of_the_page_is_one(tmp_path: Path) -> None:
    text = (DOCS / "judges.md").read_text("utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "llmeval.yaml").write_text(block)

    config = load_config(tmp_path / "llmeval.yaml")

    assert config.judge == "panel"
    assert config.models["panel"].panel == ("grader", "second", "third")


def indented(block: str) -> str:
    return "".join(f"    {line}\n" for line in block.splitlines())
