"""Liquidations killed at every call to the outside, and a year of interest, on a real engine, bus and database."""

import asyncio
import json
import random
import time
from contextlib import suppress
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.contracts.refusals import RefusalCode
from openspot.domain.fair_price.model import PriceState
from openspot.domain.margin_offer import margin_offer
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.margin import store
from openspot.margin.accounts import account_record
from openspot.margin.interest import MINUTE_MS
from openspot.margin.lifecycle import MarginPositionStatus
from openspot.margin.marks import MarkPriceCache, StaleMarksError
from openspot.margin.orders import OrderRefusedError, OrderUndecidedError
from openspot.margin.records import MarginPositionRow
from openspot.margin.scanner import Scanner
from tests.support.margin import Killed, MarginMarket, Process
from tests.support.router_client import listening
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEQUENCE = [
    subjects.COMMANDS_ORDER_CANCEL,
    subjects.MARGIN_POSITION_CLOSED,
    subjects.NOTIFICATIONS_SEND,
    subjects.ORDERS_LIQUIDATION,
]

OF_THE_ACCOUNT = {"id", "liquidationId", "userId", "symbol", "timestamp"}
FIELDS = {
    subjects.COMMANDS_ORDER_CANCEL: OF_THE_ACCOUNT | {"orderId"},
    subjects.MARGIN_POSITION_CLOSED: OF_THE_ACCOUNT | {"marginAccountId", "positionId", "side", "quantity", "reason"},
    subjects.ORDERS_LIQUIDATION: OF_THE_ACCOUNT | {"marginAccountId", "orderId", "side", "quantity", "price", "round"},
}
"""What the messages of a liquidation hold."""


