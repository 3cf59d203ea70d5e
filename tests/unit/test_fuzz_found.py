"""What fuzzers have found: each is refused in words now, or read as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.baseline import parse_baseline
from pytest_llmeval.clients._stream import BrokenStreamError, joined
from pytest_llmeval.clients._values import at_path
from pytest_llmeval.conclusion import KeptRun
from pytest_llmeval.datasets import load_cases, write_cases
from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.gates import parse_gate
from pytest_llmeval.metrics import exact_match, score
from pytest_llmeval.store.answers import Answers
from pytest_llmeval.store.runs import read_run
from pytest_llmeval.tasks import TaskOptions, load_task
from pytest_llmeval.types import Case, whole_number
from tests.fuzz.files import DATA
from tests.fuzz.servers import SERVERS

LONG = "x" * 300
DIGITS = "1" * 5000
TASK = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
    "test_split": "test",
    "doc_to_text": "{{q}}",
    "doc_to_target": "a",
}
CHOICE = {"output_type": "multiple_choice", "doc_to_choice": ["x", "y"]}


def loaded(
    folder: Path, data: Any, rows: str = '{"q": "?", "a": 0, "b": 1e999}\n'
) -> Any:
    (folder / "rows.jsonl").write_text(rows, "utf-8")
    path = folder / "task.yaml"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return load_task(path, TaskOptions(root=folder))


def lines(**keys: Any) -> str:
    """Return a task whose keys stand at the beginning of lines."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())


