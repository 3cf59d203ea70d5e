from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.files import text_of
from pytest_llmeval.report.html._inert import embedded_json, visible
from tests.browser.reports import HOSTILE, mixed, record

CSS = (files("pytest_llmeval.report.html") / "assets" / "page.css").read_text("utf-8")


class Elements(HTMLParser):
    """The elements of a page, and what stands in its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._is_script = tag == "script"

    def handle_data(self, data: str) -> None:
        if self._is_script:
            self.scripts.append(data)
            self._is_script = False


def parsed(text: str) -> Elements:
    elements = Elements()
    elements.feed(text)
    return elements


def page_of(*records: Any) -> str:
    return text_of(build_report(records, {"mode": HOSTILE}), ".html")


def test_the_page_names_nothing_elsewhere() -> None:
    elements = parsed(page_of(*mixed()))

    for _, attributes in elements.tags:
        assert not attributes.keys() & {"src", "href", "action", "srcset", "style"}
    assert "@import" not in CSS
    assert "url(" not in CSS


def test_the_table_of_tests_has_a_column_for_each_outcome_there_is() -> None:
    text = page_of(record("a"), record("b", "known"), record("c", "gated"))

    _, _, table = text.partition('aria-label="Tests"')
    table = table.partition("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)', table)
    assert heads[:6] == ["test", "cases", "passed", "failed", "unscored", "gated"]
    assert heads[6:8] == ["known", "rate"]
    numbers = re.findall(r'<td class="n">(\d+)</td>', table)
    assert numbers == ["3", "1", "0", "0", "1", "1"]


def test_the_policy_allows_our_script_alone() -> None:
    (policy,) = [
        attributes["content"]
        for tag, attributes in parsed(page_of(*mixed())).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]

    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_hostile_text_makes_no_element() -> None:
    clean = parsed(page_of(record("a", "failed")))
    page = page_of(
        record(
            HOSTILE,
            "failed",
            reply=HOSTILE,
            reason=HOSTILE,
            tags=(HOSTILE,),
            source=HOSTILE,
            test=f"a.py::{HOSTILE}",
            rerun=HOSTILE,
        )
    )

    found = parsed(page)

    assert [tag for tag, _ in found.tags] == [tag for tag, _ in clean.tags]
    for unseen in "\x00\x1b\u202e":
        assert unseen not in page


def test_the_data_can_be_read_back() -> None:
    data, _ = parsed(page_of(record("a", "failed", reply=HOSTILE))).scripts

    (case,) = json.loads(data)["cases"]

    assert case["samples"][0]["reply"] == HOSTILE


def test_embedded_json_has_no_sign_of_html() -> None:
    text = embedded_json({"a": "</script><!-- & \u2028", "b": "\ud800"})

    assert not set(text) & set("<>&\u2028\ud800")
    assert json.loads(text)["a"] == "</script><!-- & \u2028"


def test_joiners_of_emoji_and_marks_of_scripts_stay() -> None:
    assert visible("👩‍🚀 العربية نیم‌فاصله\nx\ty") == "👩‍🚀 العربية نیم‌فاصله\nx\ty"
    assert visible("a\u202eb\x1b\r\n\x9f\ud800") == "a\\u202eb\\x1b\n\\x9f\\ud800"


def test_a_text_of_a_megabyte_is_written_once() -> None:
    huge = "word " * 200_000

    page = page_of(record("a", "failed", reply=huge))

    assert len(page) < 1_200_000


def test_many_cases_make_no_huge_page() -> None:
    reply = "word " * 400
    records = [record(f"c{n}", reply=reply) for n in range(500)]

    assert len(page_of(*records)) < 2_500_000


def test_a_passed_case_needs_no_curl_and_a_failed_one_has_it() -> None:
    data, _ = parsed(page_of(record("a"), record("b", "failed"))).scripts

    passed, failed = json.loads(data)["cases"]

    assert "curl" not in passed["samples"][0]["calls"][0]
    assert "curl" in failed["samples"][0]["calls"][0]


def test_the_value_of_a_case_is_that_of_the_check_that_failed() -> None:
    sample = dict(record("a", "failed").samples[0])
    good, bad = sample["checks"]
    checks = [{**good, "passed": True, "value": 1.0}, {**bad, "value": 0.25}]
    data, _ = parsed(
        page_of(record("a", "failed", samples=({**sample, "checks": checks},)))
    ).scripts

    assert json.loads(data)["cases"][0]["value"] == 0.25


# --- contrast ------------------------------------------------------------------------


def palette(opening: str) -> dict[str, str]:
    block = CSS[CSS.index(opening) :].partition("{")[2].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    *((ink, ground) for ink in ("ink", "quiet", "accent") for ground in ("ground", "sheet")),
    *((ink, ground) for ink in ("good", "bad", "warn") for ground in ("ground", "sheet")),
    *(("good", "good-soft"), ("bad", "bad-soft"), ("warn", "warn-soft")),
    ("ink", "plain-soft"),
]  # fmt: skip


@pytest.mark.parametrize("opening", [":root {", ':root[data-theme="dark"] {'])
@pytest.mark.parametrize(("ink", "ground"), TEXTS)
def test_texts_have_the_contrast_of_wcag(opening: str, ink: str, ground: str) -> None:
    colours = palette(opening)

    assert contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("opening", [":root {", ':root[data-theme="dark"] {'])
@pytest.mark.parametrize("mark", ["bar", "bad", "past"])
def test_plots_stand_out_from_the_page(opening: str, mark: str) -> None:
    colours = palette(opening)
    least = 3.0 if mark != "past" else 2.3  # told apart by its place and text as well

    assert contrast(colours[mark], colours["ground"]) >= least


def test_both_ways_to_the_dark_theme_have_the_same_colours() -> None:
    preferred = palette(':root:not([data-theme="light"]) {')

    assert preferred == palette(':root[data-theme="dark"] {')
    assert preferred.keys() == palette(":root {").keys()
