"""The report of the example project, as a newcomer gets it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

EXAMPLE = Path(__file__).parents[2] / "example_project"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("example") / "project"
    shutil.copytree(
        EXAMPLE, folder, ignore=shutil.ignore_patterns(".llmeval", "__pycache__")
    )
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--llmeval-report=report.html"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    path = folder / "report.html"
    assert path.is_file(), ran.stdout + ran.stderr
    return path.as_uri()


def test_from_the_page_to_why_a_case_failed_by_keyboard(
    page: Page, report: str
) -> None:
    page.goto(report)
    page.select_option("#f-status", "=failed")
    statuses = page.locator("#table tbody tr td:first-child").all_inner_texts()

    page.keyboard.press("/")
    page.keyboard.type("marram exact")
    page.locator("#count:text-is('1 of 117 cases')").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    assert set(statuses) == {"failed"}
    text = page.get_by_role("dialog").inner_text()
    assert "exact failed: the reply is not 'company.md#Name'" in text
    assert "data/facts.jsonl:25" in text
    assert "pytest 'test_answers.py::test_passages[marram-meaning]'" in text
    lines = page.get_by_label("difference of exact")
    assert lines.locator("del").first.inner_text() == "company"
    assert lines.locator("ins").first.inner_text() == "booking"


def test_a_judged_case_shows_the_whole_reason(page: Page, report: str) -> None:
    page.goto(report)
    page.fill("#search", "test_explanations[electric")
    page.locator("#count:text-is('1 of 117 cases')").wait_for()
    page.locator("#table button.link").click()

    votes = page.get_by_role("dialog").locator("table")
    assert "only electric ones are not allowed." in votes.inner_text()


def test_a_key_right_behind_the_last_letter_keeps_its_row(
    page: Page, report: str
) -> None:
    page.goto(report)

    focused = page.evaluate(
        """async () => {
          const search = document.getElementById("search");
          search.focus();
          search.value = "marram exact";
          search.dispatchEvent(new Event("input", { bubbles: true }));
          const key = { key: "ArrowDown", bubbles: true };
          search.dispatchEvent(new KeyboardEvent("keydown", key));
          const frame = () => new Promise(requestAnimationFrame);
          await frame();
          await frame();
          return document.activeElement.className;
        }"""
    )

    assert focused == "link"
