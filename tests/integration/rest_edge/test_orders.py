"""Orders through the REST edge: real bus and database, a router of this process."""

import asyncio
import functools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelOrder,
    CancelOrderReply,
    OrderRecord,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.ids import ORDER_ID_TEXT
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, system_clock
from openspot.kit.settings import Settings
from openspot.rest_edge import service
from openspot.rest_edge.app import make_app
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_router import FakeRouter
from tests.support.order_records import order_record
from tests.support.records import read_exactly
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually, stretched

LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}
NOW = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


async def add_row(pool: asyncpg.Pool, order_id: str, **fields: Any) -> None:
    """An order row as the router writes it."""
    row = {
        "order_id": order_id,
        "client_order_id": None,
        "user_id": "u1",
        "symbol": "BTC-USD",
        "side": "buy",
        "type": "limit",
        "time_in_force": "gtc",
        "price": "100",
        "quantity": "2",
        "filled_quantity": "0",
        "filled_notional": "0",
        "remaining_quantity": "2",
        "fee": "0",
        "fee_currency": "USD",
        "status": "open",
        "created_at": NOW,
        "updated_at": NOW,
    } | fields
    numbers = {"price", "quantity", "filled_quantity", "filled_notional", "remaining_quantity", "fee"}
    places = [f"${n}::text::numeric" if name in numbers else f"${n}" for n, name in enumerate(row, 1)]
    await pool.execute(f"INSERT INTO orders ({', '.join(row)}) VALUES ({', '.join(places)})", *row.values())


@pytest.mark.spec("A1.3-03", "A2.1-01", "A2.1-13", "B4.1-02", "B4.1-12")
async def test_an_accepted_order_answers_201_with_the_record(
    settings: Settings, edge: RestClient, router: FakeRouter
) -> None:
    before_ms = system_clock() // NANOSECONDS_PER_MS
    reply = await edge("POST", "/orders", LIMIT | {"clientOrderId": "mine-1", "marginMode": "cross"})
    after_ms = system_clock() // NANOSECONDS_PER_MS
    assert reply.status == 201
    read_exactly(reply.body, OrderRecord)
    [request] = router.submitted
    assert request.user_id == "u1"
    # Until then the edge waits for the answer.
    wait_ms = int(settings.request_timeout_s * 1000)
    assert request.deadline is not None
    assert before_ms + wait_ms <= request.deadline <= after_ms + wait_ms
    assert ORDER_ID_TEXT.fullmatch(request.order.order_id)
    assert reply.body["orderId"] == request.order.order_id
    assert reply.body["status"] == "open"
    assert (request.order.symbol, request.order.price, request.order.quantity) == ("BTC-USD", "100.25", "0.5")
    assert (request.order.margin_mode, request.order.client_order_id) == ("cross", "mine-1")
    assert reply.headers["X-Request-Id"]


@pytest.mark.spec("A2.1-03", "A2.1-04")
async def test_the_same_client_order_id_may_be_used_again(edge: RestClient, router: FakeRouter) -> None:
    replies = [await edge("POST", "/orders", LIMIT | {"clientOrderId": "same"}) for _ in range(2)]
    assert [reply.status for reply in replies] == [201, 201]
    assert {reply.body["clientOrderId"] for reply in replies} == {"same"}
    assert len({reply.body["orderId"] for reply in replies}) == 2


@pytest.mark.spec("A1.3-01", "A2.1-10", "A2.1-14")
async def test_values_are_transformed_and_any_letter_case_is_taken(edge: RestClient, router: FakeRouter) -> None:
    body = b"""{"symbol": "BTC-USD", "side": "BUY", "type": "Market", "timeInForce": "IOC",
                "quantity": 0.10, "maxSlippageBps": "50", "clientOrderId": 42}"""
    reply = await edge("POST", "/orders", raw=body)
    assert reply.status == 201, reply.body
    order = router.submitted[0].order
    assert (order.side, order.type, order.time_in_force) == ("buy", "market", "ioc")
    assert (order.quantity, order.max_slippage_bps, order.client_order_id) == ("0.1", "50", "42")
    assert (reply.body["side"], reply.body["type"], reply.body["timeInForce"]) == ("buy", "market", "ioc")


