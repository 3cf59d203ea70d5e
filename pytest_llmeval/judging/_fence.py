"""The fence around judged text: marker lines that nothing inside can forge.

Their token is a hash of the template and of every text in the prompt: the same prompt
has the same token, so that recordings replay, and a text that held it would change it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

__all__ = ["fence_token", "fenced"]


def fence_token(template: str, texts: Iterable[str]) -> str:
    """Return a token of 16 hexadecimal digits that stands in none of the texts.

    Args:
        template: The judge's template.
        texts: Everything that comes from elsewhere: reply, question, reference, …
    """
    parts = [template, *texts]
    counter = 0
    while True:
        joined = "\0".join([str(counter), *parts])
        data = joined.encode("utf-8", "surrogatepass")
        token = hashlib.sha256(data).hexdigest()[:16]
        if not any(token in part for part in parts):
            return token
        counter += 1


def fenced(name: str, text: str, token: str) -> str:
    """Return `text` between marker lines, named by what it is."""
    return f"<<<{name} {token}>>>\n{text}\n<<<end of {name} {token}>>>"
