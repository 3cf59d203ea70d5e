"""``generate``: answer a dataset into a column, without judging anything."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_llmeval import metrics
from pytest_llmeval.cli._answers import Answers, answer_all
from pytest_llmeval.cli._output import (
    check_output,
    meaning_of,
    with_column,
    write_answers,
)
from pytest_llmeval.cli._suite import add_config_option, asking, config_of
from pytest_llmeval.datasets import load_cases
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate import Generator
from pytest_llmeval.kinds import KINDS, Kind, kind_named
from pytest_llmeval.prompts import Template, template_check
from pytest_llmeval.redact import Redactor
from pytest_llmeval.types import Case

__all__ = ["add", "run"]


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "generate", help="answer a dataset into a column, without judging"
    )
    parser.add_argument("data", metavar="DATA", help="the dataset, a path or glob")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="its suffix is the format"
    )
    parser.add_argument(
        "--column", metavar="NAME", required=True, help="where the replies go"
    )
    parser.add_argument("--generator", metavar="SPEC", help="by default llmeval.yaml's")
    parser.add_argument(
        "--prompt", metavar="TEMPLATE", help="a template or its path; else the input"
    )
    parser.add_argument(
        "--system", metavar="TEMPLATE", help="of the system message; else none"
    )
    parser.add_argument(
        "--kind", metavar="KIND", help=f"brings a prompt: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--columns", metavar="PRESET", help="how columns are called, such as dataflow"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace a column or file that is there; answer a kind that needs no answer",
    )
    add_config_option(parser)
    return parser


def run(options: Namespace) -> int:
    """Answer each row; return 1 if a row has no answer (its cell stays empty).

    Raises:
        UserError: An argument can't be used; told before anything is asked.
    """
    config = config_of(options.config)
    spec = options.generator or config.generator
    if spec is None:
        message = "no generator: give --generator=SPEC, or generator: in llmeval.yaml"
        raise ConfigError(message)
    kind = None if options.kind is None else kind_named(options.kind)
    if kind is not None and not _needs_answers(kind, options):
        sys.stdout.write(
            f"{options.data}: the kind {kind.name!r} needs no answer, its rows are scored "
            f"by likelihood: nothing was asked and {options.output} is not written "
            f"(--force asks all the same)\n"
        )
        return 0
    cases = load_cases(
        options.data,
        columns=options.columns,
        first=kind.columns if kind is not None else None,
    )
    check_output(
        cases,
        data=options.data,
        output=Path(options.output),
        column=options.column,
        force=options.force,
    )
    if (meaning := meaning_of(options.column)) is not None:
        sys.stderr.write(
            f"note: a column {options.column!r} is read as the {meaning} of a row\n"
        )
    default = kind.prompt if kind is not None else None
    sources = (options.prompt or default, options.system)
    prompt, system = (_template(source, cases) for source in sources)
    with asking(config) as (clients, loop):
        backend = clients.backend(spec)
        answers = answer_all(
            Generator(role="generator", lookup=lambda _: backend, loop=loop),
            cases,
            prompt=prompt,
            system=system,
            width=config.limits.concurrency,
        )
        return _finished(cases, answers, options, clients.shelf.redactor)


def _needs_answers(kind: Kind, options: Namespace) -> bool:
    """Return whether the rows of a kind are to be answered.

    Raises:
        ConfigError: They are to be, and the kind has no question.
    """
    needs = metrics.get_metric(kind.metric).declaration.takes != "model"
    if options.force and kind.prompt is None and options.prompt is None:
        message = (
            f"the kind {kind.name!r} holds {kind.holds}, and no question that could be "
            f"answered: give --prompt"
        )
        raise ConfigError(message)
    return needs or bool(options.force)


def _template(source: str | None, cases: Sequence[Case]) -> Template | None:
    """Return a template, if it has no mistake that every row would show."""
    if source is None:
        return None
    template = Template.of(source)
    if cases:
        template_check(template, *cases)
    return template


def _finished(
    cases: Sequence[Case], answers: Answers, options: Namespace, redactor: Redactor
) -> int:
    """Write the answers, say what is missing, and return the exit status."""
    for case in cases:
        if (error := answers.errors.get(case.id)) is not None:
            reason = printable(redactor.text(str(error)))
            sys.stderr.write(f"{case.source or case.id}: {reason}\n")
    if skipped := len(cases) - len(answers.texts) - len(answers.errors):
        sys.stderr.write(f"interrupted: {skipped} rows were not answered\n")
    if cases and not answers.texts:
        sys.stderr.write(f"no row was answered: {options.output} is not written\n")
        return 1
    texts = {name: redactor.text(text) for name, text in answers.texts.items()}
    output = Path(options.output)
    written = write_answers(with_column(cases, options.column, texts), output)
    if written != output:
        sys.stderr.write(f"{output.suffix} can't hold a reply: see {written}\n")
    sys.stdout.write(
        f"{written}: {len(texts)} of {len(cases)} rows answered into "
        f"{options.column!r}\n"
    )
    return 0 if len(texts) == len(cases) and written == output else 1
