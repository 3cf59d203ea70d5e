"""A suite whose every text is an attack: what is written stays valid and inert.

One run, and a test for each thing that it writes.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.conftest import QUIET

EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- ]]> </testcase>"
    " \x1b[2J\x1b]0;title\x07\x9b31m \x00 \ud800 \u202etxt.exe\u202c \u2066\u200b\u2028"
    "\r\n::error::stop\n\t=1+1|`$(id)` **b** [a](http://evil.example) @all {{ 7*7 }} \x7f"
)
LONG = "A" * 1_000_000

ROWS: list[dict[str, Any]] = [
    {"id": f"long {EVIL}", "input": f"{EVIL}{LONG}", "reply": f"{EVIL}{LONG}"},
    {"id": f"evil {EVIL}", "input": EVIL, "reply": EVIL, "tags": [f"t {EVIL}"]},
    {"id": f"gone {EVIL}", "input": EVIL},
    {"id": "fine", "input": EVIL, "reply": EVIL, "expected": EVIL},
]

TEST = f"""
import pytest
from pytest_llmeval import assert_exact, assert_judge

EVIL = {EVIL!r}

def says(prompt):
    return "FAIL: " + EVIL

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", judge=says)
def test_evil(case, generator, judge, llmeval):
    reply = generator(case)
    llmeval.attach("note " + EVIL, EVIL)
    with llmeval.all_checks():
        assert_exact(reply, case, name="exact " + EVIL)
        if case.id != "fine":
            assert_judge(reply, case, judge, rubric=EVIL, name="judge " + EVIL)

@pytest.mark.llmeval([{{"id": "a", "input": EVIL, "expected": "y"}}], generator=lambda p: EVIL)
def test_raises(case, generator):
    raise ValueError(EVIL + str(generator(case)))

@pytest.mark.llmeval([{{"id": "a", "reply": EVIL, "expected": "y"}}], generator="column:reply", gate="pass_rate >= 0")
def test_gated(case, generator):
    assert_exact(generator(case), case)
"""

REPORTS = ("html", "json", "jsonl", "csv", "md")
#: What no reader of a text should meet: controls, marks of direction, half characters.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]"
)


@dataclass(frozen=True)
class Ran:
    folder: Path
    output: str

    def text(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode("utf-8")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("evil")
    rows = "".join(f"{json.dumps({'expected': 'y', **row})}\n" for row in ROWS)
    (folder / "rows.jsonl").write_text(rows, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "test_evil.py").write_text(TEST, "utf-8", "backslashreplace")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *QUIET, "-p", "no:cacheprovider"),
            *(f"--llmeval-report=r.{suffix}" for suffix in REPORTS),
            *("--junitxml=r.xml", "--color=no", "--llmeval-show=all", "-v"),
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONUTF8": "1",
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
        },
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == b""
    return Ran(folder, done.stdout.decode("utf-8"))


def test_the_terminal(ran: Ran) -> None:
    assert UNSEEN.findall(ran.output) == []
    assert len(ran.output) < 100_000
    assert "2 failed, 1 passed, 2 unscored, 1 gated" in ran.output
    assert r"\x1b[2J" in ran.output


def test_annotations_of_github(ran: Ran) -> None:
    lines = [line for line in ran.output.split("\n") if line.startswith("::")]

    assert 1 < len(lines) <= 20
    for line in lines:
        assert re.match(
            r"::(error|warning) file=test_evil\.py|::(error|warning) file=rows", line
        )
        assert len(line) < 5_000


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_html(ran: Ran) -> None:
    text = ran.text("r.html")

    elements = Elements()
    elements.feed(text)
    assert UNSEEN.findall(text) == []
    assert "img" not in {tag for tag, _ in elements.found}
    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    assert len(scripts) == 2
    assert not any(
        name.startswith("on") for _, found in elements.found for name in found
    )
    (data,) = re.findall(
        r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.DOTALL
    )
    assert len(json.loads(data)["cases"]) == 6


def strict(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


def test_json(ran: Ran) -> None:
    text = ran.text("r.json")

    cases = strict(text)["cases"]
    assert len(cases) == 6
    kept = EVIL.replace("\ud800", "\\ud800")
    assert cases[0]["samples"][0]["response"] == f"{kept}{LONG}"
    assert cases[1]["samples"][0]["attachments"] == {f"note {kept}": kept}


def test_json_lines_and_the_journal(ran: Ran) -> None:
    (journal,) = (ran.folder / ".llmeval" / "runs").iterdir()
    for path, count in ((ran.folder / "r.jsonl", 6), (journal, 8)):
        lines = path.read_bytes().decode("utf-8").split("\n")
        assert lines.pop() == ""
        assert len([strict(line) for line in lines]) == count


def test_csv(ran: Ran) -> None:
    before = csv.field_size_limit(2_000_000)
    try:
        with (ran.folder / "r.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    finally:
        csv.field_size_limit(before)

    assert len(rows) == 6
    assert all(None not in row and None not in row.values() for row in rows)
    assert rows[1]["prediction"].replace("\\x00", "\x00") == EVIL.replace(
        "\ud800", "\\ud800"
    )


@pytest.mark.parametrize("name", ["r.md", "step.md"])
def test_markdown(ran: Ran, name: str) -> None:
    text = ran.text(name)

    assert UNSEEN.findall(text) == []
    assert len(text) < 60_000
    assert set(re.findall(r"<(/?[a-z]\w*)", text)) <= {
        *(
            "code",
            "/code",
            "details",
            "/details",
            "summary",
            "/summary",
            "br",
            "sub",
            "/sub",
        )
    }
    outside = re.sub(r"<code>.*?</code>", "", text)
    for sign in ("**b**", "[a]", "@all", "http://evil", "::error"):
        assert sign not in outside
    assert "http://evil" not in text


def test_junit(ran: Ran) -> None:
    root = ElementTree.parse(ran.folder / "r.xml").getroot()

    (suite,) = root.iter("testsuite")
    cases = list(suite.iter("testcase"))
    assert len(cases) == 6
    counts = {
        name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")
    }
    assert counts == {"tests": "6", "failures": "2", "errors": "2", "skipped": "1"}
    names = {prop.get("name", "") for prop in suite.iter("property")}
    assert any(name.startswith("llmeval_score_exact </script>") for name in names)
    texts = [
        text
        for node in suite.iter()
        for text in (node.text, *node.attrib.values())
        if text
    ]
    assert not any(UNSEEN.search(text) for text in texts)
    assert max(map(len, texts)) < 100_000


def test_the_folders_of_failures(ran: Ran) -> None:
    folders = list((ran.folder / ".llmeval" / "failures").iterdir())

    assert len(folders) == 4
    for folder in folders:
        assert folder.name.isprintable()
        for path in folder.iterdir():
            text = path.read_bytes().decode("utf-8")
            assert UNSEEN.findall(text) == [], path
            assert len(text) < 250_000 or path.name == "answers.jsonl"
