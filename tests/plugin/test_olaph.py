"""OLAPH's rules in a task file without code: values of lm_eval 0.4.13 on its own functions."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.conftest import Suite

# Here once: numpy can't be loaded again by a run in this process.
pytest.importorskip("rouge_score.rouge_scorer")
pytest.importorskip("sacrebleu")

TARGET = "Metformin lowers blood sugar by reducing glucose production in the liver."
CLOSE = "Metformin lowers blood sugar by reducing the glucose made in the liver."
OLAPH = """\
task: olaph
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
description: >
  Instructions: Answer the following question as concisely as possible.

doc_to_text: Question
doc_to_target: Free_form_answer
generation_kwargs: {until: ["\\n\\n"]}
metric_list:
  - {metric: bleu, aggregation: nanmean, zero_as: 1.0e-5}
  - {metric: rouge1, aggregation: nanmean}
  - {metric: rouge2, aggregation: nanmean}
  - {metric: rougeL, aggregation: nanmean}
metadata:
  version: 1.2
  llmeval: {limit: 10%, min_characters: 10}
"""
PERPLEXITY = """\
task: olaph_perplexity
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: Free_form_answer
metadata: {llmeval: {limit: 10%}}
"""
#: Reply, target, and bleu, rouge1, rouge2, rougeL: None where OLAPH has NaN.
ROWS: list[tuple[str, str, tuple[float | None, ...]]] = [
    ("123456789", TARGET, (None, None, None, None)),
    (TARGET, "too short", (None, None, None, None)),
    (CLOSE, TARGET, (0.5923033072023248, 20 / 23, 2 / 3, 20 / 23)),
    (" " * 10, TARGET, (None, 0.0, 0.0, 0.0)),
    ("Nothing of it.", TARGET, (1e-5, 0.0, 0.0, 0.0)),
    ("", "", (None, None, None, None)),
]
NAMES = ("bleu", "rouge1", "rouge2", "rougeL")


@pytest.fixture
def olaph(suite: Suite) -> Suite:
    """Ten times as many rows as are evaluated."""
    rows = [
        {"Question": f"Q{index}?", "Free_form_answer": target, "reply": reply}
        for index, (reply, target, _) in enumerate(ROWS)
    ]
    suite.rows("rows.jsonl", rows * 10)
    suite.write(llmeval_yaml="generator: 'column:reply'\n")
    return suite


def task(suite: Suite, text: str) -> None:
    (suite.path / "olaph.llmeval.yaml").write_text(text, "utf-8")


def test_its_values_need_no_code(olaph: Suite) -> None:
    task(olaph, OLAPH)

    result, data = olaph.report()

    assert result.ret == 0
    assert data["totals"]["cases"] == len(ROWS)
    (test,) = data["tests"]
    for place, name in enumerate(NAMES):
        known = [v for *_, values in ROWS if (v := values[place]) is not None]
        metric = test["metrics"][f"{name},none"]
        assert metric["mean"] == pytest.approx(math.fsum(known) / len(known), abs=1e-12)
        assert (metric["n"], metric["unscored"]) == (len(known), len(ROWS) - len(known))
        # A draw of rows without values has none: there, the error is NaN.
        assert metric["stderr"] is None
    scores = data["cases"][0]["samples"][0]["scores"]
    assert scores[0]["reason"] == (
        "the reply has 9 characters, and a row is scored from 10"
    )


def test_each_row_has_its_value(olaph: Suite) -> None:
    task(olaph, OLAPH)

    _, data = olaph.report()

    for case, (*_, values) in zip(data["cases"], ROWS, strict=True):
        found = [score["value"] for score in case["samples"][0]["scores"]]
        assert found == pytest.approx(list(values), abs=1e-12)


def test_its_perplexity_needs_no_code(olaph: Suite) -> None:
    olaph.write(
        olaphapp_py="class Model:\n"
        "    def loglikelihood_rolling(self, text):\n        return -7.0\n"
        "    def generate(self, prompt):\n        return ''\n"
        "model = Model()\n",
        llmeval_yaml="generator: 'python:olaphapp:model'\n",
    )
    olaph.pytester.syspathinsert()
    olaph.rows("rows.jsonl", [{"Free_form_answer": " padded text "}] * 10)
    task(olaph, PERPLEXITY)

    _, data = olaph.report()

    (test,) = data["tests"]
    found = {name: metric["mean"] for name, metric in test["metrics"].items()}
    assert found == pytest.approx(
        {  # four words and 13 bytes
            "word_perplexity,none": math.exp(7 / 4),
            "byte_perplexity,none": math.exp(7 / 13),
            "bits_per_byte,none": 7 / 13 / math.log(2),
        }
    )


@pytest.mark.parametrize(("count", "kept"), [(10, 1), (19, 1), (100, 10)])
@pytest.mark.parametrize("text", [OLAPH, "dataset: rows.jsonl\nlimit: 10%\n"])
def test_a_share_of_rows_is_rounded_down(
    suite: Suite, text: str, count: int, kept: int
) -> None:
    row = {"Question": "Q", "input": "Q", "Free_form_answer": TARGET, "reply": CLOSE}
    suite.rows("rows.jsonl", [row] * count)
    suite.write(llmeval_yaml="generator: 'column:reply'\n")
    task(suite, text)

    _, data = suite.report()

    assert data["totals"]["cases"] == kept


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("limit: 10%", "limit: 101%", "limit is a number of rows, or a share such as 10%"),
        ("limit: 10%", "limit: a%", "limit is a number of rows, or a share such as 10%"),
        ("limit: 10%", "limit: 1%", "limit: 1% of 60 rows is none of them"),
        ("min_characters: 10", "min_characters: 0", "min_characters is a whole number"),
        ("zero_as: 1.0e-5", "zero_as: x", "bleu: zero_as is what a value of 0 counts as"),
        ("zero_as: 1.0e-5", "smooth: x", "smoothing"),
    ],
)  # fmt: skip
def test_mistakes_in_its_keys_are_collection_errors(
    olaph: Suite, old: str, new: str, complaint: str
) -> None:
    task(olaph, OLAPH.replace(old, new))

    result: Any = olaph.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*olaph.llmeval.yaml:*{complaint}*"])
