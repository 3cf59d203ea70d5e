"""How many cases a session has is said with each report, and counted once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pytest_llmeval.plugin.stopped import Stopped


class Item:
    looks = 0

    def __init__(self, marker: str) -> None:
        self.marker = marker

    def get_closest_marker(self, name: str) -> Any:
        Item.looks += 1
        return self.marker == name or None


def test_the_cases_of_a_session_are_counted_once() -> None:
    # Counted with each of them, 6,000 cases took a worker a minute.
    session: Any = SimpleNamespace(
        items=[Item("llmeval"), Item("slow"), Item("llmeval")]
    )
    run: Any = None
    stopped = Stopped(run)

    assert [stopped.count(session) for _ in session.items] == [2, 2, 2]
    assert Item.looks == 3
