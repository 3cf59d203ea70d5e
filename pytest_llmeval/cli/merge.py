"""``merge``: the runs of parts of a suite (shards, a CI matrix) as one run."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from pytest_llmeval.baseline import baseline_path
from pytest_llmeval.conclusion import Conclusion, KeptRun, merged, save_baseline
from pytest_llmeval.errors import UserError
from pytest_llmeval.report import terminal
from pytest_llmeval.report.model import Report
from pytest_llmeval.store.journal import new_name, write_run
from pytest_llmeval.store.runs import find_run, read_run

__all__ = ["add", "run"]

_HOME = Path(".llmeval")
#: As pytest has it.
_INTERRUPTED = 2


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "merge",
        help="unite runs of parts of a suite; gates and comparison judge the whole",
    )
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="a journal, its name in .llmeval/runs, or a folder of journals",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="where the journal of the whole goes: a folder, or a file ending in .jsonl "
        "(default: .llmeval/runs)",
    )
    parser.add_argument(
        "--save", metavar="NAME", help="keep the whole as llmeval_baselines/NAME.json"
    )
    parser.add_argument(
        "--save-force",
        action="store_true",
        help="save it although cases are unscored or did not run",
    )
    parser.add_argument(
        "--show",
        choices=("failures", "all", "none"),
        default="failures",
        help="which cases are listed (default: failures)",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also say how each check moved"
    )
    return parser


def run(options: Namespace) -> int:
    """Write the run of the whole; return the exit status that it would have had.

    Raises:
        UserError: A run can't be read, or they contradict each other.
    """
    if options.save is not None:
        baseline_path(Path.cwd(), options.save)  # refuses what can't be a name
    paths = _paths(options.runs)
    output = _output(options.output, paths)
    parts = {_name(path, paths): KeptRun.of(read_run(path)) for path in paths}
    whole = merged(parts)
    conclusion = whole.conclude()
    notes = [_counted(parts), *_interrupted(parts), *conclusion.notes]
    status = conclusion.status if whole.ended is not None else _INTERRUPTED
    if options.save is not None:
        note, is_saved = _save(whole, conclusion, options)
        notes.append(note)
        status = status if is_saved else max(status, 1)
    footer = None
    if whole.ended is not None:
        footer = {**whole.footer(), "exit_status": status, "notes": list(notes)}
    written = write_run(output, whole.header(), whole.records, footer)
    notes.append(written or f"written to {output}")
    _show(whole.report(conclusion), options, notes)
    return max(status, 1) if written else status


def _paths(names: list[str]) -> list[Path]:
    """Return the journals that are named, those of folders included.

    Raises:
        UserError: A folder has none, or a run is named twice.
    """
    found: list[Path] = []
    for name in names:
        if Path(name).is_dir():
            inside = sorted(Path(name).rglob("*.jsonl"))
            if not inside:
                message = f"the folder {name!r} has no journals (.jsonl)"
                raise UserError(message)
            found += inside
        else:
            found.append(find_run(name, _HOME, Path()))
    for path in found:
        if sum(path.samefile(other) for other in found) > 1:
            message = f"the run {str(path)!r} is named twice"
            raise UserError(message)
    return found


def _output(given: str | None, inputs: list[Path]) -> Path:
    """Return the file to be written.

    Raises:
        UserError: It can't be a journal, or is one of the runs.
    """
    path = Path(given) if given is not None else _HOME / "runs"
    if path.suffix == ".jsonl":
        if any(path.exists() and path.samefile(one) for one in inputs):
            message = f"--output={given}: that is one of the runs; name another file"
            raise UserError(message)
        return path
    if path.suffix and not path.is_dir():
        message = (
            f"--output={given}: a journal ends in .jsonl; a report is made of it: "
            f"python -m pytest_llmeval report RUN -o {given}"
        )
        raise UserError(message)
    return path / new_name()


def _name(path: Path, paths: list[Path]) -> str:
    """Return how a run is called: by its file, and its folder where names repeat."""
    is_only = sum(other.name == path.name for other in paths) == 1
    return path.name if is_only else path.as_posix()


def _counted(parts: dict[str, KeptRun]) -> str:
    counts = ", ".join(f"{len(run.records)} of {name}" for name, run in parts.items())
    return f"merged {len(parts)} runs: {counts}"


def _interrupted(parts: dict[str, KeptRun]) -> list[str]:
    return [
        f"{name} was interrupted: it has the {len(run.records)} cases that had ended, and "
        f"nothing is decided"
        for name, run in parts.items()
        if run.ended is None
    ]


def _save(
    whole: KeptRun, conclusion: Conclusion, options: Namespace
) -> tuple[str, bool]:
    if whole.ended is None and not options.save_force:
        why = "a part was interrupted (--save-force saves it anyway)"
        return f"not saved as {options.save!r}: {why}", False
    return save_baseline(
        options.save,
        conclusion.records,
        whole.run,
        whole.collected,
        root=Path.cwd(),
        force="--save-force",
        is_forced=options.save_force,
    )


def _show(report: Report, options: Namespace, notes: list[str]) -> None:
    encoding = (sys.stdout.encoding or "ascii").lower()
    lines = terminal.render(
        report,
        width=shutil.get_terminal_size().columns,
        unicode=encoding.startswith("utf"),
        show=options.show,
        notes=notes,
        is_verbose=options.verbose,
    )
    for line in lines:
        sys.stdout.write(f"{line.text}\n")
