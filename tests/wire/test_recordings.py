"""What is recorded replays byte for byte, matches its request alone, and holds no key."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Real, Seen

KEY = "sk-test-51-0123456789abcdef"

TEST = """
import pytest

@pytest.mark.llmeval("rows.jsonl")
def test_rows(case, generator, llmeval):
    llmeval.score("length", len(generator(case).text))
"""

ROWS = [
    {"id": "rivers", "input": "List 3 rivers."},
    {"id": "odd", "input": "Nenne Städte: 東京 🎉 \u2028 \x1f"},
    {"id": "long", "input": "word " * 50},
]


def entry(base_url: str, **rest: Any) -> str:
    params = {"temperature": 0, "seed": 1, "max_tokens": 12}
    lab = {
        "provider": "openai",
        "base_url": base_url,
        "model": "smollm2",
        "params": params,
        "on_length": "score",
        **rest,
    }
    return f"generator: lab\nmodels:\n  lab: {json.dumps(lab)}\n"


def texts(data: dict[str, Any]) -> dict[str, bytes]:
    """Return what each case was answered, as bytes."""
    return {
        case["case_id"]: case["samples"][0]["response"].encode()
        for case in data["cases"]
    }


def origins(data: dict[str, Any]) -> set[str]:
    return {case["samples"][0]["origin"] for case in data["cases"]}


def check_replay(suite: Suite) -> None:
    """Record, replay and record again: the same bytes."""
    result, live = suite.report("--llmeval-mode=record")
    result.assert_outcomes(passed=len(ROWS))
    assert origins(live) == {"live"}
    file = suite.path / "llmeval_recordings" / "test_a.jsonl"
    before = file.read_bytes()

    _, replayed = suite.report("--llmeval-mode=replay")
    _, cached = suite.report("-k", "test_rows")
    suite.run("--llmeval-mode=rerecord").assert_outcomes(passed=len(ROWS))

    assert origins(replayed) == {"recording"}
    assert texts(replayed) == texts(cached) == texts(live)
    assert all(texts(live).values())
    assert file.read_bytes() == before
    file.unlink()
    _, from_cache = suite.report()
    assert origins(from_cache) == {"cache"}
    assert texts(from_cache) == texts(live)


def test_a_real_models_answers_replay_byte_for_byte(
    suite: Suite, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)
    suite.write(llmeval_yaml=entry(real.base_url, api_key_env="REAL_KEY"), test_a=TEST)
    suite.rows("rows.jsonl", ROWS)

    check_replay(suite)


def test_answers_of_any_characters_replay_byte_for_byte(
    suite: Suite, server: FaultServer
) -> None:
    def odd(seen: Seen) -> Any:
        asked = seen.data["messages"][-1]["content"]
        text = f"\ufeff {asked} \x00\x1b[31m \u2028\u2029\x85 é e\u0301 👩‍👩‍👧\r\n\t"
        message = {"content": text, "reasoning_content": "hm\r\n"}
        usage = {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            # Of the hour: not a byte of the recording may hang on it.
            "prompt_tokens_details": {"cached_tokens": len(server.seen)},
        }
        return {"choices": [{"message": message}], "usage": usage, "id": str(seen)}

    server.rule(odd)
    suite.write(llmeval_yaml=entry(server.base_url), test_a=TEST)
    suite.rows("rows.jsonl", ROWS)

    check_replay(suite)


# --- matching ------------------------------------------------------------------------


def test_a_recording_answers_its_own_prompt_alone(
    suite: Suite, server: FaultServer
) -> None:
    suite.write(llmeval_yaml=entry(server.base_url), test_a=TEST)
    suite.rows("rows.jsonl", [ROWS[0]])
    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    suite.rows("rows.jsonl", [{"id": "rivers", "input": "List 4 rivers."}])

    result, data = suite.report("--llmeval-mode=replay")

    assert data["totals"]["unscored"] == 1
    assert data["cases"][0]["cause"] == "recording"
    result.stdout.fnmatch_lines(["*recorded 'List 3 rivers.', asked 'List 4 rivers.'"])
    assert len(server.seen) == 1


def test_a_request_with_its_keys_in_another_order_is_the_same(
    suite: Suite, server: FaultServer
) -> None:
    suite.rows("rows.jsonl", [ROWS[0]])
    suite.write(llmeval_yaml=entry(server.base_url), test_a=TEST)
    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    file = suite.path / "llmeval_recordings" / "test_a.jsonl"
    line = json.loads(file.read_text("utf-8"))
    turned = {
        **line,
        "request": dict(reversed(line["request"].items())),
        "key": "of another version",
    }
    file.write_text(json.dumps(turned) + "\n", "utf-8")
    params = {"max_tokens": 12.0, "seed": 1, "temperature": 0.0}
    suite.write(llmeval_yaml=entry(server.base_url, params=params))

    suite.run("--llmeval-mode=replay").assert_outcomes(passed=1)

    assert len(server.seen) == 1


# --- keys ----------------------------------------------------------------------------


def places(suite: Suite, key: str) -> list[str]:
    """Return the files of the project in which a key stands, encoded or not."""
    found = []
    for path in suite.path.rglob("*"):
        if path.is_file() and any(key.encode() in x for x in readings(path)):
            found.append(path.relative_to(suite.path).as_posix())
    return sorted(found)


def readings(path: Path) -> list[bytes]:
    """Return a file's bytes, and what is base64 or compressed in them."""
    data = path.read_bytes()
    coded = re.findall(rb"[A-Za-z0-9+/_-]{16,}", data)
    parts = [text[start:] for text in coded for start in range(4)]
    whole = [part[: len(part) // 4 * 4] for part in parts]
    decoded = [b64decode(part, altchars=b"-_") for part in whole]
    unzipped = []
    for one in [data, *decoded]:
        for match in re.finditer(b"\x1f\x8b\x08", one):
            unzipped.append(gzip.decompress(one[match.start() :]))
    return [data, *decoded, *unzipped]


def leaks_everywhere(seen: Seen) -> Any:
    asked = seen.data["messages"][-1]["content"]
    sent = [seen.headers.get("authorization"), seen.headers.get("x-api-key")]
    message = {"content": f"{asked}: {sent} {seen.target}", "refusal": None}
    return {"model": KEY, "choices": [{"message": message}]}


@pytest.mark.parametrize(
    "sent_in",
    [
        {"api_key_env": "LAB_KEY"},
        {"headers": {"x-api-key": "${LAB_KEY}"}},
        {"query": "?key=${LAB_KEY}"},
        {"query": f"?key={KEY}"},
    ],
)
def test_a_key_stands_in_no_file_after_recording_anew_and_dropping(
    suite: Suite,
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    sent_in: dict[str, Any],
) -> None:
    headers = (("content-type", "application/json"), ("set-cookie", f"s={KEY}"))
    server.rule(lambda seen: server.answer(leaks_everywhere(seen), headers=headers))
    monkeypatch.setenv("LAB_KEY", KEY)
    address = server.base_url + sent_in.pop("query", "")
    suite.write(llmeval_yaml=entry(address, **sent_in), test_a=TEST)
    own = ["llmeval.yaml"] if KEY in address else []
    mine = [{"id": "mine", "input": f"My key is {KEY}"}]
    # A dataset may hold a key of the user's own: that is not ours to change.
    suite.rows("rows.jsonl", [*ROWS, *mine])
    own.append("rows.jsonl")

    suite.run("--llmeval-mode=record").assert_outcomes(passed=4)
    assert places(suite, KEY) == own
    suite.rows("rows.jsonl", [ROWS[0], {"id": "new", "input": "new"}, *mine])
    suite.run("--llmeval-mode=record").assert_outcomes(passed=3)
    assert places(suite, KEY) == own
    suite.run("--llmeval-mode=rerecord").assert_outcomes(passed=3)
    assert places(suite, KEY) == own

    suite.rows("rows.jsonl", [ROWS[0], {"id": "new", "input": "new"}])
    suite.run("--llmeval-mode=record").assert_outcomes(passed=2)
    file = suite.path / "llmeval_recordings" / "test_a.jsonl"
    assert len(file.read_text("utf-8").splitlines()) == 2
    assert places(suite, KEY) == [name for name in own if name != "rows.jsonl"]

    asked = len(server.seen)
    if KEY not in address:
        monkeypatch.delenv("LAB_KEY")
    suite.run("--llmeval-mode=replay").assert_outcomes(passed=2)
    assert len(server.seen) == asked
    assert asked
