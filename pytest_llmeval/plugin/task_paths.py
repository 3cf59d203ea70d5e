"""Which YAML files are tasks. Asked of every file that ends so, ours or not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

__all__ = ["is_collected", "is_task_path", "task_paths"]

_PATHS = pytest.StashKey[list[Path]]()
_NAME = re.compile(r"\.llmeval\.ya?ml$")
#: Only a task file has one of these at its top.
_KEY = re.compile(
    r"""^["']?(task|group|dataset|dataset_path|doc_to_text|checks)["']?\s*:""",
    re.MULTILINE,
)
#: What is only there to be included has no name.
_NAMED = re.compile(r"""^["']?(task|group)["']?\s*:""", re.MULTILINE)


def is_task_path(path: Path, session: pytest.Session) -> bool:
    """Return whether a YAML file is a task: by name, by the ini key, or named to pytest."""
    if _NAME.search(path.name):
        return True
    if any(path == one or one in path.parents for one in task_paths(session.config)):
        # The base of others begins so; in lm-evaluation-harness groups do too.
        return not path.name.startswith("_") or bool(_NAMED.search(_text(path)))
    return session.isinitpath(path) and _KEY.search(_text(path)) is not None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def task_paths(config: pytest.Config) -> list[Path]:
    """Return the files and folders of llmeval_task_paths, globs expanded.

    Raises:
        pytest.UsageError: It names what is not there.
    """
    if _PATHS not in config.stash:
        found: list[Path] = []
        for entry in config.getini("llmeval_task_paths"):
            try:
                matches = sorted(config.rootpath.glob(entry.rstrip("/")))
            except (NotImplementedError, ValueError):  # absolute, or no glob
                matches = []
            if not matches:
                message = f"llmeval_task_paths: nothing is at {entry!r} in the rootdir"
                raise pytest.UsageError(message)
            found += matches
        config.stash[_PATHS] = found
    return config.stash[_PATHS]


def is_collected(path: Path, session: pytest.Session) -> bool:
    """Return whether pytest comes by a task file in this session."""
    base = session.config.invocation_params.dir
    places = [base / str(one).partition("::")[0] for one in session.config.args]
    return is_task_path(path, session) and any(
        path == place or place in path.parents for place in places
    )
