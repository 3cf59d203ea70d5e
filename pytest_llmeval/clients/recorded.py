"""Recordings in front of a model: replayed, kept, or by-passed, as the mode says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_llmeval.clients._base import Backend, Request
from pytest_llmeval.clients._layer import Layer
from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.errors import LLMEvalError, UnscoredError
from pytest_llmeval.store.key import fingerprint, request_key
from pytest_llmeval.store.recordings import Entry, Filed
from pytest_llmeval.types import Mode, Prompt, Response

__all__ = ["RecordedBackend", "setup_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBackend(Layer):
    """Answers from a recording where there is one and the mode allows it."""

    shelf: Shelf
    mode: Mode
    is_stable: bool = True
    """False for code under test, which no key can know: only replay serves it."""
    setup: str = ""
    """Fingerprint of the model's settings, what `setup_of` says."""

    @property
    def never_waits(self) -> bool:
        """Whether an answer is there at once, or never: nothing else is asked."""
        return self.mode == "replay"

    async def answer(self, request: Request) -> Response:
        """Return the recorded reply, or ask and keep it.

        Raises:
            UnscoredError: In replay, when nothing is recorded (cause recording);
                otherwise what the model behind raises.
        """
        asked = self.shelf.clean(self.inner.identity(request))
        key = request.key or request_key(asked, request.sample)
        request.trail.key, request.trail.setup = key, self.setup
        if (answer := self.shelf.answered(key)) is not None:
            return answer.given(request.prompt)
        known = self._known(key)
        if known is None and self.mode == "replay":
            raise UnscoredError(self.shelf.miss(asked), cause="recording")
        if known is not None:
            if self._writes:
                self.shelf.keep(known.entry, known.path)
            return known.entry.replayed(request.prompt)
        request = replace(request, key=key)
        if not self._writes:
            return await self.inner.answer(request)
        self.shelf.check()
        response = await self.inner.answer(request)
        mine = Entry.of(asked, request.sample, response)
        kept = self.shelf.keep(mine)
        return response if kept is mine else kept.replayed(request.prompt)

    def _known(self, key: str) -> Filed | None:
        """Return the reply that the mode lets a request have without asking."""
        known = None
        if self.mode == "replay" or (
            self.is_stable and self.mode in {"auto", "record"}
        ):
            known = self.shelf.find(key)
        if known is None and self._writes:
            known = self.shelf.kept(key)
        return known

    @property
    def _writes(self) -> bool:
        return self.mode in {"record", "rerecord"}


def setup_of(backend: Backend, shelf: Shelf) -> str:
    """Return the fingerprint of a model's settings, whatever it is asked.

    Empty where they are not known without a question.
    """
    try:
        asked = backend.identity(Request(prompt=Prompt(messages=())))
    except LLMEvalError:
        return ""
    return fingerprint(shelf.clean(asked))
