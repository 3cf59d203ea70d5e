"""What a run has spent, as far as it is known, and the budget it must not pass."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import fsum
from pathlib import Path

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._layer import Layer
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.store.lines import prepare_home
from pytest_llmeval.types import TOLERANCE, Response

__all__ = ["MeteredBackend", "Spending"]


class Spending:
    """Adds up what live replies cost, over all workers of a run.

    Args:
        budget: US dollars.
        path: A file that the workers share: each appends what it spends, a line a
            reply. None in the run's only process.
    """

    def __init__(self, budget: float, path: Path | None = None) -> None:
        self.budget = budget
        self._path = path
        self._costs: list[float] = []
        self._read = 0
        """Bytes of the file that are in the costs."""
        self._lock = threading.Lock()

    def add(self, cost: float) -> None:
        """Count a reply.

        Raises:
            ConfigError: The workers' file can't be written.
        """
        with self._lock:
            if self._path is None:
                self._costs.append(cost)
                return
            try:
                prepare_home(self._path.parent)
                with self._path.open("ab", buffering=0) as file:
                    file.write(f"{cost!r}\n".encode())
            except OSError as exc:
                raise self._unusable(exc) from exc

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent.

        Raises:
            ConfigError: The workers' file can't be read.
        """
        with self._lock:
            if self._path is not None:
                self._look(self._path)
            return fsum(self._costs) >= self.budget - TOLERANCE

    def _look(self, path: Path) -> None:
        """Take in what has been spent since, by whole lines."""
        try:
            if not path.exists() or path.stat().st_size == self._read:
                return
            with path.open("rb") as file:
                file.seek(self._read)
                lines = file.read().rpartition(b"\n")[0]
        except OSError as exc:
            raise self._unusable(exc) from exc
        if lines:
            self._read += len(lines) + 1
            self._costs += map(float, lines.split(b"\n"))

    def _unusable(self, error: OSError) -> ConfigError:
        message = (
            f"the workers can't share what they spend in {str(self._path)!r}: {error}; "
            f"run without -n, or without --llmeval-budget"
        )
        return ConfigError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredBackend(Layer):
    """Counts what the live replies of a model cost."""

    spending: Spending

    async def answer(self, request: Request) -> Response:
        """Return the reply of the model behind, counted."""
        response = await self.inner.answer(request)
        is_number = isinstance(response.cost, int | float)
        if response.origin == "live" and response.cost is not None and is_number:
            self.spending.add(float(response.cost))
        return response
