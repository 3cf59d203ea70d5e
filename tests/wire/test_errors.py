"""One clear error a kind: what happened, what there was, what to do next."""

from __future__ import annotations

import gzip
import json
import re
import socket
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ConfigError

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

HTML = b"<html><body><h1>Bad gateway</h1>\n<p>nginx</p></body></html>"


# --- before anything is sent ---------------------------------------------------------


def test_a_missing_key_names_the_variable_and_says_that_env_files_are_not_read(
    lab: Lab, server: FaultServer
) -> None:
    error = lab.error(api_key_env="LAB_KEY")

    assert "LAB_KEY is not set (.env files are not read); export it" in error.reason
    assert not server.seen


def test_the_default_server_needs_the_default_variable(lab: Lab) -> None:
    error = lab.error(base_url=None)

    assert "the environment variable OPENAI_API_KEY is not set" in error.reason
    assert "name another one with api_key_env, or give base_url" in error.reason


def test_a_key_of_white_space_is_no_key(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", " \n")

    assert "LAB_KEY is not set" in lab.error(api_key_env="LAB_KEY").reason


def test_a_key_is_sent_without_the_line_end_it_was_read_with(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-test-0123456789\n")

    lab.ask(api_key_env="LAB_KEY")

    assert server.seen[0].headers["authorization"] == "Bearer sk-test-0123456789"


def test_a_key_that_no_header_can_carry_is_told_without_it(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "“sk-test-0123456789”")

    error = lab.error(api_key_env="LAB_KEY")

    assert "the key in $LAB_KEY holds the character '“'" in error.reason
    assert "sk-test" not in error.reason
    assert not server.seen


def test_a_header_variable_that_is_not_set_is_named(lab: Lab) -> None:
    error = lab.error(headers={"X-Team": "${TEAM}"})

    assert (
        "the header 'X-Team' needs the environment variable TEAM, which is not set "
        "(.env files are not read)" in error.reason
    )


def test_a_header_with_a_name_that_is_none_is_a_mistake_in_the_entry(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="'X Team' is no name of a header"):
        lab.backend(headers={"X Team": "a"})


@pytest.mark.parametrize(
    ("base_url", "message"),
    [
        (
            "127.0.0.1:8080/v1",
            "base_url is a URL, https://..., not '127.0.0.1:8080/v1'",
        ),
        ("http://a b/v1", "base_url is a URL, https://..., not 'http://a b/v1'"),
        ("ftp://host/v1", "base_url is a URL, https://..., not 'ftp://host/v1'"),
        ("http:///v1", "'http:///v1'; write http://HOST:PORT/v1"),
        ("http://host:port/v1", "base_url is no address of a server: Port could not"),
        ("http://host:99999/v1", "base_url is no address of a server: Port out of"),
        ("http://[::1/v1", "base_url is no address of a server: Invalid IPv6 URL"),
        ("http://host/v1#top", "'http://host/v1#top' has a fragment"),
        ("http://${HOST}/v1", "variables are filled in headers and the query alone"),
        ("http://me:secret@host/v1", "a user's name and password, which belong into"),
    ],
)
def test_a_bad_base_url_is_told_when_the_model_is_built(
    lab: Lab, base_url: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        lab.backend(base_url=base_url)

    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_unknown_api_is_told_when_the_model_is_built(lab: Lab) -> None:
    with pytest.raises(
        ConfigError, match="api is chat, completions or embeddings, not '"
    ):
        lab.backend(api="chatty")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stream": True}, "params can't hold stream: replies are read whole"),
        ({"messages": []}, "params can't hold 'messages', which is said elsewhere"),
        ({"model": "m2"}, "params can't hold 'model', which is said elsewhere"),
    ],
)
def test_parameters_that_are_none_are_refused(
    lab: Lab, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        lab.backend(params=params)
    with pytest.raises(ConfigError, match=message):
        lab.ask(params=params)


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
def test_a_parameter_that_json_has_no_form_for_is_told(lab: Lab, value: Any) -> None:
    with pytest.raises(ConfigError, match="what is to be sent is not JSON .*params"):
        lab.ask(params={"seed": value})


# --- no reply ------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_a_refused_connection_asks_whether_the_server_runs(lab: Lab) -> None:
    port = free_port()

    error = lab.error(base_url=f"http://127.0.0.1:{port}/v1")

    assert (
        f"http://127.0.0.1:{port}/v1/chat/completions: could not connect: the "
        f"connection was refused, so nothing listens there; is the server running, "
        f"and base_url right?" in error.reason
    )
    assert (error.cause, error.is_transient) == ("provider", True)


def test_a_name_that_is_not_known_is_told(lab: Lab) -> None:
    error = lab.error(base_url="http://no-such-host.invalid/v1")

    assert "could not connect: the name 'no-such-host.invalid' is not" in error.reason


def test_a_server_that_never_answers_runs_into_the_time_out(
    lab: Lab, server: FaultServer
) -> None:
    server.always(is_held=True)

    error = lab.error(limits=Limits(timeout_seconds=0.3, retries=0))

    assert "no reply within 0.3 s (limits: timeout_seconds)" in error.reason
    assert error.is_transient


def test_a_reply_that_is_not_whole_at_its_deadline_is_told(
    lab: Lab, server: FaultServer
) -> None:
    server.always(is_held=True)

    error = lab.error(limits=Limits(timeout_seconds=20, deadline_seconds=0.05))

    assert "no whole reply within 0.05 s (limits: deadline_seconds)" in error.reason


def test_a_connection_closed_without_a_reply_is_told(
    lab: Lab, server: FaultServer
) -> None:
    server.always(is_dropped=True)

    error = lab.error()

    assert "the server closed the connection without a reply" in error.reason
    assert len(server.seen) == 1


def test_a_reply_that_breaks_off_is_told(lab: Lab, server: FaultServer) -> None:
    server.always({"choices": []}, cut_at=5)

    error = lab.error()

    assert "the reply broke off (peer closed connection without" in error.reason
    assert error.is_transient


def test_what_is_no_http_server_is_told(lab: Lab, server: FaultServer) -> None:
    server.greeting = b"220 mail.example ESMTP\r\n\r\n"

    assert "what answers is no HTTP server" in lab.error().reason


def test_broken_compression_is_told_and_the_slot_lives_on(
    lab: Lab, server: FaultServer
) -> None:
    server.always(b"not gzip", headers=(("content-encoding", "gzip"),))
    limits = Limits(concurrency=1, timeout_seconds=20)

    for _ in range(2):
        error = lab.error(limits=limits)

        assert "not compressed as its content-encoding says" in error.reason
    with pytest.raises(Exception, match="not compressed"):
        lab.ask_all(["a", "b", "c"], limits=limits)


def test_a_reply_that_would_fill_the_memory_is_not_read_on(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_llmeval.clients._http.LONGEST", 1 << 20)
    bomb = gzip.compress(b" " * (3 << 20))
    server.always(bomb, headers=(("content-encoding", "gzip"),))

    error = lab.error()

    assert "the reply is longer than 1 MB, decompressed" in error.reason
    assert len(server.seen) == 1


# --- a reply that says no ------------------------------------------------------------


def said(message: str, **rest: Any) -> dict[str, Any]:
    return {"error": {"message": message, **rest}}


def test_401_names_the_variable_of_the_key(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-test-79-fedcba9876543210")
    server.always(said("Incorrect key: sk-test-79-fedcba9876543210"), status=401)

    error = lab.error(api_key_env="LAB_KEY")

    assert "the server refused the key (401): Incorrect key: [redacted]" in error.reason
    assert "(key from $LAB_KEY)" in error.reason
    assert "fedcba" not in error.reason
    assert (error.status, error.is_transient) == (401, False)


def test_401_without_a_key_says_how_to_give_one(lab: Lab, server: FaultServer) -> None:
    server.always(said("Missing key"), status=401)

    reason = lab.error().reason

    assert "no key was sent: $OPENAI_API_KEY is not set; name the variable" in reason


def test_401_of_a_header_says_that_it_was_the_header(
    lab: Lab, server: FaultServer
) -> None:
    server.always(said("no"), status=401)

    reason = lab.error(headers={"Authorization": "Basic abcdefgh"}).reason

    assert "(key from the entry's header Authorization)" in reason


def test_404_lists_the_models_there_are(lab: Lab, server: FaultServer) -> None:
    server.will(said("The model 'gpt-9' does not exist"), status=404)
    server.will({"data": [{"id": "m-text"}, {"id": "m-code"}, {"no": "id"}, 7]})

    reason = lab.error().reason

    assert "no such model or address (404): The model 'gpt-9' does not exist" in reason
    assert "(did you mean 'm-text'?); models there are: m-text, m-code" in reason
    assert [seen.target for seen in server.seen] == [
        "/v1/chat/completions",
        "/v1/models",
    ]


def test_404_lists_no_more_models_than_one_reads(lab: Lab, server: FaultServer) -> None:
    server.will(said("gone"), status=404)
    server.will({"data": [{"id": f"other-{n}"} for n in range(23)]})

    assert "other-19 and 3 more" in lab.error().reason


@pytest.mark.parametrize(
    "models",
    [
        {"data": None},
        {"object": "list"},
        [],
        b"nothing",
    ],
)
def test_404_of_an_address_without_models_asks_for_base_url(
    lab: Lab, server: FaultServer, models: Any
) -> None:
    server.will(b"404 page not found", status=404)
    server.always(models)

    reason = lab.error().reason

    assert "no such model or address (404): '404 page not found'" in reason
    assert f"it lists no models: is base_url right? It is {server.base_url}" in reason


def test_404_where_the_models_can_not_be_asked_for_is_told_all_the_same(
    lab: Lab, server: FaultServer
) -> None:
    server.will(said("gone"), status=404)
    server.always(is_dropped=True)

    assert "gone; it lists no models" in lab.error().reason


@pytest.mark.parametrize(
    "error",
    [
        {
            "code": 400,
            "message": "request (9031 tokens) exceeds the available context size (2048 "
            "tokens), try increasing it",
            "type": "exceed_context_size_error",
        },
        {
            "code": "context_length_exceeded",
            "message": "This model's maximum context length is 4096 tokens. However, "
            "your messages resulted in 9031 tokens.",
            "type": "invalid_request_error",
        },
        {
            "code": 400,
            "message": "This model's maximum context length is 4096 tokens.",
            "type": "BadRequestError",
        },
    ],
)
def test_a_prompt_that_is_too_long_is_told_in_the_servers_words(
    lab: Lab, server: FaultServer, error: dict[str, Any]
) -> None:
    server.always({"error": error}, status=400)

    found = lab.error()

    assert "the prompt is too long for the model's context (400): " in found.reason
    assert error["message"] in found.reason
    assert "shorten it, or take a model with a longer context" in found.reason
    assert not found.is_transient


@pytest.mark.parametrize(
    ("status", "body", "text", "is_transient"),
    [
        (400, said("'temperature' is hot"), "refused the request (400): 'temp", False),
        (400, {"error": "no such field"}, "(400): no such field", False),
        (400, {"object": "error", "message": "bad"}, "(400): bad", False),
        (400, [said("an old key")], "(400): an old key", False),
        (402, said("no credit"), "the server wants to be paid (402): no credit", False),
        (403, said("not you"), "the server does not allow this (403): not you", False),
        (413, b"", "the request is too large for the server (413): an empty", False),
        (422, {"detail": [{"msg": "x"}]}, '(422): [{"msg": "x"}]', False),
        (429, said("slow down"), "too many requests (429): slow down", True),
        (
            429,
            said("You exceeded your quota", code="insufficient_quota"),
            "the quota of the key is spent (429): You exceeded your quota",
            False,
        ),
        (500, said("oops"), "the server failed (500): oops", True),
        (502, HTML, "the server failed (502): '<html><body><h1>Bad gateway", True),
        (503, said("Loading model"), "the server failed (503): Loading model", True),
        (529, said("busy"), "the server failed (529): busy", True),
        (418, said(""), "the server failed (418): ", False),
    ],
)
def test_what_the_server_says_is_in_the_error(
    lab: Lab,
    server: FaultServer,
    status: int,
    body: Any,
    text: str,
    is_transient: bool,
) -> None:
    server.always(body, status=status)

    error = lab.error()

    assert text in error.reason
    assert (error.status, error.is_transient) == (status, is_transient)
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_said_as_such(lab: Lab, server: FaultServer, status: int) -> None:
    target = f"{server.url}/other?key=1"
    server.always(HTML, status=status, headers=(("location", target),))

    reason = lab.error().reason

    assert f"the server redirects ({status}) to '{server.url}/other'; " in reason
    assert "the key would go along: put the right address into base_url" in reason
    assert len(server.seen) == 1


# --- a good status and no answer -----------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "is_transient", "words"),
    [
        (said("Upstream is busy", code=429), 429, True, "Upstream is busy"),
        (said("Account has no credit", code=402), 402, False, "Account has no credit"),
        (said("late", code="504"), 504, True, "late"),
        (said("who?", type="authentication_error"), 401, False, "who?"),
        (said("hurry", code="rate_limit_exceeded"), 429, True, "hurry"),
        (said("what?", type="invalid_request_error"), 400, False, "what?"),
        (said("hm"), 500, True, "hm"),
        ({"error": "just words"}, 500, True, "just words"),
        ({"detail": "Not Found"}, 500, True, "Not Found"),
        ({"object": "error", "message": "x", "code": 400}, 400, False, "x"),
        (
            {"choices": [{"error": {"code": 502, "message": "gone"}, "message": {}}]},
            502,
            True,
            "gone",
        ),
    ],
)
def test_an_error_with_status_200_is_the_error_it_says(
    lab: Lab,
    server: FaultServer,
    body: Any,
    status: int,
    is_transient: bool,
    words: str,
) -> None:
    server.always(body)

    error = lab.error()

    assert (error.status, error.is_transient) == (status, is_transient)
    assert error.reason.endswith(words) or f": {words} (" in error.reason
    assert len(server.seen) == 1


def test_no_choices_name_the_model(lab: Lab, server: FaultServer) -> None:
    server.always({"id": "c0", "model": "m-test", "choices": []})

    error = lab.error()

    assert "the reply of 'm-test' has no choices: servers send that when a fil" in str(
        error
    )
    assert error.cause == "provider"


@pytest.mark.parametrize("choices", [None, {}, "x", [None], ["text"], [[]]])
def test_choices_that_are_none_are_told(
    lab: Lab, server: FaultServer, choices: Any
) -> None:
    server.always({"model": "m-test", "choices": choices})

    assert "the reply of 'm-test' has no choices" in lab.error().reason


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "the reply is not JSON (application/json): an empty body"),
        (HTML, "the reply is not JSON (application/json): '<html><body><h1>Bad"),
        (b"data: {}\n\n", "the reply is not JSON (application/json): 'data: {}'"),
        (b'{"choices": [', "the reply is not JSON"),
        (b"[" * 200_000, "the reply is not JSON"),
        (b"1" * 10_000, "the reply is not JSON"),
        (b'"text"', "the reply is JSON, but no completion: '\"text\"'"),
        (b'{"choices": "caf\xe9"}', "the reply is not UTF-8 (invalid continuation"),
    ],
)
def test_a_body_that_is_no_completion_is_shown(
    lab: Lab, server: FaultServer, body: bytes, text: str
) -> None:
    server.always(body)

    error = lab.error()

    assert text in error.reason
    assert len(error.reason) < 600


