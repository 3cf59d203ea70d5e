"""``cache``: what the cache of replies holds, and making it smaller."""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.store.cache import CACHE_FILE, Cache
from pytest_llmeval.store.cachefile import SET_ASIDE, DamagedError

__all__ = ["add", "run"]

_HOME: Final = Path(".llmeval")
_DAY_SECONDS: Final = 86_400
_UNITS: Final = {"kb": 10**3, "mb": 10**6, "gb": 10**9}


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "cache", help="what .llmeval/cache.sqlite holds; prune or clear it"
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    actions.add_parser(
        "info", help="how many replies, of which models, how old"
    ).set_defaults(act=_info)
    prune = actions.add_parser("prune", help="drop replies that are old, or too many")
    prune.set_defaults(act=_prune)
    prune.add_argument(
        "--older-than",
        metavar="DAYS",
        type=_days,
        help="drop replies that were made more than DAYS days ago",
    )
    prune.add_argument(
        "--to-size",
        metavar="SIZE",
        type=_size,
        help="then drop those used longest ago until the rest is SIZE (50MB) or less",
    )
    actions.add_parser("clear", help="drop everything").set_defaults(act=_clear)
    return parser


def run(options: Namespace) -> int:
    """Do it.

    Raises:
        ConfigError: The cache can't be read or changed, or prune has no measure.
    """
    import sqlite3

    path = _HOME / CACHE_FILE
    if not path.is_file():
        sys.stdout.write(f"there is no cache here ({path})\n")
        return 0
    act: Callable[[Cache, Namespace], None] = options.act
    try:
        cache = Cache.open(path)
        try:
            act(cache, options)
        finally:
            cache.close()
    except DamagedError as exc:
        message = f"{path} can't be read as a cache ({exc}): the next run sets it aside"
        raise ConfigError(message) from exc
    except sqlite3.Error as exc:
        message = f"{path} can't be used now: {exc}"
        raise ConfigError(message) from exc
    return 0


def _info(cache: Cache, options: Namespace) -> None:
    totals = cache.totals()
    lines = [
        f"{cache.path}: {_counted(totals.replies)}, {_size_text(totals.bytes)} "
        f"({_size_text(cache.path.stat().st_size)} on disk)"
    ]
    if totals.oldest is not None and totals.newest is not None:
        lines.append(f"made {_day(totals.oldest)} to {_day(totals.newest)}")
    lines += [f"{count:>9,}  {model}" for model, count in totals.models]
    lines += [f"set aside: {path}" for path in sorted(_HOME.glob(SET_ASIDE))]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _prune(cache: Cache, options: Namespace) -> None:
    if options.older_than is None and options.to_size is None:
        message = "cache prune needs --older-than=DAYS or --to-size=SIZE, or both"
        raise ConfigError(message)
    oldest = None
    if options.older_than is not None:
        oldest = time.time() - options.older_than * _DAY_SECONDS
    dropped = cache.prune(made_before=oldest, to_bytes=options.to_size)
    left = cache.totals().replies
    sys.stdout.write(f"dropped {_counted(dropped)}, {left:,} left\n")


def _clear(cache: Cache, options: Namespace) -> None:
    dropped = cache.prune(made_before=None, to_bytes=-1)
    for path in _HOME.glob(f"{SET_ASIDE}*"):
        path.unlink()
    sys.stdout.write(f"dropped {_counted(dropped)}\n")


def _days(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        message = f"a number of days, 0 or more, not {text!r}"
        raise ArgumentTypeError(message)
    return float(text)


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]b)", text.lower())
    if match is None:
        message = f"a size like 500KB, 50MB or 1GB, not {text!r}"
        raise ArgumentTypeError(message)
    return int(float(match[1]) * _UNITS[match[2]])


def _size_text(size: int) -> str:
    for unit, factor in reversed(_UNITS.items()):
        if size >= factor:
            return f"{size / factor:.1f} {unit.upper()}"
    return f"{size} bytes"


def _counted(number: int) -> str:
    return f"{number:,} {'reply' if number == 1 else 'replies'}"


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
