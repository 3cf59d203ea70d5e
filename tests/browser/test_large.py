"""5,000 cases with replies of 2 kB: what keeps the page small, and quick to open.

How long it takes is measured by hand: a busy machine would say nothing here.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.browser.reports import record, written

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a report was written."""
    random = Random(1)
    words = [f"w{number:04}" for number in range(3000)]
    records = [
        record(
            f"c{number}",
            "passed" if number % 7 else "failed",
            reply=" ".join(random.choices(words, k=340))[:2000],
        )
        for number in range(5000)
    ]
    folder = tmp_path_factory.mktemp("large")
    written(folder, records)
    return folder


def test_the_page_has_a_bound(folder: Path) -> None:
    assert 10e6 < (folder / "report.html").stat().st_size < 25e6


def test_a_part_of_the_cases_is_drawn_and_all_are_searched(
    folder: Path, page: Page
) -> None:
    page.goto((folder / "report.html").as_uri())
    page.get_by_label("Status").select_option("all")

    assert 0 < page.locator("#table tbody tr").count() < 1000

    page.keyboard.press("/")
    page.keyboard.type("c4711")
    page.locator("#count:text-is('1 of 5000 cases')").wait_for()
    assert page.locator("#table tbody tr").count() == 1
