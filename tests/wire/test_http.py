"""A URL as the model: any JSON endpoint."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval import Case, ConfigError, TemplateError
from pytest_llmeval.cli import main
from pytest_llmeval.clients import Request
from pytest_llmeval.errors import ProviderError, UnscoredError
from pytest_llmeval.types import Prompt, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Lab

CASE = Case(id="peru", input="Peru?", fields={"q": "Capital of Peru?", "k": 3})
PROMPT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": 'Say "hi".'},
]


@pytest.fixture
def entry(server: FaultServer) -> dict[str, Any]:
    server.always({"answer": "fine"})
    return {
        "provider": "http",
        "model": None,
        "base_url": f"{server.url}/ask",
        "reply": "answer",
    }


def sent(lab: Lab, server: FaultServer, entry: Any, **more: Any) -> Any:
    lab.ask_prompt(PROMPT, **entry, **more)
    return server.seen[-1].data


def test_without_a_body_the_prompts_text_is_sent(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    found = lab.ask("hi", params={"k": 3}, **entry)

    seen = server.seen[0]
    assert (seen.method, seen.target) == ("POST", "/ask")
    assert seen.data == {"prompt": "hi", "k": 3}
    assert "authorization" not in seen.headers
    assert (found.text, found.provider, found.origin) == ("fine", "http", "live")
    assert found.latency_seconds is not None


def test_a_mapping_holds_a_template_in_every_text(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    body = {
        "question": "{{ user }}",
        "with": {"system": "{{ system }}", "sample": "{{ sample }}"},
        "list": ["{{ params.k + 1 }}", 7, None],
        "plain": "no template",
    }

    assert sent(lab, server, entry, body=body, params={"k": 3}) == {
        "question": 'Say "hi".',
        "with": {"system": "Be short.", "sample": "0"},
        "list": ["4", 7, None],
        "plain": "no template",
    }


def test_a_text_is_one_template_that_becomes_json(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    body = '{"chat": {{ messages | tojson }}, "text": {{ prompt | tojson }}}'

    assert sent(lab, server, entry, body=body) == {
        "chat": PROMPT,
        "text": 'system: Be short.\n\nuser: Say "hi".',
    }


def test_a_body_may_be_a_file(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    (lab.root / "body.j2").write_text('{"q": {{ user | tojson }}}', "utf-8")

    assert sent(lab, server, entry, body="body.j2") == {"q": 'Say "hi".'}


@pytest.mark.parametrize("path", ["missing.j2", "../out.j2"])
def test_a_bodys_file_lies_in_the_suite(
    lab: Lab, entry: dict[str, Any], path: str
) -> None:
    (lab.root.parent / "out.j2").write_text("{}", "utf-8")

    with pytest.raises(TemplateError, match=r"\.j2"):
        lab.backend(**entry, body=path)


def asked(lab: Lab, case: Case | None, **entry: Any) -> Any:
    backend = lab.backend(**entry)

    async def ask() -> Any:
        try:
            return await backend.answer(Request(prompt=Prompt(messages=()), case=case))
        finally:
            await backend.close()

    assert not backend.sends_prompt
    return asyncio.run(ask())


def test_a_body_may_take_the_rows_columns_and_needs_no_prompt(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    body = '{"id": "{{ case.id }}", "q": {{ case.q | tojson }}, "k": {{ case["k"] }}}'

    asked(lab, CASE, **entry, body=body)

    assert server.seen[0].data == {"id": "peru", "q": "Capital of Peru?", "k": 3}


@pytest.mark.parametrize(
    ("case", "columns"),
    [(CASE, "columns of the case: id, input, q, k"), (None, "none: no case runs")],
)
def test_a_column_that_is_not_there_leaves_the_case_unscored(
    lab: Lab, server: FaultServer, entry: Any, case: Case | None, columns: str
) -> None:
    with pytest.raises(UnscoredError, match="its body uses 'qq'") as caught:
        asked(lab, case, **entry, body={"q": "{{ case.qq }}"})

    assert caught.value.cause == "data"
    assert columns in str(caught.value)
    assert not server.seen


def test_a_null_column_leaves_the_case_unscored(
    lab: Lab, entry: dict[str, Any]
) -> None:
    case = Case(id="a", fields={"q": None})

    with pytest.raises(UnscoredError, match="prints null"):
        asked(lab, case, **entry, body={"q": "{{ case.q }}"})


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ({"q": "{{ promt }}"}, ConfigError, r"'promt' \(did you mean 'prompt'\?\)"),
        ({"q": "{{ question }}"}, ConfigError, r"a column is \{\{ case.question \}\}"),
        ("{{ prompt", TemplateError, "not a Jinja template"),
    ],
)
def test_a_mistake_in_a_body_is_told_before_anything_is_asked(
    lab: Lab, entry: dict[str, Any], body: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        lab.backend(**entry, body=body)


def test_a_body_that_is_not_json_shows_how_it_would_be(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=r"not JSON once.*\{\{ prompt \| tojson \}\}"):
        sent(lab, server, entry, body='{"q": "{{ user }}"}')

    assert not server.seen


def test_parameters_that_no_template_takes_are_refused(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    body = {"q": "{{ prompt }}"}

    with pytest.raises(ConfigError, match=r"'k'.*\{\{ params.k \}\}"):
        lab.backend(**entry, body=body, params={"k": 3})
    backend = lab.backend(**entry, body=body)
    request = Request(prompt=Prompt.of("hi"), params={"k": 3})
    with pytest.raises(ConfigError, match=r"'k'.*\{\{ params.k \}\}"):
        asyncio.run(backend.answer(request))

    assert not server.seen


def test_a_template_can_not_leave_its_sandbox(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    with pytest.raises(UnscoredError, match="SecurityError"):
        sent(lab, server, entry, body={"q": "{{ user.__class__.__mro__ }}"})

    assert not server.seen


def test_data_is_never_a_template(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    lab.ask("{{ 7 * 7 }}", **entry, body={"q": "{{ prompt }}"})

    assert server.seen[0].data == {"q": "{{ 7 * 7 }}"}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods(
    lab: Lab, server: FaultServer, entry: dict[str, Any], method: str
) -> None:
    lab.ask("hi", **entry, method=method)

    assert (server.seen[0].method, server.seen[0].data) == (method, {"prompt": "hi"})


def test_get_sends_the_body_in_the_query(
    lab: Lab,
    server: FaultServer,
    entry: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s-12345678")
    entry["base_url"] += "?key=${SEARCH_KEY}"

    lab.ask("ä & b", **entry, method="GET", body={"q": "{{ prompt }}", "k": 3})

    assert (server.seen[0].method, server.seen[0].body) == ("GET", b"")
    assert server.seen[0].target == "/ask?key=s-12345678&q=%C3%A4+%26+b&k=3"


def test_get_without_a_body_sends_no_query(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    lab.ask("hi", **entry, method="GET", body={})

    assert server.seen[0].target == "/ask"


def test_get_has_no_place_for_a_list(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=r"the body is a mapping.*not \['hi'\]"):
        lab.ask("hi", **entry, method="GET", body="[{{ prompt | tojson }}]")

    assert not server.seen


def test_headers_and_a_key_come_from_the_environment(
    lab: Lab,
    server: FaultServer,
    entry: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEAM", "blue")
    monkeypatch.setenv("APP_KEY", "a-12345678")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-you-1")

    lab.ask("hi", **entry, headers={"X-Team": "${TEAM}"}, api_key_env="APP_KEY")

    headers = server.seen[0].headers
    assert (headers["x-team"], headers["authorization"]) == (
        "blue",
        "Bearer a-12345678",
    )


def test_a_key_that_was_not_sent_is_told(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always({"message": "who are you?"}, status=401)

    assert (
        "(401): who are you? (no key was sent; name the variable that holds it with "
        "api_key_env)"
    ) in lab.error(**entry).reason


# --- the reply -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "path", "text"),
    [
        ({"answer": "fine"}, "answer", "fine"),
        ({"out": [{"text": "a"}, {"text": "b"}]}, "out.-1.text", "b"),
        ({"answer": ""}, "answer", ""),
        ({"answer": 7}, "answer", "7"),
        ({"answer": False}, "answer", "false"),
        ({"answer": {"a": [1, "é"]}}, "answer", '{"a": [1, "é"]}'),
        ("fine", None, "fine"),
        (b"just text", None, "just text"),
        (b"", None, ""),
    ],
)
def test_the_reply_stands_at_its_path(
    lab: Lab, server: FaultServer, entry: Any, data: Any, path: str | None, text: str
) -> None:
    server.always(data)

    assert lab.ask("hi", **{**entry, "reply": path}).text == text


@pytest.mark.parametrize(
    ("data", "path", "words"),
    [
        (
            {"text": "x"},
            "answer",
            "the reply has nothing at 'answer'; in it are the keys text; it is '{",
        ),
        ({"answer": None}, "answer", "nothing at 'answer'; in it are the keys answer"),
        ({"a": {"b": 1, "c": 2}}, "a.d.e", "'a.d.e'; at 'a' are the keys b, c; it is"),
        ({"a": [1, 2]}, "a.7", "at 'a' is a list of 2"),
        ({"a": "x"}, "a.b", "at 'a' is 'x'"),
        ({}, "a", "in it are the keys none"),
        ({f"k{n}": 0 for n in range(20)}, "a", "k10, k11 and 8 more; it is"),
        (b"<html>", "answer", "the reply is not JSON, and has no 'answer': '<html>'"),
        ({"text": "x"}, None, "say in its entry where the text is, reply: dotted.path"),
    ],
)
def test_a_reply_that_is_not_there_is_shown(
    lab: Lab, server: FaultServer, entry: Any, data: Any, path: Any, words: str
) -> None:
    server.always(data)

    assert words in lab.error(**{**entry, "reply": path}).reason


OPENAI = {"prompt_tokens": 9, "completion_tokens": 5}
ANTHROPIC = {"input_tokens": 1, "cache_read_input_tokens": 8, "output_tokens": 5}
RESPONSES = {
    "input_tokens": 9,
    "output_tokens": 5,
    "input_tokens_details": {"cached_tokens": 8},
}
GEMINI = {
    "promptTokenCount": 9,
    "candidatesTokenCount": 5,
    "cachedContentTokenCount": 8,
}


@pytest.mark.parametrize(
    ("usage", "cached"),
    [(OPENAI, None), (ANTHROPIC, 8), (RESPONSES, 8), (GEMINI, 8)],
    ids=["openai", "anthropic", "responses", "gemini"],
)
def test_usage_is_read_in_any_providers_words(
    lab: Lab, server: FaultServer, entry: Any, usage: Any, cached: int | None
) -> None:
    server.always({"answer": "x", "meta": {"usage": usage}})

    found = lab.ask("hi", **entry, usage="meta.usage").usage

    assert found == Usage(input_tokens=9, output_tokens=5, cached_tokens=cached)


def test_cost_and_sources_are_read(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always({"answer": "x", "usd": 0.5, "docs": ["a", {"b": 1}]})

    found = lab.ask("hi", **entry, cost="usd", sources="docs")

    assert (found.cost, found.sources) == (0.5, ("a", '{"b": 1}'))


@pytest.mark.parametrize(("docs", "sources"), [(None, ()), ("one", ("one",)), ([], ())])
def test_sources_may_be_one_or_none(
    lab: Lab, server: FaultServer, entry: Any, docs: Any, sources: Any
) -> None:
    server.always({"answer": "x", "docs": docs})

    found = lab.ask("hi", **entry, cost="usd", usage="usage", sources="docs")

    assert (found.sources, found.cost, found.usage) == (sources, None, None)


@pytest.mark.parametrize("cost", ["0.5", -1, True, {}])
def test_a_cost_that_is_none_is_told(
    lab: Lab, server: FaultServer, entry: dict[str, Any], cost: Any
) -> None:
    server.always({"answer": "x", "usd": cost})

    assert "at 'usd' (cost): not US dollars" in lab.error(**entry, cost="usd").reason


# --- errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("the index is empty", "the index is empty"),
        ({"message": "no such index", "code": 7}, "no such index"),
        ({"code": 7}, '{"code": 7}'),
        (True, "true"),
    ],
)
def test_an_error_may_stand_in_a_reply(
    lab: Lab, server: FaultServer, entry: dict[str, Any], error: Any, words: str
) -> None:
    server.always({"answer": "sorry!", "problem": error})

    found = lab.error(**entry, error="problem")

    assert found.reason.endswith(f": {words}")
    assert found.cause == "provider"


@pytest.mark.parametrize("error", [None, "", False, [], {}])
def test_what_is_no_error(
    lab: Lab, server: FaultServer, entry: dict[str, Any], error: Any
) -> None:
    server.always({"answer": "fine", "problem": error})

    assert lab.ask("hi", **entry, error="problem").text == "fine"


def test_an_application_may_speak_of_errors(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always({"answer": "fine", "error": "of the user's", "detail": "more"})

    assert lab.ask("hi", **entry).text == "fine"


@pytest.mark.parametrize("status", [400, 404, 422, 500, 503])
def test_a_bad_status_is_an_error_whatever_the_reply(
    lab: Lab, server: FaultServer, entry: dict[str, Any], status: int
) -> None:
    server.always({"answer": "fine", "message": "broken"}, status=status)

    error = lab.error(**entry)

    assert f"({status}): broken" in error.reason
    assert error.is_transient is (status >= 500)
    assert len(server.seen) == 1


def test_a_redirect_is_not_followed(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always({}, status=302, headers=(("location", "https://x.test/login"),))

    assert "redirects (302) to 'https://x.test/login'" in lab.error(**entry).reason


# --- in a suite ----------------------------------------------------------------------


def test_a_url_is_a_spec_and_is_replayed_but_never_served_in_auto(
    suite: Suite, server: FaultServer
) -> None:
    server.always("Lima")
    suite.write(
        test_a=f"""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval([{{"id": "peru", "input": "Capital?", "expected": "Lima"}}],
                     generator="{server.url}/ask")
