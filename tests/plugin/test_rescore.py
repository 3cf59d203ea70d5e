"""Scoring the replies of an earlier run again: no generator is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.store.runs import run_files

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
import pathlib

def note(text):
    with (pathlib.Path(__file__).parent / "asked.txt").open("a") as file:
        file.write(text + "\\n")

def answer(prompt):
    note(prompt)
    if prompt == "q2" and (pathlib.Path(__file__).parent / "down").exists():
        raise RuntimeError("down")
    return "A" if prompt == "q1" else "a"

def grade(prompt):
    note("judge")
    return "Verdict: PASS"
"""
TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", prompt="{{ input }}", generator="python:rescorable:answer")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
JUDGED = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval("rows.jsonl", prompt="{{ input }}", generator="python:rescorable:answer",
                     judge="python:rescorable:grade")
def test_it(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="RUBRIC")
"""
ROWS = [{"id": f"c{n}", "input": f"q{n}", "expected": "a"} for n in range(3)]
RESCORE = "--llmeval-rescore=last"


@pytest.fixture
def asking(suite: Suite) -> Suite:
    suite.rows("rows.jsonl", ROWS)
    suite.write(test_it=TEST, rescorable_py=APP)
    return suite


def asked(suite: Suite) -> list[str]:
    path = suite.path / "asked.txt"
    found = sorted(path.read_text("utf-8").split()) if path.exists() else []
    path.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
def test_assertions_of_today_run_on_the_replies_of_a_run(
    asking: Suite, workers: list[str]
) -> None:
    asking.run().assert_outcomes(passed=3)
    assert asked(asking) == ["q0", "q1", "q2"]
    asking.write(test_it=TEST.replace("case)\n", "case, preset='raw')\n"))
    asking.rows("rows.jsonl", [{**ROWS[0], "expected": "x"}, *ROWS[1:]])
    result, report = asking.report(RESCORE, *workers)

    assert asked(asking) == []
    result.stdout.fnmatch_lines(
        ["rescored *.jsonl: its replies, and no generator asked"]
    )
    statuses = {case["case_id"]: case["status"] for case in report["cases"]}
    assert statuses == {"c0": "failed", "c1": "failed", "c2": "passed"}
    assert report["tests"][0]["origins"]["recorded"] == 3
    assert report["run"]["rescored"].endswith(".jsonl")


def test_a_reply_that_is_not_there_leaves_the_case_unscored(asking: Suite) -> None:
    (asking.path / "down").touch()
    asking.run()
    (asking.path / "down").unlink()
    asked(asking)
    rows = [{**ROWS[0], "input": "other"}, *ROWS[1:], {**ROWS[0], "id": "new"}]
    asking.rows("rows.jsonl", rows)
    _, report = asking.report(RESCORE)
    cases = {case["case_id"]: case for case in report["cases"]}

    assert asked(asking) == []
    assert {name: case["cause"] for name, case in cases.items()} == {
        "c0": "recording",
        "c1": None,
        "c2": "recording",
        "new": "recording",
    }
    assert "no reply to score: the prompt has changed" in cases["c0"]["reason"]
    assert "raised RuntimeError: down" in cases["c2"]["reason"]
    assert "no reply to score: the case is not in " in cases["new"]["reason"]


def test_samples_have_their_own_replies_back(asking: Suite) -> None:
    asking.write(
        rescorable_py="count = 0\n\ndef answer(prompt):\n    global count\n"
        "    count += 1\n    return f'a{count}'\n",
        test_it=TEST.replace("assert_exact(generator(case), case)", "generator(case)"),
    )
    _, before = asking.report("--llmeval-repeat=3")
    _, after = asking.report("--llmeval-repeat=3", RESCORE)
    replies = [
        [[sample["response"] for sample in case["samples"]] for case in report["cases"]]
        for report in (before, after)
    ]

    assert replies[0] == replies[1]
    assert len({text for case in replies[0] for text in case}) == 9


def test_the_same_question_asked_twice_has_its_replies_in_turn(asking: Suite) -> None:
    asking.write(
        rescorable_py="count = 0\n\ndef answer(prompt):\n    global count\n"
        "    count += 1\n    return str(count)\n",
        test_it=TEST.replace(
            "    assert_exact(generator(case), case)",
            "    texts = [generator(case).text for _ in range(3)]\n"
            "    assert texts == sorted(set(texts))\n",
        ),
    )

    asking.run().assert_outcomes(passed=3)
    asking.run(RESCORE).assert_outcomes(passed=3)


def test_a_reply_that_a_fixture_got_is_there_for_any_case(asking: Suite) -> None:
    asking.write(
        test_it=TEST.replace(
            "@pytest.mark.llmeval",
            "@pytest.fixture(scope='module')\ndef hint(generator):\n"
            "    return generator('hint').text\n\n@pytest.mark.llmeval",
        ).replace("def test_it(case,", "def test_it(case, hint,")
    )
    asking.run().assert_outcomes(passed=3)
    asked(asking)

    asking.run(RESCORE, "-k", "c2").assert_outcomes(passed=1, deselected=2)
    assert asked(asking) == []


def test_a_verdict_is_kept_until_what_the_judge_is_asked_changes(asking: Suite) -> None:
    asking.write(test_it=JUDGED)
    asking.run().assert_outcomes(passed=3)
    assert asked(asking).count("judge") == 3

    asking.run(RESCORE).assert_outcomes(passed=3)
    assert asked(asking) == []

    asking.write(test_it=JUDGED.replace("RUBRIC", "Another rubric."))
    asking.run(RESCORE).assert_outcomes(passed=3)
    assert asked(asking) == ["judge"] * 3


def test_another_judge_is_asked(asking: Suite) -> None:
    asking.write(test_it=JUDGED, rescorable_py=APP + "\nother = grade\n")
    asking.run()
    asked(asking)
    asking.write(test_it=JUDGED.replace(":grade", ":other"))
    asking.run(RESCORE).assert_outcomes(passed=3)

    assert asked(asking) == ["judge"] * 3


def test_in_replay_no_judge_is_asked_either(asking: Suite) -> None:
    asking.write(test_it=JUDGED)
    asking.run()
    asked(asking)
    asking.run(RESCORE, "--llmeval-mode=replay").assert_outcomes(passed=3)
    asking.write(test_it=JUDGED.replace("RUBRIC", "Another rubric."))
    result = asking.run(RESCORE, "--llmeval-mode=replay")

    assert asked(asking) == []
    result.stdout.fnmatch_lines(["*3 unscored: 3 recording*"])


def test_no_key_and_no_network_are_needed(
    asking: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asking.run()
    (journal,) = run_files(asking.path / ".llmeval" / "runs")
    text = journal.read_text("utf-8").replace('"python"', '"openai"')
    journal.write_text(text, "utf-8")
    asking.write(test_it=TEST.replace("python:rescorable:answer", "openai:gpt-4o"))
    result = asking.run(f"--llmeval-rescore={journal}")

    result.assert_outcomes(passed=3)


def test_likelihoods_are_scored_again(asking: Suite) -> None:
    asking.write(
        rescorable_py="asked = 0\n\nclass Model:\n"
        "    def generate(self, prompt):\n        return 'a'\n"
        "    def loglikelihood(self, context, continuation):\n"
        "        global asked\n        asked += 1\n"
        "        assert asked <= 3\n        return -1.5, True\n\nanswer = Model()\n",
        test_it=TEST.replace(
            "    assert_exact(generator(case), case)",
            "    assert generator.loglikelihood('q', ' a').logprob == -1.5",
        ),
    )
    asking.run().assert_outcomes(passed=3)

    asking.run(RESCORE).assert_outcomes(passed=3)


def test_no_such_run_and_options_that_contradict_it_are_told(asking: Suite) -> None:
    for args, complaint in (
        ([RESCORE], "there is no run in"),
        (["--llmeval-rescore=nope"], "there is no run 'nope'"),
        ([RESCORE, "--llmeval-resume"], "don't go together: one goes on asking"),
        ([RESCORE, "--llmeval-mode=record"], "there is nothing new to record"),
    ):
        result = asking.run(*args)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert complaint in result.stderr.str()
    assert asked(asking) == []


def test_secrets_that_were_taken_out_are_no_other_prompt(
    asking: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sesame-open-1234")
    asking.write(
        llmeval_yaml="models:\n  lab: {provider: openai, model: m, api_key_env: LAB_KEY}\n"
    )
    rows = [{**row, "input": f"{row['input']} sesame-open-1234"} for row in ROWS]
    asking.rows("rows.jsonl", rows)
    asking.run().assert_outcomes(passed=3)
    prompts = json.dumps(asking.journal())

    assert "sesame" not in prompts
    asking.run(RESCORE).assert_outcomes(passed=3)
