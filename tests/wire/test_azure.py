"""Azure OpenAI: deployments, versions and the header of its key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.config import load_config
from pytest_llmeval.errors import ConfigError
from tests.wire.test_embeddings import ask as ask_for_vectors

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab


@pytest.fixture
def azure(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Return the entry of a deployment."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-123")
    return {
        "base_url": server.url,
        "deployment": "my gpt",
        "api_version": "2024-10-21",
        "model": "gpt-4o-mini",
    }


PATH = "/openai/deployments/my%20gpt"


def test_a_deployment_is_asked_with_its_version_and_key(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    assert lab.ask("hi", **azure).text == "fine"

    [seen] = server.seen
    assert seen.target == f"{PATH}/chat/completions?api-version=2024-10-21"
    assert seen.headers["api-key"] == "azure-key-123"
    assert "authorization" not in seen.headers
    assert seen.data["messages"] == [{"role": "user", "content": "hi"}]


def test_completions_and_vectors_stand_beside_it(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    server.will({"choices": [{"text": "fine", "finish_reason": "stop"}]})
    server.will({"data": [{"index": 0, "embedding": [1]}]})

    lab.ask("hi", api="completions", **azure)
    ask_for_vectors(lab, "a", api="embeddings", **azure)

    assert [seen.target for seen in server.seen] == [
        f"{PATH}/completions?api-version=2024-10-21",
        f"{PATH}/embeddings?api-version=2024-10-21",
    ]


@pytest.mark.parametrize(
    ("below", "options", "path"),
    [
        ("/", {"api_version": "1", "deployment": "d"}, "/openai/deployments/d"),
        ("/openai/", {"api_version": "1", "deployment": "d"}, "/openai/deployments/d"),
        ("/openai/deployments/d", {"api_version": "1"}, "/openai/deployments/d"),
        ("?api-version=1", {"deployment": "d"}, "/openai/deployments/d"),
        ("?api-version=1", {"deployment": "d", "api_version": "1"},
         "/openai/deployments/d"),
        ("", {"api_version": "1"}, "/openai/deployments/m"),
        ("/openai/v1", {"api_version": "1"}, "/openai/v1"),
    ],
)  # fmt: skip
def test_an_address_may_be_given_down_to_any_place(
    lab: Lab,
    server: FaultServer,
    azure: dict[str, Any],
    below: str,
    options: dict[str, Any],
    path: str,
) -> None:
    lab.ask("hi", base_url=server.url + below, model="m", **options)

    assert server.seen[0].target == f"{path}/chat/completions?api-version=1"
    assert server.seen[0].headers["api-key"] == "azure-key-123"


def test_the_newer_interface_is_openai_s_own(lab: Lab, server: FaultServer) -> None:
    lab.ask("hi", base_url=f"{server.url}/openai/v1", model="my-gpt")

    assert server.seen[0].target == "/openai/v1/chat/completions"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"base_url": None}, "there is no base_url: name the resource, https://NAME"),
        ({"api_version": None}, "wants a version of its interface too: api_version: '"),
        ({"base_url": "https://x.test/openai/v1"}, "so leave deployment: my gpt out"),
        ({"base_url": "https://x.test/openai/deployments/d"}, "so does deployment: my"),
        ({"base_url": "https://x.test?api-version=1"}, "says api-version=1, and the e"),
        ({"api_version": 3}, "api_version is a text, not 3: put it in quotes"),
        ({"deployment": 3}, "deployment is a text, not 3: put it in quotes"),
    ],
)
def test_a_mistake_is_told_when_it_is_built(
    lab: Lab, azure: dict[str, Any], entry: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        lab.backend(**{**azure, **entry})

    assert said in str(caught.value)


def test_a_version_in_a_file_may_look_like_a_date(tmp_path: Path) -> None:
    path = tmp_path / "llmeval.yaml"
    path.write_text(
        "models:\n  m: {provider: openai, base_url: https://x.test, model: m, "
        "deployment: d, api_version: 2024-10-21}\n",
        encoding="utf-8",
    )

    options = load_config(path).models["m"].options

    assert options == {"deployment": "d", "api_version": "2024-10-21"}


def test_a_missing_key_is_named(
    lab: Lab,
    server: FaultServer,
    azure: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    server.always({"error": {"code": "401", "message": "Access denied."}}, status=401)

    error = lab.error("hi", **azure)

    assert "Access denied. (no key was sent: $AZURE_OPENAI_API_KEY is not" in str(error)


def test_a_token_of_entra_goes_into_the_entry_s_header(
    lab: Lab,
    server: FaultServer,
    azure: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("ENTRA_TOKEN", "ey-token")

    lab.ask("hi", headers={"Authorization": "Bearer ${ENTRA_TOKEN}"}, **azure)

    assert server.seen[0].headers["authorization"] == "Bearer ey-token"
    assert "api-key" not in server.seen[0].headers


def test_the_key_is_shown_nowhere(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    said = {"error": {"code": "401", "message": "wrong key azure-key-123"}}
    server.always(said, status=401)

    error = lab.error("hi", **azure)

    assert "azure-key" not in str(error)
    assert "(key from $AZURE_OPENAI_API_KEY)" in str(error)


def test_a_deployment_that_is_not_there_shows_the_address(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    said = "The API deployment for this resource does not exist."
    server.always(
        {"error": {"code": "DeploymentNotFound", "message": said}}, status=404
    )

    error = lab.error("hi", **azure)

    assert said in str(error)
    assert f"is base_url right? It is {server.url}{PATH}?api-version=" in str(error)
    assert len(server.seen) == 1  # it lists no deployments


def test_a_filtered_prompt_is_told_in_azure_s_words(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    said = "The response was filtered due to the prompt triggering Azure's policy."
    server.always({"error": {"code": "content_filter", "message": said}}, status=400)

    assert said in lab.error("hi", **azure).reason


def test_a_stream_begins_with_what_the_filter_says(
    lab: Lab, server: FaultServer, azure: dict[str, Any]
) -> None:
    filtered = (
        b'data: {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}\n\n'
    )
    text = b'data: {"choices": [{"index": 0, "delta": {"content": "fine"}}]}\n\n'
    end = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    events = (("content-type", "text/event-stream"),)
    server.always(filtered + text + end + b"data: [DONE]\n\n", headers=events)

    assert lab.ask("hi", stream=True, **azure).text == "fine"
