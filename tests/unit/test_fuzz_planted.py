"""The fuzzers find three planted bugs: an exception, and two wrong passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.damage import changed_json
from tests.fuzz.left import LEFT
from tests.fuzz.planted import PLANTED
from tests.fuzz.texts import ANY, TEXTS


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    inputs, hold = searched(name, tmp_path)

    with PLANTED[name].planted(), pytest.raises(PLANTED[name].shows_as):
        search(inputs, hold)


def searched(
    name: str, folder: Path
) -> tuple[st.SearchStrategy[Any], Callable[[Any], None]]:
    """Return what is tried in search of a bug, and what holds it."""
    if name in TEXTS:
        return ANY, TEXTS[name]
    kind = LEFT[name]
    return changed_json(kind.values()), lambda value: kind.hold(
        folder, kind.as_file(value)
    )


def search(inputs: st.SearchStrategy[Any], hold: Callable[[Any], None]) -> None:
    @settings(
        max_examples=300,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
    )
    @given(inputs)
    def check(value: Any) -> None:
        hold(value)

    check()
