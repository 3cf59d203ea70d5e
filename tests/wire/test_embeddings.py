"""Vectors of texts over the wire of OpenAI's interface."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.clients.models import weights_path
from pytest_llmeval.errors import ConfigError, ProviderError
from pytest_llmeval.types import Prompt, Response, packed_vector, unpacked_vector

if TYPE_CHECKING:
    from tests.wire.conftest import Lab


def ask(lab: Lab, *texts: str, **entry: Any) -> Response:
    backend = lab.backend(**entry)

    async def answer() -> Response:
        try:
            request = Request(prompt=Prompt(messages=()), texts=texts)
            return await backend.answer(request)
        finally:
            await backend.close()

    return asyncio.run(answer())


def vectors(response: Response) -> list[list[float]]:
    return [unpacked_vector(vector) for vector in response.embeddings]


def reply(*items: Any) -> Any:
    return {
        "object": "list",
        "model": "m-test",
        "data": list(items),
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
    }


def test_vectors_stand_in_the_order_of_the_texts(lab: Lab) -> None:
    lab.server.always(
        reply(
            {"index": 1, "embedding": [0.5, 1]},
            {"index": 0, "embedding": packed_vector([1, 0.25])},
        )
    )

    found = ask(lab, "a", "b")

    assert vectors(found) == [[1, 0.25], [0.5, 1]]
    assert (found.text, found.provider, found.model) == ("", "openai", "m-test")
    assert found.usage is not None
    assert found.usage.input_tokens == 5
    [seen] = lab.server.seen
    assert (seen.target, seen.data) == (
        "/v1/embeddings",
        {"model": "m-test", "input": ["a", "b"]},
    )


def test_the_parameters_of_an_embedding_model_are_sent_and_others_are_not(
    lab: Lab,
) -> None:
    lab.server.always(reply({"index": 0, "embedding": [1]}))

    ask(lab, "a", params={"temperature": 0})
    ask(lab, "a", params={"dimensions": 1}, api="embeddings")

    chat, embedding = (seen.data for seen in lab.server.seen)
    assert chat == {"model": "m-test", "input": ["a"]}
    assert embedding == {"model": "m-test", "input": ["a"], "dimensions": 1}


def test_the_parameters_belong_to_what_is_asked(lab: Lab) -> None:
    request = Request(prompt=Prompt(messages=()), texts=("a",))

    def identity(**entry: Any) -> dict[str, Any]:
        return lab.backend(**entry).identity(request)

    assert identity(api="embeddings", params={"dimensions": 1}) == {
        "provider": "openai",
        "base_url": lab.server.base_url,
        "model": "m-test",
        "embeddings_of": ["a"],
        "params": {"dimensions": 1},
    }
    assert identity(params={"temperature": 0})["params"] == {}


def test_an_embedding_model_gives_no_replies(lab: Lab) -> None:
    with pytest.raises(
        ConfigError, match="gives vectors of texts alone: its entry say"
    ):
        lab.ask("hi", api="embeddings")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (reply({"index": 0, "embedding": [1]}), "no vectors of 2 texts: there are 1"),
        (
            reply(*({"index": 0, "embedding": [n]} for n in range(2))),
            "no vectors of 2 texts: there are 1",
        ),
        (
            reply(*({"index": n, "embedding": [1]} for n in range(3))),
            "no vectors of 2 texts: there are 3",
        ),
        (
            reply(*({"index": n, "embedding": [1] * (n + 1)} for n in range(2))),
            "they are of lengths 1, 2",
        ),
        (
            reply(*({"index": n, "embedding": ["x"]} for n in range(2))),
            "vector 1 is ['x']",
        ),
        (reply(*({"index": n} for n in range(2))), "vector 1 is None"),
        (
            reply(*({"index": n, "embedding": "?"} for n in range(2))),
            "no packed vector",
        ),
        ({"data": "x"}, "there are 0; it is "),
        ([], "there are 0; it is "),
        (b"<html>", "there are 0; it is '<html>'"),
    ],
)
def test_a_reply_without_the_vectors_is_no_answer(
    lab: Lab, data: Any, said: str
) -> None:
    lab.server.always(data)

    with pytest.raises(ProviderError) as caught:
        ask(lab, "a", "b")

    assert "openai:m-test: the reply holds no vectors of 2 texts: " in str(caught.value)
    assert said in str(caught.value)


# --- the real server -----------------------------------------------------------------

SERVE = """
import sys, threading, xllamacpp as x
p = x.CommonParams()
p.model.path, p.hostnames, p.port, p.verbosity = sys.argv[1], ["127.0.0.1"], 0, 0
p.n_ctx, p.cpuparams.n_threads, p.cpuparams_batch.n_threads = 2048, 1, 1
p.embedding, p.pooling_type = True, x.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
s = x.Server(p)
print(s.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def embedding_server() -> Iterator[Any]:
    """Return what starts a real server of vectors, once."""
    started: list[Any] = []

    def base_url() -> str:
        if not started:
            command = [sys.executable, "-c", SERVE, str(weights_path("smollm2"))]
            pipe = subprocess.PIPE
            server = subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe)
            started.append(server)
            started.append(started[0].stdout.readline().strip())
        return f"{started[1]}/v1"

    yield base_url
    if started:
        with started[0]:
            started[0].stdin.close()


@pytest.fixture
def entry(lab: Lab, cache: Path, embedding_server: Any) -> dict[str, Any]:
    return {"base_url": embedding_server(), "model": "smollm2", "api": "embeddings"}


def test_the_real_server_s_vectors_are_of_length_one_and_the_same_again(
    lab: Lab, entry: dict[str, Any]
) -> None:
    texts = ["The shop closes at nine.", "It shuts at nine.", "naïve ✓", "x"]

    found = vectors(ask(lab, *texts, **entry))

    assert len(found) == 4
    for vector in found:
        assert len(vector) == 576
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-3)
    assert vectors(ask(lab, texts[1], **entry))[0] == pytest.approx(found[1], abs=1e-3)
    assert found[0] != found[1]


def test_a_text_too_long_is_told_in_the_server_s_words(
    lab: Lab, entry: dict[str, Any]
) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(lab, "word " * 1000, **entry)

    assert "is too large to process" in caught.value.reason
    assert "too long for the model's context (500): input (" in caught.value.reason
    assert not caught.value.is_transient  # asking again would not help


def test_a_server_without_them_says_how_to_have_them(
    lab: Lab, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)

    with pytest.raises(ProviderError) as caught:
        ask(lab, "a", base_url=real.base_url, api_key_env="REAL_KEY")

    assert "(501): This server does not support embeddings. Start" in str(caught.value)
    assert not caught.value.is_transient
