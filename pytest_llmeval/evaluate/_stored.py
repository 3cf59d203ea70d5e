"""The replies of an earlier run, in the place of asking: assertions run on them again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pytest_llmeval.clients import Backend, Request
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.recorder import SampleRun
from pytest_llmeval.store.key import canonical
from pytest_llmeval.store.replies import unpacked
from pytest_llmeval.types import Record, Response

__all__ = ["StoredReplies"]

_Left = dict[str, deque[Mapping[str, Any]]]
#: What of a call in a journal is of the moment.
_NOT_A_REPLY = frozenset({"latency_seconds", "origin", "embeddings"})


@dataclass(slots=True, eq=False)
class StoredReplies:
    """What the cases of a run were answered.

    A question has the reply that the same sample of the same case got to the same
    prompt; asked several times, it has them in turn.
    """

    path: Path
    """The journal."""
    records: Iterable[Record]
    clean: Callable[[Any], Any] = lambda value: value
    """Takes secrets out, as they were out of what is stored."""
    _samples: dict[str, Record] = field(init=False)
    _left: WeakKeyDictionary[SampleRun, _Left] = field(
        default_factory=WeakKeyDictionary
    )
    _in_setup: _Left | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._samples = {record.nodeid: record for record in self.records}

    async def answer(
        self, backend: Backend, request: Request, role: str, running: SampleRun | None
    ) -> Response:
        """Return the stored reply; what only scores is asked where there is none.

        Raises:
            UnscoredError: A reply under test is not there.
        """
        found = self._find(request, role, running)
        is_scoring = role == "judge" or bool(request.texts)
        if is_scoring and (found is None or not self._is_same(found, backend, request)):
            return await backend.answer(request)
        if found is None or found["response"] is None:
            reason = self._missing(found, running)
            raise UnscoredError(reason, cause="recording")
        kept = {k: v for k, v in found["response"].items() if k not in _NOT_A_REPLY}
        return unpacked(kept, request.prompt, "recording")

    def _is_same(
        self, call: Mapping[str, Any], backend: Backend, request: Request
    ) -> bool:
        """Return whether a judge that replied is the one that would be asked."""
        identity = self.clean(backend.identity(request))
        asked = {name: identity.get(name) for name in call["settings"]}
        return call["response"] is not None and (
            canonical(asked) == canonical(call["settings"])
        )

    def _find(
        self, request: Request, role: str, running: SampleRun | None
    ) -> Mapping[str, Any] | None:
        """Return the call of the run that asked the same."""
        if request.texts:
            return None  # a journal keeps no vectors
        key = self._key(
            role, request.prompt.to_json(), is_given=request.given is not None
        )
        with self._lock:
            own = self._calls_of(running) if running is not None else {}
            if own.get(key):
                return own[key].popleft()
            if running is None or running.is_in_setup:
                # What a fixture of the session asks stands with whichever case was first.
                shared = self._all().get(key)
                return shared[0] if shared else None
        return None

    def _calls_of(self, running: SampleRun) -> _Left:
        if running not in self._left:
            record = self._samples.get(running.run.nodeid)
            samples = record.samples if record is not None else ()
            self._left[running] = self._by_key(
                sample for sample in samples if sample["index"] == running.index
            )
        return self._left[running]

    def _all(self) -> _Left:
        if self._in_setup is None:
            self._in_setup = self._by_key(
                s for record in self._samples.values() for s in record.samples
            )
        return self._in_setup

    def _by_key(self, samples: Iterable[Mapping[str, Any]]) -> _Left:
        found: _Left = {}
        for sample in samples:
            for call in sample["calls"]:
                reply = call["response"] or {}
                is_given = "likelihood" in reply
                key = self._key(call["role"], call["prompt"], is_given=is_given)
                found.setdefault(key, deque()).append(call)
        return found

    def _key(self, role: str, prompt: Any, *, is_given: bool) -> str:
        return canonical(self.clean({"role": role, "": prompt, "given": is_given}))

    def _missing(
        self, call: Mapping[str, Any] | None, running: SampleRun | None
    ) -> str:
        name = self.path.name
        if call is not None:
            return (
                f"no reply to score, the call had failed: {call['error']} (in {name})"
            )
        if running is not None and running.run.nodeid not in self._samples:
            return f"no reply to score: the case is not in {name}"
        return (
            f"no reply to score: the prompt has changed since {name}, or this was not "
            f"asked then"
        )
