"""Reports to look at in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_llmeval.baseline import Compared, compare, decide, standing_of
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.files import write
from pytest_llmeval.types import (
    Call,
    Check,
    Message,
    Prompt,
    Record,
    Response,
    Sample,
    Sent,
)

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)></noscript>"
    "<!--<script> ]]> & \x00\x1b[31m \u202eevil\u202c {{ 7*7 }} ${1} [-<b>x</b>-]"
)


def record(
    name: str,
    status: str = "passed",
    *,
    test: str = "test_a.py::test_cities",
    reply: str = "Lima",
    value: float = 1.0,
    **changes: Any,
) -> Record:
    prompt = Prompt(
        messages=(
            Message(role="system", content="Answer in one word."),
            Message(role="user", content=f"Capital of {name}?"),
        )
    )
    settings = {
        "provider": "openai",
        "model": "m-1",
        "base_url": "https://api.example/v1",
        "params": {"temperature": 0},
    }
    response = Response(
        text=reply, model="m-1", provider="openai", latency_seconds=0.5, cost=0.001
    )
    sent = Sent(
        method="POST",
        url="https://api.example/v1/chat/completions",
        headers={"authorization": "Bearer ${OPENAI_API_KEY}"},
        body='{"model": "m-1"}',
    )
    asked = Call(
        role="generator",
        client="app",
        prompt=prompt,
        response=response,
        settings=settings,
        sent=None if status == "passed" else sent,
    )
    verdict = {
        "verdict": "FAIL",
        "unstable": True,
        "votes": [
            {"judge": "grader", "index": 0, "said": "FAIL", "reason": "wrong city"},
            {"judge": "grader", "index": 1, "said": "PASS", "reason": "near enough"},
        ],
    }
    failed = status != "passed"
    checks = (
        Check(
            metric="f1",
            name="f1",
            value=value,
            operator=">=",
            threshold=0.6,
            passed=not failed,
            low=0.0,
            high=1.0,
            response=reply,
            explanation=("diff      [-Lima-] {+Quito+}",) if failed else (),
        ),
        Check(
            metric="judge",
            name="judge",
            value=float(not failed),
            operator="==",
            threshold=1.0,
            passed=not failed,
            reason="the judge said FAIL: wrong city" if failed else "",
            judge=verdict,
        ),
    )
    sample = Sample(index=0, status=status, calls=(asked,), checks=checks)
    generator = changes.get("params", {}).get("generator", "")
    values: dict[str, Any] = {
        "nodeid": f"{test}[{generator}{'-' if generator else ''}{name}]",
        "test": test,
        "case_id": name,
        "status": status,
        "reason": "f1 = 0.20, below the bar of 0.6" if failed else "",
        "source": "data.jsonl:2",
        "row": {"input": f"Capital of {name}?", "expected": "Lima"},
        "rerun": f"pytest '{test}[{name}]'",
        "tags": ("geo",),
        "seconds": 0.5,
        "samples": (sample.to_json(),),
    }
    return Record(**{**values, **changes})


def mixed() -> list[Record]:
    """A run with each thing the page has a place for."""
    return [
        record("peru", "failed", reply="Quito", value=0.2),
        record("france", reply="Paris", tags=("geo", "easy")),
        record("chad", "failed", reply="N'Djamena 🌍👩‍🚀", value=0.4),
        record("egypt", reply="القاهرة هي عاصمة مصر", tags=("rtl",)),
        record("one", test="test_b.py::test_sums", params={"generator": "small"}),
        record(
            "one",
            "failed",
            test="test_b.py::test_sums",
            params={"generator": "large"},
            value=0.0,
        ),
        record("two", test="test_b.py::test_sums", params={"generator": "small"}),
        record("two", test="test_b.py::test_sums", params={"generator": "large"}),
    ]


def written(folder: Path, now: list[Record], before: list[Record] | None = None) -> str:
    """Write a report and return its address."""
    compared = None
    if before is not None:
        comparison = compare(
            [standing_of(r) for r in now], [standing_of(r) for r in before]
        )
        compared = Compared(
            name="main",
            comparison=comparison,
            decision=decide(comparison, "any", allow_missing=False),
        )
    path = folder / "report.html"
    write(build_report(now, {"mode": "auto"}, compared=compared), path)
    return path.as_uri()
