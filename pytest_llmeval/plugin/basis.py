"""What the outcome of a case rests on, as fingerprints: row, prompt, models, code."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_llmeval.config import ModelEntry, parse_spec
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.recorder import CaseRun, Plan
from pytest_llmeval.store.key import fingerprint
from pytest_llmeval.types import Case, Fingerprints, Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.runtime import Runtime

__all__ = ["Basis", "changes_since", "row_print"]

#: What a test reads of a row by our names.
_MEANING: Final = (
    *("input", "expected", "context", "choices"),
    *("label", "labels", "better", "rejected"),
)
#: Columns about the row, and not what is asked.
_ABOUT: Final = frozenset({"id", "tags", "skip", "xfail", "must_pass"})
#: What of a model's entry says who answers, and how.
_ANSWERS: Final = (
    *("provider", "model", "base_url", "params", "on_length", "pass_", "reply"),
    "options",
)


class Basis:
    """Makes the fingerprints of cases; what many have in common is read once.

    Args:
        runtime: The session's shared parts.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._code: dict[Path, str] = {}
        # With the object beside it: an id is only unique while that lives.
        self._models: dict[Any, tuple[Any, str]] = {}
        self._templates: dict[int, tuple[Plan, str | None]] = {}

    def of(self, case: Case, plan: Plan, item: pytest.Item) -> Fingerprints:
        """Return the fingerprints of a case that an item runs."""
        return Fingerprints(
            row=row_print(case),
            columns={
                name: fingerprint(value)
                for name, value in case.fields.items()
                if name not in _ABOUT
            },
            template=self.of_templates(plan),
            is_numbered=case.is_numbered,
            must_pass=case.must_pass,
            code=self._of_code(item.path),
            generator=self._of_model(plan.generator),
            judge=self._of_model(plan.judge),
        )

    def of_templates(self, plan: Plan) -> str | None:
        """Return that of the templates of prompt and system message."""
        if id(plan) not in self._templates:
            self._templates[id(plan)] = (plan, _template_print(plan))
        return self._templates[id(plan)][1]

    def _of_code(self, path: Path) -> str:
        """Return that of a test's file, and of the conftest.py files it sees."""
        if path not in self._code:
            root = self._runtime.root
            folders = [f for f in path.parents if f.is_relative_to(root)]
            files = [path, *(folder / "conftest.py" for folder in folders)]
            self._code[path] = _of_files(files)
        return self._code[path]

    def _of_model(self, spec: Any) -> str | None:
        """Return that of a model, or of the code that stands for one."""
        if spec is None:
            return None
        key = spec if isinstance(spec, str) else id(spec)
        if key not in self._models:
            self._models[key] = (spec, fingerprint(list(self._parts(spec))))
        return self._models[key][1]

    def _parts(self, spec: Any) -> Iterator[Any]:
        if not isinstance(spec, str | Mapping):
            yield getattr(spec, "__qualname__", type(spec).__qualname__)
            yield _of_module(getattr(spec, "__module__", ""))
            return
        try:
            entry = parse_spec(spec, self._runtime.config)
        except ConfigError as exc:  # told where it is asked
            yield str(exc)
            return
        yield {name: getattr(entry, name) for name in _ANSWERS}
        yield self._of_script(entry)
        for member in entry.panel:
            yield self._of_model(member)

    def _of_script(self, entry: ModelEntry) -> str:
        """Return that of the file that answers, where one does."""
        if entry.provider == "python":
            return _of_module(entry.model.partition(":")[0])
        if entry.provider == "fake":
            return _of_files([self._runtime.root / entry.model])
        return ""


def row_print(case: Case) -> str:
    """Return the fingerprint of a row as a test reads it."""
    meaning = {name: getattr(case, name) for name in _MEANING}
    return fingerprint({k: v for k, v in meaning.items() if v is not None})


def _template_print(plan: Plan) -> str | None:
    templates = [
        template.text or template.name
        for template in (plan.prompt, plan.system)
        if template is not None
    ]
    return fingerprint(templates) if templates else None


def _of_module(name: str) -> str:
    file = getattr(sys.modules.get(name), "__file__", None)
    return _of_files([Path(file)]) if file else ""


def _of_files(paths: list[Path]) -> str:
    """Return the hash of files' contents; of a file that can't be read, of nothing."""
    found = hashlib.sha256()
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        found.update(b"%d\n%b" % (len(content), content))
    return found.hexdigest()[:12]


def changes_since(before: Record, now: CaseRun) -> Iterator[str]:
    """Yield what differs of what a case's outcome rests on, in words."""
    old, new = before.fingerprints, now.fingerprints
    roles = {call["role"] for sample in before.samples for call in sample["calls"]}
    if old.row != new.row or old.columns != new.columns:
        yield "row"
    if old.template != new.template:
        yield "prompt"
    if old.generator != new.generator and roles - {"judge"}:
        yield "generator"
    if old.judge != new.judge and "judge" in roles:
        yield "judge"
    if old.code != new.code:
        yield "test file"
    plan = now.plan
    if (before.repeat, before.min_sample_rate) != (plan.repeat, plan.min_sample_rate):
        yield "repeats"
