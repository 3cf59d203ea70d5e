"""The suites that are measured: as a user would write them, in a folder of their own."""

from __future__ import annotations

import json
from pathlib import Path

PLAIN = """
import pytest
from pytest_llmeval import assert_contains, assert_judge


@pytest.mark.llmeval("cases.jsonl")
def test_qa(case, generator{fixtures}):
    response = generator(case)
    assert_contains(response, case)
{judged}
"""
JUDGED = '    assert_judge(response, case, judge, rubric="It is so.")'
BARE = """
import pytest

@pytest.mark.parametrize("case", [pytest.param(i, id=f"case-{{i:06d}}") for i in range({count})])
def test_qa(case):
    pass
"""
CONFIG = """
generator: m
judge: grader
models:
  m: {{provider: openai, base_url: "{url}/v1", model: m}}
  grader: {{provider: openai, base_url: "{url}/v1", model: grader}}
"""


def evaluations(folder: Path, *, count: int, url: str, is_judged: bool = False) -> Path:
    """Write a suite of so many cases and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (
        {
            "id": f"case-{n:06d}",
            "question": f"case {n}: what is it?",
            "expected": f"answer {n}",
        }
        for n in range(count)
    )
    (folder / "cases.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    judged = JUDGED if is_judged else ""
    fixtures = ", judge" if is_judged else ""
    (folder / "test_qa.py").write_text(PLAIN.format(judged=judged, fixtures=fixtures))
    (folder / "llmeval.yaml").write_text(CONFIG.format(url=url))
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def bare(folder: Path, *, count: int) -> Path:
    """Write as many tests that do nothing and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_bare.py").write_text(BARE.format(count=count))
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder
