from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.config import Config, Limits, ModelEntry, load_config, parse_spec
from pytest_llmeval.errors import ConfigError

WHOLE = """\
generator: app                      # default model under test
judge: grader
models:
  app:    {provider: openai, model: gpt-4o-mini, params: {temperature: 0}, prices: {input: 0.15, output: 0.60}}
  grader: {provider: anthropic, model: claude-haiku, params: {max_tokens: 300}}
  lab:    {provider: openai, base_url: http://127.0.0.1:8080/v1, model: smollm2, api_key_env: LAB_KEY, headers: {X-Team: "${TEAM}"}, ca_bundle: corp.pem}
  panel:  {panel: [grader, lab]}
gates: ["pass_rate >= 0.9", "cost <= 0.50"]
limits: {concurrency: 4, requests_per_minute: 500, tokens_per_minute: 200000, retries: 0, timeout_seconds: 1.5, deadline_seconds: 30}
"""


def config_of(folder: Path, text: str) -> Config:
    path = folder / "llmeval.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def refusal_of(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        config_of(folder, text)
    return str(caught.value)


def entry_refusal_of(folder: Path, entry: str) -> str:
    return refusal_of(folder, f"models:\n  app:\n    {entry}\n")


def test_without_a_file_the_defaults_hold() -> None:
    assert load_config(None) == Config()
    assert Config().limits == Limits(
        concurrency=10, retries=5, timeout_seconds=60, deadline_seconds=300
    )


def test_a_missing_file_is_refused_with_near_names(tmp_path: Path) -> None:
    (tmp_path / "llmeval.yml").write_text("", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "llmeval.yaml")

    assert str(caught.value) == (
        "llmeval.yaml: there is no such file (did you mean 'llmeval.yml'?); the folder "
        f"'{tmp_path.as_posix()}' holds: llmeval.yml"
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "models:\ngates:\n"])
def test_an_empty_file_holds_the_defaults(tmp_path: Path, text: str) -> None:
    assert config_of(tmp_path, text) == Config(path="llmeval.yaml")


def test_defaults_gates_and_limits_are_read(tmp_path: Path) -> None:
    config = config_of(tmp_path, WHOLE)

    assert (config.generator, config.judge) == ("app", "grader")
    assert config.gates == ("pass_rate >= 0.9", "cost <= 0.50")
    assert config.limits == Limits(
        concurrency=4,
        requests_per_minute=500,
        tokens_per_minute=200000,
        retries=0,
        timeout_seconds=1.5,
        deadline_seconds=30,
    )


def test_models_are_read(tmp_path: Path) -> None:
    models = config_of(tmp_path, WHOLE).models

    assert models["app"] == ModelEntry(
        name="app",
        provider="openai",
        model="gpt-4o-mini",
        params={"temperature": 0},
        prices={"input": 0.15, "output": 0.6},
    )
    assert models["lab"].base_url == "http://127.0.0.1:8080/v1"
    assert models["lab"].api_key_env == "LAB_KEY"
    assert models["lab"].headers == {"X-Team": "${TEAM}"}
    assert models["lab"].ca_bundle == "corp.pem"
    assert models["panel"].provider == "panel"
    assert models["panel"].panel == ("grader", "lab")


def test_an_entry_has_further_keys(tmp_path: Path) -> None:
    entry = (
        "{provider: http, base_url: https://x.test/a, body: {q: 1.50}, reply: a.b, "
        "cache: true, on_length: score, method: PUT}"
    )

    model = config_of(tmp_path, f"models: {{app: {entry}}}").models["app"]

    assert (model.provider, model.base_url, model.reply) == (
        *("http", "https://x.test/a", "a.b"),
    )
    assert (model.cache, model.on_length) == (True, "score")
    assert model.options == {"body": {"q": 1.5}, "method": "PUT"}


def test_code_may_be_passed_the_case(tmp_path: Path) -> None:
    entry = "{provider: python, model: 'a:f', pass: case, reply: a.b}"

    model = config_of(tmp_path, f"models: {{app: {entry}}}").models["app"]

    assert (model.pass_, model.reply) == ("case", "a.b")


