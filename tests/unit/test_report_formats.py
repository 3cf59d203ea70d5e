from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.files import FORMATS, check_suffix, pieces_of, text_of, write
from pytest_llmeval.report.markdown import code
from pytest_llmeval.report.model import Report
from pytest_llmeval.types import Call, Check, Prompt, Record, Response, Sample

HOSTILE = "</code> **b** [a](http://x) @all <img onerror=1> ]]> \x1b[31m\0 \u202e|`#1"


def record(name: str, status: str = "failed", **changes: Any) -> Record:
    values: dict[str, Any] = {
        "nodeid": f"test_a.py::test_x[{name}]",
        "test": "test_a.py::test_x",
        "case_id": name,
        "status": status,
        "reason": "f1 = 0.20, below the bar of 0.6",
        "source": "data.jsonl:2",
        "row": {"input": "Capital?", "expected": ["Lima", "Peru"], "context": "Andes"},
        "rerun": f"pytest 'test_a.py::test_x[{name}]'",
        "tags": ("geo", "easy"),
        "params": {"generator": "small"},
    }
    return Record(**{**values, **changes})


def sample(text: str, *, cost: float | None = 0.25) -> Any:
    response = Response(text=text, model="m-1", provider="openai", cost=cost)
    call = Call(
        role="generator", client="app", prompt=Prompt.of("?"), response=response
    )
    check = Check(
        metric="f1", name="f1", value=0.2, operator=">=", threshold=0.6, passed=False
    )
    return Sample(index=0, status="failed", calls=(call,), checks=(check,)).to_json()


def report_of(*records: Record) -> Report:
    return build_report(records, {})


def rows_of(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(report, ".csv"))))


def test_csv_has_the_columns_of_other_evaluations_and_ours() -> None:
    (row,) = rows_of(report_of(record("peru", samples=(sample("Quito"),))))

    assert row["question"] == "Capital?"
    assert row["context"] == "Andes"
    assert row["prediction"] == "Quito"
    assert json.loads(row["expected_output"]) == ["Lima", "Peru"]
    assert (row["score"], row["threshold"], row["cost"]) == ("0.2", "0.6", "0.25")
    assert json.loads(row["scores"]) == {"f1": 0.2}
    assert (row["status"], row["model"], row["tags"]) == ("failed", "m-1", "geo easy")


def test_csv_leaves_an_unknown_cost_empty() -> None:
    (row,) = rows_of(report_of(record("peru", samples=(sample("x", cost=None),))))

    assert row["cost"] == ""


def test_csv_holds_a_case_without_samples_and_texts_of_several_lines() -> None:
    skipped = record("a", "skipped")
    odd = record("b", samples=(sample('two\nlines, "quoted"\0'),))

    first, second = rows_of(report_of(skipped, odd))

    assert (first["status"], first["prediction"]) == ("skipped", "")
    assert second["prediction"] == 'two\nlines, "quoted"\\x00'


def test_json_lines_hold_a_case_a_line() -> None:
    text = text_of(report_of(record("a"), record("b")), ".jsonl")

    assert [json.loads(line)["case_id"] for line in text.splitlines()] == ["a", "b"]


def test_markdown_says_what_failed_why_where_and_what_to_type() -> None:
    text = text_of(report_of(record("peru"), record("chad", "passed")), ".md")

    assert "### llmeval: 1 passed, 1 failed" in text
    assert "<code>data.jsonl:2</code>" in text
    assert "<code>f1 = 0.20, below the bar of 0.6</code>" in text
    assert "Next: <code>pytest 'test_a.py::test_x&#91;peru]'</code>" in text


def test_the_table_of_markdown_has_the_counts_of_its_title() -> None:
    report = report_of(record("1"), record("2", "gated"), record("3", "known"))

    lines = text_of(report, ".md").splitlines()

    assert lines[0] == "### llmeval: 1 failed, 1 gated, 1 known"
    assert lines[2].startswith(
        "| test | cases | passed | failed | unscored | gated | known | rate |"
    )
    assert "| 3 | 0 | 1 | 0 | 1 | 1 | 0 % |" in lines[4]
    assert len({line.count("|") for line in lines[2:5]}) == 1


def test_markdown_lists_at_most_ten_of_a_kind() -> None:
    text = text_of(report_of(*(record(f"c{n}") for n in range(60))), ".md")

    assert text.count("\n- <code>") == 10
    assert "- and 50 more" in text
    assert "Next: <code>pytest --lf -m llmeval</code>" in text


def test_foreign_text_means_nothing_to_markdown() -> None:
    shown = code(HOSTILE)

    inner = shown.removeprefix("<code>").removesuffix("</code>")
    assert not set(inner) & set("<>*[`@|\x1b\0\u202e\n")
    assert "http://" not in inner


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("test_a.py::test_x", "test_a.py::test_x"),
        ("_a_ __b__", "&#95;a&#95; &#95;&#95;b&#95;&#95;"),
        ("www.x.org http://y", "www&#46;x.org http&#58;//y"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_signs_are_written_out_only_where_they_mean_something(
    text: str, shown: str
) -> None:
    assert code(text) == f"<code>{shown}</code>"


def test_markdown_of_hostile_and_huge_texts_stays_short_and_inert() -> None:
    bad = record("a", reason=HOSTILE * 20_000, case_id=HOSTILE, tags=(HOSTILE,))

    text = text_of(report_of(bad), ".md")

    assert len(text) < 5_000
    assert "<img" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json_of_hostile_and_huge_texts_is_strict(suffix: str) -> None:
    text = f"{HOSTILE} \udc80 " + "x" * 1_000_000
    bad = record("a", reason=text, samples=(sample(text),), row={"input": text})

    written = text_of(report_of(bad), suffix)

    assert written.encode()  # UTF-8 holds it
    data = json.loads(written, parse_constant=pytest.fail)
    case = data["cases"][0] if suffix == ".json" else data
    assert case["reason"].startswith(HOSTILE)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_run_without_cases_can_be_written(suffix: str) -> None:
    assert isinstance(text_of(report_of(), suffix), str)


def test_a_suffix_of_no_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"--x: no report format is called '\.pdf'"):
        check_suffix(Path("a.pdf"), "--x")


class OneAtATime(Sequence[Any]):
    """The samples of a case whose texts are somewhere else, as a long run has them."""

    read = 0

    def __init__(self, text: str) -> None:
        self._samples = (sample(text),)

    def __getitem__(self, index: Any) -> Any:
        type(self).read += 1
        return self._samples[index]

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv"])
def test_a_long_report_is_made_case_by_case(suffix: str) -> None:
    report = report_of(*(record(name, samples=OneAtATime(name)) for name in "abc"))
    pieces = iter(pieces_of(report, suffix))
    next(piece for piece in pieces if "[a]" in piece)
    before = OneAtATime.read
    rest = "".join(pieces)

    assert OneAtATime.read > before
    assert "[b]" in rest
    assert "[c]" in rest


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".html"])
def test_a_report_that_ends_within_a_case_leaves_the_older_file(
    suffix: str, tmp_path: Path
) -> None:
    class Lost(OneAtATime):
        def __getitem__(self, index: Any) -> Any:
            raise UserError("its journal is gone")

    whole = report_of(record("a", samples=OneAtATime("a")))
    path = tmp_path / f"report{suffix}"
    write(whole, path)
    older = path.read_bytes()
    report = replace(whole, cases=(*whole.cases, record("b", samples=Lost("b"))))

    with pytest.raises(UserError, match="its journal is gone"):
        write(report, path)

    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == older
