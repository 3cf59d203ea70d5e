"""The items this process will run next, in order, as far as that is certain."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import Any

import pytest

from pytest_llmeval.plugin._internals import worker_queue

__all__ = ["Upcoming", "evaluations"]


def evaluations(session: pytest.Session) -> list[pytest.Item]:
    """Return the items of a session that are cases."""
    items = getattr(session, "items", ())  # not there where collecting was stopped
    return [item for item in items if item.get_closest_marker("llmeval") is not None]


class Upcoming:
    """Knows where the session stands in its items.

    Without xdist all items are certain; on a worker, those that were sent to it.

    Args:
        session: Its items are final.
    """

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._items = session.items
        self._is_worker = hasattr(session.config, "workerinput")
        self._queue = worker_queue(session.config) if self._is_worker else None
        self._index_of: dict[int, int] | None = None
        self._order: list[int] = []
        self.position = -1
        """Of the item that runs, in the order in which this process runs them."""

    @property
    def is_known(self) -> bool:
        """Whether anything can be said: a worker's queue may be out of sight."""
        return not self._is_worker or self._queue is not None

    @cached_property
    def evaluations(self) -> int:
        """How many of the session's items are evaluations."""
        return len(evaluations(self._session))

    def begin(self, item: pytest.Item) -> None:
        """Note that an item begins."""
        self.position += 1
        if self.at(self.position) is item:
            return
        if self._is_worker:
            self._order[self.position :] = [self._find(item)]
        else:
            self.position = self._find(item)

    def at(self, position: int) -> pytest.Item | None:
        """Return the item at a position, None where there is none, or none yet."""
        if not self._is_worker:
            return self._items[position] if position < len(self._items) else None
        if position >= len(self._order):
            self._look()
        if position >= len(self._order):
            return None
        return self._items[self._order[position]]

    def _look(self) -> None:
        """Take in what has been sent to this worker since."""
        if self._queue is not None:
            known = len(self._order) - self.position - 1
            self._order += islice(self._queue(), max(known, 0), None)

    def _find(self, item: Any) -> int:
        if self._index_of is None:
            self._index_of = {id(one): index for index, one in enumerate(self._items)}
        return self._index_of.get(id(item), len(self._items))
