"""Icebergs, replacements and other triggers over gRPC: what the engine answers, streams and keeps over a restart."""

from openspot.contracts.gen.exchange.v1 import market_data_pb2
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.kit.settings import Settings
from tests.support.engine_client import SCALE, EngineClient, order, running_engine


async def book(engine: EngineClient) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Bids and asks as market data of the engine shows them."""
    found = await engine.market_data.GetOrderBook(market_data_pb2.GetOrderBookRequest(symbol="BTC-USD"))
    bids, asks = ([(level.price, level.quantity) for level in side] for side in (found.bids, found.asks))
    return bids, asks


async def types_after(engine: EngineClient, sequence: int) -> list[str]:
    return [event["type"] for event in await engine.events(sequence + 1, await engine.last_sequence())]


async def replace(
    engine: EngineClient, order_id: int, new: pb.PlaceOrderRequest, *, allow_failure: bool = False
) -> pb.ReplaceOrderResponse:
    request = pb.ReplaceOrderRequest(order_id=order_id, order=new, allow_failure=allow_failure)
    return await engine.orders.ReplaceOrder(request)


async def test_the_book_and_the_stream_say_what_an_iceberg_shows_also_after_a_restart(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        await engine.place("sell", "110", "10", "bob", order_id=7, display_quantity=3 * SCALE)
        assert await book(engine) == ([], [("110", "3")])
        assert (await engine.balances("bob"))["BTC"].locked == "10"
        before = await engine.last_sequence()
        answer = await engine.place("buy", "110", "4")
        assert answer.filled_quantity == 4 * SCALE
        assert await types_after(engine, before) == ["accepted", "trade", "shown", "trade"]
        (accepted,) = await engine.events(before - 1, before - 1)
        (shown,) = await engine.events(before + 3, before + 3)
        assert accepted["displayQuantity"] == "3"
        assert (shown["quantity"], shown["remaining"], shown["orderId"]) == ("3", "7", "7")

    async with running_engine(settings) as engine:
        found = await engine.find(7)
        assert (found.remaining_quantity, found.display_quantity) == (6 * SCALE, 3 * SCALE)
        assert await book(engine) == ([], [("110", "2")])
        before = await engine.last_sequence()
        await engine.orders.ReduceOrder(
            pb.ReduceOrderRequest(order_id=7, participant_id="bob", symbol="BTC-USD", quantity=5 * SCALE)
        )
        (reduced,) = await engine.events(before + 1, before + 1)
        assert (reduced["remaining"], reduced["shownQuantity"]) == ("1", "1")
        refused = await engine.place("sell", "120", "2", "bob", display_quantity=2 * SCALE)
        assert refused.result_code == "INVALID_DISPLAY_QUANTITY"


async def test_a_replacement_answers_both_outcomes_and_frees_funds_and_client_order_id(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await engine.fund("alice", USD="150")
        await engine.place("buy", "100", "1", order_id=1, client_order_id="mine", external_id="first")
        taken = await engine.place("buy", "50", "1", order_id=2, client_order_id="mine")
        assert (taken.result_code, taken.conflicting_id) == ("DUPLICATE_CLIENT_ORDER_ID", "first")

        answer = await replace(engine, 1, order("buy", "99", "1", order_id=3, client_order_id="mine"))
        assert (answer.cancelled.result_code, answer.cancelled.cancelled_quantity) == ("SUCCESS", SCALE)
        assert (answer.placed.result_code, answer.placed.remaining_quantity) == ("SUCCESS", SCALE)
        assert answer.cancelled.sequence + 1 == answer.placed.sequence == await engine.last_sequence()

        # The old one has ended by now: nothing is placed, unless that is allowed.
        answer = await replace(engine, 1, order("buy", "98", "1", order_id=4))
        assert answer.cancelled.result_code == "MATCHING_UNKNOWN_ORDER_ID"
        assert (answer.placed.status, answer.placed.result_code) == (pb.REJECTED, "REPLACEMENT_NOT_ATTEMPTED")
        assert (await engine.find(4)).status == "REJECTED"
        answer = await replace(engine, 1, order("buy", "0.5", "1", order_id=5), allow_failure=True)
        assert answer.cancelled.result_code == "MATCHING_UNKNOWN_ORDER_ID"
        assert answer.placed.result_code == "SUCCESS"

        # What only the core knows refuses the second after the first is cancelled.
        answer = await replace(engine, 3, order("buy", "200", "1", order_id=6, client_order_id="mine"))
        assert (answer.cancelled.result_code, answer.placed.result_code) == ("SUCCESS", "RISK_NSF")
        free = await engine.place("buy", "99", "1", order_id=7, client_order_id="mine")
        assert free.result_code == "SUCCESS"

        # What the engine knows before refuses both.
        answer = await replace(engine, 7, order("buy", "99", "1", order_id=5))
        codes = {answer.cancelled.result_code, answer.placed.result_code}
        assert (codes, answer.placed.sequence) == ({"DUPLICATE_ORDER_ID"}, 0)
        assert (await engine.find(7)).status == "OPEN"

    async with running_engine(settings) as engine:
        statuses = [(await engine.find(number)).status for number in (1, 3, 4, 5, 6, 7)]
        assert statuses == ["CANCELLED", "CANCELLED", "REJECTED", "OPEN", "REJECTED", "OPEN"]
        taken = await engine.place("buy", "1", "1", order_id=8, client_order_id="mine")
        assert taken.result_code == "DUPLICATE_CLIENT_ORDER_ID"


async def test_nobody_replaces_the_order_of_another_or_of_another_symbol(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    await engine.place("buy", "90", "1", order_id=1)
    answer = await replace(engine, 1, order("buy", "91", "1", "bob", order_id=2))
    assert (answer.cancelled.result_code, answer.placed.result_code) == (
        "AUTH_INVALID_USER", "REPLACEMENT_NOT_ATTEMPTED",
    )  # fmt: skip
    answer = await replace(engine, 1, order("buy", "91", "1", order_id=3, symbol="ETH-USD"))
    assert answer.cancelled.result_code == "MATCHING_UNKNOWN_ORDER_ID"
    assert (await engine.find(1)).status == "OPEN"
    # Nor is its client order id free for an order of another symbol.
    await engine.place("buy", "80", "1", order_id=4, client_order_id="mine")
    other = order("buy", "91", "1", order_id=5, symbol="ETH-USD", client_order_id="mine")
    answer = await replace(engine, 4, other, allow_failure=True)
    assert answer.placed.result_code == "DUPLICATE_CLIENT_ORDER_ID"
    assert (await engine.find(4)).status == "OPEN"


async def test_an_amendment_moves_a_trigger_and_says_so_in_the_stream(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.place("buy", "112", "1", order_id=7, trigger=pb.TRIGGER_FIXED, trigger_value=10_500)
    before = await engine.last_sequence()

    async def amend(**fields: int) -> pb.AmendOrderResponse:
        wanted = pb.AmendOrderRequest(order_id=7, participant_id="alice", symbol="BTC-USD", **fields)
        return (await engine.orders.AmendOrders(pb.AmendOrdersRequest(orders=[wanted]))).orders[0]

    answer = await amend(trigger_price=10_600)
    assert (answer.result_code, answer.trigger_price, answer.price) == ("SUCCESS", 10_600, 11_200)
    (moved,) = await engine.events(before + 1, before + 1)
    assert (moved["type"], moved["triggerPrice"], moved["isWaiting"]) == ("moved", "106", True)
    again = await amend(trigger_price=10_600)
    assert (again.result_code, again.sequence) == ("SUCCESS", 0)
    await amend(price=11_300)
    (moved,) = await engine.events(before + 2, before + 2)
    assert "triggerPrice" not in moved
    assert (await engine.find(7)).trigger_price == 10_600
    assert (await amend(trigger_price=-1)).result_code == "INVALID_TRIGGER"
