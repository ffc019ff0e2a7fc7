"""Order lists from the REST edge to the engine and back into rows, under the complete rules."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2
from openspot.contracts.messages import SendNotification
from openspot.kit.settings import Settings
from openspot.reconcile.rebuild import rebuild
from tests.integration.router.test_order_path_absent import Trading, trading_on
from tests.support.rest_client import Reply
from tests.support.waiting import eventually

ENTRY = {"side": "buy", "type": "limit", "price": "100"}
PROFIT = {"side": "sell", "type": "limit", "price": "105"}
STOP = {"side": "sell", "type": "stop_limit", "stopPrice": "95", "price": "94"}


@pytest.fixture
async def trading(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    """A platform with the complete rules, on which alice and bob have funds."""
    async with trading_on(settings.model_copy(update={"rules": "complete"}), pool) as platform:
        yield platform


def bracket(quantity: str = "3", **fields: Any) -> dict[str, Any]:
    """A buy at 100 with a take profit at 105 and a stop at 95."""
    return listed("bracket", ENTRY, PROFIT, STOP, quantity=quantity) | fields


def oco(quantity: str = "2", **fields: Any) -> dict[str, Any]:
    """A take profit at 105 and a stop at 95 of one position."""
    return listed("oco", PROFIT, STOP, quantity=quantity) | fields


def listed(list_type: str, *orders: dict[str, Any], quantity: str = "1") -> dict[str, Any]:
    return {"type": list_type, "orders": [{"symbol": "BTC-USD", "quantity": quantity} | order for order in orders]}


async def place(trading: Trading, body: dict[str, Any], user: str = "alice", **options: Any) -> Reply:
    trading.rest.as_user(user)
    return await trading.rest("POST", "/orders/lists", body, **options)


async def shown(trading: Trading, list_id: str, *states: str) -> dict[str, Any]:
    """Alice's list, once its orders have these states."""
    trading.rest.as_user("alice")

    async def with_them() -> dict[str, Any] | None:
        reply = await trading.rest("GET", f"/orders/lists/{list_id}")
        assert reply.status == 200, reply.body
        found = reply.body
        return found if [state_of(order) for order in found["orders"]] == list(states) else None

    return await eventually(with_them)


def state_of(order: dict[str, Any]) -> str:
    """The status of an order, what its list means for it, and what remains."""
    return f"{order['status']} {order['listState']} {order['remainingQuantity']}"


async def locked(trading: Trading, asset: str, user: str = "alice") -> str:
    return (await trading.engine.balances(user))[asset].locked or "0"


async def test_a_bracket_is_placed_armed_by_its_fills_and_ended_by_its_stop(trading: Trading) -> None:
    placed = await place(trading, bracket(clientListId="mine"))
    assert placed.status == 201, placed.body
    body = placed.body
    assert (body["type"], body["clientListId"], body["symbol"], body["status"]) == (
        "bracket", "mine", "BTC-USD", "active",
    )  # fmt: skip
    assert [(order["listRole"], state_of(order)) for order in body["orders"]] == [
        ("entry", "open active 3"),
        ("take_profit", "open planned 3"),
        ("stop_loss", "open planned 3"),
    ]
    assert {(order["listId"], order["clientListId"], order["listType"]) for order in body["orders"]} == {
        (body["listId"], "mine", "bracket")
    }
    assert (body["orders"][2]["type"], body["orders"][2]["triggerStatus"]) == ("stop_limit", "waiting")
    assert await locked(trading, "BTC") == "0"

    await trading.place("bob", side="sell", quantity="1")
    armed = await shown(trading, body["listId"], "partially_filled active 2", "open active 1", "open active 1")
    assert [order["quantity"] for order in armed["orders"]] == ["3", "1", "1"]
    await trading.place("bob", side="sell", quantity="2")
    armed = await shown(trading, body["listId"], "filled active 0", "open active 3", "open active 3")
    assert [order["quantity"] for order in armed["orders"]] == ["3", "3", "3"]
    assert await locked(trading, "BTC") == "3"

    await trading.place("bob", price="95", quantity="0.5")
    await trading.place("bob", side="sell", price="95", quantity="0.5", selfTradePrevention="none")
    fired = await shown(trading, body["listId"], "filled active 0", "cancelled active 0", "open ended 3")
    assert (fired["status"], fired["orders"][2]["triggerStatus"]) == ("ended", "triggered")
    reasons = [event.reason for event in trading.heard.orders("orders.updated.alice")]
    assert reasons[-2:] == ["TRIGGERED", "LIST_ENDED"]
    assert "ARMED" in reasons
    ended = [event.reason for event in trading.heard.orders("orders.cancelled.alice")]
    assert ended == ["LIST_EXIT_TRIGGERED"]
    # The order that goes on alone is one like any other: it can be amended, and goes with what is left of its list.
    stop = fired["orders"][2]["orderId"]
    amended = await trading.rest("PATCH", f"/orders/{stop}", {"quantity": "2"})
    assert (amended.status, amended.body["remainingQuantity"]) == (200, "2"), amended.body
    cancelled = await trading.rest("DELETE", f"/orders/lists/{body['listId']}")
    assert (cancelled.status, cancelled.body["orders"][2]["status"]) == (200, "cancelled")
    again = await trading.rest("DELETE", f"/orders/lists/{body['listId']}")
    assert (again.status, again.code) == (409, "ORDER_LIST_NOT_OPEN")