def test_a_url_is_a_provider(tmp_path: Path) -> None:
    config = config_of(tmp_path, "models: {app: {provider: https://x.test/a}}")

    assert config.models["app"].provider == "http"
    assert config.models["app"].base_url == "https://x.test/a"


def test_parameters_are_plain_numbers(tmp_path: Path) -> None:
    entry = "{provider: openai, model: m, params: {top_p: 0.10, stop: [a, 1.0]}}"

    params = config_of(tmp_path, f"models: {{app: {entry}}}").models["app"].params

    assert type(params["top_p"]) is float
    assert repr(params) == "{'top_p': 0.1, 'stop': ['a', 1.0]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "generater: app",
            "llmeval.yaml:1: unknown key 'generater' (did you me",
        ),
        (
            "- a",
            "llmeval.yaml:1: a mapping (generator:, models:, ...) is expected, not [",
        ),
        ("a: 1\na: 2", "llmeval.yaml:2: the key 'a' stands twice in one mapping"),
        ("models: {a", "llmeval.yaml:1: not valid YAML"),
        (
            "models:\n  app:\n    provider: x\n   model: y",
            "did not find expected key (while parsing a block mapping, begun in line 2); "
            "keys of one mapping, or entries of one list, have one indentation",
        ),
        ("models:\n\tapp: x", "next token); indent by spaces"),
        ("models: a: b", "in this context; a text with ': ' in it stands in quotes"),
        (
            "generator: 5",
            "llmeval.yaml:1: generator is a text, not 5: put it in ",
        ),
        ("judge: ''", "llmeval.yaml:1: judge is a text, not ''"),
        ("\njudge: nope", "llmeval.yaml:2: judge: there is no model 'nope'"),
        ("models: [a]", "llmeval.yaml:1: models is a mapping, not ['a']"),
        (
            "models:\n  a: openai:x",
            "llmeval.yaml:2: models: a is a mapping, {provider: ",
        ),
        ("gates: x", "llmeval.yaml:1: gates is a list of texts, not 'x'"),
        (
            "gates:\n- a\n- 5",
            "llmeval.yaml:3: gates holds 5, and each is a text",
        ),
        (
            "limits:\n  concurency: 5",
            "llmeval.yaml:2: limits: unknown key 'concurency' (d",
        ),
        ("limits: 5", "llmeval.yaml:1: limits is a mapping, not 5"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert expected in refusal_of(tmp_path, text)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("concurrency: 0", "concurrency is a whole number from 1 up, not 0"),
        ("concurrency: 2.0", "concurrency is a whole number from 1 up, not 2.0"),
        ("concurrency: true", "concurrency is a whole number from 1 up, not True"),
        ("retries: -1", "retries is a whole number from 0 up, not -1"),
        ("retries: yes", "retries is a whole number from 0 up, not 'yes'"),
        ("requests_per_minute: 0", "requests_per_minute is a number above 0, not 0"),
        ("timeout_seconds: 60s", "timeout_seconds is a number above 0, not '60s'"),
        ("deadline_seconds: 1e999", "deadline_seconds is a number above 0, not 1e999"),
    ],
)
def test_a_wrong_limit_is_refused(tmp_path: Path, limit: str, expected: str) -> None:
    message = refusal_of(tmp_path, f"limits:\n  {limit}\n")

    assert message == f"llmeval.yaml:2: limits: {expected}"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "provider: opnai",
            "3: model 'app': unknown provider 'opnai' (did you mean 'ope",
        ),
        (
            "provider: openai:gpt",
            "unknown provider 'openai:gpt' (write provider: openai ",
        ),
        (
            "model: gpt",
            "model 'app': provider is missing; providers: openai, openai-re",
        ),
        (
            "provider: openai",
            "model 'app': model is missing: openai needs one (openai:MO",
        ),
        (
            "provider: http",
            "model 'app': base_url is missing: http needs the URL to call",
        ),
        (
            "{provider: openai, model: 3.5}",
            "model is a text, not 3.5: put it in quotes",
        ),
        (
            "{provider: openai, model: m, base_url: x}",
            "base_url is a URL, https://..., ",
        ),
        (
            "{provider: openai, model: m, modle: x}",
            "unknown key 'modle' (did you mean 'm",
        ),
        (
            "{provider: openai, model: m, cache: yes}",
            "cache is true or false, not 'yes'",
        ),
        (
            "{provider: python, model: 'm:f', pass: row}",
            "pass is prompt or case, not 'row'",
        ),
        (
            "{provider: openai, model: m, on_length: scor}",
            "on_length is unscored or score",
        ),
        ("{provider: openai, model: m, params: [a]}", "params is a mapping, not ['a']"),
        ("{provider: openai, model: m, prices: {in: 1}}", "unknown key 'in'"),
        (
            "{provider: openai, model: m, limits: {retry: 1}}",
            "model 'app', limits: unknown key 'retry' (did you mean 'retries'?)",
        ),
        (
            "{provider: openai, model: m, limits: {concurrency: 0}}",
            "concurrency is a whole number from 1 up, not 0",
        ),
        (
            "{provider: python, model: 'a:b', limits: {concurrency: 2}}",
            "limits hold for models with a server, which python has not",
        ),
        (
            "{provider: openai, model: m, prices: {input: -1}}",
            "input is a number from 0",
        ),
        (
            "{provider: openai, model: m, body: x}",
            "body is for http, not for openai",
        ),
        (
            "{provider: anthropic, model: m, max_tokens_key: x}",
            "max_tokens_key is for openai, local, not for anthropic",
        ),
        (
            "{provider: python, model: 'm:f', omit: [a]}",
            "omit is for openai, openai-responses, anthropic, gemini, local, not for",
        ),
        (
            "{provider: openai, model: m, reply: a.b}",
            "reply is for python, http, not for openai",
        ),
        (
            "{provider: 'https://x.test', pass: case}",
            "pass is for python, not for http",
        ),
        (
            "{provider: python, model: 'm:f', base_url: 'https://x.test'}",
            "base_url is for openai, openai-responses, anthropic, gemini, http, not",
        ),
        ("{provider: openai, model: m, omit: temperature}", "omit is a list of texts"),
        ("{provider: openai, model: m, omit: [1]}", "omit holds 1, and each is a text"),
        (
            "{provider: openai, model: m, system_role: none}",
            "system_role is system or developer or user, not 'none'",
        ),
        (
            "{provider: openai, model: m, json_schema: 1}",
            "json_schema is true or false, not 1",
        ),
        (
            "{provider: openai, model: m, max_tokens_key: [a]}",
            "max_tokens_key is a text, not ['a']",
        ),
        ("{provider: 'https://x.test', method: post}", "method is POST or GET or"),
        ("{provider: 'https://x.test', usage: 1}", "usage is a text, not 1"),
        (
            "{provider: 'https://x.test', body: [a]}",
            "body is a template's text or a mapping of templates, not ['a']",
        ),
        ("panel: []", "a panel names its judges: panel: [NAME, NAME]"),
        ("panel: [nope]", "a panel can't hold 'nope'; models: none"),
        ("panel: [app]", "a panel can't hold 'app'; models: none"),
        (
            "{panel: [openai:x], model: y}",
            "a panel has no key beside panel, and here is",
        ),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(
    tmp_path: Path, entry: str, expected: str
) -> None:
    message = entry_refusal_of(tmp_path, entry)

    assert message.startswith(
        ("llmeval.yaml:3: model 'app'", "llmeval.yaml:2: model 'app")
    )
    assert expected in message


