"""Connections: one a slot, kept, replaced when they die, never too many, never lost."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from pytest_llmeval.clients._http import Wire
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab


def unsigned(request: httpx.Request) -> httpx.Request:
    return request


async def post(wire: Wire, server: FaultServer, body: Any = None) -> Any:
    reply = await wire.send("POST", f"{server.url}/x", body=body, sign=unsigned)
    return reply.data


def with_wire(
    use: Callable[[Wire], Awaitable[Any]],
    *,
    width: int = 10,
    run_loop: Callable[..., Any] = asyncio.run,
    **options: Any,
) -> Any:
    """Return what `use` returns; the wire is closed behind it."""
    wire = Wire(width=width, timeout_seconds=20, **options)

    async def run() -> Any:
        try:
            return await use(wire)
        finally:
            await wire.close()

    return run_loop(run())


def echo(server: FaultServer) -> None:
    server.rule(lambda seen: seen.data)


# --- slots ---------------------------------------------------------------------------


def test_a_connection_is_kept_for_the_next_request(server: FaultServer) -> None:
    async def use(wire: Wire) -> None:
        for _ in range(5):
            await post(wire, server)

    with_wire(use)

    assert (len(server.seen), server.connections) == (5, 1)


def test_never_more_in_flight_than_the_width(server: FaultServer) -> None:
    server.always({}, is_held=True)

    async def use(wire: Wire) -> None:
        waiting = asyncio.gather(*(post(wire, server) for _ in range(20)))
        await asyncio.to_thread(server.wait_for, lambda: server.in_flight == 4)
        server.release()
        await waiting

    with_wire(use, width=4)

    assert len(server.seen) == 20
    assert server.most_in_flight == 4
    assert server.connections == 4


def test_results_stand_in_the_order_of_the_questions(server: FaultServer) -> None:
    echo(server)

    async def use(wire: Wire) -> list[Any]:
        return await asyncio.gather(*(post(wire, server, n) for n in range(200)))

    assert with_wire(use, width=50) == list(range(200))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[ssl.SSLContext]:
    """The TLS contexts that were made with the environment's authorities."""
    found: list[ssl.SSLContext] = []
    create = httpx.create_ssl_context

    def counted() -> ssl.SSLContext:
        found.append(create())
        return found[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    return found


async def three(wire: Wire, server: FaultServer) -> None:
    """Ask three questions at the same time."""
    server.always({}, is_held=True)
    waiting = asyncio.gather(*(post(wire, server) for _ in range(3)))
    await asyncio.to_thread(server.wait_for, lambda: server.in_flight == 3)
    server.release()
    await waiting


def test_one_tls_context_serves_all_slots(
    tls_lab: Lab, authority: Path, made: list[ssl.SSLContext], monkeypatch: Any
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))

    with_wire(lambda wire: three(wire, tls_lab.server))

    assert len(made) == 1


def test_without_tls_no_context_is_made(
    server: FaultServer, made: list[ssl.SSLContext]
) -> None:
    with_wire(lambda wire: three(wire, server))

    assert made == []


def test_a_cancelled_request_leaves_its_slot(server: FaultServer) -> None:
    server.will(is_held=True)
    server.will(is_held=True)

    async def use(wire: Wire) -> Any:
        for count in (1, 2):
            task = asyncio.create_task(post(wire, server))
            await asyncio.to_thread(server.wait_for_requests, count)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        echo(server)
        return await post(wire, server, "next")

    assert with_wire(use, width=1) == "next"


def test_a_request_cancelled_while_it_waits_takes_no_slot(server: FaultServer) -> None:
    server.will({}, is_held=True)
    echo(server)

    async def use(wire: Wire) -> Any:
        first = asyncio.create_task(post(wire, server))
        await asyncio.to_thread(server.wait_for, lambda: server.in_flight == 1)
        second = asyncio.create_task(post(wire, server))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        server.release()
        await first
        return await post(wire, server, "next")

    assert with_wire(use, width=1) == "next"
    assert len(server.seen) == 2


def test_waiting_for_a_slot_is_no_part_of_the_deadline(server: FaultServer) -> None:
    server.will({}, is_held=True)
    echo(server)

    async def use(wire: Wire) -> Any:
        first = asyncio.create_task(post(wire, server))
        await asyncio.to_thread(server.wait_for, lambda: server.in_flight == 1)
        wire.deadline_seconds = 1.0
        second = asyncio.create_task(post(wire, server, "second"))
        await asyncio.sleep(1.1)
        server.release()
        await first
        return await second

    assert with_wire(use, width=1) == "second"


