"""A server of our own that answers as it is told: any status, any body, any fault."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pytest

from pytest_llmeval.clients import Backend, Clients, Owner, Request
from pytest_llmeval.clients._launch import Launch
from pytest_llmeval.clients.models import fetch, weights_path
from pytest_llmeval.config import Config, Limits
from pytest_llmeval.errors import ConfigError, ProviderError
from pytest_llmeval.types import Prompt, Response

#: No test waits longer for what never comes.
PATIENCE_SECONDS = 60
#: Found before pytester gives its suites a home of their own.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server does with a request."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    is_held: bool = False
    """Nothing is sent before `FaultServer.release`."""
    cut_at: int | None = None
    """Only so many bytes of the body are sent, and the connection is closed."""
    is_dropped: bool = False
    """The connection is closed before the first byte."""
    turn: int | None = None
    """Nothing is sent before the answers of all lower turns, from 0, have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int
    at: float
    """When, in seconds of the server's clock."""

    @property
    def data(self) -> Any:
        return json.loads(self.body)


def completion(text: Any = "fine", *, finish: Any = "stop", **message: Any) -> Any:
    """Return the data of a chat completion."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "model": "m-test",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }


@dataclass(slots=True)
class FaultServer:
    """Listens on 127.0.0.1 in a thread of its own. Made by the `server` fixture."""

    tls: ssl.SSLContext | None = None
    greeting: bytes | None = None
    """Said to whoever connects, before the connection is closed."""
    seconds: float = 0.0
    """How long each request takes."""
    more_seconds: ClassVar[Callable[[], float]] = float
    """Returns how much longer one takes: 0.0 but in a storm (benchmarks/storm.py)."""
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    port: int = 0
    _queue: list[Answer] = field(default_factory=list)
    _rule: Callable[[Seen], Answer] | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _gate: asyncio.Event = field(default_factory=asyncio.Event)
    _turns: asyncio.Condition = field(default_factory=asyncio.Condition)
    _turn: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _thread: threading.Thread | None = None
    _server: asyncio.Server | None = None

    # --- what a test says ------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def will(self, data: Any = None, **how: Any) -> None:
        """Answer one further request so; `data` is sent as JSON, or as it is."""
        self._queue.append(self._answer(data, how))

    def always(self, data: Any = None, **how: Any) -> None:
        """Answer whatever `will` has not been told about so."""
        answer = self._answer(data, how)
        self._rule = lambda seen: answer

    def rule(self, rule: Callable[[Seen], Any]) -> None:
        """Answer with what a function makes of the request.

        Data, status and data, or an `Answer`.
        """

        def answer(seen: Seen) -> Answer:
            made = rule(seen)
            if isinstance(made, Answer):
                return made
            status, data = made if isinstance(made, tuple) else (200, made)
            return self._answer(data, {"status": status})

        self._rule = answer

    def answer(self, data: Any, **how: Any) -> Answer:
        """Return, for a rule, an answer that is more than its data."""
        return self._answer(data, how)

    @staticmethod
    def held() -> Answer:
        """Return, for a rule, what is not sent before `release`."""
        return Answer(is_held=True)

    def holds(self, part: bytes) -> None:
        """Hold the requests with a part in their body; answer the others as before."""
        rule = self._rule
        assert rule is not None
        self._rule = lambda seen: replace(rule(seen), is_held=part in seen.body)

    def drops_reused(self) -> None:
        """Let every connection die, once used, when the next request comes."""
        used: set[int] = set()

        def rule(seen: Seen) -> Answer:
            if seen.connection in used:
                return Answer(is_dropped=True)
            used.add(seen.connection)
            return Answer(body=seen.body)

        self._rule = rule

    def release(self) -> None:
        """Let all held requests go."""
        self._loop.call_soon_threadsafe(self._gate.set)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Block until something has come to be here."""
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_SECONDS)

    def wait_for_requests(self, count: int) -> None:
        """Block until so many requests have come."""
        self.wait_for(lambda: len(self.seen) >= count)

    def stop_listening(self) -> None:
        """Refuse every further connection."""

        async def close() -> None:
            await self._settle()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result(PATIENCE_SECONDS)
        self.hang_up()

    def hang_up(self) -> None:
        """Close every connection there is, and return when that is done."""
        done: Future[None] = Future()

        def close() -> None:
            for writer in list(self._writers):
                writer.transport.abort()
            # Behind what aborting has put into the loop.
            self._loop.call_soon(done.set_result, None)

        self._loop.call_soon_threadsafe(close)
        done.result(PATIENCE_SECONDS)

    @staticmethod
    def _answer(data: Any, how: dict[str, Any]) -> Answer:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        return replace(Answer(body=body), **how)

    # --- the server ------------------------------------------------------------------

    def start(self) -> None:
        ready = threading.Event()

        async def serve() -> None:
            server = await asyncio.start_server(
                self._connected, "127.0.0.1", 0, ssl=self.tls, backlog=512
            )
            self._server = server
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        def work() -> None:
            task = self._loop.create_task(serve())
            self._loop.run_forever()
            del task

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        async def close() -> None:
            await self._settle()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for writer in list(self._writers):
                writer.transport.abort()
            # Behind what aborting has put into the loop.
            await asyncio.sleep(0)
            self._loop.call_soon(self._loop.stop)

        asyncio.run_coroutine_threadsafe(close(), self._loop)
        assert self._thread is not None
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()

    async def _settle(self) -> None:
        """Close the port once no connection is half accepted.

        asyncio forgets a connection that it has accepted when its server is closed
        before it has a transport, or when what makes it one is cancelled: its socket
        would be left to the garbage collector, in the middle of another test.
        """
        assert self._server is not None
        for listening in self._server.sockets:
            self._loop.remove_reader(listening.fileno())
        mine = {asyncio.current_task()}
        for _ in range(3):
            await asyncio.sleep(0)
        while accepting := asyncio.all_tasks() - self._tasks - mine:
            for task in accepting:
                task.cancel()
            await asyncio.wait(accepting)
        self._server.close()

    def _note(self, change: Callable[[], None]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # Here, for a task that is cancelled before its first step notes nothing.
        self._writers.add(writer)
        self.connections += 1
        task = self._loop.create_task(self._serve(reader, writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        try:
            if self.greeting is not None:
                writer.write(self.greeting)
                await writer.drain()
                await reader.read(1)
                return
            while await self._one(reader, writer, number):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> bool:
        """Answer a request; return whether the connection stays open."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        seen = Seen(
            method=method,
            target=target,
            headers=headers,
            body=body,
            connection=number,
            at=self._loop.time(),
        )
        self._note(lambda: self._arrived(seen))
        try:
            return await self._respond(seen, writer)
        finally:
            self._note(self._left)

    def _arrived(self, seen: Seen) -> None:
        self.seen.append(seen)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def _left(self) -> None:
        self.in_flight -= 1

    async def _respond(self, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        answer = self._next(seen)
        if answer.is_held:
            await self._gate.wait()
        if answer.turn is not None:
            await self._take_turn(answer.turn)
        await asyncio.sleep(self.seconds + FaultServer.more_seconds())
        if answer.is_dropped:
            return False
        lines = [f"HTTP/1.1 {answer.status} Whatever"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        lines += [f"content-length: {len(answer.body)}", "", ""]
        writer.write("\r\n".join(lines).encode() + answer.body[: answer.cut_at])
        await writer.drain()
        return answer.cut_at is None

    async def _take_turn(self, turn: int) -> None:
        async with self._turns:
            await self._turns.wait_for(lambda: self._turn == turn)
            self._turn += 1
            self._turns.notify_all()

    def _next(self, seen: Seen) -> Answer:
        if self._queue:
            return self._queue.pop(0)
        assert self._rule is not None, f"nothing was said about {seen}"
        return self._rule(seen)


@contextmanager
def serving(server: FaultServer) -> Iterator[FaultServer]:
    server.start()
    server.always(completion())
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(FaultServer()) as server:
        yield server


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """An entry of a model at the fault server, asked without pytest."""

    server: FaultServer
    root: Path

    def backend(self, *, limits: Limits | None = None, **entry: Any) -> Backend:
        """Return a new backend of the entry."""
        config = Config(
            limits=limits or Limits(timeout_seconds=PATIENCE_SECONDS, retries=0)
        )
        given = {"base_url": self.server.base_url, "model": "m-test", **entry}
        clients = Clients(config, self.root, "live")
        return clients.backend({"provider": "openai", **given})

    def ask(self, text: str = "hi", *, params: Any = None, **entry: Any) -> Response:
        """Return the reply of a new backend, closed again."""
        return self.ask_all([text], params=params, **entry)[0]

    def ask_all(
        self, texts: list[str], *, params: Any = None, **entry: Any
    ) -> list[Response]:
        """Return the replies to several texts, asked at once."""
        prompts = [Prompt.of(text) for text in texts]
        return self._asked(prompts, params, entry)

    def ask_prompt(self, asked: Any, *, params: Any = None, **entry: Any) -> Response:
        """Return the reply to a text, or to messages in their JSON form."""
        is_text = isinstance(asked, str)
        prompt = Prompt.of(asked) if is_text else Prompt.from_json(asked)
        return self._asked([prompt], params, entry)[0]

    def _asked(self, prompts: list[Prompt], params: Any, entry: Any) -> list[Response]:
        backend = self.backend(**entry)

        async def answers() -> list[Response]:
            asked = (
                backend.answer(Request(prompt=prompt, params=params or {}))
                for prompt in prompts
            )
            try:
                return await asyncio.gather(*asked)
            finally:
                await backend.close()

        return asyncio.run(answers())

    def error(self, text: str = "hi", **entry: Any) -> ProviderError:
        """Return the error that asking ends in."""
        with pytest.raises(ProviderError) as caught:
            self.ask(text, **entry)
        return caught.value


@pytest.fixture
def lab(server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return Lab(server=server, root=tmp_path)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an authority of our own and a server's certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is not installed")
    folder = tmp_path_factory.mktemp("authority")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n", encoding="utf-8")
    new = "openssl req -newkey rsa:2048 -nodes -subj"
    for command in (
        f"{new} /CN=Lab -x509 -keyout ca.key -out ca.pem -days 2",
        f"{new} /CN=lab -keyout lab.key -out lab.csr",
        "openssl x509 -req -in lab.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
        "-out lab.pem -days 2 -extfile names",
    ):
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def tls_lab(lab: Lab, authority: Path) -> Iterator[Lab]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority / "lab.pem", authority / "lab.key")
    with serving(FaultServer(tls=context)) as server:
        yield replace(lab, server=server)


class Need(Protocol):
    """Skips a test whose server is missing, or fails it where all must run."""

    def __call__(self, what: str, *, is_there: bool, how: str) -> None: ...


@pytest.fixture(scope="session")
def need() -> Need:
    """Return what to call; LLMEVAL_PEERS=required is where all must run (.ci/run)."""

    def need(what: str, *, is_there: bool, how: str) -> None:
        message = f"{what} is not there: {how}"
        if not is_there and os.environ.get("LLMEVAL_PEERS") == "required":
            pytest.fail(message)
        if not is_there:
            pytest.skip(message)

    return need


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, need: Need) -> Path:
    """Return the user's cache with the embedded model's weights in it."""
    has_extra = find_spec("xllamacpp") is not None
    need("xllamacpp", is_there=has_extra, how="pip install -e '.[local]'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE))
    if not weights_path("smollm2").exists():
        try:
            fetch("smollm2")
        except ConfigError as exc:
            need("the embedded model's weights", is_there=False, how=str(exc))
    return CACHE


@pytest.fixture(scope="session")
def local_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launch]:
    """Return a real model's server; it is started when its address is asked for."""
    owner = Owner(run="tests", process=os.getpid())
    home = tmp_path_factory.mktemp("home")
    launch = Launch(name="local", model="smollm2", home=home, owner=owner)
    yield launch
    launch.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A real model's server."""

    base_url: str
    key: str


@pytest.fixture
def real(cache: Path, local_server: Launch) -> Real:
    address, key = local_server.address()
    return Real(base_url=f"{address}/v1", key=key)
