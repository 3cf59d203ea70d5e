"""Task files of lm-evaluation-harness against servers that say how likely texts are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.scoring_server import ScoringServer, logprob, split

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import Lab, Real

NOTES = ["The house is old, and far.", "The tower is new. The tree is tall."]
ROLLING = """\
task: notes
dataset_path: json
dataset_kwargs: {data_files: {test: notes.jsonl}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: note
"""
CHOICES = ROLLING.replace("notes\n", "picks\n").replace(
    'loglikelihood_rolling\ndoc_to_text: ""\ndoc_to_target: note\n',
    "multiple_choice\ndoc_to_text: note\ndoc_to_target: 0\ndoc_to_choice: [far, near]\n",
)


def tasks(suite: Suite, entry: str, **files: str) -> None:
    suite.rows("notes.jsonl", [{"note": note} for note in NOTES])
    suite.write(
        llmeval_yaml=f"generator: lab\nmodels:\n  lab: {{{entry}}}\n"
        "limits: {retries: 0, timeout_seconds: 20}\n"
    )
    for name, text in files.items():
        (suite.path / f"{name}.llmeval.yaml").write_text(text, "utf-8")


def at(lab: Lab) -> str:
    return f"provider: openai, base_url: '{lab.server.base_url}', model: m-test"


def perplexities(values: list[list[float]]) -> dict[str, float]:
    """Return lm-eval's values of texts, from the log-probabilities of their tokens."""
    total = math.fsum(map(math.fsum, values))
    words = sum(len(note.split()) for note in NOTES)
    size = sum(len(note.encode()) for note in NOTES)
    return {
        "word_perplexity,none": math.exp(-total / words),
        "byte_perplexity,none": math.exp(-total / size),
        "bits_per_byte,none": -total / size / math.log(2),
    }


def found(data: dict[str, Any]) -> dict[str, float]:
    (test,) = data["tests"]
    return {name: metric["mean"] for name, metric in test["metrics"].items()}


def test_a_rolling_perplexity_is_that_of_the_server_s_values(
    suite: Suite, lab: Lab
) -> None:
    lab.server.rule(ScoringServer(beginning="<s>"))
    tasks(suite, at(lab), notes=ROLLING)

    result, data = suite.report()

    values = []
    for note in NOTES:
        before, one = "<s>", []
        for token in split(note):
            one.append(logprob(before, token))
            before += token
        values.append(one)
    assert result.ret == 0
    assert found(data) == pytest.approx(perplexities(values), abs=1e-9)


def test_a_rolling_perplexity_of_a_real_server_is_that_of_its_own_tokens(
    suite: Suite, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)
    entry = f"provider: openai, base_url: '{real.base_url}', model: smollm2"
    tasks(suite, f"{entry}, api_key_env: REAL_KEY", notes=ROLLING)

    result, data = suite.report()

    calls = [case["samples"][0]["calls"][0]["response"] for case in data["cases"]]
    values = [call["likelihood"]["token_logprobs"] for call in calls]
    assert result.ret == 0
    assert all(len(one) > 5 and max(one) < 0 for one in values)
    assert found(data) == pytest.approx(perplexities(values), abs=1e-9)


def test_a_server_that_ignores_echo_leaves_choices_unscored(
    suite: Suite, lab: Lab
) -> None:
    lab.server.rule(ScoringServer(ignores_echo=True))
    tasks(suite, at(lab), picks=CHOICES)

    result, data = suite.report()

    assert result.ret == 1
    assert data["totals"]["unscored"] == len(NOTES)
    assert data["tests"][0]["metrics"] == {}  # no zeros
    assert {case["cause"] for case in data["cases"]} == {"provider"}
    assert all("echo" in case["reason"] for case in data["cases"])


def test_choices_are_skipped_for_a_provider_of_chats_alone(
    suite: Suite, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "a-key-of-the-lab")
    chats = at(lab).replace("openai", "anthropic")
    tasks(suite, f"{chats}, api_key_env: LAB_KEY", picks=CHOICES)

    result, data = suite.report("-rs")

    assert result.ret == 0
    assert data["totals"]["skipped"] == len(NOTES)
    assert not lab.server.seen
    result.stdout.fnmatch_lines(["SKIPPED*log-probabilities of a given text*"])


def test_a_server_of_chats_alone_leaves_choices_unscored(
    suite: Suite, lab: Lab
) -> None:
    lab.server.rule(lambda seen: (404, {"error": {"message": "no such path"}}))
    tasks(suite, at(lab), picks=CHOICES)

    _, data = suite.report()

    assert data["totals"]["unscored"] == len(NOTES)
    assert all("404" in case["reason"] for case in data["cases"])
