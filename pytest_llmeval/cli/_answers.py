"""Asking a model for every row of a dataset, and keeping what came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.evaluate import Generator
from pytest_llmeval.metrics import text_of
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Case

__all__ = ["Answers", "answer_all"]


@dataclass(slots=True, kw_only=True)
class Answers:
    """What became of the rows, by their ids; those in neither were not asked."""

    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, LLMEvalError] = field(default_factory=dict)


def answer_all(
    generator: Generator,
    cases: Sequence[Case],
    *,
    prompt: Template | None,
    system: Template | None,
    width: int,
) -> Answers:
    """Return the answers to all rows; on Ctrl-C those that had come.

    Args:
        generator: Asks the model.
        cases: The rows.
        prompt: The template; without one a row's input is the prompt.
        system: The template of the system message.
        width: How many are asked at once.
    """
    answers = Answers()

    async def answer(case: Case) -> None:
        try:
            response = await generator.acall(case, prompt=prompt, system=system)
            answers.texts[case.id] = text_of(response)
        except LLMEvalError as exc:
            answers.errors[case.id] = exc

    async def all_of_them() -> None:
        import asyncio

        free = asyncio.Semaphore(width)

        async def in_turn(case: Case) -> None:
            async with free:
                await answer(case)

        await asyncio.gather(*map(in_turn, cases))

    try:
        generator.loop.run(all_of_them(), instead="")
    except KeyboardInterrupt:
        # What was asked for is paid for: copied, as answers may still come in.
        return Answers(texts=dict(answers.texts), errors=dict(answers.errors))
    return answers
