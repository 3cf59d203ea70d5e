"""``report``: write the report of a run that is over, or was interrupted."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from pytest_llmeval.conclusion import KeptRun
from pytest_llmeval.diffs import printable
from pytest_llmeval.report.files import FORMATS, check_suffix, write
from pytest_llmeval.store.runs import find_run, read_run

__all__ = ["add", "run"]

_HOME = Path(".llmeval")


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "report", help="write the report of an earlier run, also an interrupted one"
    )
    parser.add_argument(
        "run_file", metavar="RUN", help="a journal, its name in .llmeval/runs, or: last"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        action="append",
        help=f"its suffix is the format: {', '.join(FORMATS)}; may be given again",
    )
    return parser


def run(options: Namespace) -> int:
    """Write the files; return 1 if one can't be written.

    Raises:
        UserError: There is no such run or format.
    """
    outputs = [Path(name) for name in options.output]
    for path in outputs:
        check_suffix(path, f"--output={path}")
    stored = read_run(find_run(options.run_file, _HOME, Path()))
    if stored.footer is None:
        sys.stderr.write(
            f"the run was interrupted: the report has the {len(stored.records)} "
            f"cases that had ended\n"
        )
    kept = KeptRun.of(stored)
    report = kept.report(kept.conclude())
    status = 0
    for path in outputs:
        try:
            write(report, path)
        except OSError as exc:
            sys.stderr.write(printable(f"could not write {str(path)!r}: {exc}\n"))
            status = 1
        else:
            sys.stdout.write(printable(f"{path}\n"))
    return status
