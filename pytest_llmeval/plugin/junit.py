"""JUnit XML, put right after pytest has written it.

pytest writes `<failure>` for any report that failed in its call phase. An unscored
case is an `<error>`: the test could not decide, it did not decide against. The cases
are found by the `llmeval_status` property that their reports carry.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["mark_unscored"]


def mark_unscored(path: Path) -> None:
    """Turn the failures of unscored cases into errors and count anew.

    Args:
        path: The file pytest wrote; nothing happens when there is none.
    """
    from xml.etree import ElementTree

    if not path.is_file():
        return
    tree = ElementTree.parse(path)
    changed = False
    for suite in tree.iter("testsuite"):
        for case in suite.iter("testcase"):
            changed |= _mark(case)
        for attribute, tag in (("failures", "failure"), ("errors", "error")):
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    if changed:
        tree.write(path, encoding="utf-8", xml_declaration=True)


def _mark(case: Element) -> bool:
    statuses = {
        node.get("value")
        for node in case.iter("property")
        if node.get("name") == "llmeval_status"
    }
    if "unscored" not in statuses:
        return False
    failures = list(case.findall("failure"))
    for failure in failures:
        failure.tag = "error"
    return bool(failures)
