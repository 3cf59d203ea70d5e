"""From the keys of a task file to a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config import Section
from pytest_llmeval.errors import did_you_mean
from pytest_llmeval.tasks._checks import make_checks
from pytest_llmeval.tasks._marks import rows_of_share
from pytest_llmeval.tasks._read import read_mapping
from pytest_llmeval.tasks._task import (
    Member,
    Task,
    TaskGroup,
    TaskOptions,
)
from pytest_llmeval.tasks.lm_eval._context import Contexts
from pytest_llmeval.tasks.lm_eval._data import Splits
from pytest_llmeval.tasks.lm_eval._fields import with_fields
from pytest_llmeval.tasks.lm_eval._filters import read_pipelines
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._generation import read_generation
from pytest_llmeval.tasks.lm_eval._group import GroupReader
from pytest_llmeval.tasks.lm_eval._include import Keys, merged, read_keys
from pytest_llmeval.tasks.lm_eval._metrics import read_metrics
from pytest_llmeval.tasks.lm_eval._own_keys import OwnKeys, read_own_keys
from pytest_llmeval.tasks.lm_eval._plan import Plan
from pytest_llmeval.tasks.lm_eval._plans import Planner, cases_of
from pytest_llmeval.tasks.lm_eval._run import Runner
from pytest_llmeval.tasks.lm_eval._shots import ShotSource, read_shots
from pytest_llmeval.tasks.lm_eval._values import (
    docs_of,
    function_of,
    processed,
    reader_of,
    tags_of,
    text_of,
)
from pytest_llmeval.types import Case

__all__ = ["LM_EVAL_KEYS", "is_lm_eval", "lm_eval_file", "member_task"]

_TYPES: Final = (
    *("generate_until", "multiple_choice", "loglikelihood", "loglikelihood_rolling"),
)
LM_EVAL_KEYS: Final = (
    *("task", "task_alias", "tag", "dataset_path", "dataset_name", "dataset_kwargs"),
    *("training_split", "validation_split", "test_split", "fewshot_split"),
    *("process_docs", "doc_to_text", "doc_to_target", "doc_to_choice"),
    *("process_results", "description", "target_delimiter", "fewshot_delimiter"),
    *("fewshot_config", "num_fewshot", "output_type", "generation_kwargs"),
    *("gen_prefix", "repeats", "filter_list", "metric_list", "metadata"),
    *("should_decontaminate", "doc_to_decontamination_query"),
)
_REFUSED: Final = {
    "class": "Python task classes are not supported: write a test function",
    "custom_dataset": "it makes rows by code: save them to a file, or use process_docs",
    "doc_to_image": "images are not supported in task files",
    "doc_to_audio": "audio is not supported in task files",
    "unsafe_code": "the code of replies is not run",
    "use_prompt": "prompt libraries are not supported: write doc_to_text",
}


def is_lm_eval(top: Section) -> bool:
    """Return whether a file is written in this dialect and not in ours."""
    names = {*LM_EVAL_KEYS, *_REFUSED, "include", "group"} - {"task"}
    return "dataset" not in top.data and not names.isdisjoint(top.data)


def lm_eval_file(
    top: Section, path: Path, options: TaskOptions, name_of: Any
) -> Task | TaskGroup:
    """Return the task or the group of a file.

    Args:
        top: What the file says.
        path: The file.
        options: What holds for all task files.
        name_of: Returns the task's name.

    Raises:
        UserError: Something is wrong; the text has file and line.
    """
    keys = merged(top, path, options.root)
    if "group" in keys.data:
        return GroupReader(options).read(keys, path)
    return _task(keys, path, options, name_of)


def member_task(member: Member, options: TaskOptions, name_of: Any) -> Task:
    """Return a task of a group.

    Raises:
        UserError: Something is wrong; the text has file and line.
    """
    path, root = member.path, options.root
    if member.stands_alone:
        own = {**member.over, "task": member.name}
        keys = merged(replace(read_mapping(path, root), data=own), path, root)
    else:
        over = Section(data=member.over, what="the group", shown=member.shown)
        keys = read_keys(path, root).over(over)
    return _task(keys, path, options, name_of)


def _task(keys: Keys, path: Path, options: TaskOptions, name_of: Any) -> Task:
    top = keys.top
    name = name_of(Section(data=keys.data, what="the task", shown=top.shown,
                           lines=keys.section("task").lines), path)  # fmt: skip
    _check_keys(keys)
    own = read_own_keys(keys, path, options)
    functions = Functions(options)
    runner = _runner(keys, options, own, functions)
    splits = Splits(keys, path.parent, options.root)
    split = _split(keys)
    process = function_of(keys, "process_docs", functions)
    rows = processed(keys, splits.get(keys, split), process, "process_docs")
    rows = rows.select(range(rows_of_share(own.share, len(rows), own.section)))
    docs = docs_of(keys, functions, own.is_compatible)
    source = ShotSource(
        splits=splits,
        docs=docs,
        functions=functions,
        process=process,
        rows=rows,
        split=split,
        asked=options.num_fewshot,
        is_compatible=own.is_compatible,
    )
    planner = _planner(keys, own, source, runner.output_type)
    shown = splits.shown[keys.data[split]]
    cases, plans = cases_of(rows, planner, shown=shown, tags=tags_of(keys), keys=keys)
    if own.columns is not None or own.kind is not None:
        cases = with_fields(cases, rows, own.columns, own.kind, own.section)
    return Task(
        name=name,
        shown=top.shown,
        cases=cases,
        run=partial(_run, runner, own, plans),
        keywords=own.keywords,
        has_checks=bool(own.checks),
        needs_likelihood=runner.output_type != "generate_until",
        uses=frozenset({"generator"} | {"judge" for c in own.checks if c.asks_judge}),
        aggregations={
            metric.aggregation: metric.combine
            for metric in runner.metrics
            if metric.combine is not None
        },
    )


def _runner(
    keys: Keys, options: TaskOptions, own: OwnKeys, functions: Functions
) -> Runner:
    """Return what asks and scores a row."""
    kind = keys.section("output_type").choice("output_type", _TYPES)
    process = function_of(keys, "process_results", functions)
    generation = read_generation(keys, _shot_delimiter(keys), options.gen_kwargs)
    runner = Runner(
        output_type=kind,
        generation=replace(generation, is_compatible=own.is_compatible),
        pipelines=read_pipelines(keys, functions),
        metrics=read_metrics(keys, kind, functions, is_own=process is not None),
        process_results=process,
        logs_samples=options.logs_samples,
        resamples=own.resamples,
        min_characters=own.min_characters,
        is_compatible=own.is_compatible,
    )
    _check_pipelines(keys, runner)
    return runner


def _planner(keys: Keys, own: OwnKeys, source: ShotSource, kind: str) -> Planner:
    """Return what makes the questions of a row."""
    target_delimiter = text_of(keys, "target_delimiter", " ")
    return Planner(
        output_type=kind,
        docs=source.docs,
        contexts=Contexts(
            docs=source.docs,
            shots=read_shots(keys, source),
            description=reader_of(keys, "description", source.functions),
            system=own.system,
            delimiter=_shot_delimiter(keys),
            target_delimiter=target_delimiter,
        ),
        target_delimiter=target_delimiter,
        chat=own.chat,
    )


def _run(
    runner: Runner,
    own: OwnKeys,
    plans: Mapping[str, Plan],
    case: Case,
    generator: Any,
    judge: Any,
) -> None:
    """Ask about a row, score the reply, and make the checks of the task."""
    __tracebackhide__ = True
    reply = runner.run(plans[case.id], generator)
    # A kind that reads replies reads this one.
    source = generator if own.kind is None or own.kind.asks_model else reply
    make_checks(own.checks, reply, case, source, judge)


def _split(keys: Keys) -> str:
    """Return the key of the split whose rows are evaluated.

    Raises:
        ConfigError: There is none.
    """
    for key in ("test_split", "validation_split"):
        if keys.data.get(key):
            return key
    message = "there is neither test_split nor validation_split: no rows to evaluate"
    raise keys.top.fail(message)


def _shot_delimiter(keys: Keys) -> str:
    return text_of(keys, "fewshot_delimiter", "\n\n")


def _check_pipelines(keys: Keys, runner: Runner) -> None:
    """Refuse pipelines whose steps would have no effect, or that end in a list."""
    if runner.output_type != "generate_until":
        if any(one.functions != ("take_first",) for one in runner.pipelines[:1]) or (
            len(runner.pipelines) > 1
        ):
            message = f"filter_list: {runner.output_type} has no replies to be filtered"
            raise keys.fail(message, "filter_list")
        if runner.generation.repeats > 1:
            message = f"repeats: {runner.output_type} asks what is the same each time"
            raise keys.fail(message, "repeats")
    for one in runner.pipelines:
        known = {"take_first", "custom"}
        takes = any(n in known or n.startswith("!") for n in one.functions)
        if runner.process_results is None and not takes:
            message = (
                f"filter_list: {one.name!r} ends in a list of replies: end it with "
                f"{{function: take_first}}"
            )
            raise keys.fail(message, "filter_list")


def _check_keys(keys: Keys) -> None:
    for key in keys.data:
        if key in _REFUSED:
            raise keys.fail(f"{key}: {_REFUSED[key]}", key)
        if key not in LM_EVAL_KEYS:
            message = (
                f"unknown key {key!r}{did_you_mean(key, LM_EVAL_KEYS)}; keys: "
                f"{', '.join(LM_EVAL_KEYS)}"
            )
            raise keys.fail(message, key)
