"""Reconciliation of a real engine and its real mirrors: agreement, every kind of difference by name, every cause."""

import asyncio

import asyncpg
import pytest

from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.ledger.metrics import SETTLED_SEQUENCE
from openspot.reconcile import causes, reconciliation
from openspot.reconcile.reconciliation import NotComparableError, reconcile
from openspot.router.metrics import TRADE_SEQUENCE
from tests.support.engine_client import order
from tests.support.in_process_platform import running
from tests.support.mirrored_market import METADATA, MirroredMarket, mirrored_market
from tests.support.parts import first_then_proof
from tests.support.ports import free_port
from tests.support.stream_limits import limit_stream
from tests.support.waiting import eventually, hasty


@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06", "A1-04")
async def test_a_market_and_its_mirrors_agree(market: MirroredMarket) -> None:
    await market.trade()
    await market.withdraw("alice", "USD", "12.34", "w-1")
    report = await market.reconcile()
    assert report.differences == []
    assert report.agrees
    assert report.exit_code == 0
    assert report.caught_up
    # Three users with two assets each, and the fees; five orders a round, of which three can trade.
    assert (report.accounts, report.orders) == (7, 20)
    assert report.trades >= 8
    # Eight entries a trade; two a deposit or withdrawal.
    assert report.entries == 8 * report.trades + 2 * 7
    assert report.rows_sequence == report.engine_sequence
    assert report.settled_sequence


