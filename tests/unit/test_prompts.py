from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.datasets import cases_from, load_cases
from pytest_llmeval.errors import TemplateError, UnscoredError
from pytest_llmeval.prompts import Template, render, template_check
from pytest_llmeval.types import Case, Message, Prompt, WrittenFloat

ROW = {
    "id": "v1",
    "input": {"user": "Ana", "items": ["tea", "milk"]},
    "empty": None,
    "flag": True,
    "score": WrittenFloat("1.50"),
    "list": [True, None, WrittenFloat("1.50"), "é"],
    "expected": "{{ 7*7 }}",
    "name with blank": "x",
}


def case_of(row: dict[str, Any] | None = None, **options: Any) -> Case:
    return cases_from([ROW if row is None else row], **options)[0]


def text_of(source: Any, case: Case | None = None) -> str:
    return render(Template.of(source), case or case_of()).text


def unscored_of(source: Any, case: Case | None = None) -> UnscoredError:
    with pytest.raises(UnscoredError) as caught:
        text_of(source, case)
    return caught.value


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ input.user }}", "Ana"),
        ("{{ input['items'] | join(',') }}", "tea,milk"),
        ("{{ input.items }}", '["tea", "milk"]'),
        ("{{ question.user }} {{ id }}", "Ana v1"),
        ("{{ flag }} {{ score }}", "true 1.50"),
        ("{{ list }}", '[true, null, 1.50, "é"]'),
        ("{{ input }}", '{"user": "Ana", "items": ["tea", "milk"]}'),
        ("{{ input | tojson }}", '{"user": "Ana", "items": ["tea", "milk"]}'),
        ("{{ [1] | tojson(indent=1) }}", "[\n 1\n]"),
        ("{{ expected }}", "{{ 7*7 }}"),
        ("{{ case.flag }} {{ case['name with blank'] }}", "true x"),
        ("{{ nope | default('d') }}", "d"),
        ("{{ empty | default('', true) }}", ""),
        ("{% if empty %}a{% else %}b{% endif %}", "b"),
        ("{% if nope is defined %}a{% endif %}b", "b"),
        ("{% for key in input %}{{ key }};{% endfor %}", "user;items;"),
        ("{{ flag ~ score }}", "true1.50"),
        ("{{ flag | upper }}", "TRUE"),
        ("{{ score | string }}", "1.50"),
        ("{{ score * 2 }} {{ 3 }} {{ 1.0 }}", "3.0 3 1.0"),
        ("{{ [flag, score] | join('/') }}", "true/1.50"),
        ("{{ [{'a': {'b': 1}}] | join(attribute='a.b') }}", "1"),
        ("{{ '<&>' }}", "<&>"),
        (
            "a {{ '{{ b }}' }} {# gone #}{% raw %}{{ x }}{% endraw %}",
            "a {{ b }} {{ x }}",
        ),
        ("line\n", "line"),
    ],
)
def test_a_template_prints_values_as_a_model_reads_them(
    template: str, text: str
) -> None:
    assert text_of(template) == text


@pytest.mark.parametrize(
    "value",
    [
        "{{ 7*7 }} and {# gone #} end",
        "{% raw %}x{% endraw %}",
        'Return {"a": 1} for {q}',
        "<b>&amp;</b>",
        "{{",
    ],
)
def test_template_signs_in_data_are_sent_unchanged(value: str) -> None:
    assert (
        text_of("Review: {{ input }}", case_of({"input": value})) == f"Review: {value}"
    )


def test_a_missing_variable_leaves_the_case_unscored() -> None:
    case = case_of({"id": "v1", "qestion": "How tall?", "context": "A tower."})

    error = unscored_of("Context: {{ context }}\nQuestion: {{ question }}", case)

    assert error.cause == "data"
    assert error.reason == (
        "the prompt:2, case 'v1': the variable 'question' is not there (did you mean "
        "'qestion'?); columns: id, qestion, context; an optional one is written "
        "{{ question | default('') }}"
    )


