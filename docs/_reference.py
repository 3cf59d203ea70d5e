"""Write docs/reference/ from the code: ``python docs/_reference.py``.

What options, keys, metrics and commands there are is said once, where they are
declared; `tests/unit/test_public_names.py` fails where a page has fallen behind.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest_llmeval
from pytest_llmeval import metrics
from pytest_llmeval.cli import parser
from pytest_llmeval.config._model import Config, Limits, ModelEntry
from pytest_llmeval.config._options import _FIELDS, OPTIONS
from pytest_llmeval.config._spec import PROVIDERS
from pytest_llmeval.metrics._table import MODULES
from pytest_llmeval.plugin import calibration_marker, fixtures, hookspecs, marker
from pytest_llmeval.plugin.options import OPTIONS as PYTEST_OPTIONS
from pytest_llmeval.plugin.options import add_options

FOLDER = Path(__file__).parent / "reference"
EXAMPLE = """\
generator: app
judge: grader
models:
  app: {provider: python, model: "shop.desk:answer"}
  grader:
    provider: openai
    model: gpt-4o-mini
    params: {temperature: 0, max_tokens: 300}
    prices: {input: 0.15, output: 0.60}
gates: ["pass_rate >= 0.9", "cost <= 0.50", "tag safety: pass_rate >= 1"]
limits: {concurrency: 10, timeout_seconds: 60}
"""
NOTE = "<!-- Written by docs/_reference.py from the code. -->\n"


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    made: Mapping[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "tests.md": ("Markers, fixtures, assertions", _tests),
        "metrics.md": ("Table of metrics", _metrics),
        "options.md": ("Options and ini keys", _options),
        "configuration.md": ("llmeval.yaml", _configuration),
        "commands.md": ("Commands", _commands),
        "hooks.md": ("Hooks", _hooks),
        "report.md": ("The JSON report", _report),
        "names.md": ("Public names", _names),
    }
    return {
        name: f"# {title}\n\n{NOTE}\n" + "\n".join(lines()).rstrip() + "\n"
        for name, (title, lines) in made.items()
    }


# --- pages -----------------------------------------------------------------------------


def _tests() -> Iterator[str]:
    yield "## `@pytest.mark.llmeval(dataset, …)`\n"
    yield "Makes a test of each row. The closest wins where markers are stacked.\n"
    yield from _keywords(marker.Marker, marker._SIGNATURE)
    yield "\n## `@pytest.mark.llmeval_calibration(labels, …)`\n"
    yield "Holds a judge against people's labels ([calibration](../calibration.md)).\n"
    yield from _keywords(
        calibration_marker.CalibrationMarker, calibration_marker._SIGNATURE
    )
    yield "\n## Fixtures\n"
    rows = [
        (f"`{name}`", _summary(_plain(getattr(fixtures, name))))
        for name in fixtures.NAMES
    ]
    yield from _table(("fixture", "is"), [("`case`", "The row of the test."), *rows])
    yield "\nOf `llmeval`:\n"
    for name, value in vars(fixtures.Recorder).items():
        if not name.startswith("_"):
            yield from _function(f"llmeval.{name}", value, level=3, drop_self=True)
    yield "\n## Assertions\n"
    for name in pytest_llmeval.__all__:
        if name.startswith("assert_"):
            yield from _function(name, getattr(pytest_llmeval, name), level=3)


def _metrics() -> Iterator[str]:
    yield "Each is `assert_metric(response, case, NAME, threshold=…)`, a function of"
    yield "`pytest_llmeval.metrics`, and a check of [YAML tasks](../yaml-tasks.md). What they"
    yield "do exactly: [metrics](../metrics.md).\n"
    head = ("metric", "range", "better", "options", "needs the extra", "version")
    yield from _table(head, [_metric_row(name) for name in sorted(MODULES)])


def _metric_row(name: str) -> tuple[str, ...]:
    metric = metrics.get_metric(name)
    said = metric.declaration
    span = "0 or 1" if said.binary else f"{said.low:g} to {said.high:g}"
    options = [
        f"`{p.name}`" if p.default is p.empty else f"`{p.name}={_value(p.default)}`"
        for p in inspect.signature(metric.function).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]
    return (
        f"`{name}`",
        span.replace("inf", "∞"),
        "higher" if said.higher_is_better else "lower",
        ", ".join(options) or "–",
        f"`{said.extra}`" if said.extra else "–",
        str(said.version),
    )


def _options() -> Iterator[str]:
    yield "Each option has an ini key of the same name, under `[tool.pytest.ini_options]` or"
    yield "`[pytest]`; the option wins. A switch is `true` there, a repeatable one a list.\n"
    for option in PYTEST_OPTIONS:
        value = "" if option.is_switch else f"={option.metavar}"
        value = f"[{value}]" if option.bare is not None else value
        yield f"### `{option.flag}{value}`\n"
        times = " Can be given several times." if option.is_repeatable else ""
        yield f"{_sentence(option.help)}{times} Ini key `{option.key}`.\n"
    yield "## Ini keys without an option\n"
    taken = {option.key for option in PYTEST_OPTIONS}
    rows = [
        (f"`{name}`", kind, _sentence(text))
        for name, kind, text in _ini_keys()
        if name not in taken
    ]
    yield from _table(("key", "value", "meaning"), rows)


def _configuration() -> Iterator[str]:
    yield "Beside the pytest configuration, or where `--llmeval-config` says.\n"
    yield "```yaml\n" + EXAMPLE + "```\n"
    yield "## At the top\n"
    yield from _table(("key", "meaning"), _field_rows(Config, skip=("path",)))
    yield "\n## `models: NAME:`\n"
    yield "Each model is a mapping of these keys.\n"
    only = {name: key.providers for name, key in OPTIONS.items()} | _FIELDS
    rows = [
        (f"`{name.rstrip('_')}`", ", ".join(only.get(name.rstrip("_"), ())), meaning)
        for name, meaning in _field_docs(ModelEntry).items()
        if name not in ("name", "options")
    ]
    rows += [
        (f"`{name}`", ", ".join(k.providers), _sentence(k.meaning))
        for name, k in OPTIONS.items()
    ]
    shown = [
        (key, names or "all", meaning.replace("`PROVIDERS`", "[these](#providers)"))
        for key, names, meaning in rows
    ]
    yield from _table(("key", "for", "meaning"), shown)
    yield "\n## Providers\n"
    forms = [(f"`{name}`", f"`{form}`") for name, form in PROVIDERS.items()]
    yield from _table(("provider", "as a spec"), forms)
    yield "\n## `limits:`\n"
    yield "Of the file; a model may have each of its own.\n"
    yield from _table(("key", "default", "meaning"), _limit_rows())


def _commands() -> Iterator[str]:
    yield "`python -m pytest_llmeval COMMAND`. The exit status is 0 if it went well, 1 if not, 2"
    yield "for a mistake in the call.\n"
    for name, command, help_text in _subcommands(parser()):
        yield f"## `{name}`\n"
        yield f"{_sentence(help_text)}\n"
        inner = list(_subcommands(command))
        for inner_name, inner_command, inner_help in inner:
            yield f"### `{name} {inner_name}`\n"
            yield f"{_sentence(inner_help)}\n"
            yield from _arguments(inner_command)
        if not inner:
            yield from _arguments(command)


def _hooks() -> Iterator[str]:
    yield "A `conftest.py` or another plugin may implement these.\n"
    for name in hookspecs.__all__:
        yield from _function(name, getattr(hookspecs, name), level=2)


def _report() -> Iterator[str]:
    yield "Of `--llmeval-report=report.json`. Its JSON schema is printed by"
    yield "`python -m pytest_llmeval schema`. Keys may be added within a format; none is taken"
    yield "away, and none changes its meaning.\n"
    schema = _schema()
    yield "## At the top\n"
    yield from _schema_table(schema)
    for name, part in schema["$defs"].items():
        if "properties" in part:
            yield f"\n## {name}\n"
            yield from _schema_table(part)


def _names() -> Iterator[str]:
    yield "What `from pytest_llmeval import …` gives; it needs neither pytest nor a network.\n"
    rows = [
        (f"`{name}`", _summary(getattr(pytest_llmeval, name)))
        for name in pytest_llmeval.__all__
    ]
    yield from _table(("name", "is"), rows)


# --- parts -----------------------------------------------------------------------------


def _keywords(kind: type, signature: inspect.Signature) -> Iterator[str]:
    meanings = _field_docs(kind)
    rows = []
    for parameter in signature.parameters.values():
        default = parameter.default
        shown = "" if default in (None, parameter.empty) else f"`{_value(default)}`"
        rows.append((f"`{parameter.name}`", shown, meanings[parameter.name]))
    yield from _table(("keyword", "default", "meaning"), rows)


def _limit_rows() -> list[tuple[str, ...]]:
    meanings = _field_docs(Limits)
    defaults = {field.name: field.default for field in fields(Limits)}
    return [
        (f"`{name}`", "–" if default is None else f"{default:g}", meanings[name])
        for name, default in defaults.items()
    ]


def _field_rows(kind: type, *, skip: Sequence[str] = ()) -> list[tuple[str, ...]]:
    found = _field_docs(kind).items()
    return [(f"`{name}`", text) for name, text in found if name not in skip]


def _field_docs(kind: type) -> dict[str, str]:
    """Return the text under each field of a dataclass."""
    (tree,) = ast.parse(inspect.cleandoc(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    names = {field.name: "" for field in fields(kind)}
    for one, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            names[one.target.id] = _one_line(str(after.value.value))
    return names


def _function(
    name: str, function: Any, *, level: int, drop_self: bool = False
) -> Iterator[str]:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[drop_self:]
    yield f"{'#' * level} `{name}`\n"
    yield "```text"
    yield _signature(name, signature.replace(parameters=parameters))
    yield "```\n"
    yield from _docstring(inspect.cleandoc(function.__doc__ or ""))


def _signature(name: str, signature: inspect.Signature) -> str:
    """Return a signature, a parameter a line where it is long."""
    shown = _said(f"{name}{signature}")
    if len(shown) <= 88:
        return shown
    lines, is_keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            lines.append("    *,")
            is_keyword_only = True
        lines.append(f"    {_said(str(parameter))},")
    end = shown[shown.rindex(")") :]
    return "\n".join([f"{name}(", *lines, end])


def _said(text: str) -> str:
    """Return a signature's text without quotes around annotations, and for people."""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"<object object at \w+>", "...", text)  # "not given"


