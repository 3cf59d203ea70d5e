"""Asking a judge: the prompt it gets, what becomes of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_llmeval.errors import TemplateError, UnscoredError
from pytest_llmeval.judging import Juror, compare_replies, judge_reply
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise, Prompt, Response, Verdict


class Asked:
    """A judge with answers at hand that remembers what it was asked."""

    def __init__(self, *answers: Any, **options: Any) -> None:
        self.answers = list(answers)
        self.options = options
        self.prompts: list[str] = []

    async def __call__(
        self, prompt: Prompt, schema: Mapping[str, Any], vote: int
    ) -> Response:
        assert schema["properties"]["verdict"]["enum"]
        self.prompts.append(prompt.text)
        answer = self.answers[(len(self.prompts) - 1) % len(self.answers)]
        if isinstance(answer, Exception):
            raise answer
        return Response(text=answer, model="judge-1", **self.options)


def judged(asked: Asked, **options: Any) -> Verdict:
    given: dict[str, Any] = {
        "response": "Lima",
        "question": "Capital of Peru?",
        "reference": None,
        **options,
    }
    return asyncio.run(judge_reply([Juror(ask=asked)], **given))


def compared(asked: Asked, **options: Any) -> Pairwise:
    given: dict[str, Any] = {
        "response": "Lima",
        "against": "Cusco",
        "question": "Capital of Peru?",
        **options,
    }
    return asyncio.run(compare_replies([Juror(ask=asked)], **given))


# --- one reply -----------------------------------------------------------------------


def test_the_default_template_has_the_rubric_and_fenced_texts() -> None:
    asked = Asked("PASS: right")

    verdict = judged(asked, rubric="Names the city.", reference="Lima", context="src")

    (prompt,) = asked.prompts
    assert "Names the city." in prompt
    for name in ("question", "context", "reference", "reply"):
        assert f"<<<{name} " in prompt
    assert (verdict.verdict, verdict.reason, verdict.model) == (
        "PASS",
        "right",
        "judge-1",
    )
    assert verdict.response == "Lima"


def test_what_there_is_not_is_not_in_the_prompt() -> None:
    asked = Asked("PASS: right")

    judged(asked)

    assert "<<<reference" not in asked.prompts[0]
    assert "None" not in asked.prompts[0]


LANGCHECK = """{% if src is not none %}Source: {{ src }}
{% endif %}Question: {{ user_query }}
Answer: {{ gen_output }}
Tone: {{ tone }}. PASS or FAIL?"""


def test_a_template_of_langchecks_runs_unchanged() -> None:
    asked = Asked("PASS")

    judged(asked, template=Template.of(LANGCHECK), inputs={"tone": "formal"})

    (prompt,) = asked.prompts
    assert "Source:" not in prompt
    assert "Lima" in prompt
    assert "formal" in prompt


def test_an_unknown_variable_names_those_there_are() -> None:
    with pytest.raises(TemplateError, match=r"'gen_outptu' is not there.*'gen_output'"):
        judged(Asked("PASS"), template=Template.of("{{ gen_outptu }}"))


def test_a_missing_reference_that_is_printed_is_a_broken_row() -> None:
    with pytest.raises(UnscoredError, match="if name is not none") as caught:
        judged(Asked("PASS"), template=Template.of("{{ ref_output }}"))

    assert caught.value.cause == "data"


def test_an_input_can_not_take_a_variables_name() -> None:
    with pytest.raises(TemplateError, match="inputs has 'src', which is a variable"):
        judged(Asked("PASS"), inputs={"src": "x"})


def test_a_callable_is_no_template_of_a_judge() -> None:
    with pytest.raises(TemplateError, match="a text or a file, and not a callable"):
        judged(Asked("PASS"), template=Template.of(lambda case: "x"))


def test_a_cut_reply_is_no_verdict_and_names_the_limit() -> None:
    verdict = judged(Asked("PASS: it", finish_reason="length"))

    assert (verdict.verdict, verdict.cause) == (None, "cut")
    assert "cut off at its token limit" in verdict.reason


def test_a_refusal_is_no_verdict() -> None:
    verdict = judged(Asked("", refusal="I can't judge this."))

    assert (verdict.verdict, verdict.cause) == (None, "judge")
    assert 'the judge refused: "I can\'t judge this."' in verdict.reason


def test_a_judge_that_can_not_be_asked_raises() -> None:
    with pytest.raises(UnscoredError, match="down"):
        judged(Asked(UnscoredError("down", cause="judge")))


# --- two replies ---------------------------------------------------------------------


def test_both_orders_are_asked_and_sources_swap_too() -> None:
    asked = Asked("Verdict: Response B", "Better.\nVerdict: Response A")

    found = compared(asked, source="mine", against_source="theirs")

    first, swapped = asked.prompts
    assert first.index("Cusco") < first.index("Lima")
    assert swapped.index("Lima") < swapped.index("Cusco")
    assert first.index("theirs") < first.index("mine")
    assert swapped.index("mine") < swapped.index("theirs")
    assert (found.outcome, found.score, found.consistent) == ("win", 1.0, True)
    assert found.swapped_reason == "Better."


def test_an_order_that_fails_does_not_lose_the_other() -> None:
    down = UnscoredError("the judge could not be asked: down", cause="judge")

    found = compared(Asked("Right.\nVerdict: Response B", down))

    assert (found.first, found.first_reason) == ("Response B", "Right.")
    assert (found.score, found.cause) == (None, "judge")
    assert "down" in found.reason


def test_a_reply_without_a_label_names_the_labels() -> None:
    found = compared(Asked("I like both."))

    assert found.cause == "judge"
    assert "names none of 'Response A', 'Tie', 'Response B' plainly" in found.reason


def test_one_order_is_asked_when_that_is_wanted() -> None:
    asked = Asked("Verdict: Response B")

    found = compared(asked, consistency=False)

    assert len(asked.prompts) == 1
    assert (found.outcome, found.consistent) == ("win", None)


def test_one_order_without_a_label_is_undecided() -> None:
    found = compared(Asked("hm"), consistency=False)

    assert (found.outcome, found.cause) == (None, "judge")
    assert "plainly" in found.reason


def test_a_template_of_the_callers_gets_both_sides() -> None:
    asked = Asked("B", "A")
    template = Template.of("{{ gen_output_a }} or {{ gen_output_b }}?")

    found = compared(asked, template=template, score_map={"A": 0.0, "B": 1.0})

    assert found.outcome == "win"
