"""Runs against a server that went wrong elsewhere: rows of docs/faults.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.conftest import completion

if TYPE_CHECKING:
    from tests.conftest import Suite, Troubles
    from tests.wire.conftest import FaultServer, Seen

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="lab", prompt="ask {{ input }}")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""


@pytest.mark.parametrize("width", [1, 3, 6])
def test_each_reply_stands_at_its_own_case_whenever_it_came(
    suite: Suite, server: FaultServer, troubles: Troubles, width: int
) -> None:
    names = troubles.input(73)["cases"]
    rows = [{"id": name, "input": name, "expected": f"ask {name}"} for name in names]
    suite.rows("rows.jsonl", rows)
    entry = f"{{provider: openai, base_url: '{server.base_url}', model: m}}"
    limits = f"{{retries: 0, concurrency: {width}}}"
    suite.write(
        llmeval_yaml=f"limits: {limits}\nmodels:\n  lab: {entry}\n", test_it=TEST
    )

    def echo(seen: Seen) -> Any:
        asked = seen.data["messages"][-1]["content"]
        place = names.index(asked.split()[1])
        # Of those that are asked at once the last one is answered first.
        turn = place - place % width + (width - 1 - place % width)
        if place == 2:
            return server.answer(b"down", status=500, turn=turn)
        return server.answer(completion(asked), turn=turn)

    server.rule(echo)

    _, report = suite.report(f"--llmeval-concurrency={width}")

    assert [case["case_id"] for case in report["cases"]] == names
    replies = [case["samples"][0]["response"] for case in report["cases"]]
    assert replies == [
        None if n == 2 else f"ask {name}" for n, name in enumerate(names)
    ]
    assert [case["status"] for case in report["cases"]] == [
        "unscored" if n == 2 else "passed" for n in range(6)
    ]
