"""JUnit XML, put right after pytest has written it.

pytest writes `<failure>` for any report that failed in its call phase. An unscored
case is an `<error>`: the test could not decide, it did not decide against. A case below
the bar of a gate that holds, or one that failed in the baseline too, is `<skipped>`
with a type of its own. The cases are found by the `llmeval_status` property that their
reports carry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from pytest_llmeval.diffs import printable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["is_ours", "junit_properties", "mark_statuses"]

_SCORE = "llmeval_score_"


def is_ours(name: str) -> bool:
    """Return whether a property is one of `junit_properties`."""
    return name in {"llmeval_source", "llmeval_status"} or name.startswith(_SCORE)


def junit_properties(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the properties of a case: row, scores, and that it is unscored.

    Args:
        record: The data of `Record.to_json`, its secrets removed.
    """
    if record["source"]:
        yield "llmeval_source", record["source"]
    for sample in record["samples"]:
        # One body has one value for each name; of a repeated case they all stand.
        for check in sample["checks"]:
            value = "unscored" if check["value"] is None else str(check["value"])
            # pytest makes the value fit for XML, but not the name. It keeps all of them.
            yield intern(f"{_SCORE}{printable(check['name'])}"), intern(value)
    if record["status"] == "unscored":
        yield "llmeval_status", "unscored"


def mark_statuses(path: Path, released: Collection[str] = ()) -> None:
    """Give cases with a status of ours their element, and count anew.

    Args:
        path: The file pytest wrote; nothing happens when there is none.
        released: Node ids of cases whose gate did not hold: failures after all.
    """
    from xml.etree import ElementTree

    if not path.is_file():
        return
    tree = ElementTree.parse(path)
    failed = {_address(nodeid) for nodeid in released}
    changed = False
    for suite in tree.iter("testsuite"):
        for case in suite.iter("testcase"):
            changed |= _mark(case, failed)
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    if changed:
        tree.write(path, encoding="utf-8", xml_declaration=True)


def _mark(case: Element, failed: Collection[tuple[str, str]]) -> bool:
    statuses = {
        node.get("value")
        for node in case.iter("property")
        if node.get("name") == "llmeval_status"
    }
    if "unscored" in statuses:
        for failure in case.findall("failure"):
            failure.tag = "error"
        return True
    for status in ("gated", "known"):
        if status in statuses:
            _mark_forgiven(case, status, failed)
            return True
    return False


def _mark_forgiven(
    case: Element, status: str, failed: Collection[tuple[str, str]]
) -> None:
    is_failed = (case.get("classname") or "", case.get("name") or "") in failed
    for node in [*case.findall("skipped"), *case.findall("failure")]:
        node.tag = "failure" if is_failed else "skipped"
        node.set("message", _MESSAGES["failed" if is_failed else status])
        if not is_failed:
            node.set("type", f"llmeval-{status}")


_MESSAGES = {
    "failed": "below the bar, and its gate does not hold",
    "gated": "below the bar of a gate that holds",
    "known": "failed in the baseline too",
}


def _address(nodeid: str) -> tuple[str, str]:
    """Return class name and name of a test in the file, as pytest makes them."""
    path, *names = nodeid.partition("[")[0].split("::")
    parameters = nodeid.partition("[")
    names[-1] += parameters[1] + parameters[2]
    module = path.replace("/", ".").removesuffix(".py")
    return ".".join([module, *names[:-1]]), names[-1]
