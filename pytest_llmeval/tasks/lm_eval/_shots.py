"""fewshot_config: how many worked examples a task shows, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_llmeval.config import plain
from pytest_llmeval.errors import UserError
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._context import Shots
from pytest_llmeval.tasks.lm_eval._data import Splits
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._docs import Docs
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys

__all__ = ["read_shots"]

_DOCS: Final = ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix")
_KNOWN: Final = (
    *("sampler", "samples", "split", *_DOCS, "target_delimiter", "fewshot_delimiter"),
)
_SAMPLERS: Final = ("default", "first_n")


def read_shots(
    keys: Keys,
    splits: Splits,
    docs: Docs,
    functions: Functions,
    process: Any,
    rows: Dataset,
    split: str,
    asked: int | None,
) -> Shots:
    """Return the worked examples of a task.

    Args:
        keys: What the task says.
        splits: Its data.
        docs: How its rows are read.
        functions: Imports functions.
        process: Its process_docs, or None.
        rows: The split that is evaluated.
        split: The key that names it.
        asked: How many the command line asks for; a task that says 0 shows none.

    Raises:
        UserError: A key or value can't be used, or there are too few rows.
    """
    config = keys.section("fewshot_config").section("fewshot_config", "fewshot_config")
    config.only(_KNOWN)
    said = keys.section("num_fewshot").whole("num_fewshot", least=0)
    count = said or 0
    if asked is not None and said != 0:
        count = asked
    given = {**keys.data, **{k: v for k, v in config.data.items() if k in _DOCS}}
    try:
        own = Docs(given, functions) if given != keys.data else docs
    except UserError as exc:
        raise keys.fail(f"fewshot_config: {exc}", "fewshot_config") from exc
    texts = {**keys.data, **config.data}
    pool: list[Mapping[str, Any]] = []
    shares = False
    if count:
        pool, shares = _pool(keys, config.data, splits, process, rows, split, functions)
        wanted = count + (1 if shares else 0)
        if wanted > len(pool):
            message = (
                f"num_fewshot {count}: {wanted} examples are needed, {len(pool)} there"
            )
            raise keys.fail(message, "num_fewshot")
    return Shots(
        count=count,
        pool=tuple(pool),
        docs=own,
        sampler=config.choice("sampler", _SAMPLERS),
        target_delimiter=str(texts.get("target_delimiter", " ")),
        delimiter=str(texts.get("fewshot_delimiter", "\n\n")),
        shares_split=shares,
    )


def _pool(
    keys: Keys,
    config: Mapping[str, Any],
    splits: Splits,
    process: Any,
    rows: Dataset,
    split: str,
    functions: Functions,
) -> tuple[list[Mapping[str, Any]], bool]:
    """Return the rows to choose from, and whether they are those that are evaluated."""
    if "split" in config:
        keys = _with_split(keys, config["split"])
    samples = config.get("samples")
    if not keys.data.get("fewshot_split") and samples is not None:
        if isinstance(samples, FunctionName):
            samples = functions.resolved(samples)()
        if not isinstance(samples, list) or not all(
            isinstance(one, Mapping) for one in samples
        ):
            message = "fewshot_config: samples is a list of rows"
            raise keys.fail(message, "fewshot_config", "samples")
        return [plain(one) for one in samples], False
    names = ("fewshot_split", "training_split", "validation_split", "test_split")
    key = next(name for name in names if keys.data.get(name))
    if keys.data[key] == keys.data[split]:
        return list(rows), True
    found = splits.get(key)
    try:
        return list(process(found) if process is not None else found), False
    except Exception as exc:
        message = f"process_docs raised {type(exc).__name__}: {exc}"
        raise keys.fail(message, "process_docs") from exc


def _with_split(keys: Keys, split: Any) -> Keys:
    from dataclasses import replace

    return replace(keys, data={**keys.data, "fewshot_split": split})