async def test_an_exit_that_fills_in_part_takes_as_much_from_the_other_and_the_last_fill_ends_it(
    trading: Trading,
) -> None:
    placed = await place(trading, oco())
    assert placed.status == 201, placed.body
    assert [state_of(order) for order in placed.body["orders"]] == ["open active 2", "open active 2"]
    assert await locked(trading, "BTC") == "2", "the two exits hold the position once"
    list_id = placed.body["listId"]
    await trading.place("bob", price="105", quantity="0.5")
    await shown(trading, list_id, "partially_filled active 1.5", "open active 1.5")
    await trading.place("bob", price="105", quantity="1.5")
    ended = await shown(trading, list_id, "filled active 0", "cancelled active 0")
    assert ended["status"] == "ended"
    assert [event.reason for event in trading.heard.orders("orders.cancelled.alice")] == ["LIST_EXIT_TRADED"]
    assert await locked(trading, "BTC") == "0"


async def test_the_cancel_of_one_order_ends_what_depends_on_it_exactly_once(trading: Trading) -> None:
    everything: list[str] = []
    for which in range(3):
        placed = await place(trading, bracket())
        order_ids = [order["orderId"] for order in placed.body["orders"]]
        cancelled = await trading.cancel("alice", order_ids[which])
        assert (cancelled.status, cancelled.body["status"]) == (200, "cancelled")
        assert cancelled.body["remainingQuantity"] == "0"
        await shown(trading, placed.body["listId"], "cancelled active 0", "cancelled planned 0", "cancelled planned 0")
        for order_id in order_ids:
            again = await trading.cancel("alice", order_id)
            assert (again.status, again.code) == (409, "ORDER_NOT_OPEN")
        everything += order_ids

    def told() -> list[str]:
        return sorted(event.order.order_id for event in trading.heard.orders("orders.cancelled.alice"))

    await eventually(lambda: len(told()) >= len(everything))
    assert told() == sorted(everything)


async def test_every_bulk_cancel_reaches_lists_and_names_each_order_once(trading: Trading) -> None:
    async def placed() -> tuple[str, list[str]]:
        body = (await place(trading, bracket())).body
        return body["listId"], [order["orderId"] for order in body["orders"]]

    _, orders = await placed()
    everything = await trading.rest("DELETE", "/orders")
    assert (sorted(everything.body["cancelled"]), everything.body["failed"]) == (sorted(orders), [])
    _, orders = await placed()
    named = await trading.rest("DELETE", "/orders", {"orderIds": orders})
    assert (sorted(named.body["cancelled"]), named.body["failed"]) == (sorted(orders), [])
    list_id, orders = await placed()
    sold = await trading.rest("DELETE", "/orders", {"symbol": "BTC-USD", "side": "sell"})
    assert set(orders[1:]) <= set(sold.body["cancelled"]), "the end of an exit is the end of its list"
    assert sold.body["failed"] == []
    await shown(trading, list_id, "cancelled active 0", "cancelled planned 0", "cancelled planned 0")
    list_id, orders = await placed()
    cancelled = await trading.rest("DELETE", f"/orders/lists/{list_id}")
    assert [order["status"] for order in cancelled.body["orders"]] == ["cancelled"] * 3
    assert cancelled.body["status"] == "ended"
    assert await locked(trading, "USD") == "0"


