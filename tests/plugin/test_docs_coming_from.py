"""Coming from another tool: the example of each page runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

PAGES = sorted((Path(__file__).parents[2] / "docs" / "coming-from").glob("*.md"))
TITLED = re.compile(r"^`([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What comes out where not all of it passes.
OUTCOMES = {
    "promptfoo": 4,
    "lm-evaluation-harness": 2,
    "dataflow": 2,
    "pytest-evals": 2,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_example_passes(suite: Suite, page: Path) -> None:
    files = TITLED.findall(page.read_text("utf-8"))
    targets = []
    for name, text in files:
        path = suite.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if re.search(r"test_\w+\.py$|\.ya?ml$", name):
            targets.append(name)
    if (suite.path / "pytest.ini").exists():
        (suite.path / "tox.ini").unlink()

    result = suite.run(*targets)

    result.assert_outcomes(passed=OUTCOMES.get(page.stem, 1))
    assert result.ret == 0


def test_there_is_a_page_for_each() -> None:
    assert [page.stem for page in PAGES] == [
        "aflow",
        "dataflow",
        "deepeval",
        "langcheck",
        "lm-evaluation-harness",
        "promptfoo",
        "pytest-evals",
        "teff",
    ]
