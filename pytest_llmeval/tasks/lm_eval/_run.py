"""What is asked for a row, and how its answers are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.tasks.lm_eval._filters import Pipeline
from pytest_llmeval.tasks.lm_eval._generation import Generation
from pytest_llmeval.tasks.lm_eval._plan import Plan
from pytest_llmeval.tasks.lm_eval._samples import log_line
from pytest_llmeval.tasks.lm_eval._scores import (
    Metric,
    choice_scores,
    choices_asked,
    perplexity_score,
    text_score,
    value_score,
)
from pytest_llmeval.types import Check, Score

__all__ = ["Runner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Asks and scores the rows of a task."""

    output_type: str
    generation: Generation
    pipelines: tuple[Pipeline, ...]
    metrics: tuple[Metric, ...]
    process_results: Callable[..., Any] | None = None
    logs_samples: bool = False

    def run(self, plan: Plan, generator: Any) -> str | None:
        """Ask for a row and keep its scores.

        Returns:
            The reply, the first of several; None where none was asked for.

        Raises:
            UnscoredError: It could not be scored.
        """
        __tracebackhide__ = True
        if self.output_type == "generate_until":
            return self._generate(plan, generator)
        if self.output_type == "multiple_choice":
            self._choose(plan, generator)
        else:
            self._weigh(plan, generator)
        return None

    def _generate(self, plan: Plan, generator: Any) -> str:
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
                scores = self._own(plan, [value])
            else:
                scores = [(m, text_score(m, value, plan.gold)) for m in self.metrics]
            self._keep(plan, pipeline.name, scores, [replies], [value])
        return replies[0]

    def _choose(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        alone = any(metric.name == "acc_mutual_info" for metric in self.metrics)
        asked = choices_asked(plan.contexts, plan.continuations, alone=alone)
        found = generator.loglikelihoods(asked)
        results = [[one.logprob, one.is_greedy] for one in found]
        if self.process_results is not None:
            scores = self._own(plan, [tuple(one) for one in results])
        else:
            made = choice_scores(self.metrics, found, plan.choices, plan.gold)
            scores = list(zip(self.metrics, made, strict=True))
        name = self.pipelines[0].name
        self._keep(plan, name, scores, [[one] for one in results], results)

    def _weigh(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        text = plan.continuations[0]
        result: Any
        if self.output_type == "loglikelihood":
            found = generator.loglikelihood(plan.contexts[0], text)
            result = (found.logprob, found.is_greedy)
        else:
            found = generator.loglikelihood_rolling(text)
            result = found.logprob
        if self.process_results is not None:
            scores = self._own(plan, [result])
        else:
            scores = [(m, perplexity_score(m, found, text)) for m in self.metrics]
        self._keep(plan, self.pipelines[0].name, scores, [[result]], [result])

    def _own(self, plan: Plan, results: Sequence[Any]) -> list[tuple[Metric, Score]]:
        """Return the values that the task's own process_results gives."""
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
        metrics = [known.get(name, Metric(name=name)) for name in found]
        return [(m, value_score(m, found[m.name])) for m in metrics]

    def _keep(
        self,
        plan: Plan,
        pipeline: str,
        scores: Sequence[tuple[Metric, Score]],
        replies: Sequence[Any],
        filtered: Sequence[Any],
    ) -> None:
        """Keep the scores of a pipeline in the case's record, and a line for the log."""
        sample = current_sample()
        if sample is None:
            return
        for metric, score in scores:
            sample.add_check(_check(score, metric, pipeline))
        if self.logs_samples:
            values = {
                metric.name: score.details.get("item", score.value)
                for metric, score in scores
            }
            line = log_line(plan, self.arguments(plan), pipeline, replies, filtered)
            # lm-evaluation-harness adds the one that asks more questions last.
            names = sorted(values, key=lambda name: name == "acc_mutual_info")
            sample.logged.append({**line, "metrics": names, **values})

    def arguments(self, plan: Plan) -> list[tuple[Any, ...]]:
        """Return what is asked for a row, as lm-evaluation-harness has it in its logs."""
        if self.output_type == "generate_until":
            return [(plan.contexts[0], dict(self.generation.given))]
        if self.output_type == "loglikelihood_rolling":
            return [(plan.continuations[0],)]
        alone = any(metric.name == "acc_mutual_info" for metric in self.metrics)
        asked = choices_asked(plan.contexts, plan.continuations, alone=alone)
        return list(asked)


def _check(score: Score, metric: Metric, pipeline: str) -> Check:
    """Return a score under lm-evaluation-harness's key; it is held against nothing."""
    check = score.check(">=", 0, name=f"{metric.name},{pipeline}")
    return replace(
        check,
        threshold=None,
        passed=None,
        metric=metric.name,
        aggregation=metric.aggregation if score.pool is None else "pooled",
    )
