"""How xdist's work is cut into blocks."""

from __future__ import annotations

import pytest

from pytest_llmeval.plugin.blocks import blocks_of


def nodeids(**tests: int) -> list[str]:
    return [
        f"t.py::{name}[c{n}]" for name, count in tests.items() for n in range(count)
    ]


def sizes(blocks: list[tuple[str, int]]) -> list[int]:
    return [blocks.count(block) for block in dict.fromkeys(blocks)]


@pytest.mark.parametrize(
    ("count", "shares", "expected"),
    [
        (40, 1, [16, 16, 8]),
        (40, 2, [16, 16, 8]),
        (40, 4, [10, 10, 10, 10]),
        (5, 4, [2, 2, 1]),
        (1, 4, [1]),
        (3, 0, [3]),
    ],
)
def test_a_test_is_cut_so_that_every_worker_has_a_share(
    count: int, shares: int, expected: list[int]
) -> None:
    assert sizes(blocks_of(nodeids(test_a=count), shares=shares)) == expected


def test_a_block_never_holds_two_tests() -> None:
    blocks = blocks_of(nodeids(test_a=3, test_b=3), shares=1)

    assert sizes(blocks) == [3, 3]
    assert {name for name, _ in blocks} == {"t.py::test_a", "t.py::test_b"}


def test_shuffled_cases_are_counted_in_their_own_order() -> None:
    shuffled = [*nodeids(test_a=1), "t.py::test_b", *nodeids(test_a=3)[1:]]

    assert blocks_of(shuffled, shares=3) == [
        ("t.py::test_a", 0),
        ("t.py::test_b", 0),
        ("t.py::test_a", 1),
        ("t.py::test_a", 2),
    ]
