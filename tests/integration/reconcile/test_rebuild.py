"""The mirrors are rebuilt out of the engine's events: the same rows and entries as before, each once."""

from typing import Any

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.reconcile import rebuild_ledger
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.reconcile.rebuild import rebuild
from tests.support.in_process_platform import running
from tests.support.mirrored_market import MirroredMarket, mirrored_market
from tests.support.ports import free_port

TABLES = "trades, orders, ledger_entries, ledger_accounts"
MIRRORS = {
    "orders": "SELECT * FROM orders ORDER BY order_id",
    "trades": "SELECT * FROM trades ORDER BY trade_id",
    "accounts": "SELECT user_id, asset, available, locked FROM ledger_accounts ORDER BY user_id, asset",
    "entries": "SELECT transaction_id, user_id, asset, amount, entry_type, reference_type, reference_id"
    " FROM ledger_entries ORDER BY transaction_id",
}


async def mirrors(pool: asyncpg.Pool) -> dict[str, list[tuple[Any, ...]]]:
    """All that the mirrors hold, but for when a ledger entry was written."""
    return {name: [tuple(row) for row in await pool.fetch(query)] for name, query in MIRRORS.items()}


def counts(rebuilt: Rebuilt) -> tuple[int, int, int]:
    """How many order rows, trade rows and ledger entries are changed."""
    return rebuilt.counts["order row"], rebuilt.counts["trade row"], rebuilt.counts["ledger entry"]


async def busy(market: MirroredMarket) -> dict[str, list[tuple[Any, ...]]]:
    """A market with trades, deposits and withdrawals behind it; what its mirrors hold."""
    await market.trade()
    await market.withdraw("alice", "USD", "12.34", "w-1")
    await market.withdraw("bob", "BTC", "1", "w-2")
    await market.trade(1)
    assert await market.differences() == []
    return await mirrors(market.pool)


