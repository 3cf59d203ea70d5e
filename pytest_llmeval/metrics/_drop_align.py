"""Rows and columns paired one to one, so that the sum of their values is greatest."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["best_pairs"]


def best_pairs(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return rows and columns of the best pairing, as many as the shorter side has.

    The Hungarian algorithm with potentials, O(rows² · columns).

    Args:
        values: Rows of equal length, 0 or more.
    """
    if not values or not values[0]:
        return []
    if len(values) > len(values[0]):
        turned = best_pairs(list(zip(*values, strict=True)))
        return sorted((row, column) for column, row in turned)
    width = len(values[0])
    row_potential, column_potential = [0.0] * len(values), [0.0] * (width + 1)
    row_of = [-1] * (width + 1)  # the last column stands for the row to be placed
    for row in range(len(values)):
        row_of[width] = row
        _place(values, row_of, row_potential, column_potential)
    return sorted((row, column) for column, row in enumerate(row_of[:-1]) if row >= 0)


def _place(
    values: Sequence[Sequence[float]],
    row_of: list[int],
    row_potential: list[float],
    column_potential: list[float],
) -> None:
    """Give the row of the last column a place by the cheapest path of exchanges."""
    width = len(row_of) - 1
    distance, before = [math.inf] * width, [width] * width
    done = [False] * (width + 1)
    column = width
    while row_of[column] >= 0:
        done[column] = True
        row = row_of[column]
        nearest, step = -1, math.inf
        for other in range(width):
            if done[other]:
                continue
            cost = -values[row][other] - row_potential[row] - column_potential[other]
            if cost < distance[other]:
                distance[other], before[other] = cost, column
            if distance[other] < step:
                nearest, step = other, distance[other]
        for other in range(width + 1):
            if done[other]:
                row_potential[row_of[other]] += step
                column_potential[other] -= step
            elif other < width:
                distance[other] -= step
        column = nearest
    while column != width:
        previous = before[column]
        row_of[column] = row_of[previous]
        column = previous
    row_of[width] = -1
