"""``check``: ask every model once, and say what would be used and whether it answers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import Any

from pytest_llmeval.cli._suite import add_config_option, asking, config_of
from pytest_llmeval.clients import Clients, Request
from pytest_llmeval.config import Config, ModelEntry, parse_spec
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.metrics import text_of
from pytest_llmeval.types import Case, Prompt, Response

__all__ = ["add", "run"]

_QUESTION = "Answer with the one word OK."
_SHOWN = 40


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
    """Ask; return 1 if one does not answer.

    Raises:
        ConfigError: There is no such model, or llmeval.yaml is wrong.
    """
    config = config_of(options.config)
    entries = _entries(options.models or _configured(config), config)
    if not entries:
        sys.stderr.write(
            "there is no model to check: name one (openai:MODEL), or write llmeval.yaml "
            "with models: in this folder\n"
        )
        return 2
    with asking(config) as (clients, loop):
        answered = [
            _answers(spec, entries[spec], config, clients, loop) for spec in entries
        ]
    return 0 if all(answered) else 1


def _configured(config: Config) -> list[str]:
    """Return all that llmeval.yaml names; a role may hold a spec of its own."""
    roles = (config.generator, config.judge)
    return [*config.models, *(spec for spec in roles if spec is not None)]


def _entries(specs: Iterable[str], config: Config) -> dict[str, ModelEntry]:
    """Return each model once, a panel as its judges."""
    entries = {}
    for spec in specs:
        panel = parse_spec(spec, config).panel
        entries.update({one: parse_spec(one, config) for one in panel or (spec,)})
    return entries


def _answers(
    spec: str, entry: ModelEntry, config: Config, clients: Clients, loop: LoopThread
) -> bool:
    """Ask one model, write what came of it, and return whether it answered."""
    roles = [role for role in ("generator", "judge") if getattr(config, role) == spec]
    shown = f"{spec} ({', '.join(roles)})" if roles else spec
    try:
        word, text = "ok", f"{shown}: {_asked(spec, entry, clients, loop)}"
    except LLMEvalError as exc:
        word, text = "failed", f"{shown}\n{exc}"
    text = printable(clients.shelf.redactor.text(text)).replace("\n", f"\n{'':8}")
    sys.stdout.write(f"{word:<8}{text}\n")
    sys.stdout.flush()  # the next one may take its time
    return word == "ok"


def _asked(spec: str, entry: ModelEntry, clients: Clients, loop: LoopThread) -> str:
    """Return what a model is and said."""
    backend = clients.backend(spec)
    if entry.provider == "column":
        return f"the column {entry.model!r} of a dataset, nothing to ask"
    case = Case(id="check", input=_QUESTION, fields={"input": _QUESTION})
    request = Request(prompt=Prompt.of(_QUESTION), case=case)
    response = loop.run(backend.answer(request), instead="")
    what = f"{entry.provider}:{entry.model}".removesuffix(":")
    parts = [what] if what != spec else []
    if entry.base_url is not None:
        parts.append(f"at {entry.base_url}")
    return ", ".join([*parts, *_described(response)])


def _described(response: Response) -> list[str]:
    text = text_of(response)
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    parts = [f"{response.model or 'it'} said {text!r}"]
    if response.latency_seconds is not None:
        parts.append(f"in {response.latency_seconds:.2f} s")
    if response.usage is not None and response.usage.total is not None:
        parts.append(f"{response.usage.total} tokens")
    return parts
