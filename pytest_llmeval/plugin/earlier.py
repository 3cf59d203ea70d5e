"""The earlier run that a session goes on with or scores again, the same on all workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.evaluate import StoredReplies
from pytest_llmeval.plugin.resuming import Resumed
from pytest_llmeval.plugin.settings import Settings
from pytest_llmeval.store.runs import find_run, read_run

__all__ = ["rescored_of", "resumed_of", "settle_earlier", "tell_worker"]

_RESUMED = pytest.StashKey[Resumed]()
_RESCORED = pytest.StashKey[StoredReplies]()
#: By what a worker is told: for it "the newest" would be the run that has just begun.
_TOLD: Final = "llmeval_earlier_run"


def settle_earlier(config: pytest.Config, settings: Settings) -> None:
    """Find and read the run that an option names.

    Raises:
        pytest.UsageError: There is none, it can't be read, or it is complete and was
            to be gone on with.
    """
    if hasattr(config, "workerinput"):
        return
    option = "resume" if settings.resume is not None else "rescore"
    name = settings.resume or settings.rescore
    if name is None:
        return
    base = config.invocation_params.dir
    if (base / name.partition("::")[0]).exists() and not name.endswith(".jsonl"):
        message = (
            f"--llmeval-{option} took {name!r} for a run: write "
            f"--llmeval-{option}=last {name}"
        )
        raise pytest.UsageError(message)
    try:
        _read(config, option, find_run(name, config.rootpath / ".llmeval", base))
        if (resumed := config.stash.get(_RESUMED, None)) is not None:
            resumed.refuse_complete()
    except UserError as exc:
        raise pytest.UsageError(f"--llmeval-{option}={name}: {exc}") from exc


def resumed_of(config: pytest.Config) -> Resumed | None:
    """Return the run that a session goes on with, None where it begins anew."""
    _read_told(config)
    return config.stash.get(_RESUMED, None)


def rescored_of(config: pytest.Config) -> StoredReplies | None:
    """Return the replies that are scored again, None where models are asked."""
    _read_told(config)
    return config.stash.get(_RESCORED, None)


def tell_worker(config: pytest.Config, node: Any) -> None:
    """Tell a worker which run is meant."""
    if (resumed := config.stash.get(_RESUMED, None)) is not None:
        node.workerinput[_TOLD] = ["resume", str(resumed.path)]
    if (rescored := config.stash.get(_RESCORED, None)) is not None:
        node.workerinput[_TOLD] = ["rescore", str(rescored.path)]


def _read_told(config: pytest.Config) -> None:
    told = getattr(config, "workerinput", {}).get(_TOLD)
    if (
        told is not None
        and _RESUMED not in config.stash
        and _RESCORED not in config.stash
    ):
        _read(config, told[0], Path(told[1]))


def _read(config: pytest.Config, option: str, path: Path) -> None:
    if option == "resume":
        config.stash[_RESUMED] = Resumed(path)
    else:
        stored = read_run(path)
        config.stash[_RESCORED] = StoredReplies(stored.path, stored.records)
