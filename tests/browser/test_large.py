"""5,000 cases with replies of 2 kB: written, opened and searched in a short time."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.browser.reports import record, written

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Milliseconds from a search's first letter to the page that shows what was found.
SEARCH = """words => {
  const field = document.querySelector('input[type=search]');
  const started = performance.now();
  field.value = words;
  field.dispatchEvent(new Event('input', {bubbles: true}));
  return new Promise(done => requestAnimationFrame(() => setTimeout(() =>
    done([performance.now() - started, document.querySelector('#count').innerText]))));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a report was written, for less than 3 seconds of this processor."""
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
    started = time.process_time()
    written(folder, records)
    assert time.process_time() - started < 3
    return folder


def test_the_page_has_a_bound(folder: Path) -> None:
    assert 10e6 < (folder / "report.html").stat().st_size < 25e6


def test_it_opens_and_answers_at_once(folder: Path, page: Page) -> None:
    opened = []
    for _ in range(3):  # the machine may be busy: the best one counts
        started = time.perf_counter()
        page.goto((folder / "report.html").as_uri())
        page.locator("#table tbody tr").first.wait_for()
        opened.append(time.perf_counter() - started)
    page.get_by_label("Status").select_option("all")
    found = [page.evaluate(SEARCH, words) for words in ("w0042 w1999", "c4711") * 3]

    assert min(opened) < 2
    assert min(milliseconds for milliseconds, _ in found) < 100
    assert [count for _, count in found][1] == "1 of 5000 cases"
