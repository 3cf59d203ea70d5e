"""GitHub Actions: the step's summary and annotations, without set-up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_llmeval.report.model import Report

__all__ = ["annotation_lines", "append_summary"]


def append_summary(report: Report) -> str | None:
    """Append the report to the step's summary; return what went wrong, None if nothing.

    Other steps and tools write there too, so what is there stays.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not _is_github() or not path or not report.cases:
        return None
    from pytest_llmeval.report.markdown import markdown_text

    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{markdown_text(report)}\n")
    except OSError as exc:
        return f"could not write the summary of the GitHub step: {exc}"
    return None


def annotation_lines(report: Report, root: Path) -> Iterator[str]:
    """Yield the workflow commands for a run on GitHub, none elsewhere."""
    if _is_github():
        from pytest_llmeval.report.github import annotation_commands

        workspace = Path(os.environ.get("GITHUB_WORKSPACE") or root)
        yield from annotation_commands(
            report, lambda name: _place(root / name, workspace)
        )


def _is_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _place(path: Path, workspace: Path) -> str:
    """Return a path as GitHub knows it: from the repository's root, with slashes."""
    if path.is_relative_to(workspace):
        path = path.relative_to(workspace)
    return path.as_posix()
