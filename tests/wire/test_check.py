"""``python -m pytest_llmeval check`` against a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.conftest import FaultServer


def test_where_a_server_stands_is_shown(
    server: FaultServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llmeval.yaml").write_text(
        f"models: {{lab: {{provider: openai, model: m-1, base_url: '{server.base_url}'}}}}\n"
    )
    server.always({"model": "m-1", "choices": [{"message": {"content": "OK"}}]})

    assert main(["check"]) == 0
    expected = f"lab: openai:m-1, at {server.base_url}, m-1 said 'OK'"
    assert expected in capsys.readouterr().out
