"""``local:``: one server a run, ended with it; what is missing is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Clients, Owner, Request
from pytest_llmeval.clients._launch import Launch
from pytest_llmeval.clients.local import LocalBackend
from pytest_llmeval.clients.models import MODELS
from pytest_llmeval.config import Config, Limits
from pytest_llmeval.errors import ConfigError, ProviderError
from pytest_llmeval.types import Prompt

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import json
import os
from pathlib import Path
import pytest

HERE = Path(__file__).parent

@pytest.mark.parametrize("n", range(4))
def test_a(n, llm_client):
    client = llm_client("local:smollm2")
    params = {"max_tokens": 40, "temperature": 0, "seed": 1, "stop": ["."]}
    assert client("Say hello.", params=params).text
    notes = [(p.name, p.stat().st_mode) for p in (HERE / ".llmeval").glob("local-*.json")]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    (HERE / f"seen-{n}-{worker}").write_text(json.dumps(notes))
"""


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait until something has come to be in other processes."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def servers(home: Path) -> list[int]:
    """Return the server processes of a suite."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            state = (process / "stat").read_text("utf-8").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"pytest_llmeval.clients.serve" in command and str(home).encode() in command:
            found += [int(process.name)] if state != "Z" else []
    return found


def seen_by(suite: Suite) -> dict[str, Any]:
    return {p.name: json.loads(p.read_text()) for p in suite.path.glob("seen-*")}


on_linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are counted in /proc"
)


# --- one server a run ----------------------------------------------------------------


@on_linux
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_a_run_has_one_server_and_leaves_nothing_of_it(
    suite: Suite, cache: Path, workers: list[str]
) -> None:
    suite.write(test_a=TEST)

    result = suite.run_alone("-W", "error", *workers)

    result.assert_outcomes(passed=4)
    seen = seen_by(suite)
    assert len(seen) == 4
    if workers:
        assert {name.rpartition("-")[2] for name in seen} == {"gw0", "gw1"}
    notes = {tuple(note) for found in seen.values() for note in found}
    assert len({name for name, _ in notes}) == 1
    assert {stat.S_IMODE(mode) for _, mode in notes} == {0o600}
    home = suite.path / ".llmeval"
    eventually(lambda: not servers(home), "the server ends")
    assert not list(home.glob("local-*"))
    assert result.errlines == []


@on_linux
def test_the_server_ends_when_pytest_is_killed(suite: Suite, cache: Path) -> None:
    suite.write(
        test_a=TEST + "    (HERE / 'asked').touch()\n    import time; time.sleep(100)\n"
    )
    home = suite.path / ".llmeval"
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=suite.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A process that is killed leaves half a file of coverage data.
        env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")},
    )
    with run:
        eventually((suite.path / "asked").exists, "the model is asked")
        assert len(servers(home)) == 1
        run.send_signal(signal.SIGKILL)
        run.wait()

    eventually(lambda: not servers(home), "the server ends")
    eventually(lambda: not list(home.glob("local-*.json")), "its note goes")


def test_what_killed_runs_have_left_is_removed_by_the_next(
    suite: Suite, cache: Path
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    home = suite.path / ".llmeval"
    home.mkdir()
    names = [f"local-{gone.pid}-abc-smollm2.{x}" for x in ("json", "lock", "part")]
    for name in names:
        (home / name).touch()
    mine = home / f"local-{os.getpid()}-other-smollm2.lock"
    mine.touch()
    suite.write(test_a=TEST)

    suite.run("-k", "test_a and 0").assert_outcomes(passed=1)

    assert list(home.glob("local-*")) == [mine]


def test_questions_at_once_start_one_server(cache: Path, tmp_path: Path) -> None:
    backend = local(tmp_path)

    async def two() -> int:
        clients = await asyncio.gather(backend._started(), backend._started())
        await backend.close()
        return len(set(map(id, clients)))

    assert asyncio.run(two()) == 1


# --- what is missing -----------------------------------------------------------------


def local(
    root: Path, owner: Owner | None = None, config: Config | None = None
) -> LocalBackend:
    clients = Clients(config or Config(), root, "live", owner)
    backend: Any = clients.backend("local:smollm2")
    while not isinstance(backend, LocalBackend):
        backend = backend.inner
    return backend


def error_of(backend: LocalBackend) -> ProviderError:
    async def ask() -> None:
        try:
            await backend.answer(Request(prompt=Prompt.of("hi")))
        finally:
            await backend.close()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(ask())
    return caught.value


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for weights in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pytest-llmeval" / "models"


@pytest.fixture
def bad_weights(models: Path) -> Path:
    models.mkdir(parents=True)
    path = models / MODELS["smollm2"].file
    path.write_bytes(b"GGUF" + b"\0" * 100)
    return path


def test_an_unknown_model_is_told_when_it_is_built(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="no embedded model 'smollm' .did you mean 's"
    ):
        Clients(Config(), tmp_path, "live").backend("local:smollm")


def test_a_missing_extra_names_the_command(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    assert "needs the extra local: pip install 'pytest-llm-regression[local]'" in (
        error_of(local(tmp_path)).reason
    )


def test_missing_weights_name_the_command(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", json)  # any module that is there

    reason = error_of(local(tmp_path)).reason

    assert f"the weights are not here ({models}" in reason
    assert "get them: python -m pytest_llmeval model smollm2" in reason


def test_a_server_that_does_not_start_is_told(
    tmp_path: Path, bad_weights: Path
) -> None:
    pytest.importorskip("xllamacpp", reason="the extra local is not installed")

    reason = error_of(local(tmp_path)).reason

    assert "the server did not start: " in reason
    assert f"are the weights whole ({bad_weights})?" in reason
    assert not list((tmp_path / ".llmeval").glob("local-*"))


def test_what_failed_for_one_process_of_a_run_has_failed_for_all(
    tmp_path: Path, models: Path
) -> None:
    owner = Owner(run="r", process=os.getppid())  # another one: nothing is cleared up
    first = error_of(local(tmp_path, owner)).reason
    models.mkdir(parents=True)
    (models / MODELS["smollm2"].file).touch()

    assert error_of(local(tmp_path, owner)).reason == first


def test_a_home_that_can_not_be_made_is_told(tmp_path: Path, models: Path) -> None:
    (tmp_path / ".llmeval").write_text("in the way", encoding="utf-8")

    assert "local:smollm2: the server can't be started: " in (
        error_of(local(tmp_path)).reason
    )


def test_a_server_that_is_never_ready_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_llmeval.clients._launch._START_SECONDS", 0.01)
    owner = Owner(run="r", process=os.getppid())
    launch = Launch(name="local", model="smollm2", home=tmp_path, owner=owner)
    (tmp_path / f"local-{owner.process}-r-smollm2.lock").touch()

    with pytest.raises(ProviderError, match="its server was not ready within 0.01 s"):
        launch.address()


def test_the_limits_reach_the_client(tmp_path: Path) -> None:
    config = Config(limits=Limits(concurrency=3, timeout_seconds=7))

    client = local(tmp_path, config=config)._client_of("http://127.0.0.1:1", "k")

    assert (
        client.inner.server.wire.width,
        client.inner.server.wire.timeout_seconds,
    ) == (3, 7)
    assert not client.inner.server.wire.uses_proxy
