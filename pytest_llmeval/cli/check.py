"""``check``: ask every model once, and say what would be used and whether it answers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from pytest_llmeval.cli._suite import add_config_option, config_of, live_clients
from pytest_llmeval.clients import Clients, Request
from pytest_llmeval.config import Config
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.types import Case, Prompt, Response

__all__ = ["add", "run"]

_QUESTION = "Answer with the one word OK."


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "check", help="ask each model once: what would be used, does it answer"
    )
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="names from llmeval.yaml or specs; by default all of llmeval.yaml",
    )
    add_config_option(parser)
    return parser


def run(options: Namespace) -> int:
    """Ask; return 1 if one does not answer."""
    config = config_of(options.config)
    names = options.models or [n for n, e in config.models.items() if not e.panel]
    if not names:
        sys.stderr.write(
            "there is no model to check: name one (openai:MODEL), or write llmeval.yaml "
            "with models: in this folder\n"
        )
        return 2
    clients, loop = live_clients(config), LoopThread()
    try:
        well = [_checked(name, config, clients, loop) for name in names]
    finally:
        loop.run(clients.close(), instead="")
        loop.close()
    return 0 if all(well) else 1


def _checked(name: str, config: Config, clients: Clients, loop: LoopThread) -> bool:
    roles = [r for r in ("generator", "judge") if getattr(config, r) == name]
    shown = f"{name} ({', '.join(roles)})" if roles else name
    request = Request(prompt=Prompt.of(_QUESTION), case=Case(id="check"))
    try:
        response = loop.run(clients.backend(name).answer(request), instead="")
    except LLMEvalError as exc:
        sys.stdout.write(f"failed  {shown}\n        {printable(str(exc))}\n")
        return False
    sys.stdout.write(f"ok      {shown}: {_described(response)}\n")
    return True


def _described(response: Response) -> str:
    text = response.text if len(response.text) <= 40 else response.text[:37] + "..."
    parts = [f"{response.model or response.provider} said {printable(repr(text))}"]
    if response.latency_seconds is not None:
        parts.append(f"in {response.latency_seconds:.2f} s")
    if response.usage is not None and response.usage.total is not None:
        parts.append(f"{response.usage.total} tokens")
    return ", ".join(parts)
