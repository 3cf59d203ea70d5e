from __future__ import annotations

import shlex
from typing import Any

from pytest_llmeval.report.curl import curl_command
from pytest_llmeval.types import Sent


def command(**changes: Any) -> str:
    values: dict[str, Any] = {
        "method": "POST",
        "url": "http://h/v1/chat/completions",
        "headers": {},
        "body": "{}",
    }
    found = curl_command({"sent": Sent(**{**values, **changes}).to_json()})
    assert found is not None
    return found


def test_a_call_that_does_not_say_what_was_sent_has_no_command() -> None:
    assert curl_command({"prompt": []}) is None


def test_variables_are_the_shells_and_nothing_else_is() -> None:
    text = command(
        url="http://h/v1?k=${LAB_KEY}&x=$(id)",
        headers={"authorization": "Bearer ${LAB_KEY}", "x": "it's `id` $HOME"},
        body='{"a": "it\'s ${HOME}"}',
    )

    words = shlex.split(text)
    assert words[1] == "http://h/v1?k=${LAB_KEY}&x=$(id)"
    assert '"${LAB_KEY}"' in text
    assert text.count('"${') == 2  # that of the body is a text's
    assert "x: it's `id` $HOME" in words
    assert words[-1] == '{"a": "it\'s ${HOME}"}'


def test_curl_has_its_own_words_for_some_things() -> None:
    text = command(
        method="PUT",
        url="http://[::1]/v1",
        headers={"accept-encoding": "gzip", "x-empty": ""},
    )

    assert "-X PUT" in text
    assert "--globoff" in text
    assert "--compressed" in text
    assert "'x-empty;'" in text
    assert "--globoff" not in command()


def test_nothing_that_is_no_character_of_ascii_is_in_a_body() -> None:
    assert "--data-raw" in command(body="{}")
    assert "--data" not in command(method="GET", body=None)
    assert command(body="1" * 200_000).startswith("printf %s 111")
