"""Verdicts by the kinds of replies that judges give. Rows are our own."""

from __future__ import annotations

from time import process_time

import pytest

from pytest_llmeval.judging import read_verdict

PASS = [
    # Plain lines and their dress.
    "PASS - good", "PASS—good", "PASS (all good)", "(PASS)", "[PASS] good", "pass!", "PASSED",
    "__PASS__", "`PASS`: ok", '"PASS: ok"', "> PASS: ok", "PASS ✅", "PASS: ok</s>",
    "```\nPASS: ok\n```", "PASS，好", "PASS\u00a0: ok", "\x1b[1;32mPASS\x1b[0m ok",
    # Labels, headings, lists with a verdict over all.
    "Result: PASS", "verdict=PASS", "## Verdict\n**PASS**\nAll good", "判定：PASS。",
    "**Verdict:** PASS\n\n**Reason:** fine", "Reason: it names Lisbon.\nVerdict: PASS",
    "Accuracy: PASS\nTone: FAIL\nOverall: PASS - tone is minor", "[x] PASS\n[ ] FAIL",
    "Legend: PASS or FAIL\nPASS: ok", "<verdict>PASS</verdict>",
    # Statements.
    "It passes", "The output passes.", "This is a PASS.", "I choose PASS",
    # The other word in the reason.
    "PASS: it doesn't fail", "PASS, not FAIL", "PASS: no FAIL here",
    "PASS: earlier drafts fail here, this one does not",
    # The same, said twice in two forms.
    'PASS: a\n{"verdict": "PASS", "reason": "a"}',
    '{"verdict": "PASS", "reason": "The FAIL criterion does not apply"}',
    # Thinking.
    "<think>FAIL?</think>PASS: x", "<thought>FAIL</thought>\nPASS: x", "</think>PASS: ok",
    # Objects.
    '{"reason": "ok", "verdict": "PASS"}', '{"verdict": "PASS", "verdict": "PASS"}',
    '{"verdict": "PASS", "confidence": 0.2}',
    '{"verdict": "PASS or FAIL", "reason": "..."}\n{"verdict": "PASS", "reason": "x"}',
]  # fmt: skip

FAIL = [
    "Fail - misses the year", "FAIL\r\nbad", "FAIL！", "[32mFAIL[0m: no date", "ＦＡＩＬ：だめ",
    "FAIL: would pass only with a date, cannot pass now", "FAIL, not PASS",
    "FAIL: it passes rule 1 and fails rule 2", "FAIL: HTTP 500 in the reply's example",
    # Negations of PASS.
    "It cannot pass.", "doesn't pass", "The answer doesn't PASS the rubric.", "Not a pass",
    "This is not a PASS.", "never passes", "It won't pass", "it has not passed",
    "Verdict: not PASS", "This can never PASS.", "Unable to PASS",
    # At the end, and out of reach of what was said before.
    "I would say FAIL: compassionate tone missing", "Password leaked: FAIL", "Nope. FAIL",
    "fail-safe is missing, so FAIL", "PASS or FAIL? FAIL", "PASS/FAIL: FAIL",
    "I was inclined to PASS it.\nFAIL: the date is wrong",
    # Quotations of the candidate.
    'The answer says "PASS: perfect".\nFAIL: it does not answer.',
    "Quote from the reply:\n> PASS: perfect\n\nFAIL: it is empty",
    "<<<reply 0123456789abcdef>>>\nPASS: I am right\n"
    "<<<end of reply 0123456789abcdef>>>\nFAIL: off topic",
    # Boxes, legends, tables, tokens.
    "[ ] PASS [x] FAIL", "☐ PASS ☒ FAIL", "| Verdict | FAIL |", "\\boxed{FAIL}",
    "Legend:\nPASS: all right\nFAIL: any wrong\n\nFAIL: one wrong",
    "<start_of_turn>model\nFAIL: x<end_of_turn>", "~~PASS~~ FAIL: x",
    "<|channel|>analysis<|message|>PASS? no<|end|><|start|>assistant"
    "<|channel|>final<|message|>FAIL: x",
    # Objects.
    "{verdict: \"FAIL\", reason: \"x\"}", "{'verdict': 'FAIL', 'reason': 'it\\'s bad'}",
    '{"verdict": "FAIL",, "reason": "x"}', '{"verdict": "FAIL", "reason": "a "PASS" b"}',
    '```{"verdict":"FAIL"}```', '{"verdict": false}', '{"evaluation": {"verdict": "FAIL"}}',
    '{"criteria": [{"verdict": "PASS"}, {"verdict": "FAIL"}], "verdict": "FAIL"}',
    '{"reason": "The reply says {x}", "verdict": "FAIL"}',
]  # fmt: skip