def test_the_place_of_the_row_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x"}', encoding="utf-8")
    case = load_cases("a.jsonl", base=tmp_path)[0]

    assert (
        "case 'x' (a.jsonl:1): the variable" in unscored_of("{{ input }}", case).reason
    )


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ input.usr }}", "has no 'usr' (did you mean 'user'?); keys: user, items"),
        ("{{ input['usr'] }}", "has no 'usr' (did you mean 'user'?)"),
        ("{{ input.pop }}", "has no 'pop'; keys: user, items"),
        ("{{ list[9] }}", "has no '9'"),
        (
            "{{ case.flagg }}",
            "<Case 'v1'> has no 'flagg' (did you mean 'flag'?); columns",
        ),
        ("{{ nope.deeper }}", "the variable 'nope' is not there"),
        ("{% if nope %}{% endif %}", "the variable 'nope' is not there"),
        ("{{ nope | upper }}", "the variable 'nope' is not there"),
        ("{{ nope | tojson }}", "the variable 'nope' is not there"),
        ("{{ nope ~ 'a' }}", "the variable 'nope' is not there"),
        ("{{ [nope] | join }}", "the variable 'nope' is not there"),
        (
            "{{ empty }}",
            "{{ empty }} prints null: an optional value is written {{ empty |",
        ),
        ("{{ empty | upper }}", "{{ empty }} prints null"),
        ("{{ empty ~ 'a' }}", "{{ empty }} prints null"),
        ("{{ [empty] | join }}", "an expression prints null"),
        ("{{ case['empty'] }}", "{{ case['empty'] }} prints null"),
        ("{{ case.fields.empty }}", "{{ case.fields.empty }} prints null"),
        ("{{ 'a'.upper }}", "prints a builtin_function_or_method, no text for a model"),
        ("{{ range }}", "{{ range }} prints a function, no text for a model"),
        ("{{ case }}", "{{ case }} prints a Case, no text for a model"),
        (
            "{{ list | map('upper') }}",
            "prints a generator, no text for a model: end it w",
        ),
    ],
)
def test_what_is_no_text_for_a_model_is_never_printed(
    template: str, expected: str
) -> None:
    error = unscored_of(template)

    assert error.cause == "data"
    assert expected in error.reason


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), [float("nan")], len, Case])
def test_values_of_python_without_a_text_are_refused(value: Any) -> None:
    assert unscored_of("{{ x }}", Case(id="a", fields={"x": value})).cause == "data"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "a\n{{ 1 / 0 }}",
            "the prompt:2, case 'v1': the template raised ZeroDivisionEr",
        ),
        ("{{ input + 1 }}", "the template raised TypeError"),
        (
            "{{ ''.__class__ }}",
            "the template raised SecurityError: access to attribute",
        ),
        ("{{ list.append(1) }}", "has no 'append'"),
    ],
)
def test_a_template_that_raises_leaves_the_case_unscored(
    template: str, expected: str
) -> None:
    assert expected in unscored_of(template).reason


def test_a_template_can_t_change_a_row() -> None:
    case = case_of({"input": {"a": [1]}})

    unscored_of("{{ input.update({'a': 2}) }}", case)

    assert case.input == {"a": [1]}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a\n{{ x", "the prompt:2: not a Jinja template: unexpected end of template"),
        (
            "{% foo %}",
            "the prompt:1: not a Jinja template: Encountered unknown tag 'foo'.",
        ),
        (
            "{{ a | nofilter }}",
            "the prompt:1: not a Jinja template: No filter named 'no",
        ),
        ("{% include 'x' %}", "{% include %} is not there: a prompt is one file"),
        ("{% extends 'x' %}", "{% extends %} is not there"),
        ("{% from 'x' import y %}", "{% from … import %} is not there"),
        ("{{ " + "(" * 5000, "the prompt: not a Jinja template: "),
    ],
)
def test_a_template_that_is_no_jinja_is_refused_with_its_line(
    template: str, expected: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of(template)

    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("template", "name"),
    [("Q: {input}", "input"), ("{ question }", "question"), ("{input.user}", "input")],
)
def test_single_braces_around_a_variable_are_refused(template: str, name: str) -> None:
    with pytest.raises(TemplateError) as caught:
        text_of(template)

    assert str(caught.value) == (
        f"the prompt says {{{name}}} in single braces, which is sent as it stands: "
        f"write {{{{ {name} }}}}"
    )


