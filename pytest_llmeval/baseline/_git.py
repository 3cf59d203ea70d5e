"""What git knows: the commit that runs, and a file as it was in another one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from pytest_llmeval.config.environment import environment
from pytest_llmeval.errors import UserError

__all__ = ["file_at_merge_base", "head_commit"]

_SECONDS: Final = 60.0


def head_commit(root: Path) -> tuple[str | None, bool | None]:
    """Return the commit that is checked out, and whether tracked files differ from it.

    Args:
        root: A folder of the repository.

    Returns:
        None for both outside of a repository, or without git.
    """
    try:
        commit = _git(root, "rev-parse", "--verify", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except UserError:
        return None, None
    return commit.decode().strip(), bool(changed.strip())


def file_at_merge_base(root: Path, ref: str, path: str) -> tuple[bytes | None, str]:
    """Return a file as it was where this branch left another one.

    Args:
        root: The folder that `path` is relative to.
        ref: A branch, tag or commit.
        path: With forward slashes.

    Returns:
        The content (None: that commit has no such file), and the commit.

    Raises:
        UserError: There is no git, repository or ref, or the clone is too shallow.
    """
    if ref.startswith("-"):
        raise UserError(f"{ref!r} is no branch, tag or commit")
    try:
        _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    except UserError as exc:
        message = (
            f"git knows no {ref!r} here{_shallow_hint(root)}: fetch it first, for "
            f"example `git fetch origin {ref.removeprefix('origin/')}`"
        )
        raise UserError(message) from exc
    try:
        base = _git(root, "merge-base", "HEAD", ref).decode().strip()
    except UserError as exc:
        message = (
            f"HEAD and {ref!r} have no commit in common{_shallow_hint(root)}: the "
            f"baseline is read where this branch left {ref}; fetch the history, "
            f"`git fetch --unshallow`, or with actions/checkout `fetch-depth: 0`"
        )
        raise UserError(message) from exc
    try:
        return _git(root, "show", f"{base}:./{path}"), base
    except UserError:
        return None, base


def _shallow_hint(root: Path) -> str:
    try:
        shallow = _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    except UserError:
        return ""
    return " (the clone is shallow: its history is cut off)" if shallow else ""


def _git(root: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=root,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            # Looking must not write: another git may be at work.
            env=environment(GIT_OPTIONAL_LOCKS="0", LC_ALL="C"),
        )
    except FileNotFoundError as exc:
        raise UserError("git is not installed, or not on the PATH") from exc
    except subprocess.TimeoutExpired as exc:
        raise UserError(f"git {arguments[0]} took over {_SECONDS:.0f} s") from exc
    except subprocess.CalledProcessError as exc:
        said = exc.stderr.decode("utf-8", "replace").strip()
        raise UserError(f"git {arguments[0]}: {said}") from exc
    return done.stdout
