"""Asking a judge about one reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_llmeval.judging._material import default_template, judge_prompt
from pytest_llmeval.judging._verdict import printable, read_verdict
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Prompt, Response, Verdict

__all__ = ["Ask", "judge_reply", "problem_of"]

#: Asks the judge's model, which may take the schema; raises UnscoredError when it
#: can't be asked.
Ask = Callable[[Prompt, Mapping[str, Any]], Awaitable[Response]]

#: The reason first: a model that has to decide before it reasons decides worse.
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "verdict": {"type": "string", "enum": ["PASS", "FAIL"]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}


async def judge_reply(
    ask: Ask,
    *,
    response: str,
    question: str,
    reference: str | None,
    context: str | None = None,
    rubric: str | None = None,
    template: Template | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Verdict:
    """Return the judge's verdict on a reply.

    In a template of the caller's, ``gen_output`` and ``response`` are the reply,
    ``user_query``, ``question`` and ``input`` the question, ``src`` and ``context`` the
    source, ``ref_output``, ``reference`` and ``expected`` the reference, each between
    marker lines; ``rubric`` is the rubric. What there is not is None.

    Args:
        ask: Asks the judge's model.
        response: The reply under test.
        question: What it replies to.
        reference: The right answer, None when the row has none.
        context: The source it should keep to, None when there is none.
        rubric: What a passing reply does.
        template: A template instead of ours.
        inputs: Further variables of the template.

    Raises:
        TemplateError: The template can't be used.
        UnscoredError: The judge could not be asked.
    """
    prompt = judge_prompt(
        template or default_template("judge"),
        {
            "question": (question, ("user_query", "question", "input")),
            "context": (context, ("src", "context")),
            "reference": (reference, ("ref_output", "reference", "expected")),
            "reply": (response, ("gen_output", "response")),
        },
        plain={"rubric": rubric},
        inputs=inputs,
    )
    answer = await ask(prompt, _SCHEMA)
    problem = problem_of(answer)
    verdict = problem or read_verdict(answer.text)
    return replace(verdict, response=response, rubric=rubric, model=answer.model)


def problem_of(answer: Response) -> Verdict | None:
    """Return why a judge's answer holds no verdict, None when it may hold one."""
    if answer.finish_reason == "length":
        reason = (
            f"the judge's reply was cut off at its token limit (finish_reason length): "
            f"raise max_tokens in its params; it ends {printable(answer.text[-60:])}"
        )
        return Verdict(verdict=None, reason=reason, raw=answer.text, cause="cut")
    if answer.refusal:
        reason = f"the judge refused: {printable(answer.refusal)}"
        return Verdict(verdict=None, reason=reason, raw=answer.text, cause="judge")
    return None
