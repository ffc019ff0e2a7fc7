"""Orders with a trigger, an expiry or a mode of their own, from the REST edge to the engine and back into rows."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import IncompleteOrder
from openspot.kit.clock import iso_of
from openspot.kit.settings import Settings
from tests.integration.router.test_order_path_absent import Trading, trading_on
from tests.support.rest_client import Reply
from tests.support.router_client import stored
from tests.support.waiting import eventually

MARKET = {"price": None}
STOP = {"type": "stop_market", "price": None, "stopPrice": "105"}
STOP_LIMIT = {"type": "stop_limit", "price": "106", "stopPrice": "105"}


def complete(settings: Settings) -> Settings:
    return settings.model_copy(update={"rules": "complete"})


@pytest.fixture
async def trading(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    """A platform with the complete rules, on which alice and bob have funds."""
    async with trading_on(complete(settings), pool) as platform:
        yield platform


async def trade_at(trading: Trading, price: str) -> None:
    """A trade between two orders of bob at `price`."""
    own = {"price": price, "quantity": "0.1", "selfTradePrevention": "none"}
    assert (await trading.place("bob", side="sell", **own)).status == 201
    taken = await trading.place("bob", **own)
    assert taken.body["status"] == "filled", taken.body


async def shown(trading: Trading, order_id: str, **wanted: Any) -> dict[str, Any]:
    """Alice's order from its row, once it has these values."""
    trading.rest.as_user("alice")

    async def with_them() -> dict[str, Any] | None:
        (found,) = [order for order in (await trading.rest("GET", "/orders")).body if order["orderId"] == order_id] or [
            {}
        ]
        return found if all(found.get(name) == value for name, value in wanted.items()) else None

    return await eventually(with_them)


async def triggers(trading: Trading, user_id: str, *order_ids: str) -> dict[str, tuple[str, str]]:
    """What fires these orders now, and the limits that they would match with, as a user is told."""
    trading.rest.as_user(user_id)
    reply = await trading.rest("GET", f"/orders/triggers?orderIds={','.join(order_ids)}")
    assert reply.status == 200, reply.body
    return {found["orderId"]: (found["triggerPrice"], found["limitPrice"]) for found in reply.body}


def later(**difference: float) -> str:
    return iso_of(datetime.now(UTC) + timedelta(**difference))


async def test_a_stop_waits_with_its_funds_fires_and_is_shown_so_at_every_step(trading: Trading) -> None:
    await trade_at(trading, "100")
    await trading.place("bob", side="sell", price="104", quantity="5")
    placed = await trading.place("alice", **STOP)
    assert placed.status == 201, placed.body
    waiting = {
        "status": "open", "type": "stop_market", "price": None, "stopPrice": "105", "triggerBy": "last",
        "trailingAmount": None, "trailingBps": None, "triggerStatus": "waiting", "triggeredAt": None,
    }  # fmt: skip
    assert {name: placed.body[name] for name in waiting} == waiting
    assert placed.body["remainingQuantity"] == "1"
    order_id = placed.body["orderId"]
    row = await shown(trading, order_id, status="open")
    assert {name: row[name] for name in waiting} == waiting
    assert (await trading.engine.find(external_id=order_id)).status == "WAITING"
    # Its funds are held at the worst price at which it may match.
    locked = (await trading.engine.balances("alice"))["USD"].locked
    assert float(locked) > 105
    created = await eventually(lambda: trading.heard.orders("orders.created.alice"))
    assert (created[0].order.trigger_status, created[0].order.stop_price) == ("waiting", "105")

    trading.rest.as_user("bob")
    await trading.rest("DELETE", "/orders")
    await trading.place("bob", side="sell", price="105", quantity="2")
    await trading.place("bob", price="105", quantity="0.1", selfTradePrevention="none")
    filled = await shown(trading, order_id, status="filled")
    assert (filled["triggerStatus"], filled["stopPrice"], filled["averagePrice"]) == ("triggered", "105", "105")
    assert filled["triggeredAt"] is not None
    updates = [event.reason for event in trading.heard.orders("orders.updated.alice")]
    assert updates == ["TRIGGERED"]
    assert trading.heard.orders("orders.filled.alice")[0].order.trigger_status == "triggered"


