from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.reports import HOSTILE, mixed, record, written

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CASES = "#table button.link"


@pytest.fixture
def mixed_page(page: Page, tmp_path: Path) -> Page:
    before = mixed()
    before[0] = record("peru", reply="Lima")
    before[1] = record("france", "failed", reply="Lyon", value=0.1)
    page.goto(written(tmp_path, mixed(), before))
    return page


def names(page: Page) -> list[str]:
    texts: list[str] = page.locator(CASES).all_inner_texts()
    return texts


def test_what_did_not_pass_is_shown_first(mixed_page: Page) -> None:
    assert names(mixed_page) == ["peru", "chad", "one"]
    assert mixed_page.locator("#count").inner_text() == "3 of 8 cases"


def test_what_got_worse_is_listed_with_its_check_and_opens(mixed_page: Page) -> None:
    rows = mixed_page.get_by_label("Cases that changed").locator("tbody tr")

    assert rows.all_inner_texts() == [
        "regressed\ttest_cities[peru]\tf1 = 0.20, below the bar of 0.6"
        "\tdata.jsonl:2\tprompt, model, row and metric are the same",
        "fixed\ttest_cities[france]\t"
        "\tdata.jsonl:2\tprompt, model, row and metric are the same",
    ]
    rows.first.get_by_role("button").click()

    assert mixed_page.locator("#case-title").inner_text() == "test_cities[peru]"


def test_search_looks_into_prompts_and_replies(mixed_page: Page) -> None:
    mixed_page.select_option("#f-status", "")

    mixed_page.fill("#search", "capital paris")
    mixed_page.locator("#count:text-is('1 of 8 cases')").wait_for()

    assert names(mixed_page) == ["france"]


@pytest.mark.parametrize(
    ("control", "value", "expected"),
    [
        ("status", "=passed", ["france", "egypt", "one", "two", "two"]),
        ("change", "=regressed", ["peru"]),
        ("change", "=fixed", ["france"]),
        ("tag", "=rtl", ["egypt"]),
        ("test", "=test_sums", ["one", "two", "one", "two"]),
    ],
)
def test_filters(
    mixed_page: Page, control: str, value: str, expected: list[str]
) -> None:
    mixed_page.select_option("#f-status", "")

    mixed_page.select_option(f"#f-{control}", value)

    assert names(mixed_page) == expected


def test_a_column_sorts_up_and_down(mixed_page: Page) -> None:
    button = mixed_page.locator("[data-sort=score]")

    button.click()
    up = names(mixed_page)
    mixed_page.locator("[data-sort=score]").click()

    assert up == ["one", "peru", "chad"]
    assert names(mixed_page) == up[::-1]
    head = mixed_page.locator("th:has([data-sort=score])")
    assert head.get_attribute("aria-sort") == "descending"


def test_a_failed_case_is_found_opened_and_read_by_keyboard(mixed_page: Page) -> None:
    keyboard = mixed_page.keyboard
    keyboard.press("/")
    keyboard.type("chad")
    mixed_page.locator("#count:text-is('1 of 8 cases')").wait_for()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")

    dialog = mixed_page.get_by_role("dialog", name="test_cities[chad]")
    assert dialog.is_visible()
    assert "f1 = 0.20, below the bar of 0.6" in dialog.inner_text()
    keyboard.press("Escape")
    assert not dialog.is_visible()
    focused = mixed_page.evaluate("document.activeElement.dataset.case")
    assert focused == "test_a.py::test_cities[chad]"


def test_a_case_shows_what_it_takes_to_judge_it(mixed_page: Page) -> None:
    mixed_page.locator(CASES).first.click()

    dialog = mixed_page.locator("dialog")
    text = dialog.inner_text()
    assert "data.jsonl:2" in text
    assert "pytest 'test_a.py::test_cities[peru]'" in text
    assert "Answer in one word." in text
    assert dialog.locator(".reply pre").inner_text() == "Quito"
    assert dialog.locator(".expected pre").inner_text() == "Lima"
    assert dialog.locator(".before pre").inner_text() == "Lima"
    assert dialog.locator("del").first.inner_text() == "Lima"
    assert dialog.locator("ins").first.inner_text() == "Quito"
    assert "wrong city" in text
    assert "near enough" in text
    assert "regressed: prompt, model, row and metric are the same" in text
    dialog.locator("summary:has-text('curl')").click()
    curl = dialog.locator("[aria-label=curl]").inner_text()
    assert "curl https://api.example/v1/chat/completions" in curl
    assert "${OPENAI_API_KEY}" in curl


def test_keys_go_to_the_next_case_and_back(mixed_page: Page) -> None:
    mixed_page.locator(CASES).first.click()
    title = mixed_page.locator("#case-title")

    mixed_page.keyboard.press("n")
    assert title.inner_text() == "test_cities[chad]"
    mixed_page.keyboard.press("p")

    assert title.inner_text() == "test_cities[peru]"


