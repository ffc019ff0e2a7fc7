"""What the order router asks of the engine under the complete rules: post-only, budgets, client order ids, fills."""

import asyncio

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.domain.order import FILLS_LISTED_MAX
from openspot.kit.settings import Settings
from tests.support.engine_client import SCALE, EngineClient, order, running_engine


async def test_a_post_only_order_that_would_match_is_refused_or_slides(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("alice")
    await engine.place("sell", "100", "1", "maker")
    refused = await engine.place("buy", "100", "1", post_only=pb.REFUSE)
    assert (refused.status, refused.result_code) == (pb.REJECTED, "POST_ONLY_WOULD_CROSS")
    slid = await engine.place("buy", "103", "1", post_only=pb.SLIDE)
    assert (slid.status, slid.accepted_price, slid.accepted_quantity) == (pb.ACCEPTED, 9_999, 0)
    assert (slid.filled_quantity, slid.remaining_quantity) == (0, SCALE)
    assert (await engine.find(slid.order_id)).price == 9_999
    _, book = await engine.request("GET", "/api/v1/marketdata/orderbook/BTC-USD")
    assert (book["bids"], book["asks"]) == ([["99.99", "1"]], [["100", "1"]])
    (accepted,) = await engine.events(slid.sequence, slid.sequence)
    assert (accepted["type"], accepted["orderType"], accepted["price"]) == ("accepted", "POST_ONLY", "99.99")


async def test_a_post_only_order_that_takes_nothing_keeps_its_price(engine: EngineClient) -> None:
    await engine.fund()
    for mode in (pb.REFUSE, pb.SLIDE):
        placed = await engine.place("buy", "100", "1", post_only=mode)
        assert (placed.status, placed.accepted_price, placed.remaining_quantity) == (pb.ACCEPTED, 0, SCALE)


@pytest.mark.parametrize(
    "fields", [{"type": pb.IOC, "post_only": pb.REFUSE}, {"type": pb.FOK, "post_only": pb.SLIDE}, {"post_only": 3}]
)
async def test_post_only_is_for_orders_that_rest(engine: EngineClient, fields: dict[str, int]) -> None:
    await engine.fund()
    placed = await engine.place("buy", "100", "1", **fields)
    assert (placed.status, placed.result_code) == (pb.REJECTED, "INVALID_ORDER_TYPE")


async def test_an_ioc_with_a_budget_trades_what_the_budget_pays_for(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("alice")
    await engine.place("sell", "100", "1", "maker")
    await engine.place("sell", "200", "1", "maker")
    bought = await engine.place("buy", "250", "50", type=pb.IOC, budget="150")
    assert (bought.status, bought.filled_quantity, bought.notional) == (pb.ACCEPTED, SCALE + SCALE // 4, "150")
    assert (bought.accepted_quantity, bought.accepted_price, bought.is_order_completed) == (SCALE + SCALE // 4, 0, True)
    found = await engine.find(bought.order_id)
    assert (found.status, found.quantity) == ("FILLED", SCALE + SCALE // 4)
    nothing = await engine.place("buy", "99", "50", type=pb.IOC, budget="150")
    assert (nothing.status, nothing.result_code) == (pb.REJECTED, "BUDGET_NOT_FILLABLE")


async def test_one_open_order_of_an_account_has_a_client_order_id(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    first = await engine.place("buy", "100", "1", client_order_id="mine", external_id="first")
    second = await engine.place("buy", "100", "1", client_order_id="mine", external_id="second")
    assert (second.status, second.result_code, second.conflicting_id, second.sequence) == (
        pb.REJECTED, "DUPLICATE_CLIENT_ORDER_ID", "first", 0,
    )  # fmt: skip
    others = await engine.place("buy", "100", "1", "bob", client_order_id="mine")
    unmarked = await engine.place("buy", "100", "1")
    assert (others.status, unmarked.status) == (pb.ACCEPTED, pb.ACCEPTED)
    await engine.cancel(first.order_id)
    again = await engine.place("buy", "100", "1", client_order_id="mine", external_id="again")
    assert again.status == pb.ACCEPTED


async def test_orders_that_end_at_once_free_their_client_order_id(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("alice", USD="1000")
    for kind, price in ((pb.IOC, "100"), (pb.FOK, "100"), (pb.GTC, "1000000")):
        ended = await engine.place("buy", price, "1", type=kind, client_order_id="mine")
        assert ended.result_code != "DUPLICATE_CLIENT_ORDER_ID"
    await engine.place("sell", "100", "1", "maker")
    assert (await engine.place("buy", "100", "1", client_order_id="mine")).filled_quantity == SCALE
    assert (await engine.place("buy", "100", "1", client_order_id="mine")).status == pb.ACCEPTED


async def test_of_many_orders_at_once_one_gets_the_client_order_id(engine: EngineClient) -> None:
    await engine.fund("alice")
    same_call = await engine.orders.PlaceOrders(
        pb.PlaceOrdersRequest(orders=[order(client_order_id="mine") for _ in range(3)])
    )
    several_calls = await asyncio.gather(*(engine.place("buy", "100", "1", client_order_id="mine") for _ in range(5)))
    placed = [*same_call.orders, *several_calls]
    accepted = [answer for answer in placed if answer.status == pb.ACCEPTED]
    assert len(accepted) == 1
    first = (await engine.find(accepted[0].order_id)).external_id
    assert {answer.conflicting_id for answer in placed if answer is not accepted[0]} == {first}


@pytest.mark.parametrize("from_snapshot", [False, True])
async def test_client_order_ids_survive_a_restart(settings: Settings, from_snapshot: bool) -> None:
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        ended = await engine.place("buy", "100", "1", client_order_id="ended")
        await engine.cancel(ended.order_id)
        await engine.place("buy", "100", "1", client_order_id="open", external_id="first")
    snapshots = list((settings.data_dir / "engine").rglob("*.snapshot"))
    assert snapshots
    if not from_snapshot:
        for snapshot in snapshots:
            snapshot.unlink()
    async with running_engine(settings) as engine:
        second = await engine.place("buy", "100", "1", client_order_id="open")
        assert (second.result_code, second.conflicting_id) == ("DUPLICATE_CLIENT_ORDER_ID", "first")
        assert (await engine.place("buy", "100", "1", client_order_id="ended")).status == pb.ACCEPTED


async def test_a_client_order_id_may_have_128_characters(engine: EngineClient) -> None:
    await engine.fund()
    assert (await engine.place(client_order_id="x" * 128)).status == pb.ACCEPTED
    assert (await engine.place(client_order_id="x" * 129)).result_code == "UNSUPPORTED_COMMAND"


async def test_the_fills_of_an_order_are_listed_if_they_are_asked_for(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("alice")
    await engine.place("sell", "100.01", "0.3", "maker")
    await engine.place("sell", "100.02", "0.3", "maker")
    unasked = await engine.place("buy", "100.02", "0.1")
    assert not unasked.fills
    placed = await engine.place("buy", "100.02", "0.5", with_fills=True)
    (_, first, last) = await engine.events(placed.sequence - 2, placed.sequence)
    assert list(placed.fills) == [
        pb.PlacementFill(trade_id=first["tradeId"], price=10_001, quantity=SCALE // 5, fee="0.050005"),
        pb.PlacementFill(trade_id=last["tradeId"], price=10_002, quantity=3 * SCALE // 10, fee="0.075015"),
    ]
    assert not placed.fills_truncated


async def test_a_hundred_fills_are_listed_at_most(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("alice")
    await engine.orders.PlaceOrders(
        pb.PlaceOrdersRequest(orders=[order("sell", "100", "0.001", "maker") for _ in range(FILLS_LISTED_MAX + 1)])
    )
    placed = await engine.place("buy", "100", "0.101", with_fills=True)
    assert (len(placed.fills), placed.fills_truncated, placed.filled_quantity) == (
        FILLS_LISTED_MAX,
        True,
        SCALE * 101 // 1000,
    )