@pytest.mark.parametrize(
    ("side", "kind", "stop", "fires_at"),
    [
        ("buy", "stop", "103", "104"),
        ("sell", "stop", "97", "96"),
        ("buy", "take_profit", "97", "96"),
        ("sell", "take_profit", "103", "104"),
    ],
)
async def test_each_kind_fires_on_its_side_of_the_price_and_is_refused_on_the_other(
    trading: Trading, side: str, kind: str, stop: str, fires_at: str
) -> None:
    await trade_at(trading, "100")
    fields = {"side": side, "type": f"{kind}_limit", "stopPrice": stop, "price": stop}
    placed = await trading.place("alice", **fields)
    assert (placed.status, placed.body["price"], placed.body["triggerStatus"]) == (201, stop, "waiting")
    beyond = "96" if float(stop) > 100 else "104"
    refused = await trading.place("alice", **fields | {"stopPrice": beyond, "price": beyond})
    assert (refused.status, refused.code) == (400, "TRIGGER_WOULD_FIRE")
    await trade_at(trading, fires_at)
    await shown(trading, placed.body["orderId"], triggerStatus="triggered", stopPrice=stop)


@pytest.mark.parametrize("distance", [{"trailingAmount": "3"}, {"trailingBps": 300}])
async def test_a_trailing_stop_follows_the_price_and_says_where_it_fired(
    trading: Trading, distance: dict[str, Any]
) -> None:
    unknown = await trading.place("alice", side="sell", type="trailing_stop_limit", price="97", **distance)
    assert (unknown.status, unknown.code) == (400, "REFERENCE_PRICE_UNKNOWN")
    await trade_at(trading, "100")

    async def market_order() -> Reply | None:
        # Until the router has heard of the trade, it cannot bound the price.
        placed = await trading.place("alice", side="sell", type="trailing_stop_market", price=None, **distance)
        return placed if placed.status == 201 else None

    placed = await eventually(market_order)
    assert (placed.body["stopPrice"], placed.body["triggerStatus"]) == (None, "waiting")
    limit = await trading.place("alice", side="sell", type="trailing_stop_limit", price="97", **distance)
    assert (limit.status, limit.body["price"]) == (201, "97"), limit.body
    resting = await trading.place("alice", price="95")
    ids = [order.body["orderId"] for order in (placed, resting, limit)]
    first = await triggers(trading, "alice", *ids)
    assert {order_id: trigger for order_id, (trigger, _) in first.items()} == {ids[0]: "97", ids[2]: "97"}
    assert first[ids[2]][1] == "97"
    assert await triggers(trading, "bob", *ids) == {}
    await trade_at(trading, "104")
    present = "101" if "trailingAmount" in distance else "100.88"
    moved = await triggers(trading, "alice", *ids)
    assert {order_id: trigger for order_id, (trigger, _) in moved.items()} == {ids[0]: present, ids[2]: present}
    # The limit goes with its trigger.
    assert moved[ids[2]][1] == present
    await trading.place("bob", price="99", quantity="5")
    await trade_at(trading, "100.5")
    fired = await shown(trading, placed.body["orderId"], triggerStatus="triggered")
    stop = float(fired["stopPrice"])
    assert 100.5 <= stop <= 101
    assert ids[0] not in await triggers(trading, "alice", *ids)
    followed = await shown(trading, limit.body["orderId"], triggerStatus="triggered")
    assert float(followed["price"]) == pytest.approx(stop, abs=0.2)
    assert followed["price"] != "97"


