"""What a dataset row asks of pytest: tags as marks, skip, xfail."""

from __future__ import annotations

import re

import pytest

from pytest_llmeval.errors import ConfigError, EvalAssertionError
from pytest_llmeval.types import Case

__all__ = ["row_marks"]

_TAGS = pytest.StashKey[dict[str, str]]()


def row_marks(case: Case, config: pytest.Config) -> list[pytest.MarkDecorator]:
    """Return the marks a row asks for."""
    marks = [_tag_mark(tag, case, config) for tag in case.tags]
    if case.skip is not None:
        marks.append(pytest.mark.skip(reason=case.skip))
    if case.xfail is not None:
        # Only a check that did not hold is the failure that was expected.
        expected = pytest.mark.xfail(
            reason=case.xfail, raises=EvalAssertionError, strict=False
        )
        marks.append(expected)
    return marks


def _tag_mark(tag: str, case: Case, config: pytest.Config) -> pytest.MarkDecorator:
    """Return the mark of a row's tag, registered under a name `-m` can take.

    A data file must not be able to switch tests off: a tag that is called like a mark
    of pytest, a plugin or the project is refused.
    """
    known = config.stash.setdefault(_TAGS, {})
    # pytest makes no mark that begins with an underscore.
    name = re.sub(r"[^\w.+/-]", "_", tag).strip("_")
    if not name:
        message = (
            f"{case.source or case.id}: the tag {tag!r} has no letter or digit, so "
            f"pytest -m can't name it: rename the tag"
        )
        raise ConfigError(message)
    if name not in known:
        taken = {re.split(r"[:(]", line)[0].strip() for line in _marker_lines(config)}
        if name in taken:
            message = (
                f"{case.source or case.id}: the tag {tag!r} is called like the mark "
                f"{name!r}, which pytest or the project gives a meaning: rename the tag"
            )
            raise ConfigError(message)
        config.addinivalue_line("markers", f"{name}: tag of a dataset row")
        known[name] = tag
    mark: pytest.MarkDecorator = getattr(pytest.mark, name)
    return mark


def _marker_lines(config: pytest.Config) -> list[str]:
    return [str(line) for line in config.getini("markers")]