@pytest.mark.parametrize("together", [rebuild_ledger.TOGETHER_MAX, 0])
async def test_empty_mirrors_are_filled_with_what_they_held(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(rebuild_ledger, "TOGETHER_MAX", together)
    monkeypatch.setattr(rebuild_ledger, "ACCOUNTS_AT_A_TIME", 3)
    before = await busy(market)
    await market.pool.execute(f"TRUNCATE {TABLES}")
    missing = await rebuild(market.settings, is_plan=True)
    assert await market.pool.fetchval("SELECT count(*) FROM orders") == 0
    assert await market.pool.fetchval("SELECT count(*) FROM ledger_entries") == 0
    rebuilt = await rebuild(market.settings, is_plan=False)
    assert rebuilt.problems == missing.problems == []
    assert rebuilt.counts == missing.counts
    assert counts(rebuilt) == (len(before["orders"]), len(before["trades"]), len(before["entries"]))
    assert await mirrors(market.pool) == before
    assert await market.differences() == []


@pytest.mark.proof
async def test_a_second_rebuild_writes_nothing(market: MirroredMarket) -> None:
    before = await busy(market)
    for is_plan in (True, False):
        assert counts(await rebuild(market.settings, is_plan=is_plan)) == (0, 0, 0)
    assert await mirrors(market.pool) == before


@pytest.mark.proof
async def test_only_what_is_missing_is_written(market: MirroredMarket) -> None:
    before = await busy(market)
    trade_id = await market.pool.fetchval("SELECT min(trade_id) FROM trades")
    await market.pool.execute("DELETE FROM trades WHERE trade_id = $1", trade_id)
    await market.pool.execute(
        "WITH gone AS (DELETE FROM ledger_entries WHERE reference_id IN ($1, 'tx-1') RETURNING user_id, asset, amount),"
        " summed AS (SELECT user_id, asset, sum(amount) AS amount FROM gone GROUP BY user_id, asset)"
        " UPDATE ledger_accounts AS account SET available = available - summed.amount FROM summed"
        " WHERE account.user_id = summed.user_id AND account.asset = summed.asset",
        trade_id,
    )
    resting = await market.pool.fetchval("SELECT min(order_id) FROM orders WHERE status = 'cancelled'")
    await market.pool.execute("DELETE FROM orders WHERE order_id = $1", resting)
    # A row that missed its last event.
    await market.pool.execute(
        "UPDATE orders SET status = 'open', last_sequence = 1 WHERE order_id ="
        " (SELECT min(order_id) FROM orders WHERE status = 'cancelled')"
    )
    assert counts(await rebuild(market.settings, is_plan=False)) == (2, 1, 10)
    after = await mirrors(market.pool)
    assert after["entries"] == before["entries"]
    assert after["accounts"] == before["accounts"]
    assert after["trades"] == before["trades"]
    assert [row[0] for row in after["orders"]] == [row[0] for row in before["orders"]]
    # What is written anew comes last in the accounts' history, with a running balance that is right there.
    assert await market.differences() == []


@pytest.mark.spec("A1.3-35")
async def test_a_lost_entry_of_a_trade_is_written_again_without_applying_the_trade_twice(
    market: MirroredMarket,
) -> None:
    before = await busy(market)
    trade_id = await market.pool.fetchval("SELECT min(trade_id) FROM trades")
    await market.pool.execute("DELETE FROM ledger_entries WHERE transaction_id = $1 || ':buyer-quote'", trade_id)
    rebuilt = await rebuild(market.settings, is_plan=False)
    assert (rebuilt.counts, rebuilt.problems) == ({"ledger entry": 1, "running balance": 1}, [])
    assert await mirrors(market.pool) == before
    assert await market.differences() == []


async def test_what_an_operator_did_to_the_engine_alone_stays_there(market: MirroredMarket) -> None:
    # The ledger has the deposits that the test began with; a rebuild would write what is still on its way.
    assert await market.differences() == []
    administrator = await market.administrator()
    adjustment = {"participantId": "alice", "currency": "USD", "amount": "5", "type": "DEPOSIT"}
    assert (await administrator.call("AdjustBalance", **adjustment))["success"]
    await market.engine.fund("bob", USD="3")
    assert counts(await rebuild(market.settings, is_plan=False)) == (0, 0, 0)
    assert len(await market.differences()) == 2


async def test_what_the_ledger_cannot_take_is_named(market: MirroredMarket) -> None:
    await market.trade(1)
    assert await market.differences() == []
    status, answer = await market.engine.request(
        "POST",
        "/api/v1/accounts/deposit",
        {"participantId": "alice", "currency": "USD", "amount": "1", "reference": "with a space"},
    )
    assert status == 200, answer
    rebuilt = await rebuild(market.settings, is_plan=False)
    assert rebuilt.total == 0
    (problem,) = rebuilt.problems
    assert "'with a space': transactionId must be" in problem


@pytest.mark.proof
async def test_without_a_cursor_the_rows_are_filled_and_the_router_goes_on(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    others = ("router", "ledger")
    async with mirrored_market(settings, bus, pool, ("engine",)) as market:
        async with running(settings, *others):
            await market.fund()
            before = await busy(market)
        await pool.execute(f"TRUNCATE {TABLES}, engine_cursors")
        assert (await rebuild(settings, is_plan=False)).problems == []
        assert await mirrors(pool) == before
        await market.trade(1)
        async with running(settings, *others):
            assert await market.differences() == []
            assert counts(await rebuild(settings, is_plan=True)) == (0, 0, 0)


async def test_rows_are_never_written_ahead_of_the_router(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> None:
    others = ("router", "ledger")
    async with mirrored_market(settings, bus, pool, ("engine",)) as market:
        async with running(settings, *others):
            await market.fund()
            await busy(market)
        rows = (await mirrors(pool))["orders"]
        await market.trade(1)
        rebuilt = await rebuild(settings, is_plan=False)
        orders, trades, entries = counts(rebuilt)
        assert (orders, trades) == (0, 0)
        assert entries >= 16
        assert (await mirrors(pool))["orders"] == rows
        async with running(settings, *others):
            assert await market.differences() == []


async def test_what_cannot_be_rebuilt_is_told(settings: Settings, market: MirroredMarket) -> None:
    with pytest.raises(NotRebuiltError, match="engine does not answer"):
        await rebuild(settings.model_copy(update={"engine_http_port": free_port()}), is_plan=True)
    with pytest.raises(NotRebuiltError, match="database does not answer"):
        await rebuild(settings.model_copy(update={"database_url": ""}), is_plan=True)
    assert await market.differences() == []
    await market.pool.execute("UPDATE engine_cursors SET sequence = 10000")
    with pytest.raises(NotRebuiltError, match="older than the database"):
        await rebuild(settings, is_plan=True)
    await market.pool.execute("UPDATE engine_cursors SET epoch = 'another'")
    with pytest.raises(NotRebuiltError, match="new journal"):
        await rebuild(settings, is_plan=True)


@pytest.mark.proof
async def test_an_engine_that_has_forgotten_its_oldest_events_makes_them_anew_as_the_refusal_says(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    short = settings.model_copy(update={"engine_event_retention": 1000, "engine_stream_buffer": 16})
    async with mirrored_market(short, bus, pool) as market:
        await market.fund()
        await market.trade(200)
        assert await market.differences() == []
        with pytest.raises(NotRebuiltError, match=r"delete engine/events\.sqlite"):
            await rebuild(short, is_plan=True)
    (settings.data_dir / "engine/events.sqlite").unlink()
    async with mirrored_market(settings, bus, pool):
        assert counts(await rebuild(settings, is_plan=True)) == (0, 0, 0)
