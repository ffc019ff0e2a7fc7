"""Positions, their balances and FIFO: trades that were never counted and every damage are named and repaired."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings, as_part
from openspot.positions.cost_basis.computation import compute
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.settings import PositionSettings
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.reconcile.rebuild_positions import rebuild_positions
from tests.support.in_process_platform import running
from tests.support.mirrored_market import MirroredMarket, mirrored_market
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

TABLES = {
    "positions": "SELECT participant_id, symbol, quantity, cost, realised, fees, cash_flow, trade_count, opened_at,"
    " closed_at FROM positions ORDER BY 1, 2",
    "trades": "SELECT trade_id, participant_id, symbol, side, quantity, notional, fee, realised, source, executed_at"
    " FROM position_trades ORDER BY 1",
    "balances": "SELECT participant_id, asset, available, locked FROM position_balances ORDER BY 1, 2",
    "checkpoint": "SELECT trade_count FROM position_checkpoints WHERE name = 'exchange'",
    "FIFO": "SELECT user_id, external_id, kind, asset, quantity, value, fee FROM fifo_transactions ORDER BY 1, 2",
    "lots": "SELECT user_id, asset, account, acquisition_id, quantity, cost FROM fifo_lots ORDER BY 1, 2, 3, 4",
    "disposals": "SELECT user_id, disposal_id, part, quantity, cost FROM fifo_disposals ORDER BY 1, 2, 3",
}
ONE = "(SELECT trade_id FROM position_trades WHERE participant_id = 'alice' ORDER BY serial OFFSET 2 LIMIT 1)"
ANOTHER = ONE.replace("OFFSET 2", "OFFSET 1")
COPIED = "participant_id, symbol, side, quantity, notional, fee, realised, source, executed_at"
DAMAGE = {
    f"DELETE FROM position_trades WHERE trade_id = {ONE}": "position trade",
    f"UPDATE position_trades SET quantity = quantity + 1 WHERE trade_id = {ONE}": "position trade",
    f"UPDATE position_trades SET realised = realised + 1 WHERE trade_id = {ONE}": "position alice BTC-USD: realised",
    f"UPDATE position_trades SET participant_id = 'dave' WHERE trade_id = {ONE}": "position trade",
    f"INSERT INTO position_trades (trade_id, {COPIED}) SELECT 'x-1:buy', {COPIED} FROM position_trades"
    f" WHERE trade_id = {ONE}": "position trade x-1:buy: trade is missing in the engine",
    "DELETE FROM positions WHERE participant_id = 'alice'": "position alice BTC-USD: trades",
    "UPDATE positions SET cost = cost + 1 WHERE participant_id = 'alice'": "position alice BTC-USD: cost",
    "INSERT INTO positions SELECT 'again', symbol, quantity, cost, realised, fees, cash_flow, trade_count"
    " FROM positions WHERE participant_id = 'alice'": "position again BTC-USD: trades is 0 by its trades",
    "DELETE FROM position_balances WHERE participant_id = 'bob' AND asset = 'USD'": "position balance bob USD",
    "UPDATE position_balances SET locked = 4 WHERE participant_id = 'bob' AND asset = 'USD'": (
        "position balance bob USD: locked is 0 by trades and transfers, 4 in the balance"
    ),
    "INSERT INTO position_balances SELECT 'again', asset, available, locked FROM position_balances"
    " WHERE participant_id = 'bob' AND asset = 'USD'": "position balance again USD",
    "UPDATE position_checkpoints SET trade_count = trade_count - 1 WHERE name = 'exchange'": (
        "positions exchange: trades"
    ),
    f"DELETE FROM fifo_transactions WHERE external_id = {ONE} || ':to'": "fill",
    f"UPDATE fifo_transactions SET quantity = 7 WHERE external_id = {ANOTHER} || ':to'": "fill",
}
"""A statement that damages one row, and how the difference that names it begins."""


@pytest.fixture
async def following(settings: Settings) -> PositionSettings:
    return as_part(settings, PositionSettings).model_copy(update={"follow_fills": True})


@pytest.fixture
async def market(following: PositionSettings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """A market whose trades the position service follows."""
    async with mirrored_market(following, bus, pool, ("engine", "router", "ledger")) as made:
        await made.fund()
        yield made


async def tables(pool: asyncpg.Pool) -> dict[str, list[tuple[Any, ...]]]:
    """What the position service holds, but for when it was written."""
    return {name: [tuple(row) for row in await pool.fetch(query)] for name, query in TABLES.items()}


async def repair(settings: PositionSettings, *, is_plan: bool = False) -> Rebuilt:
    return await rebuild_positions(settings, is_plan=is_plan, wait_s=10)


async def valued(pool: asyncpg.Pool) -> None:
    """Wait until no fill waits for its FIFO transaction."""
    await eventually(lambda: nothing_waits(pool))


async def nothing_waits(pool: asyncpg.Pool) -> bool:
    return await pool.fetchval("SELECT count(*) = 0 FROM fifo_pending_fills")


async def test_trades_that_an_emptied_bus_lost_are_named_and_counted_in_their_order(
    market: MirroredMarket, following: PositionSettings
) -> None:
    await market.trade()
    # The service stores snapshots each hour, also if it follows no trades.
    await HoldingStore(market.pool, 60).take_snapshot(datetime(2026, 5, 1, tzinfo=UTC))
    assert await market.differences() == [], "a service that follows no trades lacks none"
    with pytest.raises(NotRebuiltError, match="OPENSPOT_FOLLOW_FILLS is off"):
        await repair(following.model_copy(update={"follow_fills": False}))
    lost = await market.pool.fetchval("SELECT count(*) FROM trades")
    await market.bus.connection.jetstream.purge_stream(TRADES.name)
    async with running(following, "positions"):
        await market.trade(2)
        await eventually(lambda: market.pool.fetchval("SELECT max(trade_count) FROM position_checkpoints"))
        found = await market.differences()
        assert len(found) == 2 * lost
        assert all("not counted, though everything up to here was taken from the bus" in text for text in found)
        planned = await repair(following, is_plan=True)
        assert await market.differences() == found
        repaired = await repair(following)
        assert planned.changes == repaired.changes
        assert await market.differences() == []
        assert (await repair(following)).total == 0
        await valued(market.pool)
        after = await tables(market.pool)
        await market.pool.execute(
            "TRUNCATE positions, position_trades, position_balances, position_checkpoints, fifo_owners,"
            " fifo_transactions, fifo_pending_fills, fifo_lots, fifo_disposals, fifo_checkpoints"
        )
        assert (await repair(following)).total
        await valued(market.pool)
        assert await tables(market.pool) == after
        assert await market.differences() == []


async def test_damage_of_positions_is_named_and_repaired(market: MirroredMarket, following: PositionSettings) -> None:
    await repair_each(market, following, tuple(DAMAGE)[::4])


async def test_every_damage_of_positions_is_named_and_repaired(
    market: MirroredMarket, following: PositionSettings
) -> None:
    await repair_each(market, following, tuple(DAMAGE))


async def repair_each(market: MirroredMarket, following: PositionSettings, statements: Sequence[str]) -> None:
    """Do each damage, and see that it is named, planned and repaired to what an undamaged twin holds."""
    pool = market.pool
    await HoldingStore(pool, 60).take_snapshot(datetime(2026, 5, 1, tzinfo=UTC))
    async with running(following, "positions"):
        await market.trade()
        assert await market.differences() == []
        await valued(pool)
    twin = await tables(pool)
    for statement in statements:
        named = DAMAGE[statement]
        assert not (await pool.execute(statement)).endswith(" 0"), statement
        damaged = await tables(pool)
        found = await market.differences(0)
        assert any(text.startswith(named) for text in found), (statement, found)
        planned = await repair(following, is_plan=True)
        assert await tables(pool) == damaged, statement
        repaired = await repair(following)
        assert planned.changes == repaired.changes, statement
        assert await market.differences(0) == [], statement
        assert (await repair(following)).total == 0, statement
        after = await tables(pool)
        # The service makes the FIFO transaction of a waiting fill.
        parts = [part for part in twin if part != "FIFO" or named != "fill"]
        assert {part: after[part] for part in parts} == {part: twin[part] for part in parts}, statement
    async with running(following, "positions"):
        await valued(pool)
        assert await tables(pool) == twin


async def test_lots_that_are_not_what_the_transactions_leave_are_computed_again(
    market: MirroredMarket, following: PositionSettings
) -> None:
    pool = market.pool
    async with running(following, "positions"):
        await market.trade(2)
        assert await market.differences() == []
        await valued(pool)
    async with pool.acquire() as connection, connection.transaction():
        await compute(connection, "alice", 0)
    twin = await tables(pool)
    assert twin["lots"]
    for statement in (
        "DELETE FROM fifo_lots WHERE acquisition_id = (SELECT min(acquisition_id) FROM fifo_lots)",
        "UPDATE fifo_lots SET quantity = quantity + 1",
    ):
        await pool.execute(statement)
        (found,) = await market.differences(0)
        assert found.startswith("FIFO alice BTC: quantity of the lots is ")
        assert (await repair(following)).changes == ["FIFO results alice: compute them again from all transactions"]
        assert await tables(pool) == twin
        assert await market.differences(0) == []


async def test_a_service_that_follows_no_trades_is_not_repaired(market: MirroredMarket) -> None:
    off = as_part(market.settings, PositionSettings).model_copy(update={"follow_fills": False})
    with pytest.raises(NotRebuiltError, match="FOLLOW_FILLS is off"):
        await repair(off)


async def test_a_service_that_has_ended_to_follow_lacks_nothing_and_is_not_repaired(
    market: MirroredMarket, following: PositionSettings
) -> None:
    async with running(following, "positions"):
        await market.trade()
        await eventually(lambda: market.pool.fetchval("SELECT sum(trade_count) > 0 FROM position_checkpoints"))
    off, unset = (following.model_copy(update={"follow_fills": value}) for value in (False, None))
    async with running(off, "positions"):
        await market.trade()
        assert await market.differences() == []
    for settings in (off, unset, unset.model_copy(update={"rules": "complete"})):
        with pytest.raises(NotRebuiltError, match="FOLLOW_FILLS is off"):
            await repair(settings)
    async with running(following, "positions"):
        # It counts what the bus kept for it meanwhile.
        assert await market.differences() == []
        trades = await market.pool.fetchval("SELECT count(*) FROM trades")
        assert await market.pool.fetchval("SELECT sum(trade_count) FROM position_checkpoints") == trades
