"""Whether a process is still there."""

from __future__ import annotations

import os
import sys

__all__ = ["is_alive"]


def is_alive(process: int) -> bool:
    """Return whether there is a process of this id."""
    if sys.platform == "win32":  # os.kill would end it
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
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
