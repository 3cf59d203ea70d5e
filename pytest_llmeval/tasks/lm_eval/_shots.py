"""fewshot_config: how many worked examples a task shows, and from where."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_llmeval.config import plain
from pytest_llmeval.errors import EvaluationWarning, UserError
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._context import Shots
from pytest_llmeval.tasks.lm_eval._data import Splits
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._docs import Docs, Row
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys

__all__ = ["SHOT_KEYS", "ShotSource", "read_shots"]

_DOCS: Final = ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix")
SHOT_KEYS: Final = (
    *("sampler", "samples", "split", "process_docs", "fewshot_indices", *_DOCS),
    *("target_delimiter", "fewshot_delimiter"),
)
_SAMPLERS: Final = ("default", "first_n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotSource:
    """Where the worked examples of a task come from."""

    splits: Splits
    docs: Docs
    """How rows of the task are read."""
    functions: Functions
    process: Callable[..., Any] | None
    """Its process_docs."""
    rows: Dataset
    """The split that is evaluated."""
    split: str
    """The key that names it."""
    asked: int | None = None
    """How many the command line asks for; a task that says 0 shows none."""
    is_compatible: bool = False
    """Whether a row may be an example of its own, where lm-evaluation-harness lets it."""


def read_shots(keys: Keys, source: ShotSource) -> Shots:
    """Return the worked examples of a task.

    Raises:
        UserError: A key or value can't be used, or there are too few rows.
    """
    config = keys.section("fewshot_config").section("fewshot_config", "fewshot_config")
    config.only(SHOT_KEYS)
    if config.data.get("fewshot_indices") is not None:
        message = (
            f"{keys.top.shown}: fewshot_indices has no effect, as in "
            f"lm-evaluation-harness: name the rows themselves with samples"
        )
        warnings.warn(message, EvaluationWarning, stacklevel=2)
    said = keys.section("num_fewshot").whole("num_fewshot", least=0)
    count = said or 0
    if source.asked is not None and said != 0:
        count = source.asked
    given = {**keys.data, **{k: v for k, v in config.data.items() if k in _DOCS}}
    try:
        own = source.docs.over(given, source.functions)
    except UserError as exc:
        raise keys.fail(f"fewshot_config: {exc}", "fewshot_config") from exc
    texts = {**keys.data, **config.data}
    sampler = config.choice("sampler", _SAMPLERS)
    pool: list[Row] = []
    leaves_out = False
    if count:
        pool, is_evaluated = _pool(keys, config.data, source)
        named = config.data.get("split") or keys.data.get("fewshot_split")
        # lm-evaluation-harness compares the two names: also where there are none.
        leaves_out = named == keys.data.get("test_split")
        leaves_out = leaves_out or (is_evaluated and not source.is_compatible)
        _check_count(keys, count, len(pool), leaves_out, sampler, is_evaluated)
    return Shots(
        count=count,
        pool=tuple(pool),
        docs=own,
        sampler=sampler,
        target_delimiter=str(texts.get("target_delimiter", " ")),
        delimiter=str(texts.get("fewshot_delimiter", "\n\n")),
        leaves_out_row=leaves_out,
    )


def _check_count(
    keys: Keys, count: int, there: int, leaves_out: bool, sampler: str, shared: bool
) -> None:
    draws_one_more = leaves_out and (sampler == "default" or shared)
    wanted = count + (1 if draws_one_more else 0)
    if wanted > there:
        message = f"num_fewshot {count}: {wanted} examples are needed, {there} there"
        raise keys.fail(message, "num_fewshot")


def _pool(
    keys: Keys, config: Mapping[str, Any], source: ShotSource
) -> tuple[list[Row], bool]:
    """Return the rows to choose from, and whether they are those that are evaluated."""
    data = dict(keys.data)
    if config.get("split") is not None:
        data["fewshot_split"] = config["split"]
    samples = config.get("samples")
    if data.get("fewshot_split") is None and samples is not None:
        return _samples(keys, samples, source), False
    names = ("fewshot_split", "training_split", "validation_split", "test_split")
    key = next(name for name in names if data.get(name))
    process = source.process
    if key == "fewshot_split" and config.get("process_docs") is not None:
        process = source.functions.resolved(config["process_docs"])
    elif data[key] == data[source.split]:
        return list(source.rows), True
    found = source.splits.get(replace(keys, data=data), key)
    try:
        return list(process(found) if process is not None else found), False
    except Exception as exc:
        message = f"process_docs raised {type(exc).__name__}: {exc}"
        raise keys.fail(message, "process_docs") from exc


def _samples(keys: Keys, samples: Any, source: ShotSource) -> list[Row]:
    if isinstance(samples, FunctionName):
        samples = source.functions.resolved(samples)()
    if not isinstance(samples, list) or not all(
        isinstance(one, Mapping) for one in samples
    ):
        message = "fewshot_config: samples is a list of rows"
        raise keys.fail(message, "fewshot_config", "samples")
    return [plain(one) for one in samples]