DO_NOT_GO_TOGETHER: list[tuple[dict[str, Any], str]] = [
    ({"type": "stop_market"}, "price must not be given for a stop_market order"),
    ({"type": "stop_limit"}, "stopPrice is required for a stop_limit order"),
    ({"stopPrice": "105"}, "stopPrice must not be given for a limit order"),
    ({"triggerBy": "mark"}, "triggerBy must not be given for a limit order"),
    (STOP_LIMIT | {"triggerBy": "index"}, "triggerBy must be one of 'last' or 'mark'"),
    (STOP_LIMIT | {"trailingBps": 5}, "trailingBps must not be given for a stop_limit order"),
    ({"trailingAmount": "5"}, "trailingAmount must not be given for a limit order"),
    (
        {"type": "trailing_stop_limit"},
        "trailingAmount or trailingBps is required for a trailing_stop_limit order: give one of them",
    ),
    (
        {"type": "trailing_stop_limit", "trailingAmount": "5", "trailingBps": 5},
        "trailingAmount or trailingBps is required for a trailing_stop_limit order: give one of them",
    ),
    (
        {"type": "trailing_stop_limit", "trailingBps": 5, "stopPrice": "99"},
        "stopPrice must not be given for a trailing_stop_limit order",
    ),
    ({"timeInForce": "gtd"}, "expiresAt is required for timeInForce gtd"),
    ({"timeInForce": "gtd", "expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt must be in the future"),
    ({"timeInForce": "gtd", "expiresAt": "2600-01-01T00:00:00Z"}, "expiresAt must be before the year 2500"),
    ({"timeInForce": "gtd", "expiresAt": "soon"}, "expiresAt must be ISO 8601 with an offset"),
    ({"expiresAt": "2090-01-01T00:00:00Z"}, "expiresAt is only for orders with timeInForce gtd"),
    (STOP | {"timeInForce": "gtd"}, "timeInForce gtd is not for a stop_market order"),
    (STOP_LIMIT | {"postOnly": True}, "postOnly must not be given for a stop_limit order"),
    (STOP | {"quoteQuantity": "5", "quantity": None}, "quoteQuantity is only for market orders"),
    ({"selfTradePrevention": "maybe"}, "selfTradePrevention must be one of"),
    ({"trailingBps": 10_000}, "trailingBps must be"),
]
"""Fields, and how the refusal of an order with them begins."""


async def test_what_does_not_go_together_is_refused_with_the_name_of_the_field(trading: Trading) -> None:
    for fields, message in DO_NOT_GO_TOGETHER:
        refused = await trading.place("alice", **fields)
        assert refused.status == 400, fields
        assert refused.message[0].startswith(message), (fields, refused.message)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (STOP_LIMIT | {"stopPrice": "105.001"}, "stopPrice 105.001 has more than 2 decimal places"),
        (
            STOP_LIMIT | {"price": "140"},
            "price 140 deviates from the price of its trigger 105 by more than",
        ),
        (STOP | {"maxSlippageBps": "9999"}, "maxSlippageBps 9999 is above the ceiling"),
    ],
)
async def test_a_stop_is_compared_with_its_trigger_not_with_the_present_price(
    trading: Trading, fields: dict[str, Any], reason: str
) -> None:
    refused = await trading.place("alice", **fields)
    assert refused.status == 400
    assert refused.message.startswith(reason), refused.message
    far = {"type": "stop_limit", "side": "sell", "stopPrice": "20", "price": "20"}
    await trade_at(trading, "100")
    assert (await trading.place("alice", **far)).status == 201, "far from the market, near its trigger"