def test_a_closed_wire_can_be_used_in_another_loop(server: FaultServer) -> None:
    echo(server)
    wire = Wire()

    async def use() -> Any:
        answer = await post(wire, server, "again")
        await wire.close()
        return answer

    assert [asyncio.run(use()) for _ in range(2)] == ["again", "again"]


# --- connections that die ------------------------------------------------------------


def test_a_kept_connection_that_dies_is_replaced_at_once(server: FaultServer) -> None:
    server.drops_reused()

    async def use(wire: Wire) -> list[Any]:
        return [await post(wire, server, n) for n in range(3)]

    assert with_wire(use) == [0, 1, 2]
    assert (len(server.seen), server.connections) == (5, 3)


def test_it_is_replaced_once(server: FaultServer) -> None:
    server.will({})
    server.always(is_dropped=True)

    async def use(wire: Wire) -> None:
        await post(wire, server)
        await post(wire, server)

    with pytest.raises(ProviderError, match="closed the connection without a reply"):
        with_wire(use)
    assert len(server.seen) == 3


def test_a_new_connection_that_dies_is_not_asked_again(server: FaultServer) -> None:
    server.will({})
    server.always(is_dropped=True)

    async def use(wire: Wire) -> None:
        await post(wire, server)
        server.hang_up()
        await post(wire, server)

    with pytest.raises(ProviderError, match="closed the connection without a reply"):
        with_wire(use)
    assert len(server.seen) == 2


def test_a_reply_that_broke_off_is_not_asked_for_again(server: FaultServer) -> None:
    server.will({})
    server.always({"long": "x" * 100}, cut_at=10)

    async def use(wire: Wire) -> None:
        await post(wire, server)
        await post(wire, server)

    with pytest.raises(ProviderError, match="the reply broke off"):
        with_wire(use)
    assert len(server.seen) == 2


def test_cookies_are_not_kept(server: FaultServer) -> None:
    server.always({}, headers=(("set-cookie", "session=1"),))

    async def use(wire: Wire) -> None:
        await post(wire, server)
        await post(wire, server)

    with_wire(use)

    assert "cookie" not in server.seen[1].headers


def test_a_server_that_hung_up_between_two_requests_sees_the_second_once(
    server: FaultServer,
) -> None:
    server.always({})

    async def use(wire: Wire) -> None:
        await post(wire, server)
        server.hang_up()
        await post(wire, server)

    with_wire(use)

    assert (len(server.seen), server.connections) == (2, 2)


# --- what is long --------------------------------------------------------------------


@pytest.fixture(params=["asyncio", "uvloop"])
def run_loop(request: pytest.FixtureRequest) -> Any:
    """What runs a loop: ours is of the kind that a suite has set."""
    return pytest.importorskip(request.param).run


def test_long_bodies_arrive_whole(server: FaultServer, run_loop: Any) -> None:
    echo(server)
    long = "é" * 3_000_000

    async def use(wire: Wire) -> list[Any]:
        return await asyncio.gather(*(post(wire, server, long + c) for c in "abc"))

    assert with_wire(use, run_loop=run_loop) == [long + c for c in "abc"]


def test_long_bodies_arrive_whole_over_tls(
    tls_lab: Lab, authority: Path, run_loop: Any
) -> None:
    echo(tls_lab.server)
    long = "é" * 3_000_000
    trusted = str(authority / "ca.pem")

    async def use(wire: Wire) -> list[Any]:
        return [await post(wire, tls_lab.server, text) for text in (long, "short")]

    assert with_wire(use, run_loop=run_loop, ca_bundle=trusted) == [long, "short"]


def test_a_server_that_went_away_is_told_on_any_loop(run_loop: Any) -> None:
    async def use(wire: Wire) -> None:
        await wire.send("GET", "http://127.0.0.1:9", sign=unsigned)

    with pytest.raises(ProviderError, match="the connection was refused"):
        with_wire(use, run_loop=run_loop)


@pytest.mark.parametrize("size", [10, 20_000_000])
def test_a_server_that_takes_nothing_is_not_waited_for(size: int) -> None:
    async def use(wire: Wire) -> None:
        wire.timeout_seconds = 0.2
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        await wire.send("POST", address, body="x" * size, sign=unsigned)

    late = pytest.raises(ProviderError, match="no reply within 0.2 s")
    with socket.create_server(("127.0.0.1", 0)) as deaf, late:
        with_wire(use)


