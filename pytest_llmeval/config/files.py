"""Text files and paths, read so that a mistake in them is told with its place.

Every room that reads a file the user names goes through here: UTF-8 always said,
never a replacement character, never a path out of the root directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pytest_llmeval.errors import UserError, did_you_mean

__all__ = ["folder_listing", "inside", "read_text", "shown_path"]

_BOM = b"\xef\xbb\xbf"
_FOREIGN_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SAVE_AS = 'save it as UTF-8 (in a spreadsheet: "CSV UTF-8")'


def read_text(path: Path, *, shown: str, error: type[UserError]) -> str:
    """Return the text of a UTF-8 file, a byte order mark taken off.

    Args:
        path: The file.
        shown: Its name in error texts.
        error: What to raise.

    Raises:
        UserError: There is no such file, or it is not UTF-8.
    """
    try:
        if not (path.is_file() or path.is_dir()) and path.exists():
            message = f"{shown!r} is no regular file, and reading it might never end"
            raise error(message)
        data = path.read_bytes()
    except FileNotFoundError as exc:
        message = f"{shown}: there is no such file{folder_listing(path)}"
        raise error(message) from exc
    except IsADirectoryError as exc:
        message = f"{shown} is a folder, and a file is expected{folder_listing(path)}"
        raise error(message) from exc
    except (OSError, ValueError) as exc:
        message = f"{shown!r} can't be read: {exc}"
        raise error(message) from exc
    return _decoded(data, shown, error)


def _decoded(data: bytes, shown: str, error: type[UserError]) -> str:
    for mark, encoding in _FOREIGN_BOMS:
        if data.startswith(mark):
            message = f"{shown}: the file is {encoding}, not UTF-8: {_SAVE_AS}"
            raise error(message)
    skipped = len(_BOM) if data.startswith(_BOM) else 0
    try:
        text = data[skipped:].decode("utf-8")
    except UnicodeDecodeError as exc:
        position = exc.start + skipped
        line = data.count(b"\n", 0, position) + 1
        message = (
            f"{shown}:{line}: the file is not UTF-8: byte {position} counted from 0 is "
            f"0x{data[position]:02x} ({exc.reason}); {_SAVE_AS}"
        )
        raise error(message) from exc
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        message = (
            f"{shown}:{line}: the file holds a NUL character, so it is no text, or "
            f"text in another encoding (UTF-16?): {_SAVE_AS}"
        )
        raise error(message)
    # A second mark comes from tools that put one before a text that has one already.
    return text.lstrip("\ufeff")


def folder_listing(path: Path, *, most: int = 12) -> str:
    """Return what stands where `path` was looked for, as the end of an error text.

    Args:
        path: What was not found.
        most: How many names to list.
    """
    if (elsewhere := _elsewhere(path)) is not None:
        return f"; there is one at {elsewhere.as_posix()!r}"
    folder = path if path.is_dir() else path.parent
    turned = path.name.replace("\\", "/")
    if turned != path.name and (path.parent / turned).exists():
        return f"; with / in place of \\ there is one: {turned!r}"
    try:
        names = sorted(name for name in os.listdir(folder) if name[0] != ".")
    except OSError:
        return f"; there is no folder {folder.as_posix()!r} either"
    guess = did_you_mean(path.name, names) if folder != path else ""
    listed = ", ".join(names[:most]) or "nothing"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{guess}; the folder {folder.as_posix()!r} holds: {listed}{more}"


def _elsewhere(path: Path) -> Path | None:
    """Return the file that is there with a folder less in its path.

    So it is where a path was written from the root directory, and is read from the
    file that it stands in, or the other way round.
    """
    parts = path.parts
    for place in range(len(parts) - 2, 0, -1):
        found = Path(*parts[:place], *parts[place + 1 :])
        if found.is_file():
            return found
    return None


def inside(
    path: Path, root: Path | None, *, shown: str, error: type[UserError]
) -> Path:
    """Return `path`, which must lie in `root` with every link followed.

    Args:
        path: What the user named.
        root: The root directory, None for no limit.
        shown: The path in error texts.
        error: What to raise.

    Raises:
        UserError: It lies elsewhere.
    """
    if root is None:
        return path
    try:
        real, real_root = path.resolve(), root.resolve()
    except (OSError, ValueError, RuntimeError) as exc:
        message = f"{shown!r} can't be read: {exc}"
        raise error(message) from exc
    if not real.is_relative_to(real_root):
        message = (
            f"{shown!r} lies outside the root directory {real_root.as_posix()!r} "
            f"({real.as_posix()}), and files of a suite stay inside it"
        )
        raise error(message)
    return path


def shown_path(path: Path, root: Path | None) -> str:
    """Return a file's name for people: relative to `root` inside it, else as given."""
    if root is not None:
        for file, folder in _forms(path, root):
            if file.is_relative_to(folder):
                return file.relative_to(folder).as_posix()
    return path.as_posix()


def _forms(path: Path, root: Path) -> Iterable[tuple[Path, Path]]:
    """Yield file and root as they are called, then with links followed."""
    yield Path(os.path.abspath(path)), Path(os.path.abspath(root))
    yield path.resolve(), root.resolve()
