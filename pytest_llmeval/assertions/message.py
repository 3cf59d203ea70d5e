"""The text of a failure: what, by how much, why, on which row, and what to type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_llmeval import metrics
from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.recorder import CaseRun, SampleRun
from pytest_llmeval.types import Check, Score

__all__ = ["explain_check", "failure_text", "headline", "where_lines"]

#: Width of the label before each line of a failure text.
_LABEL = 10
_PROMPT_WIDTH = 600
_TEXT_WIDTH = 400


def headline(check: Check) -> str:
    """Return the first line of a failure: metric, value, bar."""
    name = check.metric
    if check.name != check.metric:
        name = f"{check.metric} ({check.name})"
    score = check.score
    if score is not None and score.binary and check.operator == "==":
        return f"{name} failed" + (f": {check.reason}" if check.reason else "")
    relation = {">=": "below", "<=": "above"}.get(check.operator)
    bar = f"{check.threshold:.4g}"
    value = "unscored" if check.value is None else _below(check)
    if relation is None:
        return f"{name} = {value}, and should be {check.operator} {bar}"
    return f"{name} = {value}, {relation} the bar of {bar}"


def _below(check: Check) -> str:
    """Return the value with as many digits as it takes to differ from the bar."""
    assert check.value is not None
    bar = f"{check.threshold:.4g}"
    for digits in (2, 3, 4, 6, 9):
        text = f"{check.value:.{digits}f}"
        if float(text) != check.threshold or text == bar:
            return text
    return repr(check.value)


def failure_text(check: Check, sample: SampleRun | None) -> str:
    """Return the whole failure text of a check that did not hold."""
    lines = [headline(check), *_indented(explain_check(check))]
    if sample is not None:
        if prompt := _prompt_of(sample):
            lines += _indented(_labelled("prompt", _excerpt(prompt)))
        lines += _indented(where_lines(sample.run))
    return "\n".join(lines)


def explain_check(check: Check) -> list[str]:
    """Return the lines that explain a check: what stood against what."""
    if check.score is None:
        return []
    if check.metric == "judge":
        return list(_explain_judge(check.score))
    if check.metric == "pairwise":
        return list(_explain_pairwise(check.score))
    return metrics.explain(check.score)


def where_lines(run: CaseRun) -> list[str]:
    """Return the row of a case and the command that runs it alone."""
    lines: list[str] = []
    if run.case.source is not None:
        lines += _labelled("row", str(run.case.source))
    if run.rerun:
        lines += _labelled("rerun", run.rerun)
    return lines


def _explain_judge(score: Score) -> Iterator[str]:
    details = score.details
    yield from _labelled("judge", cut(details["judge"] or "no reason", _TEXT_WIDTH))
    if details.get("rubric"):
        yield from _labelled("rubric", cut(details["rubric"], _TEXT_WIDTH))
    if details.get("reference"):
        yield from _labelled("expected", cut(details["reference"], _TEXT_WIDTH))
    yield from _labelled("reply", cut(details["response"], _TEXT_WIDTH))


def _explain_pairwise(score: Score) -> Iterator[str]:
    for order in ("first", "swapped"):
        label, reason = score.details[order]
        said = label or "no label"
        text = f"{said}: {reason}" if reason and reason != said else said
        yield from _labelled(order, cut(text, _TEXT_WIDTH))
    yield from _labelled("reply", cut(score.details["response"], _TEXT_WIDTH))
    yield from _labelled("against", cut(score.details["against"], _TEXT_WIDTH))


def _excerpt(prompt: str) -> str:
    """Return a prompt, of a long one little of the start: its end has the question."""
    if len(prompt) <= _PROMPT_WIDTH:
        return prompt
    head, tail = prompt[: _PROMPT_WIDTH // 4], prompt[-_PROMPT_WIDTH * 3 // 4 :]
    left_out = len(prompt) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} characters left out …]\n{tail}"


def _prompt_of(sample: SampleRun) -> str | None:
    """Return the last prompt of the model under test, if one was sent."""
    asked = [call for call in sample.calls if call.role == "generator"]
    if not asked or asked[-1].response is None:
        return None
    if asked[-1].response.origin == "column":
        return None  # nothing was sent: the reply stands in the row
    return asked[-1].prompt.text


def _labelled(label: str, text: str) -> Iterator[str]:
    """Yield `text` beside its label, further lines below it."""
    # Completions begin with a blank, which would put a text out of line.
    first, *rest = printable(text.strip(" ")).split("\n")
    yield f"{label:<{_LABEL}}{first}"
    for line in rest:
        yield f"{'':<{_LABEL}}{line}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