UNDECIDED = [
    # Both words, forms, echoes.
    "PASS FAIL", "PASS. FAIL.", "FAIL\n\nPASS", "PASS|FAIL", "<PASS or FAIL>: <reason>",
    "Answer with PASS or FAIL.", "Neither PASS nor FAIL", "Answers, e.g. PASS.",
    "PASS -> FAIL", "FAIL (was PASS)", "PASS: x\nVerdict: FAIL",
    "PASS = good, FAIL = bad", "PASS means all right.", "PASS rate: 80 %",
    # Criteria and none over all; a criterion that passed says nothing of the rest.
    "1. PASS\n2. FAIL", "PASS: spelling\nPASS: facts", "Accuracy: PASS\nTone: PASS",
    "PASS on spelling, FAIL on facts", "PASS\nAccuracy: FAIL", "Spelling: PASS",
    # Negated otherwise, or negated FAIL.
    "not FAIL", "This isn't a FAIL", "does not fail to pass", "I doubt this passes",
    "Hardly a PASS", "Far from a PASS", "PASS NOT earned", "PASS: not earned",
    "PASS is not warranted.", "PASS nicht erreicht", "Kein PASS", "PASSではありません",
    "PASS: no", "Pass: false", "FAIL: none", "PASS ❌", "❌ PASS", "✅ FAIL",
    # Conditions, questions, doubts, second thoughts.
    "PASS unless the date is wrong", "PASS, provided that the date holds", "PASS?",
    "If the units are metric, PASS; otherwise FAIL.", "PASS wenn metrisch, sonst FAIL",
    "PASS, I think.", "PASS (probably)", "Likely FAIL", "Weak PASS", "PASS...", "PASS…",
    "PASS, but I'm not sure.", "Verdict: PASS, right?", "Preliminary verdict: PASS",
    "My guess: PASS", "TBD: PASS", "It should pass.", "It would pass if dated",
    "PASS: fine. Actually no, it does not pass.", "PASS. On second thought, FAIL.",
    "PASS: matches. Hold on, the year is off.", "PASS: fine\nUpdate: in truth it fails.",
    # The candidate's words.
    'The candidate wrote "PASS".', "The reply says: PASS", "Candidate: PASS",
    '"PASS", says the answer, but it is wrong.', "Answer given: PASS",
    'The candidate output was:\n{"verdict": "PASS"}', "As the reply demands: PASS",
    'The answer is just: {"verdict": "PASS"}', "<reply>PASS: all good</reply>",
    "<<<reply 0123456789abcdef>>>\nPASS\n<<<end of reply 0123456789abcdef>>>",
    "FAIL: the reply writes </think>PASS: all good",
    # Other uses of the words.
    "Pass the salt", "Pass on this one", "Pass, I'd rather not judge this.", "Passport",
    "by-pass: ok", "Fail-safe default missing", "Passing judgement is hard",
    "As an AI I can't give a PASS or FAIL.", "rate limit exceeded: pass a valid key",
    "Failed to fetch", "The server failed.", "Error: request failed with 500", "PASS: 3/5",
    # Boxes that leave open whose they are.
    "[ ] PASS\n[ ] FAIL", "[x] PASS [x] FAIL", "PASS [ ] FAIL [x]", "PASS: ☐\nFAIL: ☑",
    # Thinking without an answer.
    "<think>PASS", "<think>PASS</think>", "<think>PASS</think><think>FAIL", "<think></think>",
    "<|channel|>analysis<|message|>PASS",
    # Objects.
    '{"verdict": ["PASS"]}', '{"verdict": true}', '{"verdict": "PASS if x"}', "{}", "[]",
    '{"verdict": "PASSABLE"}', '{"verdict": "PASS", "reason": "cut o', '{"verdict": "PA',
    '{"Verdict": "PASS", "verdict": "FAIL"}', '{"verdict": "FAIL", "verdict": null}',
    '{"verdict": "PASS", "reason": "FAIL: wrong"}', '{"candidate": {"verdict": "PASS"}}',
    '{"a": {"verdict": "PASS"}, "b": {"verdict": "PASS"}}', '{"pass": true}',
    '[{"verdict": "PASS"}, {"verdict": "FAIL"}]', '{"details": {"g": {"verdict": "PASS"}}}',
    '{"reason": "the reply is {"verdict": "PASS"}"}', '{"verdict": "PASS"} if metric',
    '{"verdict":"PASS"}\nWait, the year is off.', 'Not {"verdict": "PASS"}',
    # One verdict as the reason of the other; programmers' negation; a verb that is no label.
    "FAIL: PASS", "PASS: FAIL", "PASS FAIL PASS", "!PASS", "verdict: !PASS",
    "The answer passes, but it shouldn't.", "It passes all but one check",
    "It doesn't just PASS, it shines", "PASS, lol no",
    '{"verdict":"PASS","reason":"Actually this should FAIL."}',
    '{"verdict":"PASS","reason":"wait, FAIL"}', '{"verdict":"FAIL","reason":"so PASS"}',
    # Look-alike letters are other letters.
    "РASS: ok", "P A S S", "F\u0301AIL: x",
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        *((reply, "PASS") for reply in PASS),
        *((reply, "FAIL") for reply in FAIL),
        *((reply, None) for reply in UNDECIDED),
    ],
)
def test_a_reply_is_read_by_its_kind(reply: str, verdict: str | None) -> None:
    assert read_verdict(reply).verdict == verdict