async def test_nothing_agrees_with_nothing(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> None:
    async with mirrored_market(settings, bus, pool) as market:
        report = await market.reconcile()
    assert report.agrees
    assert (report.engine_sequence, report.accounts, report.settled_sequence) == (0, 0, 0)


async def test_a_market_in_full_flow_agrees_at_every_moment(market: MirroredMarket) -> None:
    enough = asyncio.Event()

    async def flow() -> None:
        while not enough.is_set():
            await market.trade(1)
            # Alice buys the rest of half a coin and sells it back, so that nobody runs out of funds.
            await market.place("sell", "100", "0.09999999", "carol")
            await market.place("sell", "100", "0.5", "alice")
            await market.place("buy", "100", "0.30000001", "bob")
            await market.place("buy", "100", "0.19999999", "carol")

    flowing = asyncio.create_task(flow())
    sequences = []
    for _ in range(5):
        report = await market.reconcile()
        assert report.differences == []
        sequences.append(report.engine_sequence)
    enough.set()
    await flowing
    assert sequences == sorted(set(sequences)), "each comparison saw another moment"


@pytest.mark.spec("A1.5-12")
async def test_an_operators_adjustment_is_named_as_such(market: MirroredMarket) -> None:
    await market.trade(1)
    administrator = await market.administrator()
    for amount, kind in (("7.5", "DEPOSIT"), ("2.25", "WITHDRAW")):
        answer = await administrator.call(
            "AdjustBalance", participantId="alice", currency="USD", amount=amount, type=kind
        )
        assert answer["success"], answer
    report = await market.reconcile()
    (difference,) = report.differences
    assert (difference.kind, difference.name) == ("balance", "alice USD")
    assert difference.cause == f"{causes.ADJUSTED} +5.25"
    assert report.exit_code == 1
    assert report.adjustments == 2


async def test_money_that_was_moved_at_the_engine_alone_is_named_as_such(market: MirroredMarket) -> None:
    await market.engine.fund("bob", USD="3")
    (difference,) = (await market.reconcile()).differences
    assert (difference.name, difference.cause) == ("bob USD", f"{causes.UNREFERENCED} +3")


async def test_a_completed_withdrawal_of_funds_that_only_the_engine_knew_is_posted_and_named(
    market: MirroredMarket,
) -> None:
    await market.engine.fund("dave", USD="50")
    administrator = await market.administrator()
    adjustment = {"participantId": "carol", "currency": "USD", "amount": "100000", "type": "DEPOSIT"}
    assert (await administrator.call("AdjustBalance", **adjustment))["success"]
    await market.withdraw("dave", "USD", "49.5", "w-1")
    await market.withdraw("carol", "USD", "150000", "w-2")
    # Neither is tried for ever, nor holds back what comes after it.
    await market.withdraw("alice", "USD", "1", "w-3")
    report = await market.reconcile()
    assert report.caught_up
    assert sorted((one.kind, one.name, one.engine, one.mirror, one.cause) for one in report.differences) == [
        ("balance", "carol USD", "50000", "-50000", f"{causes.ADJUSTED} +100000"),
        ("balance", "dave USD", "0.5", "-49.5", f"{causes.UNREFERENCED} +50"),
    ]


NEWEST_TRADE = "(SELECT trade_id FROM trades ORDER BY sequence DESC LIMIT 1)"
DAMAGE = {
    "a ledger account was changed": (
        "UPDATE ledger_accounts SET available = available + 0.000000000000000001"
        " WHERE user_id = 'alice' AND asset = 'USD'",
        {"balance alice USD", "account alice USD", "asset USD"},
        {causes.PAST_THE_LEDGER, "unexplained -0.000000000000000001"},
    ),
    "an entry was changed": (
        f"UPDATE ledger_entries SET amount = amount + 1 WHERE transaction_id = {NEWEST_TRADE} || ':buyer-base'",
        {"account alice BTC", "entry"},
        {causes.PAST_THE_LEDGER, causes.ALTERED},
    ),
    "a trade was unsettled": (
        f"DELETE FROM ledger_entries WHERE reference_id = {NEWEST_TRADE}",
        {
            "settlement",
            "account house:fees (trading fees and rebates) USD",
            *(f"account {user} {asset}" for user in ("alice", "carol") for asset in ("BTC", "USD")),
        },
        {causes.PAST_THE_LEDGER, causes.LOST},
    ),
    "a deposit was deleted with its account's share": (
        "WITH entry AS (DELETE FROM ledger_entries WHERE transaction_id LIKE 'tx-1%' RETURNING user_id, asset, amount)"
        " UPDATE ledger_accounts AS account SET available = available - entry.amount FROM entry"
        " WHERE account.user_id = entry.user_id AND account.asset = entry.asset",
        {"balance alice USD", "entry tx-1", "account alice USD", "account house:external (the outside world) USD"},
        {f"{causes.LOST} +100000", causes.LOST, causes.PAST_THE_LEDGER},
    ),
    "an entry was added": (
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,"
        " reference_id) VALUES ('gift', 'dave', 'USD', 0, 0, 'credit', 'gift', 'gift')",
        {"entry gift", "account dave USD"},
        {causes.LEDGER_ONLY, causes.PAST_THE_LEDGER},
    ),
    "an unknown trade was settled": (
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,"
        " reference_id) VALUES ('x-1:fee', 'dave', 'USD', 0, 0, 'fee', 'trade', 'x-1')",
        {"entry x-1:fee", "account dave USD"},
        {causes.UNKNOWN_TRADE, causes.PAST_THE_LEDGER},
    ),
    "an order row was changed": (
        "UPDATE orders SET status = 'open', filled_quantity = 0 WHERE status = 'filled'"
        " AND order_id = (SELECT min(order_id) FROM orders WHERE status = 'filled')",
        {"order"},
        {""},
    ),
    "a trade row is missing": (f"DELETE FROM trades WHERE trade_id = {NEWEST_TRADE}", {"trade"}, {""}),
    "an order row is too many": (
        "INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, quantity, remaining_quantity,"
        " fee_currency, status, created_at, updated_at)"
        " VALUES ('ghost', 'dave', 'BTC-USD', 'buy', 'limit', 'gtc', 1, 1, 'USD', 'open', now(), now())",
        {"order ghost"},
        {""},
    ),
}


@pytest.mark.parametrize("damage", first_then_proof(*DAMAGE))
async def test_each_kind_of_damage_is_named_with_its_cause(market: MirroredMarket, damage: str) -> None:
    statement, names, expected_causes = DAMAGE[damage]
    await market.trade(1)
    assert await market.differences() == []
    assert not (await market.pool.execute(statement)).endswith(" 0")
    report = await market.reconcile()
    found = {f"{difference.kind} {difference.name}" for difference in report.differences}
    for name in names:
        assert any(text == name or text.startswith(f"{name} ") for text in found), (name, found)
    assert all(any(text == name or text.startswith(f"{name} ") for name in names) for text in found), found
    assert {difference.cause for difference in report.differences} == expected_causes
    assert report.exit_code == 1


async def test_a_trade_that_the_ledger_refused_is_named_with_the_refusal(market: MirroredMarket) -> None:
    await market.trade(1)
    assert await market.differences() == []
    await market.pool.execute(f"DELETE FROM ledger_entries WHERE reference_id = {NEWEST_TRADE}")
    await market.pool.execute(
        "INSERT INTO ledger_rejected_trades (payload_hash, trade_id, reason, payload)"
        f" SELECT 'x', {NEWEST_TRADE}, 'too odd', '{{}}'"
    )
    (settlement,) = [found for found in (await market.reconcile()).differences if found.kind == "settlement"]
    assert settlement.cause == "refused by the ledger: too odd"


async def test_more_differences_than_are_named_are_counted(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    await market.trade(2)
    assert await market.differences() == []
    await market.pool.execute("DELETE FROM trades")
    monkeypatch.setattr(reconciliation, "DIFFERENCES_MAX", 3)
    report = await market.reconcile()
    assert (len(report.differences), report.unnamed) == (3, report.trades - 3)
    assert not report.agrees


@pytest.mark.spec("A6.4-08")
async def test_while_the_ledger_is_down_settlement_is_pending_and_afterwards_everything_agrees(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    async with mirrored_market(settings, bus, pool, ("engine", "router")) as market:
        await market.fund()
        await market.trade(1)
        report = await market.reconcile(wait_s=0.5)
        assert not report.caught_up
        kinds = {difference.kind for difference in report.differences}
        assert kinds == {"balance", "settlement", "entry"}
        assert all(causes.PENDING in difference.cause for difference in report.differences)
        strange_bus = settings.model_copy(update={"nats_url": f"nats://127.0.0.1:{free_port()}"})
        unknown = await reconcile(strange_bus, 0)
        assert all(causes.PENDING_OR_LOST in difference.cause for difference in unknown.differences)
        async with running(settings, "ledger"):
            assert await market.differences() == []


@pytest.mark.spec("A6.4-08")
async def test_trades_that_the_router_holds_back_are_pending_not_lost(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    # The router soon gives up waiting for an acknowledgement, and soon tries again.
    quick = hasty(settings).model_copy(update={"breaker_window_s": 1.0})
    async with mirrored_market(quick, bus, pool) as market:
        await market.fund()
        await market.trade(1)
        assert await market.differences() == []
        await limit_stream(bus, TRADES)
        await market.trade(1)
        await eventually(lambda: pool.fetchval("SELECT count(*) FROM router_held_events"))
        # The rows are there and the ledger has processed all that the bus has: the trades are with the router alone.
        report = await market.reconcile(wait_s=0.5)
        assert report.rows_sequence == report.engine_sequence
        assert not report.caught_up
        settlements = [found for found in report.differences if found.kind == "settlement"]
        assert settlements
        assert {found.cause for found in settlements} == {causes.PENDING}
        await limit_stream(bus, TRADES, *TRADES.subjects)
        report = await market.reconcile()
        assert (report.caught_up, report.differences) == (True, [])


@pytest.mark.spec("A6.4-07")
async def test_while_the_router_is_down_the_rows_are_behind_and_afterwards_everything_agrees(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    async with mirrored_market(settings, bus, pool, ("engine",)) as market:
        async with running(settings, "router", "ledger"):
            await market.fund()
        await market.trade(1)
        report = await market.reconcile(wait_s=0.2)
        assert "rows orders and trades" in {f"{found.kind} {found.name}" for found in report.differences}
        assert causes.ROWS_PENDING in {found.cause for found in report.differences}
        # The rows are compared where they stand, and there they are right.
        assert not [found for found in report.differences if found.kind in ("order", "trade")]
        async with running(settings, "router", "ledger"):
            assert await market.differences() == []


@pytest.mark.proof
async def test_an_engine_that_has_forgotten_its_oldest_events_is_compared_by_those_that_it_keeps(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    short = settings.model_copy(update={"engine_event_retention": 1000, "engine_stream_buffer": 16})
    async with mirrored_market(short, bus, pool) as market:
        await market.fund()
        for _ in range(12):
            await asyncio.gather(
                *(
                    market.engine.send(order(side, "100", "0.001", user, metadata=METADATA))
                    for side, user in (("buy", "alice"), ("sell", "bob"))
                    for _ in range(50)
                )
            )
        report = await market.reconcile()
        assert report.first_sequence > 1
        assert report.differences == []
        await market.pool.execute("UPDATE ledger_accounts SET available = available + 1 WHERE user_id = 'carol'")
        balances = [found for found in (await market.reconcile()).differences if found.kind == "balance"]
        assert len(balances) == 2
        assert all("older than the events that the engine keeps -1" in found.cause for found in balances)


def newest_published() -> float:
    """The sequence of the newest trade that the router has published."""
    (metric,) = TRADE_SEQUENCE.collect()
    return float(metric.samples[0].value)


async def test_the_lag_of_settlement_is_a_difference_of_two_metrics(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    async with mirrored_market(settings, bus, pool, ("engine", "router")) as market:
        async with running(settings, "ledger"):
            await market.fund()
            await market.trade(1)
            settled = (await market.reconcile()).settled_sequence
            # The metrics are set after the rows that `reconcile` reads.
            await eventually(lambda: settled == SETTLED_SEQUENCE._value.get() == newest_published())
        await market.trade(1)
        await eventually(lambda: newest_published() > settled)
        SETTLED_SEQUENCE.set(0)
        # A ledger that starts knows where it stands before it has settled anything.
        async with running(settings, "ledger"):
            assert SETTLED_SEQUENCE._value.get() >= settled
            await eventually(lambda: SETTLED_SEQUENCE._value.get() == newest_published())


async def test_what_cannot_be_compared_is_told(settings: Settings, market: MirroredMarket) -> None:
    def without(**changes: object) -> Settings:
        return settings.model_copy(update=changes)

    with pytest.raises(NotComparableError, match="engine does not answer"):
        await reconcile(without(engine_http_port=free_port()), 0)
    with pytest.raises(NotComparableError, match="engine does not answer"):
        await reconcile(without(engine_api_secret="another"), 0)
    with pytest.raises(NotComparableError, match="database does not answer"):
        await reconcile(without(database_url="postgresql://postgres@/none?host=/nowhere"), 0)
    await market.trade(1)
    assert await market.differences() == []
    await market.pool.execute("UPDATE engine_cursors SET sequence = sequence + 1000")
    with pytest.raises(NotComparableError, match="older than the database"):
        await market.reconcile(wait_s=0)
    await market.pool.execute("UPDATE engine_cursors SET epoch = 'another'")
    with pytest.raises(NotComparableError, match="new journal"):
        await market.reconcile(wait_s=0)
