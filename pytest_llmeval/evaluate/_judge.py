"""The judge: from a reply and its case to a verdict, from two replies to a settled pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval import judging
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.evaluate._generator import Generator
from pytest_llmeval.evaluate._given import not_awaited, reply_text
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Case, Pairwise, Prompt, Response, Verdict, as_text

__all__ = ["Judge", "as_judge"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Judge:
    """Gives verdicts on replies, asking a model."""

    client: Generator

    def __call__(
        self,
        response: Any,
        case: Case,
        *,
        rubric: str | None = None,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Return the verdict on a reply.

        Args:
            response: The reply under test.
            case: Its row: question, context and reference come from it.
            rubric: What a passing reply does, in a sentence or two; without one it
                answers the question, in agreement with the reference where there is one.
            template: A template of your own (text or path) instead of ours.
            inputs: Further variables of the template.

        Raises:
            ConfigError: The judge can't be asked this.
            UnscoredError: There is no reply, or the judge could not be asked.
        """
        __tracebackhide__ = True
        question = self.acall(
            response, case, rubric=rubric, template=template, inputs=inputs
        )
        return self.client.loop.run(
            question, instead="await judge.acall(...), whose verdict assert_judge takes"
        )

    async def acall(
        self,
        response: Any,
        case: Case,
        *,
        rubric: str | None = None,
        template: Any = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Return the verdict, awaited: the same as a call, for ``async def`` bodies."""
        __tracebackhide__ = True
        _check_rubric(rubric)
        material = _material(case)
        return await judging.judge_reply(
            self._ask,
            response=reply_text(response, case),
            rubric=rubric,
            template=self._loaded(template),
            inputs=_checked_inputs(inputs),
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
        consistency: bool = True,
    ) -> Pairwise:
        """Return how a reply stands against another, asked in both orders.

        Args:
            response: The reply under test.
            case: Its row.
            against: The other reply, a text or a Response.
            template: A template of your own (text or path) instead of ours.
            inputs: Further variables of the template.
            score_map: The judge's labels and their values; a higher one favours
                Response B, which is the reply under test in the first order.
            mirror: What each label means with the replies swapped, where it isn't
                plain.
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
            consistency=consistency,
        )
        return self.client.loop.run(
            question, instead="await judge.acompare(...), which assert_pairwise takes"
        )

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
        consistency: bool = True,
    ) -> Pairwise:
        """Return how a reply stands against another, awaited."""
        __tracebackhide__ = True
        material = _material(case)
        return await judging.compare_replies(
            self._ask,
            response=reply_text(response, case),
            against=reply_text(against, case, "against"),
            template=self._loaded(template),
            inputs=_checked_inputs(inputs),
            score_map=score_map,
            mirror=mirror,
            consistency=consistency,
            **material,
        )

    def __repr__(self) -> str:
        return "<judge>"

    def _loaded(self, template: Any) -> Template | None:
        return None if template is None else self.client.load(template)

    async def _ask(self, prompt: Prompt, schema: Mapping[str, Any]) -> Response:
        try:
            return await self.client.acall(prompt, sample=0, schema=schema)
        except UnscoredError as exc:
            # Whoever failed, it was on the judge's side: the reply is not to blame.
            message = f"the judge could not be asked: {exc.reason}"
            cause = "recording" if exc.cause == "recording" else "judge"
            raise UnscoredError(message, cause=cause) from exc


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


def _check_rubric(rubric: Any) -> None:
    if rubric is not None and not (isinstance(rubric, str) and rubric.strip()):
        message = f"a rubric says what a passing reply does, and {rubric!r} doesn't"
        raise ConfigError(message)


def _checked_inputs(inputs: Any) -> Mapping[str, Any] | None:
    if inputs is None or isinstance(inputs, Mapping):
        return inputs
    message = f"inputs are a mapping of a template's variables, not {inputs!r:.80}"
    raise ConfigError(message)


def _material(case: Any) -> dict[str, Any]:
    """Return what a judge is shown of a case."""
    if not isinstance(case, Case):
        message = (
            f"a judge is given a reply and its case (which has the question), and "
            f"{case!r:.80} is no case"
        )
        raise ConfigError(message)
    return {
        "question": _question_of(case),
        "reference": _listed(case.expected),
        "context": _listed(case.context),
    }


def _question_of(case: Case) -> str:
    """Return a case's input as text: chat messages with their roles named."""
    value = case.input
    if isinstance(value, list) and value and all(isinstance(m, Mapping) for m in value):
        return "\n\n".join(
            f"{m.get('role', 'message')}: {as_text(m.get('content'))}" for m in value
        )
    return as_text(value)


def _listed(value: Any) -> str | None:
    """Return a value as text, of a list each item on a line of its own."""
    if value is None:
        return None
    return "\n".join(map(as_text, value)) if isinstance(value, list) else as_text(value)
