"""``generate``: answer a dataset into a column, without judging anything."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmeval.cli._suite import add_config_option, config_of, live_clients
from pytest_llmeval.datasets import load_cases, write_cases
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.evaluate import Generator
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.prompts import Template, template_check
from pytest_llmeval.types import Case

__all__ = ["add", "run"]


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "generate", help="answer a dataset into a column, without judging"
    )
    parser.add_argument("data", metavar="DATA", help="the dataset")
    parser.add_argument("-o", "--output", metavar="OUT", required=True)
    parser.add_argument("--column", metavar="NAME", required=True)
    parser.add_argument("--generator", metavar="SPEC", help="by default llmeval.yaml's")
    parser.add_argument("--prompt", metavar="TEMPLATE", help="a template or its path")
    parser.add_argument("--system", metavar="TEMPLATE")
    parser.add_argument(
        "--force", action="store_true", help="replace a column that is there"
    )
    add_config_option(parser)
    return parser


def run(options: Namespace) -> int:
    """Answer each row; return 1 if a row has no answer (its cell stays empty)."""
    config = config_of(options.config)
    spec = options.generator or config.generator
    if spec is None:
        message = "no generator: give --generator=SPEC, or generator: in llmeval.yaml"
        raise ConfigError(message)
    cases = load_cases(options.data)
    _refuse_overwriting(cases, options)
    clients, loop = live_clients(config), LoopThread()
    try:
        backend = clients.backend(spec)
        generator = Generator(role="generator", lookup=lambda _: backend, loop=loop)
        _check_prompt(cases, options)
        width = config.limits.concurrency
        replies = loop.run(_answers(generator, cases, options, width), instead="")
    finally:
        loop.run(clients.close(), instead="")
        loop.close()
    write_cases(_with_replies(cases, replies, options.column), Path(options.output))
    return _told(cases, replies, options)


def _refuse_overwriting(cases: Iterable[Case], options: Namespace) -> None:
    has_column = any(options.column in case.fields for case in cases)
    if has_column and not options.force:
        message = (
            f"{options.data} has a column {options.column!r} already: give another "
            f"--column, or --force to replace it"
        )
        raise ConfigError(message)


def _check_prompt(cases: list[Case], options: Namespace) -> None:
    """Find a mistake in the template before anything is asked."""
    if options.prompt is not None and cases:
        template_check(Template.of(options.prompt), *cases)


async def _answers(
    generator: Generator, cases: list[Case], options: Namespace, width: int
) -> list[str | UnscoredError]:
    import asyncio

    free = asyncio.Semaphore(width)

    async def answer(case: Case) -> str | UnscoredError:
        async with free:
            try:
                response = await generator.acall(
                    case, prompt=options.prompt, system=options.system
                )
            except UnscoredError as exc:
                return exc
        if response.is_from_model and not response.text.strip():
            return UnscoredError(f"{response.model} replied nothing", cause="empty")
        return response.text

    return list(await asyncio.gather(*map(answer, cases)))


def _with_replies(
    cases: list[Case], replies: list[str | UnscoredError], column: str
) -> list[Case]:
    """Return the cases with their replies; a row without one has null there."""
    return [
        replace(
            case,
            fields={
                **case.fields,
                column: None if isinstance(reply, UnscoredError) else reply,
            },
        )
        for case, reply in zip(cases, replies, strict=True)
    ]


def _told(
    cases: list[Case], replies: list[str | UnscoredError], options: Namespace
) -> int:
    failed = 0
    for case, reply in zip(cases, replies, strict=True):
        if isinstance(reply, UnscoredError):
            failed += 1
            sys.stderr.write(f"{case.source or case.id}: {reply}\n")
    answered = len(cases) - failed
    sys.stdout.write(
        f"{options.output}: {answered} of {len(cases)} rows answered into "
        f"{options.column!r}\n"
    )
    return 1 if failed else 0
