"""Orders and trades of all users for operators: lists, files, and the cancel of one order."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import OrderRecord
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.operators import OperatorRole, user_operator
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.trading import store
from openspot.rest_edge.operators.trading.service import OperatedTrading
from openspot.rest_edge.operators.trading.store import TradingFilter, TradingStore
from openspot.rest_edge.orders.recent import RecentOrderRecords
from openspot.rest_edge.orders.refusals import already_ended, status_unknown
from tests.support.authenticator import register
from tests.support.edge_operators import link_owners, make_operator
from tests.support.fake_router import FakeRouter
from tests.support.filled_tables import insert
from tests.support.histories import BEGIN, RecordingPool, fill, plan_of
from tests.support.order_records import order_record
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

ADA, EVE = "ada@example.org", "eve@example.org"
SUPPORT, MARKETS = OperatorRole.SUPPORT, OperatorRole.MARKET_OPERATIONS
TREASURY, AUDITOR = OperatorRole.TREASURY, OperatorRole.AUDITOR
WHY = {"reason": "fat finger, ticket 4711"}
TRAIL = "SELECT action, subject_id, reason, before, after FROM operator_actions ORDER BY entry_number"


async def four_orders(pool: asyncpg.Pool) -> None:
    for number, (user, symbol, side, status) in enumerate(
        (
            ("u1", "BTC-USD", "buy", "open"),
            ("u2", "ETH-USD", "sell", "filled"),
            ("margin:u1", "BTC-USD", "sell", "cancelled"),
            ("u1", "ETH-USD", "buy", "partially_filled"),
        ),
        1,
    ):
        await insert(
            pool, "orders", {"user_id": user}, order_id=f"o{number}", engine_order_id=number, symbol=symbol, side=side,
            status=status, client_order_id="=1+1", created_at=f"2026-01-0{number}T00:00:00Z",
        )  # fmt: skip


async def three_trades(pool: asyncpg.Pool) -> None:
    """The last two are of one moment, and the last is one of a user with itself."""
    for number, (buyer, seller, symbol, side, day) in enumerate(
        (
            ("u1", "u2", "BTC-USD", "buy", 1),
            ("u2", "u3", "ETH-USD", "sell", 2),
            ("u1", "u1", "BTC-USD", "sell", 2),
        ),
        1,
    ):
        await insert(
            pool, "trades", {"buyer_id": buyer}, trade_id=f"e-{number}", sequence=number, seller_id=seller,
            symbol=symbol, taker_side=side, executed_at=f"2026-01-0{day}T00:00:00Z", fee_currency="=USD",
        )  # fmt: skip


def ids_of(edge: RestClient, path: str, name: str) -> Callable[[str], Any]:
    async def ids(query: str) -> list[str]:
        reply = await edge("GET", f"/operator/{path}?{query}")
        assert reply.status == 200, reply.body
        return [row[name] for row in reply.body]

    return ids


async def test_the_orders_of_all_users_are_filtered_and_paged(edge: RestClient, pool: asyncpg.Pool) -> None:
    await four_orders(pool)
    await make_operator(edge, pool, ADA, MARKETS)
    ids = ids_of(edge, "orders", "orderId")
    assert await ids("") == ["o4", "o3", "o2", "o1"]
    assert await ids("symbol=BTC-USD") == ["o3", "o1"]
    assert await ids("side=buy") == ["o4", "o1"]
    assert await ids("userId=u1") == ["o4", "o1"]
    assert await ids("userId=margin:u1") == ["o3"]
    assert await ids("status=pending,open,partially_filled") == ["o4", "o1"]
    assert await ids("status=open") == ["o1"]
    assert await ids("status=filled,cancelled&side=sell&symbol=ETH-USD") == ["o2"]
    assert await ids("from=2026-01-02T00:00:00Z&to=2026-01-04T00:00:00Z") == ["o3", "o2"]
    page = await edge("GET", "/operator/orders?limit=3")
    cursor = page.headers["X-Next-Cursor"]
    last = await edge("GET", f"/operator/orders?limit=3&cursor={cursor}")
    assert [row["orderId"] for row in last.body] == ["o1"] and "X-Next-Cursor" not in last.headers
    row = last.body[0]
    assert (row["userId"], row["symbol"], row["status"]) == ("u1", "BTC-USD", "open")
    for bad, name in (
        ("status=gone", "status"), ("symbol=btc", "symbol"), ("side=both", "side"), ("cursor=zzz", "cursor"),
        ("userId=a%00b", "userId"), ("from=yesterday", "from"), ("limit=1001", "limit"),
    ):  # fmt: skip
        refused = await edge("GET", f"/operator/orders?{bad}")
        assert (refused.status, name in str(refused.message)) == (400, True), bad


async def test_the_trades_of_all_users_are_filtered_and_paged(edge: RestClient, pool: asyncpg.Pool) -> None:
    await three_trades(pool)
    await make_operator(edge, pool, ADA, SUPPORT)
    ids = ids_of(edge, "trades", "tradeId")
    assert await ids("") == ["e-3", "e-2", "e-1"]
    assert await ids("symbol=BTC-USD") == ["e-3", "e-1"]
    assert await ids("side=sell") == ["e-3", "e-2"]
    assert await ids("side=buy&symbol=BTC-USD") == ["e-1"]
    assert await ids("userId=u1") == ["e-3", "e-1"]
    assert await ids("userId=u2") == ["e-2", "e-1"]
    assert await ids("userId=u2&symbol=ETH-USD&side=sell") == ["e-2"]
    assert await ids("userId=u1&to=2026-01-02T00:00:00Z") == ["e-1"]
    assert await ids("from=2026-01-02T00:00:00Z") == ["e-3", "e-2"]
    for query in ("", "userId=u2", "symbol=BTC-USD"):
        wanted = await ids(query)
        page = await edge("GET", f"/operator/trades?limit=1&{query}")
        following = f"limit=9&cursor={page.headers['X-Next-Cursor']}&{query}"
        assert [page.body[0]["tradeId"], *await ids(following)] == wanted
    row = (await edge("GET", "/operator/trades?limit=1&userId=u2")).body[0]
    assert (row["buyerId"], row["sellerId"], row["takerSide"], row["sequence"]) == ("u2", "u3", "sell", 2)
    first = (await edge("GET", "/operator/trades?limit=1")).headers["X-Next-Cursor"]
    for bad, name in (
        ("symbol=btc", "symbol"), ("side=both", "side"), ("cursor=zzz", "cursor"), ("userId=%20", "userId"),
        (f"userId=u1&cursor={first}", "cursor"),
    ):  # fmt: skip
        refused = await edge("GET", f"/operator/trades?{bad}")
        assert (refused.status, name in str(refused.message)) == (400, True), bad


async def test_what_a_role_may_not_read_it_may_not_save_or_cancel_either(edge: RestClient, pool: asyncpg.Pool) -> None:
    await four_orders(pool)
    await make_operator(edge, pool, ADA, TREASURY)
    for path in ("orders", "trades", "orders/export?reason=curious", "trades/export?reason=curious"):
        refused = await edge("GET", f"/operator/{path}")
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING"), path
    await pool.execute("UPDATE operator_roles SET role = 'SUPPORT'")
    assert (await edge("GET", "/operator/orders")).status == 200
    for method, path in (("GET", "orders/export?reason=curious"), ("POST", "orders/o1/cancellation")):
        refused = await edge(method, f"/operator/{path}", WHY if method == "POST" else None)
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING"), path
    assert await pool.fetch(TRAIL) == []


async def test_both_lists_are_files_without_formulas_that_the_trail_notes(edge: RestClient, pool: asyncpg.Pool) -> None:
    await four_orders(pool)
    await three_trades(pool)
    await make_operator(edge, pool, ADA, AUDITOR)
    assert (await edge("GET", "/operator/orders/export")).status == 400
    assert (await edge("GET", "/operator/orders/export?reason=audit&status=gone")).status == 400
    orders = await edge("GET", "/operator/orders/export?reason=yearly%20audit&userId=u1&status=open")
    assert orders.headers["Content-Disposition"] == 'attachment; filename="orders.csv"'
    head, row = orders.body.splitlines()
    assert head.split(",")[:4] == ["order_id", "client_order_id", "user_id", "symbol"]
    assert row.split(",")[:4] == ["o1", "'=1+1", "u1", "BTC-USD"]
    trades = await edge("GET", "/operator/trades/export?reason=yearly%20audit&symbol=BTC-USD&to=2026-01-02T00:00:00Z")
    head, row = trades.body.splitlines()
    named = dict(zip(head.split(","), row.split(","), strict=True))
    assert (named["trade_id"], named["buyer_id"], named["seller_id"], named["fee_currency"]) == (
        "e-1", "u1", "u2", "'=USD",
    )  # fmt: skip
    entries = await pool.fetch(TRAIL)
    assert [(entry["action"], entry["reason"]) for entry in entries] == [
        ("orders.exported", "yearly audit"), ("trades.exported", "yearly audit"),
    ]  # fmt: skip
    assert '"status":"open"' in entries[0]["after"] and '"user":"u1"' in entries[0]["after"]
    assert '"market":"BTC-USD"' in entries[1]["after"] and '"to":"2026-01-02' in entries[1]["after"]


ROWS = 2_000
LIMIT = 7
FILTERS = (
    TradingFilter(),
    TradingFilter(user_id="trader"),
    TradingFilter(symbol="OLD-USD"),
    TradingFilter(symbol="OLD-USD", side="sell"),
    TradingFilter(user_id="trader", symbol="OLD-USD"),
    TradingFilter(user_id="trader", side="sell", span=Span(BEGIN, BEGIN + timedelta(seconds=80))),
    TradingFilter(span=Span(BEGIN + timedelta(seconds=100), BEGIN + timedelta(seconds=160))),
    TradingFilter(statuses=("open",)),
    TradingFilter(statuses=("open", "partially_filled"), symbol="OLD-USD"),
    TradingFilter(statuses=("pending", "open", "partially_filled")),
    TradingFilter(statuses=("cancelled",)),
    TradingFilter(side="sell"),
)


@pytest.fixture
async def history(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> asyncpg.Pool:
    """Orders and trades, ten of a moment. Few fit the filters, and those are the oldest."""
    await fill(pool, ROWS)
    at = "date_trunc('second', $1::timestamptz + {} / 10 * interval '10 seconds')"
    await pool.execute(f"UPDATE orders SET created_at = {at.format('engine_order_id')}", BEGIN)
    await pool.execute(f"UPDATE trades SET executed_at = {at.format('sequence')}", BEGIN)
    await pool.execute("UPDATE orders SET symbol = 'OLD-USD', side = 'sell' WHERE engine_order_id <= 60")
    await pool.execute("UPDATE orders SET status = 'cancelled' WHERE engine_order_id BETWEEN 41 AND 60")
    await pool.execute("UPDATE trades SET symbol = 'OLD-USD' WHERE sequence <= 60")
    await pool.execute("UPDATE trades SET seller_id = buyer_id WHERE sequence % 5 = 0")
    for table in ("orders", "trades"):
        await pool.execute(f"VACUUM ANALYZE {table}")
    monkeypatch.setattr(store, "LOOKED_THROUGH", 100)
    return pool


async def all_pages(read: Callable[[Any], Any]) -> AsyncIterator[list[Any]]:
    after: Any = None
    while True:
        rows, after = await read(after)
        assert len(rows) <= LIMIT
        yield rows
        if after is None:
            return


def wanted_of(table: str, wanted: TradingFilter) -> str:
    """The same filter in plain SQL."""
    time, side = ("created_at", "side") if table == "orders" else ("executed_at", "taker_side")
    found = ["true"]
    if wanted.user_id:
        owners = ("user_id",) if table == "orders" else ("buyer_id", "seller_id")
        found.append(f"'{wanted.user_id}' IN ({', '.join(owners)})")
    if wanted.symbol:
        found.append(f"symbol = '{wanted.symbol}'")
    if wanted.side:
        found.append(f"{side} = '{wanted.side}'")
    if wanted.span.since and wanted.span.until:
        found.append(f"{time} >= '{wanted.span.since}' AND {time} < '{wanted.span.until}'")
    if wanted.statuses and table == "orders":
        found.append(f"status IN ({', '.join(map(repr, wanted.statuses))})")
    return " AND ".join(found)


@pytest.mark.parametrize("looked_through", [67, 73])
@pytest.mark.parametrize("wanted", FILTERS, ids=str)
async def test_pages_have_each_row_once_and_in_order_however_few_fit(
    history: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch, wanted: TradingFilter, looked_through: int
) -> None:
    # With the first number, the last row that a page of orders looks through fits; with the second, of a user's trades.
    monkeypatch.setattr(store, "LOOKED_THROUGH", looked_through)
    lists = TradingStore(history)
    found = [row.order_id async for page in all_pages(lambda after: lists.orders(wanted, LIMIT, after)) for row in page]
    query = "SELECT order_id FROM orders WHERE {} ORDER BY created_at DESC, order_id DESC"
    assert found == [row["order_id"] for row in await history.fetch(query.format(wanted_of("orders", wanted)))]

    def read(after: Any) -> Any:
        if wanted.user_id is not None:
            return lists.trades_of(wanted.user_id, wanted, LIMIT, after)
        return lists.trades(wanted, LIMIT, after)

    found = [row.trade_id async for page in all_pages(read) for row in page]
    query = "SELECT trade_id FROM trades WHERE {} ORDER BY executed_at DESC, sequence DESC"
    assert found == [row["trade_id"] for row in await history.fetch(query.format(wanted_of("trades", wanted)))]


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
async def test_no_page_reads_much_more_than_it_looks_through(history: asyncpg.Pool, wanted: TradingFilter) -> None:
    recording = RecordingPool(history)
    lists = TradingStore(recording)  # type: ignore[arg-type]
    await lists.orders(wanted, LIMIT, None)
    _, middle = await lists.orders(TradingFilter(), LIMIT, None)
    await lists.orders(wanted, LIMIT, middle)
    if wanted.user_id is not None:
        await lists.trades_of(wanted.user_id, wanted, LIMIT, None)
        await lists.trades_of(wanted.user_id, wanted, LIMIT, ROWS // 2)
    else:
        _, place = await lists.trades(wanted, LIMIT, None)
        await lists.trades(wanted, LIMIT, place)
    async with history.acquire() as connection:
        for mode in ("force_custom_plan", "force_generic_plan"):
            for query, values in recording.issued:
                nodes = await plan_of(connection, query, values, mode)
                assert "Seq Scan" not in {node.kind for node in nodes}, (query, nodes)
                # A page of one user's trades merges four lists, and finds what ten rows of a moment have before it.
                assert max(node.rows for node in nodes) <= 2 * store.LOOKED_THROUGH, (query, nodes)


async def an_order(pool: asyncpg.Pool, router: FakeRouter, user: str, order_id: str = "o1", **fields: Any) -> None:
    """An open order that rows and router know."""
    given = {"symbol": "BTC-USD", "status": "open", "filled_quantity": "1", "remaining_quantity": "2"} | fields
    given["updated_at"] = "2026-01-01T00:00:00Z"
    await insert(pool, "orders", {"user_id": user}, order_id=order_id, engine_order_id=len(order_id), **given)
    router.orders[order_id] = order_record(order_id=order_id, user_id=user, symbol="BTC-USD", status="cancelled")


async def test_an_order_of_a_user_is_cancelled_once_after_the_trail_has_it(
    edge: RestClient, pool: asyncpg.Pool, router: FakeRouter
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await an_order(pool, router, eve)
    await make_operator(edge, pool, ADA, MARKETS)
    path = "/operator/orders/o1/cancellation"
    for bad in ({}, {"reason": ""}, {"reason": "x"}):
        assert (await edge("POST", path, bad)).status == 400
    key = {"Idempotency-Key": "once"}
    done = await edge("POST", path, WHY, headers=key)
    assert (done.status, done.body["orderId"], done.body["status"]) == (200, "o1", "cancelled"), done.body
    assert [(asked.user_id, asked.order_id, asked.symbol) for asked in router.cancelled] == [(eve, "o1", "BTC-USD")]
    entries = [tuple(entry) for entry in await pool.fetch(TRAIL)]
    before = '{"filledQuantity":"1","market":"BTC-USD","remainingQuantity":"2","status":"open","user":"' + eve + '"}'
    left = router.orders["o1"].remaining_quantity
    assert entries == [
        ("order.cancel_asked", "o1", WHY["reason"], before, '{"outcome":"not known yet"}'),
        (
            "order.cancelled", "o1", WHY["reason"], before,
            '{"remainingQuantity":"' + left + '","status":"cancelled"}',
        ),
    ]  # fmt: skip
    # The same request, and the same wish anew: nothing more is done, though the row still says that it is open.
    again = await edge("POST", path, WHY, headers=key)
    assert again.headers["Idempotency-Hit"] == "true" and again.body == done.body
    anew = await edge("POST", path, WHY)
    assert (anew.status, anew.code, anew.body["details"]["status"]) == (409, "ORDER_NOT_OPEN", "cancelled")
    assert len(router.cancelled) == 1 and len(await pool.fetch(TRAIL)) == 2


async def test_an_order_that_is_over_unknown_or_no_users_is_refused_and_noted_nowhere(
    edge: RestClient, pool: asyncpg.Pool, router: FakeRouter
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, MARKETS)
    ada = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", ADA)
    await an_order(pool, router, eve, "o1", status="filled")
    await an_order(pool, router, "house:fees", "o02")
    await an_order(pool, router, f"margin:{eve}", "o003")
    await an_order(pool, router, ada, "o0004")
    await an_order(pool, router, eve, "o00005")
    for order_id, status, code in (
        ("o1", 409, "ORDER_NOT_OPEN"), ("o02", 409, "ORDER_OF_THE_HOUSE"), ("o003", 409, "ORDER_OF_MARGIN"),
        ("o0004", 403, "OWN_ACCOUNT"), ("nothing", 404, "ORDER_NOT_FOUND"),
    ):  # fmt: skip
        refused = await edge("POST", f"/operator/orders/{order_id}/cancellation", WHY)
        assert (refused.status, refused.code) == (status, code), refused.body
    await link_owners(pool, ADA, EVE)
    linked = await edge("POST", "/operator/orders/o00005/cancellation", WHY)
    assert (linked.status, linked.code) == (403, "OWN_ACCOUNT")
    assert router.cancelled == [] and await pool.fetch(TRAIL) == []


async def test_an_order_that_is_filled_meanwhile_is_noted_as_not_cancelled(
    edge: RestClient, pool: asyncpg.Pool, router: FakeRouter
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await an_order(pool, router, eve)
    await make_operator(edge, pool, ADA, MARKETS)
    filled = order_record(order_id="o1", user_id=eve, symbol="BTC-USD", status="filled")
    router.orders["o1"], router.cancel_refusal = filled, Refusal(RefusalCode.ALREADY_ENDED, "order is already filled")
    refused = await edge("POST", "/operator/orders/o1/cancellation", WHY)
    assert (refused.status, refused.code, refused.body["details"]["status"]) == (409, "ORDER_NOT_OPEN", "filled")
    entries = await pool.fetch(TRAIL)
    assert [entry["action"] for entry in entries] == ["order.cancel_asked", "order.not_cancelled"]
    assert entries[1]["after"] == '{"refusal":"ORDER_NOT_OPEN","status":"filled"}'
    # Nobody knows how this one ended: no entry says that it did, and what to do is said.
    router.cancel_refusal = Refusal(RefusalCode.STATUS_UNKNOWN, "the matching engine did not answer")
    router.shows_order = False
    unknown = await edge("POST", "/operator/orders/o1/cancellation", WHY)
    assert (unknown.status, unknown.code) == (504, "ORDER_STATUS_UNKNOWN")
    assert "look the order up" in str(unknown.message)
    assert [entry["action"] for entry in await pool.fetch(TRAIL)][2:] == ["order.cancel_asked"]


class OneCancel:
    """Stands for the service of orders: the first cancel succeeds once `may_go_on`, the others come too late.

    `refusals` are what the next cancels raise instead, in turn.
    """

    def __init__(self) -> None:
        self.recent = RecentOrderRecords()
        self.asked = 0
        self.may_go_on = asyncio.Event()
        self.refusals: list[HttpError] = []

    async def cancel(self, user_id: str, order_id: str) -> OrderRecord:
        self.asked += 1
        if self.refusals:
            raise self.refusals.pop(0)
        is_first = self.asked == 1
        await self.may_go_on.wait()
        if not is_first:
            raise already_ended(order_id, "cancelled")
        return order_record(order_id=order_id, user_id=user_id, status="cancelled")


async def test_of_two_operators_who_cancel_at_once_one_is_told_that_it_was_too_late(pool: asyncpg.Pool) -> None:
    await insert(pool, "orders", {"user_id": "eve"}, order_id="o1", status="open")
    cancels: Any = OneCancel()
    trading = OperatedTrading(pool, cancels)

    async def attempt(name: str) -> OrderRecord | HttpError:
        acting = Acting(user_operator(name, frozenset({MARKETS})), "ticket 4711", name, "")
        try:
            return await trading.cancel("o1", acting, IdempotentOperation(f"operation-{name}"))
        except HttpError as error:
            return error

    both = [asyncio.create_task(attempt(name)) for name in ("ada", "bob")]
    await eventually(lambda: cancels.asked == 2)
    cancels.may_go_on.set()
    outcomes = await asyncio.gather(*both)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["HttpError", "OrderRecord"]
    entries = await pool.fetch("SELECT action, operator FROM operator_actions ORDER BY entry_number")
    late = "ada" if isinstance(outcomes[0], HttpError) else "bob"
    told = {(entry["action"], entry["operator"]) for entry in entries[2:]}
    assert [entry["action"] for entry in entries[:2]] == ["order.cancel_asked"] * 2
    done = "bob" if late == "ada" else "ada"
    assert told == {("order.cancelled", f"user:{done}"), ("order.not_cancelled", f"user:{late}")}


async def test_a_cancel_that_a_kill_cut_off_is_noted_once_and_gets_its_outcome(pool: asyncpg.Pool) -> None:
    await insert(pool, "orders", {"user_id": "eve"}, order_id="o1", status="open")
    cancels: Any = OneCancel()
    trading = OperatedTrading(pool, cancels)
    acting = Acting(user_operator("ada", frozenset({MARKETS})), "ticket 4711", "r1", "")
    first = asyncio.create_task(trading.cancel("o1", acting, IdempotentOperation("operation")))
    await eventually(lambda: cancels.asked == 1)
    first.cancel()
    # The engine had not heard of it: the same operation asks it again, and notes once that it was asked for.
    cancels.asked = 0
    cancels.may_go_on.set()
    resumed = IdempotentOperation("operation", is_resumed=True)
    assert (await trading.cancel("o1", acting, resumed)).status == "cancelled"
    # The row is behind. The engine is asked again, since an earlier release noted this before it asked.
    assert (await trading.cancel("o1", acting, resumed)).status == "cancelled"
    assert cancels.asked == 2
    # The engine had done it: the outcome is told, and it is not asked.
    await pool.execute("UPDATE orders SET status = 'cancelled'")
    assert (await trading.cancel("o1", acting, resumed)).status == "cancelled"
    assert cancels.asked == 2
    assert [entry["action"] for entry in await pool.fetch(TRAIL)] == ["order.cancel_asked", "order.cancelled"]
    with pytest.raises(HttpError, match="cancelled"):
        await trading.cancel("o1", acting, IdempotentOperation("another"))


class Attempts:
    """Runs of one operation of ada's on the order o1 of eve's, and what the trail has of them."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.orders = OneCancel()
        self.orders.may_go_on.set()
        self.runs = 0

    async def run(self) -> int:
        """The status of the next run: 200 for an order that is cancelled."""
        service: Any = self.orders
        acting = Acting(user_operator("ada", frozenset({MARKETS})), "ticket 4711", "r1", "")
        operation = IdempotentOperation("operation", is_resumed=self.runs > 0)
        self.runs += 1
        try:
            done = await OperatedTrading(self.pool, service).cancel("o1", acting, operation)
        except HttpError as error:
            return error.status_code
        assert done.status == "cancelled"
        return 200

    async def now(self, status: str) -> None:
        await self.pool.execute("UPDATE orders SET status = $1", status)

    async def noted(self) -> list[tuple[str, Any]]:
        """Action, and what is said of the outcome: its status, or that it is not known."""
        entries = [(entry["action"], json.loads(entry["after"])) for entry in await self.pool.fetch(TRAIL)]
        return [(action.removeprefix("order."), after.get("status", after.get("outcome"))) for action, after in entries]


