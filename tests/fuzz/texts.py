"""What is held of every text that a model may reply, or a user may write in a line.

A function here takes any text and raises an AssertionError where a promise is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import strategies as st

from pytest_llmeval.clients._retry_after import retry_after_seconds
from pytest_llmeval.config import Config, parse_spec
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.gates import calibration_gate, parse_gate, scoped_gate
from pytest_llmeval.judging import read_label, read_verdict
from pytest_llmeval.metrics import explain, read_choices, score
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.types import Case
from tests.fuzz.damage import JSON
from tests.fuzz.files import as_json

__all__ = [
    "ANY",
    "PIECES",
    "REPLY",
    "SPACED",
    "TEXTS",
    "hold_another_number",
    "hold_choice",
    "hold_json",
    "hold_said_fail",
]

#: Pieces that readers look for, put together at random.
# fmt: off
PIECES: Final = (
    *("PASS", "FAIL", "pass", "failed", "verdict", "Verdict:", '"verdict":', "reason"),
    *("not", "no", "true", "false", "null", "0", "1", "yes", "if", "would", "either"),
    *("{", "}", "[", "]", '"', "'", "`", "```", "**", "<think>", "</think>"),
    *("A", "B)", "(C)", "D.", "Answer:", "option", "choice", "both", "or"),
    *("1,234.5", "-8", "2e3", "1/2", "3%", "$", "½", "١", "0x1F", "1.2.3"),
    *("```json\n", "answer is", "1 000", "#### 7", "\n", " ", "\t", "\x1b[0m", "\x00"),
    *("\u00a0", "\u200b", "\u202e", "\ud800", "…", "é", "e\u0301", "ß", "東京", "😀"),
    *("\\boxed{", "\\frac{1}{2}", "\\text{"),
)
# fmt: on
_PIECE = st.sampled_from(PIECES)
REPLY = st.lists(_PIECE | st.text(max_size=5), max_size=14).map("".join)
SPACED = st.lists(_PIECE, max_size=10).map(" ".join)


#: What a judge writes, as objects.
OBJECT = st.dictionaries(
    st.sampled_from(["verdict", "Verdict", "result", "passed", "reason", "answer"]),
    _PIECE | SPACED | JSON,
    max_size=3,
)
ANY = (
    REPLY
    | SPACED
    | st.text(max_size=30)
    | (JSON | OBJECT).map(lambda value: as_json(value).decode())
)

_FACTS: Final = Case(
    id="c", expected="7", fields={"supporting_facts": [["a", 0], ["b", 1]]}
)
_COMPARED: Final[Mapping[str, Any]] = {
    "exact": "7",
    "f1": "7",
    "contains": "7",
    "regex": "7",
    "number": "7",
    "levenshtein": "7",
    "starts_with": "7",
    "exact_match": "7",
    "json": {"a": 7},
    "tool_calls": [{"name": "look", "arguments": {"a": 7}}],
    "supporting_facts": _FACTS,
    "joint_f1": _FACTS,
}
_PASSES: Final = re.compile(r"p\W*a\W*s\W*s|true|yes|✅|✓|1", re.IGNORECASE)
_CHOICES: Final = ("red wine", "5", "A", "water")


def hold_verdict(reply: str) -> None:
    verdict = read_verdict(reply)

    assert verdict.verdict in {"PASS", "FAIL", None}
    assert verdict.raw == reply
    if not _PASSES.search(reply):
        assert verdict.verdict != "PASS"


def hold_label(reply: str) -> None:
    labels = ("Response A", "Tie", "Response B", "A", "1")

    assert read_label(reply, labels) in {*labels, None}


def hold_said_fail(noise: str, value: Any = "FAIL") -> None:
    """Hold that an object which says FAIL never passes, whatever its reason is."""
    told = json.dumps({"verdict": value, "reason": noise})

    assert read_verdict(told).verdict != "PASS"
    assert read_verdict(f"```json\n{told}\n```").verdict != "PASS"


def hold_choice(reply: str, label: int = 0) -> None:
    reading = read_choices(reply, list(_CHOICES))
    case = Case(id="c", input="q", choices=_CHOICES, label=label)

    assert set(reading.labels) <= set("ABCD")
    if reply.strip():
        right = score("choice", reply, case).value
        assert right == float(reading.labels == ("ABCD"[label],))


def hold_scores(reply: str) -> None:
    """Hold that each metric's value is a share, and can be explained."""
    for metric, expected in _COMPARED.items():
        try:
            found = score(metric, reply, expected)
        except LLMEvalError:
            continue
        assert found.value is None or 0 <= found.value <= 1, metric
        explain(found)


def hold_number(reply: str) -> None:
    """Hold that no reply is two numbers at once, and none without a digit is one."""
    try:
        right = [n for n in (0, 7, -7, 1000) if score("number", reply, n).value == 1]
    except LLMEvalError:
        return
    assert len(right) <= 1


def hold_another_number(one: int, other: int, form: str) -> None:
    reply = form.format(one)

    assert score("number", reply, one).value == 1
    if one != other:
        assert score("number", reply, other).value == 0
    assert score("number", form.format(f"{one}.25"), one).value == 0


def hold_json(reply: str) -> None:
    """Hold a text that is JSON for Python to being equal to itself, and nothing else."""
    try:
        value = json.loads(reply, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return
    try:
        found = score("json", reply, {"a": 7}).value
    except LLMEvalError:
        return
    assert found == 0 or value == {"a": 7}


def hold_schema(text: str) -> None:
    """Hold a text as a JSON schema, and as what is held against one."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for reply, given in (('{"a": 7}', text), (text, schema)):
        try:
            wanted = json.loads(given) if isinstance(given, str) else given
            score("json", reply, None, schema=wanted)
        except (LLMEvalError, ValueError, RecursionError):
            continue


def hold_data(text: str) -> None:
    """Hold that data in a template is sent as it is."""
    case = Case(id="c", input=text, fields={"x": [text], "input": text})

    assert render(Template.of("<{{ input }}>"), case).text == f"<{text}>"
    render(Template.of("{{ x | tojson }}{{ x | join(' ') | trim | upper }}"), case)


def hold_template(text: str) -> None:
    """Hold that a text is a template, or refused."""
    case = Case(id="c", input="q", expected=["a"], choices=("x", "y"))
    try:
        render(Template.of(text), case)
    except LLMEvalError:
        return


def hold_lines(text: str) -> None:
    """Hold what stands in single lines: gates, names of models, a header."""
    for read in (parse_gate, calibration_gate, scoped_gate, _spec):
        try:
            read(text)
        except LLMEvalError:
            continue
    waits = [retry_after_seconds({name: text}) for name in ("retry-after", "date")]
    waits.append(retry_after_seconds({"retry-after-ms": text}))
    assert all(wait is None or wait >= 0 for wait in waits)


def _spec(text: str) -> None:
    parse_spec(text, Config())


def _refuse(word: str) -> None:
    raise ValueError(word)


TEXTS: dict[str, Callable[[str], None]] = {
    "verdict": hold_verdict,
    "label": hold_label,
    "said fail": hold_said_fail,
    "choice": hold_choice,
    "number": hold_number,
    "scores": hold_scores,
    "json": hold_json,
    "schema": hold_schema,
    "data": hold_data,
    "template text": hold_template,
    "lines": hold_lines,
}