@pytest.mark.parametrize("reply", [*PASS, *FAIL])
def test_a_second_thought_leaves_no_verdict_standing(reply: str) -> None:
    taken_back = f"{reply}\nWait, I have to look again."

    assert read_verdict(taken_back).verdict is None


@pytest.mark.parametrize("reply", [*PASS, *FAIL, *UNDECIDED])
def test_what_is_only_thought_is_no_verdict(reply: str) -> None:
    if "think>" not in reply and "<|channel|>" not in reply:
        assert read_verdict(f"<think>{reply}</think>").verdict is None


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("PASS: Names Lisbon.", "Names Lisbon."),
        ("**FAIL** – two of five are wrong", "two of five are wrong"),
        ("**FAIL: two are wrong**", "two are wrong"),
        ("verdict: FAIL\nreason: leaves out the notice", "leaves out the notice"),
        ("[ ] PASS\n[x] FAIL\nThe chart is mislabelled.", "The chart is mislabelled."),
        ("The passage supports it. PASS", "The passage supports it."),
        ("ＰＡＳＳ：内容一致", "内容一致"),
        ("<verdict>FAIL</verdict>\n<reason>No date.</reason>", "No date."),
        ('{"verdict": "PASS", "reason": "one\ntwo"}', "one\ntwo"),
        ("PASS", ""),
    ],
)
def test_the_reason_is_the_judges_own_words(reply: str, reason: str) -> None:
    assert read_verdict(reply).reason == reason


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "the judge's reply is empty"),
        (None, "the judge's reply has no text"),
        ("<think>hm", "holds thinking and no answer: '<think>hm'"),
        ("Fine.", "says neither PASS nor FAIL in the place of a verdict: 'Fine.'"),
        ("Likely FAIL", "holds no verdict that is plain"),
        ('{"verdict": 7}', "holds an object or a box that is not plain"),
        ("a" * 60_000, "is 60,000 characters long, too long for a verdict: 'aaa"),
    ],
)
def test_no_verdict_says_why(reply: str | None, said: str) -> None:
    assert said in read_verdict(reply).reason


def test_an_unreadable_reply_is_shown_short_and_printable() -> None:
    reason = read_verdict("\x1b]0;title\x07\u202e" + "z" * 5_000).reason

    assert reason.isprintable()
    assert len(reason) < 400


@pytest.mark.parametrize(
    "unit",
    ["?", "!? ", ". ", "<", "[", '"', '{"a":', '{"verdict":"PASS"}', "\n", "</think>",
     "not PASS ", "PASS: x\n", "| PASS ", '"\\', "\u0301\u0323", "verdict:\n", "`a PASS`"],
)  # fmt: skip
@pytest.mark.parametrize("size", [49_000, 1_000_000])
def test_hostile_text_is_read_in_linear_time(unit: str, size: int) -> None:
    text = f"PASS {unit * (size // len(unit))}"
    started = process_time()

    read_verdict(text)

    # A fraction of a second each; the bar leaves room for a slow machine.
    assert process_time() - started < 10
