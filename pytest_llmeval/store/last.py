"""What cases did the last time they ran, read from the journals, newest first."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.store.lines import parse
from pytest_llmeval.store.runs import FORMAT, run_files

__all__ = ["last_cases"]

#: How a journal's line of a case begins: most lines need no further look.
_CASE: Final = re.compile(rb'\{"kind": "case", "nodeid": ("(?:[^"\\]|\\.)*")')
#: Of older journals together: a new case is in none, and shall not cost reading all.
_AT_MOST_BYTES: Final = 256 * 2**20


def last_cases(
    folder: Path, wanted: Iterable[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield cases with the JSON of the record of the last run in which they ran.

    Runs may have been interrupted: what ended in them, ended. Cases that ran in none
    of the last runs are left out, and so is what can't be read.

    Args:
        folder: Of the journals.
        wanted: Node ids.
    """
    left = set(wanted)
    size = 0
    try:
        paths = run_files(folder)
    except OSError:
        return
    for index, path in enumerate(paths):
        try:
            size += path.stat().st_size
            if not left or (index and size > _AT_MOST_BYTES):
                return
            found = _cases(path, left)
            yield from found
        except (OSError, ValueError):  # deleted meanwhile, or of another version
            continue


def _cases(path: Path, left: set[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the wanted cases of a journal, which are wanted no more then."""
    with path.open("rb") as file:
        if parse(file.readline()).get("format") != FORMAT:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for line in _lines_backwards(content):
                match = _CASE.match(line)
                nodeid = json.loads(match[1]) if match else ""
                if nodeid not in left:
                    continue
                try:
                    data = parse(line)
                except ValueError:  # cut off when the process was killed
                    continue
                if data.get("samples"):
                    left.discard(nodeid)
                    yield nodeid, data


def _lines_backwards(content: mmap.mmap) -> Iterator[bytes]:
    """Yield the lines from the last one on: of a case that ran again, the last counts."""
    end = len(content)
    while end > 0:
        start = content.rfind(b"\n", 0, end - 1) + 1
        yield content[start:end]
        end = start