def test_a_panel_of_panels_is_refused(tmp_path: Path) -> None:
    text = "models:\n  a: {panel: ['openai:x']}\n  b: {panel: [a]}\n"

    assert refusal_of(tmp_path, text) == (
        "llmeval.yaml:3: models: the panel 'b' holds the panel 'a': name judges"
    )


@pytest.mark.parametrize("name", ["api_key", "key", "token", "API-KEY"])
def test_a_key_in_the_file_is_refused_and_not_repeated(
    tmp_path: Path, name: str
) -> None:
    message = entry_refusal_of(
        tmp_path, f"{{provider: openai, model: m, {name}: sk-secret-value}}"
    )

    assert "Keys are read from the environment alone: name the variable" in message
    assert "sk-secret-value" not in message


def test_a_key_in_place_of_a_variable_s_name_is_not_repeated(tmp_path: Path) -> None:
    message = entry_refusal_of(
        tmp_path, "{provider: openai, model: m, api_key_env: sk-secret-value}"
    )

    assert "api_key_env is the name of an environment variable" in message
    assert "sk-secret-value" not in message


@pytest.mark.parametrize("value", ["5", '"a\\nb"', "[sk-secret-value]"])
def test_a_wrong_header_is_not_repeated(tmp_path: Path, value: str) -> None:
    message = entry_refusal_of(
        tmp_path, f"{{provider: openai, model: m, headers: {{X-Key: {value}}}}}"
    )

    assert "the header 'X-Key' is a text of one line" in message
    assert "secret" not in message


