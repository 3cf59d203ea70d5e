"""What a run has spent: added up in one process, and over the workers of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.clients import Spending
from pytest_llmeval.errors import ConfigError


def test_float_noise_does_not_buy_one_more() -> None:
    spending = Spending(0.3)
    seen = []
    for _ in range(3):
        seen.append(spending.is_over)
        spending.add(0.1)

    assert [*seen, spending.is_over] == [False, False, False, True]


def test_workers_see_what_the_others_spend(tmp_path: Path) -> None:
    path = tmp_path / ".llmeval" / "run.spent"
    one, other = Spending(1.0, path), Spending(1.0, path)

    one.add(0.4)
    other.add(0.5)
    early = [one.is_over, other.is_over]
    one.add(1e-17)
    one.add(0.1)

    assert early == [False, False]
    assert [one.is_over, other.is_over] == [True, True]


def test_a_line_that_is_being_written_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "run.spent"
    spending = Spending(1.0, path)
    path.write_bytes(b"0.5\n0.")
    early = spending.is_over

    with path.open("ab") as file:
        file.write(b"5\n")

    assert (early, spending.is_over) == (False, True)


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.spent"
    path.mkdir()
    spending = Spending(1.0, path)

    with pytest.raises(ConfigError, match="the workers can't share what they spend"):
        spending.add(0.1)
