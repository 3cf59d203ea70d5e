"""Files that were read wrongly elsewhere: the inputs of docs/faults.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.datasets import cases_from, load_cases
from pytest_llmeval.errors import DatasetError, UnscoredError
from pytest_llmeval.metrics import score
from pytest_llmeval.prompts import Template, render

if TYPE_CHECKING:
    from tests.conftest import Troubles


def refusal(troubles: Troubles, name: str) -> str:
    with pytest.raises(DatasetError) as caught:
        load_cases(troubles.path(name))
    return str(caught.value)


@pytest.mark.parametrize("name", ["n25_bom.csv", "n25_bom_quoted.csv"])
def test_a_byte_order_mark_is_no_part_of_a_column(
    troubles: Troubles, name: str
) -> None:
    cases = load_cases(troubles.path(name))

    assert [list(case.fields) for case in cases] == [["id", "question", "expected"]] * 2
    assert [case.id for case in cases] == ["1", "2"]
    assert [case.expected for case in cases] == ["Oslo", "Lima"]


def test_a_line_end_is_no_part_of_a_cell(troubles: Troubles) -> None:
    cases = load_cases(troubles.path("n27_crlf.csv"))

    assert [case.expected for case in cases] == ["¡Buenos días!", "Gute Nacht"]
    assert [len(str(case.expected)) for case in cases] == [13, 10]


def test_separators_within_a_text_split_no_line(troubles: Troubles) -> None:
    cases = load_cases(troubles.path("n29_separators.jsonl"))

    assert [case.input for case in cases] == [
        "line one\u2028line two",
        "para\u2029graph",
        "next\u0085line",
    ]


def test_words_of_yaml_stay_the_words_they_are(troubles: Troubles) -> None:
    cases = load_cases(troubles.path("n31_norway.yaml"))

    assert [case.expected for case in cases] == ["no", "yes", "on", "off", "NO"]
    assert cases[-1].id == "no"


def test_utf_8_is_read_as_such(troubles: Troubles) -> None:
    (case,) = load_cases(troubles.path("n33_utf8.jsonl"))

    assert case.input == "Größe – 5 €, naïve, 東京, 😀"
    assert len(case.input) == 25


def test_an_object_in_place_of_a_list_is_refused(troubles: Troubles) -> None:
    message = refusal(troubles, "n35_single_object.json")

    assert "a list of " in message
    assert "n35_single_object.json" in message


def test_an_item_that_is_no_case_is_named(troubles: Troubles) -> None:
    assert "item 2 of the list" in refusal(troubles, "n35_mixed.json")


def test_a_column_called_like_a_method_is_a_column(troubles: Troubles) -> None:
    (case,) = load_cases(troubles.path("n35_nested.json"))
    templates = [
        "{{ input.user }}",
        "{{ input['items'] | join(',') }}",
        "{{ input.items }}",
    ]

    texts = [render(Template.of(template), case).text for template in templates]

    assert texts == ["Ana", "tea,milk", '["tea", "milk"]']
    assert case.expected == {"total": 2}
    assert score("json", '{"total": 2.0}', case).value == 1


def test_another_encoding_is_refused_with_its_place(troubles: Troubles) -> None:
    message = refusal(troubles, "n37_cp1252.csv")

    assert "n37_cp1252.csv:2: the file is not UTF-8: byte 23 " in message
    assert "n37_utf16.csv: the file is UTF-16" in refusal(troubles, "n37_utf16.csv")


def test_a_variable_no_row_has_is_told_with_the_columns(troubles: Troubles) -> None:
    given = troubles.input(43)
    (case,) = cases_from([given["row"]])

    with pytest.raises(UnscoredError) as caught:
        render(Template.of(given["template"]), case)

    message = str(caught.value)
    assert "question" in message
    assert "'v1'" in message
    assert all(column in message for column in given["row"])
    assert render(Template.of("{{ x | default('') }}."), case).text == "."


def test_template_signs_in_data_are_data(troubles: Troubles) -> None:
    cases = load_cases(troubles.path("n45_braces.jsonl"))

    texts = [render(Template.of("Review: {{ input }}"), case).text for case in cases]

    assert texts == [
        "Review: {{ 7*7 }} and {# gone #} end",
        "Review: {% raw %}x{% endraw %}",
        'Review: Return {"a": 1} for {q}',
    ]