def test_a_refusal_before_the_body_was_read_is_read(server: FaultServer) -> None:
    server.greeting = (
        b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 5\r\n\r\nlarge"
    )

    async def use(wire: Wire) -> tuple[int, str]:
        reply = await wire.send("POST", server.url, body="x" * 9, sign=unsigned)
        return reply.status, reply.text

    assert with_wire(use) == (413, "large")


# --- names ---------------------------------------------------------------------------


def test_a_name_with_several_addresses_that_all_refuse_is_told(lab: Lab) -> None:
    reason = lab.error(base_url="http://localhost:9/v1").reason

    assert "the connection was refused, so nothing listens there" in reason


# --- proxies -------------------------------------------------------------------------


def test_an_http_proxy_of_the_environment_is_used(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)

    response = lab.ask(base_url="http://model.invalid/v1")

    assert response.text == "fine"
    assert server.seen[0].target == "http://model.invalid/v1/chat/completions"


def test_an_https_proxy_is_asked_for_a_tunnel_and_its_refusal_told(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", server.url.removeprefix("http://"))
    server.always(b"", status=407)

    error = lab.error(base_url="https://model.invalid/v1")

    assert server.seen[0].method == "CONNECT"
    assert server.seen[0].target == "model.invalid:443"
    assert "the proxy refused (407 " in error.reason
    assert "by the environment's proxy, host '127.0.0.1' (NO_PROXY by-p" in error.reason


def test_no_proxy_is_honoured(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "other.example,127.0.0.1")

    assert lab.ask().text == "fine"


def test_a_proxy_that_is_not_there_is_named_without_its_password(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://me:hunter2hunter2@127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    reason = lab.error(base_url="http://model.invalid/v1").reason

    assert "the connection was refused" in reason
    assert "it goes by the environment's proxy, host '127.0.0.1'" in reason
    assert "hunter2" not in reason


@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        ("socks5://127.0.0.1:1", "scheme 'socks5' .*; pip install 'httpx.socks.'"),
        ("gopher://127.0.0.1:1", "scheme 'gopher' that HTTPS_PROXY, HTTP_PROXY or"),
        ("http://127.0.0.1:port", "scheme 'http' that HTTPS_PROXY, HTTP_PROXY or"),
    ],
)
def test_a_proxy_that_can_not_be_used_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, proxy: str, message: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)

    with pytest.raises(ConfigError, match=message):
        lab.ask(base_url="http://model.invalid/v1")


# --- TLS -----------------------------------------------------------------------------


def test_an_untrusted_certificate_names_ca_bundle(tls_lab: Lab) -> None:
    error = tls_lab.error()

    assert "the server's certificate is not trusted (" in error.reason
    assert "give the model's entry ca_bundle: PATH, a PEM file" in error.reason


def test_an_authority_of_ones_own_is_trusted(tls_lab: Lab, authority: Path) -> None:
    shutil.copy(authority / "ca.pem", tls_lab.root / "corp.pem")

    assert tls_lab.ask(ca_bundle="corp.pem").text == "fine"


def test_another_authority_than_the_servers_is_named(
    tls_lab: Lab, authority: Path
) -> None:
    shutil.copy(authority / "lab.pem", tls_lab.root / "other.pem")

    reason = tls_lab.error(ca_bundle="other.pem").reason

    assert "it is not signed by an authority of ca_bundle " in reason
    assert "other.pem" in reason


def test_a_server_without_tls_is_told(lab: Lab, server: FaultServer) -> None:
    url = server.base_url.replace("http://", "https://")
    server.greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n"

    reason = lab.error(base_url=url).reason

    assert "no TLS with this server (" in reason
    assert "does it speak http:// alone?" in reason


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_ca_bundle_that_can_not_be_read_is_told(lab: Lab, text: str | None) -> None:
    if text is not None:
        (lab.root / "corp.pem").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match="ca_bundle '.*corp.pem' can't be used .*PEM"):
        lab.ask(ca_bundle="corp.pem")


def test_a_list_of_authorities_of_the_environment_that_is_not_there_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")

    with pytest.raises(ConfigError, match=r"\$SSL_CERT_FILE.* can't be used"):
        lab.ask(base_url="https://127.0.0.1:9/v1", limits=Limits())
