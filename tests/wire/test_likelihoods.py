"""How likely a given text is, by the prompt that a server sends back with its values."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from pytest_llmeval import Likelihood
from pytest_llmeval.clients import Backend, GivenText, Request
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.types import Prompt, Response
from tests.wire.conftest import FaultServer, Lab, completion
from tests.wire.scoring_server import ScoringServer, best_word, logprob, split


def request(text: str, context: str | None = None) -> Request:
    given = GivenText(text=text, context=context)
    return Request(prompt=Prompt(messages=()), given=given)


def responses(backend: Backend, *requests: Request) -> list[Response]:
    async def answers() -> list[Response]:
        try:
            return await asyncio.gather(*map(backend.answer, requests))
        finally:
            await backend.close()

    return asyncio.run(answers())


def likelihood(lab: Lab, text: str, context: str | None = None) -> Likelihood:
    [response] = responses(lab.backend(), request(text, context))
    assert response.likelihood is not None
    return response.likelihood


def error_of(lab: Lab, text: str = "a b", context: str | None = None) -> str:
    with pytest.raises(ProviderError) as caught:
        likelihood(lab, text, context)
    assert (caught.value.cause, caught.value.is_transient) == ("provider", False)
    return str(caught.value)


def values(before: str, text: str) -> list[float]:
    """Return the right log-probabilities of a text's tokens."""
    found = []
    for token in split(before + text)[len(split(before)) :]:
        found.append(logprob(before, token))
        before += token
    return found


# --- what it returns -----------------------------------------------------------------


