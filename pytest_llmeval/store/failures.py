"""Failures kept to be looked into: ``.llmeval/failures``, a folder a case.

A folder is there whole or not at all, and takes the place of an older one of its case.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UserError, did_you_mean
from pytest_llmeval.store.lines import prepare_home

__all__ = ["ANSWERS", "FOLDER", "KEPT", "find_answers", "folder_name", "keep", "prune"]

FOLDER: Final = "failures"
#: How many are kept.
KEPT: Final = 50
#: The file with what the case was answered.
ANSWERS: Final = "answers.jsonl"

_UNFIT: Final = re.compile(r"[^\w.]+")
#: Characters of a name: in UTF-8 no more bytes than any file system takes.
_LONGEST: Final = 48
#: Names of ours: nothing else in the folder is ever touched.
_OURS: Final = re.compile(r"[\w.-]*-[0-9a-f]{10}")


def folder_name(nodeid: str, case_id: str) -> str:
    """Return the folder of a case: what a person recognises, and what tells it apart.

    Args:
        nodeid: Of the case; two have two folders, whatever they are called.
        case_id: Anybody's text.
    """
    test = nodeid.partition("[")[0].rpartition("::")[2]
    words = _UNFIT.sub("-", f"{test}-{case_id}").strip("-.")[:_LONGEST].strip("-.")
    digest = hashlib.sha256(nodeid.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{words}-{digest[:10]}" if words else f"case-{digest[:10]}"


def keep(home: Path, name: str, files: Mapping[str, str]) -> Path:
    """Write the folder of a case and return its path.

    Args:
        home: The ``.llmeval`` of the root directory; made where missing.
        name: As `folder_name` gives it.
        files: Texts by name.

    Raises:
        OSError: It can't be written; an older one of the case is as it was.
    """
    prepare_home(home)
    parent = home / FOLDER
    parent.mkdir(exist_ok=True)
    folder, mark = parent / name, os.urandom(4).hex()
    draft, old = parent / f".{mark}.new", parent / f".{mark}.old"
    try:
        draft.mkdir()
        for file, text in files.items():
            (draft / file).write_text(text, "utf-8", newline="\n")
        if os.path.lexists(folder):
            os.replace(folder, old)
        os.replace(draft, folder)
    except OSError:
        if os.path.lexists(old) and not os.path.lexists(folder):
            with suppress(OSError):
                os.replace(old, folder)
        raise
    finally:
        _remove(draft)
        _remove(old)
    return folder


def prune(home: Path) -> None:
    """Delete the oldest folders of more than are kept; one that can't be stays."""
    with suppress(OSError):
        ours = [
            path for path in (home / FOLDER).iterdir() if _OURS.fullmatch(path.name)
        ]
        ours.sort(key=lambda path: path.lstat().st_mtime_ns, reverse=True)
        for path in ours[KEPT:]:
            _remove(path)


def find_answers(given: str, *, base: Path, home: Path) -> Path:
    """Return the file of answers of a failure that somebody named.

    Args:
        given: Its folder, as seen from `base` or by its name alone.
        base: Where the run began.
        home: The ``.llmeval`` of the root directory.

    Raises:
        UserError: There is none; the text names those there are.
    """
    for folder in (base / given, home / FOLDER / given):
        if (folder / ANSWERS).is_file():
            return folder / ANSWERS
    kept = home / FOLDER
    there = sorted(path.parent.name for path in kept.glob(f"*/{ANSWERS}"))
    hint = did_you_mean(Path(given).name, there)
    shown = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
    message = f"there is no failure {given!r}{hint}; in {str(kept)!r} there are: "
    raise UserError(message + (shown or "none with answers"))


def _remove(path: Path) -> None:
    """Delete a folder, of a link the link alone."""
    with suppress(OSError):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
