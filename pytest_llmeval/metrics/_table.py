"""Metrics by name: the built-in ones, and what is found under a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.metrics._base import Declaration
from pytest_llmeval.types import Case, Score

__all__ = ["HELPERS", "MODULES", "Metric"]

#: Metric to module. The module has the function under the metric's name, its
#: `Declaration` under the same in capitals, and ``explain(score)``.
MODULES: Final[Mapping[str, str]] = {
    "bertscore": "_bertscore",
    "bits_per_byte": "_perplexity",
    "bleu": "_sacrebleu",
    "bleurt": "_bertscore",
    "choice": "_choice",
    "choice_loglik": "_loglik",
    "chrf": "_sacrebleu",
    "contains": "_contains",
    "exact": "_exact",
    "exact_match": "_exact_match",
    "f1": "_f1",
    "json": "_json",
    "joint_f1": "_supporting_facts",
    "levenshtein": "_levenshtein",
    "math": "_math",
    "number": "_number",
    "perplexity": "_perplexity",
    "prefers": "_loglik",
    "regex": "_regex",
    "rouge1": "_rouge",
    "rouge2": "_rouge",
    "rougeL": "_rouge",
    "similarity": "_similarity",
    "ter": "_sacrebleu",
    "starts_with": "_starts_with",
    "supporting_facts": "_supporting_facts",
    "tool_calls": "_tool_calls",
}
#: What else users import from here, to its module.
HELPERS: Final[Mapping[str, str]] = {
    "ChoiceReading": "_choice_reading",
    "hotpot_scores": "_supporting_facts",
    "read_choices": "_choice_reading",
    "token_f1": "_token_f1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric as it is found by its name."""

    declaration: Declaration
    function: Callable[..., Score]

    @property
    def name(self) -> str:
        """Its name."""
        return self.declaration.name

    def __call__(self, response: Any, expected: Any, **options: Any) -> Score:
        try:
            return self.function(response, expected, **options)
        except TypeError:
            self.check_options(options)
            raise

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the metric hasn't.

        Raises:
            ConfigError: There is one; the text has those there are.
        """
        parameters = signature(self.function).parameters.values()
        known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY][2:]
        for option in options:
            if option not in (names := [*positional, *known]):
                message = (
                    f"{self.name} has no option {option!r}{did_you_mean(option, names)}"
                    f"; it has: {', '.join(names) or 'none'}"
                )
                raise ConfigError(message)

    def check_values(self, options: Mapping[str, Any]) -> None:
        """Refuse values of options that no reply could be scored with.

        Every built-in metric looks at its options before it looks at the reply: one
        without a reply is enough. Of a user's own nothing is known; what asks a model
        has none here.

        Raises:
            ConfigError: A value can't be used.
            MissingExtraError: It needs an extra that isn't installed.
        """
        if options and self.name in MODULES and self.declaration.takes != "model":
            self(None, _ANY_CASE, **options)


#: Has what every metric reads of a row.
_ANY_CASE: Final = Case(id="any", expected="A", choices=("yes", "no"))
