"""Ids of cases: unique, and in a form a node id can carry."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case

__all__ = ["check_ids", "check_node_ids", "label_ids", "node_id"]

_FIT = re.compile(r"[\w.+@/=,-]{1,80}")
_UNFIT = re.compile(r"[^\w.+@/=,-]+")


def node_id(true_id: str) -> str:
    """Return a case's id as it stands in pytest's node ids.

    Kept where it reads well; else cleaned, cut, and told apart by a hash of the true
    one.

    Args:
        true_id: The case's id.
    """
    if _FIT.fullmatch(true_id):
        return true_id
    digest = hashlib.sha256(true_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_UNFIT.sub('_', true_id)[:60]}-{digest[:8]}"


def label_ids(labels: Sequence[str]) -> list[str]:
    """Return a few names that stand beside each other as parts of node ids.

    A hash ends only those that would be cut, or be alike without it.

    Args:
        labels: Distinct names (models, prompts).
    """
    cleaned = [_UNFIT.sub("_", label) for label in labels]
    times = Counter(cleaned)
    return [
        text if times[text] == 1 and 0 < len(text) <= 60 else node_id(label)
        for label, text in zip(labels, cleaned, strict=True)
    ]


def check_ids(cases: Sequence[Case]) -> None:
    """Refuse two cases with one id.

    Args:
        cases: The cases of one dataset.

    Raises:
        DatasetError: Two ids are equal; the text has both places.
    """
    pair = _first_double([case.id for case in cases])
    if pair is not None:
        message = (
            f"{_place(cases, pair[1])}: the id {cases[pair[0]].id!r} is used already, "
            f"in {_place(cases, pair[0])}: ids are unique in a dataset"
        )
        raise DatasetError(message)


def check_node_ids(cases: Sequence[Case]) -> None:
    """Refuse two cases that one node id would name.

    Args:
        cases: The cases of one test.

    Raises:
        DatasetError: Two ids are equal, or two cleaned ones.
    """
    check_ids(cases)
    names = [node_id(case.id) for case in cases]
    pair = _first_double(names)
    if pair is not None:
        first, second = (cases[index].id for index in pair)
        message = (
            f"{_place(cases, pair[1])}: the id {second!r} gives the test id "
            f"{names[pair[0]]!r}, and so does {first!r} in {_place(cases, pair[0])}: "
            f"rename one"
        )
        raise DatasetError(message)


def _first_double(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the indexes of the first two equal names."""
    if len(set(names)) == len(names):
        return None
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name, index)
        if first != index:
            return first, index
    return None


def _place(cases: Sequence[Case], index: int) -> str:
    source = cases[index].source
    return str(source) if source else f"item {index + 1} of the list"