def test_a(case, generator):
    assert_exact(generator(case), case)
"""
    )
    for mode, requests in (("record", 1), ("auto", 2), ("replay", 2), ("auto", 3)):
        suite.run(f"--llmeval-mode={mode}").assert_outcomes(passed=1)

        assert len(server.seen) == requests, mode


def test_the_check_command_shows_where_a_server_stands(
    server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.always({"answer": "fine"})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llmeval.yaml").write_text(
        f"models: {{app: {{provider: '{server.url}/ask', reply: answer}}}}", "utf-8"
    )

    assert main(["check"]) == 0

    assert f"app: http, at {server.url}/ask, it said 'fine'" in (
        capsys.readouterr().out
    )


def test_an_entry_can_say_that_its_replies_are_kept(
    suite: Suite, server: FaultServer
) -> None:
    server.always({"answer": "Lima"})
    suite.write(
        llmeval_yaml=f"""
generator: app
models:
  app: {{provider: "{server.url}/ask", reply: answer, cache: true}}
""",
        test_a="""
def test_a(generator):
    assert generator("Capital?").text == "Lima"
""",
    )

    for mode in ("record", "auto"):
        suite.run(f"--llmeval-mode={mode}").assert_outcomes(passed=1)

    assert len(server.seen) == 1


def test_a_secret_in_the_query_is_shown_nowhere(
    lab: Lab,
    server: FaultServer,
    entry: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s-12345678")
    entry["base_url"] += "?key=${SEARCH_KEY}"
    server.always({"message": "bad key s-12345678"}, status=403)

    with pytest.raises(ProviderError) as caught:
        lab.ask("hi", **entry, method="GET", body={"q": "{{ prompt }}"})

    assert "s-12345678" not in str(caught.value)
    backend = lab.backend(**entry)
    assert "s-12345678" not in str(backend.identity(Request(prompt=Prompt.of("hi"))))
