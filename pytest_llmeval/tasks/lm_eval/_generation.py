"""How a task's answers are generated: parameters, stop texts, repeats."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.config import plain
from pytest_llmeval.errors import EvaluationWarning, did_you_mean
from pytest_llmeval.tasks.lm_eval._include import Keys

__all__ = ["GENERATION_KEYS", "Generation", "read_generation"]

_LENGTHS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens")
_SENT: Final = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty"),
)
_DEFAULT: Final = {"max_gen_toks": 256, "do_sample": False, "temperature": 0.0}
GENERATION_KEYS: Final = ("until", "do_sample", *_LENGTHS, *_SENT, "num_beams")
#: More, and servers refuse the request; what they don't see is cut here.
_MOST_STOPS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How answers are generated."""

    until: tuple[str, ...]
    """Texts at which an answer ends; they are no part of it."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """What is sent with the prompt."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """As the task says it, for logs."""
    repeats: int = 1

    is_compatible: bool = False
    """Whether a stop text that is not sent is none, as in lm-evaluation-harness."""

    def cut(self, text: str) -> str:
        """Return an answer up to the first stop text: not every server stops there."""
        stops = [stop for stop in self.until if stop]
        for stop in stops[:_MOST_STOPS] if self.is_compatible else stops:
            text = text.split(stop)[0]
        return text


def read_generation(keys: Keys, delimiter: str, over: Mapping[str, Any]) -> Generation:
    """Return what generation_kwargs and repeats say.

    Args:
        keys: What the task says.
        delimiter: Between worked examples: where an answer ends if nothing else is said.
        over: Of the command line, laid over generation_kwargs.

    Raises:
        ConfigError: A key or value can't be used.
    """
    given = keys.data.get("generation_kwargs")
    if given is None:
        given = {**_DEFAULT, "until": [delimiter]}
    elif not isinstance(given, Mapping):
        message = f"generation_kwargs is a mapping, not {given!r:.60}"
        raise keys.fail(message, "generation_kwargs")
    given = {name: plain(value) for name, value in {**given, **over}.items()}
    _check_names(keys, given)
    until = _until(keys, given.get("until"), delimiter)
    return Generation(
        until=until,
        params=_params(keys, given, until),
        repeats=keys.section("repeats").whole("repeats", least=1) or 1,
        given={**given, "until": list(until)},
    )


def _check_names(keys: Keys, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in GENERATION_KEYS:
            message = (
                f"generation_kwargs: {name!r} is not known"
                f"{did_you_mean(name, GENERATION_KEYS)}; known: {', '.join(GENERATION_KEYS)}. What only "
                f"your server knows stands in params of its entry in llmeval.yaml"
            )
            raise keys.fail(message, "generation_kwargs", name)
        if name == "num_beams" and value != 1:
            message = (
                f"{keys.top.shown}: generation_kwargs: num_beams {value} has no effect: "
                f"servers search no beams"
            )
            warnings.warn(message, EvaluationWarning, stacklevel=2)


def _until(keys: Keys, value: Any, delimiter: str) -> tuple[str, ...]:
    if value is None:
        return (delimiter,)
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(one, str) for one in stops):
        message = (
            f"generation_kwargs: until is a text or a list of texts, not {value!r}"
        )
        raise keys.fail(message, "generation_kwargs", "until")
    return tuple(stops)


def _params(
    keys: Keys, given: Mapping[str, Any], until: tuple[str, ...]
) -> dict[str, Any]:
    samples = given.get("do_sample", False)
    if not isinstance(samples, bool):
        message = f"generation_kwargs: do_sample is true or false, not {samples!r}"
        raise keys.fail(message, "generation_kwargs", "do_sample")
    params = {name: _number(keys, name, given[name]) for name in _SENT if name in given}
    if not samples:
        params.setdefault("temperature", 0.0)
    for name in _LENGTHS:
        if name in given:
            params["max_tokens"] = _number(keys, name, given[name])
    if stops := [stop for stop in until if stop][:_MOST_STOPS]:
        params["stop"] = stops
    return params


def _number(keys: Keys, name: str, value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"generation_kwargs: {name} is a number"
        raise keys.fail(message, "generation_kwargs", name)
    return value
