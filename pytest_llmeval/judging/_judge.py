"""A verdict on one reply, by one judge or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pytest_llmeval.judging._again import check_language
from pytest_llmeval.judging._ask import Juror, Question, Said, ask_all
from pytest_llmeval.judging._fingerprint import fingerprint
from pytest_llmeval.judging._majority import common_cause, counts_text, majority
from pytest_llmeval.judging._material import default_template, judge_prompt
from pytest_llmeval.judging._words import Words, check_scores, warn_of_labels
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Verdict, Vote, as_text

__all__ = ["judge_reply"]


async def judge_reply(
    jurors: Sequence[Juror],
    *,
    response: str,
    question: str,
    reference: str | None,
    context: str | None = None,
    rubric: str | None = None,
    template: Template | None = None,
    inputs: Mapping[str, Any] | None = None,
    score_map: Mapping[str, float] | None = None,
    language: str = "en",
    votes: int = 1,
) -> Verdict:
    """Return the verdict on a reply.

    In a template of the caller's, ``gen_output`` and ``response`` are the reply,
    ``user_query``, ``question`` and ``input`` the question, ``src`` and ``context`` the
    source, ``ref_output``, ``reference`` and ``expected`` the reference, each between
    marker lines; ``rubric`` is the rubric, ``labels`` are the words to choose from.
    What there is not is None.

    Args:
        jurors: The judges: one model, or those of a panel.
        response: The reply under test.
        question: What it replies to.
        reference: The right answer, None when the row has none.
        context: The source it should keep to, None when there is none.
        rubric: What a passing reply does.
        template: A template instead of ours.
        inputs: Further variables of the template.
        score_map: Labels and their values, in place of PASS and FAIL.
        language: Of the request for a verdict that a reply lacks: en, ja, de.
        votes: How many times each judge is asked.

    Raises:
        ConfigError: The score map or the language can't be used.
        TemplateError: The template can't be used.
        UnscoredError: No judge could be asked.
    """
    if score_map is not None:
        check_scores(score_map)
    words = Words(labels=None if score_map is None else tuple(score_map))
    asked_in = check_language(language)
    used = template or default_template("judge")
    prompt = judge_prompt(
        used,
        {
            "question": (question, ("user_query", "question", "input")),
            "context": (context, ("src", "context")),
            "reference": (reference, ("ref_output", "reference", "expected")),
            "reply": (response, ("gen_output", "response")),
        },
        plain={
            "rubric": rubric,
            "labels": list(words.all),
            "is_scale": score_map is not None,
        },
        inputs=inputs,
    )
    if template is not None:
        others = [rubric or "", *map(as_text, (inputs or {}).values())]
        warn_of_labels(template, words, others)
    said = await ask_all(
        jurors, Question(prompt=prompt, words=words, language=asked_in), votes
    )
    _raise_if_none_asked(said)
    return _verdict(
        [one.vote for one in said],
        score_map,
        response=response,
        rubric=rubric,
        prompt=prompt,
        fingerprint=fingerprint(
            template=used.text,
            rubric=rubric,
            identities=[juror.identity for juror in jurors],
            votes=votes,
            score_map=score_map,
            language=language,
        ),
    )


def _raise_if_none_asked(said: Sequence[Said]) -> None:
    errors = [one.error for one in said if one.error is not None]
    if len(errors) == len(said):
        raise errors[0]


def _verdict(
    votes: Sequence[Vote], score_map: Mapping[str, float] | None, **given: Any
) -> Verdict:
    word = majority([vote.said for vote in votes])
    if word is None:
        return Verdict(
            verdict=None,
            reason=_undecided(votes),
            raw=votes[0].raw,
            cause=common_cause([vote.cause for vote in votes]),
            model=votes[0].model,
            votes=tuple(votes),
            **given,
        )
    decisive = next(vote for vote in votes if vote.said == word)
    return Verdict(
        verdict=None if score_map is not None else _pass_or_fail(word),
        label=None if score_map is None else word,
        score=None if score_map is None else float(score_map[word]),
        reason=decisive.reason,
        raw=decisive.raw,
        model=decisive.model,
        votes=tuple(votes),
        **given,
    )


def _pass_or_fail(word: str) -> Literal["PASS", "FAIL"]:
    return "PASS" if word == "PASS" else "FAIL"


def _undecided(votes: Sequence[Vote]) -> str:
    """Return why votes decide nothing: how they fell, and what was wrong with each."""
    if len(votes) == 1:
        return votes[0].reason
    reasons = dict.fromkeys(v.reason for v in votes if v.said is None)
    head = f"the {len(votes)} votes have no majority: {counts_text(votes)}"
    return "; ".join([head, *reasons])
