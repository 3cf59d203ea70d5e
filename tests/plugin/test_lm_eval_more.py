"""Tasks of the kinds that lm-evaluation-harness's repository holds, against its results.

What it asked and found is in ../data/lm_eval_tasks: the model knows these requests alone.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "lm_eval_tasks"
EXPECTED = json.loads((DATA / "expected.json").read_text("utf-8"))["results"]

MODEL = """
import json, zlib
from collections import Counter
from pathlib import Path

LINES = Path(__file__).with_name("expected_requests.jsonl").read_text("utf-8")
ASKED = [json.loads(line) for line in LINES.splitlines()]
REPLIES = {r["prompt"]: r["replies"] for r in ASKED if "prompt" in r}
PAIRS = {(r["context"], r["continuation"]) for r in ASKED if "context" in r}
TEXTS = {r["text"] for r in ASKED if "text" in r}

class Model:
    def __init__(self):
        self.asked = Counter()
    def generate(self, prompt, **params):
        turn = self.asked[prompt.text]
        self.asked[prompt.text] += 1
        return REPLIES[prompt.text][turn % len(REPLIES[prompt.text])]
    def loglikelihood(self, context, continuation):
        assert (context, continuation) in PAIRS, (context, continuation)
        c = zlib.crc32((context + "\\x1f" + continuation).encode())
        return -(c % 10000) / 1000, c % 3 == 0
    def loglikelihood_rolling(self, text):
        assert text in TEXTS, text
        data = text.encode()
        return -len(data) * (1 + (zlib.crc32(data) % 100) / 100)

model = Model()
"""


def with_data(suite: Any, *names: str) -> None:
    shutil.copytree(DATA, suite.path, dirs_exist_ok=True)
    suite.write(
        lmmodel_py=MODEL,
        llmeval_yaml='generator: "python:lmmodel:model"\n',
    )
    suite.pytester.syspathinsert()
    files = sorted(path.name for path in DATA.glob("*.yaml"))
    paths = "\n  ".join(names or (*files, "mmlu"))
    suite.pytester.makeini(
        f"[pytest]\nllmeval_allow_functions = true\nllmeval_task_paths =\n  {paths}\n"
    )


def test_prompts_values_and_errors_are_those_of_lm_eval(suite: Any) -> None:
    with_data(suite)

    result, data = suite.report("--llmeval-mode=live")

    assert result.ret == 0
    assert data["totals"]["unscored"] == 0  # whatever else is asked is a KeyError
    found = {
        test["name"]: {
            key: value
            for name, one in test["metrics"].items()
            for key, value in (
                (name, one["mean"]),
                (name.replace(",", "_stderr,", 1), one["stderr"]),
            )
        }
        for test in data["tests"]
    }
    assert found.keys() == EXPECTED.keys()
    for name, wanted in EXPECTED.items():
        assert found[name] == pytest.approx(wanted, abs=1e-9), name
