"""The text of a failure: what, by how much, why, on which row, and what to type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_llmeval import metrics
from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.metrics._explain import inline, labelled
from pytest_llmeval.recorder import CaseRun, SampleRun
from pytest_llmeval.types import Check, Score

__all__ = ["explain_check", "failure_text", "headline", "unscored_text", "where_lines"]

#: Columns of a reason in a first line: as many as three texts of 40 take.
_REASON = 160
#: Columns and lines of the reason of an unscored check: some list what differs, and end
#: in the command that helps.
_LONG_REASON = 2000
_REASON_LINES = 20
#: Characters and lines of a prompt: as many as nine lines of 60 columns hold.
_PROMPT = 400
_PROMPT_LINES = 6


def headline(check: Check) -> str:
    """Return the first line of a failure: metric, value, bar."""
    name, score = _title(check), check.score
    if score is not None and score.binary and check.operator in {"==", ">=", "<="}:
        if check.reason:
            return f"{name} failed: {inline(check.reason, _REASON)}"
        if check.operator == "==":
            return f"{name} failed"
    relation = {">=": "below", "<=": "above"}.get(check.operator)
    assert check.threshold is not None  # what has no bar can't be below it
    bar = f"{check.threshold:.6g}"
    value = "unscored" if check.value is None else _value(check.value, check.threshold)
    if relation is None:
        return f"{name} = {value}, and should be {check.operator} {bar}"
    return f"{name} = {value}, {relation} the bar of {bar}"


def unscored_text(check: Check) -> str:
    """Return the text of a check that could not be made."""
    lines = printable(check.reason).split("\n")
    if (gone := len(lines) - _REASON_LINES) > 0:
        half = _REASON_LINES // 2
        lines[half:-half] = [f"[… {gone} lines cut …]"]
    reason = cut("\n".join(lines), _LONG_REASON)
    return f"{_title(check)} unscored: {reason}"


def failure_text(check: Check, sample: SampleRun | None) -> str:
    """Return the whole failure text of a check that did not hold.

    Args:
        check: The check.
        sample: The case that is running; outside of one, the text ends before the
            prompt, the row and the command.
    """
    lines = [headline(check)]
    prompt = [] if sample is None else _prompt_lines(check, sample)
    if check.metric in _EXPLAINED:
        # What the judge said reads as an answer to what stands before it.
        lines += _indented([*prompt, *explain_check(check)])
    else:
        lines += _indented([*explain_check(check), *prompt])
    if sample is not None:
        lines += _indented(where_lines(sample.run))
    return "\n".join(lines)


def explain_check(check: Check) -> list[str]:
    """Return the lines that explain a check: what stood against what."""
    if check.score is None:
        return []
    if check.metric in _EXPLAINED:
        return list(_EXPLAINED[check.metric](check.score))
    return metrics.explain(check.score)


def where_lines(run: CaseRun) -> list[str]:
    """Return the row of a case and the command that runs it alone."""
    lines: list[str] = []
    if run.case.source is not None:
        lines += labelled("row", str(run.case.source))
    if run.rerun:
        # Whole, however long: it is there to be pasted.
        lines.append(f"{'rerun':<10}{printable(run.rerun)}")
    return lines


def _title(check: Check) -> str:
    if check.name == check.metric:
        return check.metric
    return f"{check.metric} ({inline(check.name, 60)})"


def _value(value: float, bar: float) -> str:
    """Return the value, with as many digits as it takes to be on its side of the bar."""
    for digits in (2, 3, 4, 6, 9):
        text = f"{value:.{digits}f}"
        if _side(float(text), bar) == _side(value, bar):
            return text
    return repr(value)


def _side(value: float, bar: float) -> int:
    return (value > bar) - (value < bar)


def _explain_judge(score: Score) -> Iterator[str]:
    details = score.details
    yield from _text("reply", details.get("response"), lines=6)
    yield from _text("judge", details.get("judge"), lines=6)
    for vote in details.get("votes", ()):
        said = f"{vote.judge or 'judge'} {vote.index + 1}: {vote.said or 'no verdict'}"
        yield from labelled("vote", f"{said}: {vote.reason}" if vote.reason else said)
    yield from _text("rubric", details.get("rubric"))
    yield from _text("expected", details.get("reference"))


def _explain_pairwise(score: Score) -> Iterator[str]:
    details = score.details
    yield from _text("reply", details.get("response"), lines=4)
    yield from _text("against", details.get("against"), lines=4)
    for order, side in (("first", "B"), ("swapped", "A")):
        label, reason = details.get(order, (None, ""))
        if label is None and not reason:
            continue  # not asked in this order
        said = f"{label or 'no label'} (the reply is {side})"
        text = f"{said}: {reason}" if reason and reason != label else said
        yield from labelled(order, text, lines=4)
    for one in details.get("members", ()):
        judge = one["orders"][0]["judge"] or "judge"
        said = one["said"] or "no label"
        labels = f"{one['first'] or 'no label'}, swapped {one['swapped'] or 'no label'}"
        yield from labelled("vote", f"{judge}: {said} ({labels})")


_EXPLAINED = {"judge": _explain_judge, "pairwise": _explain_pairwise}


def _text(label: str, text: str | None, *, lines: int = 3) -> list[str]:
    """Return the lines of a text, none where there is no text to show."""
    if text is None:
        return []
    return labelled(label, text.strip() or "(an empty text)", lines=lines)


def _prompt_lines(check: Check, sample: SampleRun) -> list[str]:
    """Return the prompt that the checked reply answers, of a long one mostly the end."""
    asked = [
        call
        for call in sample.calls
        # Nothing was sent for a reply that stands in the row.
        if call.role != "judge" and call.response and call.response.origin != "column"
    ]
    if not asked:
        return []
    answers = (c for c in asked if c.response and c.response.text == check.response)
    prompt = next(answers, asked[-1]).prompt.text
    return labelled("prompt", _end(prompt), lines=9) if prompt.strip() else []


def _end(prompt: str) -> str:
    """Return the last lines of a long prompt: they have the question."""
    end = prompt.rstrip()[-_PROMPT:]
    lines = end.split("\n")[-_PROMPT_LINES:]
    shown = "\n".join(lines).lstrip()
    gone = len(prompt.strip()) - len(shown)
    return f"[… {gone} characters before this …]\n{shown}" if gone > 0 else shown


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
