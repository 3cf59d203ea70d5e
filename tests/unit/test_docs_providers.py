"""The page about providers: its examples work, its table is the vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.clients import Clients
from pytest_llmeval.clients._finish import finish_reason
from pytest_llmeval.config import load_config

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_is_an_entry_that_can_be_built(
    tmp_path: Path, block: str
) -> None:
    path = tmp_path / "llmeval.yaml"
    path.write_text(block, "utf-8")
    config = load_config(path)
    clients = Clients(config, tmp_path, "live")

    assert config.models
    for name in config.models:
        assert clients.backend(name).name == name


def test_the_page_has_examples() -> None:
    assert len(BLOCKS) == 4


def test_the_table_of_finish_reasons_is_what_is_read() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|;]+)(?:;[^|]*)? \|$", PAGE, re.M)

    assert [reason for reason, _ in rows] == (
        ["stop", "length", "tool_calls", "content_filter", "refusal", "error"]
    )
    for reason, words in rows:
        for word in words.split(", "):
            assert finish_reason(word.strip()) == reason
