"""Votes, panels, the second request, score maps: what several replies come to."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError, EvaluationWarning, UnscoredError
from pytest_llmeval.judging import Juror, compare_replies, judge_reply
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise, Prompt, Response, Usage, Verdict

SCALE = {"Good": 1.0, "Fair": 0.5, "Bad": 0.0}


class Scripted:
    """A judge whose votes are given; of a list, the first reply and the second."""

    def __init__(self, *votes: Any, **options: Any) -> None:
        self.votes = votes
        self.options = options
        self.asked: list[tuple[int, Prompt]] = []

    async def __call__(
        self, prompt: Prompt, schema: Mapping[str, Any], vote: int
    ) -> Response:
        times = sum(index == vote for index, _ in self.asked)
        self.asked.append((vote, prompt))
        answer = self.votes[vote]
        answer = answer[times] if isinstance(answer, list) else answer
        if isinstance(answer, Exception):
            raise answer
        return Response(text=answer, model="m", **self.options)


def juror(*votes: Any, name: str = "grader", **options: Any) -> Juror:
    return Juror(ask=Scripted(*votes, **options), name=name)


def judged(*jurors: Juror, **options: Any) -> Verdict:
    given: dict[str, Any] = {
        "response": "Lima",
        "question": "Capital of Peru?",
        "reference": None,
        **options,
    }
    return asyncio.run(judge_reply(jurors, **given))


def compared(*jurors: Juror, **options: Any) -> Pairwise:
    given: dict[str, Any] = {
        "response": "Lima",
        "against": "Cusco",
        "question": "Capital?",
        **options,
    }
    return asyncio.run(compare_replies(jurors, **given))


DOWN = UnscoredError("the judge could not be asked: down", cause="judge")


# --- votes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "verdict", "unstable"),
    [
        (["PASS", "PASS", "PASS"], "PASS", False),
        (["PASS: a", "FAIL: b", "FAIL: c"], "FAIL", True),
        (["PASS", "FAIL"], None, True),
        (["PASS", "FAIL", "PASS or FAIL?"], None, True),
        (["PASS", "PASS", "PASS or FAIL?"], "PASS", False),
        (["PASS", "PASS or FAIL?", "PASS or FAIL?"], None, False),
        (["FAIL", "FAIL", DOWN], "FAIL", False),
        (["FAIL", DOWN], None, False),
        (["FAIL", "FAIL", "PASS", DOWN], None, True),
    ],
)
def test_more_than_half_of_all_votes_decide(
    votes: Sequence[Any], verdict: str | None, unstable: bool
) -> None:
    found = judged(juror(*votes), votes=len(votes))

    assert (found.verdict, found.is_unstable) == (verdict, unstable)
    assert len(found.votes) == len(votes)
    assert [vote.index for vote in found.votes] == list(range(len(votes)))
    if verdict is None:
        assert found.cause == "judge"
        assert "votes have no majority" in found.reason


def test_the_reason_is_of_a_vote_that_decided() -> None:
    found = judged(juror("PASS: a", "FAIL: b", "FAIL: c"), votes=3)

    assert (found.reason, found.raw) == ("b", "FAIL: b")


def test_votes_without_a_majority_say_how_they_fell() -> None:
    found = judged(juror("PASS: a", "FAIL: b", DOWN), votes=3)

    assert found.reason == (
        "the 3 votes have no majority: PASS 1, FAIL 1, no verdict 1; "
        "the judge could not be asked: down"
    )


def test_votes_are_asked_at_the_same_time() -> None:
    arrived: list[int] = []

    async def run() -> Verdict:
        everyone = asyncio.Event()

        async def ask(prompt: Prompt, schema: Any, vote: int) -> Response:
            arrived.append(vote)
            if len(arrived) == 6:
                everyone.set()
            await asyncio.wait_for(everyone.wait(), 5)
            return Response(text="PASS: all are here")

        jurors = [Juror(ask=ask, name=name) for name in "ab"]
        return await judge_reply(
            jurors, response="x", question="y", reference=None, votes=3
        )

    assert asyncio.run(run()).verdict == "PASS"
    assert sorted(arrived) == [0, 0, 1, 1, 2, 2]


def test_no_judge_that_could_be_asked_raises() -> None:
    with pytest.raises(UnscoredError, match="down"):
        judged(juror(DOWN, DOWN), votes=2)


def test_a_panel_votes_together_and_names_its_members() -> None:
    found = judged(
        juror("PASS: a", name="one"),
        juror("FAIL: b", name="two"),
        juror("FAIL: c", name="three"),
    )

    assert (found.verdict, found.is_unstable) == ("FAIL", True)
    assert [(vote.judge, vote.said) for vote in found.votes] == [
        ("one", "PASS"),
        ("two", "FAIL"),
        ("three", "FAIL"),
    ]


def test_tokens_and_cost_are_those_of_all_votes() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    found = judged(juror("PASS", "PASS", usage=usage, cost=0.25), votes=2)

    assert found.usage == Usage(input_tokens=20, output_tokens=4)
    assert found.cost == 0.5


def test_a_cost_that_is_unknown_of_one_is_unknown() -> None:
    found = judged(juror("PASS", cost=0.25), juror("PASS"))

    assert (found.cost, found.usage) == (None, None)


# --- the second request ------------------------------------------------------------------


def test_a_reply_without_a_verdict_is_asked_for_it_once() -> None:
    asked = Scripted(["The answer is right.", "PASS: it is right"])

    found = judged(Juror(ask=asked))

    assert (found.verdict, found.reason) == ("PASS", "it is right")
    assert (found.raw, found.votes[0].repaired) == (
        "The answer is right.",
        "PASS: it is right",
    )
    second = asked.asked[1][1].messages
    assert [message.role for message in second] == ["user", "assistant", "user"]
    assert second[1].content == "The answer is right."
    assert "PASS or FAIL" in second[2].content


@pytest.mark.parametrize("language", ["en", "ja", "de"])
def test_the_second_request_is_in_the_language_that_is_wanted(language: str) -> None:
    asked = Scripted(["Hm.", "Good"])

    judged(Juror(ask=asked), score_map=SCALE, language=language)

    text = asked.asked[1][1].messages[-1].content
    word = {"en": "your assessment", "ja": "評価", "de": "Bewertung"}[language]
    assert word in text
    assert "Good, Fair, Bad" in text


def test_an_empty_reply_is_not_sent_back() -> None:
    asked = Scripted(["", "PASS: fine"])

    assert judged(Juror(ask=asked)).verdict == "PASS"
    (message,) = asked.asked[1][1].messages
    assert message.content.startswith(asked.asked[0][1].text)


@pytest.mark.parametrize(
    "reply",
    [
        "PASS or FAIL?",
        "PASS FAIL",
        "not FAIL",
        "I can't say that this passes.",
        '{"verdict": "maybe"}',
        "Pass the salt",
        "x" * 60_000,
    ],
)
def test_a_reply_that_holds_some_verdict_is_not_asked_again(reply: str) -> None:
    asked = Scripted([reply, "PASS: sure"])

    found = judged(Juror(ask=asked))

    assert found.verdict != "PASS"
    assert len(asked.asked) == 1


def test_a_cut_reply_is_not_asked_again() -> None:
    asked = Scripted(["The answer is", "PASS"], finish_reason="length")

    found = judged(Juror(ask=asked))

    assert (found.verdict, found.cause, len(asked.asked)) == (None, "cut", 1)


def test_it_is_asked_once_more_and_no_oftener() -> None:
    asked = Scripted(["Hm.", "Hm hm.", "PASS"])

    found = judged(Juror(ask=asked))

    assert (found.verdict, found.cause, len(asked.asked)) == (None, "judge", 2)
    assert found.reason.endswith("'Hm hm.' (asked twice)")


def test_a_second_request_that_fails_leaves_what_the_first_reply_was() -> None:
    found = judged(Juror(ask=Scripted(["Hm.", DOWN])))

    assert (found.verdict, found.cause) == (None, "judge")
    assert "'Hm.'; asked for it once more: the judge could not be" in found.reason


def test_both_requests_of_a_vote_are_counted() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    found = judged(Juror(ask=Scripted(["Hm.", "PASS"], usage=usage, cost=0.1)))

    assert found.usage == Usage(input_tokens=20, output_tokens=4)
    assert found.cost == pytest.approx(0.2)


# --- labels --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Verdict: Good", "Good"),
        ("Clear enough.\nVerdict: fair", "Fair"),
        ('{"reason": "wrong", "verdict": "Bad"}', "Bad"),
        ("Good or Bad?", None),
        ("Verdict: Good\nVerdict: Bad", None),
    ],
)
def test_a_label_is_read(reply: str, label: str | None) -> None:
    found = judged(juror(reply), score_map=SCALE)

    assert (found.label, found.verdict) == (label, None)
    assert found.score == (None if label is None else SCALE[label])
    assert found.is_decided == (label is not None)


def test_an_assessment_is_kept_as_the_reason_of_its_label() -> None:
    text = "It names the city, and nothing else. I would call it good work."
    found = judged(juror([text, "Good"]), score_map=SCALE)

    assert (found.label, found.reason) == ("Good", text)


def test_labels_are_voted_on_too() -> None:
    votes = ["Verdict: Good", "Verdict: Fair", "Verdict: Good"]
    found = judged(juror(*votes), score_map=SCALE, votes=3)

    assert (found.label, found.score, found.is_unstable) == ("Good", 1.0, True)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Verdict: Not Concise", "Not Concise"),
        ("Verdict: Concise", "Concise"),
        ("Not Concise: it rambles", "Not Concise"),
        ("Verdict: not concise", "Not Concise"),
    ],
)
def test_the_longest_label_wins_over_one_it_holds(reply: str, label: str) -> None:
    found = judged(juror(reply), score_map={"Concise": 1, "Not Concise": 0})

    assert found.label == label


@pytest.mark.parametrize(
    ("score_map", "message"),
    [
        ({"Good": 1}, "two labels or more"),
        ({}, "two labels or more"),
        ({"Good": "1", "Bad": 0}, "'Good': '1'"),
        ({"Good": float("nan"), "Bad": 0}, "'Good': nan"),
        ({"Good": True, "Bad": 0}, "'Good': True"),
        ({" ": 1, "Bad": 0}, "' ': 1"),
        ({1: 1, "Bad": 0}, "1: 1 is not one"),
        ([("Good", 1)], "two labels or more"),
    ],
)
def test_a_score_map_that_can_not_be_used_is_refused(
    score_map: Any, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        judged(juror("Good"), score_map=score_map)

    assert message in str(caught.value)


def test_a_language_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="one of en, ja, de, not 'fr'"):
        judged(juror("PASS"), language="fr")


# --- warnings ------------------------------------------------------------------------


def test_labels_a_template_never_names_draw_a_warning_before_anything_is_sent() -> None:
    asked = Scripted("Verdict: Good")
    template = Template.of("Is it good or bad? {{ gen_output }}")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(EvaluationWarning, match="the prompt never names 'Fair'"):
            judged(Juror(ask=asked), template=template, score_map=SCALE)

    assert asked.asked == []


@pytest.mark.parametrize("score_map", [None, SCALE])
def test_pass_and_fail_are_labels_too(score_map: Mapping[str, float] | None) -> None:
    reply = "PASS" if score_map is None else "Verdict: Good"
    with pytest.warns(EvaluationWarning, match="never names '(PASS|Good)', "):
        judged(
            juror(reply),
            template=Template.of("Well? {{ gen_output }}"),
            score_map=score_map,
        )


@pytest.mark.parametrize(
    ("template", "options"),
    [
        ("Good, fair or bad? {{ gen_output }}", {}),
        ("{{ labels | join(', ') }}? {{ gen_output }}", {}),
        ("{{ scale }}? {{ gen_output }}", {"inputs": {"scale": "Good, Fair, Bad"}}),
        ("{{ rubric }}? {{ gen_output }}", {"rubric": "Good, Fair or Bad."}),
    ],
)
def test_labels_that_are_named_draw_none(
    template: str, options: dict[str, Any]
) -> None:
    found = judged(
        juror("Verdict: Good"),
        template=Template.of(template),
        score_map=SCALE,
        **options,
    )

    assert found.label == "Good"


def test_labels_outside_of_ascii_draw_a_warning() -> None:
    with pytest.warns(EvaluationWarning, match="outside of ASCII.*'良い', '悪い'"):
        judged(
            juror("良い"),
            template=Template.of("良い? 悪い? {{ gen_output }}"),
            score_map={"良い": 1, "悪い": 0},
        )


def test_a_comparisons_template_is_looked_at_too() -> None:
    with pytest.warns(EvaluationWarning, match="never names 'Tie'"):
        compared(
            juror("Verdict: Response A"),
            template=Template.of(
                "Response A or Response B? {{ gen_output_a }} {{ gen_output_b }}"
            ),
        )


# --- panels of comparisons ---------------------------------------------------------------


class Prefers:
    """A judge that prefers one text, or a place whatever stands there."""

    def __init__(self, what: str) -> None:
        self.what = what

    async def __call__(self, prompt: Prompt, schema: Any, vote: int) -> Response:
        if self.what in {"A", "B"}:
            return Response(text=f"Verdict: Response {self.what}")
        if self.what == "down":
            raise DOWN
        is_first = prompt.text.index(self.what) < prompt.text.rindex(
            "Cusco" if self.what == "Lima" else "Lima"
        )
        return Response(text=f"Verdict: Response {'A' if is_first else 'B'}")


@pytest.mark.parametrize(
    ("members", "outcome", "cause"),
    [
        (["Lima", "Lima", "Cusco"], "win", None),
        (["Cusco", "Cusco", "Lima"], "loss", None),
        (["Lima", "A", "B"], None, "inconsistent"),
        (["Lima", "Lima", "down"], "win", None),
        (["Lima", "Cusco"], None, "judge"),
        (["Lima", "down"], None, "judge"),
        (["A", "Lima"], None, "inconsistent"),
    ],
)
def test_a_panel_settles_a_comparison_by_majority(
    members: Sequence[str], outcome: str | None, cause: str | None
) -> None:
    found = compared(*(Juror(ask=Prefers(one), name=one) for one in members))

    assert (found.outcome, found.cause) == (outcome, cause)
    assert len(found.members) == len(members)
    assert found.is_unstable == (
        len(set(members) - {"down"}) > 1 and members != ["A", "B"]
    )


def test_the_inputs_of_a_side_swap_with_the_replies() -> None:
    asked = Scripted("Verdict: Tie")
    template = Template.of(
        "Response A, Response B, Tie? {{ tone_a }} {{ gen_output_a }} {{ tone_b }} "
        "{{ gen_output_b }} {{ both }}"
    )

    compared(
        Juror(ask=asked),
        template=template,
        inputs={"tone": ("of-a", "of-b"), "both": "same"},
    )

    first, swapped = (prompt.text for _, prompt in asked.asked)
    assert first.index("of-a") < first.index("Cusco") < first.index("of-b")
    assert swapped.index("of-b") < swapped.index("Lima") < swapped.index("of-a")


# --- the fingerprint -----------------------------------------------------------------


def fingerprint(**options: Any) -> Mapping[str, str]:
    identity = options.pop(
        "identity", {"provider": "x", "model": "m", "params": {"t": 0}, "messages": []}
    )
    one = Juror(ask=Scripted(*["Verdict: Good"] * 2), identity=identity)
    return judged(one, score_map=options.pop("score_map", SCALE), **options).fingerprint


@pytest.mark.parametrize(
    ("part", "options"),
    [
        ("rubric", {"rubric": "Other."}),
        ("template", {"template": Template.of("Good Fair Bad {{ gen_output }}")}),
        ("models", {"identity": {"provider": "x", "model": "n", "params": {"t": 0}}}),
        ("params", {"identity": {"provider": "x", "model": "m", "params": {"t": 1}}}),
        ("score_map", {"score_map": {"Good": 1, "Bad": 0}}),
        ("votes", {"votes": 2}),
        ("language", {"language": "de"}),
    ],
)
def test_the_fingerprint_tells_which_part_of_a_judge_changed(
    part: str, options: dict[str, Any]
) -> None:
    before, after = fingerprint(), fingerprint(**options)

    changed = {
        name for name in {*before, *after} if before.get(name) != after.get(name)
    }
    assert changed == {part}


def test_the_fingerprint_does_not_depend_on_the_reply() -> None:
    assert fingerprint(response="a", question="b") == fingerprint()
