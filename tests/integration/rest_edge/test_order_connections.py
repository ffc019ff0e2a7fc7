"""Order connections: real bus and database, a router of this process, and edges that die."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.order_actions import IN_FLIGHT_MAX, ORDER_ACTIONS
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http import protocol
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings
from openspot.rest_edge.orders.connections import CONNECTIONS_PER_USER_MAX, FAULTS_MAX
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.fake_router import FakeRouter
from tests.support.mailbox import mail_to, token_of
from tests.support.order_connection import LIMIT, PATH, TestConnection, order_connection
from tests.support.raw_websocket import CONTINUATION, PING, TEXT, RawClient, frame
from tests.support.rest_client import PREFIX, RestClient, running_edge
from tests.support.signed_requests import Signer
from tests.support.waiting import eventually

UNTHROTTLED = {"rules": "complete", "throttle_enabled": False}


@pytest.fixture
async def complete_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules and without a throttle, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update=UNTHROTTLED)) as client:
        client.as_user("u1", session_id="s1")
        yield client


@pytest.fixture
async def connection(complete_edge: RestClient) -> AsyncIterator[TestConnection]:
    """A connection of `u1`."""
    async with order_connection(complete_edge) as opened:
        yield opened


async def refusal(edge: RestClient, query: str = "", headers: dict[str, str] | None = None) -> int:
    """The status with which a handshake is refused."""
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        async with order_connection(edge, query=query, headers=headers):
            pass
    return caught.value.status


def without_ids(body: Any) -> Any:
    """A body without what differs between two requests."""
    return {name: value for name, value in body.items() if name not in ("requestId", "orderId")}


async def test_each_action_has_the_reply_of_its_route(
    complete_edge: RestClient, connection: TestConnection, router: FakeRouter
) -> None:
    placed = await connection.ask("placeOrder", LIMIT | {"clientOrderId": "mine"})
    assert (placed["type"], placed["status"], placed["body"]["status"]) == ("reply", 201, "open")
    by_rest = await complete_edge("POST", "/orders", LIMIT | {"clientOrderId": "mine"})
    assert without_ids(placed["body"]) == without_ids(by_rest.body)
    order_id = placed["body"]["orderId"]
    batch = await connection.ask("placeOrders", {"orders": [LIMIT, {}]})
    assert [entry["status"] for entry in batch["body"]] == [201, 400]
    amended = await connection.ask("amendOrder", {"price": "101"}, orderId=order_id)
    assert (amended["status"], amended["body"]["price"]) == (200, "101")
    amended = await connection.ask("amendOrders", {"orders": [{"orderId": order_id, "quantity": "0.4"}]})
    assert [entry["status"] for entry in amended["body"]] == [200]
    amended = await connection.ask("amendOrderByClientId", {"price": "102"}, clientOrderId="mine")
    assert (amended["status"], amended["body"]["price"]) == (200, "102")
    cancelled = await connection.ask("cancelOrder", orderId=order_id)
    assert (cancelled["status"], cancelled["body"]["status"]) == (200, "cancelled")
    cancelled = await connection.ask("cancelOrdersByClientId", clientOrderId="mine")
    assert (cancelled["status"], cancelled["body"]["cancelled"]) == (200, [by_rest.body["orderId"]])
    router.bulk_replies = [CancelOpenOrdersReply(True, ("order1",))]
    everything = await connection.ask("cancelOrders", {"symbol": "ETH-USD"})
    assert (everything["status"], everything["body"]["cancelled"]) == (200, ["order1"])
    exits = [
        LIMIT | {"side": "sell"},
        {name: value for name, value in LIMIT.items() if name != "price"}
        | {"side": "sell", "type": "stop_market", "stopPrice": "50"},
    ]
    placed = await connection.ask("placeOrderList", {"type": "oco", "orders": exits})
    assert (placed["status"], placed["body"]["type"], placed["body"]["status"]) == (201, "oco", "active")
    cancelled = await connection.ask("cancelOrderList", listId=placed["body"]["listId"])
    assert (cancelled["status"], [order["status"] for order in cancelled["body"]["orders"]]) == (
        200, ["cancelled", "cancelled"],
    )  # fmt: skip
    timer = await connection.ask("cancelAllAfter", {"timeoutSeconds": 60})
    assert (timer["status"], timer["body"]["timeoutSeconds"]) == (200, 60)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"symbol": "BTC-USD"}, 400, "VALIDATION_FAILED"),
        (LIMIT | {"price": "-1"}, 400, "VALIDATION_FAILED"),
        ([], 400, "VALIDATION_FAILED"),
        (LIMIT | {"marginMode": "x" * 70_000}, 413, "PAYLOAD_TOO_LARGE"),
    ],
)
async def test_a_refusal_is_that_of_the_route(
    complete_edge: RestClient, connection: TestConnection, body: Any, status: int, code: str
) -> None:
    reply = await connection.ask("placeOrder", body)
    by_rest = await complete_edge("POST", "/orders", body)
    assert (reply["status"], reply["body"]["code"]) == (by_rest.status, by_rest.code) == (status, code)
    assert without_ids(reply["body"]) == without_ids(by_rest.body)


async def test_a_rejected_order_and_an_absent_router_have_the_codes_of_rest(
    connection: TestConnection, router: FakeRouter
) -> None:
    router.reject_with = "RISK_NSF"
    assert (await connection.ask("placeOrder", LIMIT))["body"]["code"] == "RISK_NSF"
    router.reject_with = None
    router.refusal = Refusal(RefusalCode.UNAVAILABLE, "no engine")
    refused = await connection.ask("placeOrder", LIMIT)
    assert (refused["status"], refused["body"]["code"]) == (503, "SERVICE_UNAVAILABLE")


async def test_without_the_complete_rules_there_is_no_order_connection(own_edge: RestClient) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        async with order_connection(own_edge):
            pass


# Order and bounds


async def test_pipelined_placements_begin_in_order_and_cancel_all_waits_for_them(
    connection: TestConnection, router: FakeRouter
) -> None:
    router.submit_gate.clear()
    first = [await connection.send("placeOrder", LIMIT | {"price": str(price)}) for price in range(1, 11)]
    cancel = await connection.send("cancelOrders")
    last = await connection.send("placeOrder", LIMIT | {"price": "11"})

    async def ten() -> bool:
        return len(router.submitted) == 10

    await eventually(ten)
    assert [request.order.price for request in router.submitted] == [str(price) for price in range(1, 11)]
    assert router.bulk_cancels == []
    router.submit_gate.set()
    replies = [(await connection.receive())["id"] for _ in range(12)]
    assert sorted(replies[:10]) == first
    assert replies[10:] == [cancel, last]


async def test_a_cancel_waits_for_the_amendment_of_the_same_order_and_for_no_other(
    connection: TestConnection, router: FakeRouter
) -> None:
    order_id = (await connection.ask("placeOrder", LIMIT))["body"]["orderId"]
    router.submit_gate.clear()
    amendment = await connection.send("amendOrder", {"price": "99"}, orderId=order_id)
    cancel = await connection.send("cancelOrder", orderId=order_id)
    assert (await connection.ask("cancelOrder", orderId="another"))["status"] == 404
    assert [request.order_id for request in router.cancelled] == ["another"]
    router.submit_gate.set()
    replies = [await connection.receive() for _ in range(2)]
    assert [(reply["id"], reply["body"]["price"]) for reply in replies] == [(amendment, "99"), (cancel, "99")]


async def test_requests_beyond_the_bound_are_refused_and_not_queued(
    connection: TestConnection, router: FakeRouter
) -> None:
    router.submit_gate.clear()
    for _ in range(IN_FLIGHT_MAX):
        await connection.send("placeOrder", LIMIT)
    beyond = await connection.ask("placeOrder", LIMIT)
    assert (beyond["type"], beyond["code"]) == ("error", "TOO_MANY_IN_FLIGHT")
    router.submit_gate.set()
    replies = [await connection.receive() for _ in range(IN_FLIGHT_MAX)]
    assert {reply["status"] for reply in replies} == {201}
    assert len(router.submitted) == IN_FLIGHT_MAX
    assert (await connection.ask("placeOrder", LIMIT))["status"] == 201


async def test_a_user_has_a_bounded_number_of_connections(complete_edge: RestClient) -> None:
    opened = [order_connection(complete_edge) for _ in range(CONNECTIONS_PER_USER_MAX)]
    for each in opened:
        await each.__aenter__()
    assert await refusal(complete_edge) == 503
    other = {"Authorization": f"Bearer {complete_edge.as_user('u2')}"}
    async with order_connection(complete_edge, headers=other) as connection:
        assert (await connection.ask("ping"))["type"] == "pong"
    for each in opened:
        await each.__aexit__(None, None, None)


async def test_rest_and_connection_share_the_limits_of_a_user(settings: Settings, router: FakeRouter) -> None:
    async with running_edge(settings.model_copy(update=UNTHROTTLED | {"throttle_enabled": True})) as edge:
        edge.as_user("u1")
        async with order_connection(edge) as connection:
            statuses = [(await connection.ask("cancelOrder", orderId="none"))["status"] for _ in range(5)]
            left = await edge("GET", "/orders")
            assert int(left.headers["X-RateLimit-Remaining-medium"]) == 50 - 7
            while (reply := await connection.ask("cancelOrder", orderId="none"))["status"] == 404:
                statuses.append(404)
            assert (reply["status"], reply["headers"]["retry-after"]) == (429, "1")
            assert (await edge("GET", "/orders")).status == 429
            assert set(statuses) == {404}


# Credentials


async def test_a_handshake_needs_a_credential(complete_edge: RestClient) -> None:
    assert await refusal(complete_edge, headers={}) == 401
    assert await refusal(complete_edge, headers={"Authorization": "Bearer nothing"}) == 401
    assert await refusal(complete_edge, query="?cancelOnDisconnect=perhaps") == 400


async def test_after_the_end_of_the_session_the_next_request_is_refused(
    complete_edge: RestClient, connection: TestConnection, router: FakeRouter
) -> None:
    assert (await connection.ask("placeOrder", LIMIT))["status"] == 201
    assert (await complete_edge("POST", "/auth/logout")).status == 200
    refused = await connection.ask("placeOrder", LIMIT)
    assert (refused["status"], refused["body"]["code"]) == (401, "UNAUTHENTICATED")
    assert len(router.submitted) == 1
    complete_edge.as_user("u1", session_id="s2")
    assert (await connection.ask("authenticate", token=complete_edge.token))["type"] == "authenticated"
    assert (await connection.ask("placeOrder", LIMIT))["status"] == 201


async def test_another_users_token_and_a_wrong_one_do_not_renew_a_connection(
    complete_edge: RestClient, connection: TestConnection, router: FakeRouter
) -> None:
    for token in (complete_edge.as_user("u2"), "nothing", ""):
        refused = await connection.ask("authenticate", token=token)
        assert (refused["type"], refused["code"]) == ("error", "INVALID_TOKEN")
    assert (await connection.ask("placeOrder", LIMIT))["body"]["userId"] == "u1"


async def test_an_api_key_keeps_its_scopes_and_its_addresses_and_ends_with_its_revocation(
    complete_edge: RestClient, pool: asyncpg.Pool, router: FakeRouter
) -> None:
    await pool.execute(
        "INSERT INTO users (user_id, email, password_hash, role) VALUES ('u1', 'u1@example.org', 'x', 'user')"
    )

    async def key_of(**fields: Any) -> tuple[str, Signer]:
        reply = await complete_edge("POST", "/api-keys", {"name": "bot", "scopes": ["trade"]} | fields)
        assert reply.status == 201, reply.body
        return reply.body["id"], Signer(reply.body["id"], reply.body["secret"])

    target = f"{PREFIX}/orders/connection"
    _, reader = await key_of(scopes=["read"])
    assert await refusal(complete_edge, headers=reader.headers("GET", target)) == 403
    _, elsewhere = await key_of(ipAllowList=["192.0.2.1"])
    assert await refusal(complete_edge, headers=elsewhere.headers("GET", target)) == 401
    key_id, signer = await key_of()
    cancels = "?cancelOnDisconnect=true"
    assert await refusal(complete_edge, query=cancels, headers=signer.headers("GET", target + cancels)) == 403
    once = signer.headers("GET", target)
    async with order_connection(complete_edge, headers=once) as connection:
        assert await refusal(complete_edge, headers=once) == 401
        placed = await connection.ask("placeOrder", LIMIT)
        assert (placed["status"], placed["body"]["userId"]) == (201, "u1")
        lacking = await connection.ask("cancelOrder", orderId=placed["body"]["orderId"])
        assert (lacking["status"], lacking["body"]["code"]) == (403, "INSUFFICIENT_SCOPE")
        # A token would lift the bounds of the key.
        assert (await connection.ask("authenticate", token=complete_edge.token))["code"] == "INVALID_TOKEN"
        assert (await complete_edge("DELETE", f"/api-keys/{key_id}")).status == 200
        assert (await connection.ask("placeOrder", LIMIT))["status"] == 401
    assert len(router.submitted) == 1
    # An operator's revocation does the same.
    key_id, signer = await key_of()
    operator = RestClient(complete_edge.settings)
    await make_operator(operator, pool, "ada@example.org", OperatorRole.COMPLIANCE)
    async with order_connection(complete_edge, headers=signer.headers("GET", target)) as connection:
        assert (await connection.ask("placeOrder", LIMIT))["status"] == 201
        revoked = await operator("DELETE", f"/operator/users/u1/api-keys/{key_id}", {"reason": "stolen key"})
        assert revoked.body == {"revoked": [key_id]}
        assert (await connection.ask("placeOrder", LIMIT))["status"] == 401
    await operator.close()


async def test_the_reset_that_first_proves_an_address_ends_a_connection_of_a_key_from_before(
    complete_edge: RestClient, router: FakeRouter, settings: Settings
) -> None:
    email = "eve@example.org"
    complete_edge.token = None
    await register(complete_edge, email)
    key = (await complete_edge("POST", "/api-keys", {"name": "mine", "scopes": ["trade"]})).body
    signer = Signer(key["id"], key["secret"])
    async with order_connection(complete_edge, headers=signer.headers("GET", f"{PREFIX}{PATH}")) as connection:
        assert (await connection.ask("placeOrder", LIMIT))["status"] == 201
        await complete_edge("POST", "/auth/forgot-password", {"email": email})
        token = token_of(await mail_to(settings.data_dir, email, "Reset your password"))
        body = {"token": token, "newPassword": "another long pass phrase"}
        assert (await complete_edge("POST", "/auth/reset-password", body)).status == 200
        assert (await connection.ask("placeOrder", LIMIT))["status"] == 401
    assert len(router.submitted) == 1


# Broken connections


async def test_a_request_whose_reply_was_lost_is_repeated_with_its_key_over_either_way(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    router.submit_gate.clear()
    async with order_connection(complete_edge) as lost:
        await lost.send("placeOrder", LIMIT, idempotencyKey="k1")

        async def arrived() -> bool:
            return len(router.submitted) == 1

        await eventually(arrived)
    router.submit_gate.set()
    async with order_connection(complete_edge) as connection:

        async def repeated() -> Any:
            reply = await connection.ask("placeOrder", LIMIT, idempotencyKey="k1")
            return reply if reply["status"] == 201 else None

        reply = await eventually(repeated)
        assert reply["headers"]["idempotency-hit"] == "true"
        raw = json.dumps(LIMIT).encode()
        by_rest = await complete_edge("POST", "/orders", raw=raw, headers={"Idempotency-Key": "k1"})
        assert (by_rest.status, by_rest.body) == (201, reply["body"])
        other = await connection.ask("placeOrder", LIMIT | {"price": "7"}, idempotencyKey="k1")
        assert (other["status"], other["body"]["code"]) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert len(router.submitted) == 1


async def test_a_key_that_cannot_be_one_is_refused_as_by_rest(connection: TestConnection, router: FakeRouter) -> None:
    for key in ("", "with space", "é"):
        refused = await connection.ask("placeOrder", LIMIT, idempotencyKey=key)
        assert (refused["status"], refused["body"]["code"]) == (400, "VALIDATION_FAILED")
    assert router.submitted == []


async def test_orders_are_cancelled_on_disconnect_only_if_the_client_asked_for_it(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    async with order_connection(complete_edge) as connection:
        await connection.ask("placeOrder", LIMIT)
    async with order_connection(complete_edge, query="?cancelOnDisconnect=true") as connection:
        await connection.ask("placeOrder", LIMIT)
        # Its session has ended before: the orders are cancelled all the same.
        await complete_edge("POST", "/auth/logout")
        assert router.bulk_cancels == []

    async def cancelled() -> bool:
        return bool(router.bulk_cancels)

    await eventually(cancelled)
    assert router.bulk_cancels == [CancelOpenOrders("u1")]


async def test_a_cancel_on_disconnect_that_fails_is_carried_out_later(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    router.bulk_replies = [
        CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNAVAILABLE, "no engine")),
        CancelOpenOrdersReply(True, ("order1",)),
    ]
    async with order_connection(complete_edge, query="?cancelOnDisconnect=true"):
        pass

    async def carried_out() -> bool:
        number = await pool.fetchval("SELECT cancelled_orders FROM cancel_timers WHERE user_id = 'u1'")
        return bool(number == 1)

    await eventually(carried_out)


@pytest.mark.parametrize("timeout_s", [60, 0])
async def test_another_session_cannot_put_off_what_a_disconnect_still_has_to_cancel(
    complete_edge: RestClient, router: FakeRouter, pool: asyncpg.Pool, timeout_s: int
) -> None:
    path = "/orders/cancel-all-after"
    assert (await complete_edge("POST", path, {"timeoutSeconds": 60})).status == 200
    away = CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNAVAILABLE, "no engine"))
    router.bulk_replies = [away] * 1000
    async with order_connection(complete_edge, query="?cancelOnDisconnect=true"):
        pass
    await eventually(lambda: len(router.bulk_cancels) >= 1)

    async def is_due() -> bool:
        return bool(await pool.fetchval("SELECT fires_at <= now() FROM cancel_timers"))

    await eventually(is_due)
    refused = await complete_edge("POST", path, {"timeoutSeconds": timeout_s})
    assert refused.status in (409, 503)
    assert await is_due()
    router.bulk_replies = [CancelOpenOrdersReply(True, ("order1",))]

    async def carried_out() -> bool:
        return bool(await pool.fetchval("SELECT cancelled_orders = 1 FROM cancel_timers"))

    await eventually(carried_out)


async def test_an_edge_that_stops_finishes_what_it_was_given(settings: Settings, router: FakeRouter) -> None:
    router.submit_gate.clear()
    complete = settings.model_copy(update=UNTHROTTLED)
    async with running_edge(complete) as edge:
        edge.as_user("u1")
        async with order_connection(edge) as connection:
            await connection.send("placeOrder", LIMIT, idempotencyKey="k1")

            async def arrived() -> bool:
                return len(router.submitted) == 1

            await eventually(arrived)
            asyncio.get_running_loop().call_soon(router.submit_gate.set)
    async with running_edge(complete) as edge:
        edge.as_user("u1")
        async with order_connection(edge) as connection:

            async def known() -> Any:
                reply = await connection.ask("placeOrder", LIMIT, idempotencyKey="k1")
                return reply if reply["status"] == 201 else None

            await eventually(known)
    assert len({request.order.order_id for request in router.submitted}) == 1


# Hostile clients


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("{", "MALFORMED_MESSAGE", ""),
        ("[]", "MALFORMED_MESSAGE", "object"),
        ("[" * 10_000, "MALFORMED_MESSAGE", ""),
        ('{"action":"placeOrder"}', "MALFORMED_MESSAGE", "id"),
        ('{"id":true,"action":"placeOrder"}', "MALFORMED_MESSAGE", "$.id"),
        ('{"id":1e400,"action":"placeOrder"}', "MALFORMED_MESSAGE", ""),
        ('{"id":1,"action":[]}', "MALFORMED_MESSAGE", "$.action"),
        ('{"id":1,"action":"sell"}', "UNKNOWN_ACTION", "placeOrder"),
        ('{"id":1,"action":"placeOrder","price":"1"}', "MALFORMED_MESSAGE", "price"),
        ('{"id":1,"action":"cancelOrder"}', "MALFORMED_MESSAGE", "orderId"),
        ('{"id":1,"action":"cancelOrder","orderId":7}', "MALFORMED_MESSAGE", "$.orderId"),
        ('{"id":1,"action":"cancelOrder","orderId":"client/x"}', "MALFORMED_MESSAGE", "$.orderId"),
        ('{"id":1,"action":"cancelOrders","orderId":"x"}', "MALFORMED_MESSAGE", "orderId"),
        ('{"id":1,"action":"authenticate"}', "MALFORMED_MESSAGE", "token"),
    ],
)
async def test_a_message_that_makes_no_sense_is_refused_with_the_property(
    connection: TestConnection, text: str, code: str, named: str
) -> None:
    await connection.socket.send_str(text)
    refused = await connection.receive()
    assert (refused["type"], refused["code"]) == ("error", code)
    assert named in refused["message"]
    assert (await connection.ask("ping"))["type"] == "pong"


async def test_a_client_that_sends_only_nonsense_is_closed(connection: TestConnection) -> None:
    for _ in range(FAULTS_MAX):
        await connection.socket.send_bytes(b"{}")
    assert await connection.close_code() == 1008


async def test_a_giant_message_ends_the_connection_and_nothing_else(
    complete_edge: RestClient, connection: TestConnection
) -> None:
    await connection.socket.send_str("x" * 1_000_000)
    assert await connection.close_code() == 1009
    async with order_connection(complete_edge) as other:
        assert (await other.ask("ping"))["type"] == "pong"


async def raw_connection(edge: RestClient) -> RawClient:
    """An order connection that sends any bytes."""
    headers = f"Authorization: Bearer {edge.token}\r\n".encode()
    path = f"{PREFIX}{PATH}".encode()
    opened = await RawClient.open(edge.settings, headers, path=path, port=edge.settings.rest_port)
    assert opened.is_accepted
    return opened


async def cut_off(client: RawClient, data: bytes, bytes_max: int = 200_000_000) -> bool:
    """Send without reading, until the edge ends the connection."""
    sent = 0
    try:
        while sent < bytes_max:
            client.send(data)
            sent += len(data)
            await client.writer.drain()
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(frame(TEXT, b'{"id":1,"action":"placeOrders","body":{"orders":[{},{},{}]}}'), id="requests"),
        pytest.param(frame(PING, b"x" * 125), id="ping frames"),
    ],
)
async def test_a_client_that_does_not_read_is_cut_off_and_disturbs_nobody(
    complete_edge: RestClient, monkeypatch: pytest.MonkeyPatch, flood: bytes
) -> None:
    monkeypatch.setattr(protocol, "SEND_S_MAX", 1.0)
    slow = await raw_connection(complete_edge)
    flooding = asyncio.create_task(cut_off(slow, flood * 100))
    async with order_connection(complete_edge) as other:
        while not flooding.done():
            assert (await other.ask("ping"))["type"] == "pong"
    assert await flooding


async def test_a_message_of_endless_empty_parts_is_cut_off(complete_edge: RestClient) -> None:
    endless = await raw_connection(complete_edge)
    endless.send(frame(TEXT, b'{"id":1', fin=False) + frame(CONTINUATION, fin=False) * 300)
    assert await endless.close_code() == 0


async def test_every_action_is_a_route_of_the_edge(connection: TestConnection, router: FakeRouter) -> None:
    for name, action in ORDER_ACTIONS.items():
        given = {action.parameter: "none"} if action.parameter else {}
        reply = await connection.ask(name, {}, **given)
        assert reply["body"] is not None
        assert reply["body"].get("code") != "ROUTE_NOT_FOUND"