@pytest.mark.parametrize(
    "template", ["{foo}", '{"input": 1}', "{input: text}", "{ }", "{{ id }} {input}"]
)
def test_other_braces_are_text(template: str) -> None:
    assert text_of(template) == template.replace("{{ id }}", "v1")


def test_fields_of_the_case_stand_before_columns_they_were_mapped_from() -> None:
    row = {"q": "mapped", "input": "column", "context": [["T", ["S."]]]}
    case = case_of(row, columns={"input": "q", "context": "context.0.1.0"})

    assert text_of("{{ input }} {{ context }}", case) == "mapped S."


def test_a_column_called_question_stays_itself() -> None:
    case = case_of({"question": "column", "prompt": "p"}, columns={"input": "prompt"})

    assert text_of("{{ question }} {{ input }}", case) == "column p"


def test_a_column_called_case_stays_itself() -> None:
    assert text_of("{{ case }}", case_of({"case": "nominative"})) == "nominative"


def test_choices_have_letters() -> None:
    case = case_of({"choices": ["tea", WrittenFloat("1.50"), True]})

    assert text_of("{{ choices_text }}", case) == "A. tea\nB. 1.50\nC. true"
    assert text_of("{{ choices[0] }} {{ choices | length }}", case) == "tea 3"


def test_more_choices_than_letters_are_numbered() -> None:
    text = text_of("{{ choices_text }}", case_of({"choices": list(range(28))}))

    assert text.endswith("Z. 25\n27. 26\n28. 27")


def test_an_optional_field_of_the_case_is_undefined_without_a_column() -> None:
    assert text_of("[{{ context | default('') }}]", case_of({"id": "a"})) == "[]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite" / "prompts").mkdir(parents=True)
    (tmp_path / "suite" / "prompts" / "qa.j2").write_text(
        "Größe: {{ input }}\r\nEnde\r\n", encoding="utf-8-sig", newline=""
    )
    (tmp_path / "outside.md").write_text("x", encoding="utf-8")
    return tmp_path / "suite"


@pytest.mark.parametrize("form", [str, Path])
def test_a_path_names_a_template_file(folder: Path, form: Callable[[str], Any]) -> None:
    template = Template.of(form("prompts/qa.j2"), base=folder, root=folder)

    assert render(template, Case(id="a", input="5 €")).text == "Größe: 5 €\nEnde"


def test_a_file_s_name_and_line_stand_in_errors(folder: Path) -> None:
    template = Template.of("qa.j2", base=folder / "prompts", root=folder)

    with pytest.raises(
        UnscoredError, match=r"^prompts/qa\.j2:1, case 'a': the variable"
    ):
        render(template, Case(id="a"))


