"""Pages that list what there is list all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.config._spec import PROVIDERS
from pytest_llmeval.datasets._columns import ALIASES
from pytest_llmeval.datasets._presets import PRESETS
from pytest_llmeval.datasets._read import SUFFIXES
from pytest_llmeval.metrics import metric_names
from pytest_llmeval.report.files import FORMATS
from pytest_llmeval.types import CAUSES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("datasets", SUFFIXES),
        ("datasets", tuple(PRESETS)),
        ("datasets", tuple(name for names in ALIASES.values() for name in names)),
        ("outcomes", CAUSES),
        ("reports", tuple(FORMATS)),
        ("providers", tuple(PROVIDERS)),
        ("metrics", metric_names()),
    ],
)
def test_a_page_names_all_there_are(page: str, names: tuple[str, ...]) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")

    missing = [n for n in names if not re.search(rf"(?<!\w){re.escape(n)}(?!\w)", text)]

    assert missing == []
