"""The page: a template, a style and a script of ours, and the data of a run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import Any

from pytest_llmeval.baseline import Change
from pytest_llmeval.report.decisions import (
    FLIPS,
    change_counts,
    changed_text,
    drift_texts,
    gate_text,
    why_text,
)
from pytest_llmeval.report.html._cases import case_data
from pytest_llmeval.report.html._inert import embedded_json, visible
from pytest_llmeval.report.html._plots import histograms, shifts, tag_rates
from pytest_llmeval.report.model import STATUSES, Report, shown_statuses
from pytest_llmeval.report.names import case_name
from pytest_llmeval.report.terminal import (
    group_texts,
    metric_text,
    test_label,
    usage_texts,
)
from pytest_llmeval.stats import interval_text, percent_text

__all__ = ["html_pieces"]


def html_pieces(report: Report) -> Iterator[str]:
    """Return the page, piece by piece.

    Foreign text reaches it in two ways: through the template, which escapes every
    expression, and as JSON in an element that no browser runs, from which the script
    makes text nodes alone. A policy in the page forbids every request, and every script
    but ours.
    """
    import jinja2

    assets = files(__package__) / "assets"
    style, script = (
        (assets / name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string((assets / "page.html.j2").read_text("utf-8"))
    return template.generate(
        policy=_policy(style, script),
        style=_ours(style),
        script=_ours(script),
        cases=map(_ours, _cases(report)),
        report=report,
        bad=[r for r in report.cases if r.status in {"failed", "unscored", "gated"}],
        title=f"llmeval: {_verdict(report)}",
        verdict=_verdict(report),
        statuses=[s for s in STATUSES if getattr(report.totals, s)],
        counted=shown_statuses([report.totals]),
        rate=percent_text,
        interval=interval_text,
        label=test_label,
        metric_text=metric_text,
        usage=list(usage_texts(report.tokens, report.cost, report.latency)),
        usage_of=lambda row: list(usage_texts(row.tokens, row.cost, row.latency)),
        groups=[(group, list(group_texts(group))) for group in report.groups],
        gates=[(result, gate_text(result)) for result in report.gates],
        counts=list(_counts(report)),
        drift=drift_texts(report.compared.comparison) if report.compared else (),
        flips=list(_flips(report)),
        histograms=list(histograms(report)),
        tag_rates=tag_rates(report.cases),
        shifts=list(shifts(report)),
    )


def _policy(style: str, script: str) -> str:
    sources = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for text in (style, script)
    )
    return "default-src 'none'; style-src {}; script-src {}; base-uri 'none'".format(
        *sources
    )


def _cases(report: Report) -> Iterator[str]:
    """Yield the JSON of each case, as an item of a list."""
    between = ""
    for case in case_data(report):
        yield f"{between}{embedded_json(case)}"
        between = ", "


def _ours(text: str) -> Any:
    """Return text that stands in the page as it is: our files, JSON without a `<`."""
    from markupsafe import Markup

    return Markup(text)


def _shown(value: Any) -> Any:
    """Return what an expression prints: what can't be seen is written out."""
    return visible(value) if type(value) is str else value


def _verdict(report: Report) -> str:
    counts = (
        f"{getattr(report.totals, status):,} {status.replace('_', ' ')}"
        for status in STATUSES
        if getattr(report.totals, status)
    )
    return ", ".join(counts) or "no case ran"


def _counts(report: Report) -> Iterator[str]:
    if report.compared is not None:
        yield from change_counts(report.compared.comparison)
        if changed := changed_text(report.compared.comparison):
            yield changed


def _flips(report: Report) -> Iterator[tuple[str, str, Change, str, str]]:
    """Yield kind, name, change, failure and explanation of what the page lists by name."""
    if report.compared is None:
        return
    reasons = {record.nodeid: record.reason for record in report.cases}
    for kind in FLIPS:
        for change in report.compared.comparison.of(kind):  # type: ignore[arg-type]
            reason = reasons.get(change.case.nodeid, "") if change.now else ""
            name = case_name(change.case.nodeid) or change.case.identity
            yield kind, name, change, reason, why_text(change)