async def test_a_waiting_order_can_be_cancelled_in_every_way(trading: Trading) -> None:
    async def stop(**fields: Any) -> str:
        placed = await trading.place("alice", **STOP_LIMIT, **fields)
        assert placed.status == 201, placed.body
        return str(placed.body["orderId"])

    alone = await stop()
    cancelled = await trading.cancel("alice", alone)
    assert (cancelled.status, cancelled.body["status"], cancelled.body["triggerStatus"]) == (
        200, "cancelled", "waiting",
    )  # fmt: skip
    named = await stop(clientOrderId="mine")
    reply = await trading.rest("DELETE", "/orders/client/mine")
    assert reply.body == {"cancelled": [named], "failed": []}
    market = (await trading.place("alice", **STOP)).body["orderId"]
    listed = [await stop(), market]
    reply = await trading.rest("DELETE", "/orders", {"orderIds": listed})
    assert sorted(reply.body["cancelled"]) == sorted(listed)
    last = await stop()
    reply = await trading.rest("DELETE", "/orders")
    assert reply.body["cancelled"] == [last]
    assert (await trading.engine.balances("alice"))["USD"].locked in ("0", "")


async def test_a_dead_mans_switch_reaches_what_waits_beside_the_book_and_nobody_elses(trading: Trading) -> None:
    await trade_at(trading, "100")
    others = await trading.place("bob", **STOP_LIMIT)
    trailing = {"side": "sell", "type": "trailing_stop_limit", "price": "97", "trailingBps": 300}
    profit = {"side": "sell", "type": "take_profit_limit", "price": "105", "stopPrice": "105"}
    lasting = {"timeInForce": "gtd", "expiresAt": later(hours=1)}
    wanted = (STOP, STOP_LIMIT | {"triggerBy": "mark"}, trailing, profit | lasting, {"price": "90"})
    placed = [await trading.place("alice", **fields) for fields in wanted]
    assert [order.status for order in placed] == [201] * len(wanted), placed
    path = "/orders/cancel-all-after"
    assert (await trading.rest("POST", path, {"timeoutSeconds": 3600})).status == 200
    due = await trading.pool.execute("UPDATE cancel_timers SET fires_at = now() - interval '1 second'")
    assert due == "UPDATE 1"

    async def fired() -> Any:
        timer = (await trading.rest("GET", path)).body
        return timer if timer["firedAt"] else None

    assert (await eventually(fired))["cancelledOrders"] == len(wanted)
    for order in placed[:-1]:
        ended = await shown(trading, order.body["orderId"], status="cancelled")
        assert (ended["triggerStatus"], ended["triggeredAt"]) == ("waiting", None)
    assert (await trading.engine.balances("alice"))["USD"].locked in ("0", "")
    await trade_at(trading, "105")
    request = orders_pb2.SetMarkPriceRequest(symbol="BTC-USD", price=10_500)
    assert (await trading.engine.orders.SetMarkPrice(request)).result_code == "SUCCESS"
    (activated, *_) = await eventually(lambda: trading.heard.orders("orders.updated.bob"))
    assert (activated.order.order_id, activated.reason) == (others.body["orderId"], "TRIGGERED")
    assert trading.heard.orders("orders.updated.alice") == []


async def test_a_waiting_order_can_be_amended_and_keeps_its_trigger(trading: Trading) -> None:
    placed = await trading.place("alice", **STOP_LIMIT)
    path = f"/orders/{placed.body['orderId']}"
    amended = await trading.rest("PATCH", path, {"price": "107", "quantity": "2"})
    assert (amended.status, amended.body["price"], amended.body["quantity"]) == (200, "107", "2")
    assert (amended.body["stopPrice"], amended.body["triggerStatus"]) == ("105", "waiting")
    smaller = await trading.rest("PATCH", path, {"quantity": "0.5"})
    assert (smaller.status, smaller.body["remainingQuantity"], smaller.body["price"]) == (200, "0.5", "107")
    far = await trading.rest("PATCH", path, {"price": "150"})
    assert far.status == 400
    assert far.message.startswith("price 150 deviates from the price of its trigger 105")
    for field, value in (("displayQuantity", "1"), ("trailingAmount", "1"), ("trailingBps", 5)):
        refused = await trading.rest("PATCH", path, {field: value})
        assert (refused.status, refused.message) == (400, [f"{field} cannot be changed: replace the order"])

    market = await trading.place("alice", **STOP)
    path = f"/orders/{market.body['orderId']}"
    refused = await trading.rest("PATCH", path, {"price": "107"})
    assert (refused.status, refused.message) == (400, ["price must not be given for a stop_market order"])
    larger = await trading.rest("PATCH", path, {"quantity": "3"})
    assert (larger.status, larger.body["quantity"], larger.body["price"]) == (200, "3", None)
    await shown(trading, market.body["orderId"], quantity="3", price=None)

    await trade_at(trading, "105")
    fired = await shown(trading, placed.body["orderId"], triggerStatus="triggered")
    assert (fired["price"], fired["quantity"]) == ("107", "0.5")


