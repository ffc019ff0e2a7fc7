"""What the edge serves over HTTP, and who may connect."""

import asyncio
import json
from contextlib import AsyncExitStack, suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from openspot.contracts import subjects
from openspot.http.server import PortTakenError
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.ws_edge import service
from openspot.ws_edge.service import run
from openspot.ws_edge.settings import WsEdgeSettings
from tests.support.waiting import eventually, stretched
from tests.support.websocket_edge import (
    ask,
    get,
    nothing_but_a_pong,
    open_as,
    open_client,
    receive,
    running_edge,
    token,
)


@pytest.mark.spec("A1.1-02")
def test_the_port_is_3002_by_default() -> None:
    assert WsEdgeSettings.model_fields["ws_port"].default == 3002


@pytest.mark.spec("A1.1-29", "A1.1-31", "A1.1-33")
async def test_health_readiness_and_metrics_are_served_on_the_websocket_port(edge: Settings) -> None:
    for path in ("/health", "/ready"):
        status, content_type, body = await get(edge, path)
        assert (status, content_type) == (200, "application/json")
        assert json.loads(body)["status"] == "ok"
    status, content_type, body = await get(edge, "/metrics")
    assert (status, content_type) == (200, "text/plain")
    assert b"# TYPE openspot_ws_connections gauge" in body


@pytest.mark.spec("A1.1-30", "A1.1-32")
async def test_without_the_bus_it_is_neither_healthy_nor_ready_and_says_why(
    edge: Settings, nats_server: EmbeddedNats
) -> None:
    nats_server.kill()

    async def unhealthy() -> bool:
        return (await get(edge, "/health"))[0] == 503

    await eventually(unhealthy)
    status, _, body = await get(edge, "/ready")
    assert status == 503
    assert json.loads(body)["error"]["bus"]["status"] == "down"
    with pytest.raises(InvalidStatus) as refusal:
        await open_client(edge)
    assert refusal.value.response.status_code == 503
    assert json.loads(refusal.value.response.body)["code"] == "BUS_UNAVAILABLE"
    assert refusal.value.response.headers["Retry-After"] == "1"
    nats_server.start()

    async def healthy() -> bool:
        return (await get(edge, "/ready"))[0] == 200

    await eventually(healthy)
    async with open_client(edge) as client:
        await nothing_but_a_pong(client)