def refusal(folder: Path, data: Any) -> str:
    with pytest.raises(UserError) as caught:
        loaded(folder, data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"dataset_path": []}, "dataset_path [] is not local"),
        ({"test_split": [1]}, "test_split: there is no split [1]; splits: test"),
        ({"dataset_kwargs": {"data_files": 5}}, "'train' is a file or a list, not 5"),
        (
            {"dataset_kwargs": {"data_files": {"test": []}}},
            "'test' is a file or a list, not []",
        ),
        (
            {"dataset_kwargs": {"data_files": {"test": [1]}}},
            "'test' is a file or a list, not [1]",
        ),
        ({"dataset_kwargs": {"data_files": {"test": f"{LONG}.jsonl"}}}, "too long"),
        ({"include": "a\0"}, "include: 'a\\x00': embedded null byte"),
        (
            {"filter_list": [{"name": "n", "filter": [{"function": []}]}]},
            "there is no filter []",
        ),
        (
            {"metric_list": [{"metric": "exact_match", "regexes_to_ignore": 5}]},
            "regexes_to_ignore is a list of patterns, not 5",
        ),
        ({**CHOICE, "doc_to_target": []}, "is an empty list, and no choice is right"),
        ({**CHOICE, "doc_to_target": 5}, "doc_to_target is 5, and there are 2 choices"),
        ({**CHOICE, "doc_to_target": DIGITS}, "none of the choices"),
        ({**CHOICE, "doc_to_target": "²"}, "none of the choices"),
        ({**CHOICE, "doc_to_target": "b"}, "none of the choices"),
    ],
)
def test_a_key_of_a_task_that_expects_something_else(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    assert message in refusal(tmp_path, {**TASK, **keys})


def test_an_example_whose_choice_is_not_there(tmp_path: Path) -> None:
    shots = {"num_fewshot": 1, "fewshot_config": {"samples": [{"q": "?", "a": 7}]}}

    message = refusal(tmp_path, {**TASK, **CHOICE, **shots})

    assert "doc_to_target is 7, and there are 2 choices" in message


def test_a_row_without_a_text_has_an_empty_input(tmp_path: Path) -> None:
    task = loaded(tmp_path, TASK, '{"q": "", "a": "x"}\n')

    assert [case.input for case in task.cases] == [""]


@pytest.mark.parametrize("value", ["5", "''", "[[]]"])
def test_metadata_of_a_group_that_is_no_mapping(tmp_path: Path, value: str) -> None:
    (tmp_path / "one.yaml").write_text(lines(**TASK, task="one"))
    group = f"group: g\ntask: [one]\nmetadata: {{llmeval: {value}}}\n"

    assert "metadata.llmeval is a mapping" in refusal(tmp_path, group)


def test_a_tag_that_is_no_text_tags_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(lines(**TASK, task="one", tag=5))

    message = refusal(tmp_path, "group: g\ntask: [five]\n")

    assert "there is no task, group or tag 'five'" in message


def test_a_path_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ile name too long"):
        load_cases(f"{LONG}.jsonl", base=tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_column_that_begins_with_a_byte_order_mark(
    tmp_path: Path, suffix: str
) -> None:
    sign = "," if suffix == ".csv" else "\t"
    first = tmp_path / f"a{suffix}"
    first.write_text(f'\ufeff"\ufeffid"{sign}question\n2{sign}x\n1{sign}y\n', "utf-8")
    cases = load_cases(first)

    write_cases(cases, tmp_path / f"b{suffix}")

    again = load_cases(tmp_path / f"b{suffix}")
    assert [dict(case.fields) for case in again] == [dict(c.fields) for c in cases]
    assert [case.id for case in again] == ["1", "2"]


def kept_run(folder: Path, terms: dict[str, Any]) -> KeptRun:
    header, *rest = (DATA / "fuzz" / "run.jsonl").read_text("utf-8").splitlines()
    data = json.loads(header)
    data["terms"].update(terms)
    lines = [json.dumps(data), *rest[:-1]]  # as its footer repeats the terms
    path = folder / "run.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return KeptRun.of(read_run(path))


@pytest.mark.parametrize("terms", [{"baseline": 0}, {"require": "many"}])
def test_terms_of_a_run_that_are_none(tmp_path: Path, terms: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        kept_run(tmp_path, terms)


def test_a_reply_in_a_run_that_no_provider_gave(tmp_path: Path) -> None:
    text = (DATA / "fuzz" / "run.jsonl").read_text("utf-8")
    path = tmp_path / "run.jsonl"
    path.write_text(text.replace('"provider": "fake", "finish', '"finish'), "utf-8")

    with pytest.raises(UserError, match="run.jsonl:2: not a whole case"):
        read_run(path)


@pytest.mark.parametrize("part", [{"commit": 5}, {"dirty": "yes"}])
def test_a_baseline_of_a_commit_that_is_none(part: dict[str, Any]) -> None:
    data = json.loads((DATA / "fuzz" / "baseline.json").read_bytes())

    with pytest.raises(UserError, match=f"is no baseline .*: {next(iter(part))} is"):
        parse_baseline(json.dumps({**data, **part}).encode(), "main.json")


@pytest.mark.parametrize("sample", ["1e999", '"1"', "null"])
def test_an_answer_whose_sample_is_no_number(tmp_path: Path, sample: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f'{{"request": {{}}, "sample": {sample}, "error": "no"}}\n')

    with pytest.raises(UserError, match=r"answers.jsonl:1: no answer .*sample is"):
        Answers.read(path)


@pytest.mark.parametrize("pattern", ["[a--b]", "a{99999999999}", "(" * 5000])
def test_a_pattern_that_python_warns_of_or_is_too_large(
    tmp_path: Path, pattern: str
) -> None:
    task = {"task": "t", "dataset": [{"input": "a"}], "assert": [{"regex": pattern}]}
    steps = [{"function": "regex", "regex_pattern": pattern}]

    with pytest.raises(ConfigError, match="is not a regular expression"):
        exact_match("a", "a", regexes_to_ignore=[pattern])
    with pytest.raises(ConfigError, match="is not a regular expression"):
        score("regex", "a", pattern)
    assert "is no regular expression" in refusal(tmp_path, task)
    filters = {"filter_list": [{"name": "n", "filter": steps}]}
    assert "is not a regular expression" in refusal(tmp_path, {**TASK, **filters})


def test_a_question_of_an_answer_that_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"request": [[null, 1]], "sample": 0, "error": "no"}\n')

    with pytest.raises(UserError, match=r"answers.jsonl:1: no answer .*request is"):
        Answers.read(path)


def test_patterns_that_are_no_list() -> None:
    wrong: Any = 5

    with pytest.raises(ConfigError, match="regexes_to_ignore is a list of patterns"):
        exact_match("a", "a", regexes_to_ignore=wrong)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("number", {"tolerance": []}, "tolerance is a number of 0 or more, not \\[\\]"),
        ("number", {"tolerance": True}, "tolerance is a number of 0 or more, not True"),
        ("choice", {"choices": 5}, "choices are a list, not 5"),
        ("choice_loglik", {"context": 5}, "context is a text, not 5"),
        ("f1", {"preset": [[1]]}, "there is no step of normalisation \\[1\\]"),
        ("supporting_facts", {"facts": 5}, "facts are pairs of a title and an index"),
    ],
)
def test_an_option_of_a_metric_that_is_something_else(
    metric: str, options: dict[str, Any], message: str
) -> None:
    fields = {"supporting_facts": [["a", 0]]}
    case = Case(id="c", expected="A", choices=("x", "y"), label=0, fields=fields)

    with pytest.raises(ConfigError, match=message):
        score(metric, "A", case, **options)


