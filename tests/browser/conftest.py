"""A browser for the HTML report: the machine's chromium, driven by playwright.

Without either the tests are skipped with the reason, unless LLMEVAL_BROWSER=required.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing(reason: str) -> NoReturn:
    if os.environ.get("LLMEVAL_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: pip install -e '.[browser]'")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"no browser is installed: none of {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        # Without its sandbox a container's root can start it; it opens our files alone.
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class Watched:
    """What a page did that it must not."""

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self._refuse(dialog))
        page.on("request", lambda request: self.requests.append(request.url))

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails its test if it complained or asked for anything but itself."""
    page = browser.new_page()
    page.set_default_timeout(5_000)
    watched = Watched(page)
    yield page
    url = page.url.partition("#")[0]
    page.close()
    assert watched.complaints == []
    assert {one.partition("#")[0] for one in watched.requests} <= {url}
