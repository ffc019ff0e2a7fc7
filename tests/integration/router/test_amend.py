"""Amendments on the real bus, engine and database, and through the kill of a router."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.contracts.messages import OrderAmendment
from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient, router_process, router_ready, running_router
from tests.support.waiting import eventually


def complete(settings: Settings) -> Settings:
    return settings.model_copy(update={"rules": "complete"})


@pytest.fixture
async def router(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> AsyncIterator[RouterClient]:
    """A running router with the complete rules, and a client of it."""
    async with running_router(complete(settings)):
        yield RouterClient(bus)


async def test_an_amended_order_has_its_new_price_and_quantity_everywhere(
    router: RouterClient, engine: EngineClient, published: Published, pool: asyncpg.Pool
) -> None:
    order_id = await router.place()
    outcome = await router.amend_one(order_id, price="101", quantity="1.5")
    assert outcome.success, outcome
    assert outcome.order is not None
    shown = outcome.order
    assert (shown.price, shown.quantity, shown.remaining_quantity, shown.status) == ("101", "1.5", "1.5", "open")
    found = await engine.find(external_id=order_id)
    assert (found.price, found.quantity) == (101_00, 150_000_000)
    (event,) = await eventually(lambda: published.orders("orders.updated.alice"))
    assert (event.order.price, event.order.quantity) == ("101", "1.5")
    query = "SELECT 1 FROM orders WHERE order_id = $1 AND price = 101 AND quantity = 1.5 AND remaining_quantity = 1.5"
    await eventually(lambda: pool.fetchval(query, order_id))

    # Less, which keeps the place; then the same once more, which changes nothing.
    for _ in range(2):
        outcome = await router.amend_one(order_id, quantity="0.5")
        assert outcome.order is not None
        assert (outcome.order.price, outcome.order.quantity) == ("101", "0.5")
    assert len(await eventually(lambda: _two(published))) == 2


def _two(published: Published) -> list[object] | None:
    events = published.orders("orders.updated.alice")
    return list(events) if len(events) >= 2 else None


async def test_an_amendment_that_trades_answers_with_its_fills(router: RouterClient) -> None:
    await router.place("bob", side="sell", price="105", quantity="1")
    order_id = await router.place(quantity="0.5")
    outcome = await router.amend_one(order_id, price="105", quantity="1.5")
    assert outcome.order is not None
    filled = outcome.order
    assert (filled.status, filled.filled_quantity, filled.remaining_quantity) == ("partially_filled", "1", "0.5")
    outcome = await router.amend_one(order_id, quantity="1")
    assert (outcome.success, outcome.code, outcome.error) == (False, RefusalCode.ENGINE, "QUANTITY_BELOW_FILLED")
    await router.place("bob", side="sell", price="105", quantity="0.5")
    outcome = await router.amend_one(order_id, quantity="3")
    assert (outcome.code, outcome.order and outcome.order.status) == (RefusalCode.ALREADY_ENDED, "filled")


async def test_amendments_of_one_request_have_their_own_outcomes(router: RouterClient) -> None:
    first, second, cancelled = [await router.place(quantity="0.1") for _ in range(3)]
    assert (await router.cancel(cancelled)).success
    theirs = await router.place("bob")
    reply = await router.amend(
        OrderAmendment(first, "99"),
        OrderAmendment(cancelled, "99"),
        OrderAmendment(theirs, "99"),
        OrderAmendment("nobodys", "99"),
        OrderAmendment("no id!", "99"),
        OrderAmendment(second, quantity="0.2"),
    )
    codes = [outcome.code for outcome in reply.outcomes]
    missing = RefusalCode.NOT_FOUND
    assert codes == [None, RefusalCode.ALREADY_ENDED, missing, missing, RefusalCode.VALIDATION, None]
    assert [outcome.order.price for outcome in reply.outcomes if outcome.success and outcome.order] == ["99", "100"]


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({}, RefusalCode.VALIDATION, "price, quantity or stopPrice is required"),
        ({"price": "much"}, RefusalCode.VALIDATION, "price"),
        ({"quantity": "1e400"}, RefusalCode.VALIDATION, "quantity"),
        ({"price": "100.001"}, RefusalCode.PRE_TRADE_CHECK, "price 100.001"),
        ({"price": "-1"}, RefusalCode.PRE_TRADE_CHECK, "price"),
        ({"quantity": "0"}, RefusalCode.PRE_TRADE_CHECK, "below the minimum"),
        ({"quantity": "0.000000001"}, RefusalCode.PRE_TRADE_CHECK, "quantity"),
        ({"price": "1", "quantity": "0.0001"}, RefusalCode.PRE_TRADE_CHECK, "notional"),
        ({"price": "10000", "quantity": "100"}, RefusalCode.ENGINE, "RISK_NSF"),
    ],
)
async def test_the_amended_order_keeps_the_rules_of_a_new_one(
    router: RouterClient, fields: dict[str, str], code: RefusalCode, reason: str
) -> None:
    order_id = await router.place()
    outcome = await router.amend_one(order_id, **fields)
    assert (outcome.success, outcome.code) == (False, code), outcome
    assert reason in (outcome.error or "")
    found = (await router.get(order_id)).order
    assert found is not None
    assert (found.price, found.quantity) == ("100", "1")


async def test_a_price_beyond_the_band_is_refused_and_a_smaller_order_there_is_not(router: RouterClient) -> None:
    far = await router.place(price="60")
    for side, user in (("sell", "bob"), ("buy", "alice")):
        await router.place(user, side=side, price="100")

    # The router hears of the trade a moment later. Until then an amendment moves the order, so each names a new price.
    prices = itertools.count(61)

    async def refused() -> bool:
        return (await router.amend_one(far, price=str(next(prices)))).code is RefusalCode.PRE_TRADE_CHECK

    await eventually(refused)
    assert (await router.amend_one(far, quantity="0.5")).success


async def test_what_is_not_a_request_is_refused_whole(router: RouterClient) -> None:
    order_id = await router.place()
    for orders, message in (
        ((), "orders must have 1 to 20 entries"),
        (tuple(OrderAmendment(f"order{number}", "1") for number in range(21)), "orders must have 1 to 20 entries"),
        ((OrderAmendment(order_id, "1"), OrderAmendment(order_id, "2")), "orders must name each order once"),
    ):
        reply = await router.amend(*orders)
        assert (reply.success, reply.code, reply.error) == (False, RefusalCode.VALIDATION, message)
    (outcome,) = (await router.amend(OrderAmendment(order_id, "99"), deadline=1)).outcomes
    assert outcome.code is RefusalCode.TOO_LATE


async def test_named_orders_are_cancelled_in_one_call(router: RouterClient) -> None:
    first, second, third = [await router.place(quantity="0.1") for _ in range(3)]
    theirs = await router.place("bob")
    reply = await router.cancel_open(order_ids=(third, first, theirs, "nobodys"))
    assert (reply.success, reply.cancelled) == (True, (third, first))
    found = (await router.get(second)).order
    assert found is not None
    assert found.status == "open"
    assert (await router.cancel_open(order_ids=("no id!",))).code is RefusalCode.VALIDATION


async def test_with_the_rules_of_the_specification_nobody_amends(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> None:
    async with running_router(settings):
        with pytest.raises(RequestFailedError):
            await RouterClient(bus).amend(OrderAmendment("order1", "99"))


@pytest.mark.proof
async def test_amendments_that_are_repeated_after_kills_of_the_router_happen_once(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> None:
    router = RouterClient(bus)
    async with router_process(complete(settings)) as child:
        order_id = await router.place(quantity="0.1", price="99")
        targets = [("98", "0.2"), ("97", "0.1"), ("97", "0.3"), ("96", "0.3")]
        for number, (price, quantity) in enumerate(targets):
            before = await engine.last_sequence()
            call = asyncio.create_task(router.amend(OrderAmendment(order_id, price, quantity)))
            # Every second amendment reaches the engine before its router dies; of the others nobody knows.
            if number % 2:
                await eventually(lambda before=before: _has_gone_on(engine, before))
            child.kill()
            await asyncio.gather(call, return_exceptions=True)
            child.start()
            await router_ready(settings)
            outcome = await router.amend_one(order_id, price=price, quantity=quantity)
            assert outcome.success, outcome
            assert outcome.order is not None
            assert (outcome.order.price, outcome.order.quantity) == (price, quantity)
        events = await engine.events(1, await engine.last_sequence())
        assert [event["price"] for event in events if event["type"] == "moved"] == [price for price, _ in targets]
        query = "SELECT 1 FROM orders WHERE order_id = $1 AND price = 96 AND quantity = 0.3 AND status = 'open'"
        await eventually(lambda: pool.fetchval(query, order_id))


async def _has_gone_on(engine: EngineClient, sequence: int) -> bool:
    return await engine.last_sequence() > sequence
