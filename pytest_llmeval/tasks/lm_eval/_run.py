"""What is asked for a row, and how its answers are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.tasks.lm_eval._docs import Row
from pytest_llmeval.tasks.lm_eval._filters import Pipeline
from pytest_llmeval.tasks.lm_eval._generation import Generation
from pytest_llmeval.tasks.lm_eval._scores import (
    Metric,
    choice_scores,
    choices_asked,
    perplexity_score,
    text_score,
    value_score,
)
from pytest_llmeval.types import Case, Score

__all__ = ["Plan", "Runner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked for one row."""

    row: Row
    contexts: tuple[str, ...]
    """What stands before the answer; one for each choice."""
    continuations: tuple[str, ...] = ()
    """The texts whose likelihood is asked for."""
    choices: tuple[str, ...] = ()
    gold: Any = None
    """The expected text or texts; of choices their positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Asks and scores the rows of a task."""

    output_type: str
    generation: Generation
    pipelines: tuple[Pipeline, ...]
    metrics: tuple[Metric, ...]
    process_results: Callable[..., Any] | None = None

    def run(self, plan: Plan, case: Case, generator: Any) -> None:
        """Ask for a row and keep its scores.

        Raises:
            UnscoredError: It could not be scored.
        """
        __tracebackhide__ = True
        del case  # the running one: who reads a column finds it
        if self.output_type == "generate_until":
            self._generate(plan, generator)
        elif self.output_type == "multiple_choice":
            self._choose(plan, generator)
        else:
            self._weigh(plan, generator)

    def _generate(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        replies = []
        for index in range(self.generation.repeats):
            response = generator(
                plan.contexts[0], optional=self.generation.params, sample=index
            )
            replies.append(self.generation.cut(response.text))
        for pipeline in self.pipelines:
            value = pipeline.applied(list(replies), plan.row)
            if self.process_results is not None:
                self._own(plan, [value], pipeline.name)
                continue
            for metric in self.metrics:
                _keep(text_score(metric, value, plan.gold), metric, pipeline.name)

    def _choose(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        alone = any(metric.name == "acc_mutual_info" for metric in self.metrics)
        asked = choices_asked(plan.contexts, plan.continuations, alone=alone)
        found = generator.loglikelihoods(asked)
        if self.process_results is not None:
            results = [(one.logprob, one.is_greedy) for one in found]
            self._own(plan, results, self.pipelines[0].name)
            return
        scores = choice_scores(self.metrics, found, plan.choices, plan.gold)
        for metric, score in zip(self.metrics, scores, strict=True):
            _keep(score, metric, self.pipelines[0].name)

    def _weigh(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        text = plan.continuations[0]
        if self.output_type == "loglikelihood":
            found = generator.loglikelihood(plan.contexts[0], text)
        else:
            found = generator.loglikelihood_rolling(text)
        name = self.pipelines[0].name
        if self.process_results is not None:
            is_rolling = self.output_type == "loglikelihood_rolling"
            result = found.logprob if is_rolling else (found.logprob, found.is_greedy)
            self._own(plan, [result], name)
            return
        for metric in self.metrics:
            _keep(perplexity_score(metric, found, text), metric, name)

    def _own(self, plan: Plan, results: Sequence[Any], pipeline: str) -> None:
        """Keep the values that the task's own process_results gives."""
        __tracebackhide__ = True
        assert self.process_results is not None
        try:
            found = self.process_results(dict(plan.row), list(results))
        except Exception as exc:
            message = f"process_results raised {type(exc).__name__}: {exc}"
            raise UnscoredError(message, cause="application") from exc
        if not isinstance(found, Mapping) or not found:
            message = f"process_results gave {found!r:.80}, not {{metric: value}}"
            raise UnscoredError(message, cause="application")
        known = {metric.name: metric for metric in self.metrics}
        for name, value in found.items():
            metric = known.get(name, Metric(name=name))
            _keep(value_score(metric, value), metric, pipeline)


def _keep(score: Score, metric: Metric, pipeline: str) -> None:
    """Keep a score under lm-evaluation-harness's key; it is held against nothing."""
    sample = current_sample()
    check = score.check(">=", 0, name=f"{metric.name},{pipeline}")
    check = replace(
        check,
        threshold=None,
        passed=None,
        metric=metric.name,
        aggregation=metric.aggregation if score.pool is None else "pooled",
    )
    if sample is not None:
        sample.add_check(check)
