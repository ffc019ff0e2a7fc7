"""The complete rules of orders, from the REST edge to the engine and back into the rows."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.integration.router.test_order_path_absent import Trading, trading_on
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.ports import free_port
from tests.support.rest_client import Reply
from tests.support.router_client import RouterClient, running_router
from tests.support.waiting import eventually

MARKET = {"type": "market", "price": None, "quantity": None}


def complete(settings: Settings) -> Settings:
    return settings.model_copy(update={"rules": "complete"})


@pytest.fixture
async def trading(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    """A platform with the complete rules, on which alice and bob have funds."""
    async with trading_on(complete(settings), pool) as platform:
        yield platform


async def row_of(trading: Trading, order_id: str, status: str) -> dict[str, Any]:
    query = (
        "SELECT price, quantity, filled_quantity, status, post_only, reject_reason FROM orders"
        " WHERE order_id = $1 AND status = $2"
    )
    return dict(await eventually(lambda: trading.pool.fetchrow(query, order_id, status)))


async def test_a_post_only_order_never_takes(trading: Trading) -> None:
    resting = await trading.place("bob", side="sell")
    assert "postOnly" not in resting.body
    refused = await trading.place("alice", postOnly=True)
    assert (refused.status, refused.message, refused.code) == (400, "POST_ONLY_WOULD_CROSS", "POST_ONLY_WOULD_CROSS")
    row = await row_of(trading, refused.body["details"]["orderId"], "rejected")
    assert (row["post_only"], row["reject_reason"]) == (True, "POST_ONLY_WOULD_CROSS")
    slid = await trading.place("alice", price="103", postOnly=True, postOnlyMode="slide")
    assert (slid.status, slid.body["price"], slid.body["status"], slid.body["postOnly"]) == (201, "99.99", "open", True)
    assert (slid.body["fills"], slid.body["fillsTruncated"]) == ([], False)
    row = await row_of(trading, slid.body["orderId"], "open")
    assert (row["price"], row["post_only"]) == (Decimal("99.99"), True)
    shown = await trading.rest("GET", f"/orders/{slid.body['orderId']}")
    assert (shown.body["price"], shown.body["postOnly"], "fills" in shown.body) == ("99.99", True, False)
    created = await eventually(lambda: trading.heard.orders("orders.created.alice"))
    assert (created[0].order.price, created[0].order.post_only) == ("99.99", True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (MARKET | {"quantity": "1", "postOnly": True}, "postOnly must not be given for a market order"),
        ({"timeInForce": "ioc", "postOnly": True}, "postOnly does not go with timeInForce ioc"),
        ({"timeInForce": "fok", "postOnly": True}, "postOnly does not go with timeInForce fok"),
        ({"postOnlyMode": "slide"}, "postOnlyMode is only for orders with postOnly"),
        ({"postOnly": True, "postOnlyMode": "jump"}, "postOnlyMode must be one of 'refuse' or 'slide'"),
        ({"postOnly": "maybe"}, "postOnly must be true or false"),
        ({"quoteQuantity": "10", "quantity": None}, "quoteQuantity is only for market orders"),
        (MARKET | {"quoteQuantity": "10", "timeInForce": "fok"}, "quoteQuantity does not go with timeInForce fok"),
    ],
)
async def test_what_does_not_go_together_is_refused_with_the_name_of_the_field(
    trading: Trading, fields: dict[str, Any], message: str
) -> None:
    refused = await trading.place("alice", **fields)
    assert (refused.status, refused.message) == (400, [message])
    # In a batch, its neighbours are placed.
    order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"}
    faulty = {name: value for name, value in (order | fields).items() if value is not None}
    batch = await trading.rest("POST", "/orders/batch", {"orders": [faulty, order]})
    assert [entry["status"] for entry in batch.body] == [400, 201]
    assert batch.body[0]["error"]["message"] == [message]


async def test_times_in_force_hold_and_the_reply_lists_the_fills(trading: Trading) -> None:
    await trading.place("bob", side="sell", quantity="1")
    await trading.place("bob", side="sell", quantity="1", price="101")
    killed = await trading.place("alice", quantity="3", price="101", timeInForce="fok")
    assert (killed.status, killed.body["status"], killed.body["fills"]) == (201, "cancelled", [])
    taken = await trading.place("alice", quantity="1.5", price="101", timeInForce="ioc")
    assert (taken.body["status"], taken.body["filledQuantity"]) == ("filled", "1.5")
    fills = [tuple(fill[name] for name in ("price", "quantity", "fee", "feeCurrency")) for fill in taken.body["fills"]]
    assert fills == [("100", "1", "0.25", "USD"), ("101", "0.5", "0.12625", "USD")]
    trades = await eventually(lambda: trading.pool.fetch("SELECT trade_id FROM trades ORDER BY sequence"))
    assert [fill["tradeId"] for fill in taken.body["fills"]] == [trade["trade_id"] for trade in trades]
    rest = await trading.place("alice", quantity="3", price="101", timeInForce="ioc")
    assert (rest.body["status"], rest.body["filledQuantity"]) == ("cancelled", "0.5")
    assert (await trading.rest("GET", "/orders?status=open")).body == []
    shown = (await trading.rest("GET", "/orders")).body
    (row,) = [entry for entry in shown if entry["orderId"] == rest.body["orderId"]]
    assert "fills" not in row


async def test_a_market_order_of_an_amount_in_quote_is_exact_to_the_lot(trading: Trading) -> None:
    await trading.place("bob", side="sell", quantity="1")
    await trading.place("alice", quantity="1")

    async def bought() -> Reply | None:
        # Until the router has heard of the trade, a market order has no reference price.
        await trading.place("bob", side="sell", quantity="1")
        await trading.place("bob", side="sell", quantity="1", price="101")
        reply = await trading.place("alice", **MARKET, quoteQuantity="150.5")
        return reply if reply.status == 201 else None

    bought_reply = await eventually(bought)
    assert (bought_reply.body["status"], bought_reply.body["price"]) == ("filled", None)
    spent = sum(Decimal(fill["price"]) * Decimal(fill["quantity"]) for fill in bought_reply.body["fills"])
    # One more lot of 10^-8 BTC at 101 would have been too much.
    assert Decimal("150.5") - Decimal("0.00000101") < spent <= Decimal("150.5")
    assert bought_reply.body["quantity"] == bought_reply.body["filledQuantity"]
    row = await row_of(trading, bought_reply.body["orderId"], "filled")
    assert row["quantity"] == row["filled_quantity"] == Decimal(bought_reply.body["quantity"])
    await trading.rest("DELETE", "/orders")
    trading.rest.as_user("bob")
    await trading.rest("DELETE", "/orders")
    await trading.place("bob", quantity="2", price="99")
    sold = await trading.place("alice", **MARKET, side="sell", quoteQuantity="99.5")
    assert (sold.status, sold.body["status"]) == (201, "filled")
    proceeds = sum(Decimal(fill["price"]) * Decimal(fill["quantity"]) for fill in sold.body["fills"])
    assert Decimal("99.5") - Decimal("0.00000099") < proceeds <= Decimal("99.5")
    trading.rest.as_user("bob")
    await trading.rest("DELETE", "/orders")
    nothing = await trading.place("alice", **MARKET, quoteQuantity="50")
    assert (nothing.status, nothing.code) == (400, "BUDGET_NOT_FILLABLE")
    row = await row_of(trading, nothing.body["details"]["orderId"], "rejected")
    assert row["quantity"] < 1, "the row has what the order could have traded, not the market's largest quantity"


async def test_a_client_order_id_belongs_to_one_open_order(trading: Trading) -> None:
    first = await trading.place("alice", clientOrderId="mine")
    second = await trading.place("alice", clientOrderId="mine", price="99")
    assert (second.status, second.code) == (409, "DUPLICATE_CLIENT_ORDER_ID")
    assert second.body["details"] == {"orderId": first.body["orderId"]}
    assert second.message == f"clientOrderId mine belongs to your open order {first.body['orderId']}"
    assert (await trading.place("bob", clientOrderId="mine")).status == 201
    trading.rest.as_user("alice")
    found = await trading.rest("GET", "/orders/client/mine")
    assert found.body["orderId"] == first.body["orderId"]
    assert (await trading.cancel("alice", first.body["orderId"])).status == 200
    assert (await trading.place("alice", clientOrderId="mine")).status == 201


async def test_a_repetition_under_its_idempotency_key_is_no_second_order(trading: Trading) -> None:
    trading.rest.as_user("alice")
    order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100", "clientOrderId": "m"}
    replies = [
        await trading.rest("POST", "/orders", order, headers={"Idempotency-Key": "key-of-one-order"}) for _ in range(2)
    ]
    assert [reply.status for reply in replies] == [201, 201]
    assert replies[0].body == replies[1].body
    assert (await trading.rest("POST", "/orders", order)).status == 409


async def test_the_platform_says_which_rules_are_on(trading: Trading) -> None:
    said = await trading.rest("GET", "/settings/trading")
    assert said.body == {
        "rules": "complete", "timesInForce": ["gtc", "ioc", "fok", "gtd"],
        "orderTypes": [
            "limit", "market", "stop_limit", "stop_market", "take_profit_limit", "take_profit_market",
            "trailing_stop_limit", "trailing_stop_market",
        ],
        "triggerSources": ["last", "mark"],
        "postOnly": True, "postOnlyModes": ["refuse", "slide"], "quoteQuantitySides": ["buy", "sell"],
        "selfTradePreventionModes": [
            "none", "cancel_resting", "cancel_incoming", "cancel_both", "decrement_and_cancel",
        ],
        "orderListTypes": ["oco", "oto", "bracket"], "clientOrderIdsUnique": True, "clientOrderIdLengthMax": 64,
        "ordersPerBatchMax": 20, "fillsMax": 100,
        "icebergs": True, "icebergSlicesMax": 100, "volatilityInterruption": None,
    }  # fmt: skip
    markets = (await trading.rest("GET", "/markets")).body
    assert {market["rules"] for market in markets} == {"complete"}


async def test_under_the_specifications_rules_nothing_of_it_exists(settings: Settings, pool: asyncpg.Pool) -> None:
    async with trading_on(settings, pool) as trading:
        for fields, message in (
            ({"postOnly": True}, "property postOnly should not exist"),
            ({"postOnly": False}, "property postOnly should not exist"),
            ({"postOnly": True, "postOnlyMode": "slide"}, "property postOnly should not exist"),
            (MARKET | {"side": "sell", "quoteQuantity": "10"}, "quoteQuantity is only for market orders that buy"),
        ):
            refused = await trading.place("alice", **fields)
            assert (refused.status, refused.message[0]) == (400, message)
        twice = [await trading.place("alice", clientOrderId="mine", timeInForce="fok") for _ in range(2)]
        assert [(reply.status, reply.body["status"]) for reply in twice] == [(201, "open")] * 2
        assert {"fills", "fillsTruncated", "postOnly"}.isdisjoint(twice[0].body)
        said = (await trading.rest("GET", "/settings/trading")).body
        assert (said["rules"], said["timesInForce"], said["postOnly"]) == ("specification", ["gtc"], False)
        assert (said["icebergs"], said["icebergSlicesMax"], said["volatilityInterruption"]) == (False, 0, None)
        assert (said["quoteQuantitySides"], said["clientOrderIdsUnique"], said["fillsMax"]) == (["buy"], False, 0)


async def test_two_routers_give_a_client_order_id_to_one_order(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> None:
    rules = complete(settings)
    other = rules.model_copy(update={"router_port": free_port()})
    async with running_router(rules), running_router(other):
        client = RouterClient(bus)
        replies = await asyncio.gather(*(client.submit(client_order_id="mine") for _ in range(12)))
        (placed,) = [reply for reply in replies if reply.success]
        assert placed.order is not None
        refused = [reply for reply in replies if not reply.success]
        assert {(reply.code, reply.conflicting_order_id) for reply in refused} == {
            (RefusalCode.DUPLICATE_CLIENT_ORDER_ID, placed.order.order_id)
        }
        count: int = await eventually(lambda: pool.fetchval("SELECT count(*) FROM orders"))
        assert count == 1
