"""Files that a run leaves, and the commands that read them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from pytest_llmeval.baseline import compare, parse_baseline
from pytest_llmeval.cli import main
from pytest_llmeval.clients._script import load_script
from pytest_llmeval.conclusion import KeptRun
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.report.files import write
from pytest_llmeval.store.answers import Answers
from pytest_llmeval.store.last import last_cases
from pytest_llmeval.store.recordings import Recordings
from pytest_llmeval.store.runs import read_run
from pytest_llmeval.types import Prompt
from tests.fuzz.files import DATA, FileKind, as_json, seeds

__all__ = ["LEFT"]

FUZZ = DATA / "fuzz"
RUN, BASELINE = seeds(FUZZ / "run.jsonl", FUZZ / "baseline.json")
NODEIDS = ("test_seed.py::test_seed[a]", "test_seed.py::test_seed[b]")


def use_run(path: Path) -> None:
    for _, data in last_cases(path.parent, NODEIDS):
        assert data["samples"]
    kept = KeptRun.of(read_run(path))
    report = kept.report(kept.conclude())
    # Beside the journals, not among them.
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    for suffix in (".json", ".jsonl", ".csv", ".md", ".html"):
        write(report, out / f"report{suffix}")
    json.loads((out / "report.json").read_text("utf-8"), parse_constant=no_number)


def no_number(word: str) -> None:
    raise AssertionError(f"{word} stands in a JSON report")


def use_baseline(path: Path) -> None:
    baseline = parse_baseline(path.read_bytes(), "main.json")
    compare(list(baseline.cases), list(baseline.cases))
    compare([case.settled() for case in baseline.cases], ())


def use_recordings(path: Path) -> None:
    recordings = Recordings.read(path)
    entries = list(recordings.entries.values())
    for entry in entries[:2]:
        recordings.nearest(entry.request)
    recordings.write(entries, only_these=True)
    assert Recordings.read(path).entries.keys() == recordings.entries.keys()


def use_answers(path: Path) -> None:
    answers = Answers.read(path)
    for answer in list(answers._all):
        found = answers.find(answer.key)
        assert found is not None
        with suppress(LLMEvalError):
            found.given(Prompt(messages=()))
        answers.difference({**answer.request, "model": "another"})


def use_script(path: Path) -> None:
    for line in load_script(path):
        if line.replies("Lima"):
            line.said("Lima", 0)


def command(path: Path, *arguments: str) -> None:
    """Run a command in the file's folder: it ends with a status."""
    out = io.StringIO()
    with chdir(path.parent), redirect_stdout(out), redirect_stderr(out):
        assert main(arguments) in {0, 1, 2}, arguments


def run_commands(path: Path) -> None:
    command(path, "report", path.name, "-o", "report.md", "-o", "report.json")
    for runs in ((path.name, "good.jsonl"), ("good.jsonl", path.name)):
        command(path, "compare", "-v", *runs)
        saved = ("--save=whole", "--save-force", "--show=all", "-v")
        command(path, "merge", *runs, "-o", "out/merged.jsonl", *saved)


def compare_commands(path: Path) -> None:
    command(path, "compare", "-v", f"./{path.name}", "good.jsonl")
    command(path, "compare", "-v", "good.jsonl", f"./{path.name}")


def label_commands(path: Path) -> None:
    command(path, "calibrate", path.name, "--judge=fake:says.jsonl", "--gate=f1 >= 0.1")
    asked = ("--generator=fake:says.jsonl", "--column=said", "--force")
    command(path, "generate", path.name, "-o", "answers.jsonl", *asked)


def map_commands(path: Path) -> None:
    """Hold a map of labels, which stands on the command line."""
    text = path.read_bytes().decode("utf-8", "replace").replace("\0", "")
    judged = ("calibrate", "labels.jsonl", "--judge=fake:says.jsonl")
    command(path, *judged, f"--score-map={text}")


LABELS = b"".join(
    as_json(row) + b"\n"
    for row in (
        {"id": "a", "question": "q", "response": "Lima", "label": "PASS"},
        {"id": "b", "question": "q", "response": "Cusco", "label": False},
        {"id": "c", "question": "q", "response": "Lima!", "label": 1},
    )
)
SAYS = b'{"match": "Lima", "reply": "PASS: right"}\n{"reply": "FAIL: wrong"}\n'


def _answers() -> Iterable[bytes]:
    """Yield lines of a failure's answers: those of recordings, and an error."""
    yield from seeds(FUZZ / "recordings.jsonl")[0].splitlines()[:3]
    failed = {"request": {"model": "m"}, "sample": 0, "cause": "provider"}
    yield as_json({**failed, "error": "the server failed"})


LEFT = {
    "journal": FileKind(name="run.jsonl", use=use_run, seeds=(RUN,)),
    "baseline": FileKind(name="baseline.json", use=use_baseline, seeds=(BASELINE,)),
    "recordings": FileKind(
        name="recordings.jsonl",
        use=use_recordings,
        seeds=seeds(FUZZ / "recordings.jsonl"),
    ),
    "answers": FileKind(
        name="answers.jsonl", use=use_answers, seeds=(b"\n".join(_answers()) + b"\n",)
    ),
    "script": FileKind(
        name="script.jsonl", use=use_script, seeds=seeds(FUZZ / "script.jsonl")
    ),
    "commands on a journal": FileKind(
        name="run.jsonl",
        use=run_commands,
        # Somebody may name a report in place of its run.
        seeds=(RUN, seeds(DATA / "report_format_1.json")[0].replace(b"\n", b" ")),
        beside={"good.jsonl": RUN},
    ),
    "commands on a baseline": FileKind(
        name="main.json",
        use=compare_commands,
        seeds=(BASELINE, *seeds(DATA / "report_format_1.json")),
        beside={"good.jsonl": RUN},
    ),
    "commands on labels": FileKind(
        name="labels.jsonl",
        use=label_commands,
        seeds=(LABELS,),
        beside={"says.jsonl": SAYS},
    ),
    "map of labels": FileKind(
        name="map.json",
        use=map_commands,
        seeds=(b'{"Good": 1, "Fair": 0.5, "Bad": 0}',),
        beside={"says.jsonl": SAYS, "labels.jsonl": LABELS},
    ),
}