def _docstring(text: str) -> Iterator[str]:
    """Render a docstring: sections become lists."""
    parts = re.split(r"^(Args|Raises|Returns):\n", text, flags=re.MULTILINE)
    yield _marked(parts[0].strip()) + "\n"
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        words = {"Args": "Arguments", "Raises": "Raises", "Returns": "Returns"}[title]
        yield f"{words}:\n"
        if title == "Returns":
            yield f"- {_one_line(body)}\n"
            continue
        items = re.split(r"\n(?=    \S)", body.rstrip())
        for item in items:
            line = _one_line(item)
            head, colon, rest = line.partition(": ")
            if not colon:
                yield f"- {line}"
            else:
                yield f"- `{head.lstrip('*')}`: {rest}"
        yield ""


def _arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    rows = []
    for action in command._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
        names = action.option_strings or [""]
        shown = ", ".join(f"`{f'{name} {value}'.strip()}`" for name in names)
        rows.append((shown, _sentence((action.help or "").replace("%%", "%"))))
    if rows:
        yield from _table(("argument", "meaning"), rows)
        yield ""


def _subcommands(
    whole: argparse.ArgumentParser,
) -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    for action in whole._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            for name, command in action.choices.items():
                yield name, command, helps.get(name, "")


def _ini_keys() -> list[tuple[str, str, str]]:
    found = []

    class Group:
        def addoption(self, *names: str, **keywords: Any) -> None:
            pass

    class Parser:
        def getgroup(self, *names: str) -> Group:
            return Group()

        def addini(self, name: str, *, type: str, default: Any, help: str) -> None:
            kinds = {"linelist": "a list", "bool": "true or false", "string": "a text"}
            found.append((name, kinds[type], help))

    add_options(Parser())  # type: ignore[arg-type]
    return found


