"""The values of one check over many cases, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan
from operator import itemgetter
from typing import Any

from pytest_llmeval.stats._aggregates import AGGREGATIONS, aggregated, standard_error
from pytest_llmeval.stats._pooled import pooled, pooled_label
from pytest_llmeval.stats._rates import mean

__all__ = ["Combine", "Gathered"]

#: A task's own function, by its name: of items one value, None where it can't say.
Combine = Callable[[str, list[Any]], float | None]


class Gathered:
    """Checks of one name, as their cases' records hold them."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.n = 0
        """How many have a value, or something else that a value is made of."""
        self.unscored = 0
        self._items: list[tuple[int, Any]] = []
        """Each after the number of its row."""
        self._pools: list[tuple[int, str, Sequence[float]]] = []
        self._aggregation = "mean"
        self._resamples: int | None = None
        self._is_repeated = False

    def add(self, check: Mapping[str, Any], *, is_repeated: bool = False) -> None:
        """Take a check.

        Args:
            check: As `Check.to_json` gives it.
            is_repeated: Whether its case has others of the name: then their spread is
                not that of cases.
        """
        self._aggregation = str(check.get("aggregation", "mean"))
        self._resamples = check.get("resamples")
        self._is_repeated = self._is_repeated or is_repeated
        value = check["value"]
        # An infinite value stands in JSON as its text: no mean can hold it.
        is_number = isinstance(value, int | float)
        if is_number:
            self.values.append(float(value))
        if is_number or "item" in check:
            self.n += 1
            item = check["item"] if "item" in check else float(value)
        else:
            self.unscored += 1
            item = nan
        self._items.append((check.get("row", 0), item))
        if is_number and (pool := check.get("pool")):
            self._pools.append((check.get("row", 0), pool["form"], pool["counts"]))

    def overall(self, combine: Combine | None = None) -> float | None:
        """Return what the values come to, None where that is nothing.

        Args:
            combine: The function behind an aggregation that is a task's own.
        """
        if self._aggregation == "mean":
            return mean(self.values)
        if self._aggregation not in AGGREGATIONS:
            return combine(self._aggregation, self._in_order()) if combine else None
        value = aggregated(self._aggregation, self._known())
        return value if value is None or isfinite(value) else None

    def error(self) -> float | None:
        """Return the standard error of `overall`, where it is asked for and known."""
        if self._resamples is None or self._is_repeated:
            return None
        if self._aggregation not in AGGREGATIONS:
            return None
        return standard_error(self._aggregation, self._known(), self._resamples)

    def pooled(self) -> tuple[float | None, str | None]:
        """Return the value of all counts added up, and what it is called.

        None where checks lack counts, or those with different options stand together.
        """
        if not self._are_like():
            return None, None
        form = self._pools[0][1]
        value = pooled(form, [counts for _, _, counts in self._pools])
        if value is None or not isfinite(value):
            return None, None
        return value, pooled_label(form)

    def _are_like(self) -> bool:
        kinds = {(form, len(counts)) for _, form, counts in self._pools}
        return len(kinds) == 1 and len(self._pools) == len(self.values)

    def _known(self) -> list[Any]:
        if self._aggregation == "pooled":
            pools = sorted(self._pools, key=itemgetter(0)) if self._are_like() else []
            return [(form, counts) for _, form, counts in pools]
        items = self._in_order()
        if self._aggregation == "nanmean":
            return items
        return [item for item in items if item == item]  # without NaN

    def _in_order(self) -> list[Any]:
        """Return the items as their rows follow each other, whichever ended first."""
        return [item for _, item in sorted(self._items, key=itemgetter(0))]