async def test_the_dead_mans_switch_ends_every_order_of_a_list_once(trading: Trading) -> None:
    list_id = (await place(trading, bracket())).body["listId"]
    await trading.place("bob", side="sell", quantity="1")
    await shown(trading, list_id, "partially_filled active 2", "open active 1", "open active 1")
    path = "/orders/cancel-all-after"
    assert (await trading.rest("POST", path, {"timeoutSeconds": 3600})).status == 200
    await trading.pool.execute("UPDATE cancel_timers SET fires_at = now() - interval '1 second'")
    ended = await shown(trading, list_id, "cancelled active 0", "cancelled active 0", "cancelled active 0")
    assert ended["status"] == "ended"
    assert (await locked(trading, "USD"), await locked(trading, "BTC")) == ("0", "0")

    async def has_fired() -> Any:
        timer = (await trading.rest("GET", path)).body
        return timer if timer["firedAt"] else None

    assert (await eventually(has_fired))["cancelledOrders"] == 3
    told = [event.order.order_id for event in trading.heard.orders("orders.cancelled.alice")]
    assert sorted(told) == sorted(order["orderId"] for order in ended["orders"])


async def test_the_quantity_of_a_list_is_not_amended_and_says_why(trading: Trading) -> None:
    placed = await place(trading, bracket())
    for order in placed.body["orders"]:
        refused = await trading.rest("PATCH", f"/orders/{order['orderId']}", {"quantity": "1"})
        assert (refused.status, refused.code) == (409, "ORDER_IN_LIST")
        assert "one quantity, which is not changed: cancel the list and place another" in refused.message
        same = await trading.rest("PATCH", f"/orders/{order['orderId']}", {"quantity": "3"})
        assert (same.status, same.body["quantity"]) == (200, "3"), same.body
    await shown(trading, placed.body["listId"], "open active 3", "open planned 3", "open planned 3")


async def test_planned_exits_and_their_entry_get_another_price_and_are_armed_with_it(trading: Trading) -> None:
    placed = await place(trading, bracket())
    entry, profit, stop = (order["orderId"] for order in placed.body["orders"])

    async def amended(order_id: str, **changes: str) -> Reply:
        return await trading.rest("PATCH", f"/orders/{order_id}", changes)

    beyond = await amended(profit, price="100")
    assert (beyond.status, beyond.message) == (400, "LIST_EXIT_WOULD_FILL"), beyond.body
    fires = await amended(stop, stopPrice="100")
    assert (fires.status, fires.message) == (400, "TRIGGER_WOULD_FIRE"), fires.body
    off_tick = await amended(profit, price="103.001")
    assert off_tick.status == 400 and "price 103.001 has more than 2 decimal places" in off_tick.message
    for _ in range(2):
        # The repeat changes nothing, and says the same.
        taken = [
            await amended(profit, price="104"),
            await amended(stop, stopPrice="97", price="96.5"),
            await amended(entry, price="99"),
        ]
        assert [reply.status for reply in taken] == [200] * 3, [reply.body for reply in taken]
        assert [reply.body["price"] for reply in taken] == ["104", "96.5", "99"]
        assert taken[1].body["stopPrice"] == "97"
    between = await amended(entry, price="97")
    assert (between.status, between.message) == (400, "TRIGGER_WOULD_FIRE"), between.body
    await trading.place("bob", side="sell", price="99", quantity="1")
    armed = await shown(trading, placed.body["listId"], "partially_filled active 2", "open active 1", "open active 1")
    assert [(order["price"], order.get("stopPrice")) for order in armed["orders"]] == [
        ("99", None), ("104", None), ("96.5", "97"),
    ]  # fmt: skip
    # An armed exit is compared with the market, whatever little of it is armed yet.
    later = await amended(stop, stopPrice="98.5", price="98")
    assert (later.status, later.body["stopPrice"], later.body["remainingQuantity"]) == (200, "98.5", "1"), later.body
    assert await locked(trading, "BTC") == "1"


