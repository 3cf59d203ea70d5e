"""Servers that others wrote: what they think of our client counts.

``llmock`` comes with the extra dev; aimock with
``npm install --no-save @copilotkit/aimock`` in the repository (or AIMOCK_CLI, the path of
its dist/cli.js).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.config import Limits

if TYPE_CHECKING:
    from pytest_llmeval.types import Response
    from tests.wire.conftest import Lab, Need

#: Providers of ours, and the interface of a peer that each speaks to.
INTERFACES = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
_CLI = Path("node_modules", "@copilotkit", "aimock", "dist", "cli.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A peer, asked as one of the providers."""

    lab: Lab
    provider: str
    base_url: str

    def ask(self, asked: Any = "hi", *, retries: int = 0, **entry: Any) -> Response:
        """Return the reply to a text, or to messages in their JSON form."""
        return self.lab.ask_prompt(asked, **self.entry(retries, **entry))

    def error(self, text: str = "hi", *, retries: int = 0, **entry: Any) -> Any:
        """Return the error that asking ends in."""
        return self.lab.error(text, **self.entry(retries, **entry))

    def entry(self, retries: int = 0, **more: Any) -> dict[str, Any]:
        """Return the entry of the peer's model."""
        return {
            "provider": self.provider,
            "base_url": self.base_url,
            "model": "test-model",
            "api_key_env": "PEER_KEY",
            "limits": Limits(timeout_seconds=20, retries=retries),
            **more,
        }


@pytest.fixture(params=list(INTERFACES))
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PEER_KEY", "peer-test-key")
    return str(request.param)


# --- llmock --------------------------------------------------------------------------


@pytest.fixture
def llmock_there(need: Need) -> None:
    how = "pip install -e '.[dev]'"
    need("llmock", is_there=find_spec("llmock") is not None, how=how)


@pytest.fixture
def grader(
    llmock_there: None, request: pytest.FixtureRequest, lab: Lab, provider: str
) -> tuple[Any, Peer]:
    """Return llmock's own fixture, and our client in front of it."""
    llmock = request.getfixturevalue("llmock")
    base_url = llmock.base_url(INTERFACES[provider])
    return llmock, Peer(lab=lab, provider=provider, base_url=base_url)


# --- aimock --------------------------------------------------------------------------


def text(answer: str, **more: Any) -> dict[str, Any]:
    return {"response": {"content": answer, **more}}


#: What is said to a prompt that holds the word.
SCRIPT: dict[str, Any] = {
    "limited": {
        "response": {
            "error": {"message": "Rate limited", "type": "rate_limit_error"},
            "status": 429,
            "retryAfter": 3,
        }
    },
    "gateway": {
        "response": {
            "error": {"message": "upstream is gone", "type": "server_error"},
            "status": 502,
        }
    },
    "malformed": {**text("x"), "chaos": {"malformedRate": 1.0}},
    "dropped": {**text("x"), "chaos": {"disconnectRate": 1.0}},
    "length": text("cut by", finishReason="length"),
    "filtered": text("cut by", finishReason="content_filter"),
    "thinking": text("4", reasoning="2+2"),
    "weather": {
        "response": {
            "content": "I look.",
            "toolCalls": [{"name": "look_up", "arguments": '{"city": "Rome"}'}],
        }
    },
    "judge": text("PASS: it is right"),
}


@pytest.fixture(scope="session")
def aimock(need: Need, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an aimock that follows the script."""
    cli = Path(os.environ.get("AIMOCK_CLI") or Path(__file__).parents[3] / _CLI)
    node = shutil.which("node")
    how = "npm install --no-save @copilotkit/aimock (Node 20 or later)"
    need("aimock", is_there=cli.is_file() and node is not None, how=how)
    assert node is not None
    fixtures = [
        {"match": {"userMessage": word}, **answer} for word, answer in SCRIPT.items()
    ]
    usage = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    fixtures.append({"match": {}, **text("catch-all", usage=usage)})
    script = tmp_path_factory.mktemp("aimock") / "script.json"
    script.write_text(json.dumps({"fixtures": fixtures}), "utf-8")
    command = [node, str(cli), "-p", "0", "-h", "127.0.0.1", "-f", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = (line.partition("listening on ")[2].strip() for line in server.stdout)
        yield next(filter(None, said))
        server.terminate()
        server.stdout.read()


@pytest.fixture
def peer(aimock: str, lab: Lab, provider: str) -> Peer:
    suffix = "/v1" if provider.startswith("openai") else ""
    return Peer(lab=lab, provider=provider, base_url=aimock + suffix)
