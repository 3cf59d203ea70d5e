"""Which case of one run is which of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.baseline._standing import Standing

__all__ = ["content", "pairs"]


def pairs(
    before: Sequence[Standing], now: Sequence[Standing]
) -> Iterator[tuple[Standing | None, Standing | None]]:
    """Yield each case once, beside itself in the other run where it is there.

    By identity; where rows have no ids of their own, their numbers shift with every
    row put in, so rows of the same content belong together first.
    """
    left = {case.identity: case for case in before}
    by_content: dict[tuple[str, ...], list[Standing]] = {}
    for case in before:
        if case.is_numbered:
            by_content.setdefault(content(case), []).append(case)
    partners: dict[str, Standing] = {}
    for case in now:
        if case.is_numbered and (alike := by_content.get(content(case))):
            # The one with the same number if it is among them, else the first.
            old = next((one for one in alike if one.case_id == case.case_id), alike[0])
            alike.remove(old)
            partners[case.identity] = left.pop(old.identity)
    for case in now:
        if case.identity not in partners and case.identity in left:
            partners[case.identity] = left.pop(case.identity)
    for case in now:
        yield partners.get(case.identity), case
    for case in left.values():
        yield case, None


def content(case: Standing) -> tuple[str, ...]:
    """Return what tells a row from others of its test, its id apart."""
    params = sorted(case.params.items())
    return (case.test, case.row, *(f"{name}={value}" for name, value in params))
