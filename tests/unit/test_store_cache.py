"""The cache's file: what is found, what is dropped, what is set aside."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.store.cache import Cache, Reply
from pytest_llmeval.store.cachefile import DamagedError
from pytest_llmeval.store.safecache import SafeCache

KEY = "0123456789abcdef" * 2
DAY = 86_400


def reply(key: str = KEY, text: str = "fine", **rest: Any) -> Reply:
    data = {"text": text, "provider": "openai"}
    return Reply(key=key, response=data, model="openai:m", **rest)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[Cache]:
    cache = Cache.open(path)
    yield cache
    cache.close()


def change(path: Path, statement: str, *values: Any) -> None:
    """Change the file as nobody of ours does."""
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


# --- replies -------------------------------------------------------------------------


def test_a_reply_is_found_again_also_by_another_process(
    cache: Cache, path: Path
) -> None:
    assert cache.find(KEY) is None

    cache.put([reply(text="Ünï 🎉\n\u2028")])

    other = Cache.open(path)
    assert other.find(KEY) == cache.find(KEY)
    assert (cache.find(KEY) or {})["text"] == "Ünï 🎉\n\u2028"
    other.close()


def test_the_last_reply_counts(cache: Cache) -> None:
    cache.put([reply(text="old"), reply(text="new")])

    assert (cache.find(KEY) or {})["text"] == "new"
    assert cache.totals().replies == 1


def test_a_reply_is_too_old_or_of_another_run(cache: Cache) -> None:
    cache.put([reply(run="run 1")])

    assert cache.find(KEY, since=time.time() - 60) is not None
    assert cache.find(KEY, since=time.time() + 60) is None
    assert cache.find(KEY, run="run 1") is not None
    assert cache.find(KEY, run="run 2") is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        "null",
        '{"text": 3}',
        '{"provider": "x"}',
        '{"text": "a", "z": 1}',
    ],
)
def test_a_row_that_holds_no_reply_is_none(cache: Cache, path: Path, text: str) -> None:
    cache.put([reply()])
    change(path, "UPDATE replies SET response = ?", text)

    assert cache.find(KEY) is None


def test_a_row_with_broken_bytes_is_none_and_spoils_no_other(
    path: Path, cache: Cache
) -> None:
    cache.put([reply(), reply("a" * 32)])
    change(
        path,
        "UPDATE replies SET response = CAST(x'7bfffe' AS TEXT), "
        "run = CAST(x'ff' AS TEXT), made = 'x' WHERE key = ?",
        KEY,
    )

    assert cache.find(KEY) is None
    assert cache.find(KEY, since=1.0, run="run 1") is None
    assert cache.find("a" * 32) is not None


def test_what_is_written_together_is_kept_together_or_not_at_all(cache: Cache) -> None:
    cache.put([reply()])
    broken = Reply(key="b" * 32, response={}, model=b"", run=None)  # type: ignore[arg-type]

    with pytest.raises(sqlite3.IntegrityError):
        cache.put([reply("a" * 32), broken])

    assert cache.find("a" * 32) is None
    cache.put([reply("c" * 32)])
    assert cache.totals().replies == 2


# --- pruning -------------------------------------------------------------------------


def keys(cache: Cache) -> set[str]:
    return {key for key in (letter * 32 for letter in "abcd") if cache.find(key)}


def aged(path: Path, cache: Cache) -> None:
    """Keep four replies of 152 bytes each, made and last used 4, 3, 2, 1 days ago."""
    cache.put(reply(letter * 32, text="ü" * 41) for letter in "abcd")
    for days, letter in zip((4, 3, 2, 1), "abcd", strict=True):
        change(
            path,
            "UPDATE replies SET made = made - ?1, used = used - ?1 WHERE key = ?2",
            *(days * DAY, letter * 32),
        )


def test_old_replies_are_dropped(path: Path, cache: Cache) -> None:
    aged(path, cache)

    dropped = cache.prune(made_before=time.time() - 2.5 * DAY, to_bytes=None)

    assert dropped == 2
    assert keys(cache) == {"c" * 32, "d" * 32}


def test_what_was_used_longest_ago_is_dropped_until_the_rest_is_small(
    path: Path, cache: Cache
) -> None:
    aged(path, cache)
    cache.find("a" * 32)
    cache.note_use()
    total = cache.totals().bytes

    dropped = cache.prune(made_before=None, to_bytes=total // 2)

    assert dropped == 2
    assert keys(cache) == {"a" * 32, "d" * 32}


def test_the_file_becomes_smaller(path: Path, cache: Cache) -> None:
    cache.put(reply(f"{n:032x}", text="x" * 1000) for n in range(1000))

    cache.prune(made_before=None, to_bytes=-1)

    assert path.stat().st_size < 50_000


def test_totals(path: Path, cache: Cache) -> None:
    cache.put([reply(), Reply(key="a" * 32, response={"text": "é"}, model="local:s")])
    cache.put([reply("b" * 32)])

    totals = cache.totals()

    assert totals.replies == 3
    assert totals.models == (("openai:m", 2), ("local:s", 1))
    assert totals.bytes == 3 * 32 + 2 * 38 + 14
    assert totals.oldest is not None
    assert totals.newest is not None
    assert time.time() - 60 < totals.oldest <= totals.newest <= time.time()


# --- files that are no cache ---------------------------------------------------------


def make_text(path: Path) -> None:
    path.write_text("no database at all, but long enough to be read as one\n" * 20)


def make_foreign(path: Path) -> None:
    change(path, "CREATE TABLE replies (key, response, model, run, made, used)")


def make_newer(path: Path) -> None:
    Cache.open(path).close()
    change(path, "PRAGMA user_version = 99")


def make_partial(path: Path) -> None:
    Cache.open(path).close()
    change(path, "ALTER TABLE replies DROP COLUMN made")


def make_cut(path: Path) -> None:
    cache = Cache.open(path)
    cache.put(reply(f"{n:032x}", text="x" * 1000) for n in range(200))
    cache.close()
    path.write_bytes(path.read_bytes()[:60_000])


KINDS = {
    "text": (make_text, "file is not a database"),
    "foreign": (make_foreign, "it is the database of something else"),
    "newer": (make_newer, "it has format 99, and this version reads 1"),
    "partial": (make_partial, "its table is not whole"),
    "cut": (make_cut, "malformed"),
}


@pytest.mark.parametrize("kind", ["text", "foreign", "newer", "partial"])
def test_another_file_is_not_touched(path: Path, kind: str) -> None:
    make, reason = KINDS[kind]
    make(path)
    before = path.read_bytes()

    with pytest.raises(DamagedError, match=reason):
        Cache.open(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_another_file_is_set_aside_with_a_line_and_a_new_one_begun(
    path: Path, kind: str
) -> None:
    make, reason = KINDS[kind]
    make(path)
    before = path.read_bytes()
    cache = SafeCache(path.parent)

    # The second half of a file that was cut off is missed only when it is read.
    for n in range(200):
        cache.find(f"{n:032x}")
    cache.put([reply("f" * 32)])
    assert cache.find("f" * 32) is not None
    cache.close()

    (aside,) = path.parent.glob("cache.damaged-*.sqlite")
    assert aside.read_bytes() == before
    (note,) = cache.notes
    assert note.startswith(f"the cache {path.parent.name}/cache.sqlite was unusable (")
    assert reason in note
    assert note.endswith(f": it is now {aside.name}, and a new one begun")
    assert (Cache.open(path).find("f" * 32) or {})["text"] == "fine"


def test_an_empty_file_becomes_a_cache(path: Path) -> None:
    path.touch()
    cache = SafeCache(path.parent)

    cache.put([reply()])

    assert cache.find(KEY) is not None
    assert cache.notes == []


# --- trouble -------------------------------------------------------------------------


def test_a_folder_that_can_not_be_made_costs_a_line(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    cache = SafeCache(tmp_path / "home")

    cache.put([reply()])

    assert cache.find(KEY) is None
    assert cache.take(KEY)
    cache.close()
    (note,) = cache.notes
    assert note.startswith("the cache home/cache.sqlite can't be used (")
    assert note.endswith("): everything is asked, nothing is kept")


def test_a_cache_that_can_not_be_written_is_read(path: Path) -> None:
    writer = Cache.open(path)
    writer.put([reply()])
    writer.close()
    path.with_name("cache.lock").mkdir()  # as good as a folder that is read-only
    cache = SafeCache(path.parent)

    found = cache.find(KEY)
    cache.put([reply("a" * 32)])

    assert (found or {})["text"] == "fine"
    assert cache.find("a" * 32) is None
    (note,) = cache.notes
    assert "can't be written (" in note
    assert note.endswith("): it is read, and nothing new is kept")


def test_a_full_disk_costs_a_line(path: Path) -> None:
    cache = SafeCache(path.parent)
    cache.put([reply()])
    opened = cache._opened()
    assert opened is not None
    opened._connection.execute("PRAGMA max_page_count = 1")

    for n in range(50):
        cache.put([reply(f"{n:032x}", text="x" * 10_000)])

    assert cache.find(KEY) is not None
    (note,) = cache.notes
    assert "can't be written (database or disk is full)" in note


def test_a_closed_cache_opens_again(path: Path) -> None:
    cache = SafeCache(path.parent)
    cache.put([reply()])
    cache.close()

    assert cache.find(KEY) is not None
    cache.close()
    cache.close()


def test_the_folder_is_nobodys_to_commit(tmp_path: Path) -> None:
    cache = SafeCache(tmp_path / ".llmeval")

    cache.put([reply()])

    ignored = (tmp_path / ".llmeval" / ".gitignore").read_text("utf-8")
    assert "*\n" in ignored
