"""Whether a text stands in the reply, as words of its own.

The rule: a word or number is contained only whole. ``Ann`` is not in ``Joanna``, ``4``
not in ``14``, ``1.4`` or ``4th``, ``5`` not in ``-5``, ``C`` not in ``C++`` or ``C#``.
An edge of the text that is no letter or digit needs no boundary, nor do scripts that
are written without spaces (CJK, Thai) or with endings joined on (Hangul). Runs of white
space, forms of dashes and quotation marks and invisible characters don't count.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pytest_llmeval.metrics._base import Declaration, Details, one_of, scored_by
from pytest_llmeval.metrics._explain import inline, labelled
from pytest_llmeval.metrics._needles import comparable, needles_of
from pytest_llmeval.metrics._texts import text_of
from pytest_llmeval.metrics._whole import find_whole
from pytest_llmeval.types import Score

__all__ = ["CONTAINS", "contains", "explain"]

CONTAINS: Final = Declaration(name="contains", binary=True)


@scored_by(CONTAINS)
def contains(
    response: Any,
    expected: Any,
    *,
    mode: Literal["all", "any"] = "all",
    negate: bool = False,
    ignore_case: bool = True,
) -> Score:
    """Return 1 if the reply contains the expected texts as whole words, else 0.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text or a list of texts.
        mode: Whether ``all`` texts of a list must be there, or ``any``.
        negate: None of the texts may be there, whatever the mode.
        ignore_case: Whether letter case matters not.

    Raises:
        ConfigError: There is no such mode.
    """
    one_of("mode", mode, ("all", "any"), "contains")
    plain_needles = needles_of(expected, ignore_case=ignore_case)
    needles = list(plain_needles)
    text = text_of(response)
    plain = comparable(text, ignore_case=ignore_case)
    results = {n: find_whole(plain, needle) for n, needle in plain_needles.items()}
    found = tuple(n for n, result in results.items() if result.start >= 0)
    missing = tuple(n for n in results if n not in found)
    passed = _passes(len(found), len(missing), mode, negate)
    details = {
        "response": text,
        "expected": needles[0] if len(needles) == 1 else needles,
        "normalised_response": plain,
        "found": found,
        "missing": missing,
        "within": {n: r.within for n, r in results.items() if r.within},
        "around": {n: _around(plain, results[n].start, n) for n in found},
        "negate": negate,
    }
    reason = "" if passed else _reason(found, missing, mode, negate)
    return CONTAINS.scored(passed, reason, Details(details, dict))


def _passes(found: int, missing: int, mode: str, negate: bool) -> bool:
    if negate:
        return not found
    return not missing if mode == "all" else bool(found)


def _reason(
    found: tuple[str, ...], missing: tuple[str, ...], mode: str, negate: bool
) -> str:
    if negate:
        return f"the reply contains {_quoted(found)}"
    if mode == "any" and len(missing) > 1:
        return f"the reply contains none of {_quoted(missing)}"
    return f"the reply does not contain {_quoted(missing)}"


def _quoted(texts: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{inline(text, 40)}'" for text in texts[:3])
    return f"{shown} and {len(texts) - 3} more" if len(texts) > 3 else shown


def _around(text: str, start: int, needle: str) -> str:
    return text[max(start - 25, 0) : start + len(needle) + 25]


def explain(score: Score) -> list[str]:
    """Return lines that say which texts are missing, or found against the wish."""
    details = score.details
    lines = []
    for text in details["missing"][:5] if not details["negate"] else ():
        lines += labelled("missing", text, lines=2)
        if text in details["within"]:
            lines += labelled(
                "", f"only within '{inline(details['within'][text], 44)}'"
            )
    for text in details["found"][:5]:
        lines += labelled("found", text, lines=2)
        if details["negate"]:
            lines += labelled("", f"in '… {inline(details['around'][text], 50)} …'")
    return [*lines, *labelled("reply", details["response"])]
