"""Lines of the summary about how the tests ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

__all__ = ["alone_lines"]


def alone_lines(alone: Mapping[str, str]) -> Iterator[str]:
    """Yield, for each reason, a line about the tests that ran one case at a time."""
    tests: dict[str, list[str]] = {}
    for test, reason in alone.items():
        tests.setdefault(reason, []).append(test)
    for reason, names in tests.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"one at a time: {', '.join(names[:3])}{more} ({reason})"
