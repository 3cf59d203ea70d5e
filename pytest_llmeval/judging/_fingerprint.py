"""What a judge is: a short hash of each part that may change its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pytest_llmeval.store.key import fingerprint as of_value

__all__ = ["READER_VERSION", "fingerprint"]

#: Of the rules by which replies are read; goes up when a reply may be read otherwise.
READER_VERSION: Final = 1


def fingerprint(
    *,
    template: str | None,
    rubric: str | None,
    identities: Iterable[Mapping[str, Any]],
    **options: Any,
) -> dict[str, str]:
    """Return each part of a judge by its name, as 12 hexadecimal digits of its hash.

    Args:
        template: The template's text.
        rubric: None where there is none.
        identities: Of each model: its name and address, and its parameters.
        **options: What else decides: votes, labels, language.
    """
    models = [{**one, "messages": None} for one in identities]
    parts = {
        "template": template,
        "rubric": rubric,
        "models": [{**one, "params": None} for one in models],
        "params": [one.get("params") for one in models],
        **options,
    }
    hashes = {
        name: of_value(value) for name, value in parts.items() if value is not None
    }
    return {**hashes, "reader": str(READER_VERSION)}
