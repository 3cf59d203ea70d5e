from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.redact import MARK, Redactor, redact_headers

SECRET = 'sk/a+b="c d\\e'


def test_a_secret_is_removed_and_the_rest_stays() -> None:
    redactor = Redactor(["sk-123456789"])

    assert redactor.text("key sk-123456789, max_tokens 300") == (
        "key [redacted], max_tokens 300"
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda s: quote(s),
        lambda s: quote(s, safe=""),
        lambda s: quote_plus(s),
        lambda s: re.sub("%..", lambda m: m[0].lower(), quote(s, safe="")),
        lambda s: json.dumps(s)[1:-1],
        lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
        lambda s: json.dumps(json.dumps({"key": s})),
        lambda s: repr({"key": s}),
        lambda s: base64.b64encode(s.encode()).decode(),
        lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
        lambda s: quote(base64.b64encode(s.encode()).decode(), safe=""),
    ],
)
def test_forms_of_a_secret_are_removed(write: Callable[[str], str]) -> None:
    text = write(SECRET)
    redacted = Redactor([SECRET]).text(f"before {text} after")

    assert MARK in redacted
    assert "a+b" not in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")


@pytest.mark.parametrize("user", ["", "a", "ab", "abc", "abcd"])
def test_a_secret_within_longer_base64_is_removed(user: str) -> None:
    header = base64.b64encode(f"{user}:sk-123456789:x".encode()).decode()
    redacted = Redactor(["sk-123456789"]).text(f"Basic {header}")

    assert MARK in redacted
    assert len(redacted) < len(f"Basic {header}")


def test_a_non_ascii_secret_is_removed_from_escaped_json() -> None:
    assert Redactor(["schlüsselwort"]).text(json.dumps("schlüsselwort")) == f'"{MARK}"'


def test_short_secrets_are_left_alone() -> None:
    assert Redactor(["1234567", ""]).text("1234567") == "1234567"


def test_a_secret_is_also_found_without_the_newline_it_ends_in() -> None:
    assert Redactor(["sk-123456789\n"]).text("sk-123456789") == MARK


def test_overlapping_secrets_leave_nothing() -> None:
    redactor = Redactor(["abcdefgh1234", "1234xyzw5678", "redacted"])

    assert redactor.text("<abcdefgh1234xyzw5678>") == f"<{MARK}>"


def test_the_longer_of_two_secrets_is_removed_whole() -> None:
    assert Redactor(["sk-12345", "sk-12345-more"]).text("sk-12345-more!") == f"{MARK}!"


def test_json_like_values_are_walked() -> None:
    value = {"a": ["sk-123456789", 1, None, ("x sk-123456789",)], "sk-123456789": True}

    assert Redactor(["sk-123456789"]).redact(value) == {
        "a": [MARK, 1, None, [f"x {MARK}"]],
        MARK: True,
    }


def test_without_secrets_the_value_itself_comes_back() -> None:
    value = {"a": ["b"]}

    assert Redactor([]).redact(value) is value


def test_a_redactor_does_not_show_its_secrets() -> None:
    assert "sk-123456789" not in repr(Redactor(["sk-123456789"]))


@given(st.text(min_size=8), st.text(), st.text())
def test_no_text_keeps_a_secret(secret: str, before: str, after: str) -> None:
    redacted = Redactor([secret]).text(before + secret + after)

    assert MARK in redacted
    assert secret not in redacted.replace(MARK, "\0")


def test_key_like_headers_lose_their_values() -> None:
    names = [
        "Authorization",
        "X-API-Key",
        "api-key",
        "x-goog-api-key",
        "Cookie",
        "SET-COOKIE",
        "Proxy-Authorization",
    ]

    assert redact_headers(dict.fromkeys(names, "x")) == dict.fromkeys(names, MARK)


def test_other_headers_stay() -> None:
    headers = {"X-Team": "lab", "x-ratelimit-remaining-tokens": "9", "max_tokens": "5"}

    assert redact_headers(headers) == headers