async def test_both_legs_of_an_oco_get_another_price_and_hold_their_funds_once(trading: Trading) -> None:
    buy_low = {"side": "buy", "type": "limit", "price": "95"}
    buy_high = {"side": "buy", "type": "stop_limit", "stopPrice": "103", "price": "104"}
    placed = await place(trading, listed("oco", buy_low, buy_high, quantity="2"))
    assert placed.status == 201, placed.body
    low, high = (order["orderId"] for order in placed.body["orders"])
    assert await locked(trading, "USD") == "208"
    moved = await trading.rest("PATCH", f"/orders/{high}", {"stopPrice": "102", "price": "102.5"})
    assert (moved.status, moved.body["stopPrice"], moved.body["price"]) == (200, "102", "102.5"), moved.body
    assert await locked(trading, "USD") == "205"
    moved = await trading.rest("PATCH", f"/orders/{low}", {"price": "96"})
    assert (moved.status, moved.body["price"]) == (200, "96"), moved.body
    assert await locked(trading, "USD") == "205"
    trading.rest.as_user("bob")
    foreign = await trading.rest("PATCH", f"/orders/{low}", {"price": "97"})
    assert (foreign.status, foreign.code) == (404, "ORDER_NOT_FOUND")


async def test_a_planned_stop_without_a_price_keeps_the_distance_of_its_bound(trading: Trading) -> None:
    stop_market = {"side": "sell", "type": "stop_market", "stopPrice": "95"}
    placed = await place(trading, listed("oto", ENTRY, stop_market, quantity="1"))
    assert placed.status == 201, placed.body
    stop = placed.body["orders"][1]["orderId"]
    before = await trading.engine.find(external_id=stop)
    moved = await trading.rest("PATCH", f"/orders/{stop}", {"stopPrice": "97"})
    assert (moved.status, moved.body["stopPrice"], moved.body["price"]) == (200, "97", None), moved.body
    after = await trading.engine.find(external_id=stop)
    assert after.trigger_price - before.trigger_price == after.price - before.price > 0
    assert after.trigger_limit == after.price


async def test_a_repeated_list_is_placed_once_and_another_one_under_its_id_is_refused(trading: Trading) -> None:
    body = bracket(clientListId="mine")
    first = await place(trading, body)
    again = await place(trading, body)
    assert (first.status, again.status) == (201, 201)
    assert again.body["listId"] == first.body["listId"]
    assert [order["orderId"] for order in again.body["orders"]] == [order["orderId"] for order in first.body["orders"]]
    other = await place(trading, bracket("2", clientListId="mine"))
    assert (other.status, other.code, other.body["details"]) == (
        409, "DUPLICATE_CLIENT_LIST_ID", {"listId": first.body["listId"]},
    )  # fmt: skip
    of_bob = await place(trading, body, "bob")
    assert of_bob.status == 201, "the id is the user's own"
    keyed = [await place(trading, oco(), headers={"Idempotency-Key": "once"}) for _ in range(2)]
    assert keyed[0].body["listId"] == keyed[1].body["listId"]
    trading.rest.as_user("alice")
    lists = (await trading.rest("GET", "/orders/lists")).body
    assert [entry["listId"] for entry in lists] == [keyed[0].body["listId"], first.body["listId"]]
    await trading.rest("DELETE", f"/orders/lists/{first.body['listId']}")
    ended = await place(trading, body)
    assert (ended.status, ended.body["status"]) == (201, "ended"), "also after its end nothing is placed twice"


async def test_lists_and_their_orders_are_found_by_their_owner_alone(trading: Trading) -> None:
    ids = [(await place(trading, body)).body["listId"] for body in (bracket(), oco(), bracket("1"))]
    await trading.rest("DELETE", f"/orders/lists/{ids[1]}")
    page = await trading.rest("GET", "/orders/lists?limit=2")
    assert [entry["listId"] for entry in page.body] == [ids[2], ids[1]]
    rest = await trading.rest("GET", f"/orders/lists?limit=2&cursor={page.headers['X-Next-Cursor']}")
    assert [entry["listId"] for entry in rest.body] == [ids[0]]
    active = await trading.rest("GET", "/orders/lists?active=true")
    assert [entry["listId"] for entry in active.body] == [ids[2], ids[0]]
    assert (await trading.rest("GET", "/orders/lists?symbol=ETH-USD")).body == []
    of_list = await trading.rest("GET", f"/orders?listId={ids[0]}")
    assert {order["listRole"] for order in of_list.body} == {"entry", "take_profit", "stop_loss"}
    trading.rest.as_user("bob")
    hidden = await trading.rest("GET", f"/orders/lists/{ids[0]}")
    assert (hidden.status, hidden.code) == (404, "ORDER_LIST_NOT_FOUND")
    assert (await trading.rest("DELETE", f"/orders/lists/{ids[0]}")).status == 404
    assert (await trading.rest("GET", f"/orders?listId={ids[0]}")).body == []
    await shown(trading, ids[0], "open active 3", "open planned 3", "open planned 3")


