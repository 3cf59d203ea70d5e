"""From the keys of a task file to a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config import Section
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.tasks._checks import make_checks
from pytest_llmeval.tasks._marks import rows_of_share
from pytest_llmeval.tasks._read import read_mapping
from pytest_llmeval.tasks._task import (
    FunctionName,
    Member,
    Task,
    TaskGroup,
    TaskOptions,
)
from pytest_llmeval.tasks.lm_eval._context import Contexts
from pytest_llmeval.tasks.lm_eval._data import Splits
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._docs import Docs, reader
from pytest_llmeval.tasks.lm_eval._fields import with_fields
from pytest_llmeval.tasks.lm_eval._filters import read_pipelines
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._generation import read_generation
from pytest_llmeval.tasks.lm_eval._group import GroupReader
from pytest_llmeval.tasks.lm_eval._include import Keys, merged
from pytest_llmeval.tasks.lm_eval._metrics import read_metrics
from pytest_llmeval.tasks.lm_eval._own_keys import read_own_keys
from pytest_llmeval.tasks.lm_eval._plans import Planner, cases_of
from pytest_llmeval.tasks.lm_eval._run import Runner
from pytest_llmeval.tasks.lm_eval._shots import ShotSource, read_shots
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
    top = read_mapping(member.path, options.root)
    if member.stands_alone:
        top = replace(top, data={**member.over, "task": member.name})
        return _task(
            merged(top, member.path, options.root), member.path, options, name_of
        )
    keys = merged(top, member.path, options.root)
    over = Section(data=member.over, what="the group", shown=member.shown)
    keys = keys.over(over)
    return _task(keys, member.path, options, name_of)


def _task(keys: Keys, path: Path, options: TaskOptions, name_of: Any) -> Task:
    top = keys.top
    name = name_of(Section(data=keys.data, what="the task", shown=top.shown,
                           lines=keys.section("task").lines), path)  # fmt: skip
    _check_keys(keys)
    own_keys = read_own_keys(keys, path, options)
    functions = Functions(options)
    kind = keys.section("output_type").choice("output_type", _TYPES)
    own = _function(keys, "process_results", functions)
    delimiter = _text(keys, "fewshot_delimiter", "\n\n")
    runner = Runner(
        output_type=kind,
        generation=replace(
            read_generation(keys, delimiter, options.gen_kwargs),
            is_compatible=own_keys.is_compatible,
        ),
        pipelines=read_pipelines(keys, functions),
        metrics=read_metrics(keys, kind, functions, is_own=own is not None),
        process_results=own,
        logs_samples=options.logs_samples,
        resamples=own_keys.resamples,
        min_characters=own_keys.min_characters,
        is_compatible=own_keys.is_compatible,
    )
    _check_pipelines(keys, runner)
    splits = Splits(keys, path.parent, options.root)
    split = next(
        (k for k in ("test_split", "validation_split") if keys.data.get(k)), ""
    )
    if not split:
        message = (
            "there is neither test_split nor validation_split: no rows to evaluate"
        )
        raise top.fail(message)
    process = _function(keys, "process_docs", functions)
    rows = _processed(keys, splits.get(keys, split), process, "process_docs")
    kept = rows_of_share(own_keys.share, len(rows), own_keys.section)
    rows = rows.select(range(kept))
    docs = _docs(keys, functions, own_keys.is_compatible)
    shots = read_shots(
        keys,
        ShotSource(
            splits=splits,
            docs=docs,
            functions=functions,
            process=process,
            rows=rows,
            split=split,
            asked=options.num_fewshot,
            is_compatible=own_keys.is_compatible,
        ),
    )
    planner = Planner(
        output_type=kind,
        docs=docs,
        contexts=Contexts(
            docs=docs,
            shots=shots,
            description=_reader(keys, "description", functions),
            system=own_keys.system,
            delimiter=delimiter,
            target_delimiter=_text(keys, "target_delimiter", " "),
        ),
        target_delimiter=_text(keys, "target_delimiter", " "),
        chat=own_keys.chat,
    )
    shown = splits.shown[keys.data[split]]
    tags = _tags(keys)
    cases, plans = cases_of(rows, planner, shown=shown, tags=tags, keys=keys)
    if own_keys.columns is not None or own_keys.kind is not None:
        cases = with_fields(
            cases, rows, own_keys.columns, own_keys.kind, own_keys.section
        )

    def run(case: Case, generator: Any, judge: Any) -> None:
        __tracebackhide__ = True
        reply = runner.run(plans[case.id], generator)
        # A kind that reads replies reads this one.
        kind = own_keys.kind
        source = generator if kind is None or kind.asks_model else reply
        make_checks(own_keys.checks, reply, case, source, judge)

    return Task(
        name=name,
        shown=top.shown,
        cases=cases,
        run=run,
        keywords=own_keys.keywords,
        has_checks=bool(own_keys.checks),
        needs_likelihood=kind != "generate_until",
        uses=frozenset(
            {"generator"} | {"judge" for c in own_keys.checks if c.asks_judge}
        ),
        aggregations={
            metric.aggregation: metric.combine
            for metric in runner.metrics
            if metric.combine is not None
        },
    )


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


def _tags(keys: Keys) -> tuple[str, ...]:
    if isinstance(keys.data.get("tag"), str):
        return (keys.data["tag"],)
    return keys.section("tag").texts("tag")


def _text(keys: Keys, key: str, default: str) -> str:
    value = keys.data.get(key, default)
    if not isinstance(value, str):
        raise keys.fail(f"{key} is a text, not {value!r:.60}", key)
    return value


def _reader(keys: Keys, key: str, functions: Functions) -> Any:
    try:
        return reader(keys.data.get(key) or None, functions)
    except UserError as exc:
        raise keys.fail(f"{key}: {exc}", key) from exc


def _function(keys: Keys, key: str, functions: Functions) -> Any:
    value = keys.data.get(key)
    if value is None:
        return None
    if not isinstance(value, FunctionName):
        raise keys.fail(f"{key} is !function module.name, not {value!r:.60}", key)
    try:
        return functions.resolved(value)
    except ConfigError as exc:
        raise keys.fail(f"{key}: {exc}", key) from exc


def _docs(keys: Keys, functions: Functions, reads_lists: bool) -> Docs:
    for key in ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix"):
        if not isinstance(keys.data.get(key), Mapping):
            _reader(keys, key, functions)  # a mistake is told with its line
    return Docs(keys.data, functions, reads_lists=reads_lists)


def _processed(keys: Keys, rows: Dataset, process: Any, key: str) -> Dataset:
    """Return what process_docs makes of a split."""
    if process is None:
        return rows
    try:
        found = process(rows)
    except Exception as exc:
        message = f"{key} raised {type(exc).__name__}: {exc}"
        raise keys.fail(message, key) from exc
    if not isinstance(found, Dataset):
        made = list(found)
        found = Dataset(made, [None] * len(made))
    return found
