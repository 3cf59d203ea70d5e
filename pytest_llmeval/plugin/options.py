"""Options and ini keys, in one table.

Read by every pytest run of everyone who has the package installed, so it imports
nothing; what the values mean is `settings`' business.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pytest

__all__ = [
    "OPTIONS",
    "Option",
    "add_options",
    "as_option_arguments",
    "given_names",
    "is_any_given",
]


class Option(NamedTuple):
    """One option, with the ini key of the same name as its default."""

    name: str
    metavar: str
    help: str
    is_repeatable: bool = False
    is_switch: bool = False
    """On or off, without a value."""
    bare: str | None = None
    """What it means without a value; None: it needs one."""

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--llmeval-{self.name}"

    @property
    def key(self) -> str:
        """The ini key."""
        return f"llmeval_{self.name.replace('-', '_')}"


OPTIONS = (
    Option(
        name="config",
        metavar="PATH",
        help="read models and limits from PATH instead of llmeval.yaml in the rootdir",
    ),
    Option(
        name="mode",
        metavar="MODE",
        help="auto: recorded replies, else cached ones, else live; replay: recorded "
        "ones alone, no network; record: as auto, and record what was used; rerecord: "
        "live, and record; live: no recordings and no cache",
    ),
    Option(
        name="replay",
        metavar="FOLDER",
        help="answer as a failure was that is kept in .llmeval/failures: no network, no "
        "keys",
    ),
    Option(
        name="generator",
        metavar="SPEC",
        help="test this model: a spec like python:app:answer, or a name from "
        "llmeval.yaml; given several times, the suite runs for each",
        is_repeatable=True,
    ),
    Option(name="judge", metavar="SPEC", help="judge with this model"),
    Option(
        name="concurrency",
        metavar="N",
        help="have N cases, and N requests to a model, under way at once (default: "
        "limits.concurrency of llmeval.yaml, or 10); 1: one by one, in the main thread",
    ),
    Option(
        name="limit",
        metavar="N|P%",
        help="run the first N cases, or P percent, of each dataset",
    ),
    Option(
        name="sample",
        metavar="N[:SEED]",
        help="run N cases of each dataset, drawn with SEED (default 0)",
    ),
    Option(
        name="cases",
        metavar="IDS",
        help="run the cases with these ids (comma-separated) alone",
        is_repeatable=True,
    ),
    Option(
        name="repeat",
        metavar="N",
        help="run each case's body N times, whatever the marker's repeat= says",
    ),
    Option(
        name="budget",
        metavar="USD",
        help="begin no more cases once live replies have cost so many US dollars",
    ),
    Option(
        name="fail-on-unstable",
        metavar="",
        help="fail if a case passed although a sample of it failed",
        is_switch=True,
    ),
    Option(
        name="report",
        metavar="PATH",
        help="write the report to PATH (.html, .md, .json, .jsonl, .csv)",
        is_repeatable=True,
    ),
    Option(
        name="show",
        metavar="failures|all|none",
        help="which cases the summary lists (default: failures)",
    ),
    Option(
        name="num-fewshot",
        metavar="N",
        help="show N worked examples in YAML tasks that don't say num_fewshot: 0",
    ),
    Option(
        name="gen-kwargs",
        metavar="KEY=VALUE,...",
        help="lay these over the generation_kwargs of YAML tasks; a JSON object will do",
    ),
    Option(
        name="system-instruction",
        metavar="TEXT",
        help="put TEXT before the description of lm-evaluation-harness's tasks",
    ),
    Option(
        name="apply-chat-template",
        metavar="",
        help="send the prompts of lm-evaluation-harness's tasks as messages of a chat",
        is_switch=True,
    ),
    Option(
        name="fewshot-as-multiturn",
        metavar="true|false",
        help="whether worked examples are turns of the chat (default) or stand in the "
        "user's message",
    ),
    Option(
        name="log-samples",
        metavar="DIR",
        help="write the rows of lm-evaluation-harness's tasks, with replies and values, "
        "as DIR/samples_TASK_TIME.jsonl",
    ),
    Option(
        name="mutate",
        metavar="",
        help="run the checks of each case again on wrong replies, and list what they "
        "let through",
        is_switch=True,
    ),
    Option(
        name="resume",
        metavar="RUN",
        bare="last",
        help="go on with an interrupted run (the newest, or RUN): what was scored there "
        "and has not changed since is not asked again",
    ),
    Option(
        name="rescore",
        metavar="RUN",
        help="run the assertions on the replies of an earlier run; no generator is asked",
    ),
    Option(
        name="save",
        metavar="NAME",
        help="keep how the cases stood as llmeval_baselines/NAME.json, to be committed",
    ),
    Option(
        name="save-force",
        metavar="",
        help="save a baseline although cases are unscored or were not run",
        is_switch=True,
    ),
    Option(
        name="compare",
        metavar="NAME|PATH|git:REF:NAME|last",
        help="compare with a baseline: a saved one, that of the commit where this "
        "branch left REF, or the last run",
    ),
    Option(
        name="fail-on",
        metavar="any|significant|none",
        help="what a comparison fails on: any regressed case (default), a significant "
        "loss, or nothing",
    ),
    Option(
        name="allow-missing",
        metavar="",
        help="accept that cases which passed in the baseline are gone",
        is_switch=True,
    ),
    Option(
        name="require-baseline",
        metavar="",
        help="fail at the start if there is no baseline to compare with",
        is_switch=True,
    ),
    Option(
        name="max-unscored",
        metavar="N",
        help="tolerate N cases that could not be scored (default: 0)",
    ),
    Option(
        name="require",
        metavar="N|all",
        help="fail if fewer than N cases (or not all) were scored",
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini key."""
    group = parser.getgroup("llmeval", "regression tests of LLM applications")
    _add_task_keys(parser)
    for option in OPTIONS:
        if option.is_switch:
            group.addoption(
                option.flag, action="store_true", default=None, help=option.help
            )
            parser.addini(option.key, type="bool", default=False, help=option.help)
            continue
        # Always "append": a second value of a single option is then a clear error
        # and not a silent override.
        optional: dict[str, Any] = {"nargs": "?", "const": option.bare}
        group.addoption(
            option.flag,
            action="append",
            metavar=option.metavar,
            help=option.help,
            **(optional if option.bare is not None else {}),
        )
        kind: Literal["linelist", "string"] = (
            "linelist" if option.is_repeatable else "string"
        )
        parser.addini(
            option.key,
            type=kind,
            default=[] if option.is_repeatable else "",
            help=option.help,
        )


