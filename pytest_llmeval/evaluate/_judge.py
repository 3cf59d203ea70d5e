"""The judge: from a reply and its case to a verdict, from two replies to a settled pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval import judging
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate._awaited import awaited
from pytest_llmeval.evaluate._generator import Generator
from pytest_llmeval.evaluate._given import not_awaited, reply_text
from pytest_llmeval.evaluate._jurors import jurors_of
from pytest_llmeval.evaluate._material import (
    checked_inputs,
    checked_rubric,
    checked_votes,
    material_of,
)
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Case, Pairwise, Response, Verdict

__all__ = ["Judge", "as_judge"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Judge:
    """Gives verdicts on replies, asking a model, or each model of a panel."""

    client: Generator

    def __call__(
        self,
        response: Any,
        case: Case,
        *,
        rubric: str | None = None,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
        score_map: Mapping[str, float] | None = None,
        language: str = "en",
        votes: int = 1,
    ) -> Verdict:
        """Return the verdict on a reply.

        Args:
            response: The reply under test.
            case: Its row: question, context and reference come from it.
            rubric: What a passing reply does, in a sentence or two; without one it
                answers the question, in agreement with the reference where there is one.
            template: A template of your own (text or path) instead of ours.
            inputs: Further variables of the template.
            score_map: Labels and their values, to be chosen from in place of PASS and
                FAIL.
            language: Of the request for a verdict that a reply lacks: en, ja, de.
            votes: How many times each judge is asked; more than half decide.

        Raises:
            ConfigError: The judge can't be asked this.
            UnscoredError: There is no reply, or the judge could not be asked.
        """
        __tracebackhide__ = True
        question = self.acall(
            response,
            case,
            rubric=rubric,
            template=template,
            inputs=inputs,
            score_map=score_map,
            language=language,
            votes=votes,
        )
        return self.client.loop.run(
            question, instead="await judge.acall(...), whose verdict assert_judge takes"
        )

    @awaited
    async def acall(
        self,
        response: Any,
        case: Case,
        *,
        rubric: str | None = None,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
        score_map: Mapping[str, float] | None = None,
        language: str = "en",
        votes: int = 1,
    ) -> Verdict:
        """Return the verdict, awaited: the same as a call, for ``async def`` bodies."""
        __tracebackhide__ = True
        rubric = checked_rubric(rubric)
        material = material_of(case)
        return await judging.judge_reply(
            jurors_of(self.client),
            response=reply_text(response, case),
            rubric=rubric,
            template=self._loaded(template),
            inputs=checked_inputs(inputs),
            score_map=score_map,
            language=language,
            votes=checked_votes(votes),
            **material,
        )

    def compare(
        self,
        response: Any,
        case: Case,
        *,
        against: Any,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
        score_map: Mapping[str, float] | None = None,
        mirror: Mapping[str, str] | None = None,
        language: str = "en",
        consistency: bool = True,
    ) -> Pairwise:
        """Return how a reply stands against another, asked in both orders.

        Args:
            response: The reply under test.
            case: Its row.
            against: The other reply, a text or a Response.
            template: A template of your own (text or path) instead of ours.
            inputs: Further variables of the template; a pair ``(of A, of B)`` swaps
                with the replies.
            score_map: The judge's labels and their values; a higher one favours
                Response B, which is the reply under test in the first order.
            mirror: What each label means with the replies swapped, where it isn't
                plain.
            language: Of the request for a label that a reply lacks: en, ja, de.
            consistency: Ask in both orders; False asks once.

        Raises:
            ConfigError: The judge can't be asked this.
            UnscoredError: A reply is missing.
        """
        __tracebackhide__ = True
        question = self.acompare(
            response,
            case,
            against=against,
            template=template,
            inputs=inputs,
            score_map=score_map,
            mirror=mirror,
            language=language,
            consistency=consistency,
        )
        return self.client.loop.run(
            question, instead="await judge.acompare(...), which assert_pairwise takes"
        )

    @awaited
    async def acompare(
        self,
        response: Any,
        case: Case,
        *,
        against: Any,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
        score_map: Mapping[str, float] | None = None,
        mirror: Mapping[str, str] | None = None,
        language: str = "en",
        consistency: bool = True,
    ) -> Pairwise:
        """Return how a reply stands against another, awaited."""
        __tracebackhide__ = True
        material = material_of(case)
        return await judging.compare_replies(
            jurors_of(self.client),
            response=reply_text(response, case),
            against=reply_text(against, case, "against"),
            source=_sources(response),
            against_source=_sources(against),
            template=self._loaded(template),
            inputs=checked_inputs(inputs),
            score_map=score_map,
            mirror=mirror,
            language=language,
            consistency=consistency,
            **material,
        )

    def __repr__(self) -> str:
        return "<judge>"

    def _loaded(self, template: Any) -> Template | None:
        return None if template is None else self.client.load(template)


def as_judge(judge: Any) -> Judge:
    """Return a judge that asks `judge`: one already, or any client of ours.

    Raises:
        ConfigError: It can't be asked.
    """
    __tracebackhide__ = True
    if isinstance(judge, Judge):
        return judge
    if isinstance(judge, Generator):
        # Under the role of a judge: what it is asked is no prompt of the test's.
        return Judge(client=replace(judge, role="judge"))
    message = not_awaited(judge, "judge") or (
        f"{judge!r:.80} can't judge: give the judge fixture, a client made by "
        f"llm_client(...), or what judge.acall(...) returned"
    )
    raise ConfigError(message)


def _sources(reply: Any) -> str | None:
    """Return the passages that an application says its reply rests on."""
    if isinstance(reply, Response) and reply.sources:
        return "\n".join(reply.sources)
    return None
