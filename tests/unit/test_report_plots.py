from __future__ import annotations

from pytest_llmeval.baseline import Compared, compare, decide, standing_of
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.html._plots import histograms, shifts, tag_rates
from pytest_llmeval.types import Record
from tests.browser.reports import record


def counts(bars: object) -> list[int]:
    assert isinstance(bars, tuple)
    return [int(bar.label.rpartition(": ")[2]) for bar in bars]


def test_a_histogram_counts_every_value_once() -> None:
    values = [0.0, 0.05, 0.5, 1.0, 1.0]
    records = [record(str(n), value=value) for n, value in enumerate(values)]

    f1, judge, seconds = histograms(build_report(records, {}))

    assert (f1.title, f1.n, f1.low, f1.high) == ("f1", 5, "0.00", "1.00")
    assert counts(f1.bars) == [1, 1, 1, 2]
    assert [bar.x for bar in f1.bars] == [0.5, 10.5, 100.5, 190.5]
    assert max(bar.height for bar in f1.bars) == 64
    assert (judge.title, judge.n) == ("judge", 5)
    assert (seconds.title, counts(seconds.bars)) == ("seconds of live replies", [5])


def test_a_histogram_holds_values_beyond_nought_and_one() -> None:
    records = [record("a", value=-2.0), record("b", value=30.0)]

    f1, *_ = histograms(build_report(records, {}))

    assert (f1.low, f1.high) == ("-2.00", "30.00")
    assert counts(f1.bars) == [1, 1]
    assert all(bar.x >= 0 and bar.x + bar.width <= 200 for bar in f1.bars)


def test_values_that_are_none_or_endless_are_in_no_histogram() -> None:
    sample = dict(record("a").samples[0])
    checks = [
        {**check, "value": value}
        for check in sample["checks"]
        for value in (None, "inf")
    ]
    odd = record("a", samples=({**sample, "checks": checks, "calls": []},))

    assert list(histograms(build_report([odd], {}))) == []


def test_tags_stand_by_their_rate_with_its_interval() -> None:
    records: list[Record] = [
        record("a", tags=("good", "mixed")),
        record("b", "failed", tags=("mixed",)),
        record("c", "unscored", tags=("nothing",)),
    ]

    mixed, good = tag_rates(records)

    assert (mixed.tag, mixed.percent) == ("mixed", 50.0)
    assert mixed.low < 50 < mixed.high
    assert mixed.text == "50 % (1 of 2, 9–91 %)"
    assert (good.tag, good.percent, good.high) == ("good", 100.0, 100.0)


def test_a_mean_that_fell_is_worse() -> None:
    now = [standing_of(record("a", value=0.7)), standing_of(record("b", value=0.9))]
    before = [standing_of(record("a", value=0.9)), standing_of(record("b", value=0.9))]
    comparison = compare(now, before)
    compared = Compared(
        name="main",
        comparison=comparison,
        decision=decide(comparison, "any", allow_missing=False),
    )

    moved = {one.name: one for one in shifts(build_report([], {}, compared=compared))}

    f1 = moved["test_cities f1"]
    assert (f1.before, f1.now, f1.is_worse) == (90.0, 80.0, True)
    assert not moved["test_cities judge"].is_worse
