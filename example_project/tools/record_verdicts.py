"""Write the authors' verdicts as the recordings of the judge.

    python tools/record_verdicts.py

The model of this example can't judge, so we did: verdicts.jsonl holds what we think of
each reply. This asks what test_explanations.py asks, and keeps our answers to it.
"""

import sys
from pathlib import Path

from pytest_llmeval import Response, load_cases
from pytest_llmeval.clients import Clients
from pytest_llmeval.config import load_config
from pytest_llmeval.evaluate import Generator, Judge
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.store.recordings import Entry, Recordings, recording_path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from test_explanations import RUBRIC  # noqa: E402


class Authors:
    """Answers with our verdicts, and keeps each as a recording of the grader."""

    name = "authors"

    def __init__(self):
        config = load_config(ROOT / "llmeval.yaml")
        self.grader = Clients(config, ROOT).backend("grader")
        self.verdicts = load_cases(ROOT / "tools" / "verdicts.jsonl")
        self.case = None
        self.entries = []

    def identity(self, request):
        return self.grader.identity(request)

    async def answer(self, request):
        text = self.verdict(request.prompt.text)
        response = Response(text=text, provider="authors", model="written by hand")
        self.entries.append(Entry.of(self.identity(request), request.sample, response))
        return response

    def verdict(self, prompt):
        """Return what we said to a prompt of the judge, about the case at hand."""
        verdicts = next(row.fields for row in self.verdicts if row.id == self.case.id)
        plain = prompt.find(self.case.fields["reply_plain"])
        shots = prompt.find(self.case.fields["reply_shots"])
        if plain == -1:
            return verdicts["judge"]
        return verdicts["plain_first" if plain < shots else "shots_first"]


def main():
    authors, loop = Authors(), LoopThread()
    client = Generator(role="judge", lookup=lambda sample: authors, loop=loop)
    judge = Judge(client=client)
    for case in load_cases(ROOT / "data" / "explanations.jsonl"):
        authors.case = case
        response = case.fields["reply_shots"]
        judge(response, case, rubric=RUBRIC)
        judge.compare(response, case, against=case.fields["reply_plain"])
    recordings = Recordings.read(recording_path(ROOT, "test_explanations"))
    recordings.write(authors.entries, only_these=True)
    loop.close()


if __name__ == "__main__":
    main()