@pytest.mark.parametrize(
    ("slippage", "reason"),
    [
        ("1.2345678901234567e-05", "must have at most 18 decimal places"),
        ('"1.2345678901234567e-05"', "is not a plain decimal number such as 0.015"),
        ("1e-300", "must have at most 18 decimal places"),
        ("10000.1", "must be at most 10000"),
        ("-1", "must be at least 0"),
    ],
)
async def test_a_slippage_that_the_router_could_not_read_answers_400_with_its_name(
    edge: RestClient, router: FakeRouter, slippage: str, reason: str
) -> None:
    body = f'{{"symbol": "BTC-USD", "side": "buy", "type": "market", "quantity": 1, "maxSlippageBps": {slippage}}}'
    reply = await edge("POST", "/orders", raw=body.encode())
    assert (reply.status, reply.code, reply.message) == (400, "VALIDATION_FAILED", [f"maxSlippageBps {reason}"])
    assert not router.submitted


BODIES: list[Any] = [
    LIMIT,
    LIMIT | {"color": "red", "quantity": "0"},
    LIMIT | {"type": "market"},
    LIMIT | {"quantity": "0.123456789012345678"},
    [],
    "{",
    "",
    '{"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": 1, "quantity": 0.1234567890123456789}',
]


@pytest.mark.spec("A7-12")
async def test_the_fast_path_and_fastapi_answer_the_same(
    settings: Settings, router: FakeRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`POST /orders` is looked up past FastAPI; the route that the API's document shows answers alike."""
    answers: list[list[tuple[int, Any]]] = []
    for fast_paths in (True, False):
        monkeypatch.setattr(service, "make_app", functools.partial(make_app, fast_paths=fast_paths))
        async with running_edge(settings) as edge:
            edge.as_user("u1")
            replies = [
                await edge("POST", "/orders", raw=(body if isinstance(body, str) else json.dumps(body)).encode())
                for body in BODIES
            ]
            for reply in replies:
                reply.body.pop("requestId", None)
                reply.body.pop("orderId", None)
            answers.append([(reply.status, reply.body) for reply in replies])
    assert answers[0] == answers[1]
    assert [status for status, _ in answers[0]] == [201, 400, 400, 201, 400, 400, 400, 400]


READS = {
    "/orders": 200,
    "/orders?limit=2": 200,
    "/orders?limit=1000": 200,
    "/orders?limit=1001": 400,
    "/orders?limit=0": 400,
    "/orders?limit=02": 200,
    "/orders?limit=2&limit=3": 200,
    "/orders?limit=two": 400,
    "/orders?limit=": 400,
    "/orders?status=open": 200,
    "/orders?limit=2&symbol=ETH-USD": 200,
    "/orders?color=red": 200,
    "/orders/readOrder00000002": 200,
    "/orders/readOrder00000002?color=red": 200,
    "/orders/otherOrder0000001": 404,
    "/orders/readOrder00000009": 404,
    "/orders/readOrder00000002%0A": 400,
    "/orders/no%20such%20id": 400,
    "/accounts/balances": 200,
    "/accounts/balances?color=red": 200,
}


async def test_what_is_read_past_fastapi_is_the_same(
    settings: Settings, router: FakeRouter, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngineHttp(settings)
    engine.balances["u1"] = [
        {"currency": asset, "total": "10.5", "available": "9", "locked": "1.5", "reserved": "0.25"}
        for asset in ("USD", "BTC")
    ]
    await engine.start()
    for number in range(1, 4):
        await add_row(pool, f"readOrder{number:08d}", created_at=NOW + timedelta(seconds=number))
    await add_row(pool, "otherOrder0000001", user_id="u2")
    answers: list[dict[str, Any]] = []
    for fast_paths in (True, False):
        monkeypatch.setattr(service, "make_app", functools.partial(make_app, fast_paths=fast_paths))
        async with running_edge(settings) as edge:
            edge.as_user("u1")
            found = {}
            for path in READS:
                reply = await edge("GET", path)
                if isinstance(reply.body, dict):
                    reply.body.pop("requestId", None)
                names = ("Content-Type", "Content-Length", "X-Next-Cursor", "Cache-Control")
                headers = {name: reply.headers.get(name) for name in names if reply.status == 200}
                found[path] = (reply.status, reply.body, headers)
            answers.append(found)
    await engine.stop()
    assert answers[0] == answers[1]
    assert {path: status for path, (status, _, _) in answers[0].items()} == READS
    assert [order["orderId"] for order in answers[0]["/orders?limit=2"][1]] == [
        "readOrder00000003",
        "readOrder00000002",
    ]
    assert answers[0]["/orders?limit=2"][2]["X-Next-Cursor"]
    assert [balance["asset"] for balance in answers[0]["/accounts/balances"][1]] == ["BTC", "USD"]


async def test_a_market_buy_may_name_what_to_spend(edge: RestClient, router: FakeRouter) -> None:
    body = {"symbol": "BTC-USD", "side": "buy", "type": "market", "quoteQuantity": 100}
    assert (await edge("POST", "/orders", body)).status == 201
    order = router.submitted[0].order
    assert (order.quote_quantity, order.quantity, order.price, order.time_in_force) == ("100", None, None, "ioc")


@pytest.mark.spec("A1.3-19", "A1.3-33")
async def test_a_rejected_order_answers_400_with_the_reason(edge: RestClient, router: FakeRouter) -> None:
    for reason, code in (
        ("RISK_NSF", "RISK_NSF"),
        ("Stop orders are not yet supported", "ORDER_REJECTED"),
        ("Market DOGE-USD not found", "ORDER_REJECTED"),
    ):
        router.reject_with = reason
        reply = await edge("POST", "/orders", LIMIT)
        assert (reply.status, reply.message, reply.code) == (400, reason, code), reply.body
        order_id = router.submitted[-1].order.order_id
        assert reply.body["details"] == {"orderId": order_id, "status": "rejected"}


@pytest.mark.spec("A1.3-04")
async def test_without_a_router_an_order_answers_503(edge: RestClient) -> None:
    reply = await edge("POST", "/orders", LIMIT)
    assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE")
    assert reply.headers["Retry-After"] == "1"


@pytest.mark.spec("A1.3-04", "A7-09", "A7-10")
async def test_an_order_that_is_not_answered_in_time_answers_504_with_its_id(
    settings: Settings, router: FakeRouter
) -> None:
    async with running_edge(settings.model_copy(update={"request_timeout_s": stretched(0.3)})) as edge:
        edge.as_user("u1")
        router.silent = True
        reply = await edge("POST", "/orders", LIMIT)
        assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")
        # The router may get the order after the edge has stopped waiting for it.
        submitted = await eventually(lambda: router.submitted)
        assert reply.body["details"]["orderId"] == submitted[0].order.order_id


@pytest.mark.spec("A7-10")
async def test_an_order_whose_fate_the_router_does_not_know_answers_504(edge: RestClient, router: FakeRouter) -> None:
    for code in (RefusalCode.STATUS_UNKNOWN, RefusalCode.UNRECOGNISED, RefusalCode.DUPLICATE_ORDER_ID):
        router.refusal = Refusal(code, "the engine did not answer")
        reply = await edge("POST", "/orders", LIMIT)
        assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")
        assert reply.body["details"]["orderId"] == router.submitted[-1].order.order_id


@pytest.mark.spec("B4.1-08")
async def test_an_order_is_shown_from_its_row_and_before_that_from_the_router(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "rowOrder", filled_quantity="1.5", filled_notional="150.75", remaining_quantity="0.5",
                  status="partially_filled", fee="0.3")  # fmt: skip
    body = (await edge("GET", "/orders/rowOrder")).body
    read_exactly(body, OrderRecord)
    assert body["averagePrice"] == "100.5"
    assert (body["filledQuantity"], body["remainingQuantity"], body["fee"]) == ("1.5", "0.5", "0.3")
    assert body["createdAt"] == "2026-01-02T03:04:05.678Z"
    placed = (await edge("POST", "/orders", LIMIT)).body
    assert (await edge("GET", f"/orders/{placed['orderId']}")).body == placed


@pytest.mark.spec("A7-07")
async def test_an_order_that_nobody_knows_is_not_found(edge: RestClient, router: FakeRouter) -> None:
    for method in ("GET", "DELETE"):
        reply = await edge(method, "/orders/nobodyKnows")
        assert (reply.status, reply.code) == (404, "ORDER_NOT_FOUND")


async def test_without_a_router_an_unrecorded_order_is_not_called_missing(edge: RestClient) -> None:
    for method in ("GET", "DELETE"):
        assert (await edge(method, "/orders/unrecorded")).status == 503


@pytest.mark.spec("A1.4-01")
async def test_another_users_order_is_not_found_and_stays_open(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "theirs", user_id="u2")
    placed = (await edge("POST", "/orders", LIMIT)).body["orderId"]
    edge.as_user("u3")
    for order_id in ("theirs", placed):
        for method in ("GET", "DELETE"):
            reply = await edge(method, f"/orders/{order_id}")
            assert (reply.status, reply.code) == (404, "ORDER_NOT_FOUND")
    assert [request.order_id for request in router.cancelled] == [placed]
    assert await pool.fetchval("SELECT status FROM orders WHERE order_id = 'theirs'") == "open"


@pytest.mark.spec("A1.4-02", "A1.4-03", "B4.1-09")
async def test_a_cancel_answers_200_with_the_cancelled_record(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    remember(router, ("unrecorded", "u1"), ("recorded", "u1"))
    await add_row(pool, "recorded")
    for order_id in ("unrecorded", "recorded"):
        reply = await edge("DELETE", f"/orders/{order_id}")
        assert (reply.status, reply.body["orderId"]) == (200, order_id)
        assert (reply.body["status"], reply.body["remainingQuantity"]) == ("cancelled", "0")
    assert [(r.user_id, r.order_id, r.symbol) for r in router.cancelled] == [
        ("u1", "unrecorded", ""),
        ("u1", "recorded", "BTC-USD"),
    ]


async def test_an_order_that_has_ended_cannot_be_cancelled(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    for status in ("filled", "cancelled", "rejected"):
        await add_row(pool, status, status=status)
        reply = await edge("DELETE", f"/orders/{status}")
        assert (reply.status, reply.code, reply.message) == (409, "ORDER_NOT_OPEN", f"the order is {status}")
        assert reply.body["details"] == {"orderId": status, "status": status}
    assert not router.cancelled


async def test_a_cancel_that_the_router_refuses_says_why(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "late")
    filled = (await edge("POST", "/orders", LIMIT)).body["orderId"]
    router.orders["late"] = router.orders[filled]
    router.orders[filled] = structs.replace(router.orders[filled], status="filled")
    codes = RefusalCode
    for order_id, code, reason, shows_order, expected in (
        (
            "late",
            codes.ENGINE,
            "MATCHING_UNKNOWN_ORDER_ID",
            False,
            (409, "ORDER_NOT_OPEN", "the order is no longer open"),
        ),
        ("late", codes.ENGINE, "MARKET_HALTED", True, (409, "MARKET_HALTED", "MARKET_HALTED")),
        ("late", codes.NOT_OPEN, "order late is not open", True, (409, "ORDER_NOT_OPEN", "order late is not open")),
        (filled, codes.ALREADY_ENDED, "order is already filled", True, (409, "ORDER_NOT_OPEN", "the order is filled")),
        ("late", codes.NOT_FOUND, "order late not found", False, (404, "ORDER_NOT_FOUND", "order not found")),
        ("late", codes.VALIDATION, "symbol is wrong", False, (400, "VALIDATION_FAILED", ["symbol is wrong"])),
    ):
        router.cancel_refusal, router.shows_order = Refusal(code, reason), shows_order
        reply = await edge("DELETE", f"/orders/{order_id}")
        assert (reply.status, reply.code, reply.message) == expected
    for code, status in ((codes.STATUS_UNKNOWN, 504), (codes.UNRECOGNISED, 504), (codes.UNAVAILABLE, 503)):
        router.cancel_refusal, router.shows_order = Refusal(code, "no engine at 10.0.0.1"), False
        reply = await edge("DELETE", "/orders/late")
        assert (reply.status, reply.code) == (
            status,
            "ORDER_STATUS_UNKNOWN" if status == 504 else "SERVICE_UNAVAILABLE",
        )
        assert "10.0.0.1" not in str(reply.body)


async def test_an_order_that_the_router_could_not_send_answers_503(edge: RestClient, router: FakeRouter) -> None:
    for code in (RefusalCode.UNAVAILABLE, RefusalCode.BUSY, RefusalCode.TOO_LATE):
        router.refusal = Refusal(code, "the engine is unreachable at 10.0.0.1")
        reply = await edge("POST", "/orders", LIMIT)
        assert (reply.status, reply.message) == (503, "orders cannot be taken at this moment")


async def test_an_order_that_the_router_cannot_read_answers_400_with_the_field(
    edge: RestClient, router: FakeRouter
) -> None:
    router.refusal = Refusal(RefusalCode.VALIDATION, "maxSlippageBps has more than 18 decimal places")
    reply = await edge("POST", "/orders", LIMIT)
    assert (reply.status, reply.code) == (400, "VALIDATION_FAILED")
    assert reply.message == ["maxSlippageBps has more than 18 decimal places"]


async def test_a_router_that_fails_or_is_overwhelmed_is_told_apart(
    edge: RestClient, bus: Bus, pool: asyncpg.Pool
) -> None:
    """Busy: nothing was done. A failed handler: nobody knows."""
    await add_row(pool, "open")

    async def fail(_: object) -> SubmitOrderReply:
        raise RuntimeError("broken")

    queue = subjects.ORDER_ROUTER_QUEUE
    await bus.serve(subjects.ORDERS_SUBMIT, queue, SubmitOrder, fail, SubmitOrderReply.refused)
    await bus.serve(subjects.ORDERS_CANCEL, queue, CancelOrder, fail, CancelOrderReply.refused)
    await bus.check()
    for reply in (await edge("POST", "/orders", LIMIT), await edge("DELETE", "/orders/open")):
        assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")
    await bus.stop_serving()

    async def overwhelmed(message: Any) -> None:
        await bus.connection.client.publish(message.reply, b"{}", headers={"Nats-Service-Error-Code": "503"})

    for subject in (subjects.ORDERS_SUBMIT, subjects.ORDERS_CANCEL):
        await bus.connection.client.subscribe(subject, cb=overwhelmed)
    await bus.check()
    for reply in (await edge("POST", "/orders", LIMIT), await edge("DELETE", "/orders/open")):
        assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE")


async def test_a_cancel_that_is_not_answered_in_time_answers_504(
    settings: Settings, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    await add_row(pool, "slow")
    async with running_edge(settings.model_copy(update={"request_timeout_s": stretched(0.3)})) as edge:
        edge.as_user("u1")
        router.silent = True
        reply = await edge("DELETE", "/orders/slow")
        assert (reply.status, reply.code) == (504, "ORDER_STATUS_UNKNOWN")


async def add_many(pool: asyncpg.Pool, user_id: str) -> None:
    statuses = ("open", "partially_filled", "filled", "cancelled", "rejected", "pending")
    for number in range(12):
        await add_row(
            pool,
            f"order{number:02}",
            user_id=user_id,
            status=statuses[number % 6],
            symbol="BTC-USD" if number % 2 else "ETH-USD",
            side="buy" if number < 6 else "sell",
            client_order_id="c1" if number == 4 else None,
            # Two of each moment: the id decides their order.
            created_at=NOW + timedelta(seconds=number // 2),
        )
    await add_row(pool, "theirs", user_id="u2")


LISTS: tuple[tuple[str, list[int]], ...] = (
    ("/orders", [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ("/orders?status=open", [6, 0]),
    ("/orders?status=open,partially_filled", [7, 6, 1, 0]),
    ("/orders?status=OPEN&side=BUY", [0]),
    ("/orders?symbol=BTC-USD", [11, 9, 7, 5, 3, 1]),
    ("/orders?clientOrderId=c1", [4]),
    ("/orders?clientOrderId=none", []),
    ("/orders?limit=3", [11, 10, 9]),
    ("/orders/history", [10, 9, 8, 4, 3, 2]),
    ("/orders/history?symbol=BTC-USD&side=sell", [9]),
)


@pytest.mark.spec("A2.1-11", "B4.1-05", "B4.1-06", "B4.1-07")
async def test_lists_show_the_callers_orders_newest_first(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.as_user("lister")
    await add_many(pool, "lister")
    for path, expected in LISTS:
        reply = await edge("GET", path)
        assert reply.status == 200, path
        assert [row["orderId"] for row in reply.body] == [f"order{number:02}" for number in expected], path


@pytest.mark.spec("B4.1-10")
async def test_pages_follow_each_other_without_gap_or_repeat(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.as_user("pager")
    await add_many(pool, "pager")
    for limit in (1, 5, 12, 100):
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            reply = await edge("GET", f"/orders?limit={limit}{cursor}")
            assert len(reply.body) <= limit
            seen += [row["orderId"] for row in reply.body]
            following = reply.headers.get("X-Next-Cursor")
            cursor = f"&cursor={following}" if following else None
        assert seen == [f"order{number:02}" for number in range(11, -1, -1)], limit


@pytest.mark.spec("B4.1-10")
async def test_a_list_has_100_entries_by_default(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.as_user("owner-of-101")
    for number in range(101):
        await add_row(pool, f"o{number}", user_id="owner-of-101")
    reply = await edge("GET", "/orders")
    assert len(reply.body) == 100
    assert reply.headers["X-Next-Cursor"]


BAD_PARAMETERS = (
    ("limit=0", "limit must be at least 1"),
    ("limit=1001", "limit must be at most 1000"),
    ("limit=many", "limit must be a whole number"),
    ("cursor=abc", "cursor is not one that this list gave"),
    ("cursor=%00%ff", "cursor is not one that this list gave"),
    ("cursor=WyJ4IiwxXQ", "cursor is not one that this list gave"),
    ("cursor=" + "A" * 600, "cursor must be at most 512 characters long"),
    ("status=done", "status must be one of pending, open, partially_filled, filled, cancelled, rejected"),
    ("symbol=btc", "symbol must have the format <BASE>-<QUOTE>, for example BTC-USD"),
    ("side=hold", "side must be one of 'buy' or 'sell'"),
)


async def test_a_bad_list_parameter_is_refused_by_name(edge: RestClient) -> None:
    for query, message in BAD_PARAMETERS:
        reply = await edge("GET", f"/orders?{query}")
        assert (reply.status, reply.message) == (400, [message]), query


LONG_AGO = "2020-01-01T00:00:00.000Z"


def remember(router: FakeRouter, *orders: tuple[str, str]) -> None:
    """Let the router know orders as (order id, user id)."""
    for order_id, user_id in orders:
        router.orders[order_id] = order_record(
            order_id=order_id, user_id=user_id, created_at=LONG_AGO, updated_at=LONG_AGO
        )


async def test_orders_of_one_caller_are_worked_on_at_the_same_time(edge: RestClient, router: FakeRouter) -> None:
    replies = await asyncio.gather(*(edge("POST", "/orders", LIMIT) for _ in range(200)))
    assert {reply.status for reply in replies} == {201}
    assert len({reply.body["orderId"] for reply in replies}) == 200


async def test_a_lost_bus_answers_503_and_nothing_is_sent_later(
    own_edge: RestClient, router: FakeRouter, nats_server: Any, bus: Bus
) -> None:
    nats_server.kill()
    await asyncio.wait_for(_until_refused(own_edge), stretched(60))
    assert (await own_edge("POST", "/orders", LIMIT)).status == 503


async def _until_refused(edge: RestClient) -> None:
    while (await edge("POST", "/orders", LIMIT)).status == 201:
        await asyncio.sleep(0.01)


async def test_a_client_sees_what_it_was_answered_before_the_rows_are_written(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    """The fake router writes no rows: whatever is listed here is what the edge has answered."""
    edge.as_user("reader")
    long_ago = datetime(2019, 1, 1, tzinfo=UTC)
    await add_row(pool, "older", user_id="reader", created_at=long_ago, updated_at=long_ago)
    placed = [(await edge("POST", "/orders", LIMIT)).body for _ in range(3)]
    ids = sorted((record["orderId"] for record in placed), reverse=True)
    assert [row["orderId"] for row in (await edge("GET", "/orders")).body] == [*ids, "older"]
    first = await edge("GET", "/orders?limit=2")
    assert [row["orderId"] for row in first.body] == ids[:2]
    second = await edge("GET", f"/orders?limit=2&cursor={first.headers['X-Next-Cursor']}")
    assert [row["orderId"] for row in second.body] == [ids[2], "older"]
    await edge("DELETE", f"/orders/{ids[0]}")
    assert (await edge("GET", f"/orders/{ids[0]}")).body["status"] == "cancelled"
    assert [row["orderId"] for row in (await edge("GET", "/orders?status=open")).body] == [*ids[1:], "older"]
    assert [row["orderId"] for row in (await edge("GET", "/orders/history")).body] == [ids[0]]
    remember(router, ("older", "reader"))
    assert sorted((await edge("DELETE", "/orders")).body["cancelled"]) == sorted([*ids[1:], "older"])
    assert (await edge("GET", "/orders?status=open")).body == []
    edge.as_user("stranger")
    assert (await edge("GET", "/orders")).body == []


@pytest.mark.spec("A2.1-15", "A2.1-16")
async def test_the_rows_have_the_decided_columns(pool: asyncpg.Pool) -> None:
    columns = {
        table: {
            row["column_name"]
            for row in await pool.fetch(
                "SELECT column_name FROM information_schema.columns WHERE table_name = $1", table
            )
        }
        for table in ("orders", "trades")
    }
    assert columns["orders"] >= {
        "order_id", "engine_order_id", "client_order_id", "user_id", "symbol", "side", "type", "time_in_force",
        "margin_mode", "price", "quantity", "filled_quantity", "filled_notional", "remaining_quantity", "fee",
        "fee_currency", "status", "reject_reason", "created_at", "updated_at",
    }  # fmt: skip
    assert columns["trades"] >= {
        "trade_id", "sequence", "symbol", "price", "quantity", "taker_side", "taker_order_id", "maker_order_id",
        "buyer_id", "seller_id", "taker_fee", "maker_fee", "fee_currency", "executed_at",
    }  # fmt: skip
