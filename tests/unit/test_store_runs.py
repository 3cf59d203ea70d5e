from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.journal import KEPT, Journal
from pytest_llmeval.store.runs import read_run, run_files
from pytest_llmeval.types import Record, Sample

HEADER = '{"format": 1, "kind": "run"}\n'


def record(case_id: str = "peru", **changes: Any) -> Record:
    values: dict[str, Any] = {
        "nodeid": f"test_a.py::test_x[{case_id}]",
        "test": "test_a.py::test_x",
        "case_id": case_id,
        "status": "passed",
        "tags": ("geo",),
        "samples": (Sample(index=0, status="passed").to_json(),),
    }
    return Record(**{**values, **changes})


def journal_of(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_run(path)
    return str(caught.value)


def test_a_run_reads_back_as_it_was_written(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / ".llmeval", {"arguments": ["-x"]})
    journal.append(record("peru").to_json())
    journal.append(record("chad\u2028", reason="line\nbreak").to_json())
    journal.close({"exit_status": 1})
    run = read_run(journal.path)

    assert journal.trouble is None
    assert run.header == {"format": 1, "arguments": ["-x"]}
    assert run.records == (
        record("peru"),
        record("chad\u2028", reason="line\nbreak"),
    )
    assert run.footer == {"exit_status": 1}


def test_a_case_is_on_disk_as_soon_as_it_has_ended(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, {})
    journal.append(record().to_json())
    run = read_run(journal.path)

    assert run.records == (record(),)
    assert run.footer is None


def test_the_folder_ignores_itself(tmp_path: Path) -> None:
    Journal.open(tmp_path / ".llmeval", {}).close({})

    assert "*" in (tmp_path / ".llmeval" / ".gitignore").read_text().splitlines()


def test_a_gitignore_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    Journal.open(tmp_path, {}).close({})

    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_only_the_newest_runs_are_kept(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for day in range(1, 26):
        (runs / f"2020-01-{day:02}T000000.000Z-0123abcd.jsonl").touch()
    (runs / "mine.jsonl").touch()
    journal = Journal.open(tmp_path, {})
    kept = run_files(runs)

    assert len(kept) == KEPT
    assert kept[0] == journal.path
    assert kept[-1].name.startswith("2020-01-07")
    assert (runs / "mine.jsonl").exists()


def test_a_run_is_never_deleted_by_itself_when_the_clock_is_wrong(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs").mkdir()
    for day in range(1, 26):
        path = tmp_path / "runs" / f"9999-01-{day:02}T000000.000Z-0123abcd.jsonl"
        path.touch()
    journal = Journal.open(tmp_path, {})

    assert journal.path.exists()


def test_an_old_run_that_cannot_be_deleted_is_left(tmp_path: Path) -> None:
    for day in range(1, 26):
        name = f"2020-01-{day:02}T000000.000Z-0123abcd.jsonl"
        (tmp_path / "runs" / name).mkdir(parents=True)
    journal = Journal.open(tmp_path, {})

    assert journal.trouble is None


def test_a_folder_that_cannot_be_made_is_told_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / ".llmeval").write_text("a file")
    journal = Journal.open(tmp_path / ".llmeval", {})
    journal.append(record().to_json())
    journal.close({})

    assert journal.trouble == (
        f"could not write the journal of this run, {str(journal.path)!r}: File exists; "
        f"the run goes on, but what needs its journal (comparing, resuming) will not "
        f"find it whole"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(os, "open", lambda *_: opened)
    journal = Journal.open(tmp_path, {})
    journal.append(record().to_json())
    journal.close({})

    assert journal.trouble is not None
    assert "No space left on device" in journal.trouble


def test_a_write_cut_short_is_told_and_nothing_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.open(tmp_path, {})
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:10]))
    journal.append(record().to_json())
    monkeypatch.undo()
    journal.append(record("chad").to_json())
    journal.close({})

    assert journal.trouble is not None
    assert "only 10 of " in journal.trouble
    assert read_run(journal.path).records == ()