@pytest.mark.parametrize("suffix", [".j2", ".jinja2", ".txt", ".md", ".J2"])
def test_a_missing_file_is_refused_with_near_names(folder: Path, suffix: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of(f"prompts/aq{suffix}", base=folder)

    assert f"prompts/aq{suffix}: there is no such file" in str(caught.value)
    assert str(caught.value).endswith(f"'{folder.as_posix()}/prompts' holds: qa.j2")


def test_a_folder_is_no_template(folder: Path) -> None:
    (folder / "a.md").mkdir()

    with pytest.raises(
        TemplateError, match=r"^a\.md is a folder, and a file is expecte"
    ):
        Template.of("a.md", base=folder)


def test_a_file_out_of_the_root_is_refused(folder: Path) -> None:
    with pytest.raises(
        TemplateError, match=r"'\.\./outside\.md' lies outside the root d"
    ):
        Template.of("../outside.md", base=folder, root=folder)


def test_a_file_that_is_not_utf8_is_refused(folder: Path) -> None:
    (folder / "a.txt").write_bytes("Größe".encode("cp1252"))

    with pytest.raises(
        TemplateError, match=r"^a\.txt:1: the file is not UTF-8: byte 2"
    ):
        Template.of("a.txt", base=folder)


@pytest.mark.parametrize("text", ["Read this:\nnotes.md", "Summarise {{ input }}.md"])
def test_a_text_of_several_lines_or_with_jinja_is_no_path(text: str) -> None:
    assert Template.of(text).text == text


def test_a_template_stays_itself() -> None:
    template = Template.of("x")

    assert Template.of(template) is template


@pytest.mark.parametrize("source", [5, ["a"], b"a"])
def test_what_is_no_prompt_is_refused(source: Any) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of(source)

    assert str(caught.value) == (
        f"a prompt is a text, a path ending in .j2, .jinja2, .txt, .md, or a callable, "
        f"not {source!r}"
    )


def test_a_callable_s_text_is_sent_as_it_is() -> None:
    assert text_of(lambda case: f"{{{{ {case.id} }}}}") == "{{ v1 }}"


def test_a_callable_may_return_messages() -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u", "name": "Ana"},
        Message(role="assistant", content="a"),
    ]

    prompt = render(Template.of(lambda case: messages), case_of())

    assert [m.role for m in prompt.messages] == ["system", "user", "assistant"]
    assert prompt.messages[1].extra == {"name": "Ana"}


def test_a_callable_may_return_a_prompt() -> None:
    prompt = Prompt.of("x")

    assert render(Template.of(lambda case: prompt), case_of()) is prompt


def raising(case: Case) -> str:
    message = "no key"
    raise LookupError(message)


async def coroutine(case: Case) -> str:
    return ""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            raising,
            "the prompt's function raising raised LookupError for case 'v1': no ke",
        ),
        (
            coroutine,
            "function coroutine is async or a generator: give a plain function",
        ),
        (
            lambda case: 5,
            "returned 5, and a prompt is a text, a list of messages with ro",
        ),
        (lambda case: [], "returned [], and a prompt is a text"),
        (lambda case: [{"content": "x"}], "returned [{'content': 'x'}], and a prompt"),
    ],
)
def test_a_callable_that_makes_no_prompt_leaves_the_case_unscored(
    call: Callable[[Case], Any], expected: str
) -> None:
    error = unscored_of(call)

    assert error.cause == "suite"
    assert expected in error.reason


def test_without_a_prompt_a_text_is_the_user_s_message() -> None:
    prompt = render(None, Case(id="a", input="{{ Who? }}"))

    assert prompt == Prompt.of("{{ Who? }}")


def test_without_a_prompt_chat_messages_are_sent() -> None:
    calls = [{"id": "c", "type": "function"}]
    case = case_of(
        {
            "input": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "tool_calls": calls},
            ]
        }
    )

    prompt = render(None, case)

    assert [m.role for m in prompt.messages] == ["user", "assistant"]
    assert prompt.messages[1].extra == {"tool_calls": calls}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": WrittenFloat("1.50")}, '{"a": 1.50}'),
        (["a", "b"], '["a", "b"]'),
        ([], "[]"),
        (WrittenFloat("1.50"), "1.50"),
        (False, "false"),
        ("", ""),
    ],
)
def test_without_a_prompt_other_input_is_sent_as_json(value: Any, text: str) -> None:
    assert render(None, Case(id="a", input=value)).text == text


def test_without_a_prompt_and_input_the_case_is_unscored() -> None:
    with pytest.raises(UnscoredError) as caught:
        render(None, case_of({"id": "a", "review": "x"}))

    assert caught.value.cause == "data"
    assert caught.value.reason == (
        "case 'a' has no input to send (columns: id, review): give the test a prompt, or "
        "map one, columns={'input': '...'}"
    )


