from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.config.yamlfile import YamlFile
from pytest_llmeval.datasets import load_cases
from pytest_llmeval.errors import DatasetError


def value_of(text: str) -> Any:
    file = YamlFile(text, shown="a.yaml", error=DatasetError)
    return file.value(file.root)


def refusal_of(text: str) -> str:
    with pytest.raises(DatasetError) as caught:
        value_of(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        *("no", "yes", "on", "off", "NO", "Yes", "y", "n", "True", "FALSE", "Null"),
        *("007", "1_000", "0x10", "0o7", "12:30", "2020-01-01", ".5", "+5", "5."),
        *(".inf", ".nan", "NaN", "=", "1e", "1.2.3", "2001-12-14t21:59:43Z"),
    ],
)
def test_a_plain_scalar_that_is_no_json_stays_text(written: str) -> None:
    assert value_of(f"- {written}") == [written]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("true", True), ("false", False), ("null", None), ("~", None), ("", None)),
        *(("5", 5), ("-5", -5), ("1.10", 1.1), ("1e-6", 1e-6), ("0", 0)),
        *(("'true'", "true"), ('"5"', "5"), ("!!str 5", "5"), ("'~'", "~")),
        *(("!!int 5", 5), ("<<", "<<")),
    ],
)
def test_json_words_and_numbers_have_their_meaning(written: str, value: Any) -> None:
    found = value_of(f"- {written}")

    assert found == [value]
    assert type(found[0]) is type(value) or isinstance(value, float)


def test_a_float_prints_as_it_was_written() -> None:
    assert str(value_of("- 1.10")[0]) == "1.10"


def test_keys_are_the_texts_they_were_written_as() -> None:
    assert value_of("{1: a, yes: b, 1.10: c, null: d}") == {
        "1": "a",
        "yes": "b",
        "1.10": "c",
        "null": "d",
    }


def test_merge_keys_fill_what_is_not_there() -> None:
    text = "- &a {x: 1, y: 2}\n- {<<: *a, y: 3}\n- {<<: [{z: 5, x: 0}, *a]}"

    assert value_of(text)[1:] == [{"x": 1, "y": 3}, {"z": 5, "x": 0, "y": 2}]


def test_a_quoted_merge_sign_is_a_key() -> None:
    assert value_of("{'<<': a}") == {"<<": "a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a: 1\n  b: 2\n  a: 3", "a.yaml:3: the key 'a' stands twice in one mapping"),
        ("- {a: b", "a.yaml:1: not valid YAML: did not find expected ',' or '}'"),
        ("- a\n---\n- b", "a.yaml:2: not valid YAML: but found another document"),
        ("- *a", "a.yaml:1: not valid YAML: found undefined alias"),
        ("- a: b\n- \x01", "a.yaml:2: not valid YAML: a control character"),
        ("- ? [a]\n  : b", "a.yaml:1: a key is a text, not a list or mapping"),
        ("- {<<: 5}", "a.yaml:1: << merges a mapping or a list of mappings, not 5"),
        ("- !!int x", "a.yaml:1: 'x' can't have the tag !!int"),
        ("- !!bool yes", "a.yaml:1: 'yes' can't have the tag !!bool"),
        ("- !foo x", "a.yaml:1: 'x' can't have the tag !foo"),
        ("- !!set {a}", "a.yaml:1: the tag !!set is not read"),
        ("- !!python/object/apply:os.system [ls]", "the tag !!python/object/apply:os."),
        ("- &a [*a]", "a.yaml:1: an alias holds itself"),
        ("- &a {b: *a}", "a.yaml:1: an alias holds itself"),
        ("[" * 5000, "a.yaml:1: not valid YAML: exceeded maximum nesting depth"),
        ("[" * 900 + "]" * 900, "a.yaml:1: values are nested too deeply"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(
    text: str, expected: str
) -> None:
    assert expected in refusal_of(text)


@pytest.mark.parametrize("form", ["[{}]", "{{<<: [{}]}}"])
def test_a_bomb_of_aliases_is_refused(form: str) -> None:
    lines = ["a0: &a0 {x: 1}"]
    for level in range(1, 12):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {form.format(inner)}")

    message = refusal_of("\n".join(lines))

    assert "aliases expand to far more values than the file holds" in message


def test_many_honest_aliases_are_fine() -> None:
    text = "- &ctx {text: a long passage}\n" + "- *ctx\n" * 5000

    assert len(value_of(text)) == 5001


def test_items_keep_their_lines(tmp_path: Path) -> None:
    text = "# cases\n- id: a\n  input: x\n\n-\n  id: b\n- {id: c}\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")

    cases = load_cases("a.yaml", base=tmp_path)

    assert [str(case.source) for case in cases] == ["a.yaml:2", "a.yaml:6", "a.yaml:7"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: a", "a.yaml:1: the file holds one mapping, and a list of cases is expec"),
        ("just text", "a.yaml:1: the file holds one text, and a list of cases is expe"),
        ("# nothing", "a.yaml: the file is empty, and a list of cases is expected"),
        ("- id: a\n- b", "a.yaml:2: item 2 of the list, counted from 1, is 'b', and a"),
    ],
)
def test_a_yaml_file_that_is_no_list_of_mappings_is_refused(
    tmp_path: Path, text: str, expected: str
) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(DatasetError) as caught:
        load_cases("a.yaml", base=tmp_path)

    assert expected in str(caught.value)


def test_unquoted_answers_and_ids_are_never_booleans(tmp_path: Path) -> None:
    text = "".join(
        f"- id: {name}\n  input: q\n  expected: {answer}\n"
        for name, answer in zip("abcd", ["no", "yes", "on", "off"], strict=True)
    )
    (tmp_path / "a.yml").write_text(text + "- {id: no, expected: NO}", encoding="utf-8")

    cases = load_cases("a.yml", base=tmp_path)

    assert [case.expected for case in cases] == ["no", "yes", "on", "off", "NO"]
    assert cases[-1].id == "no"
