"""The client's requests, results, errors and repeats, against a stand-in for the REST edge."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.client import ApiError, Level, OpenSpotClient, Session, UnreachableError
from openspot.client.transport import RetryPolicy
from tests.support.fake_rest_edge import CUT, FakeRestEdge, running_fake
from tests.support.ports import free_port

ORDER: dict[str, Any] = {
    "orderId": "order1",
    "clientOrderId": None,
    "userId": "u1",
    "symbol": "BTC-USD",
    "side": "buy",
    "type": "limit",
    "timeInForce": "gtc",
    "marginMode": None,
    "price": "25000.01",
    "quantity": "0.10000001",
    "filledQuantity": "0",
    "remainingQuantity": "0.10000001",
    "averagePrice": None,
    "fee": "0",
    "feeCurrency": "USD",
    "status": "open",
    "rejectReason": None,
    "createdAt": "2026-01-02T03:04:05.678Z",
    "updatedAt": "2026-01-02T03:04:05.678Z",
    "aFieldOfTomorrow": 1,
}
TOKENS = {"accessToken": "a1", "refreshToken": "r1", "tokenType": "Bearer", "expiresIn": 900, "userId": "u1"}


@pytest.fixture
async def fake() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as edge:
        yield edge


@pytest.fixture
async def client(fake: FakeRestEdge) -> AsyncIterator[OpenSpotClient]:
    async with OpenSpotClient(fake.url, retry=RetryPolicy(attempts_max=3, pause_s=0.001)) as made:
        yield made


async def test_an_order_is_sent_exactly_and_comes_back_typed(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(201, ORDER)
    order = await client.place_order("BTC-USD", "buy", quantity=Decimal("0.10000001"), price="25000.01")
    assert fake.asked[0].method == "POST"
    assert fake.asked[0].path == "/api/v1/orders"
    assert fake.asked[0].body == {
        "symbol": "BTC-USD",
        "side": "buy",
        "type": "limit",
        "quantity": "0.10000001",
        "price": "25000.01",
    }
    assert (order.order_id, order.price, order.quantity) == ("order1", Decimal("25000.01"), Decimal("0.10000001"))
    assert order.created_at == datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    assert order.average_price is None


@pytest.mark.spec("A3.2-01")
async def test_an_order_says_its_state_under_the_alternative_naming_as_well(
    fake: FakeRestEdge, client: OpenSpotClient
) -> None:
    for fields, name in (
        ({"status": "open"}, "New"),
        ({"status": "partially_filled"}, "PartiallyFilled"),
        ({"status": "cancelled"}, "Cancelled"),
        ({"status": "cancelled", "type": "market", "price": None}, "Expired"),
    ):
        fake.answer(200, ORDER | fields)
        assert (await client.order("order1")).state_name == name


async def test_a_large_decimal_is_sent_without_an_exponent(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(201, ORDER)
    await client.place_order("BTC-USD", "sell", quantity=Decimal("1E+3"), price=Decimal("1E-8"))
    assert (fake.asked[0].body["quantity"], fake.asked[0].body["price"]) == ("1000", "0.00000001")


@pytest.mark.parametrize("quantity", [0.1, True, [1]])
async def test_a_number_that_is_not_exact_is_refused_before_it_is_sent(
    fake: FakeRestEdge, client: OpenSpotClient, quantity: Any
) -> None:
    with pytest.raises(TypeError, match="quantity must be"):
        await client.place_order("BTC-USD", "buy", quantity=quantity, price="1")
    assert not fake.asked


async def test_every_read_has_its_path_and_its_type(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(
        200, [{"asset": "USD", "total": "10", "available": "7.5", "locked": "2.5", "reserved": "0", "source": "engine"}]
    )
    assert [balance.available for balance in await client.balances()] == [Decimal("7.5")]
    fake.answer(
        200, {"asset": "USD", "total": "10", "available": "7.5", "locked": "2.5", "reserved": "0", "source": "engine"}
    )
    assert (await client.balance("USD")).locked == Decimal("2.5")
    book = {"symbol": "BTC-USD", "bids": [["1.5", "2"]], "asks": [], "sequence": 7, "timestamp": 1}
    fake.answer(200, book)
    assert (await client.order_book("BTC-USD", depth=5)).bids == [Level(Decimal("1.5"), Decimal(2))]
    trade = {
        "tradeId": "e-1", "symbol": "BTC-USD", "price": "1", "quantity": "2", "side": "buy", "timestamp": 3,
        "sequence": 4,
    }  # fmt: skip
    fake.answer(200, [trade], X_Next_Cursor="c2")
    trades = await client.trades("BTC-USD", limit=1)
    assert ([entry.trade_id for entry in trades], trades.next_cursor) == (["e-1"], "c2")
    aggregate = {
        "firstTradeId": "e-1", "lastTradeId": "e-2", "symbol": "BTC-USD", "price": "1", "quantity": "2.5",
        "side": "buy", "trades": 2, "timestamp": 3, "firstSequence": 4, "lastSequence": 5,
    }  # fmt: skip
    fake.answer(200, [aggregate], X_Next_Cursor="c3")
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    aggregates = await client.aggregate_trades("BTC-USD", since=since, limit=1)
    assert ([entry.quantity for entry in aggregates], aggregates.next_cursor) == ([Decimal("2.5")], "c3")
    fake.answer(200, [aggregate])
    assert (await client.aggregate_trades("BTC-USD", from_trade_id="e-1")).next_cursor is None
    market = {
        "symbol": "BTC-USD", "baseAsset": "BTC", "quoteAsset": "USD", "active": True, "tickSize": "0.01",
        "lotSize": "0.00000001", "takerFee": 25, "makerFee": 15, "baseScaleK": 10**8, "quoteScaleK": 100,
        "quantityMin": "0.00001", "quantityMax": "100", "notionalMin": None, "notionalMax": None,
        "deviationBpsMax": 2000, "slippageBpsMax": 500, "priceReference": "last_trade", "referencePrice": None,
        "phase": "continuous", "phaseEndsAt": None, "phaseCause": None, "status": "open", "name": "",
        "announcement": "", "logo": "", "quoteLogo": "", "schedule": [],
        "rules": "complete", "margin": True,
    }  # fmt: skip
    fake.answer(200, [market])
    assert (await client.markets())[0].base_scale_k == 10**8
    fake.answer(200, market)
    assert (await client.market("BTC-USD")).taker_fee == 25
    ticker = {
        "symbol": "BTC-USD", "lastPrice": None, "bidPrice": "1", "bidQuantity": "3", "askPrice": "2",
        "askQuantity": "0.5", "openPrice": None, "highPrice": None, "lowPrice": None, "volume": "0",
        "quoteVolume": "0", "priceChange": None, "priceChangePercent": None, "timestamp": 1,
    }  # fmt: skip
    fake.answer(200, ticker)
    shown = await client.ticker("BTC-USD")
    assert (shown.ask_price, shown.bid_quantity, shown.ask_quantity) == (Decimal(2), Decimal(3), Decimal("0.5"))
    fake.answer(200, [ticker])
    assert (await client.tickers())[0].last_price is None
    entry = {
        "transactionId": "t", "asset": "USD", "amount": "-1.5", "balance": "8.5", "entryType": "debit",
        "referenceType": "trade", "referenceId": "e-1", "createdAt": "2026-01-02T03:04:05.678Z",
    }  # fmt: skip
    fake.answer(200, [entry])
    assert [entry.amount for entry in await client.transactions(asset="USD")] == [Decimal("-1.5")]
    fake.answer(200, ORDER)
    assert (await client.order("order/1")).status == "open"
    assert [(asked.method, asked.path, asked.query) for asked in fake.asked] == [
        ("GET", "/api/v1/accounts/balances", {}),
        ("GET", "/api/v1/accounts/balances/USD", {}),
        ("GET", "/api/v1/markets/BTC-USD/orderbook", {"depth": "5"}),
        ("GET", "/api/v1/markets/BTC-USD/trades", {"limit": "1"}),
        ("GET", "/api/v1/markets/BTC-USD/agg-trades", {"from": "2026-01-02T03:04:05+00:00", "limit": "1"}),
        ("GET", "/api/v1/markets/BTC-USD/agg-trades", {"fromTradeId": "e-1", "limit": "100"}),
        ("GET", "/api/v1/markets", {}),
        ("GET", "/api/v1/markets/BTC-USD", {}),
        ("GET", "/api/v1/markets/BTC-USD/ticker", {}),
        ("GET", "/api/v1/markets/tickers", {}),
        ("GET", "/api/v1/accounts/transactions", {"asset": "USD", "limit": "100"}),
        ("GET", "/api/v1/orders/order%2F1", {}),
    ]


async def test_lists_come_in_pages(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(200, [ORDER, ORDER], X_Next_Cursor="c2")
    page = await client.orders(status="open", client_order_id="mine")
    assert (len(page), page.next_cursor) == (2, "c2")
    assert fake.asked[0].query == {"status": "open", "clientOrderId": "mine", "limit": "100"}
    fake.answer(200, [ORDER])
    last = await client.order_history(cursor=page.next_cursor, limit=5)
    assert [order.order_id for order in last] == ["order1"]
    assert last.next_cursor is None
    assert fake.asked[1].query == {"limit": "5", "cursor": "c2"}


async def test_cancels_name_what_they_cancel(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(200, ORDER | {"status": "cancelled"})
    assert (await client.cancel_order("order1")).status == "cancelled"
    fake.answer(200, {"cancelled": ["a"], "failed": [{"orderId": "b", "reason": "gone"}]})
    outcome = await client.cancel_orders(symbol="BTC-USD", order_ids=["a", "b"])
    assert outcome.cancelled == ["a"]
    assert outcome.failed[0].reason == "gone"
    fake.answer(200, {"cancelled": [], "failed": []})
    await client.cancel_orders()
    fake.answer(200, {"cancelled": [], "failed": []})
    await client.cancel_orders(client_order_id="mine")
    assert [(asked.method, asked.path, asked.body) for asked in fake.asked] == [
        ("DELETE", "/api/v1/orders/order1", None),
        ("DELETE", "/api/v1/orders", {"symbol": "BTC-USD", "orderIds": ["a", "b"]}),
        ("DELETE", "/api/v1/orders", None),
        ("DELETE", "/api/v1/orders", {"clientOrderId": "mine"}),
    ]


async def test_a_refusal_carries_everything_that_the_platform_said(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    body = {
        "statusCode": 504, "message": ["a is wrong", "b too"], "error": "x", "code": "ORDER_STATUS_UNKNOWN",
        "requestId": "r9", "details": {"orderId": "o1"},
    }  # fmt: skip
    fake.answer(504, body, Retry_After="7")
    with pytest.raises(ApiError) as refusal:
        await client.place_order("BTC-USD", "buy", quantity="1", price="1")
    error = refusal.value
    assert (error.status, error.code, error.message) == (504, "ORDER_STATUS_UNKNOWN", "a is wrong; b too")
    assert (error.retry_after_s, error.request_id, error.details) == (7.0, "r9", {"orderId": "o1"})


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"", b"\xff\xfe", b"[1]", b'{"message":5}'])
async def test_a_refusal_in_another_shape_is_still_an_api_error(
    fake: FakeRestEdge, client: OpenSpotClient, body: bytes
) -> None:
    fake.answer(418, body)
    with pytest.raises(ApiError) as refusal:
        await client.cancel_order("x")
    assert (refusal.value.status, refusal.value.code) == (418, "HTTP_418")


@pytest.mark.parametrize("body", [b"", b"{", b'{"orderId":"x"}', b"null"])
async def test_an_answer_that_cannot_be_read_is_no_answer(
    fake: FakeRestEdge, client: OpenSpotClient, body: bytes
) -> None:
    fake.answer(200, body)
    with pytest.raises(UnreachableError, match="not readable"):
        await client.order("x")


@pytest.mark.parametrize("fault", [(503, {}, {}), (502, {}, {}), (504, {}, {})])
async def test_a_read_is_repeated_a_few_times(fake: FakeRestEdge, client: OpenSpotClient, fault: Any) -> None:
    fake.answers.extend([fault, fault])
    fake.answer(200, ORDER)
    assert (await client.order("order1")).order_id == "order1"
    assert len(fake.asked) == 3
    fake.answers.extend([fault, fault, fault])
    with pytest.raises(ApiError):
        await client.order("order1")
    assert len(fake.asked) == 6


async def test_a_read_whose_connection_was_cut_is_repeated(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answers.extend([CUT, CUT])
    fake.answer(200, ORDER)
    assert (await client.order("order1")).order_id == "order1"
    fake.answers.extend([CUT] * 10)
    with pytest.raises(UnreachableError):
        await client.order("order1")
    assert fake.answers, "it was repeated without a bound"


@pytest.mark.parametrize("fault", [CUT, (503, {}, {"Retry-After": "0"}), (504, {}, {}), (500, {}, {})])
async def test_an_order_that_got_no_clear_answer_is_never_sent_again(
    fake: FakeRestEdge, client: OpenSpotClient, fault: Any
) -> None:
    # On a connection that has served before, too.
    fake.answer(200, [])
    await client.markets()
    fake.answers.extend([fault, fault])
    with pytest.raises((ApiError, UnreachableError)):
        await client.place_order("BTC-USD", "buy", quantity="1", price="1")
    assert len(fake.asked) == 2


async def test_a_throttled_request_waits_as_long_as_it_was_told_and_is_sent_again(fake: FakeRestEdge) -> None:
    told: list[float] = []
    loop = asyncio.get_running_loop()
    async with OpenSpotClient(fake.url, retry=RetryPolicy(on_throttled=told.append)) as client:
        fake.refuse(429, "TOO_MANY_REQUESTS", Retry_After="1")
        fake.answer(201, ORDER)
        start = loop.time()
        assert (await client.place_order("BTC-USD", "buy", quantity="1", price="1")).order_id == "order1"
        assert loop.time() - start >= 0.99
    assert told == [1.0]


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {"Retry_After": "3600"}])
async def test_a_throttled_request_without_a_time_worth_waiting_is_not_sent_again(
    fake: FakeRestEdge, client: OpenSpotClient, headers: dict[str, str]
) -> None:
    fake.refuse(429, "TOO_MANY_REQUESTS", **headers)
    with pytest.raises(ApiError) as refusal:
        await client.order("order1")
    assert refusal.value.status == 429
    assert len(fake.asked) == 1


async def test_nobody_at_the_address_is_unreachable() -> None:
    async with OpenSpotClient(f"http://127.0.0.1:{free_port()}", retry=RetryPolicy(attempts_max=1)) as client:
        with pytest.raises(UnreachableError, match="POST /auth/login"):
            await client.login("a@example.org", "password")


async def test_a_platform_that_does_not_answer_in_time_is_unreachable() -> None:
    silent = await asyncio.start_server(lambda reader, writer: reader.read(), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with OpenSpotClient(f"http://127.0.0.1:{port}", timeout_s=0.05) as client:
        with pytest.raises(UnreachableError):
            await client.login("a@example.org", "password")
    silent.close()


async def test_a_login_is_used_from_then_on_and_a_logout_ends_it(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(201, {"userId": "u1", "email": "a@b.org", "role": "user", "createdAt": "2026-01-02T03:04:05.678Z"})
    assert (await client.register("a@b.org", "password")).user_id == "u1"
    fake.answer(200, TOKENS)
    assert (await client.login("a@b.org", "password")).user_id == "u1"
    fake.answer(200, [])
    await client.balances()
    fake.answer(200, {"success": True})
    await client.logout()
    await client.logout()
    fake.answer(200, [])
    await client.markets()
    assert [asked.authorization for asked in fake.asked] == [None, None, "Bearer a1", "Bearer a1", None]


async def test_an_expired_token_is_renewed_once_for_all_waiting_calls_and_each_is_repeated(
    fake: FakeRestEdge, client: OpenSpotClient
) -> None:
    client.resume(Session("a1", "r1", 900, "u1"))
    for _ in range(3):
        fake.refuse(401, "UNAUTHENTICATED")
    fake.answer(200, TOKENS | {"accessToken": "a2", "refreshToken": "r2"})
    for _ in range(3):
        fake.answer(200, ORDER)
    await asyncio.gather(*(client.order(f"o{number}") for number in range(3)))
    renewals = [asked for asked in fake.asked if asked.path == "/api/v1/auth/refresh"]
    assert [asked.body for asked in renewals] == [{"refreshToken": "r1"}]
    assert [asked.authorization for asked in fake.asked].count("Bearer a2") == 3


async def test_a_session_that_cannot_be_renewed_gives_the_first_refusal(
    fake: FakeRestEdge, client: OpenSpotClient
) -> None:
    client.resume(Session("a1", "r1", 900, "u1"))
    fake.refuse(401, "UNAUTHENTICATED", "the token has expired")
    fake.refuse(401, "INVALID_REFRESH_TOKEN")
    with pytest.raises(ApiError, match="the token has expired"):
        await client.balances()
    assert len(fake.asked) == 2


async def test_deposits_and_own_trades_are_pages(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    deposit = {
        "txHash": "t1", "asset": "BTC", "network": "bitcoin", "address": "a1", "amount": "0.5", "status": "pending",
        "requiredConfirmations": 3, "createdAt": "2026-01-02T03:04:05.678Z", "confirmedAt": None,
    }  # fmt: skip
    fake.answer(200, [deposit], X_Next_Cursor="c2")
    deposits = await client.deposits(asset="BTC", limit=1)
    assert (deposits.entries[0].amount, deposits.entries[0].confirmed_at) == (Decimal("0.5"), None)
    assert deposits.next_cursor == "c2"
    trade = {
        "tradeId": "e-1", "orderId": "o1", "symbol": "BTC-USD", "side": "sell", "price": "25000.01", "quantity": "0.1",
        "fee": "6.25", "feeCurrency": "USD", "role": "taker", "sequence": 7, "executedAt": "2026-01-02T03:04:05.678Z",
    }  # fmt: skip
    fake.answer(200, [trade])
    since, until = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    trades = await client.own_trades(symbol="BTC-USD", order_id="o1", since=since, until=until)
    assert (trades.entries[0].fee, trades.entries[0].role, trades.next_cursor) == (Decimal("6.25"), "taker", None)
    assert [(asked.path, asked.query) for asked in fake.asked] == [
        ("/api/v1/accounts/deposits", {"asset": "BTC", "limit": "1"}),
        (
            "/api/v1/orders/trades",
            {
                "symbol": "BTC-USD", "orderId": "o1", "from": "2026-01-02T00:00:00+00:00",
                "to": "2026-01-03T00:00:00+00:00", "limit": "100",
            },
        ),
    ]  # fmt: skip
