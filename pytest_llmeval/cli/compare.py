"""``compare``: hold one run against another, without running anything."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmeval.baseline import (
    FAIL_ON,
    Baseline,
    Compared,
    compare,
    decide,
    find_baseline,
)
from pytest_llmeval.diffs import printable
from pytest_llmeval.report.decisions import comparison_lines
from pytest_llmeval.report.lines import Page
from pytest_llmeval.store.runs import read_run

__all__ = ["add", "run"]

_WHAT = "a baseline's name, a path (.json, a journal's .jsonl), git:REF:NAME, or: last"


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "compare", help="say what is better and worse in one run than in another"
    )
    parser.add_argument("before", metavar="A", help=f"what was: {_WHAT}")
    parser.add_argument("now", metavar="B", help="what is: the same")
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="any",
        help="what makes the exit status 1 (default: any regressed case)",
    )
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="accept that cases of A which passed are gone in B",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also say how each check moved"
    )
    return parser


def run(options: Namespace) -> int:
    """Write the comparison; return 1 if it fails.

    Raises:
        UserError: One of the two is not there, or can't be read.
    """
    before, now = _read(options.before), _read(options.now)
    left = frozenset(one.identity for one in now.cases if one.status == "not_run")
    comparison = compare(
        [one.settled() for one in now.cases if one.status != "not_run"],
        [one.settled() for one in before.cases if one.status != "not_run"],
        not_run=left,
    )
    decision = decide(comparison, options.fail_on, allow_missing=options.allow_missing)
    compared = Compared(name=before.shown, comparison=comparison, decision=decision)
    _, *lines = comparison_lines(compared, Page(), is_verbose=options.verbose)
    for line in lines:
        sys.stdout.write(f"{line.text}\n")
    return int(decision.state == "fails")


def _read(spec: str) -> Baseline:
    """Return a baseline or a run; tell of one that was interrupted."""
    here = Path.cwd()
    found = find_baseline(spec, root=here, base=here)
    if spec.endswith(".jsonl"):
        if read_run(here / spec).footer is None:
            sys.stderr.write(
                printable(
                    f"{spec}: the run was interrupted: it has the {len(found.cases)} "
                    f"cases that had ended\n"
                )
            )
        return replace(found, name=Path(spec).stem)
    return found
