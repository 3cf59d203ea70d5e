"""The log of samples of YAML tasks: a file a task, in lm-evaluation-harness's form."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_llmeval.store.lines import strict_json

__all__ = ["SampleLog"]


class SampleLog:
    """Gathers the lines that reports carry, and writes them at the end."""

    def __init__(self) -> None:
        self._lines: dict[str, list[dict[str, Any]]] = {}

    def add(self, report: Any) -> None:
        """Keep the lines of a case; of one that was run again, the last."""
        if logged := getattr(report, "llmeval_logged", None):
            self._lines[report.nodeid] = logged

    def write(self, folder: Path, started: float) -> Iterator[str | OSError]:
        """Write a file a task, and yield a note about each, or what kept it from that.

        Args:
            folder: Where to.
            started: When the run began, seconds since 1970.
        """
        moment = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(started))
        tasks: dict[str, list[dict[str, Any]]] = {}
        for nodeid, lines in self._lines.items():
            tasks.setdefault(nodeid.partition("[")[0], []).extend(lines)
        for task, lines in tasks.items():
            name = re.sub(r"[^\w.-]", "_", task.partition("::")[2])
            path = folder / f"samples_{name}_{moment}.jsonl"
            lines.sort(key=lambda line: int(line["doc_id"]))
            try:
                path.write_text(
                    "".join(f"{strict_json(line)}\n" for line in lines), "utf-8"
                )
            except OSError as exc:
                yield exc
            else:
                yield f"samples written to {path}"
