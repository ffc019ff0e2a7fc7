"""Entries of the ledger that no trade made become FIFO transactions: once each, whatever happens in between."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg
import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.kit.clock import ms_from_datetime
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions import movement_follower
from openspot.positions.movement_follower import MovementFollower
from openspot.positions.spot.store import SpotStore
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.positions import PositionClient

NOW = datetime(2026, 11, 22, 12, 0, 30, tzinfo=UTC)
DAY = timedelta(days=1)


class Candles:
    """The past price of BTC is 100, that of ETH 10, and the present fair price of BTC 120."""

    def __init__(self) -> None:
        self.fault = False

    async def of_assets(self, currency: str) -> dict[str, int]:
        if self.fault:
            raise MarketDataUnavailableError("away")
        return {"BTC": 120 * AMOUNT_SCALE}

    async def price_at(self, symbol: str, time: datetime) -> int | None:
        return {"BTC-USD": 100 * AMOUNT_SCALE, "ETH-USD": 10 * AMOUNT_SCALE}.get(symbol)


def follower(pool: asyncpg.Pool, candles: Candles) -> MovementFollower:
    """One that has just been started."""
    return MovementFollower(pool, candles, "USD", lambda: ms_from_datetime(NOW) * 1_000_000)  # type: ignore[arg-type]


async def enter(
    pool: asyncpg.Pool, name: str, entry_type: str, asset: str, amount: str, at: datetime = NOW - DAY,
    user_id: str = "alice",
) -> None:  # fmt: skip
    """An entry. Entries of one transfer have the same first letter."""
    await pool.execute(
        """
        INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,
            reference_id, created_at) VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8)
        """,
        name, user_id, asset, Decimal(amount), entry_type, "trade" if entry_type in ("trade", "fee") else "transfer",
        name[0], at,
    )  # fmt: skip


async def transactions(pool: asyncpg.Pool) -> list[str]:
    """All FIFO transactions, in the order of their ids."""
    rows = await pool.fetch(
        """
        SELECT concat_ws(' ', user_id, external_id, kind, trim_scale(quantity), asset, 'for', trim_scale(value)) AS text
        FROM fifo_transactions ORDER BY external_id
        """
    )
    return [row["text"] for row in rows]


async def test_each_entry_counts_once_however_often_it_is_read(pool: asyncpg.Pool) -> None:
    await enter(pool, "a1", "deposit", "BTC", "2")
    await enter(pool, "b1", "conversion", "BTC", "-1")
    await enter(pool, "b2", "conversion", "USD", "98")
    await enter(pool, "c1", "reward", "ETH", "0.5")
    await enter(pool, "d1", "trade", "BTC", "7")
    await enter(pool, "e1", "deposit", "XYZ", "7")
    await enter(pool, "f1", "deposit", "BTC", "3", NOW - timedelta(seconds=5))
    # Neither the house nor a margin account is a user.
    await enter(pool, "g1", "deposit", "BTC", "-2", user_id="house:external")
    candles = Candles()
    first = follower(pool, candles)
    assert await first.run_once() == 4
    expected = [
        "alice ledger:b1 disposal 1 BTC for 98",
        "alice ledger:c1 acquisition 0.5 ETH for 5",
        "alice ledger:estimate:a1 acquisition 2 BTC for 200",
        # It is worth the fair price of the moment.
        "alice ledger:estimate:f1 acquisition 3 BTC for 360",
    ]
    assert await transactions(pool) == expected
    assert await first.run_once() == 0
    assert await follower(pool, candles).run_once() == 0
    assert await transactions(pool) == expected
    # What was lost comes back, and a later entry that became visible late is found.
    await pool.execute("DELETE FROM fifo_transactions WHERE external_id = 'ledger:c1'")
    await enter(pool, "h1", "withdrawal", "BTC", "-1", first.followed_until - timedelta(seconds=60))
    assert await first.run_once() == 1
    assert await follower(pool, candles).run_once() == 1
    assert len(await transactions(pool)) == 5


async def test_a_long_history_is_read_page_by_page_and_a_deal_is_never_torn(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(movement_follower, "PAGE", 2)
    for number in range(5):
        at = NOW - DAY + timedelta(minutes=number)
        await enter(pool, f"{number}1", "conversion", "USD", "-98", at)
        await enter(pool, f"{number}2", "conversion", "BTC", "1", at)
        await enter(pool, f"{number}3", "reward", "ETH", "1", at)
    assert await follower(pool, Candles()).run_once() == 10
    assert sum("BTC for 98" in text for text in await transactions(pool)) == 5


async def test_without_market_data_movements_wait_and_results_say_since_when(pool: asyncpg.Pool) -> None:
    await enter(pool, "a1", "deposit", "BTC", "2")
    candles = Candles()
    candles.fault = True
    waiting = follower(pool, candles)
    assert await waiting.run_once() == 0
    assert await transactions(pool) == []
    store = SpotStore(pool)
    assert (await store.waiting("alice", waiting.followed_until)).since == movement_follower.BEGIN
    assert (await store.waiting("bob", waiting.followed_until)).since is None
    candles.fault = False
    assert await waiting.run_once() == 1
    assert (await store.waiting("alice", waiting.followed_until)).since is None


async def test_an_estimated_cost_is_said_and_gives_way_to_what_is_recorded(
    pool: asyncpg.Pool, positions: PositionClient, engine: FakeEngineHttp
) -> None:
    await enter(pool, "a1", "deposit", "BTC", "3")
    await enter(pool, "b1", "staking", "BTC", "-1", NOW - timedelta(hours=1))
    await follower(pool, Candles()).run_once()
    balance = {"currency": "BTC", "total": "2", "available": "2", "locked": "0", "reserved": "0"}
    engine.balances["alice"] = [balance]
    (row,) = (await positions.get("alice", "/spot/alice"))["holdings"]
    assert (row["quantity"], row["knownQuantity"], row["estimatedQuantity"], row["cost"]) == ("2", "2", "2", "200")
    await positions.post(
        "alice",
        "/fifo/transactions",
        {
            "externalId": "mine", "timestamp": (NOW - 90 * DAY).isoformat(), "type": "acquisition", "asset": "BTC",
            "account": "exchange", "quantity": "1.5", "value": "30",
        },
    )  # fmt: skip
    # A stake takes the oldest: one of the recorded ones. Half a coin at 20, and the rest is estimated.
    (row,) = (await positions.get("alice", "/spot/alice"))["holdings"]
    assert (row["knownQuantity"], row["estimatedQuantity"], row["cost"]) == ("2", "1.5", "160")


async def test_what_was_sold_before_the_ledger_came_back_is_covered_by_what_had_come_in(
    pool: asyncpg.Pool, positions: PositionClient
) -> None:
    asked, down = NOW - DAY, NOW - DAY + timedelta(minutes=10)
    transfers = (
        ("a", "conversion", asked, asked), ("b", "staking", asked + timedelta(minutes=2), asked + timedelta(minutes=2)),
        ("c", "unstaking", asked + timedelta(minutes=4), asked + timedelta(minutes=4)),
        # A day passed before the platform could pay it.
        ("e", "reward", asked - DAY, down),
    )  # fmt: skip
    for reference, kind, begun, decided in transfers:
        await pool.execute(
            "INSERT INTO edge_transfers (reference, kind, subject_id, movements, status, attempts, next_attempt_at,"
            " created_at, decided_at) VALUES ($1, $2, $1, '[]', 'done', 1, $3, $3, $4)",
            reference, kind, begun, decided,
        )  # fmt: skip
    await pool.execute(
        "INSERT INTO custody_deposits (tx_hash, user_id, asset, network, address, amount, height,"
        " required_confirmations, created_at, confirmed_at)"
        " VALUES ('d', 'alice', 'ETH', 'ethereum', 'x', 5, 1, 1, $1, $1)",
        asked,
    )
    # The ledger was down for ten minutes, and wrote all of it in one transaction.
    await enter(pool, "a1", "conversion", "USD", "-90", down)
    await enter(pool, "a2", "conversion", "BTC", "3", down)
    await enter(pool, "b1", "staking", "BTC", "-2.5", down)
    await enter(pool, "c1", "unstaking", "BTC", "2", down)
    await enter(pool, "d1", "deposit", "ETH", "5", down)
    await enter(pool, "e1", "reward", "ETH", "1", down)
    await follower(pool, Candles()).run_once()
    for name, minutes, asset, quantity in (
        ("early", 1, "BTC", "0.5"),
        ("late", 6, "BTC", "2"),
        ("other", 1, "ETH", "5"),
    ):
        at = asked + timedelta(minutes=minutes)
        await positions.post(
            "alice",
            "/fifo/transactions",
            {
                "externalId": name, "timestamp": at.isoformat(), "type": "disposal", "asset": asset,
                "account": "exchange", "quantity": quantity, "value": "100",
            },
        )  # fmt: skip
    report = await positions.get("alice", "/fifo/alice")
    assert report["shortfallCount"] == 0, report
    income = await pool.fetchval("SELECT executed_ms FROM fifo_transactions WHERE external_id = 'ledger:e1'")
    assert ms_from_datetime(down - timedelta(minutes=6)) < income <= ms_from_datetime(down)