def is_any_given(config: pytest.Config) -> bool:
    """Return whether the command line or the ini file has any of our options."""
    return bool(given_names(config)) or any(config.getini(o.key) for o in OPTIONS)


def _add_task_keys(parser: pytest.Parser) -> None:
    """Register the ini keys about YAML tasks that have no option."""
    parser.addini(
        "llmeval_task_paths",
        type="linelist",
        default=[],
        help="files, folders and globs in the rootdir whose YAML files are tasks, beside "
        "those named *.llmeval.yaml",
    )
    parser.addini(
        "llmeval_allow_functions",
        type="bool",
        default=False,
        help="let `!function` in task files import Python files inside the rootdir",
    )


def given_names(config: pytest.Config) -> set[str]:
    """Return the names of those of our options that the command line has."""
    return {o.name for o in OPTIONS if config.getoption(o.flag) is not None}


#: Options that change what is asked.
_ASKING = frozenset(
    {
        *("config", "generator", "judge", "repeat", "num-fewshot", "gen-kwargs"),
        *("system-instruction", "apply-chat-template", "fewshot-as-multiturn"),
    }
)


def as_option_arguments(config: pytest.Config) -> list[str]:
    """Return the options a rerun of one case needs to see the same models."""
    arguments: list[str] = []
    for option in OPTIONS:
        given: Any = config.getoption(option.flag)
        if option.name not in _ASKING or not given:
            continue
        if option.is_switch:
            arguments.append(option.flag)
        else:
            arguments += (f"{option.flag}={value}" for value in given)
    return arguments
