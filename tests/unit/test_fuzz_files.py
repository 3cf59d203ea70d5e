"""Files and replies from anywhere: each is read, or refused with an error of ours.

What can be read can also be used: reported, compared, written again, rendered, run. What is
held of each kind stands in ``tests/fuzz/``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.damage import changed_json, damaged, fuzz
from tests.fuzz.left import LEFT
from tests.fuzz.servers import SERVERS, ServerKind
from tests.fuzz.written import WRITTEN

pytestmark = [
    # Of Hypothesis, about its own messages: files may be long.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
    pytest.mark.filterwarnings("ignore::pytest_llmeval.EvaluationWarning"),
]

KINDS = {**WRITTEN, **LEFT}
#: A command takes as long as tens of readings.
EXAMPLES = {name: 20 if "command" in name or "map" in name else 70 for name in KINDS}


@pytest.mark.parametrize("name", KINDS)
def test_good_files_are_used(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    kind.lay(tmp_path)
    (tmp_path / kind.name).write_bytes(kind.seeds[0])

    kind.use(tmp_path / kind.name)


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    kind.lay(tmp_path)

    @fuzz(EXAMPLES[name])
    @given(damaged(kind.seeds))
    def check(data: bytes) -> None:
        kind.hold(tmp_path, data)

    check()


@pytest.mark.parametrize("name", [n for n, kind in KINDS.items() if kind.values()])
def test_any_values_in_a_file_are_read_or_refused(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    kind.lay(tmp_path)

    @fuzz(EXAMPLES[name])
    @given(changed_json(kind.values()))
    def check(value: Any) -> None:
        kind.hold(tmp_path, kind.as_file(value))

    check()


STATUS = st.sampled_from([200, 200, 200, 201, 302, 400, 401, 404, 429, 500, 503])
EACH_SERVER = pytest.mark.parametrize("server", SERVERS.values(), ids=list(SERVERS))


@EACH_SERVER
def test_a_damaged_reply_of_a_server_is_read_or_refused(server: ServerKind) -> None:
    @fuzz(50)
    @given(damaged(server.seeds), STATUS)
    def check(body: bytes, status: int) -> None:
        server.hold(body, status)

    check()


@EACH_SERVER
def test_any_values_in_a_reply_of_a_server_are_read_or_refused(
    server: ServerKind,
) -> None:
    @fuzz(50)
    @given(changed_json(server.values()), STATUS)
    def check(value: Any, status: int) -> None:
        server.hold(server.as_body(value), status)

    check()