async def test_the_trigger_of_a_stop_can_be_amended_until_it_fires(trading: Trading) -> None:
    await trade_at(trading, "100")
    placed = await trading.place("alice", **STOP_LIMIT)
    path = f"/orders/{placed.body['orderId']}"
    amended = await trading.rest("PATCH", path, {"stopPrice": "107", "price": "108"})
    assert (amended.status, amended.body["stopPrice"], amended.body["price"]) == (200, "107", "108"), amended.body
    await shown(trading, placed.body["orderId"], stopPrice="107", price="108", triggerStatus="waiting")
    again = await trading.rest("PATCH", path, {"stopPrice": "107"})
    assert (again.status, again.body["stopPrice"]) == (200, "107")
    for stop, code in (("99", "TRIGGER_WOULD_FIRE"), ("107.001", "AMENDMENT_REJECTED"), ("80", "AMENDMENT_REJECTED")):
        refused = await trading.rest("PATCH", path, {"stopPrice": stop})
        assert (refused.status, refused.code) == (400, code), refused.message

    # An order without a price keeps the distance of its bound from the trigger.
    market = await trading.place("alice", **STOP)
    before = await trading.engine.find(external_id=market.body["orderId"])
    moved = await trading.rest("PATCH", f"/orders/{market.body['orderId']}", {"stopPrice": "106"})
    assert (moved.status, moved.body["stopPrice"], moved.body["price"]) == (200, "106", None), moved.body
    after = await trading.engine.find(external_id=market.body["orderId"])
    assert after.trigger_price - before.trigger_price == after.trigger_limit - before.trigger_limit == 100

    resting = await trading.place("alice", price="95")
    refused = await trading.rest("PATCH", f"/orders/{resting.body['orderId']}", {"stopPrice": "106"})
    assert (refused.status, refused.code) == (400, "VALIDATION_FAILED")
    trailing = await trading.place("alice", side="sell", type="trailing_stop_limit", price="97", trailingAmount="3")
    refused = await trading.rest("PATCH", f"/orders/{trailing.body['orderId']}", {"stopPrice": "98"})
    assert refused.message == ["stopPrice can be changed only while a stop or take profit order waits for it"]
    trading.rest.as_user("bob")
    assert (await trading.rest("PATCH", path, {"stopPrice": "110"})).status == 404

    await trade_at(trading, "107")
    fired = await shown(trading, placed.body["orderId"], triggerStatus="triggered")
    assert (fired["stopPrice"], fired["price"]) == ("107", "108")
    refused = await trading.rest("PATCH", path, {"stopPrice": "110"})
    assert refused.status in (400, 409)


