"""Draw what a command prints, in its colours, as an SVG that asks nothing of anybody.

``python docs/_terminal.py OUT.svg COMMAND...`` runs the command here. The README's picture
is ``pytest -q evals --llmeval-compare=git:main:main`` in the folder of the tutorial's step 5.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from html import escape
from pathlib import Path

COLUMNS = 102
WIDTH, HEIGHT, EDGE = 8.43, 19, 18  # of a character, of a line, around all
SGR = re.compile(r"\x1b\[([\d;]*)m")
COLOURS = {
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "34": "#79c0ff",
    "35": "#d2a8ff",
    "36": "#76e3ea",
    "90": "#8b949e",
    "91": "#ffa198",
    "94": "#79c0ff",
}


def main() -> None:
    """Run the command and write the picture."""
    target, *command = sys.argv[1:]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    lines = done.stdout.rstrip().splitlines()
    prompt = f"\x1b[32m$\x1b[0m \x1b[1m{shlex.join(command)}\x1b[0m"
    Path(target).write_text(svg([prompt, *lines]), "utf-8")


def svg(lines: list[str]) -> str:
    """Return the picture of lines with colours."""
    width, height = COLUMNS * WIDTH + 2 * EDGE, len(lines) * HEIGHT + 2 * EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" role="img">',
        "<title>A run in a terminal</title>",
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" '
        'font-size="14" fill="#e6edf3">',
    ]
    for number, line in enumerate(lines, start=1):
        y = EDGE + number * HEIGHT - 5
        parts += [
            f'<text x="{EDGE + column * WIDTH:.1f}" y="{y}" '
            f'textLength="{len(text) * WIDTH:.1f}"{style}>{escape(text)}</text>'
            for column, text, style in runs(line)
        ]
    return "\n".join([*parts, "</g>", "</svg>", ""])


def runs(line: str) -> list[tuple[int, str, str]]:
    """Return the parts of a line in one style: column, text, attributes.

    Parts end where blanks do: several of them have no width of their own in SVG.
    """
    found, column, codes = [], 0, set[str]()
    pieces = SGR.split(line)
    for text, code in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        for word in re.finditer(r"\S+(?: \S+)*", text):
            start = column + word.start()
            if text_shown := word[0][: max(0, COLUMNS - start)]:
                found.append((start, text_shown, _style(codes)))
        column += len(text)
        given = code.split(";") if code else []
        codes = set() if given in ([], ["0"]) else codes | set(given)
    return found


def _style(codes: set[str]) -> str:
    colour = next((COLOURS[code] for code in sorted(codes) if code in COLOURS), None)
    weight = ' font-weight="bold"' if "1" in codes else ""
    return (f' fill="{colour}"' if colour else "") + weight


if __name__ == "__main__":
    main()