def test_the_command_is_copied(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(written(tmp_path, mixed()))
    page.locator(CASES).first.click()

    page.get_by_role("button", name="Copy the command").click()
    page.get_by_text("Copied").wait_for()

    copied = page.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied == "pytest 'test_a.py::test_cities[peru]'"


def test_the_matrix_shows_where_models_differ(mixed_page: Page) -> None:
    rows = mixed_page.locator("#matrix tbody tr")

    assert rows.count() == 1
    mixed_page.uncheck("#different")

    assert rows.count() == 2
    rows.first.get_by_role("button").first.click()
    assert mixed_page.locator("#case-title").inner_text() == "test_sums[one]"


def test_a_link_opens_its_case(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, mixed()) + "#test_a.py%3A%3Atest_cities%5Bchad%5D")

    assert page.locator("#case-title").inner_text() == "test_cities[chad]"


def test_hostile_text_is_shown_and_does_nothing(page: Page, tmp_path: Path) -> None:
    bad = record(
        "evil",
        "failed",
        reply=HOSTILE,
        reason=HOSTILE,
        tags=(HOSTILE,),
        source=HOSTILE,
        test=f"test_a.py::{HOSTILE}",
        row={"input": HOSTILE, "expected": HOSTILE, "context": HOSTILE},
    )
    before = record("evil", reply=HOSTILE + "!", test=f"test_a.py::{HOSTILE}")
    page.goto(written(tmp_path, [bad], [before]))
    page.locator(CASES).click()

    shown = page.locator("dialog .reply pre").inner_text()

    assert "</script><script>alert(1)</script><img src=x onerror=alert(2)>" in shown
    assert "\\u202eevil" in shown
    assert "\\x00\\x1b[31m" in shown
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_right_to_left_text_and_emoji_keep_their_form(mixed_page: Page) -> None:
    mixed_page.select_option("#f-status", "")
    mixed_page.locator(CASES).nth(3).click()
    reply = mixed_page.locator("dialog .reply pre")

    assert reply.evaluate("node => getComputedStyle(node).unicodeBidi") == "plaintext"
    assert reply.evaluate("node => node.matches(':dir(rtl)')")
    mixed_page.keyboard.press("p")

    assert mixed_page.locator("dialog .reply pre").inner_text() == "N'Djamena 🌍👩‍🚀"


def test_without_javascript_there_is_a_plain_table(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written(tmp_path, [*mixed(), record(HOSTILE, "failed")]))

    rows = page.locator("noscript tbody tr").all_inner_texts()
    images = page.locator("img").count()
    context.close()

    assert len(rows) == 9
    assert "below the bar" in rows[0]
    assert images == 0


def test_the_theme_can_be_changed(mixed_page: Page) -> None:
    def ground() -> str:
        script = "getComputedStyle(document.body).backgroundColor"
        return str(mixed_page.evaluate(script))

    light = ground()
    mixed_page.get_by_role("button", name="Dark theme").click()

    assert ground() != light
    assert mixed_page.get_by_role("button", name="Light theme").is_visible()


def test_printing_shows_every_case_found(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, [record(f"c{n}") for n in range(450)]))
    assert len(names(page)) == 200

    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert len(names(page)) == 450


def test_a_printed_page_is_as_wide_as_paper(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 794, "height": 1123})  # A4 at 96 dots an inch
    page.emulate_media(media="print")
    page.goto(written(tmp_path, mixed(), mixed()))

    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    assert not page.locator("#filters").is_visible()


def test_samples_of_a_repeated_case_stand_together(page: Page, tmp_path: Path) -> None:
    bad = dict(record("a", "failed", reply="Quito").samples[0])
    good = dict(record("a").samples[0])
    page.goto(written(tmp_path, [record("a", "failed", samples=(good, bad, bad))]))
    page.locator(CASES).click()

    opened = page.locator("dialog .inside > details[open]")
    assert opened.count() == 1
    assert opened.locator("summary").first.inner_text().startswith("Sample 2 of 3")
    assert opened.locator(".reply pre").inner_text() == "Quito"


def test_a_long_table_grows_by_pages(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, [record(f"c{n}") for n in range(450)]))

    page.get_by_role("button", name="Show 200 more of 250").click()

    assert len(names(page)) == 400


#: Of elements that a person can act on, those that say nothing of themselves.
NAMELESS = """() => [...document.querySelectorAll(
  'button, select, input, a[href], [role=img], [role=region], dialog[open]')]
  .filter(node => node.checkVisibility())
  .filter(node => !(node.getAttribute('aria-label') || node.innerText?.trim()
    || node.labels?.[0]?.innerText.trim()
    || document.getElementById(node.getAttribute('aria-labelledby'))?.innerText))
  .map(node => node.outerHTML)"""
#: Ids that stand twice, and tables without a header cell.
BROKEN = """() => [
  ...[...document.querySelectorAll('[id]')].map(node => node.id)
    .filter((id, place, all) => all.indexOf(id) !== place),
  ...[...document.querySelectorAll('table')].filter(node => node.checkVisibility())
    .filter(node => !node.querySelector('th')).map(node => node.outerHTML)]"""


def test_everything_has_a_name(mixed_page: Page) -> None:
    assert mixed_page.evaluate(NAMELESS) == []
    assert mixed_page.evaluate(BROKEN) == []

    mixed_page.locator(CASES).first.click()

    assert mixed_page.evaluate(NAMELESS) == []
    assert mixed_page.evaluate(BROKEN) == []


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_window(
    page: Page, tmp_path: Path, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(
        written(tmp_path, [*mixed(), record("x" * 300, "failed", reply="y" * 20_000)])
    )

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(CASES).last.click()

    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= width
