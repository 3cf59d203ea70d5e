"""The README's first two blocks are what `.ci/run` and a newcomer run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def text() -> str:
    return README.read_text("utf-8")


@pytest.fixture(scope="module")
def blocks(text: str) -> list[tuple[str, list[str]]]:
    """Language and lines of every fenced block."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(language, body.splitlines()) for language, body in found]


def test_it_begins_with_a_title_and_two_sentences(text: str) -> None:
    title, sentences = text.split("\n\n")[:2]

    assert re.fullmatch(r"# [^\n]+", title)
    assert len(re.findall(r"[.!?](?=\s|$)", sentences)) == 2


def test_the_first_two_blocks_are_for_the_shell(
    blocks: list[tuple[str, list[str]]],
) -> None:
    assert [language for language, _ in blocks[:2]] == ["sh", "sh"]


def test_a_line_of_these_is_one_plain_command(
    blocks: list[tuple[str, list[str]]],
) -> None:
    lines = [line for _, body in blocks[:2] for line in body]

    # A word, or the dot that reads a script; no prompt sign, comment, joint or pipe.
    assert [line for line in lines if not re.match(r"(\w[\w./-]*|\.) \S", line)] == []
    assert [line for line in lines if re.search(r"[;&|\\]|\bgit\b", line)] == []


def test_both_make_an_environment_of_their_own(
    blocks: list[tuple[str, list[str]]],
) -> None:
    for _, lines in blocks[:2]:
        assert re.fullmatch(r"python3? -m venv \.venv", lines[0])
        assert lines[1] == ". .venv/bin/activate"


def test_the_first_installs_and_runs_the_example_project(
    blocks: list[tuple[str, list[str]]],
) -> None:
    _, (*install, run) = blocks[0]

    assert any("pip install" in line for line in install)
    # Last: some of its cases fail on purpose, and so does the command.
    assert re.search(r"\bpytest\b.* example_project\b", run)


def test_the_second_installs_what_the_tests_need_and_runs_them(
    blocks: list[tuple[str, list[str]]],
) -> None:
    _, (*install, run) = blocks[1]

    assert any("pip install" in line and "[test]" in line for line in install)
    assert re.fullmatch(r"(python -m )?pytest( -\S+( \d+)?)*", run)


def test_every_page_of_the_documentation_stands_in_its_navigation() -> None:
    docs = README.parent / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    nav = yaml.safe_load((README.parent / "mkdocs.yml").read_text("utf-8"))["nav"]
    listed = re.findall(r"[\w/-]+\.md", str(nav))

    made = {"reference/messages.md", "security.md"}  # by docs/_site.py
    assert pages - set(listed) == set(), "name them under nav: in mkdocs.yml"
    assert sorted(listed) == sorted(pages | made)


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_contributors_are_sent_to_exist(name: str) -> None:
    root = README.parent
    text = (root / name).read_text("utf-8")
    paths = re.findall(r"`([\w./]*\w\.(?:py|json|txt|md)|[\w/]+/)`", text)
    package = root / "pytest_llmeval"
    made = (root / ".gitignore").read_text("utf-8").split()
    there = {
        p
        for p in paths
        if p in made or (root / p).exists() or any(package.rglob(p.strip("/")))
    }

    assert len(paths) > 10
    assert set(paths) - there == set()


def test_the_architecture_is_short() -> None:
    text = (README.parent / "ARCHITECTURE.md").read_text("utf-8")

    assert len(text.splitlines()) <= 120


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((README.parent / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((README.parent / "pyproject.toml").read_text("utf-8"))

    assert citation["version"] == project["project"]["version"]


def test_the_pictures_are_there_small_and_ask_for_nothing(text: str) -> None:
    pictures = [
        README.parent / name for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    ]

    assert [path.suffix for path in pictures] == [".svg", ".png"]
    assert all(path.stat().st_size < 200_000 for path in pictures)
    svg = ElementTree.fromstring(pictures[0].read_text("utf-8"))
    used = {name for element in svg.iter() for name in element.attrib}
    assert not {name for name in used if "href" in name}
    assert "regressed" in "".join(svg.itertext())


def test_the_readme_is_short(text: str) -> None:
    assert len(text.splitlines()) < 200
