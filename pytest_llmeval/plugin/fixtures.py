"""The fixtures: façades of the session, and the recorder of the running case."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_llmeval.evaluate import Generator, Judge
    from pytest_llmeval.recorder import SampleRun

__all__ = ["NAMES", "Recorder", "generator", "judge", "llm_client", "llmeval"]

#: The fixtures whose use makes a test an evaluation.
NAMES = ("generator", "judge", "llm_client", "llmeval")


@pytest.fixture(scope="session")
def generator(pytestconfig: pytest.Config) -> Generator:
    """The model or application under test; call it with the case."""
    from pytest_llmeval.plugin.runtime import runtime_of

    return runtime_of(pytestconfig).facades.generator


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config) -> Judge:
    """The judge; give it to assert_judge, or call it with a reply and the case."""
    from pytest_llmeval.plugin.runtime import runtime_of

    return runtime_of(pytestconfig).facades.judge


@pytest.fixture(scope="session")
def llm_client(pytestconfig: pytest.Config) -> Callable[..., Generator]:
    """Build a further client from a spec, a mapping, or a callable and a name."""
    from pytest_llmeval.plugin.runtime import runtime_of

    return runtime_of(pytestconfig).facades.client


@pytest.fixture
def llmeval() -> Recorder:
    """Record scores and texts of the running case; run all checks of a block."""
    return Recorder()


class Recorder:
    """Writes into the record of the case that is running."""

    def score(self, name: str, value: float) -> None:
        """Keep a number of your own: reported and compared, never failing.

        Args:
            name: Unique in the case.
            value: A finite number; higher is better.
        """
        from pytest_llmeval.types import Check

        if isinstance(value, bool) or not isinstance(value, int | float):
            message = f"llmeval.score({name!r}, ...) takes a number, not {value!r}"
            raise TypeError(message)
        number = float(value)
        if not -1e999 < number < 1e999:
            message = f"llmeval.score({name!r}, ...) takes a finite number, not {value}"
            raise ValueError(message)
        check = Check(
            metric=name,
            name=name,
            value=number,
            operator=">=",
            threshold=None,
            passed=None,
        )
        _running().add_check(check)

    def attach(self, name: str, text: Any) -> None:
        """Keep a text that a reader of the report should see beside the case."""
        _running().add_attachment(name, text)

    def all_checks(self) -> AbstractContextManager[None]:
        """Run every assertion helper in the block before failing with all of them."""
        return _running().all_checks(outweighs=pytest.skip.Exception)

    def __repr__(self) -> str:
        return "<llmeval>"


def _running() -> SampleRun:
    from pytest_llmeval.errors import UserError
    from pytest_llmeval.recorder import current_sample

    sample = current_sample()
    if sample is None:
        message = "the llmeval fixture records into a running case, and there is none"
        raise UserError(message)
    return sample