NO_LISTS: tuple[tuple[dict[str, Any], str], ...] = (
    (bracket() | {"type": "triangle"}, "type must be one of 'oco', 'oto' or 'bracket'"),
    (bracket() | {"type": "oco"}, "orders must have 2 entries for a list of type oco"),
    (listed("oco", PROFIT, PROFIT), "orders.1.type: of two exits at least one must have a trigger"),
    (listed("oco", PROFIT, STOP | {"side": "buy"}), "orders.1.side must be sell: both are exits"),
    (listed("oto", ENTRY, STOP | {"side": "buy"}), "orders.1.side must be sell: an exit reverses its entry"),
    (listed("oco", PROFIT | {"timeInForce": "ioc"}, STOP), "orders.0.timeInForce ioc does not go with an exit"),
    (listed("oco", PROFIT, STOP | {"quantity": "2"}), "orders.1.quantity must be that of the first order"),
    (listed("oco", PROFIT, STOP | {"symbol": "ETH-USD"}), "orders.1.symbol must be BTC-USD"),
    (listed("oto", ENTRY, {"side": "sell", "type": "market"}), "orders.1.type market is not for an exit"),
    (listed("oto", ENTRY, PROFIT | {"postOnly": True}), "orders.1.postOnly is not for an exit of an entry"),
    (
        listed("oto", ENTRY, PROFIT | {"timeInForce": "gtd", "expiresAt": "2100-01-01T00:00:00Z"}),
        "orders.1.timeInForce gtd is not for an exit of an entry",
    ),
    (
        listed("oto", ENTRY, {"side": "sell", "type": "trailing_stop_limit", "price": "95", "trailingBps": 100}),
        "orders.1.type trailing_stop_limit is not for an exit of an entry",
    ),
    (listed("oto", ENTRY | {"stopPrice": "5"}, PROFIT), "stopPrice must not be given for a limit order"),
    (listed("oto", ENTRY, STOP | {"stopPrice": None}), "orders.1.stopPrice is required for a stop_limit order"),
    (
        listed("oco", PROFIT | {"clientOrderId": "a"}, STOP | {"clientOrderId": "a"}),
        "orders.1.clientOrderId is that of another order of the list",
    ),
    (oco(clientListId="é"), "clientListId has characters that are not allowed"),
    (oco(stopPrice="5"), "property stopPrice should not exist"),
)


async def test_what_is_no_list_is_refused_with_the_order_and_its_field(trading: Trading) -> None:
    for body, message in NO_LISTS:
        orders = [{name: value for name, value in order.items() if value is not None} for order in body["orders"]]
        refused = await place(trading, body | {"orders": orders})
        assert (refused.status, refused.code) == (400, "VALIDATION_FAILED"), refused.body
        assert message in refused.message[0], refused.message
    assert (await trading.rest("GET", "/orders")).body == []


async def test_a_list_that_breaks_a_rule_of_the_market_is_refused_whole(trading: Trading) -> None:
    far = await place(trading, listed("bracket", ENTRY, PROFIT, STOP | {"price": "50"}, quantity="1"))
    assert (far.status, far.code) == (400, "ORDER_LIST_REJECTED")
    assert far.message.startswith("price 50 deviates from the price of its trigger 95")
    assert far.body["details"]["failedOrder"] == 3
    poor = await place(trading, oco("5000"))
    assert (poor.status, poor.body["details"]["failedOrder"]) == (400, 1)
    assert poor.message.startswith("quantity 5000 is above") or "insufficient BTC" in poor.message
    would_fill = await place(trading, listed("bracket", ENTRY, PROFIT | {"price": "99"}, STOP, quantity="1"))
    assert (would_fill.status, would_fill.code, would_fill.body["details"]["failedOrder"]) == (
        400,
        "LIST_EXIT_WOULD_FILL",
        2,
    )
    for refused in (far, would_fill):
        gone = await shown(trading, refused.body["details"]["listId"], *(
            f"rejected {state} 0" for state in ("active", "planned", "planned")
        ))  # fmt: skip
        assert gone["status"] == "rejected"
    assert gone["orders"][0]["rejectReason"] == "LIST_EXIT_WOULD_FILL"
    assert await locked(trading, "USD") == "0"
    repeated = await place(trading, bracket(clientListId="again") | {"orders": listed(
        "bracket", ENTRY, PROFIT, STOP | {"price": "50"})["orders"]})  # fmt: skip
    assert repeated.status == 400
    assert (await trading.rest("GET", "/orders?status=open")).body == []


