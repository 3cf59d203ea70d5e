"""Whether a process is still there."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from pytest_llmeval.types import whole_number

__all__ = ["forget_old", "is_alive"]


def is_alive(process: int) -> bool:
    """Return whether there is a process of this id."""
    if sys.platform == "win32":  # os.kill would end it
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _is_alive_on_windows(process: int) -> bool:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(0x100000, 0, process)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0))
    finally:
        kernel.CloseHandle(handle)


def forget_old(home: Path, kind: str) -> None:
    """Remove the files that runs have left whose process is gone.

    Args:
        home: The suite's ``.llmeval`` folder.
        kind: The first word of their names; the second is the id of the process.
    """
    for path in home.glob(f"{kind}-*"):
        owner = whole_number(path.name.split("-")[1])
        if owner is None or not is_alive(owner):
            with suppress(OSError):
                path.unlink(missing_ok=True)