async def test_an_order_that_shows_a_part_is_one_from_the_edge_to_its_row(trading: Trading) -> None:
    placed = await trading.place("alice", quantity="10", displayQuantity="0.5")
    assert (placed.status, placed.body["displayQuantity"], placed.body["remainingQuantity"]) == (201, "0.5", "10")
    await shown(trading, placed.body["orderId"], displayQuantity="0.5", remainingQuantity="10")
    found = await trading.engine.find(external_id=placed.body["orderId"])
    assert found.display_quantity * 20 == found.remaining_quantity
    trading.rest.as_user("bob")
    sold = await trading.place("bob", side="sell", quantity="5")
    assert sold.body["status"] == "filled"
    rest = await shown(trading, placed.body["orderId"], remainingQuantity="5")
    assert (rest["status"], rest["displayQuantity"]) == ("partially_filled", "0.5")
    path = f"/orders/{placed.body['orderId']}"
    amended = await trading.rest("PATCH", path, {"quantity": "12"})
    assert (amended.status, amended.body["remainingQuantity"], amended.body["displayQuantity"]) == (200, "7", "0.5")
    refused = await trading.rest("PATCH", path, {"quantity": "51"})
    assert refused.status == 400
    assert refused.message.startswith("displayQuantity must be at least a 100th of the quantity 51")
    smaller = await trading.rest("PATCH", path, {"quantity": "6"})
    assert (smaller.status, smaller.body["remainingQuantity"]) == (200, "1")
    for fields, message in (
        ({"quantity": "1", "displayQuantity": "1"}, "displayQuantity must be below the quantity 1"),
        ({"quantity": "1", "displayQuantity": "0.009"}, "displayQuantity must be at least a 100th of the quantity 1"),
        ({"displayQuantity": "0.1", "timeInForce": "ioc"}, "displayQuantity does not go with timeInForce ioc"),
        (STOP_LIMIT | {"displayQuantity": "0.1"}, "displayQuantity must not be given for a stop_limit order"),
    ):
        refused = await trading.place("alice", **fields)
        text = refused.message if isinstance(refused.message, str) else refused.message[0]
        assert (refused.status, text) == (400, message)


async def test_a_replacement_names_both_outcomes_and_reuses_funds_and_client_order_id(trading: Trading) -> None:
    await trading.engine.fund("carol", USD="9650")
    everything = "100"
    first = await trading.place("carol", price="95", quantity=everything, clientOrderId="mine")
    assert first.status == 201, first.body
    body = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "94", "quantity": everything}
    path = f"/orders/{first.body['orderId']}/replace"
    replaced = await trading.rest("POST", path, body | {"clientOrderId": "mine"}, headers={"Idempotency-Key": "k1"})
    assert replaced.status == 201, replaced.body
    assert (replaced.body["cancelled"]["status"], replaced.body["cancelError"]) == ("cancelled", None)
    new = replaced.body["order"]
    assert (new["price"], new["clientOrderId"], new["status"]) == ("94", "mine", "open")
    again = await trading.rest("POST", path, body | {"clientOrderId": "mine"}, headers={"Idempotency-Key": "k1"})
    assert (again.status, again.body["order"]["orderId"]) == (201, new["orderId"])
    assert (await trading.rest("GET", f"/orders/{first.body['orderId']}")).body["status"] == "cancelled"

    # The first has ended: nothing is placed, or only the new one.
    ended = await trading.rest("POST", path, body)
    assert (ended.status, ended.code) == (409, "ORDER_NOT_OPEN")
    small = body | {"quantity": "0.2", "mode": "allow_failure"}
    anyway = await trading.rest("POST", path, small)
    assert (anyway.status, anyway.body["cancelled"], anyway.body["cancelError"]["code"]) == (
        201, None, "ORDER_NOT_OPEN",
    )  # fmt: skip

    # What the pre-trade check refuses leaves the old one, what only the engine knows does not.
    path = f"/orders/{new['orderId']}/replace"
    refused = await trading.rest("POST", path, body | {"quantity": "1000"})
    assert (refused.status, refused.message) == (400, "quantity 1000 is above the maximum of 100 on BTC-USD")
    assert (await trading.engine.find(external_id=new["orderId"])).status == "OPEN"
    other = await trading.rest("POST", path, body | {"symbol": "ETH-USD", "price": "94"})
    assert (other.status, other.code) == (400, "VALIDATION_FAILED")
    too_much = await trading.rest("POST", path, body | {"price": "97"})
    assert (too_much.status, too_much.code) == (409, "REPLACEMENT_REJECTED"), too_much.body
    assert too_much.body["details"]["reason"] == "RISK_NSF"
    assert too_much.body["details"]["cancelledOrderId"] == new["orderId"]
    assert (await trading.rest("GET", f"/orders/{new['orderId']}")).body["status"] == "cancelled"

    # Nobody replaces the order of another.
    own = await trading.place("carol", price="94", quantity="0.2")
    trading.rest.as_user("bob")
    foreign = await trading.rest("POST", f"/orders/{own.body['orderId']}/replace", small | {"mode": "stop_on_failure"})
    assert (foreign.status, foreign.code) == (404, "ORDER_NOT_FOUND")
    assert (await trading.engine.find(external_id=own.body["orderId"])).status == "OPEN"