def test_a_body_that_is_not_json_asks_for_base_url(
    lab: Lab, server: FaultServer
) -> None:
    server.always(HTML, headers=(("content-type", "text/html"),))

    assert re.search(
        r"not JSON \(text/html\): .*; is base_url the address of an OpenAI-compatible",
        lab.error().reason,
    )


@pytest.mark.parametrize(
    ("encoding", "charset"),
    [("utf-8-sig", None), ("utf-16", None), ("latin-1", "iso-8859-1")],
)
def test_a_reply_in_another_encoding_is_read(
    lab: Lab, server: FaultServer, encoding: str, charset: str | None
) -> None:
    data = {"choices": [{"message": {"content": "Café"}}]}
    body = json.dumps(data, ensure_ascii=False).encode(encoding)
    kind = f"application/json; charset={charset}" if charset else "application/json"
    server.always(body, headers=(("content-type", kind),))

    assert lab.ask().text == "Café"


@pytest.mark.parametrize("charset", ["no-such-charset", "ascii"])
def test_an_encoding_that_does_not_hold_is_told(
    lab: Lab, server: FaultServer, charset: str
) -> None:
    kind = f"application/json; charset={charset}"
    server.always('{"a": "é"}'.encode("latin-1"), headers=(("content-type", kind),))

    assert "the reply is not UTF-8" in lab.error().reason


def test_a_model_without_a_system_role_is_asked_once_and_says_so(
    lab: Lab, server: FaultServer
) -> None:
    words = "System role not supported by this chat template"
    server.always(said(words, type="BadRequestError", code=400), status=400)

    assert words in lab.error().reason
    assert len(server.seen) == 1
