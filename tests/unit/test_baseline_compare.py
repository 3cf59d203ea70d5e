"""Two runs held against each other: pairing, kinds, which part changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_llmeval.baseline import Comparison, Standing, Value, compare, decide


def standing(case_id: str = "peru", status: str = "passed", **rest: Any) -> Standing:
    values = {
        "exact": Value(metric="exact", value=float(status == "passed"), version=1)
    }
    return Standing(
        **{
            "test": "test_a.py::test_x",
            "case_id": case_id,
            "status": status,
            "row": "r1",
            "columns": {"expected": "c1", "reply": "c2"},
            "model": "openai:m",
            "values": values,
            **rest,
        }
    )


def judged(by: str, value: float = 1.0) -> Value:
    return Value(metric="exact", value=value, version=1, judge=by)


def kinds(comparison: Comparison) -> dict[str, str]:
    return {change.case.case_id: change.kind for change in comparison.changes}


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        ("passed", "failed", "regressed"),
        ("passed", "gated", "regressed"),
        ("passed", "known", "regressed"),
        ("failed", "passed", "fixed"),
        ("gated", "passed", "fixed"),
        ("failed", "failed", "known"),
        ("failed", "known", "known"),
        ("passed", "passed", "same"),
        ("unscored", "unscored", "same"),
        ("skipped", "skipped", "same"),
        ("passed", "unscored", "incomparable"),
        ("failed", "unscored", "incomparable"),
        ("unscored", "failed", "incomparable"),
        ("unscored", "passed", "incomparable"),
        # A mark must not hide what used to be checked.
        ("passed", "skipped", "missing"),
        ("passed", "xfailed", "missing"),
        ("passed", "xpassed", "missing"),
        ("failed", "skipped", "incomparable"),
    ],
)
def test_outcomes_before_and_now_make_the_kind(
    before: str, now: str, kind: str
) -> None:
    comparison = compare([standing(status=now)], [standing(status=before)])

    assert kinds(comparison) == {"peru": kind}


def test_a_case_of_one_run_alone_is_new_or_missing() -> None:
    comparison = compare([standing("new")], [standing("gone")])

    assert kinds(comparison) == {"new": "new", "gone": "missing"}


def test_a_case_that_was_not_run_is_not_missing() -> None:
    gone = standing("gone")

    comparison = compare([], [gone], not_run=frozenset({gone.identity}))

    assert kinds(comparison) == {"gone": "not_run"}


def test_what_the_run_did_not_look_at_is_left_out() -> None:
    other = standing("other", test="test_b.py::test_y")

    comparison = compare(
        [standing()], [standing(), other], in_scope=frozenset({"test_a.py::test_x"})
    )

    assert kinds(comparison) == {"peru": "same"}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"columns": {"expected": "c9", "reply": "c2"}}, "row (expected)"),
        ({"row": "r9"}, "row"),
        (
            {"values": {"exact": Value(metric="exact", value=1.0, version=2)}},
            "metric exact (version 1 → 2)",
        ),
        ({"values": {"exact": judged("j9")}}, "judge (exact)"),
        (
            {"values": {"exact": Value(metric="f1", value=1.0, version=1)}},
            "metric of exact (exact → f1)",
        ),
    ],
)
def test_another_row_metric_or_judge_makes_a_case_incomparable(
    change: dict[str, Any], part: str
) -> None:
    before = standing(values={"exact": judged("j1")})

    comparison = compare([standing(**change)], [before])

    (found,) = comparison.changes
    assert (found.kind, found.parts) == ("incomparable", (part,))
    assert found.why == f"{part} changed"


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"template": "t9"}, "prompt template"),
        ({"prompts": ("p9",)}, "prompt"),
        ({"model": "openai:n"}, "model (openai:m → openai:n)"),
        ({"settings": ("s9",)}, "address or parameters"),
    ],
)
def test_another_prompt_or_model_is_named_and_compared(
    change: dict[str, Any], part: str
) -> None:
    before = standing(prompts=("p1",), settings=("s1",))
    now = replace(before, status="failed", **change)

    (found,) = compare([now], [before]).changes

    assert (found.kind, found.parts) == ("regressed", (part,))


def test_a_prompt_that_changed_with_its_template_is_told_once() -> None:
    before = standing(template="t1", prompts=("p1",))

    (found,) = compare(
        [replace(before, template="t2", prompts=("p2",))], [before]
    ).changes

    assert found.parts == ("prompt template",)


EXACT = Value(metric="exact", value=1.0, version=1)
WRONG = replace(EXACT, value=0.0)


def test_a_case_that_failed_before_its_judge_was_asked_has_regressed() -> None:
    before = standing(
        values={"exact": EXACT, "judge": judged("j1")}, prompts=("a", "b")
    )
    now = standing(status="failed", values={"exact": WRONG}, prompts=("a",))

    (found,) = compare([now], [before]).changes

    assert (found.kind, found.parts) == ("regressed", ())


def test_what_a_skipped_case_was_not_asked_is_no_change() -> None:
    before = standing(prompts=("a",), settings=("s",), status="failed")
    now = standing(status="skipped", model=None, values={})

    (found,) = compare([now], [before]).changes

    assert (found.kind, found.parts, found.why) == ("incomparable", (), "skipped now")


@pytest.mark.parametrize(
    ("status", "values", "kind"),
    [
        # With one check more it still passes, or fails for that check, or for another.
        ("passed", {"exact": EXACT, "f1": EXACT}, "same"),
        ("failed", {"exact": EXACT, "f1": WRONG}, "incomparable"),
        ("failed", {"exact": WRONG, "f1": WRONG}, "regressed"),
    ],
)
def test_a_new_check_explains_no_more_than_it_can(
    status: str, values: dict[str, Value], kind: str
) -> None:
    now, before = (
        standing(status=status, values=values),
        standing(values={"exact": EXACT}),
    )

    (found,) = compare([now], [before]).changes

    assert (found.kind, found.parts) == (kind, ("checks (f1 new)",))


def test_a_case_is_not_fixed_by_taking_its_check_away() -> None:
    before = standing(status="failed", values={"exact": EXACT, "f1": WRONG})

    (found,) = compare([standing(values={"exact": EXACT})], [before]).changes

    assert (found.kind, found.why) == ("incomparable", "checks (f1 gone) changed")


def test_a_renamed_case_stays_missing_and_is_explained() -> None:
    before = [standing("old"), standing("other", row="r2")]
    now = [standing("new"), standing("other", row="r2")]

    comparison = compare(now, before)

    (gone,) = comparison.of("missing")
    assert gone.why == "not there any more; the new case new has the same row"
    assert len(comparison.of("new")) == 1


def test_a_row_that_several_new_cases_have_explains_nothing() -> None:
    comparison = compare([standing("a"), standing("b")], [standing("old")])

    assert comparison.of("missing")[0].why == "not there any more"


@pytest.mark.parametrize("fail_on", ["any", "significant"])
def test_the_decision_says_what_it_leaves_out(fail_on: str) -> None:
    def decision(*now: Standing) -> tuple[str, str]:
        before = [standing("a"), standing("b", row="r2")]
        found = decide(compare(now, before), fail_on, allow_missing=False)
        return found.state, found.reason

    same, edited = standing("a"), standing("b", row="r9")
    assert decision(same, edited) == (
        "holds",
        "nothing got worse in the 1 of 2 cases that can be compared",
    )
    assert decision(same, replace(edited, status="gated")) == (
        "inconclusive",
        "1 that passed fails now, and can't be compared",
    )
    assert decision(standing("a", row="r9"), edited) == (
        "inconclusive",
        "no case could be compared",
    )


def test_the_columns_with_replies_are_no_part_of_the_row() -> None:
    before = standing(columns={"q": "1", "old": "2", "new": "3"}, read=("old",))
    now = standing(columns={"q": "1", "old": "9", "new": "8"}, read=("new",))

    assert kinds(compare([now], [before])) == {"peru": "same"}


def test_rows_without_ids_pair_by_content() -> None:
    rows = [standing(str(n), row=f"r{n}", is_numbered=True) for n in (1, 2)]
    inserted = standing("1", status="failed", row="r0", is_numbered=True)
    shifted = [replace(row, case_id=str(n)) for n, row in enumerate(rows, 2)]

    comparison = compare([inserted, *shifted], rows)

    pairs = {
        (c.before and c.before.row, c.now and c.now.row) for c in comparison.changes
    }
    assert pairs == {(None, "r0"), ("r1", "r1"), ("r2", "r2")}


def test_rows_of_the_same_content_pair_by_number_first() -> None:
    def row(number: int, status: str) -> Standing:
        return standing(str(number), status, is_numbered=True)

    comparison = compare(
        [row(1, "passed"), row(2, "failed")], [row(1, "passed"), row(2, "failed")]
    )

    assert kinds(comparison) == {"1": "same", "2": "known"}


def test_a_row_without_an_id_that_was_edited_is_incomparable() -> None:
    before = standing("1", row="r1", is_numbered=True)

    comparison = compare([replace(before, row="r2")], [before])

    assert kinds(comparison) == {"1": "incomparable"}


def test_cases_of_other_parameters_are_others() -> None:
    comparison = compare(
        [standing(params={"generator": "a"}, status="failed")],
        [standing(params={"generator": "b"})],
    )

    assert [change.kind for change in comparison.changes] == ["missing", "new"]


def test_lost_and_gained_decide_the_p_value() -> None:
    before = [standing(str(n)) for n in range(6)]
    now = [replace(one, status="failed") for one in before]

    comparison = compare(now, before)

    assert (comparison.lost, comparison.gained, comparison.compared) == (6, 0, 6)
    assert comparison.p == 0.03125


def test_metrics_are_compared_over_the_pairs_that_have_both_values() -> None:
    def scored(case_id: str, value: float | None, version: int = 1) -> Standing:
        values = {"f1": Value(metric="f1", value=value, version=version)}
        return standing(case_id, values=values)

    before = [scored("a", 0.5), scored("b", 0.5), scored("c", None), scored("d", 1.0)]
    now = [scored("a", 0.7), scored("b", 0.3), scored("c", 1.0), scored("d", 0.0, 2)]

    (metric,) = compare(now, before).metrics

    assert (metric.name, metric.difference.n) == ("f1", 2)
    assert metric.difference.mean == pytest.approx(0)


def test_must_pass_cases_that_were_lost_are_told_apart() -> None:
    before = [standing("a", must_pass=True), standing("b")]
    now = [replace(one, status="failed") for one in before]

    assert [c.case.case_id for c in compare(now, before).must_pass_lost] == ["a"]


def test_a_standing_survives_json() -> None:
    one = standing(params={"tone": "formal"}, read=("reply",), must_pass=True)

    assert Standing.from_json(one.to_json()) == one
