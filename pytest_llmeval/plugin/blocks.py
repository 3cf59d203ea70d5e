"""How xdist hands out evaluations: in blocks, so that a worker has some to run ahead.

Its own scheduler sends ever shorter stretches towards the end, down to single tests: a
worker that holds one case waits for one reply. Tests that are no evaluations are handed
out as ever, and no node id changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_llmeval.plugin._internals import hands_out_work

if TYPE_CHECKING:
    from xdist.scheduler import Scheduling

__all__ = ["blocks_of", "make_scheduler"]

#: The most cases of one test in a block.
_SIZE: Final = 16


def make_scheduler(
    config: pytest.Config, log: Any, *, evaluations: Set[str]
) -> Scheduling | None:
    """Return a scheduler that ends no stretch within a block, None for xdist's own.

    Args:
        config: The pytest config, of the controller.
        log: What xdist gives its schedulers.
        evaluations: The tests known to be such, without their parameters; grows as
            reports arrive.
    """
    from xdist.scheduler import LoadScheduling

    if config.getoption("maxschedchunk", None) or not hands_out_work(LoadScheduling):
        return None
    scheduling: Any = type("BlockScheduling", (_Blocks, LoadScheduling), {})
    made: Scheduling = scheduling(config, log)
    made.evaluations = evaluations
    return made


def _is_careful(node: Any) -> bool:
    """Return whether a worker runs one case at a time."""
    return bool(node.workerinput.get("llmeval_careful"))


class _Blocks:
    """What differs from xdist's `LoadScheduling`, which it is mixed into."""

    evaluations: Set[str]
    config: pytest.Config
    nodes: list[Any]
    pending: list[int]
    node2pending: dict[Any, list[int]]
    collection: list[str] | None

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)  # type: ignore[call-arg]
        self._blocks: Sequence[tuple[str, int]] = ()
        self._suspects: set[int] = set()

    def remove_node(self, node: Any) -> str | None:
        """Blame no case for a crash of a worker that ran several at once.

        All it had goes to a worker that runs one at a time, and shows which it was.
        """
        left = list(self.node2pending.get(node, ()))
        is_unclear = bool(left) and self._is_unclear(node, left[0])
        if is_unclear:
            self._suspects.update(left)
        crashed: str | None = super().remove_node(node)  # type: ignore[misc]
        if not is_unclear:
            return crashed
        self.pending.insert(0, left[0])
        return None

    def _is_unclear(self, node: Any, index: int) -> bool:
        test = (self.collection or [])[index].partition("[")[0]
        has_replacement = self.config.getoption("maxworkerrestart", None) is None
        return has_replacement and not _is_careful(node) and test in self.evaluations

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        """Keep from others what may crash them; end them where nothing else is left."""
        held: list[int] = []
        if self._suspects and not _is_careful(node):
            held = [index for index in self.pending if index in self._suspects]
            self.pending = [i for i in self.pending if i not in self._suspects]
        super().check_schedule(node, duration)  # type: ignore[misc]
        self.pending += held

    def _send_tests(self, node: Any, num: int) -> None:
        collection = self.collection or []
        if len(self._blocks) != len(collection):
            self._blocks = blocks_of(collection, shares=len(self.nodes))
        super()._send_tests(node, self._whole(num))  # type: ignore[misc]

    def _whole(self, num: int) -> int:
        """Return a number of tests that ends with a block's end."""
        pending, blocks = self.pending, self._blocks
        while (
            0 < num < len(pending)
            and blocks[pending[num]] == blocks[pending[num - 1]]
            and blocks[pending[num]][0] in self.evaluations
        ):
            num += 1
        return num


def blocks_of(nodeids: Sequence[str], *, shares: int) -> list[tuple[str, int]]:
    """Return the block of each test: its name without parameters, and a number.

    Args:
        nodeids: All tests, in order.
        shares: Among how many workers the cases of a test should spread.
    """
    names = [nodeid.partition("[")[0] for nodeid in nodeids]
    totals = Counter(names)
    seen: Counter[str] = Counter()
    blocks = []
    for name in names:
        share = -(-totals[name] // max(shares, 1))
        blocks.append((name, seen[name] // max(1, min(_SIZE, share))))
        seen[name] += 1
    return blocks
