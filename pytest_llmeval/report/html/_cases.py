"""What the page knows of each case: plain JSON, a text only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pytest_llmeval.baseline import Change
from pytest_llmeval.diffs import word_diff
from pytest_llmeval.report.curl import curl_command
from pytest_llmeval.report.decisions import why_text
from pytest_llmeval.report.model import Report
from pytest_llmeval.report.replies import call_under_test
from pytest_llmeval.types import Record, as_text

__all__ = ["case_data"]

#: What the page has of a check.
_CHECK: Final = (
    *("name", "metric", "value", "operator", "threshold", "passed", "reason"),
    *("low", "high", "higher_is_better", "explanation", "judge"),
)
#: Cases whose replies are compared with the baseline's word by word.
_DIFFS: Final = 300
#: Characters of a reply that are compared.
_DIFFED: Final = 20_000


def case_data(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the cases as the page's script reads them, in the report's order."""
    changes = {
        change.now.nodeid: change
        for change in (report.compared.comparison.changes if report.compared else ())
        if change.now is not None
    }
    diffs = _DIFFS
    for record in report.cases:
        data = _case(record)
        change = changes.get(record.nodeid)
        if change is not None:
            is_flip = change.kind in {"regressed", "fixed"}
            data |= _change(change, has_diff=is_flip and diffs > 0)
            diffs -= is_flip
        yield data


def _case(record: Record) -> dict[str, Any]:
    row = {name: as_text(value) for name, value in record.row.items()}
    return {
        "nodeid": record.nodeid,
        "test": record.test.partition("::")[2] or record.test,
        "case": record.case_id,
        "status": record.status,
        "cause": record.cause,
        "reason": record.reason,
        "source": record.source,
        "tags": list(record.tags),
        "params": dict(record.params),
        "model": _model(record),
        "value": _value(record),
        "seconds": round(record.seconds, 4),
        "rerun": record.rerun,
        "row": row,
        "samples": [_sample(sample) for sample in record.samples],
    }


def _value(record: Record) -> Any:
    """Return the value of the first check that did not hold, else of the first."""
    checks = [check for sample in record.samples for check in sample["checks"]]
    bad = (check for check in checks if check["passed"] is False)
    decisive = next(bad, checks[0] if checks else None)
    return decisive and decisive["value"]


def _model(record: Record) -> str:
    for sample in record.samples:
        if (call := call_under_test(sample)) is not None:
            return str((call["response"] or {}).get("model") or call["client"])
    return record.params.get("generator", "")


def _sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    call = call_under_test(sample)
    response = (call and call["response"]) or {}
    reply = response.get("text")
    given = next((c["response"] for c in sample["checks"] if c.get("response")), None)
    # Of a reply that was taken apart before it was scored, both are of interest.
    return {
        "status": sample["status"],
        "reason": sample["reason"],
        "reply": given if reply is None else reply,
        "scored": given if given is not None and given != reply else None,
        "checks": [_check(check) for check in sample["checks"]],
        "calls": [_call(one, call is one) for one in _without_repeats(sample["calls"])],
        "attachments": sample["attachments"],
    }


def _without_repeats(calls: Iterable[Any]) -> Iterator[Any]:
    for call in calls:
        if call["prompt"] or call["error"] or call["response"]:
            yield call


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    return {name: check[name] for name in _CHECK if check.get(name) is not None}


def _call(call: Mapping[str, Any], is_under_test: bool) -> dict[str, Any]:
    response = call["response"] or {}
    usage = response.get("usage") or {}
    data = {
        "role": call["role"],
        "client": call["client"],
        "tested": is_under_test,
        "prompt": [
            [str(message["role"]), as_text(message["content"])]
            for message in call["prompt"] or ()
        ],
        # That of the call under test stands in the sample.
        "reply": None if is_under_test else response.get("text"),
        "error": call["error"],
        "origin": response.get("origin"),
        "model": response.get("model"),
        "seconds": response.get("latency_seconds"),
        "cost": response.get("cost"),
        "tokens": [usage.get("input_tokens"), usage.get("output_tokens")],
        "finish": response.get("finish_reason"),
        "reasoning": response.get("reasoning"),
        "tools": response.get("tool_calls") or None,
        "curl": curl_command(call),
    }
    return {name: value for name, value in data.items() if value is not None}


def _change(change: Change, *, has_diff: bool) -> dict[str, Any]:
    before, now = change.before, change.now
    data: dict[str, Any] = {"change": change.kind}
    if change.kind in {"regressed", "fixed", "incomparable"}:
        data["why"] = why_text(change)
    if before is not None:
        data["before"] = {"status": before.status, "reply": before.reply}
        replies = (before.reply, now.reply if now else None)
        if has_diff and None not in replies and replies[0] != replies[1]:
            was, is_now = (str(reply)[:_DIFFED] for reply in replies)
            data["before"]["diff"] = list(word_diff(was, is_now, budget=30))
    return data
