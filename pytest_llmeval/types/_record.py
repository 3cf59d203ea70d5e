"""What is kept of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any, Final, Literal, Protocol, Self

from pytest_llmeval.types._messages import Prompt, Response, Sent
from pytest_llmeval.types._score import Check
from pytest_llmeval.types._text import clean_json, clean_text

Status = Literal[
    "passed", "failed", "unscored", "skipped", "xfailed", "xpassed", "not_run"
]

#: How a case ends of which a check did not hold, whether that is forgiven or not.
BELOW: Final = frozenset({"failed", "gated", "known"})
#: How a case ends that came to its end: it has asked all that it asks. One that could
#: not be scored, or was skipped, would have asked for more.
ENDED: Final = BELOW | {"passed", "xfailed", "xpassed"}
#: How a case ends whose texts are shown, and kept to be looked into.
LOOKED_INTO: Final = BELOW | {"unscored"}

#: Why a case could not be scored.
CAUSES: Final = (
    "provider",  # the model's server or its wire
    "application",  # code under test raised
    "judge",  # the judge gave no verdict, or could not be asked
    "inconsistent",  # a pairwise judge contradicted itself when the order was swapped
    "recording",  # replay has no entry
    "data",  # the dataset row lacks something or holds something unusable
    "cut",  # the reply ended at the token limit
    "empty",  # a model replied with nothing
    "refused",  # a model declined to answer, and wrote nothing else
    "setup",  # a fixture raised
    "suite",  # a mistake in the test itself
    "crashed",  # the worker process died
    "interrupted",
)


class Evidence(Protocol):
    """What more there is of a call, for who looks into its case."""

    def sent(self) -> Sent | None:
        """Return what went over the wire, None where nothing did."""

    def answer(self) -> dict[str, Any]:
        """Return question and answer as plain JSON types, so that it can be replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to a model and its answer, or what went wrong."""

    role: str
    """generator, judge, or the name of a further client."""
    client: str
    """The spec or configured name of the client."""
    prompt: Prompt
    response: Response | None = None
    error: str | None = None
    cause: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What answered and how it was asked, the prompt apart: provider, address, model,
    parameters."""
    attempts: int = 0
    """Requests that were sent for it; none where a reply was on file."""
    waits: tuple[float, ...] = ()
    """Seconds between an attempt and the next one."""
    key: str = ""
    """Under which the reply is kept on file, empty where none was looked for."""
    setup: str = ""
    """Fingerprint of the model's settings, of which `key` is made too."""
    sent: Sent | None = None
    """What went over the wire, once `looked_into`."""
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    """Made only of a case that did not pass; never written itself."""

    def looked_into(self) -> Self:
        """Return the call with all there is, as it is kept of a case that failed."""
        return replace(self, sent=self.evidence.sent()) if self.evidence else self

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        sent = {} if self.sent is None else {"sent": self.sent.to_json()}
        keys = {"key": self.key, "setup": self.setup} if self.key else {}
        return {
            "role": self.role,
            "client": self.client,
            "settings": clean_json(self.settings),
            "prompt": self.prompt.to_json(),
            "response": self.response.to_json() if self.response else None,
            "error": clean_json(self.error),
            "cause": self.cause,
            "attempts": self.attempts,
            "waits": [round(seconds, 3) for seconds in self.waits],
            **keys,
            **sent,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of a case's body."""

    index: int
    status: str
    cause: str | None = None
    reason: str = ""
    calls: tuple[Call, ...] = ()
    checks: tuple[Check, ...] = ()
    attachments: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "index": self.index,
            "status": self.status,
            "cause": self.cause,
            "reason": clean_json(self.reason),
            "calls": [call.to_json() for call in self.calls],
            "checks": [check.to_json() for check in self.checks],
            "attachments": clean_json(self.attachments),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """What of a case can change between two runs, as short hashes: equal, or not."""

    row: str = ""
    """Of the row as the test reads it: input, expected, context, labels."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Of each column."""
    template: str | None = None
    """Of the prompt's template and the system message's; None without one."""
    is_numbered: bool = False
    """The case's id is the number of its row."""
    must_pass: bool = False
    code: str = ""
    """Of the test's file and the conftest.py files around it."""
    generator: str | None = None
    """Of the generator's entry; None without one."""
    judge: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "row": self.row,
            "columns": dict(self.columns),
            "template": self.template,
            "is_numbered": self.is_numbered,
            "must_pass": self.must_pass,
            "code": self.code,
            "generator": self.generator,
            "judge": self.judge,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All that is kept of one case: rides on its TestReport, becomes a journal line.

    Samples are kept as their JSON, the form in which they arrive from a worker.
    """

    nodeid: str
    test: str
    """The node id without its parameters: file, class and function."""
    case_id: str
    status: str
    params: Mapping[str, str] = field(default_factory=dict)
    """Parameters besides the case, in the test's own words; columns of the report."""
    cause: str | None = None
    reason: str = ""
    """The failure in one line."""
    source: str | None = None
    """``file:line`` of the dataset row."""
    row: Mapping[str, Any] = field(default_factory=dict)
    """Of the dataset row, what there is of input, expected and context."""
    tags: tuple[str, ...] = ()
    seconds: float = 0.0
    """Of the body, waiting included."""
    rerun: str = ""
    """The command that runs this case alone."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    gates: tuple[str, ...] = ()
    """Bars for all cases of the test together."""
    calibration: Mapping[str, Any] | None = None
    """In a calibration: a person's word (``true``), the judge's (``said``), its name."""
    checked_nothing: bool = False
    """The body passed without a check: it says nothing of the reply."""
    repeat: int = 1
    """How many samples were planned: fewer ran where these had decided."""
    min_sample_rate: float = 1.0
    """The share of them that had to pass."""
    samples: Sequence[Mapping[str, Any]] = ()

    @property
    def row_key(self) -> tuple[Any, ...]:
        """Test and parameters: what the cases of one row of a report have in common."""
        return (self.test, *self.params.items())

    @property
    def is_unstable(self) -> bool:
        """Whether the case passed although a sample of it failed."""
        is_repeated = self.repeat > 1
        return is_repeated and self.status == "passed" and self.count("failed") > 0

    @property
    def is_whole(self) -> bool:
        """Whether every sample that was planned has been scored."""
        return self.count("passed") + self.count("failed") == self.repeat

    def count(self, status: str) -> int:
        """Return how many samples ended so."""
        return sum(sample["status"] == status for sample in self.samples)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "nodeid": clean_text(self.nodeid),
            "test": clean_text(self.test),
            "case_id": clean_text(self.case_id),
            "status": self.status,
            "params": clean_json(self.params),
            "cause": self.cause,
            "reason": clean_text(self.reason),
            "source": self.source,
            "row": clean_json(self.row),
            "tags": clean_json(self.tags),
            "seconds": self.seconds,
            "rerun": clean_text(self.rerun),
            "gates": list(self.gates),
            "calibration": clean_json(self.calibration),
            "fingerprints": clean_json(self.fingerprints.to_json()),
            **({"checked_nothing": True} if self.checked_nothing else {}),
            "repeat": self.repeat,
            "min_sample_rate": self.min_sample_rate,
            "samples": list(self.samples),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`."""
        return cls(
            **{
                **data,
                "tags": tuple(data["tags"]),
                "test": intern(data["test"]),  # many cases have it
                "gates": tuple(data.get("gates", ())),
                "fingerprints": Fingerprints(**data.get("fingerprints", {})),
                "samples": tuple(data["samples"]),
            }
        )