def test_without_a_dataset_there_is_nothing_to_send() -> None:
    with pytest.raises(UnscoredError) as caught:
        render(None, Case(id="test_a"))

    assert caught.value.reason == (
        "case 'test_a' has no input to send (and no columns): give the test a dataset, "
        "@pytest.mark.llmeval('data.jsonl'), or ask generator('a text')"
    )


@pytest.mark.parametrize("system", ["Be {{ tone }}.", Template.of("Be {{ tone }}.")])
def test_a_system_message_is_rendered_and_comes_first(system: Any) -> None:
    case = case_of({"input": "q", "tone": "kind"})

    prompt = render(None, case, system=system)

    assert [(m.role, m.content) for m in prompt.messages] == [
        ("system", "Be kind."),
        ("user", "q"),
    ]


def test_a_blank_system_message_is_left_out() -> None:
    assert len(render(None, Case(id="a", input="q"), system=" ").messages) == 1


def test_a_system_message_may_come_from_a_callable() -> None:
    prompt = render(None, Case(id="a", input="q"), system=lambda case: case.id)

    assert prompt.messages[0].content == "a"


def test_a_system_callable_returns_text() -> None:
    with pytest.raises(UnscoredError, match="returned 5, not text"):
        render(None, Case(id="a", input="q"), system=lambda case: 5)


def test_the_check_finds_a_variable_no_row_has() -> None:
    template = Template.of("{{ qestion }}")
    cases = cases_from([{"question": "a"}, {"question": "b"}])

    with pytest.raises(TemplateError, match="the variable 'qestion' is not there"):
        template_check(template, *cases)


def test_the_check_leaves_what_some_row_lacks_to_that_row() -> None:
    template = Template.of("{{ hint }}")

    template_check(template, *cases_from([{"input": "a"}, {"hint": "b"}]))


@pytest.mark.parametrize(
    "template",
    ["{{ empty }}", "{{ 1 / 0 }}", "{{ input.nope }}", "{{ nope | default('') }}", "x"],
)
def test_the_check_leaves_a_row_s_values_to_the_run(template: str) -> None:
    template_check(Template.of(template), case_of())


@pytest.mark.parametrize("template", ["{input}", "{{ ''.__class__ }}"])
def test_the_check_finds_what_no_row_can_make_good(template: str) -> None:
    with pytest.raises(TemplateError):
        template_check(Template.of(template), case_of())


def test_the_check_doesn_t_call_callables() -> None:
    template_check(Template.of(raising), case_of())


def test_one_template_serves_many_threads() -> None:
    template = Template.of("{% for x in range(50) %}{{ input }}{% endfor %}")
    wrong: list[str] = []

    def work(name: str) -> None:
        for _ in range(20):
            text = render(template, Case(id="a", input=name)).text
            wrong.extend([text] if text != name * 50 else [])

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_a_large_value_is_rendered_whole() -> None:
    value = json.dumps(["{{ x }}" * 10] * 15_000)

    assert text_of("{{ input }}", Case(id="a", input=value)) == value


@pytest.mark.parametrize("start", ["{input.", "{ ", "{input", "{input:x"])
def test_braces_are_looked_for_in_linear_time(start: str) -> None:
    text = start + " " * 200_000 + start * 50_000
    started = time.perf_counter()

    assert text_of(text) == text
    assert time.perf_counter() - started < 10


def test_a_template_shows_its_file_or_text() -> None:
    assert repr(Template.of("x" * 80)) == f"<Template {'x' * 57 + '...'!r}>"


@pytest.mark.parametrize(
    "text", ["{{ " + "1" * 5000 + " }}", "{% for x in y %}" * 25 + "{% endfor %}" * 25]
)
def test_a_template_beyond_the_limits_of_python_is_refused(text: str) -> None:
    with pytest.raises(TemplateError, match="not a Jinja template: "):
        Template.of(text)