AWAY = service_unavailable("orders cannot be cancelled at this moment: no order router takes the request")
ASKED = ("cancel_asked", "not known yet")


@pytest.fixture
async def attempts(pool: asyncpg.Pool) -> Attempts:
    await insert(pool, "orders", {"user_id": "eve"}, order_id="o1", status="open")
    return Attempts(pool)


async def test_a_cancel_that_no_router_took_is_noted_as_such_and_asked_for_anew(attempts: Attempts) -> None:
    attempts.orders.refusals = [AWAY, AWAY]
    assert [await attempts.run(), await attempts.run()] == [503, 503]
    undone = [ASKED, ("not_cancelled", "open")]
    assert await attempts.noted() == undone * 2
    # Its user has cancelled it meanwhile: it was not this operation.
    await attempts.now("cancelled")
    assert (await attempts.run(), await attempts.noted()) == (409, undone * 2)


async def test_a_cancel_that_no_router_took_succeeds_when_it_is_repeated(attempts: Attempts) -> None:
    attempts.orders.refusals = [AWAY]
    assert await attempts.run() == 503
    attempts.orders.asked = 0
    assert await attempts.run() == 200
    noted = [ASKED, ("not_cancelled", "open"), ASKED, ("cancelled", "cancelled")]
    assert await attempts.noted() == noted
    # The reply was lost, and the row is late: the engine is asked again, and nothing is noted again.
    assert (await attempts.run(), attempts.orders.asked, await attempts.noted()) == (200, 2, noted)


