"""Looks for bugs in every reader by coverage, with atheris: ``python -m tests.fuzz``.

``python -m tests.fuzz NAME...`` looks at some readers alone, ``--seconds=N`` says how long
at each (60), ``--planted`` looks for the planted bugs instead, ``--again FILE NAME`` runs
an input that was kept. What is held of a reader stands beside this file, and hypothesis
holds the same in ``tests/unit/test_fuzz_*.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_STATUSES = (200, 200, 302, 400, 404, 429, 500)
#: Seconds for one input, and bytes of it: an input this long has no business taking it.
_SLOWEST = 10
_LONGEST = 20_000
#: How a line of what ended it begins.
_ENDS = ("AssertionError", "AttributeError", "KeyError", "TypeError", "ValueError")
#: Where inputs are kept that show a bug.
_FOUND = Path(".fuzz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A reader: what is put into it, and inputs to begin with."""

    hold: Callable[[bytes], None]
    seeds: Iterable[bytes]


def main() -> int:
    """Look for bugs; return 1 if one is found, or if a planted one is not."""
    options = _options()
    if find_spec("atheris") is None:
        sys.stderr.write(
            "atheris is not installed: pip install atheris (it has no wheels for every "
            "Python; without it LLMEVAL_FUZZ=3000 python -m pytest tests/unit -k fuzz "
            "looks for the same)\n"
        )
        return 2
    if options.inside:
        _look(options)
        return 0
    names = options.names or _names(is_planted=options.planted)
    found = [name for name in names if _look_apart(name, options)]
    if options.planted:
        missed = [name for name in names if name not in found]
        sys.stdout.write(f"planted bugs not found: {', '.join(missed) or 'none'}\n")
        return int(bool(missed))
    sys.stdout.write(f"readers with a bug: {', '.join(found) or 'none'}\n")
    return int(bool(found))


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--again", metavar="FILE")
    parser.add_argument("--inside", action="store_true", help="used by itself")
    return parser.parse_args()


def _names(*, is_planted: bool) -> list[str]:
    from tests.fuzz.planted import PLANTED

    return list(PLANTED if is_planted else _targets(Path()))


def _look_apart(name: str, options: Namespace) -> bool:
    """Look at one reader in a process of its own; return whether a bug was found."""
    command = [sys.executable, "-m", "tests.fuzz", name, "--inside"]
    command += [f"--seconds={options.seconds}"]
    command += ["--planted"] if options.planted else []
    command += [f"--again={options.again}"] if options.again else []
    run = subprocess.run(command, capture_output=True, check=False)
    said = (run.stdout + run.stderr).decode("utf-8", "backslashreplace").splitlines()
    told = [line for line in said if line.startswith(("Done", *_ENDS))]
    sys.stdout.write(f"{name}: {'; '.join(told)[:200] or 'ended'} ({run.returncode})\n")
    if run.returncode and not options.planted:
        shown = [line for line in said if not line.startswith(("#", "INFO"))]
        sys.stdout.write("".join(f"    {line[:300]}\n" for line in shown[-60:]))
    sys.stdout.flush()
    return run.returncode != 0


def _look(options: Namespace) -> None:
    """Look at one reader until the time is up or a bug is found; never returns."""
    import atheris

    (name,) = options.names
    with ExitStack() as stack:
        stack.enter_context(atheris.instrument_imports(include=["pytest_llmeval"]))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        target = _targets(folder / "files")[name]
        _be_strict()
        if options.planted:
            from tests.fuzz.planted import PLANTED

            stack.enter_context(PLANTED[name].planted())
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(seed)
        words = folder / "words"
        words.write_text(_dictionary(), "utf-8")
        arguments = [
            f"-max_total_time={options.seconds}",
            f"-timeout={_SLOWEST}",
            f"-max_len={_LONGEST}",
            f"-dict={words}",
            f"-artifact_prefix={_kept(name, folder, options)}-",
            "-rss_limit_mb=4096",
            options.again or str(corpus),
        ]
        atheris.Setup([sys.argv[0], *arguments], target.hold)
        atheris.Fuzz()


def _kept(name: str, folder: Path, options: Namespace) -> Path:
    """Return how the name of a kept input begins."""
    kept = folder if options.planted else _FOUND
    kept.mkdir(exist_ok=True)
    return kept / name.replace(" ", "-")


def _be_strict() -> None:
    """Take a warning for a bug, as pytest does in this repository."""
    import warnings

    from pytest_llmeval.errors import EvaluationWarning

    warnings.simplefilter("error")
    warnings.simplefilter("ignore", EvaluationWarning)
    warnings.simplefilter("ignore", ResourceWarning)


def _targets(folder: Path) -> dict[str, Target]:
    """Return every reader by its name.

    Args:
        folder: Where files are written.
    """
    from tests.fuzz.left import LEFT
    from tests.fuzz.servers import SERVERS
    from tests.fuzz.texts import PIECES, TEXTS
    from tests.fuzz.written import WRITTEN

    targets = {}
    for name, kind in {**WRITTEN, **LEFT}.items():
        targets[name] = Target(hold=_file_holder(kind, folder), seeds=kind.seeds)
    for name, server in SERVERS.items():
        seeds = [b"\0" + seed for seed in server.seeds]
        targets[f"reply {name}"] = Target(hold=_reply_holder(server), seeds=seeds)
    pieces = [piece.encode("utf-8", "surrogatepass") for piece in PIECES]
    for name, hold in TEXTS.items():
        targets[name] = Target(hold=_text_holder(hold), seeds=pieces)
    return targets


def _file_holder(kind: Any, folder: Path) -> Callable[[bytes], None]:
    laid: list[bool] = []

    def hold(data: bytes) -> None:
        if not laid:
            folder.mkdir()
            kind.lay(folder)
            laid.append(True)
        kind.hold(folder, data)

    return hold


def _reply_holder(server: Any) -> Callable[[bytes], None]:
    def hold(data: bytes) -> None:
        status = _STATUSES[data[0] % len(_STATUSES)] if data else 200
        server.hold(data[1:], status)

    return hold


def _text_holder(hold_text: Callable[[str], None]) -> Callable[[bytes], None]:
    def hold(data: bytes) -> None:
        hold_text(data.decode("utf-8", "surrogateescape"))

    return hold


def _dictionary() -> str:
    """Return libFuzzer's dictionary: what readers look for."""
    from tests.fuzz.damage import TOKENS
    from tests.fuzz.texts import PIECES

    pieces = [piece.encode("utf-8", "surrogatepass") for piece in PIECES]
    words = [word for word in (*TOKENS, *pieces) if 0 < len(word) < 60]
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in words)
    return "".join(f'"{word}"\n' for word in escaped)


if __name__ == "__main__":
    sys.exit(main())
