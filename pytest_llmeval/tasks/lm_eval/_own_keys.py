"""metadata.llmeval: what lm-evaluation-harness has no key for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from pytest_llmeval.config import Section
from pytest_llmeval.kinds import KindUse, kind_use
from pytest_llmeval.tasks._checks import TaskCheck, read_checks
from pytest_llmeval.tasks._marks import kind_of, marker_keywords, share_of
from pytest_llmeval.tasks._task import TaskOptions
from pytest_llmeval.tasks.lm_eval._include import Keys

__all__ = ["OWN_KEYS", "OwnKeys", "read_own_keys"]

_MARKER: Final = (
    *("generator", "judge", "kind", "gate", "limit", "concurrency", "repeat"),
    "min_sample_rate",
)
OWN_KEYS: Final = (
    *_MARKER,
    *("columns", "assert", "compat", "bootstrap_iters", "min_characters"),
    *("system_instruction", "apply_chat_template", "fewshot_as_multiturn"),
)
#: lm-evaluation-harness's takes a hundred times as long, for a third digit.
_RESAMPLES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKeys:
    """What metadata.llmeval and the options say beside the task."""

    keywords: Mapping[str, Any] = field(default_factory=dict)
    """What the llmeval marker of a test function would say."""
    checks: tuple[TaskCheck, ...] = ()
    """Of each row's reply; the kind's own is the first."""
    columns: Any = None
    """Where our fields stand in rows."""
    kind: KindUse | None = None
    """Of the rows."""
    is_compatible: bool = False
    """Whether everything is as in lm-evaluation-harness, what it distorts included."""
    resamples: int = _RESAMPLES
    """For standard errors; 0 for none."""
    min_characters: int = 0
    """Of reply and target; a row with fewer has no values."""
    share: float | None = None
    """The share of the rows that is evaluated."""
    section: Section
    """For the places in error texts."""
    system: str | None = None
    """Stands before the description."""
    chat: Literal["message", "turns"] | None = None
    """How prompts are sent that are no single text: worked examples in the user's
    message, or as turns."""


def read_own_keys(keys: Keys, path: Path, options: TaskOptions) -> OwnKeys:
    """Return what metadata.llmeval says; options outweigh it.

    Raises:
        UserError: A key or value can't be used.
    """
    metadata = keys.section("metadata").section("metadata", "metadata")
    own = metadata.section("llmeval", "metadata.llmeval")
    own.only(OWN_KEYS)
    checks = read_checks(own, base=path.parent, root=options.root)
    use = None if (named := kind_of(own)) is None else kind_use(named)
    if use is not None:
        checks = (TaskCheck(name="case", options={}), *checks)
    kind = keys.data.get("output_type", "generate_until")
    if checks and kind != "generate_until":
        key = "assert" if own.data.get("assert") else "kind"
        message = f"{key} is about replies, and {kind} asks for none"
        raise own.fail(message, key)
    resamples = own.whole("bootstrap_iters", least=0)
    marker = {name: own.data[name] for name in _MARKER if name in own.data}
    return OwnKeys(
        keywords=marker_keywords(replace(own, data=marker)),
        checks=checks,
        columns=own.data.get("columns"),
        kind=use,
        is_compatible=_is_compatible(own),
        min_characters=own.whole("min_characters", least=1) or 0,
        share=share_of(own),
        section=own,
        resamples=_RESAMPLES if resamples is None else resamples,
        system=options.system_instruction or own.text("system_instruction"),
        chat=_chat(own, options),
    )


def _is_compatible(own: Section) -> bool:
    compat = own.data.get("compat")
    if compat not in {None, "lm_eval"}:
        message = f"compat is lm_eval, or left out, not {compat!r}"
        raise own.fail(message, "compat")
    return compat is not None


def _chat(own: Section, options: TaskOptions) -> Literal["message", "turns"] | None:
    is_chat = options.apply_chat_template or own.flag("apply_chat_template")
    turns = options.fewshot_as_multiturn
    if turns is None:
        turns = own.flag("fewshot_as_multiturn")
    # As lm-evaluation-harness has it: a chat, unless said otherwise, of turns.
    if not is_chat and not turns:
        return None
    return "message" if turns is False else "turns"