@pytest.mark.parametrize(
    ("status", "told", "action"), [("filled", 409, "not_cancelled"), ("cancelled", 200, "cancelled")]
)
async def test_an_unknown_outcome_is_noted_once_the_row_tells_it(
    attempts: Attempts, status: str, told: int, action: str
) -> None:
    attempts.orders.refusals = [status_unknown("o1"), AWAY, status_unknown("o1")]
    # That no router took the second request says nothing of the first.
    assert [await attempts.run() for _ in range(3)] == [504, 503, 504]
    assert await attempts.noted() == [ASKED]
    await attempts.now(status)
    assert await attempts.run() == told
    assert await attempts.noted() == [ASKED, (action, status)]


@pytest.mark.parametrize(
    ("refusal", "outcome"),
    [
        (already_ended("o1", "filled"), [("not_cancelled", "filled")]),
        (already_ended("o1", "cancelled"), [("cancelled", "cancelled")]),
        (HttpError(409, "not open", "ORDER_NOT_OPEN"), []),
    ],
    ids=["filled", "cancelled", "nobody knows how"],
)
async def test_an_unknown_outcome_is_noted_as_the_router_tells_it_later(
    attempts: Attempts, refusal: HttpError, outcome: list[tuple[str, str]]
) -> None:
    attempts.orders.refusals = [status_unknown("o1"), refusal]
    assert [await attempts.run(), await attempts.run()] == [504, 409]
    assert await attempts.noted() == [ASKED, *outcome]


async def test_without_a_router_the_trail_does_not_claim_a_cancel(edge: RestClient, pool: asyncpg.Pool) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    await make_operator(edge, pool, ADA, MARKETS)
    await insert(pool, "orders", {"user_id": eve}, order_id="o1", symbol="BTC-USD", status="open")
    refused = await edge("POST", "/operator/orders/o1/cancellation", WHY)
    assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
    entries = await pool.fetch(TRAIL)
    assert [entry["action"] for entry in entries] == ["order.cancel_asked", "order.not_cancelled"]
    assert entries[1]["after"] == '{"refusal":"SERVICE_UNAVAILABLE","status":"open"}'
