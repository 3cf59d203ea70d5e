from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.datasets import cases_from, load_cases
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case


def case_of(preset: str, **row: Any) -> Case:
    return cases_from([row], columns=preset)[0]


def refusal_of(preset: str, **row: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        case_of(preset, **row)
    return str(caught.value)


def test_teff_takes_the_first_of_its_question_columns() -> None:
    case = case_of("teff", id=0, prompt="p", input="i", query="q", expected="e")

    assert (case.id, case.input, case.expected) == ("0", "q", "e")


def test_teff_rows_without_a_question_keep_their_columns() -> None:
    case = case_of("teff", id="a", review="great", expected="positive", answer="other")

    assert (case.input, case["review"], case.expected) == (None, "great", "positive")


def test_hotpotqa_context_becomes_a_text() -> None:
    case = case_of(
        "hotpotqa",
        _id="5a",
        id="other",
        question="Who?",
        answer="yes",
        context=[["T1", ["One.", "Two."]], ["T2", ["Three."]]],
        supporting_facts=[["T1", 0]],
    )

    assert (case.id, case.input, case.expected) == ("5a", "Who?", "yes")
    assert case.context == "One. Two.\nThree."
    assert case["supporting_facts"] == [["T1", 0]]


def test_hotpotqa_context_in_the_hub_s_form_is_read() -> None:
    context = {"title": ["T1", "T2"], "sentences": [["One.", "Two."], ["Three."]]}

    case = case_of("hotpotqa", id="a", question="Who?", context=context)

    assert (case.id, case.context) == ("a", "One. Two.\nThree.")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (
            [["T1", ["One."]], ["T2", "Two."]],
            "paragraph 2 of context, counted from 1, is",
        ),
        ([["T1", ["One."], 3]], "paragraph 1 of context"),
        ([["T1", [1]]], "paragraph 1 of context"),
        ([["One."]], "not [title, [sentences]]"),
        ("text", "context is 'text', not [[title, [sentences]], ...]"),
        ({"title": ["a"], "sentences": []}, "not as many titles as lists of sentences"),
    ],
)
def test_a_malformed_hotpotqa_context_is_refused(context: Any, expected: str) -> None:
    assert expected in refusal_of("hotpotqa", question="Who?", context=context)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("2+2=4\n#### 4", "4"),
        ("so\n#### 70,000", "70000"),
        ("a #### 3\nb #### -1.50 ", "-1.50"),
        ("#### 1,234,567", "1234567"),
    ],
)
def test_gsm8k_expects_what_follows_the_marker(answer: str, expected: str) -> None:
    case = case_of("gsm8k", question="q", answer=answer)

    assert case.expected == expected
    assert case["answer"] == answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("4", "answer has no final number after ####: '4'"),
        ("4 ####  ", "answer has no final number after ####"),
        (4, "answer is 4, and a text is expected"),
    ],
)
def test_a_gsm8k_answer_without_a_number_is_refused(answer: Any, expected: str) -> None:
    assert expected in refusal_of("gsm8k", question="q", answer=answer)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"text": ["a", "b", "a"], "answer_start": [1, 2, 3]}, ["a", "b"]),
        ([{"text": "a", "answer_start": 1}], ["a"]),
        (["a", "b"], ["a", "b"]),
        ({"text": [], "answer_start": []}, ""),
        ([], ""),
    ],
)
def test_squad_expects_any_answer_or_nothing(answers: Any, expected: Any) -> None:
    case = case_of("squad", id="s", question="q", context="c", answers=answers)

    assert (case.id, case.input, case.context) == ("s", "q", "c")
    assert case.expected == expected


@pytest.mark.parametrize("answers", [None, "a", {"texts": ["a"]}, [1], [{"a": "b"}]])
def test_malformed_squad_answers_are_refused(answers: Any) -> None:
    message = refusal_of("squad", question="q", answers=answers)

    assert f"answers is {answers!r}, not {{'text': [...]}}" in message


def test_drop_reads_aflow_s_columns() -> None:
    case = case_of("drop", context="Passage. Question?", ref_text="Vikings| |Packers")

    assert (case.input, case.context) == ("Passage. Question?", None)
    assert case.expected == ["Vikings", "Packers"]


@pytest.mark.parametrize("text", ["", "|", " | "])
def test_drop_without_a_reference_is_refused(text: str) -> None:
    assert f"ref_text {text!r} holds no reference" in (
        refusal_of("drop", context="c", ref_text=text)
    )


@pytest.mark.parametrize("name", ["golden_label", "golden_answer", "target"])
def test_dataflow_answers_stay_as_they_are(name: str) -> None:
    case = case_of("dataflow", question="q", **{name: "x | y; z"})

    assert (case.input, case.expected) == ("q", "x | y; z")


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["a", " ", None, "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("a | x||b", ["a | x", "b"]),
        ("a; x|b", ["a; x", "b"]),
        ("a; b", ["a", "b"]),
    ],
)
def test_dataflow_targets_are_a_list(targets: Any, expected: list[str]) -> None:
    assert case_of("dataflow", question="q", targets=targets).expected == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"targets": [" "]}, "targets holds no reference"),
        ({"targets": 5}, "targets is 5, not a list of references"),
        ({"context": 5}, "context holds 5, not text"),
    ],
)
def test_malformed_dataflow_columns_are_refused(
    row: dict[str, Any], expected: str
) -> None:
    assert expected in refusal_of("dataflow", question="q", **row)


@pytest.mark.parametrize("labels", [[0, 2], "[0, 2]"])
def test_dataflow_labels_are_a_list(labels: Any) -> None:
    case = case_of("dataflow", question="q", choices=["a", "b", "c"], labels=labels)

    assert case.labels == (0, 2)


def test_dataflow_labels_may_be_a_text_with_separators() -> None:
    assert case_of("dataflow", question="q", labels="A, C;D").labels == ("A", "C", "D")


@pytest.mark.parametrize(
    ("context", "expected"),
    [([" a ", None, "", "b"], "a\nb"), (" a ", "a"), (None, None), ([], None)],
)
def test_dataflow_contexts_are_joined(context: Any, expected: str | None) -> None:
    assert case_of("dataflow", question="q", context=context).context == expected


def test_dataflow_text_is_the_input_of_a_perplexity_row() -> None:
    assert case_of("dataflow", text="A sentence.").input == "A sentence."


def test_dataflow_preferences_keep_both_replies() -> None:
    case = case_of("dataflow", question="q", better="b", rejected="r", context=None)

    assert (case.better, case.rejected) == ("b", "r")


def test_a_preset_on_another_file_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"query": "q", "answer": "#### 1"}', "utf-8")

    with pytest.raises(DatasetError) as caught:
        load_cases("a.jsonl", base=tmp_path, columns="gsm8k")

    assert str(caught.value) == (
        "a.jsonl:1: the preset 'gsm8k' reads 'input' from a column called question, and "
        "there is none; columns: query, answer"
    )


def test_a_preset_keeps_marks_of_rows() -> None:
    case = case_of(
        "gsm8k", id="x", question="q", answer="#### 1", tags=["t"], skip=True
    )

    assert (case.id, case.tags, case.skip) == ("x", ("t",), "the row says skip")
