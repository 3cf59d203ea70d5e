"""How likely a given text is, by llama.cpp's server: the real one, and what it may say."""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from pytest_llmeval import Likelihood
from pytest_llmeval.clients import GivenText, Request
from pytest_llmeval.clients.likelihoods._forced import placed, window_start
from pytest_llmeval.clients.likelihoods._llamacpp import Piece
from pytest_llmeval.clients.likelihoods._tokens import NoLikelihoodError
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.types import Prompt, Response

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import Lab, Real

CONTEXTS = (
    "The capital of France is",
    "Q: What is two and two?\nA:",
    "Once upon a time there was a",
    "1, 2, 3, 4, 5,",
    "def add(a, b):\n    return",
    "Roses are red, violets are",
    "To be, or not to be,",
    "The opposite of hot is",
    "Dear Sir or Madam,",
    "Wasser kocht bei",
)


@pytest.fixture
def entry(lab: Lab, real: Real, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the entry of the real model."""
    monkeypatch.setenv("REAL_KEY", real.key)
    return {"base_url": real.base_url, "model": "smollm2", "api_key_env": "REAL_KEY"}


def ask(lab: Lab, entry: dict[str, Any], *asked: Request) -> list[Response]:
    backend = lab.backend(**entry)

    async def answers() -> list[Response]:
        try:
            return await asyncio.gather(*map(backend.answer, asked))
        finally:
            await backend.close()

    return asyncio.run(answers())


def given(text: str, context: str | None = None) -> Request:
    asked = GivenText(text=text, context=context)
    return Request(prompt=Prompt(messages=()), given=asked)


def likelihood(lab: Lab, entry: dict[str, Any], *texts: str | None) -> Likelihood:
    [response] = ask(lab, entry, given(*texts))  # type: ignore[arg-type]
    assert response.likelihood is not None
    return response.likelihood


# --- the real server -----------------------------------------------------------------


def test_ten_texts_have_the_sum_of_the_server_s_own_log_probabilities(
    lab: Lab, entry: dict[str, Any]
) -> None:
    """What it says of each token when it writes it."""
    params = {"max_tokens": 8, "temperature": 0, "logprobs": 1}
    written = [Request(prompt=Prompt.of(text), params=params) for text in CONTEXTS]
    own = ask(lab, {**entry, "api": "completions"}, *written)

    pairs = zip(CONTEXTS, own, strict=True)
    found = ask(lab, entry, *(given(reply.text, text) for text, reply in pairs))

    assert len(found) == 10
    for reply, response in zip(own, found, strict=True):
        values = [token["logprob"] for token in reply.logprobs["content"]]
        one = response.likelihood
        assert one is not None
        assert one.token_count == len(values)
        assert one.logprob == pytest.approx(math.fsum(values), abs=1e-6)
        assert one.is_greedy


def test_ten_given_texts_have_the_values_of_each_token_by_itself(
    lab: Lab, real: Real, entry: dict[str, Any]
) -> None:
    """Asked of its completions, one token at a time, with a reader of the test's own."""
    root = real.base_url.removesuffix("/v1")
    found = ask(lab, entry, *map(given, CONTEXTS))
    with httpx.Client(headers={"authorization": f"Bearer {real.key}"}) as client:

        def own(text: str) -> list[float]:
            def post(path: str, **body: Any) -> Any:
                return client.post(root + path, json=body, timeout=60).json()

            ids = post("/tokenize", content=text)["tokens"]
            values = []
            for place in range(1, len(ids)):
                data = post(
                    "/v1/completions",
                    prompt=ids[:place],
                    max_tokens=1,
                    logprobs=1,
                    temperature=0,
                    logit_bias=[[ids[place], 1e6]],
                )
                values.append(data["choices"][0]["logprobs"]["content"][0]["logprob"])
            return values

        expected = [math.fsum(own(text)) for text in CONTEXTS]

    sums = [response.likelihood and response.likelihood.logprob for response in found]
    assert sums == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("text", ["ok ✓"])
def test_any_text_has_the_values_of_the_whole_distribution(
    lab: Lab, real: Real, entry: dict[str, Any], text: str
) -> None:
    root = real.base_url.removesuffix("/v1")
    with httpx.Client(headers={"authorization": f"Bearer {real.key}"}) as client:

        def post(path: str, **body: Any) -> Any:
            return client.post(root + path, json=body, timeout=60).json()

        models = client.get(f"{root}/v1/models").json()
        size = models["data"][0]["meta"]["n_vocab"]
        [plain] = post("/tokenize", content="a")["tokens"]
        ids = post("/tokenize", content=text)["tokens"]
        own = []
        for place in range(1, len(ids)):
            # A plain token is written: of a part of a character it says nothing.
            data = post(
                "/completion",
                prompt=ids[:place],
                n_predict=1,
                n_probs=size,
                logit_bias=[[plain, 1e6]],
            )
            every = data["completion_probabilities"][0]["top_logprobs"]
            own += [one["logprob"] for one in every if one["id"] == ids[place]]

    found = likelihood(lab, entry, text)

    assert found.token_logprobs == pytest.approx(own, abs=1e-3)


def test_white_space_at_the_context_s_end_counts_with_the_text(
    lab: Lab, entry: dict[str, Any]
) -> None:
    texts = [
        ("Paris", "The capital of France is "),
        (" Paris", "The capital of France is"),
    ]

    one, other = (likelihood(lab, entry, *pair) for pair in texts)

    assert one == other
    assert (one.token_count, one.is_greedy) == (1, True)


def test_what_is_likelier_has_the_greater_sum(lab: Lab, entry: dict[str, Any]) -> None:
    paris, london, cheese = (
        likelihood(lab, entry, text, "The capital of France is").logprob
        for text in (" Paris", " London", " cheese")
    )

    assert 0 > paris > london > cheese


def test_a_text_of_its_own_is_read_as_the_tokenizer_has_it(
    lab: Lab, entry: dict[str, Any]
) -> None:
    """That of this model puts nothing before it."""
    alone = likelihood(lab, entry, "Hello there")

    assert alone.unscored_prefix == "Hello"
    assert alone.logprob == likelihood(lab, entry, " there", "Hello").logprob


def test_a_continuation_of_nothing_follows_the_token_of_beginnings(
    lab: Lab, entry: dict[str, Any]
) -> None:
    found = likelihood(lab, entry, "Hello there", "")

    assert (found.unscored_prefix, found.token_count) == ("", 2)
    after = likelihood(lab, entry, "Hello there", "<|im_start|>")
    assert found.logprob == pytest.approx(after.logprob, abs=1e-6)


def test_a_context_that_does_not_fit_is_told_in_the_server_s_words(
    lab: Lab, entry: dict[str, Any]
) -> None:
    with pytest.raises(ProviderError, match="too long for the model's context .400.: "):
        likelihood(lab, entry, " Paris", "word " * 3000)


def test_texts_at_once_have_each_its_own(lab: Lab, entry: dict[str, Any]) -> None:
    texts = [f"Number {n} is here." for n in ("one", "two", "six")]

    together = ask(lab, entry, *map(given, texts))

    alone = [ask(lab, entry, given(text))[0].likelihood for text in texts]
    for response, one in zip(together, alone, strict=True):
        assert response.likelihood is not None
        assert one is not None
        assert response.likelihood.logprob == pytest.approx(one.logprob, abs=1e-3)


def test_it_is_recorded_and_replayed_without_a_server(
    suite: Suite, cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write(
        test_a="""
import pytest

@pytest.mark.llmeval([{"input": "The capital of France is"}], generator="local:smollm2")
def test_a(case, generator):
    paris = generator.loglikelihood(case.input, " Paris")
    rolling = generator.loglikelihood_rolling(case.input)
    assert paris.logprob > generator.loglikelihood(case.input, " Rome").logprob
    assert rolling.token_count == 4
"""
    )
    _, recorded = suite.report("--llmeval-mode=record")

    def refuse(*args: Any) -> None:
        raise AssertionError(args)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    _, replayed = suite.report("--llmeval-mode=replay")

    calls = [
        [
            call["response"]["likelihood"]
            for call in report["cases"][0]["samples"][0]["calls"]
        ]
        for report in (recorded, replayed)
    ]
    assert len(calls[0]) == 3
    assert calls[0] == calls[1]
    [line, *_] = (
        (suite.path / "llmeval_recordings" / "test_a.jsonl")
        .read_text("utf-8")
        .splitlines()
    )
    assert set(json.loads(line)["request"]) == {"provider", "model", "likelihood_of"}


# --- servers that are not quite like it ----------------------------------------------


def llama(
    seen: Any, *, leaks: bool = False, spells: bool = True, slots: Any = 1
) -> Any:
    """Answer as llama.cpp's server does, with a model of two tokens."""
    match seen.target:
        case "/v1/completions":
            return {"choices": [{"text": "x", "logprobs": {"content": []}}]}
        case "/props":
            settings = {"n_ctx": 8}
            return {"default_generation_settings": settings, "total_slots": slots}
        case "/tokenize":
            tokens = [{"id": ord(c), "piece": c} for c in seen.data["content"]]
            return {"tokens": tokens if spells else [token["id"] for token in tokens]}
    wanted = dict(seen.data.get("logit_bias", [])) or {ord("a"): 0}
    values = {ord("a"): -0.25, ord("b"): -1.5}
    [token] = wanted
    logprob = 0.0 if leaks and wanted[token] else values.get(token, -9.0)
    top = [{"id": one, "logprob": value} for one, value in values.items()]
    found = {"id": token, "logprob": logprob, "top_logprobs": top}
    return {"completion_probabilities": [found]}


def test_without_a_token_of_beginnings_the_first_has_no_value(lab: Lab) -> None:
    lab.server.rule(llama)

    found = likelihood(lab, {}, "abba")

    assert found == Likelihood.of(
        [-1.5, -1.5, -0.25], is_greedy=False, unscored_prefix="a"
    )


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"leaks": True}, "made to write token 97 it says that its log-probability is"),
        ({"spells": False}, "its /tokenize does not say what the tokens spell"),
    ],
)
def test_a_server_whose_bias_or_tokens_can_not_be_used_is_refused(
    lab: Lab, how: dict[str, Any], said: str
) -> None:
    lab.server.rule(lambda seen: llama(seen, **how))

    with pytest.raises(ProviderError) as caught:
        likelihood(lab, {}, "ab")

    assert "openai:m-test gives no log-probabilities of a given" in caught.value.reason
    assert said in caught.value.reason