async def open_long(process: Process, user: str) -> str:
    """An account with 10 USD that bought 0.8 BTC at 100 on credit, and has an open order; returns its id."""
    market = process.market
    await market.deposit(user, "USD", "10")
    await eventually(lambda: market.engine.balances(user))
    await process.loans.transfer("in", user, "USD", 10 * AMOUNT_SCALE)
    await market.place("sell", "100", "0.8", "bob")
    account_id, _ = await process.positions.open("open", user, "BTC-USD", Side.BUY, 8 * AMOUNT_SCALE // 10, Decimal(10))
    resting = OrderRequest(f"{user}-resting", "BTC-USD", "buy", "limit", "0.015", "81")
    reply = await market.bus.request(subjects.ORDERS_SUBMIT, SubmitOrder(account_id, resting), SubmitOrderReply)
    assert reply.success, reply
    return account_id


async def stored(market: MarginMarket) -> int:
    """How many messages the streams of liquidations hold."""
    client = await nats.connect(market.settings.nats_url)
    try:
        info = [await client.jetstream().stream_info(name) for name in ("MARGIN", "NOTIFICATIONS")]
        return sum(each.state.messages for each in info)
    finally:
        await client.close()


@pytest.mark.spec("A3.2-04", "A6.1-17", "A6.1-18", "A6.1-19", "A6.1-20", "A6.1-36", "A6.1-37", "A6.1-38",
                  "A8-16")  # fmt: skip
async def test_killed_at_every_call_it_is_resumed_and_everything_is_done_once(process: Process) -> None:
    market = process.market
    accounts = [await open_long(process, f"user{number}") for number in range(16)]
    lent = Decimal(50000) - Decimal(await market.total("house:lending"))
    assert lent > 16 * 70
    await market.trade_at("92")
    await process.know_prices()
    # 16 accounts sell 0.8 BTC each.
    bid = await market.place("buy", "92", "20", "bob")

    # Once without a kill: the sequence of the specification, and how many places there are to be killed at.
    countdown = await process.restart()
    patterns = ("commands.>", "margin.position.closed", "notifications.>", "orders.liquidation")
    async with listening(market.settings.nats_url, *patterns) as heard:
        assert await process.liquidator.begin(accounts[0])
        await process.finish_liquidation(accounts[0])
        # The bus has stored the last message before this connection has heard it.
        await eventually(lambda: len(heard.messages) >= len(SEQUENCE))
        assert [subject for subject, *_ in heard.messages] == SEQUENCE
    told = {subject: set(json.loads(payload)) for subject, payload, *_ in heard.messages}
    for subject, fields in FIELDS.items():
        assert told[subject] == fields, subject
    places = countdown.places
    assert 2 * len(countdown.calls) == places
    assert places < len(accounts)

    before = await stored(market)
    for number, account_id in enumerate(accounts[1:], 1):
        await process.restart(kill_at=number - 1 if number <= places else None)
        try:
            assert await process.liquidator.begin(account_id)
            await process.finish_liquidation(account_id)
            assert number > places
        except Killed:
            await process.restart()
            await process.finish_liquidation(account_id)
    assert await stored(market) == before + len(SEQUENCE) * (len(accounts) - 1)

    for account_id in accounts:
        record = await account_record(process.dependencies, account_id)
        assert (record.status, record.debt, record.margin_level) == ("active", "0", None)
        assert [each.status for each in record.positions] == ["liquidated"]
        assert [each.status for each in record.loans] == ["repaid"]
        query = "SELECT status FROM orders WHERE user_id = $1 ORDER BY created_at"
        assert [row["status"] for row in await market.pool.fetch(query, account_id)] == [
            "filled",
            "cancelled",
            "filled",
        ]
    assert Decimal(await market.total("house:lending")) == 50000
    assert await market.differences() == []
    assert (await market.engine.cancel(bid, "bob")).result_code == "SUCCESS"


async def test_a_loss_waits_for_the_insurance_account_and_is_paid_from_it_once(process: Process) -> None:
    market = process.market
    await market.trade_at("100")
    await process.restart()
    account_id = await open_long(process, "deep")
    await market.trade_at("84")
    await market.place("buy", "84", "1", "bob")
    await process.restart()
    assert await process.liquidator.begin(account_id)

    async def owes() -> bool:
        await process.liquidator.advance(account_id)
        return bool(await store.uncovered_losses(market.pool))

    await eventually(owes, 60)
    record = await account_record(process.dependencies, account_id)
    assert (record.status, [each.status for each in record.loans]) == ("liquidating", ["active"])
    assert await market.total("house:insurance") == "1"

    await market.deposit("house:insurance", "USD", "99")
    await process.finish_liquidation(account_id)
    record = await account_record(process.dependencies, account_id)
    assert (record.status, [each.status for each in record.loans]) == ("active", ["written_off"])
    assert Decimal(await market.total(account_id)) == 0
    loss = await market.pool.fetchval("SELECT sum(amount) FROM margin_transfers WHERE purpose = 'loss'")
    assert Decimal(await market.total("house:insurance")) == 100 - loss
    assert loss > 1
    assert Decimal(await market.total("house:lending")) == 50000
    assert await market.differences() == []


async def test_a_closing_that_the_router_refuses_keeps_nobody_waiting_and_is_decided_later(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base is moved out of an account without debt, so that the router refuses each order that closes."""
    market, positions = process.market, process.positions
    await process.restart()
    await market.deposit("stu", "USD", "500")
    await eventually(lambda: market.engine.balances("stu"))
    await market.trade_at("100")
    await process.know_prices()
    await process.loans.transfer("in", "stu", "USD", 300 * AMOUNT_SCALE)
    await market.place("sell", "100", "2", "bob")
    account_id, position_id = await positions.open("o", "stu", "BTC-USD", Side.BUY, 2 * AMOUNT_SCALE, Decimal(1))
    await process.loans.transfer("out", "stu", "BTC", -2 * AMOUNT_SCALE)

    async def router_knows() -> bool:
        # It hears of the ledger's balances a moment later.
        probe = SubmitOrder(
            account_id, OrderRequest(market.request_id(), "BTC-USD", "sell", "limit", "1", "100"),
            process.dependencies.now_ms() + 60_000,
        )  # fmt: skip
        reply = await market.ask(subjects.ORDERS_SUBMIT, probe, SubmitOrderReply)
        return reply.code is RefusalCode.PRE_TRADE_CHECK

    await eventually(router_knows)

    async def row() -> MarginPositionRow:
        async with market.pool.acquire() as connection:
            found = await store.position(connection, position_id)
        assert found is not None
        return found

    async def is_refused() -> bool:
        return (await row()).closing_refused_at is not None

    is_late = asyncio.Event()
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await is_late.wait()

    monkeypatch.setattr("openspot.margin.positions.asyncio", SimpleNamespace(sleep=sleep))
    closing = asyncio.create_task(positions.close("c", "stu", position_id))
    await eventually(is_refused)
    # The order that opened it and the refused one, without the probes. Rows come later than replies.
    submitted = "SELECT count(*) FROM orders WHERE user_id = $1 AND NOT starts_with(order_id, 'request')"
    before = 2

    async def are_written() -> bool:
        return bool(await market.pool.fetchval(submitted, account_id) == before)

    await eventually(are_written)
    # The request waits, and neither the account nor the process that leads waits with it.
    await process.loans.transfer("more", "stu", "USD", AMOUNT_SCALE)
    with pytest.raises(OrderRefusedError, match="insufficient BTC balance"):
        await positions.advance(account_id)
    assert not closing.done()
    assert (await row()).status is MarginPositionStatus.CLOSING
    assert await market.pool.fetchval(submitted, account_id) == before
    # Later than any attempt could still reach the engine, it is decided.
    late_ms = process.dependencies.settings.order_late_ms
    process.clock_ms = process.dependencies.now_ms() + late_ms
    is_late.set()
    await closing
    process.clock_ms = None
    assert slept == [late_ms / 1000]
    decided = await row()
    assert (decided.status, decided.quantity, decided.closing_refused_at) == (
        MarginPositionStatus.OPEN, 2 * AMOUNT_SCALE, None,
    )  # fmt: skip
    assert "insufficient BTC balance" in (decided.reason or "")
    await process.loans.transfer("back", "stu", "BTC", 2 * AMOUNT_SCALE)
    await market.place("buy", "100", "2", "bob")
    await positions.close("d", "stu", position_id)
    assert (await row()).status is MarginPositionStatus.CLOSED


async def test_without_a_current_mark_price_nothing_is_liquidated(process: Process) -> None:
    market = process.market
    await market.trade_at("100")
    await process.restart()
    account_id = await open_long(process, "unpriced")
    await market.trade_at("92")
    await process.know_prices()
    known, process.dependencies.marks = (
        process.dependencies.marks,
        MarkPriceCache(market.bus, "USD", margin_offer().markets, 0.05, time.monotonic),
    )
    await process.dependencies.marks.follow()
    market.prices.is_silent = True
    await eventually(lambda: process.dependencies.marks.current()["BTC"].state == "stale")
    with pytest.raises(StaleMarksError, match="nothing is liquidated: market data is silent"):
        await process.dependencies.marks.check()
    assert not await process.liquidator.begin(account_id)
    market.prices.is_silent = False
    process.dependencies.marks = known
    await process.restart()
    assert await process.liquidator.begin(account_id)
    await market.place("buy", "92", "0.8", "bob")
    await process.finish_liquidation(account_id)


async def test_a_liquidation_trades_slices_within_its_floor_pauses_while_disputed_and_goes_on(process: Process) -> None:
    """The attacker's bid far below the fair price gets nothing."""
    market = process.market
    await market.trade_at("100")
    await process.restart()
    account_id = await open_long(process, "sliced")
    low_bid = await market.place("buy", "80", "5", "bob")
    await market.prices.publish("BTC-USD", "92", sellable="0.3")
    await process.know_prices()
    assert await process.liquidator.begin(account_id)

    async def rounds() -> tuple[int, int]:
        """The round and the idle rounds, after one more try."""
        with suppress(OrderUndecidedError):
            await process.liquidator.advance(account_id)
        row = await market.pool.fetchrow("SELECT round, idle_rounds FROM margin_liquidations WHERE step IS NOT NULL")
        assert row is not None, "it has not ended"
        return row["round"], row["idle_rounds"]

    async def has_idled() -> bool:
        return (await rounds())[1] > 0

    await eventually(has_idled, 30)
    # 2 % below 92, and no more than the market absorbs at once.
    query = (
        "SELECT price, quantity, filled_quantity FROM orders WHERE user_id = $1 AND side = 'sell' ORDER BY created_at"
    )
    orders = [tuple(row) for row in await market.pool.fetch(query, account_id)]
    assert orders[0] == (Decimal("90.16"), Decimal("0.3"), 0)

    await market.prices.publish("BTC-USD", "92", sellable="0.3", state=PriceState.DISPUTED, reason="its sources differ")
    await process.know_prices()
    bid = await market.place("buy", "91", "5", "carol")
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        await rounds()
        await asyncio.sleep(0.05)
    assert await market.pool.fetchval(f"SELECT sum(filled_quantity) FROM ({query}) AS orders", account_id) == 0

    # More than twenty idle rounds end nothing.
    await market.pool.execute("UPDATE margin_liquidations SET round = 40, idle_rounds = 39 WHERE step IS NOT NULL")
    await market.prices.publish("BTC-USD", "92", sellable="0.3")
    await process.know_prices()
    await process.finish_liquidation(account_id)
    fills = [row["filled_quantity"] for row in await market.pool.fetch(query, account_id) if row["filled_quantity"]]
    assert (sum(fills), max(fills)) == (Decimal("0.8"), Decimal("0.3"))
    query = "SELECT sum(filled_notional) / sum(filled_quantity) FROM orders WHERE user_id = $1 AND side = 'sell'"
    assert await market.pool.fetchval(query, account_id) == 91
    for order, owner in ((low_bid, "bob"), (bid, "carol")):
        assert (await market.engine.cancel(order, owner)).result_code == "SUCCESS"
    assert await market.differences() == []


async def test_interest_of_a_year_is_exact_however_often_two_processes_post_it(process: Process) -> None:
    market, source = process.market, random.Random(5)
    await market.trade_at("100")
    await process.restart()
    process.clock_ms = began = 1_800_000_000_000
    await market.deposit("saver", "USD", "1000")
    await eventually(lambda: market.engine.balances("saver"))
    await process.loans.transfer("in", "saver", "USD", 1000 * AMOUNT_SCALE)
    account_id, loan_id = await process.loans.borrow("loan", "saver", "USD", 777 * AMOUNT_SCALE)
    lease: Any = None
    scanners = [Scanner(process.dependencies, process.positions, process.liquidator, lease) for _ in range(2)]
    year_ms = 365 * 24 * 60 * MINUTE_MS
    for moment in sorted(source.randrange(year_ms) for _ in range(40)):
        process.clock_ms = began + moment
        await asyncio.gather(*(scanner.post_interest() for scanner in scanners))
    process.clock_ms = began + year_ms
    await scanners[0].post_interest()
    record = await account_record(process.dependencies, account_id)
    # A tenth of 777 a year, to the last of 18 places.
    assert record.loans[0].interest == "77.7"
    posted = await market.pool.fetchval("SELECT sum(amount) FROM margin_interest WHERE loan_id = $1", loan_id)
    assert posted == Decimal("77.7")
    held = Decimal(await market.total("house:interest"))
    await process.loans.repay("back", "saver", loan_id, None)
    assert Decimal(await market.total("house:interest")) == held + Decimal("77.7")
    assert (await account_record(process.dependencies, account_id)).loans[0].status == "repaid"
    process.clock_ms = None