async def test_it_serves_before_the_bus_is_there_and_ends_when_told_while_it_waits(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    nats_server.kill()
    stop = asyncio.Event()
    task = asyncio.create_task(run(settings, stop))

    async def unhealthy() -> bool:
        try:
            return (await get(settings, "/health"))[0] == 503
        except OSError:
            return False

    await eventually(unhealthy)
    stop.set()
    await asyncio.wait_for(task, stretched(30))


async def test_a_taken_port_ends_the_start_with_its_number(edge: Settings) -> None:
    with pytest.raises(PortTakenError, match=str(edge.ws_port)):
        await run(edge, asyncio.Event())


async def test_any_other_path_or_method_is_refused_in_json(edge: Settings) -> None:
    status, _, body = await get(edge, "/nothing?token=x")
    assert (status, json.loads(body)["code"]) == (404, "ROUTE_NOT_FOUND")
    assert "token" not in json.loads(body)["message"]
    with pytest.raises(InvalidStatus) as refusal:
        await open_client(edge, "elsewhere")
    assert refusal.value.response.status_code == 404
    reader, writer = await asyncio.open_connection(edge.host, edge.ws_port)
    writer.write(b"DELETE /health HTTP/1.1\r\nHost: edge\r\n\r\n")
    assert b" 405 " in await reader.readline()
    writer.close()


@pytest.mark.spec("A5-19")
async def test_a_connection_without_a_token_is_allowed(edge: Settings) -> None:
    async with open_client(edge) as client:
        assert (await ask(client, action="subscribe", channel="ticker:BTC-USD"))["type"] == "subscribed"


@pytest.mark.spec("A5-18")
async def test_the_token_is_taken_from_the_query(edge: Settings) -> None:
    async with open_as(edge, "u1") as client:
        await nothing_but_a_pong(client)


@pytest.mark.spec("A5-18")
@pytest.mark.parametrize("case", ["empty", "nonsense", "expired", "another secret", "two tokens", "bad escape"])
async def test_a_token_that_is_not_valid_is_refused_before_the_upgrade(edge: Settings, case: str) -> None:
    other = edge.model_copy(update={"jwt_secret": "another-secret-of-at-least-thirty-two-bytes"})
    query = {
        "empty": "?token=",
        "nonsense": "?token=a.b.c",
        "expired": f"?token={token(edge, 'u1', life_s=-1)}",
        "another secret": f"?token={token(other, 'u1')}",
        "two tokens": f"?token={token(edge, 'u1')}&token={token(edge, 'u2')}",
        "bad escape": "?token=%ff%fe",
    }[case]
    with pytest.raises(InvalidStatus) as refusal:
        await open_client(edge, query)
    assert refusal.value.response.status_code == 401
    body = json.loads(refusal.value.response.body)
    assert (body["statusCode"], body["error"], body["code"]) == (401, "Unauthorized", "INVALID_TOKEN")


async def test_a_session_that_is_ended_loses_its_connections_and_its_token(edge: Settings, bus: Bus) -> None:
    async with (
        open_as(edge, "u1", session_id="session1") as ended,
        open_as(edge, "u1", session_id="session2") as other,
        open_as(edge, "u1") as without,
    ):
        bucket = bus.key_value(subjects.SESSIONS_REVOKED_BUCKET, bytes, 960)
        await bucket.put("session1", b"")
        with pytest.raises(ConnectionClosed) as end:
            await asyncio.wait_for(ended.recv(), stretched(30))
        assert end.value.rcvd is not None
        assert (end.value.rcvd.code, end.value.rcvd.reason) == (4401, "the session has ended")
        for client in (other, without):
            await nothing_but_a_pong(client)
    with pytest.raises(InvalidStatus) as refusal:
        await open_as(edge, "u1", session_id="session1")
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["message"] == "the session has ended"
    async with open_as(edge, "u1", session_id="session2") as client:
        await nothing_but_a_pong(client)


async def test_beyond_the_bound_of_connections_a_new_one_is_refused_until_another_ends(settings: Settings) -> None:
    async with running_edge(settings.model_copy(update={"ws_connections_max": 1})) as edge:
        async with open_client(edge):
            with pytest.raises(InvalidStatus) as refusal:
                await open_client(edge)
            assert refusal.value.response.status_code == 503
            assert json.loads(refusal.value.response.body)["code"] == "TOO_MANY_CONNECTIONS"
            assert (await get(edge, "/ready"))[0] == 503
            assert (await get(edge, "/health"))[0] == 200

        async def admitted() -> bool:
            try:
                await (await open_client(edge)).close()
            except InvalidStatus:
                return False
            return True

        await eventually(admitted)


async def test_clients_are_told_that_the_service_stops_and_closed_and_new_ones_refused(settings: Settings) -> None:
    stop = asyncio.Event()
    drain = settings.model_copy(update={"ws_drain_s": 30.0})
    async with AsyncExitStack() as stack:
        edge = await stack.enter_async_context(running_edge(drain, stop))
        leaving, staying = await open_client(edge), await open_as(edge, "u1")
        await nothing_but_a_pong(leaving)
        await nothing_but_a_pong(staying)
        stop.set()
        for client in (leaving, staying):
            assert await receive(client) == {
                "type": "notice",
                "code": "SERVICE_STOPS",
                "message": "the service is stopping: connect again",
                "closesInMs": 30_000,
            }
        with pytest.raises(InvalidStatus) as refusal:
            await open_client(edge)
        assert refusal.value.response.status_code == 503
        assert json.loads(refusal.value.response.body)["code"] == "STOPPING"
        assert (await get(edge, "/ready"))[0] == 503
        # Until the close, clients are served. The service waits for nobody once all have left.
        await nothing_but_a_pong(staying)
        await leaving.close()
        await staying.close()


async def test_half_of_a_handshake_does_not_keep_the_service_from_stopping(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library waits for the rest of a handshake as long as that; the end of `running_edge` would fail.
    monkeypatch.setattr(service, "HEAD_S_MAX", 3600.0)
    async with running_edge(settings.model_copy(update={"ws_drain_s": 0.05})) as edge:
        reader, writer = await asyncio.open_connection(edge.host, edge.ws_port)
        writer.write(b"GET / HTTP/1.1\r\nHost:")
        client = await open_client(edge)
        await nothing_but_a_pong(client)
    with suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.close()
    await client.close()


async def test_who_does_not_leave_is_closed_with_1012(settings: Settings) -> None:
    async with running_edge(settings.model_copy(update={"ws_drain_s": 0.05})) as edge:
        client = await open_client(edge)
    assert (await receive(client))["type"] == "notice"
    with pytest.raises(ConnectionClosed) as end:
        await client.recv()
    assert end.value.rcvd is not None
    assert (end.value.rcvd.code, end.value.rcvd.reason) == (1012, "the service is stopping")