def test_a_continuation_has_the_sum_of_its_tokens_alone(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    found = likelihood(lab, " is old, and far", "The house")

    assert found.token_logprobs == tuple(values("The house", " is old, and far"))
    assert found.logprob == math.fsum(values("The house", " is old, and far"))
    assert (found.token_count, found.is_greedy) == (5, False)


def test_what_the_model_would_have_written_is_greedy(lab: Lab) -> None:
    lab.server.rule(ScoringServer())
    text = "The house"
    for _ in range(3):
        text += best_word(text)

    found = likelihood(lab, text.removeprefix("The house"), "The house")

    assert found.is_greedy
    assert found.token_count == 3


def test_white_space_at_the_context_s_end_counts_with_the_text(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    assert likelihood(lab, "old", "The house is ") == likelihood(
        lab, " old", "The house is"
    )


def test_a_token_over_the_border_counts(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    assert likelihood(lab, "use is", "The ho").token_logprobs == tuple(
        values("The", " house is")
    )


def test_a_text_of_its_own_says_what_has_no_value(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    found = likelihood(lab, "Once upon a time")

    assert found.unscored_prefix == "Once"
    assert found.token_logprobs == tuple(values("Once", " upon a time"))


def test_a_continuation_of_nothing_needs_what_stands_before_it(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    assert "nothing stands before 'Once upon'" in error_of(lab, "Once upon", "")
    assert "give a context" in error_of(lab, "Once")  # a single token


@pytest.mark.parametrize("beginning", ["<s>", "<|begin_of_text|>"])
def test_a_token_that_the_server_puts_first_is_no_part_of_the_text(
    lab: Lab, beginning: str
) -> None:
    lab.server.rule(ScoringServer(beginning=beginning))

    for context in (None, ""):
        found = likelihood(lab, "Once upon", context)
        assert found.unscored_prefix == ""
        assert found.token_logprobs == tuple(values(beginning, "Once upon"))
    assert likelihood(lab, " upon", "Once").token_logprobs == tuple(
        values(beginning + "Once", " upon")
    )


def test_its_usage_and_model_are_told(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    [found] = responses(lab.backend(params={"max_tokens": 5}), request("a b c"))

    assert found.text == ""
    assert (found.provider, found.model, found.origin) == ("openai", "m-test", "live")
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (3, 1)
    assert found.latency_seconds is not None
    assert lab.server.seen[-1].data == {
        "model": "m-test",
        "prompt": "a b c",
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": 1,
        "echo": True,
    }


# --- the probe -----------------------------------------------------------------------


def test_a_server_is_probed_once(lab: Lab) -> None:
    lab.server.rule(ScoringServer())

    responses(lab.backend(), *(request(f"text {n}") for n in range(5)))

    assert len(lab.server.seen) == 2 + 5
    assert [seen.data.get("echo") for seen in lab.server.seen[:2]] == [None, True]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (ScoringServer(ignores_echo=True), "its completions ignore echo: the reply to"),
        (ScoringServer(value_shift=1), "shifted by one: that of each token stands at "
         "the one after it"),
        (ScoringServer(value_shift=-1), "shifted by one: that of each token stands at "
         "the one before it"),
        (ScoringServer(offsets_are_ends=True), "its text_offset do not fit the text"),
        (ScoringServer(value_factor=0.5), "are not those of the same tokens when it"),
        (ScoringServer(is_even=True), "are not those of the same tokens"),
        (ScoringServer(writes=1), "can't be told: what it wrote after"),
    ],
)  # fmt: skip
def test_a_server_that_says_something_wrong_is_refused(
    lab: Lab, wrong: ScoringServer, said: str
) -> None:
    lab.server.rule(wrong)

    reason = error_of(lab)

    assert "openai:m-test gives no log-probabilities of a given text (" in reason
    assert said in reason
    assert "it is no server of llama.cpp's" in reason
    assert "those that can: openai: with a server whose completions echo" in reason


def test_it_is_all_one_where_text_offset_counts_from(lab: Lab) -> None:
    lab.server.rule(ScoringServer(offset_origin=7))

    assert likelihood(lab, " b", "a").token_logprobs == tuple(values("a", " b"))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (completion(), "its completions have no logprobs"),
        ({"choices": []}, "its completions have no logprobs"),
        ([], "its completions have no logprobs"),
        (
            {"choices": [{"text": "x", "logprobs": {"content": []}}]},
            "as OpenAI has the",
        ),
        (
            {
                "choices": [
                    {
                        "text": "x",
                        "logprobs": {
                            "tokens": ["x"],
                            "token_logprobs": [],
                            "text_offset": [0],
                        },
                    }
                ]
            },
            "1 tokens, 0 token_logprobs and 1 text_offset",
        ),
    ],
)
def test_a_server_without_log_probabilities_is_refused(
    lab: Lab, reply: Any, said: str
) -> None:
    lab.server.rule(lambda seen: reply)

    assert said in error_of(lab)


@pytest.mark.parametrize("status", [400, 404, 405, 422, 501])
def test_the_server_s_own_sentence_is_shown(lab: Lab, status: int) -> None:
    said = "This is a chat model and not supported here."
    lab.server.rule(lambda seen: (status, {"error": {"message": said}}))

    reason = error_of(lab)

    assert f"({status}): {said}" in reason
    assert reason.count("openai:m-test") == 1


def test_a_refused_server_is_asked_no_more(lab: Lab) -> None:
    lab.server.rule(ScoringServer(ignores_echo=True))
    backend = lab.backend()

    async def errors() -> list[Any]:
        asked = (backend.answer(request(f"text {n}")) for n in range(3))
        found = await asyncio.gather(*asked, return_exceptions=True)
        await backend.close()
        return found

    assert len({str(error) for error in asyncio.run(errors())}) == 1
    assert len(lab.server.seen) == 3  # written, echoed, llama.cpp's properties


@pytest.mark.parametrize(("status", "is_transient"), [(401, False), (503, True)])
def test_what_may_be_put_right_is_not_remembered(
    lab: Lab, status: int, is_transient: bool
) -> None:
    lab.server.rule(ScoringServer())
    lab.server.will({"error": {"message": "not now"}}, status=status)
    backend = lab.backend()

    async def twice() -> Response:
        with pytest.raises(ProviderError, match="not now") as caught:
            await backend.answer(request("a b"))
        assert caught.value.is_transient == is_transient
        try:
            return await backend.answer(request("a b"))
        finally:
            await backend.close()

    assert asyncio.run(twice()).likelihood is not None


def test_a_key_in_a_refusal_is_not_shown(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-very-secret-1")
    said = {"error": {"message": "no echo for sk-very-secret-1"}}
    lab.server.rule(lambda seen: (400, said))

    with pytest.raises(ProviderError) as caught:
        responses(lab.backend(api_key_env="LAB_KEY"), request("a"))

    assert "no echo for [redacted]" in caught.value.reason


# --- replies that do not fit, after the probe ----------------------------------------


def damaged(change: Any) -> Any:
    """Return a server whose reply to the text itself is changed."""

    def rule(seen: Any) -> Any:
        data = ScoringServer()(seen)
        if seen.data["prompt"] == "one two three":
            change(data["choices"][0])
        return data

    return rule


def set_value(place: int, value: Any) -> Any:
    def change(choice: Any) -> None:
        choice["logprobs"]["token_logprobs"][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_value(1, None), "the token ' two' has no log-probability"),
        (set_value(2, 0.5), "0.5 is no log-probability"),
        (lambda c: c["logprobs"]["text_offset"].reverse(), "text_offset do not fit"),
        (
            lambda c: c["logprobs"]["tokens"].__setitem__(1, " ten"),
            "stands ' two' and n",
        ),
        (lambda c: c.update(text="three"), "ignore echo"),
        (
            lambda c: c.pop("text"),
            "ignore echo: the reply to 'one two three'... has no",
        ),
    ],
)
def test_a_reply_that_does_not_fit_is_no_score(
    lab: Lab, change: Any, said: str
) -> None:
    lab.server.rule(damaged(change))

    reason = error_of(lab, "one two three")

    assert "openai:m-test: no log-probabilities: " in reason
    assert said in reason


def test_parts_of_characters_need_no_text_of_their_own(lab: Lab) -> None:
    """As OpenAI writes them, and as others do."""
    parts = ["bytes:\\xe2\\x9c", "bytes:\\x93"]

    def rule(seen: Any) -> Any:
        data = ScoringServer()(seen)
        if seen.data["prompt"] == "ok ✓":
            lists = data["choices"][0]["logprobs"]
            lists["tokens"] = ["ok", " ", *parts, "."]
            lists["token_logprobs"] = [None, -1.0, -2.0, -3.0, -4.0]
            lists["top_logprobs"] = [None] * 5
            lists["text_offset"] = [0, 2, 3, 3, 4]
        return data

    lab.server.rule(rule)

    assert likelihood(lab, " ✓", "ok") == Likelihood.of([-1.0, -2.0, -3.0])


def test_a_chat_entry_still_answers(lab: Lab, server: FaultServer) -> None:
    assert lab.ask("hi").text == "fine"