def test_a_text_longer_than_the_context_is_read_in_windows(lab: Lab) -> None:
    lab.server.rule(llama)

    found = likelihood(lab, {}, "ab" * 10)

    assert found.token_count == 19
    asked = [s.data["prompt"] for s in lab.server.seen if s.target == "/completion"]
    lengths = [len(prompt) for prompt in asked[-19:]]
    assert lengths == [*range(1, 8), *range(1, 8), *range(3, 8)]  # of 8, one to write


def test_as_many_texts_at_once_as_the_server_keeps(lab: Lab) -> None:
    """One more, and each would be read anew for each of its tokens."""
    lab.server.rule(lambda seen: llama(seen, slots=2))

    found = ask(lab, {}, *(given("ab" * 3) for _ in range(6)))

    assert len({response.likelihood for response in found}) == 1
    assert lab.server.most_in_flight <= 2


# --- tokens and windows --------------------------------------------------------------


def pieces(*contents: bytes) -> list[Piece]:
    return [Piece(id=n, content=content) for n, content in enumerate(contents)]


@pytest.mark.parametrize(
    ("contents", "text", "spans", "before"),
    [
        ([b"ab", b" c"], "ab c", [(0, 2), (2, 4)], 0),
        ([b"", b"ab"], "ab", [(0, 2)], 1),
        ([b"<s>", b" ab"], "ab", [(0, 2)], 1),  # a blank that the tokenizer puts first
        ([b"<s>", b"ab"], "<s>ab", [(0, 3), (3, 5)], 0),  # the text's own
        ([b"<s>", b"<s>", b"ab"], "<s>ab", [(0, 3), (3, 5)], 1),
        (
            [b"x", b" \xe2", b"\x9c", b"\x93"],
            "x ✓",
            [(0, 1), (1, 2), (2, 2), (2, 3)],
            0,
        ),
    ],
)
def test_tokens_stand_where_their_bytes_are(
    contents: list[bytes], text: str, spans: list[tuple[int, int]], before: int
) -> None:
    tokens, added = placed(pieces(*contents), text)

    assert [(token.start, token.end) for token in tokens] == spans
    assert added == before