async def test_a_frozen_user_makes_an_order_smaller_and_neither_moves_nor_replaces_it(trading: Trading) -> None:
    await trading.engine.fund("carol", USD="1000")
    order_id = (await trading.place("carol", price="95", quantity="2")).body["orderId"]
    freeze = "/api/v1/admin/participants/carol/freeze"
    assert (await trading.engine.request("PUT", freeze, {"reason": "prints prices"}))[0] == 200
    path = f"/orders/{order_id}"
    for body in ({"price": "96"}, {"quantity": "3"}):
        refused = await trading.rest("PATCH", path, body)
        assert (refused.status, refused.code) == (400, "PARTICIPANT_INACTIVE"), refused.body
    body = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "96", "quantity": "1"}
    refused = await trading.rest("POST", f"{path}/replace", body)
    assert (refused.status, refused.code) == (400, "PARTICIPANT_INACTIVE"), refused.body
    smaller = await trading.rest("PATCH", path, {"quantity": "1"})
    assert (smaller.status, smaller.body["price"], smaller.body["quantity"]) == (200, "95", "1"), smaller.body
    assert (await trading.engine.find(external_id=order_id)).status == "OPEN"


async def test_a_stop_that_fires_and_finds_nothing_is_in_the_stream_with_its_reason(
    trading: Trading, nats_url: str
) -> None:
    await trade_at(trading, "100")
    placed = await trading.place("alice", **STOP)
    await trade_at(trading, "105")
    ended = await shown(trading, placed.body["orderId"], status="cancelled")
    assert (ended["triggerStatus"], ended["filledQuantity"]) == ("triggered", "0")

    async def told() -> list[IncompleteOrder]:
        kept = await stored(nats_url, "ORDERS")
        return [
            msgspec.json.decode(payload, type=IncompleteOrder)
            for subject, payload, _ in kept
            if subject == "orders.incomplete.alice"
        ]

    (incomplete,) = await eventually(told)
    assert (incomplete.order_id, incomplete.quantity, incomplete.filled_quantity) == (ended["orderId"], "1", "0")
    assert incomplete.reason == "IOC_REMAINDER"


async def test_an_order_with_an_expiry_ends_at_it_whether_it_rests_or_waits(trading: Trading) -> None:
    soon = {"timeInForce": "gtd", "expiresAt": later(seconds=1)}
    resting = await trading.place("alice", **soon)
    waiting = await trading.place("alice", **STOP_LIMIT, **soon)
    assert (resting.status, resting.body["expiresAt"]) == (201, soon["expiresAt"])
    assert "triggerStatus" not in resting.body
    for order in (resting, waiting):
        ended = await shown(trading, order.body["orderId"], status="cancelled")
        assert (ended["timeInForce"], ended["expiresAt"]) == ("gtd", soon["expiresAt"])
    reasons = [event.reason for event in trading.heard.orders("orders.cancelled.alice")]
    assert reasons == ["ORDER_EXPIRED", "ORDER_EXPIRED"]
    kept = await trading.place("alice", timeInForce="gtd", expiresAt=later(hours=1), postOnly=True)
    found = await trading.engine.find(external_id=kept.body["orderId"])
    assert (kept.status, found.status) == (201, "OPEN")
    amended = await trading.rest("PATCH", f"/orders/{kept.body['orderId']}", {"price": "99"})
    assert (amended.status, amended.body["expiresAt"]) == (200, kept.body["expiresAt"])