def _schema() -> dict[str, Any]:
    path = files("pytest_llmeval.report") / "report.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema


def _schema_table(part: Mapping[str, Any]) -> Iterator[str]:
    required = part.get("required", ())
    rows = [
        (
            f"`{name}`" if name in required else f"`{name}` (may be missing)",
            _type(value),
            _sentence(value.get("description", "")),
        )
        for name, value in part["properties"].items()
    ]
    yield from _table(("key", "type", "meaning"), rows)


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})" if name != "messages" else "messages"
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    kind = value["type"]
    kinds = kind if isinstance(kind, list) else [kind]
    words = [
        f"list of {_type(value['items'])}" if k == "array" and "items" in value else k
        for k in kinds
    ]
    return " or ".join(words)


# --- words -----------------------------------------------------------------------------


def _plain(fixture: Any) -> Any:
    """Return the function that a fixture was made of."""
    return getattr(fixture, "__wrapped__", fixture)


def _summary(value: Any) -> str:
    text = inspect.cleandoc(value.__doc__ or "")
    return _one_line(text.partition("\n\n")[0])


def _one_line(text: str) -> str:
    return _marked(" ".join(text.split()))


def _marked(text: str) -> str:
    return text.replace("``", "`")


def _sentence(text: str) -> str:
    text = _marked(text)
    return text if not text or text.endswith(".") else f"{text[0].upper()}{text[1:]}."


def _value(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(map(_cell, row))} |"


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


if __name__ == "__main__":
    main()
