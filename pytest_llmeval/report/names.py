"""What a case is called where people read, and nobody copies."""

from __future__ import annotations

__all__ = ["case_name"]


def case_name(nodeid: str) -> str:
    r"""Return a node id without its file, its parameters in their own letters.

    pytest writes ``日本`` as ``\u65e5\u672c``; commands have to have it so.
    """
    name = nodeid.partition("::")[2] or nodeid
    test, bracket, parameters = name.partition("[")
    if "\\" not in parameters or not parameters.isascii():
        return name
    try:
        return f"{test}{bracket}{parameters.encode().decode('unicode_escape')}"
    except UnicodeDecodeError:
        return name  # somebody's own backslash