async def test_an_order_chooses_its_own_mode_of_self_trade_prevention(trading: Trading) -> None:
    resting = await trading.place("alice", side="sell")
    taken = await trading.place("alice", selfTradePrevention="cancel_incoming")
    assert (taken.body["status"], taken.body["selfTradePrevention"]) == ("cancelled", "cancel_incoming")
    taken = await trading.place("alice", selfTradePrevention="cancel_resting")
    assert taken.body["status"] == "open"
    await shown(trading, resting.body["orderId"], status="cancelled")
    await shown(trading, taken.body["orderId"], selfTradePrevention="cancel_resting")


async def test_a_batch_takes_stops_beside_others(trading: Trading) -> None:
    order = {"symbol": "BTC-USD", "side": "buy", "quantity": "1"}
    trading.rest.as_user("alice")
    batch = await trading.rest(
        "POST",
        "/orders/batch",
        {
            "orders": [
                order | {"type": "limit", "price": "90"},
                order | {"type": "stop_market", "stopPrice": "105"},
                order | {"type": "stop_market"},
            ]
        },
    )
    assert [entry["status"] for entry in batch.body] == [201, 201, 400]
    assert batch.body[1]["order"]["triggerStatus"] == "waiting"
    assert batch.body[2]["error"]["message"] == ["stopPrice is required for a stop_market order"]


async def test_the_mark_price_fires_what_waits_for_it_and_nothing_else(trading: Trading) -> None:
    by_mark = await trading.place("alice", **STOP_LIMIT, triggerBy="mark")
    by_last = await trading.place("alice", **STOP_LIMIT)
    request = orders_pb2.SetMarkPriceRequest(symbol="BTC-USD", price=10_500)
    assert (await trading.engine.orders.SetMarkPrice(request)).result_code == "SUCCESS"
    await shown(trading, by_mark.body["orderId"], triggerStatus="triggered", triggerBy="mark")
    assert (await trading.engine.find(external_id=by_last.body["orderId"])).status == "WAITING"


async def test_under_the_specifications_rules_nothing_of_it_exists(settings: Settings, pool: asyncpg.Pool) -> None:
    async with trading_on(settings, pool) as trading:
        for fields, message in (
            ({"type": "take_profit_market", "price": None}, "type must be one of 'limit', 'market', 'stop_limit' or"),
            ({"type": "trailing_stop_limit"}, "type must be one of 'limit', 'market', 'stop_limit' or 'stop_market'"),
            ({"timeInForce": "gtd"}, "timeInForce must be one of 'gtc', 'ioc' or 'fok'"),
            ({"triggerBy": "last"}, "property triggerBy should not exist"),
            ({"trailingBps": 5}, "property trailingBps should not exist"),
            ({"trailingAmount": "5"}, "property trailingAmount should not exist"),
            ({"expiresAt": "2090-01-01T00:00:00Z"}, "property expiresAt should not exist"),
            ({"selfTradePrevention": "none"}, "property selfTradePrevention should not exist"),
        ):
            refused = await trading.place("alice", **fields)
            assert refused.status == 400
            assert refused.message[0].startswith(message), refused.message
        refused = await trading.place("alice", **STOP_LIMIT)
        assert (refused.status, refused.message) == (400, "Stop orders are not yet supported")
        record = (await trading.rest("GET", f"/orders/{refused.body['details']['orderId']}")).body
        assert {"stopPrice", "triggerBy", "triggerStatus", "expiresAt"}.isdisjoint(record)
        said = (await trading.rest("GET", "/settings/trading")).body
        assert (said["orderTypes"], said["triggerSources"]) == (["limit", "market"], [])
