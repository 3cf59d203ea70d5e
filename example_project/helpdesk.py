"""The help desk of Marram Bikes: answers questions from the company's own documents."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROMPT = (HERE / "prompts" / "answer.txt").read_text("utf-8").rstrip()
COMMON_WORDS = (
    "a an and are at be by can do does for from get have how i if in is it me my of on "
    "or our that the there they this to we what when where which who will with you "
    "your"
)


class Passage(NamedTuple):
    """A section of a document."""

    place: str
    text: str


def read_passages(folder):
    """Return the sections of all documents in a folder."""
    passages = []
    for path in sorted(folder.glob("*.md")):
        _title, *sections = path.read_text("utf-8").split("\n## ")
        for section in sections:
            heading, _, text = section.partition("\n")
            passages.append(Passage(f"{path.name}#{heading}", text.strip()))
    return passages


def keywords(text):
    """Return the words of a text that say what it is about."""
    words = set(re.findall(r"[a-z0-9]+", text.lower())) - set(COMMON_WORDS.split())
    return {word.removesuffix("s") for word in words}


def find_passage(question, passages):
    """Return the passage with most keywords of the question; rare ones count more."""
    known = [keywords(f"{passage.place} {passage.text}") for passage in passages]
    counts = Counter(word for words in known for word in words)
    asked = keywords(question)
    scores = [sum(1 / counts[word] for word in asked & words) for words in known]
    return passages[scores.index(max(scores))]


PASSAGES = read_passages(HERE / "docs")


def answer(question, client):
    """Return the client's reply to a question; anything that has `generate` will do."""
    passage = find_passage(question, PASSAGES)
    return client.generate(PROMPT.format(passage=passage.text, question=question))
