"""How fast the metrics are: ``python benchmarks/metrics.py``.

Each figure is the best of three rounds, on one core; the machine's own speed is the
first line, a plain SQuAD-style F1 as everybody writes it.
"""

from __future__ import annotations

import random
import re
import string
import sys
import time
from collections import Counter
from collections.abc import Callable

from pytest_llmeval.diffs import word_diff
from pytest_llmeval.metrics import (
    choice,
    contains,
    exact,
    f1,
    number,
    read_choices,
    token_f1,
)

WORDS = [
    "larch",
    "heron",
    "fjord",
    "grove",
    "dune",
    "ember",
    "thorn",
    "knoll",
    "ridge",
    "glade",
    "inlet",
    "birch",
    "ocean",
    "slate",
    "willow",
    "cedar",
    "flint",
    "the",
    "a",
    "of",
    "Paris",
]
PUNCTUATION = set(string.punctuation)
ARTICLE = re.compile(r"\b(a|an|the)\b")
ROUNDS = 3
PAIRS = 50_000


def plain_f1(prediction: str, truth: str) -> float:
    """Return the F1 of two texts as the official script computes it."""

    def words(text: str) -> list[str]:
        text = "".join(c for c in text.lower() if c not in PUNCTUATION)
        return " ".join(ARTICLE.sub(" ", text).split()).split()

    left, right = words(prediction), words(truth)
    shared = sum((Counter(left) & Counter(right)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(left), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def pairs(count: int, *, is_ascii: bool) -> list[tuple[str, str]]:
    """Return short answers: two to five words, most of them right."""
    chance = random.Random(1)

    def answer() -> str:
        text = " ".join(chance.choices(WORDS, k=chance.randint(2, 5)))
        return text if is_ascii else text.replace("e", "é")

    found = []
    for _ in range(count):
        right = answer()
        found.append((right if chance.random() < 0.8 else answer(), right))
    return found


def text_of(words: int, seed: int) -> str:
    """Return a text of many different words."""
    chance = random.Random(seed)
    letters = string.ascii_lowercase
    vocabulary = ["".join(chance.choices(letters, k=6)) for _ in range(20_000)]
    return " ".join(chance.choices(vocabulary, k=words))


def seconds(function: Callable[[], object]) -> float:
    """Return the least processor time of a few calls."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def per_second(
    function: Callable[[str, str], object], texts: list[tuple[str, str]]
) -> float:
    """Return how many pairs a second a function takes."""
    return len(texts) / seconds(lambda: [function(a, b) for a, b in texts])


def rates() -> list[tuple[str, float]]:
    """Return pairs of short answers a second."""
    ascii_pairs, other = pairs(PAIRS, is_ascii=True), pairs(PAIRS, is_ascii=False)
    fewer = ascii_pairs[: PAIRS // 10]
    return [
        ("plain F1, ASCII", per_second(plain_f1, ascii_pairs[: PAIRS // 5])),
        ("token_f1 squad_v1, ASCII", per_second(_of("squad_v1"), ascii_pairs)),
        ("token_f1 squad_v1, other", per_second(_of("squad_v1"), other)),
        ("token_f1 hotpotqa, ASCII", per_second(_of("hotpotqa"), ascii_pairs)),
        ("token_f1 default, ASCII", per_second(_of("default"), ascii_pairs)),
        ("token_f1 default, other", per_second(_of("default"), other[: PAIRS // 10])),
        ("f1 score squad_v1", per_second(_score("squad_v1"), fewer)),
        ("f1 score default", per_second(_score("default"), fewer)),
        ("exact score default", per_second(exact, fewer)),
    ]


def _of(preset: str) -> Callable[[str, str], float]:
    return lambda text, reference: token_f1(text, reference, preset=preset)


def _score(preset: str) -> Callable[[str, str], object]:
    return lambda text, reference: f1(text, reference, preset=preset)


def times() -> list[tuple[str, float]]:
    """Return the time that long texts take, in seconds."""
    long, other = text_of(100_000, 1), text_of(100_000, 2)
    reply, changed = text_of(14_000, 3), text_of(14_000, 4)
    near = reply.split()
    near[::50] = ["changed"] * len(near[::50])
    cities = ["Paris", "London", "Berlin", "Rome"]
    found = [
        ("f1 default, 100,000 words", lambda: token_f1(long, other)),
        ("f1 squad_v1, 100,000 words", lambda: _of("squad_v1")(long, other)),
        ("f1 drop, 100,000 words", lambda: f1(long, other, preset="drop")),
        ("word_diff, 100 kB, all differs", lambda: list(word_diff(reply, changed))),
        ("word_diff, 100 kB, near", lambda: list(word_diff(reply, " ".join(near)))),
    ]
    for name, piece in (
        ("A. Paris\n", "A. Paris\n"),
        ("1,", "1,"),
        ("= 1 ", "= 1 "),
        ("(", "("),
    ):
        big = piece * (1_000_000 // len(piece))
        found += [
            (f"number, 1 MB of {name!r}", lambda big=big: number(big, "5")),
            (
                f"read_choices, 1 MB of {name!r}",
                lambda big=big: read_choices(big, cities),
            ),
            (f"contains, 1 MB of {name!r}", lambda big=big: contains(big, "Lima")),
        ]
    found.append(("choice, 1 MB", lambda: choice(long, "B", choices=cities)))
    return [(name, seconds(function)) for name, function in found]


def main() -> None:
    """Print all figures."""
    for name, rate in rates():
        sys.stdout.write(f"{name:<36}{rate:>12,.0f} pairs/s\n")
    for name, taken in times():
        sys.stdout.write(f"{name:<36}{taken * 1000:>12,.1f} ms\n")


if __name__ == "__main__":
    main()