def test_a_tokenizer_that_changes_the_text_is_told() -> None:
    with pytest.raises(NoLikelihoodError, match="do not spell the text 'Ab': .* 'ab'"):
        placed(pieces(b"ab"), "Ab")


def windows(count: int, size: int) -> list[tuple[int, int]]:
    """Return what each token follows: from where, and how many."""
    starts = [
        window_start(place, begin=1, count=count, size=size)
        for place in range(1, count)
    ]
    return [(start, place - start) for place, start in enumerate(starts, 1)]


def test_windows_are_those_of_lm_eval() -> None:
    # Ten tokens after that of beginnings, four at a time: 4, 4, and the last two after
    # three others.
    assert windows(11, 4) == [
        *[(0, 1), (0, 2), (0, 3), (0, 4)],
        *[(4, 1), (4, 2), (4, 3), (4, 4)],
        *[(6, 3), (6, 4)],
    ]
    assert windows(5, 4) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert windows(4, 9) == [(0, 1), (0, 2), (0, 3)]


# --- the page for users --------------------------------------------------------------


def test_the_page_s_suite_passes(suite: Suite, cache: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "log-probabilities.md").read_text(
        "utf-8"
    )
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    [code, perplexity, vectors] = (block for kind, block in blocks if kind == "python")
    [script] = (block for kind, block in blocks if kind == "jsonl")
    [row] = re.findall(r"`({.match.*?})`", page)
    more = """
def test_perplexity(llm_client):
    client = llm_client("fake:script.jsonl")
    assert client.loglikelihood("The capital of France:", " Paris").is_greedy
    found = client.loglikelihood_rolling("The capital of France")
    assert found.logprob == -4.5
    found = client.loglikelihood("The capital of France:", "Paris")
    assert perplexity(found) == math.exp(0.3)
"""
    suite.write(
        test_a=f"{code}\n{perplexity}\n{more}\n{vectors}", script_jsonl=script + row
    )

    suite.run().assert_outcomes(passed=3)
