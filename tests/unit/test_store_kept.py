from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.journal import Journal
from pytest_llmeval.types import Fingerprints, Record, Sample


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.open(tmp_path, {})
    yield journal
    journal.forget()


def record(case_id: str = "peru", **changes: Any) -> Record:
    values: dict[str, Any] = {
        "nodeid": f"test_a.py::test_x[{case_id}]",
        "test": "test_a.py::test_x",
        "case_id": case_id,
        "status": "passed",
        "row": {"input": f"Where is {case_id}?"},
        "seconds": 0.25,
        "rerun": "pytest",
        "source": "rows.jsonl:1",
        "fingerprints": Fingerprints(row="a1"),
        "samples": (Sample(index=0, status="passed", reason="é").to_json(),),
    }
    return Record(**{**values, **changes})


def kept(journal: Journal, whole: Record) -> Record:
    return journal.append(whole.to_json())


def test_a_kept_record_says_all_that_the_whole_one_says(journal: Journal) -> None:
    wholes = [record("peru"), record("chad", params={"model": "m"}, row={})]
    found = [kept(journal, whole) for whole in wholes]

    assert [one.to_json() for one in found] == [one.to_json() for one in wholes]
    assert all(
        getattr(one, name) == getattr(whole, name)
        for one, whole in zip(found, wholes, strict=True)
        for name in Record.__slots__
    )


def test_what_is_long_is_read_from_the_journal(journal: Journal) -> None:
    found = kept(journal, record())
    line = journal.path.read_bytes()
    journal.path.write_bytes(line.replace(b"Where is", b"What was"))

    assert found.row == {"input": "What was peru?"}


def test_a_kept_record_with_another_status_is_whole(journal: Journal) -> None:
    found = replace(kept(journal, record()), status="failed")

    assert found.to_json() == record(status="failed").to_json()


def test_an_attribute_that_no_record_has_is_missing_from_a_kept_one(
    journal: Journal,
) -> None:
    found = kept(journal, record())

    assert not hasattr(found, "colour")
    assert not hasattr(found, "_colour")


@pytest.mark.skipif(os.name == "nt", reason="an open file can't be deleted there")
def test_a_journal_that_somebody_deletes_is_read_all_the_same(journal: Journal) -> None:
    found = kept(journal, record())
    journal.path.unlink()

    assert found.samples == record().samples


def test_a_journal_that_somebody_changes_is_told(journal: Journal) -> None:
    found = kept(journal, record())
    journal.path.write_bytes(b"{}")

    with pytest.raises(UserError) as caught:
        len(found.samples)

    assert str(caught.value).startswith(f"can't read {str(journal.path)!r} again (")
    assert "has to stay as it is until the run has ended" in str(caught.value)


def test_a_record_that_could_not_be_written_stays_whole(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept(journal, record())
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:10]))
    second = kept(journal, record("chad"))
    monkeypatch.undo()
    third = kept(journal, record("laos"))

    assert [second, third] == [record("chad"), record("laos")]
    assert first.row == record().row


def test_a_record_written_after_ctrl_c_struck_within_a_write_is_found(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def struck(descriptor: int, data: bytes) -> int:
        write(descriptor, data)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", struck)
    with pytest.raises(KeyboardInterrupt):
        journal.append(record().to_json())
    monkeypatch.undo()

    assert kept(journal, record("chad")).row == record("chad").row
