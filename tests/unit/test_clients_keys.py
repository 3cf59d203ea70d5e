"""Keys, addresses, proxies: read from the environment, and hidden."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._failures import failure
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys, Secret
from pytest_llmeval.clients._process import is_alive
from pytest_llmeval.clients._transport import proxy_of, proxy_secrets
from pytest_llmeval.errors import ProviderError


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def keys(headers: Mapping[str, str] | None = None) -> Keys:
    return Keys(
        model="lab", variable="LAB_KEY", headers=headers or {}, is_required=False
    )


# --- secrets -------------------------------------------------------------------------


def test_a_secret_shows_itself_nowhere() -> None:
    assert "abc" not in f"{Secret('abc')!r} {Secret('abc')} {[Secret('abc')]}"


def test_the_secrets_are_the_variables_of_key_and_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_KEY", "the-key")
    monkeypatch.setenv("TEAM", "the-team")

    assert set(keys({"X-Team": "${TEAM} ${UNSET}"}).secrets()) == {
        "the-key",
        "the-team",
    }


def test_a_key_that_is_written_into_a_header_is_a_secret_too() -> None:
    found = set(keys({"authorization": "Bearer abc", "X-Team": "red"}).secrets())

    assert found == {"Bearer abc", "abc"}


def test_header_values_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM", "red\n")

    headers = keys({"X-Team": "team ${TEAM}!"}).headers

    assert headers["X-Team"].reveal() == "team red!"


def test_a_header_that_can_not_be_sent_is_told_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEAM", "red\r\nX-Evil: 1")

    with pytest.raises(
        ProviderError, match=r"the header 'X-Team' holds the char.*'\\r"
    ):
        _ = keys({"X-Team": "${TEAM}"}).headers


# --- addresses -----------------------------------------------------------------------


def address(base_url: str) -> Address:
    return Address.of(base_url, model="lab")


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("http://a/v1", "http://a/v1"),
        ("http://a/v1/", "http://a/v1"),
        ("https://A:8080", "https://A:8080"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://a/v1?api-version=2", "http://a/v1?api-version=2"),
        ("http://a/v1?key=sk-0123", "http://a/v1?key=[redacted]"),
        ("http://a/v1?x=1&api_key=sk&y", "http://a/v1?x=1&api_key=[redacted]&y="),
        ("http://a/v1?key=${LAB_KEY}", "http://a/v1?key=${LAB_KEY}"),
        ("http://a/v1?", "http://a/v1"),
    ],
)
def test_an_address_is_shown_without_secrets(base_url: str, shown: str) -> None:
    assert str(address(base_url)) == repr(address(base_url)) == shown


def test_the_query_is_sent_whole_and_variables_are_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_KEY", "a&b=c/d")
    query = address("http://a/v1?v=2&key=${LAB_KEY}&sig=x%2Fy").query()

    assert query is not None
    assert query.reveal() == "v=2&key=a%26b%3Dc%2Fd&sig=x%2Fy"
    assert address("http://a/v1").query() is None


def test_the_secrets_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "the-key")
    found = address("http://a/v1?v=2&key=${LAB_KEY}&sig=x%2Fy&code=${UNSET}")

    assert set(found.secrets()) - {""} == {"the-key", "x%2Fy", "x/y"}


# --- proxies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "http://a/v1", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://a/v1", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a/v1", None),
        ({"https_proxy": "http://p:1"}, "https://a/v1", "http://p:1"),
        ({"ALL_PROXY": "p:1"}, "https://a/v1", "p:1"),
        ({"ALL_PROXY": "p:1", "NO_PROXY": "a"}, "https://a:8080/v1", None),
        ({"ALL_PROXY": "p:1", "NO_PROXY": ".corp"}, "https://x.corp/v1", None),
        ({"ALL_PROXY": "p:1", "NO_PROXY": "b"}, "https://a/v1", "p:1"),
        ({"ALL_PROXY": "p:1", "no_proxy": "*"}, "https://a/v1", None),
    ],
)
def test_the_environments_proxy(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    url: str,
    proxy: str | None,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert proxy_of(url) == proxy


def test_a_proxys_password_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:p%40ss@p:1")
    monkeypatch.setenv("HTTP_PROXY", "http://[broken")

    assert proxy_secrets() == ["p%40ss", "p@ss"]


# --- failures that no server of ours can make happen ---------------------------------


@pytest.mark.parametrize(
    ("exc", "text", "is_transient"),
    [
        (httpx.ConnectTimeout(""), "no connection within 60 s (limits: timeout", True),
        (httpx.ReadTimeout(""), "no reply within 60 s (limits: timeout_seconds)", True),
        (httpx.WriteTimeout(""), "no reply within 60 s", True),
        (httpx.ReadError(""), "the server closed the connection (ReadError)", True),
        (httpx.WriteError("pipe"), "the server closed the connection (pipe)", True),
        (httpx.ConnectError("odd"), "could not connect (odd); is the server run", True),
        (httpx.LocalProtocolError("odd"), "the request can't be sent (odd)", False),
        (httpx.UnsupportedProtocol("odd"), "the request can't be sent (odd)", False),
    ],
)
def test_failures_in_words(exc: httpx.HTTPError, text: str, is_transient: bool) -> None:
    error = failure(exc, "http://a/v1", wire=Wire())

    assert error.reason.startswith("http://a/v1: ")
    assert text in error.reason
    assert error.is_transient == is_transient


def test_a_refusal_is_found_in_a_group_of_failures() -> None:
    exc = httpx.ConnectError("All connection attempts failed")
    refused = OSError("one of several"), ConnectionRefusedError(111, "refused")
    exc.__cause__ = OSError("all failed")
    exc.__cause__.__cause__ = ExceptionGroup("attempts", refused)

    assert "nothing listens there" in failure(exc, "http://a", wire=Wire()).reason


# --- processes -----------------------------------------------------------------------


def test_a_process_is_there_or_not() -> None:
    assert is_alive(1)
    assert not is_alive(2**22 + 1)


def test_a_look_at_the_environment_bears_that_pytest_changes_it() -> None:
    """The main thread sets PYTEST_CURRENT_TEST while bodies ask on other threads."""
    from pytest_llmeval.clients.shelf import Shelf

    shelf = Shelf(Path())
    shelf.hide(proxy_secrets)
    is_over = threading.Event()

    def change() -> None:
        while not is_over.is_set():
            os.environ["PYTEST_CURRENT_TEST"] = "here"
            os.environ.pop("PYTEST_CURRENT_TEST", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(3000):
            assert shelf.redactor.text("clear") == "clear"
            proxy_of("http://127.0.0.1:1/")
    finally:
        is_over.set()
        thread.join()
