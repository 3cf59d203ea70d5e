"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["pytest_llmeval_metrics"]


@pytest.hookspec
def pytest_llmeval_metrics(config: pytest.Config) -> Any:
    """Return metrics of your own, to be found by their names in every test.

    Called once, when the first evaluation is collected.

    Args:
        config: The pytest config.

    Returns:
        A list of functions decorated with ``@metric("name")``, or a mapping of names to
        plain functions ``(text, expected, **options)``; None for none.
    """