async def test_an_entry_at_the_market_arms_its_exits_in_the_reply(trading: Trading) -> None:
    await trading.place("bob", side="sell", quantity="3")
    entry = {"side": "buy", "type": "limit", "price": "101", "timeInForce": "ioc"}
    placed = await place(trading, listed("bracket", entry, PROFIT, STOP, quantity="2"))
    assert [state_of(order) for order in placed.body["orders"]] == [
        "filled active 0", "open active 2", "open active 2",
    ]  # fmt: skip
    assert placed.body["orders"][0]["averagePrice"] == "100"
    assert placed.body["orders"][0]["fee"] != "0"
    alone = await place(trading, listed("oto", entry | {"timeInForce": "fok"}, STOP, quantity="5"))
    assert [state_of(order) for order in alone.body["orders"]] == ["cancelled active 0", "cancelled planned 0"]


async def test_the_rows_of_lists_are_made_again_from_the_events(trading: Trading, settings: Settings) -> None:
    await trading.place("bob", side="sell", quantity="1")
    armed = (await place(trading, bracket())).body["listId"]
    await shown(trading, armed, "partially_filled active 2", "open active 1", "open active 1")
    cancelled = (await place(trading, bracket("1", clientListId="gone"))).body["listId"]
    await trading.rest("DELETE", f"/orders/lists/{cancelled}")
    refused = await place(trading, listed("bracket", ENTRY, PROFIT | {"price": "99"}, STOP))
    await shown(trading, refused.body["details"]["listId"], *(
        f"rejected {state} 0" for state in ("active", "planned", "planned")
    ))  # fmt: skip
    rows = "SELECT * FROM orders WHERE list_id IS NOT NULL ORDER BY order_id"
    before = [tuple(row) for row in await eventually(lambda: _all_of(trading.pool, rows, 9))]
    await trading.pool.execute("TRUNCATE trades, orders")
    # What was never given to the engine has no events: all nine orders of these lists were.
    rebuilt = await rebuild(settings, is_plan=False)
    assert rebuilt.problems == []
    assert [tuple(row) for row in await trading.pool.fetch(rows)] == before
    again = await rebuild(settings, is_plan=True)
    assert again.counts["order row"] == 0


async def _all_of(pool: asyncpg.Pool, query: str, count: int) -> list[Any]:
    rows = await pool.fetch(query)
    return rows if len(rows) == count else []


async def test_an_exit_that_cannot_be_armed_is_told_to_the_user(trading: Trading) -> None:
    # A short entry whose stop needs more than it brings: once the funds are gone, no exit can be placed.
    stop = {"side": "buy", "type": "stop_limit", "stopPrice": "108", "price": "109"}
    placed = await place(trading, listed("oto", {"side": "sell", "type": "limit", "price": "100"}, stop, quantity="2"))
    assert placed.status == 201, placed.body
    balance = (await trading.engine.balances("alice"))["USD"]
    request = accounts_pb2.ReserveWithdrawalRequest(
        participant_id="alice", currency="USD", amount=balance.available, reference="withdrawal"
    )
    assert (await trading.engine.accounts.ReserveWithdrawal(request)).success
    await trading.place("bob", quantity="1")
    gone = await shown(trading, placed.body["listId"], "cancelled active 0", "cancelled planned 0")
    assert gone["orders"][0]["filledQuantity"] == "1"
    (told,) = await eventually(lambda: trading.heard.of("notifications.send", SendNotification))
    assert (told.user_id, told.kind) == ("alice", "order.list_not_armed")
    assert "has filled 1 BTC for which its exits could not be placed: your account does not have the funds" in told.text
    assert placed.body["listId"] in told.text
