"""What a case was answered, kept so that it can run again without asking anybody.

JSON Lines in ASCII, a line a question, in their order. Unlike a recording it holds what
went wrong too: a case that could not be scored can be looked into as well.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pytest_llmeval.errors import UnscoredError, UserError
from pytest_llmeval.store.difference import difference, nearest, words
from pytest_llmeval.store.key import normal, request_key
from pytest_llmeval.store.lines import parse
from pytest_llmeval.store.replies import packed, unpacked
from pytest_llmeval.types import Prompt, Response, clean_json

__all__ = ["Answer", "Answers", "answers_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question and what came of it: a reply, or else an error and its cause."""

    request: Mapping[str, Any]
    sample: int
    response: Mapping[str, Any] | None
    error: str | None = None
    cause: str | None = None

    @classmethod
    def of(
        cls,
        request: Mapping[str, Any],
        sample: int,
        response: Response | None,
        problem: UnscoredError | None,
    ) -> Self:
        """Return what came of a question; a reply outweighs what is wrong with it."""
        is_error = response is None and problem is not None
        return cls(
            request=normal(request),
            sample=sample,
            response=None if response is None else packed(response),
            error=problem.reason if is_error and problem else None,
            cause=problem.cause if is_error and problem else None,
        )

    @property
    def key(self) -> str:
        """The key of the question."""
        return request_key(self.request, self.sample)

    def given(self, prompt: Prompt) -> Response:
        """Return the reply.

        Raises:
            UnscoredError: It was an error.
        """
        if self.response is None:
            raise UnscoredError(str(self.error), cause=str(self.cause))
        return unpacked(self.response, prompt, "recording")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        data = {
            "request": dict(self.request),
            "sample": self.sample,
            "response": self.response and dict(self.response),
            "error": clean_json(self.error),
            "cause": self.cause,
        }
        return {name: value for name, value in data.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`.

        Raises:
            KeyError: A part is missing.
            TypeError: A part is not what it should be.
        """
        request, sample = data["request"], data["sample"]
        if not (isinstance(request, dict) and isinstance(sample, int)):
            message = f"request is {request!r:.60}, sample is {sample!r:.60}"
            raise TypeError(message)
        answer = cls(
            request=request,
            sample=sample,
            response=data.get("response"),
            error=data.get("error"),
            cause=data.get("cause"),
        )
        if answer.response is None and answer.error is None:
            raise KeyError("response")
        return answer


class Answers:
    """The answers of a case, each given to who asks its question.

    A question that was asked several times is answered in turn, and then as it was last.

    Args:
        answers: In the order in which they came.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._all = list(answers)
        self._left: dict[str, deque[Answer]] = {}
        self._lock = threading.Lock()
        for answer in self._all:
            self._left.setdefault(answer.key, deque()).append(answer)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the answers of a file.

        Raises:
            UserError: It can't be read, or is no such file.
        """
        number = 0
        answers = []
        try:
            for line in path.read_bytes().splitlines():
                number += 1
                answer = Answer.from_json(parse(line))
                if answer.response is not None:
                    answer.given(Prompt(messages=()))
                answers.append(answer)
        except OSError as exc:
            message = f"can't read {str(path)!r}: {exc.strerror or exc}"
            raise UserError(message) from exc
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            message = f"{path}:{number}: no answer of a failure that was kept ({exc})"
            raise UserError(message) from exc
        return cls(answers)

    def find(self, key: str) -> Answer | None:
        """Return the next answer to a question, None when there is none."""
        left = self._left.get(key)
        if left is None:
            return None
        with self._lock:  # threads may ask at once, and one is always left
            return left.popleft() if len(left) > 1 else left[0]

    def difference(self, request: Mapping[str, Any]) -> list[str]:
        """Return what a question has that differs from the nearest one there is."""
        if not self._all:
            return []
        pairs = [(answer, words(answer.request)) for answer in self._all]
        return list(difference(request, nearest(request, pairs).request))


def answers_text(data: Iterable[Mapping[str, Any]]) -> str:
    """Return the lines of a file of answers, which any terminal can be shown."""
    return "".join(f"{json.dumps(clean_json(one), allow_nan=False)}\n" for one in data)
