"""``python -m pytest_llmeval cache``."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_llmeval.cli import main
from pytest_llmeval.store.cache import Cache, Reply


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".llmeval" / "cache.sqlite"
    path.parent.mkdir()
    return path


@pytest.fixture
def filled(path: Path) -> Path:
    cache = Cache.open(path)
    for n, model in enumerate(["openai:m", "openai:m", "local:smollm2"]):
        data = {"text": "x" * 500_000}
        cache.put([Reply(key=f"{n:032x}", response=data, model=model)])
    cache.close()
    return path


def age(path: Path, days: float) -> None:
    connection = sqlite3.connect(path)
    connection.execute(
        "UPDATE replies SET made = made - ? WHERE id = 1", [days * 86400]
    )
    connection.commit()
    connection.close()


def test_info(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aside = filled.with_name("cache.damaged-2026-01-01T000000Z-abcd.sqlite")
    aside.touch()

    assert main(["cache", "info"]) == 0

    first, made, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(".llmeval/cache.sqlite: 3 replies, 1.5 MB (")
    assert first.endswith(" on disk)")
    assert made.startswith("made 20")
    assert rest == [
        "        2  openai:m",
        "        1  local:smollm2",
        f"set aside: .llmeval/{aside.name}",
    ]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["--older-than=7"], "dropped 1 reply, 2 left"),
        (["--older-than=8.5"], "dropped 0 replies, 3 left"),
        (["--to-size=600KB"], "dropped 2 replies, 1 left"),
        (["--to-size=1.1 mb"], "dropped 1 reply, 2 left"),
        (["--to-size=1GB"], "dropped 0 replies, 3 left"),
        (["--older-than=7", "--to-size=600KB"], "dropped 2 replies, 1 left"),
    ],
)
def test_prune(
    filled: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], output: str
) -> None:
    age(filled, days=8)

    assert main(["cache", "prune", *arguments]) == 0

    assert capsys.readouterr().out == f"{output}\n"


def test_prune_wants_a_measure(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "prune"]) == 2

    assert "--older-than=DAYS or --to-size=SIZE" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--older-than=-1", "--to-size=5", "--to-size=MB"])
def test_a_measure_that_is_none_is_refused(
    filled: Path, capsys: pytest.CaptureFixture[str], argument: str
) -> None:
    with pytest.raises(SystemExit):
        main(["cache", "prune", argument])

    assert f"not {argument.partition('=')[2]!r}" in capsys.readouterr().err


def test_clear(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for end in ("", "-wal"):
        filled.with_name(f"cache.damaged-1.sqlite{end}").touch()

    assert main(["cache", "clear"]) == 0

    assert capsys.readouterr().out == "dropped 3 replies\n"
    assert filled.stat().st_size < 50_000
    assert not list(filled.parent.glob("cache.damaged*"))


@pytest.mark.parametrize("action", ["info", "prune", "clear"])
def test_where_there_is_no_cache_none_is_made(
    path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    assert main(["cache", action]) == 0

    assert "there is no cache here (.llmeval/cache.sqlite)" in capsys.readouterr().out
    assert not path.exists()


def test_a_file_that_is_no_cache_is_left_alone(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text("something else " * 50)

    assert main(["cache", "clear"]) == 2

    assert (
        "can't be read as a cache (file is not a database)" in capsys.readouterr().err
    )
    assert path.read_text() == "something else " * 50


def test_a_cache_in_use_is_told(
    filled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_llmeval.store.cachefile._PATIENCE_SECONDS", 0.1)
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert main(["cache", "clear"]) == 2
    finally:
        other.close()

    assert "database is locked" in capsys.readouterr().err
