"""``calibrate``: hold a judge against replies that people have labelled."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_llmeval.calibration import (
    Calibration,
    Labelled,
    calibration_of,
    labelled,
    lines_of,
)
from pytest_llmeval.cli._suite import add_config_option, asking, config_of
from pytest_llmeval.datasets import load_cases
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import ConfigError, LLMEvalError, UserError, did_you_mean
from pytest_llmeval.evaluate import Generator, Judge
from pytest_llmeval.gates import Gate, calibration_gate, decided, measured_of
from pytest_llmeval.types import Case, Verdict, as_text

__all__ = ["add", "run"]

#: Columns that hold the reply where none is named.
_REPLIES = ("response", "reply", "output")


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "calibrate", help="hold a judge against replies that people have labelled"
    )
    parser.add_argument("data", metavar="LABELS", help="the labelled replies")
    parser.add_argument("--judge", metavar="SPEC", help="by default llmeval.yaml's")
    parser.add_argument(
        "--reply", metavar="COLUMN", help=f"by default {', '.join(_REPLIES)}"
    )
    parser.add_argument(
        "--label", metavar="COLUMN", default="label", help="by default label"
    )
    parser.add_argument("--rubric", metavar="TEXT", help="what a passing reply does")
    parser.add_argument(
        "--template", metavar="TEMPLATE", help="a template of your own, or its path"
    )
    parser.add_argument(
        "--score-map", metavar="JSON", help='labels: {"Good": 1, "Bad": 0}'
    )
    parser.add_argument(
        "--language",
        default="en",
        metavar="en|ja|de",
        help="of the judge's instructions (default: en)",
    )
    parser.add_argument(
        "--votes",
        type=int,
        default=1,
        metavar="N",
        help="how often the judge is asked about each reply (default: once)",
    )
    parser.add_argument(
        "--gate", action="append", metavar="GATE", help="such as 'kappa >= 0.6'"
    )
    add_config_option(parser)
    return parser


def run(options: Namespace) -> int:
    """Ask the judge about each reply; return 1 if a gate does not hold.

    Raises:
        UserError: An argument can't be used; told before anything is asked.
    """
    config = config_of(options.config)
    spec = options.judge or config.judge
    if spec is None:
        message = "no judge: give --judge=SPEC, or judge: in llmeval.yaml"
        raise ConfigError(message)
    gates = [calibration_gate(text) for text in options.gate or ()]
    cases = load_cases(options.data)
    reply = _reply_column(cases, options.reply)
    _check_column(cases, options.label, "--label")
    asked = {
        "rubric": options.rubric,
        "template": options.template,
        "score_map": _score_map(options.score_map),
        "language": options.language,
        "votes": options.votes,
    }
    with asking(config) as (clients, loop):
        backend = clients.backend(spec)
        client = Generator(role="judge", lookup=lambda _: backend, loop=loop)
        verdicts = _judged(
            Judge(client=client), cases, reply, asked, config.limits.concurrency
        )
        clean = clients.shelf.redactor.text
    rows = {}
    for case in cases:
        row, reason = _row(case, options.label, verdicts[case.id])
        rows[case.id] = row
        if row is None or row.said != row.true:
            _tell(case, row, clean(reason))
    found = calibration_of(row for row in rows.values() if row)
    status = _finished(found, backend.name, gates)
    return 1 if None in rows.values() else status


def _reply_column(cases: Sequence[Case], given: str | None) -> str:
    if given is not None:
        _check_column(cases, given, "--reply")
        return given
    for name in _REPLIES:
        if any(name in case.fields for case in cases):
            return name
    message = (
        f"no column holds the replies ({', '.join(_REPLIES)}): give --reply=COLUMN"
    )
    raise ConfigError(message)


def _check_column(cases: Sequence[Case], name: str, option: str) -> None:
    names = dict.fromkeys(str(key) for case in cases for key in case.fields)
    if name not in names:
        message = (
            f"{option}: no row has a column {name!r}{did_you_mean(name, names)}; "
            f"columns: {', '.join(names) or 'none'}"
        )
        raise ConfigError(message)


def _score_map(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as exc:
        message = f'--score-map is a JSON object, {{"Good": 1, "Bad": 0}}: {exc}'
        raise ConfigError(message) from exc


def _judged(
    judge: Judge,
    cases: Sequence[Case],
    reply: str,
    asked: Mapping[str, Any],
    width: int,
) -> dict[str, Verdict | LLMEvalError]:
    """Return the verdict on each reply, or what kept it from having one."""
    found: dict[str, Verdict | LLMEvalError] = {}

    async def all_of_them() -> None:
        import asyncio

        free = asyncio.Semaphore(width)

        async def in_turn(case: Case) -> None:
            async with free:
                try:
                    text = as_text(case.fields.get(reply))
                    found[case.id] = await judge.acall(text, case, **asked)
                except UserError:
                    raise
                except LLMEvalError as exc:
                    found[case.id] = exc

        await asyncio.gather(*map(in_turn, cases))

    judge.client.loop.run(all_of_them(), instead="")
    return found


def _row(
    case: Case, column: str, found: Verdict | LLMEvalError
) -> tuple[Labelled | None, str]:
    """Return a row of the calibration, None for one without a usable label."""
    verdict = found if isinstance(found, Verdict) else Verdict(verdict=None)
    reason = verdict.reason if isinstance(found, Verdict) else str(found)
    try:
        row = labelled(case.fields.get(column), verdict.to_json(), passed=None)
    except LLMEvalError as exc:
        return None, str(exc)
    return row, reason


def _tell(case: Case, row: Labelled | None, reason: str) -> None:
    place = case.source or case.id
    said = "" if row is None else f"label {row.true}, judge {row.said or 'undecided'}: "
    line = " ".join(printable(f"{said}{reason}").split())
    sys.stdout.write(f"{place}: {line if len(line) < 200 else f'{line[:197]}...'}\n")


def _finished(found: Calibration, judge: str, gates: Sequence[Gate]) -> int:
    for line in lines_of(found, judge):
        sys.stdout.write(f"{printable(line)}\n")
    results = [decided(gate, measured_of(found, gate.name)) for gate in gates]
    for one in results:
        why = f": {one.reason}" if one.reason else ""
        sys.stdout.write(f"  gate {one.gate} {one.state}{why}\n")
    return 1 if any(one.state != "holds" for one in results) or not found.n else 0
