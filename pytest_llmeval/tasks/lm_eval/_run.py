"""What is asked for a row, and how its answers are scored."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.tasks.lm_eval._choice_scores import choice_scores, choices_asked
from pytest_llmeval.tasks.lm_eval._filters import Pipeline
from pytest_llmeval.tasks.lm_eval._generation import Generation
from pytest_llmeval.tasks.lm_eval._plan import Plan
from pytest_llmeval.tasks.lm_eval._samples import log_line
from pytest_llmeval.tasks.lm_eval._scores import (
    CORPUS,
    Metric,
    no_score,
    perplexity_score,
    text_scores,
    value_score,
)
from pytest_llmeval.types import Check, Message, Prompt, Score

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
    resamples: int = 1000
    """For standard errors that are found by drawing rows anew."""
    min_characters: int = 0
    """Of reply and target; a row with fewer has no values."""
    is_compatible: bool = False
    """Whether all is as in lm-evaluation-harness, what it distorts included."""

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
                _prompt(plan), optional=self.generation.params, sample=index
            )
            replies.append(self.generation.cut(response.text))
        for pipeline in self.pipelines:
            value = pipeline.applied(list(replies), plan.row)
            if self.process_results is not None:
                scores = self._own(plan, [value])
            else:
                scores = self._scored(value, plan.gold)
            self._keep(plan, pipeline.name, scores, [replies], [value])
        return replies[0]

    def _scored(self, answer: Any, gold: Any) -> list[tuple[Metric, Score]]:
        """Return the scores of an answer by the task's metrics."""
        __tracebackhide__ = True
        if reason := self._too_short(answer, gold):
            return [(metric, no_score(metric, reason)) for metric in self.metrics]
        scores = []
        for metric in self.metrics:
            scores += text_scores(metric, answer, gold)
            if self.is_compatible and metric.name == "exact_match":
                # There, it leaves a list to the metrics after it.
                answer = [answer] * len(gold) if isinstance(gold, list) else answer
        return scores

    def _too_short(self, answer: Any, gold: Any) -> str:
        """Return why a row has no values, an empty text where it has."""
        golds = gold if isinstance(gold, list) else [gold]
        longest = max((len(str(one)) for one in golds), default=0)
        for what, length in (("reply", len(str(answer))), ("target", longest)):
            if length < self.min_characters:
                return (
                    f"the {what} has {length} characters, and a row is scored from "
                    f"{self.min_characters}"
                )
        return ""

    def _choose(self, plan: Plan, generator: Any) -> None:
        __tracebackhide__ = True
        asked = choices_asked(plan, self.metrics)
        found = generator.loglikelihoods(asked)
        results = [[one.logprob, one.is_greedy] for one in found]
        if self.process_results is not None:
            scores = self._own(plan, [tuple(one) for one in results])
        else:
            scores = choice_scores(self.metrics, found, plan)
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
            check = _check(score, metric, pipeline, self.resamples)
            sample.add_check(replace(check, row=plan.number))
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
            prompt = _prompt(plan)
            shown = prompt if isinstance(prompt, str) else json.dumps(
                prompt.to_json(), ensure_ascii=False)  # fmt: skip
            return [(shown, dict(self.generation.given))]
        if self.output_type == "loglikelihood_rolling":
            return [(plan.continuations[0],)]
        if self.output_type == "multiple_choice":
            return list(choices_asked(plan, self.metrics))
        return [(plan.contexts[0], plan.continuations[0])]


def _prompt(plan: Plan) -> str | Prompt:
    """Return what a row asks: a text, or messages of a chat."""
    if not plan.messages:
        return plan.contexts[0]
    messages = (Message(role=role, content=text) for role, text in plan.messages)
    return Prompt(messages=tuple(messages))


def _check(score: Score, metric: Metric, pipeline: str, resamples: int) -> Check:
    """Return a score under lm-evaluation-harness's key; it is held against nothing."""
    check = score.check(">=", 0, name=f"{metric.name},{pipeline}")
    is_corpus = metric.aggregation in CORPUS
    return replace(
        check,
        threshold=None,
        passed=None,
        metric=metric.name,
        aggregation="pooled" if is_corpus else metric.aggregation,
        item=score.details.get("item") if metric.keeps_items else None,
        # Texts are slow to compare again and again, so it limits them by name.
        resamples=min(resamples, 100) if metric.name in CORPUS else resamples,
    )
