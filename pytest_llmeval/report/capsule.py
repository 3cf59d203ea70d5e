"""A case that did not pass, as files to look into: what was asked, replied, judged.

Every text is inert, so that any pager or terminal may show it, and has a bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pytest_llmeval.diffs import printable, word_diff
from pytest_llmeval.report.curl import curl_command
from pytest_llmeval.types import Record, as_text

__all__ = ["capsule_files", "whole_texts"]

#: Characters of a file; of a longer text the middle is left out.
_LONGEST: Final = 200_000
#: Of one call: a file has room for several.
_OF_A_CALL: Final = 60_000
#: Characters that a check's own explanation holds whole, and that are compared at most.
_SHORT: Final = 300
_DIFFED: Final = 20_000
_DIFF_LINES: Final = 400
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")

_CONTENTS: Final = {
    "traceback.txt": "the exception, with what was printed and logged",
    "request.txt": "what was asked, by role",
    "reply.txt": "what was replied",
    "judge.txt": "what the judge was asked and said, its votes",
    "diff.txt": "each check that did not hold, with its diff",
    "curl.sh": "the requests as curl commands",
    "answers.jsonl": "what the offline rerun is answered from",
}


def capsule_files(
    record: Record, *, traceback: str, answers: str, offline: str, moment: str
) -> dict[str, str]:
    """Return the texts of a case's files by name; empty ones are left out.

    Args:
        record: The case.
        traceback: Of its exception, with its sections.
        answers: What it was answered, as the rerun reads it; empty when not kept.
        offline: The command that reruns it from these; empty when not kept.
        moment: When it ran.
    """
    files = {
        "traceback.txt": _inert(_COLOUR.sub("", traceback)),
        **{f"{name}.txt": text for name, text in whole_texts(record)},
        "curl.sh": _commands(record),
        "answers.jsonl": answers,
    }
    files = {name: text for name, text in files.items() if text.strip()}
    return {"failure.txt": _summary(record, files, offline, moment), **files}


def whole_texts(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what was asked, replied, judged, and what differs, each with its name.

    Longer than a failure's own text by far, but not endless.
    """
    yield "request", _pieces(_requests(record))
    yield "reply", _pieces(_replies(record))
    yield "judge", _pieces(_judged(record))
    yield "diff", _pieces(_diffs(record))


def _summary(record: Record, files: Iterable[str], offline: str, moment: str) -> str:
    facts = {
        "row": record.source or "",
        "tags": ", ".join(record.tags),
        "ran": moment,
        "rerun": record.rerun,
        "offline": offline,
    }
    status = f"{record.status} ({record.cause})" if record.cause else record.status
    lines = [
        _line(record.nodeid),
        f"{status}: {_inert(record.reason)}",
        "",
        *(f"{name:<10}{_line(text)}" for name, text in facts.items() if text),
        "",
        *(f"{name:<16}{_CONTENTS[name]}" for name in files),
    ]
    return _bounded("\n".join(lines), _LONGEST) + "\n"


def _calls(record: Record) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each call with a heading."""
    number = 0
    for sample in record.samples:
        for call in sample["calls"]:
            number += 1
            of_sample = f", sample {sample['index'] + 1}" if record.repeat > 1 else ""
            model = (call["response"] or {}).get("model") or call["client"]
            yield f"{number}. {call['role']} {_line(model)}{of_sample}", call


def _requests(record: Record) -> Iterator[tuple[str, str]]:
    for title, call in _calls(record):
        if call["role"] != "judge":
            yield title, f"{_settings(call)}\n\n{_prompt(call)}"


def _replies(record: Record) -> Iterator[tuple[str, str]]:
    for title, call in _calls(record):
        if call["role"] != "judge":
            yield title, _reply(call)


def _judged(record: Record) -> Iterator[tuple[str, str]]:
    for title, call in _calls(record):
        if call["role"] == "judge":
            yield (
                title,
                f"{_settings(call)}\n\n{_prompt(call)}\n\n[reply]\n{_reply(call)}",
            )
    for sample in record.samples:
        for check in sample["checks"]:
            if judged := check.get("judge"):
                yield f"votes of {_line(check['name'])}", _json(judged, indent=2)


def _diffs(record: Record) -> Iterator[tuple[str, str]]:
    for sample in record.samples:
        for check in sample["checks"]:
            if check["passed"] is True:
                continue
            bar = f"{check['operator']} {check['threshold']}"
            value = "unscored" if check["value"] is None else check["value"]
            lines = [f"{value}, and should be {bar}", as_text(check["reason"])]
            lines += check.get("explanation") or ()
            lines += _whole_diff(record.row.get("expected"), check.get("response"))
            yield _line(check["name"]), "\n".join(filter(None, lines))


def _whole_diff(expected: Any, reply: Any) -> Iterator[str]:
    """Yield the words in which long texts differ: an explanation has room for some."""
    if not (isinstance(expected, str) and isinstance(reply, str)):
        return
    if len(expected) + len(reply) > _SHORT and max(len(expected), len(reply)) < _DIFFED:
        yield "expected to reply, as they are:"
        yield from word_diff(expected, reply, budget=_DIFF_LINES)


def _settings(call: Mapping[str, Any]) -> str:
    return _json(call["settings"])


def _prompt(call: Mapping[str, Any]) -> str:
    messages = call["prompt"] or ()
    return "\n\n".join(f"[{m['role']}]\n{as_text(m['content'])}" for m in messages)


def _reply(call: Mapping[str, Any]) -> str:
    response = call["response"]
    if response is None:
        return f"none ({call['cause']}): {call['error']}"
    text = as_text(response["text"]) or "(an empty text)"
    rest = {
        name: value
        for name, value in response.items()
        if name not in {"text", "model", "origin", "latency_seconds"} and value
    }
    wrong = f"\n\n{call['error']}" if call["error"] else ""
    return f"{text}{wrong}\n\n{_json(rest)}"


def _commands(record: Record) -> str:
    commands = (
        f"# {title}\n{command}\n"
        for title, call in _calls(record)
        if (command := curl_command(call)) is not None
    )
    return "\n".join(_whole(commands))


def _whole(texts: Iterable[str]) -> Iterator[str]:
    """Yield as many of the texts as there is room for: half a command is none."""
    room = _LONGEST
    for text in texts:
        room -= len(text)
        if room < 0:
            yield "# there are more, too long for this file"
            return
        yield text


def _pieces(pieces: Iterable[tuple[str, str]]) -> str:
    texts = [
        f"== {title}\n\n{_inert(_bounded(text, _OF_A_CALL))}\n"
        for title, text in pieces
    ]
    return _bounded("\n".join(texts), _LONGEST)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _line(text: str) -> str:
    """Return a text in one line, inert."""
    return printable(text).replace("\n", "\\n")


def _inert(text: str) -> str:
    """Return a text inert; its lines and tabs stay."""
    return "\t".join(map(printable, _bounded(text, _LONGEST).split("\t")))


def _bounded(text: str, longest: int) -> str:
    gone = len(text) - longest
    if gone <= 0:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {gone:,} characters left out …]\n{text[-half:]}"