def test_a_close_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def close(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    journal = Journal.open(tmp_path, {})
    monkeypatch.setattr(os, "close", close)
    journal.close({})

    assert journal.trouble is not None
    assert "No space left on device" in journal.trouble


def test_numbers_and_texts_that_json_has_not_are_written_as_text(
    tmp_path: Path,
) -> None:
    journal = Journal.open(tmp_path, {"limit": float("inf"), "root": tmp_path})
    journal.append(record(source="a\udc80:1").to_json())
    run = read_run(journal.path)

    assert run.header == {"format": 1, "limit": "inf", "root": str(tmp_path)}
    assert run.records[0].source == "a\\udc80:1"


def test_the_last_line_of_a_case_that_was_rerun_counts(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, {})
    journal.append(record("peru", status="failed").to_json())
    journal.append(record("chad").to_json())
    journal.append(record("peru").to_json())

    assert read_run(journal.path).records == (record("peru"), record("chad"))


@pytest.mark.parametrize("rest", ['{"kind": "ca', "\0\0\0", '{"kind"', "\u00e9"])
def test_a_cut_last_line_is_left_out(tmp_path: Path, rest: str) -> None:
    case = json.dumps({"kind": "case", **record().to_json()})
    path = journal_of(tmp_path, f"{HEADER}{case}\n{rest}".encode()[:-1])

    assert read_run(path).records == (record(),)


def test_a_whole_last_line_without_its_newline_counts(tmp_path: Path) -> None:
    case = json.dumps({"kind": "case", **record().to_json()})

    assert read_run(journal_of(tmp_path, HEADER + case)).records == (record(),)


@pytest.mark.parametrize(
    ("text", "line", "detail"),
    [
        ("", 1, "the file is empty, so there is no run in it"),
        ('{"form', 1, "the header is cut off, so there is no run in it"),
        (
            "[1]\n",
            1,
            "not the header of a run, which has a 'format' and the kind 'run'",
        ),
        (
            '{"format": 2, "kind": "run"}\n',
            1,
            "the run has format 2, and this version reads 1: read it with the version "
            "that wrote it, or run again",
        ),
        (
            HEADER + '{"kind": "gate"}\n',
            2,
            "the kind is 'gate', and not 'case' or 'end'",
        ),
        (HEADER + "7\n", 2, "the kind is None, and not 'case' or 'end'"),
        (
            HEADER + '{"kind": "end"}\n{"kind": "end"}\n',
            3,
            "a line after the footer, which is the last",
        ),
        (HEADER + '{"kind": "case"}\n', 2, "not a whole case ('tags')"),
    ],
)
def test_a_file_that_is_no_run_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, detail: str
) -> None:
    path = journal_of(tmp_path, text)

    assert refusal(path) == f"{path}:{line}: {detail}"


@pytest.mark.parametrize(
    "line", [b'{"kind": "ca\n', b"\xff\n", b'{"a": NaN}\n', b"[" * 100_000 + b"\n"]
)
def test_a_damaged_line_is_refused(tmp_path: Path, line: bytes) -> None:
    text = refusal(journal_of(tmp_path, HEADER.encode() + line))

    assert "run.jsonl:2: not JSON (" in text
    assert text.endswith("the file was changed or damaged afterwards")


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"nodeid": 5}, "not a whole case (nodeid is 5)"),
        ({"seconds": True}, "not a whole case (seconds is True)"),
        (
            {"calibration": {"true": "a"}},
            "not a whole case (calibration.said is not there)",
        ),
        ({"tags": None}, "not a whole case ('NoneType' object is not iterable)"),
        ({"samples": [1]}, "not a whole case (a sample lacks something)"),
        ({"samples": [{"index": 0}]}, "not a whole case (a sample lacks something)"),
    ],
)
def test_a_case_with_wrong_values_is_refused(
    tmp_path: Path, changes: dict[str, Any], detail: str
) -> None:
    case = json.dumps({"kind": "case", **record().to_json(), **changes})
    path = journal_of(tmp_path, f"{HEADER}{case}\n")

    assert refusal(path) == f"{path}:2: {detail}"


def test_a_run_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, {})
    path = tmp_path / "runs" / "no.jsonl"

    assert refusal(path) == (
        f"there is no run {str(path)!r}; the newest runs there: {journal.path.name!r}"
    )


def test_a_run_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "no.jsonl"

    assert refusal(path) == (
        f"there is no run {str(path)!r}; the newest runs there: none"
    )


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"can't read the run {str(tmp_path)!r}: Is a directory"
    )


def test_a_header_with_wrong_values_is_refused(tmp_path: Path) -> None:
    header = json.dumps({**json.loads(HEADER), "generators": True})
    path = journal_of(tmp_path, f"{header}\n")

    assert refusal(path) == f"{path}:1: the header is not whole (generators is True)"
