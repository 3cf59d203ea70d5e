"""Lists of replies, judged outside of pytest."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError, TemplateError
from pytest_llmeval.judging import compare, evaluate
from pytest_llmeval.types import Prompt, Response, Usage


def grade(prompt: str) -> str:
    """Pass what names Lima; fall over a reply that says so."""
    reply = prompt.rpartition("<<<reply ")[2]
    if "boom" in reply:
        message = "no more credit"
        raise RuntimeError(message)
    if "mumble" in reply:
        return "Well, PASS or FAIL?"
    return "PASS: right" if "Lima" in reply else "FAIL: wrong"


def test_each_row_has_its_verdict() -> None:
    found = evaluate(grade, ["Lima", "Cusco"], prompts=["Peru?", "Peru?"])

    assert [(one.verdict, one.reason, one.response) for one in found] == [
        ("PASS", "right", "Lima"),
        ("FAIL", "wrong", "Cusco"),
    ]


def test_an_error_of_one_row_loses_no_other() -> None:
    found = evaluate(grade, ["Lima", "boom", None, "mumble", "Cusco"])

    assert [(one.verdict, one.cause) for one in found] == [
        ("PASS", None),
        (None, "judge"),
        (None, "data"),
        (None, "judge"),
        ("FAIL", None),
    ]
    assert "raised RuntimeError: no more credit" in found[1].reason


def test_a_verdict_tells_all_about_itself() -> None:
    def client(prompt: str) -> Response:
        usage = Usage(input_tokens=7, output_tokens=3)
        return Response(text="PASS: ok", model="m-1", usage=usage, cost=0.5)

    (found,) = evaluate(client, "Lima", prompts="Peru?", rubric="True.", votes=2)

    assert (found.model, found.raw, found.reason) == ("m-1", "PASS: ok", "ok")
    assert found.prompt is not None
    assert "Peru?" in found.prompt.text
    assert [vote.said for vote in found.votes] == ["PASS", "PASS"]
    assert (found.cost, found.usage) == (1.0, Usage(input_tokens=14, output_tokens=6))
    assert found.fingerprint["reader"]


def test_a_template_of_langchecks_with_a_score_map_and_inputs() -> None:
    template = (
        "{% if src is not none %}Source: {{ src }}{% endif %}{{ gen_output }} "
        "for {{ user_query }}, {{ tone }}: Good or Bad? {{ ref_output }}"
    )
    prompts = []

    def client(prompt: str) -> str:
        prompts.append(prompt)
        return "Good" if "Lima" in prompt.partition(" for ")[0] else "Bad"

    found = evaluate(
        client,
        ["Lima", "Cusco"],
        prompts=["a", "b"],
        references=["x", "y"],
        template=template,
        score_map={"Good": 1, "Bad": 0},
        inputs={"tone": ["warm", "cold"]},
    )

    assert [(one.label, one.score) for one in found] == [("Good", 1.0), ("Bad", 0.0)]
    assert all("Source" not in prompt for prompt in prompts)
    assert sum("warm" in prompt for prompt in prompts) == 1


def test_rows_are_judged_at_the_same_time() -> None:
    everyone = threading.Barrier(3, timeout=10)

    def client(prompt: str) -> str:
        everyone.wait()
        return "PASS: all are here"

    found = evaluate(client, ["a", "b", "c"], concurrency=3)

    assert [one.verdict for one in found] == ["PASS"] * 3


def test_several_judges_vote() -> None:
    found = evaluate(
        [lambda p: "PASS: a", lambda p: "FAIL: b", lambda p: "FAIL: c"], "Lima"
    )

    assert (found[0].verdict, found[0].is_unstable) == ("FAIL", True)


class Model:
    async def generate(self, prompt: Prompt, **params: Any) -> str:
        return grade(prompt.text)


def test_an_object_that_generates_is_a_judge() -> None:
    assert evaluate(Model(), "Lima")[0].verdict == "PASS"


def test_a_model_of_llmeval_yaml_is_a_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("script.jsonl").write_text('{"reply": "PASS: scripted"}\n')
    Path("llmeval.yaml").write_text(
        "models:\n  one: {provider: fake, model: script.jsonl}\n"
        "  two: {provider: fake, model: script.jsonl, params: {}}\n"
        "  both: {panel: [one, two]}\n"
    )

    assert evaluate("one", "Lima")[0].reason == "scripted"
    assert [vote.judge for vote in evaluate("both", "Lima")[0].votes] == ["one", "two"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(grade, ["a", "b"], prompts=["x"]), "outputs 2, prompts 1"),
        (lambda: evaluate(grade, []), "from 1 up, and not: outputs 0"),
        (lambda: evaluate(grade, None), "outputs is None"),
        (lambda: evaluate(grade, ["a"], inputs={"x": ["1", "2"]}), "x 2"),
        (lambda: evaluate(grade, "a", concurrency=0), "concurrency is"),
        (lambda: evaluate(grade, "a", language="fr"), "one of en, ja, de"),
        (lambda: compare(grade, ["a"], None), "outputs_b is None"),
        (
            lambda: compare(grade, "a", "b", score_map={"A wins": 0, "Tie": 1}),
            "not symmetric",
        ),
        (lambda: evaluate("nobody", "a"), "nobody"),
    ],
)
def test_what_can_not_be_used_is_told(call: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()

    assert message in str(caught.value)


def test_a_template_that_can_not_be_used_is_told() -> None:
    with pytest.raises(TemplateError, match="gen_outptu"):
        evaluate(grade, ["a"] * 5, template="PASS FAIL {{ gen_outptu }}")


def prefer_lima(prompt: str) -> str:
    before, _, after = prompt.partition("<<<response B")
    if "Lima" in before and "Lima" in after:
        return "Verdict: Response A"  # of two alike the first
    return f"Verdict: Response {'A' if 'Lima' in before else 'B'}"


def test_pairs_are_compared_in_both_orders() -> None:
    found = compare(prefer_lima, ["Lima", "Cusco", "Lima"], ["Cusco", "Lima", "Lima!"])

    assert [(one.score, one.outcome, one.cause) for one in found] == [
        (0.0, "loss", None),
        (1.0, "win", None),
        (None, None, "inconsistent"),
    ]
    assert (found[0].first, found[0].swapped) == ("Response A", "Response B")
    assert (found[0].against, found[0].response) == ("Lima", "Cusco")


def test_the_sources_of_a_pair_swap_with_its_replies() -> None:
    prompts = []

    def client(prompt: str) -> str:
        prompts.append(prompt)
        return "Verdict: Tie"

    (found,) = compare(client, "one", "two", sources_a="atlas", sources_b="almanac")

    assert found.outcome == "tie"
    first, swapped = sorted(prompts, key=lambda text: text.index("atlas"))
    assert first.index("atlas") < first.index("almanac")
    assert swapped.index("almanac") < swapped.index("atlas")


def test_a_pair_without_a_reply_loses_no_other() -> None:
    found = compare(prefer_lima, ["Lima", None], ["Cusco", "Lima"])

    assert [one.cause for one in found] == [None, "data"]