def test_another_file_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "ci.yaml"
    path.write_text("a: 1", encoding="utf-8")

    with pytest.raises(ConfigError, match=rf"^{path.as_posix()}:1: unknown key"):
        load_config(path)


@pytest.mark.parametrize(
    ("spec", "provider", "model"),
    [
        ("openai:gpt-4o", "openai", "gpt-4o"),
        ("openai-responses:gpt", "openai-responses", "gpt"),
        ("anthropic:claude", "anthropic", "claude"),
        ("gemini:flash", "gemini", "flash"),
        ("python:app.main:answer", "python", "app.main:answer"),
        ("column:my reply", "column", "my reply"),
        ("local:", "local", ""),
        ("fake:data/fake.jsonl", "fake", "data/fake.jsonl"),
    ],
)
def test_a_spec_names_provider_and_model(spec: str, provider: str, model: str) -> None:
    assert parse_spec(spec, Config()) == ModelEntry(
        name=spec, provider=provider, model=model
    )


def test_a_url_is_a_spec() -> None:
    entry = parse_spec("http://127.0.0.1:80/answer", Config())

    assert (entry.provider, entry.base_url) == ("http", "http://127.0.0.1:80/answer")


def test_a_configured_name_is_a_spec(tmp_path: Path) -> None:
    config = config_of(tmp_path, WHOLE)

    assert parse_spec("lab", config) is config.models["lab"]


def test_a_configured_name_stands_before_a_provider() -> None:
    entry = ModelEntry(name="openai:x", provider="python", model="a:b")

    assert parse_spec("openai:x", Config(models={"openai:x": entry})) is entry


def test_a_mapping_is_an_entry() -> None:
    entry = parse_spec({"provider": "python", "model": "a:b", "pass": "case"}, Config())

    assert (entry.name, entry.provider, entry.pass_) == ("python:a:b", "python", "case")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            "ap",
            "there is no model 'ap' (did you mean 'app'?); models of llmeval.yaml: app",
        ),
        ("gpt-4o", "there is no model 'gpt-4o'; models of llmeval.yaml: app, grader"),
        ("opnai:gpt", "there is no model 'opnai:gpt' (did you mean 'openai:gpt'?)"),
        ("http:x", "there is no model 'http:x'"),
        (
            "openai",
            "specs: openai:MODEL, openai-responses:MODEL, anthropic:MODEL, gemini",
        ),
        ("openai:", "the spec 'openai:' ends after its colon: write openai:MODEL"),
        (
            "python: ",
            "the spec 'python: ' ends after its colon: write python:package.mod",
        ),
        ("", "a model is a name, a spec or a mapping, not ''"),
        (5, "a model is a name, a spec or a mapping, not 5"),
        (
            {"provider": "opnai"},
            "model {opnai}: unknown provider 'opnai' (did you mean",
        ),
        ({}, "model {...}: provider is missing"),
        (
            {"provider": "openai", "model": "m", "x": 1},
            "model {openai:m}: unknown key 'x'",
        ),
        ({"provider": "openai", "model": "m", "params": {1: 2}}, "the key 1 is a text"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_there_is(
    tmp_path: Path, spec: Any, expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_spec(spec, config_of(tmp_path, WHOLE))

    assert expected in str(caught.value)


def test_without_models_a_wrong_spec_says_none() -> None:
    with pytest.raises(ConfigError, match=r"models of llmeval\.yaml: none; specs: "):
        parse_spec("app", Config())
