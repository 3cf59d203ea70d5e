"""What the session itself says about running ahead."""

from __future__ import annotations

import logging

import pytest

from pytest_llmeval.types import whole_number

__all__ = ["ends_early", "in_the_way", "is_wanted", "log_level"]


def is_wanted(config: pytest.Config) -> bool:
    """Return whether anything may run ahead: not where a person steps through it."""
    option = config.option
    return not (getattr(option, "usepdb", False) or getattr(option, "trace", False))


def ends_early(config: pytest.Config) -> bool:
    """Return whether the run ends at a failure: what is begun behind it is spent."""
    option = config.option
    return bool(getattr(option, "maxfail", 0) or getattr(option, "stepwise", False))


def in_the_way(config: pytest.Config, *, is_queue_known: bool) -> str | None:
    """Return why nothing at all can run ahead in this process, None: it can.

    Args:
        config: The pytest config.
        is_queue_known: Whether it can be seen what this process will run.
    """
    given = getattr(config, "workerinput", {})
    if given.get("llmeval_careful"):
        return "a worker crashed, and another crash must show which case it is"
    if given.get("llmeval_dist") == "worksteal":
        return "--dist=worksteal takes cases back that a worker has begun"
    if not is_queue_known:
        return "this version of xdist does not show what a worker will run"
    return None


def log_level(config: pytest.Config) -> int | None:
    """Return the level pytest sets while a test's phases run, None when it sets none."""
    try:
        value = config.getoption("log_level") or config.getini("log_level")
    except ValueError:  # -p no:logging
        return None
    level = logging.getLevelName(str(value).upper())
    if isinstance(level, int):
        return level
    return whole_number(str(value))
