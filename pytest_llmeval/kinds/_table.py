"""The kinds, and the names under which users of DataFlow know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["KINDS", "Kind", "kind_named"]

_CONTEXT: Final = """\
{% if context is defined and context %}Context:
{% if context is string %}{{ context }}{% else %}{{ context | join('\\n') }}{% endif %}

{% endif %}"""
_QUESTION: Final = f"""\
{_CONTEXT}Question:
{{{{ question }}}}
"""
_ANSWER: Final = f"{_QUESTION}\nAnswer:"
#: `exact` holds for a short reply alone.
_SHORT_ANSWER: Final = (
    f"{_QUESTION}\nReply with the answer alone, in as few words as it takes.\nAnswer:"
)
_CHOICES: Final = f"""\
{_QUESTION}
Choices:
{{{{ choices_text }}}}

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of case."""

    name: str
    alias: str
    """DataFlow's name."""
    holds: str
    """What a row holds, for a person."""
    metric: str
    """By default."""
    threshold: float | None
    """By default; None records the value and holds it against nothing."""
    prompt: str | None = None
    """A template; None: the kind has no question to be answered."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns read before the usual ones, by the case's field."""


_ALL: Final = (
    Kind(
        name="text",
        alias="key1_text_score",
        holds="a text",
        metric="perplexity",
        threshold=None,
        columns={"input": ("text",)},
    ),
    Kind(
        name="qa",
        alias="key2_qa",
        holds="a question and the expected answer",
        metric="exact",
        threshold=1.0,
        prompt=_SHORT_ANSWER,
        columns={"expected": ("target",)},
    ),
    Kind(
        name="qa_multi",
        alias="key2_q_ma",
        holds="a question and a list of acceptable answers",
        metric="exact",
        threshold=1.0,
        prompt=_SHORT_ANSWER,
        columns={"expected": ("targets",)},
    ),
    Kind(
        name="choice",
        alias="key3_q_choices_a",
        holds="a question, choices, and the label of the right one",
        metric="choice",
        threshold=1.0,
        prompt=f"{_CHOICES}Reply with the letter of the right choice and nothing else."
        "\nAnswer:",
    ),
    Kind(
        name="choice_multi",
        alias="key3_q_choices_as",
        holds="a question, choices, and the labels of the right ones",
        metric="choice",
        threshold=1.0,
        prompt=f"{_CHOICES}Any number of choices may be right. Reply with the letters of "
        'all right ones as JSON and nothing else, like {"choices": ["A", "C"]}.'
        "\nAnswer:",
    ),
    Kind(
        name="preference",
        alias="key3_q_a_rejected",
        holds="a question, the better answer and the rejected one",
        metric="prefers",
        threshold=1.0,
        prompt=_ANSWER,
        columns={"better": ("better", "chosen")},
    ),
)
KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ALL}
_ALIASES: Final = {kind.alias: kind for kind in _ALL}


def kind_named(name: Any) -> Kind:
    """Return the kind of that name, DataFlow's names included.

    Raises:
        ConfigError: There is none; the text has the names there are.
    """
    found = KINDS.get(name) or _ALIASES.get(name) if isinstance(name, str) else None
    if found is not None:
        return found
    message = (
        f"there is no kind {name!r}{did_you_mean(str(name), [*KINDS, *_ALIASES])}; "
        f"there are: {', '.join(KINDS)}"
    )
    raise ConfigError(message)