@pytest.mark.parametrize(
    ("text", "number"),
    [("07", 7), ("²", None), ("٣", None), (DIGITS, None), ("", None), ("-1", None)],
)
def test_a_number_is_of_a_few_ascii_digits(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_a_gate_on_more_samples_than_can_be_counted() -> None:
    with pytest.raises(ConfigError, match="about a number of samples"):
        parse_gate(f"pass@{DIGITS} >= 0.5")


def test_a_place_that_no_list_has() -> None:
    assert at_path([1, 2], DIGITS) is None
    assert at_path([1, 2], f"-{DIGITS}") is None
    assert at_path([1, 2], "-1") == 2


def test_vectors_whose_places_are_none() -> None:
    items = [{"index": [], "embedding": [1]}, {"index": 1, "embedding": [2]}]

    SERVERS["embeddings"].hold(json.dumps({"data": items}).encode())


def test_an_error_whose_code_has_thousands_of_digits() -> None:
    error = {"error": {"code": DIGITS, "message": "no"}}

    SERVERS["chat"].hold(json.dumps(error).encode())


def stream(*deltas: dict[str, Any], **first: Any) -> bytes:
    pieces = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    pieces[0]["choices"][0].update(first)
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return "".join(f"data: {json.dumps(p)}\n\n" for p in [*pieces, end]).encode()


CALL = {"index": 0, "function": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    "deltas",
    [
        ({"tool_calls": "x"}, {"tool_calls": [CALL]}),
        ({"tool_calls": [{"index": 0, "function": 5}]}, {"tool_calls": [CALL]}),
        (
            {"tool_calls": [{"index": 0, "function": {"arguments": {"a": 1}}}]},
            {"tool_calls": [CALL]},
        ),
        ({"function_call": 5}, {"function_call": {"name": "look", "arguments": "{}"}}),
    ],
)
def test_pieces_of_a_stream_that_do_not_fit(deltas: tuple[dict[str, Any], ...]) -> None:
    message = joined(stream(*deltas))["choices"][0]["message"]

    calls = message.get("tool_calls") or [{"function": message["function_call"]}]
    assert calls[0]["function"]["arguments"].endswith("{}")


def test_log_probabilities_of_a_stream_that_do_not_fit() -> None:
    content = stream({"content": "a"}, logprobs={"content": 5})
    more = stream({"content": "b"}, logprobs={"content": [1]})

    found = joined(content.rsplit(b"data: ", 1)[0] + more)

    assert found["choices"][0]["logprobs"] == {"content": [1]}


def test_a_stream_that_broke_off_in_what_is_no_text() -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": 5}}]}

    with pytest.raises(BrokenStreamError, match="it ends '5'"):
        joined(f"data: {json.dumps(piece)}\n\n".encode())
