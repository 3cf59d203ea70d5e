"""Templates of lm-evaluation-harness's tasks: what they print, and what they can't reach."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.errors import TemplateError
from pytest_llmeval.tasks.lm_eval._jinja import JinjaText

ROW: dict[str, Any] = {"q": "a  b", "n": 7, "many": ["x", "[1, 2]"], "d": {"k": 1}}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{q}}\n", "a  b\n"),
        ("{{q | regex_replace('\\\\s+', '-')}}", "a-b"),
        ("{{n}} {{d.k}} {{d['k']}} {{many[0]}}", "7 1 1 x"),
        ("{{many}}", "['x', '[1, 2]']"),
        ("{% if n > 3 %}big{% else %}small{% endif %}", "big"),
        ("{% set x = q.split() %}{{x | length}}", "2"),
        ("{{'yes' if missing is undefined else 'no'}}", "yes"),
        ("<b>{{'<i>'}}</b>", "<b><i></b>"),
    ],
)
def test_a_template_prints_what_python_prints(text: str, shown: str) -> None:
    assert JinjaText(text).rendered(ROW) == shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{many}}", ["x", "[1, 2]"]),
        ("{{ [q, n] }}", ["a  b", 7]),
        ("{{many[1]}}", "[1, 2]"),
        ("{{many}} ", None),
        ("[{{n}}]", None),
        ("{% if n %}{{many}}{% endif %}", None),
        ("text", None),
    ],
)
def test_a_single_expression_has_a_value(text: str, value: Any) -> None:
    assert JinjaText(text).value(ROW) == value


@pytest.mark.parametrize(
    "text",
    [
        "{{q.__class__}}",
        "{{q.__class__.__mro__}}",
        "{{q['__class__']}}",
        "{{q | attr('__class__')}}",
        "{{[q] | map(attribute='__class__') | list}}",
        "{{'{0.__class__}'.format(q)}}",
        "{{'{q.__class__}'.format_map({'q': q})}}",
        "{{''.join.__globals__}}",
        "{{cycler.__init__.__globals__}}",
        "{{lipsum.__globals__}}",
        "{{self.__init__.__globals__}}",
        "{{(1).__class__.__base__.__subclasses__()}}",
        "{% set c = q.__class__ %}{{c}}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}{{os}}",
        "{{many.append(1)}}",
        "{{d.update({'k': 2})}}",
        "{{range(10 ** 9) | list}}",
    ],
)
def test_a_template_reaches_nothing_but_the_row(text: str) -> None:
    for read in ("rendered", "value"):
        template = JinjaText(text)
        try:
            found = getattr(template, read)(ROW)
        except TemplateError:
            continue
        # What is undefined raises where it is printed alone.
        assert "<class" not in repr(found)
        assert "Undefined" in repr(found) or found is None
    assert ROW["many"] == ["x", "[1, 2]"]
    assert ROW["d"] == {"k": 1}
