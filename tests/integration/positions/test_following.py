"""Fills of the exchange: booked once, kept if they cannot be, and valued in the accounting currency."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import msgspec
import pytest

from openspot.contracts.messages import ExecutedTrade, TradeFee, TradeFees
from openspot.domain.money import AMOUNT_SCALE
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.amounts import amount_of
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.cost_basis.store import CostBasisStore, transactions_after
from openspot.positions.fill_follower import follow
from openspot.positions.fill_valuation import FillValuation
from openspot.positions.followed_trade import followed_trade
from openspot.positions.following import follows_fills
from openspot.positions.holdings.trade_store import book_trades
from openspot.positions.settings import PositionSettings
from openspot.positions.spot.store import SpotStore
from openspot.reconcile.position_queries import FOLLOWS_FILLS

TIME_MS = 1_704_844_800_123


def trade(number: int, symbol: str = "BTC-USD", **changes: str) -> ExecutedTrade:
    """alice buys 2 at 100 from bob, for a fee of 1 and a rebate of 0.5."""
    base, quote = symbol.split("-")
    given = {"buyer_id": "alice", "seller_id": "bob", "qty": "2", "fee_currency": quote} | changes
    fees = TradeFees(
        TradeFee(given["buyer_id"], "1", given["fee_currency"]), TradeFee(given["seller_id"], "-0.5", quote)
    )
    return ExecutedTrade(
        f"e-{number}", symbol, base, quote, given["buyer_id"], given["seller_id"], "100", given["qty"], fees, "buy",
        "t", "m", True, False, number, TIME_MS,
    )  # fmt: skip


def sale(number: int, price: str, quantity: str) -> ExecutedTrade:
    """alice sells to carol."""
    sold = trade(number, buyer_id="carol", seller_id="alice", qty=quantity)
    return msgspec.structs.replace(sold, price=price)


class OnePrice:
    """Prices of which only one is known, or none while there is a fault."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.fault = False

    async def price_at(self, symbol: str, moment: datetime) -> int | None:
        assert moment == datetime(2024, 1, 10, 0, 0, 0, 123_000, tzinfo=UTC)
        if self.fault:
            raise MarketDataUnavailableError("away")
        return self.known.get(symbol)


async def held(pool: asyncpg.Pool) -> dict[tuple[str, str], str]:
    """Every balance."""
    rows = await pool.fetch("SELECT participant_id, asset, available FROM position_balances")
    return {(row["participant_id"], row["asset"]): f"{row['available'].normalize():f}" for row in rows}


async def test_a_trade_counts_once_however_it_is_delivered(pool: asyncpg.Pool) -> None:
    batch = [trade(1), trade(2), trade(1)]
    assert await follow(pool, batch) == 2
    expected = {("alice", "BTC"): "4", ("alice", "USD"): "-402", ("bob", "BTC"): "-4", ("bob", "USD"): "401"}
    assert await held(pool) == expected
    assert await follow(pool, [trade(2), trade(1)]) == 0
    assert await held(pool) == expected
    assert await follow(pool, [trade(2), trade(3, buyer_id="carol", seller_id="carol")]) == 1
    assert (await held(pool))["carol", "BTC"] == "0"
    row = await pool.fetchrow(
        "SELECT sequence, trade_id, trade_count FROM position_checkpoints WHERE name = 'exchange'"
    )
    assert row is not None and tuple(row) == (3, "e-3", 3)


async def test_a_trade_that_cannot_be_booked_is_kept_with_the_reason_and_the_others_count(pool: asyncpg.Pool) -> None:
    bad = [
        trade(1, fee_currency="BTC"), trade(2, buyer_id="a b\x00"), trade(3, qty="0"), trade(4, qty="NaN"),
        trade(5, symbol="btc-usd"),
    ]  # fmt: skip
    assert await follow(pool, [*bad, trade(6)]) == 1
    rows = await pool.fetch("SELECT trade_id, reason FROM position_refused_trades ORDER BY trade_id")
    assert [tuple(row) for row in rows] == [
        ("e-1", "the fee is in BTC, not in USD"),
        ("e-2", "the buyer's id is not one"),
        ("e-3", "quantity must be positive"),
        ("e-4", "qty is not a decimal number"),
        ("e-5", "symbol is not <BASE>-<QUOTE>"),
    ]
    assert (await held(pool))["alice", "BTC"] == "2"


async def test_a_fill_whose_quote_is_another_asset_waits_for_its_value(pool: asyncpg.Pool) -> None:
    prices = OnePrice()
    valuation = FillValuation(pool, prices, "USD")  # type: ignore[arg-type]
    await follow(pool, [trade(1), trade(2, "BTC-USDT")])
    prices.fault = True
    # The fill in US dollars needs no price.
    assert await valuation.run_once() == 2
    prices.fault = False
    assert await valuation.run_once() == 0
    prices.known["USDT-USD"] = AMOUNT_SCALE * 9 // 10
    assert await valuation.run_once() == 2
    assert await valuation.run_once() == 0
    rows = await pool.fetch(
        """
        SELECT external_id, kind, asset, quantity, value, fee FROM fifo_transactions WHERE user_id = 'alice' ORDER BY 1
        """
    )
    assert [(*row[:3], *map(amount_of, row[3:])) for row in rows] == [
        ("e-1:buy:to", "acquisition", "BTC", 2 * AMOUNT_SCALE, 200 * AMOUNT_SCALE, AMOUNT_SCALE),
        # 201 USDT went, worth 180.9 US dollars; the bitcoins cost as much.
        ("e-2:buy:from", "disposal", "USDT", 201 * AMOUNT_SCALE, 1809 * AMOUNT_SCALE // 10, 0),
        ("e-2:buy:to", "acquisition", "BTC", 2 * AMOUNT_SCALE, 1809 * AMOUNT_SCALE // 10, 0),
    ]
    assert await pool.fetchval("SELECT count(*) FROM fifo_pending_fills") == 0


async def test_trades_of_one_millisecond_count_as_the_engine_made_them(pool: asyncpg.Pool) -> None:
    valuation = FillValuation(pool, OnePrice(), "USD")  # type: ignore[arg-type]
    costs = CostBasisService(pool, CostBasisStore(pool), "USD", imports_max=1, transactions_max=100)
    # As texts, e-10 and e-11 come before e-9: the sale would find nothing, and then the wrong lot.
    dearer = msgspec.structs.replace(trade(10), price="200")
    await follow(pool, [trade(9), dearer, sale(11, "300", "2")])
    assert await valuation.run_once() == 6
    assert await costs.compute("alice") == []
    disposals = "SELECT disposal_id, acquisition_id, cost FROM fifo_disposals WHERE user_id = 'alice'"
    [sold] = await pool.fetch(disposals)
    assert (sold["disposal_id"], sold["acquisition_id"], amount_of(sold["cost"])) == (
        "e-11:sell:from", "e-9:buy:to", 201 * AMOUNT_SCALE,
    )  # fmt: skip
    # One that arrives later counts at its place, and a longer history computes whole milliseconds.
    await follow(pool, [trade(8, qty="1")])
    assert await valuation.run_once() == 2
    assert await costs.compute("alice") == []
    assert [row["acquisition_id"] for row in await pool.fetch(f"{disposals} ORDER BY part")] == [
        "e-8:buy:to", "e-9:buy:to",
    ]  # fmt: skip
    found = await transactions_after(pool, "alice", -1, 1)  # type: ignore[arg-type]
    assert [each.external_id for each, _ in found] == ["e-8:buy:to", "e-9:buy:to", "e-10:buy:to", "e-11:sell:from"]


COMPLETE = PositionSettings(rules="complete", jwt_secret="s" * 32)


async def traded(pool: asyncpg.Pool, days_ago: int) -> None:
    """A trade of the exchange, as the router's row of it."""
    await pool.execute(
        """
        INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
            buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
        VALUES ($1, 1, 'BTC-USD', 1, 1, 'buy', 'o1', 'o2', 'alice', 'bob', 0, 0, 'USD', now() - $2::interval)
        """,
        f"ago-{days_ago}", timedelta(days=days_ago),
    )  # fmt: skip


OFF = COMPLETE.model_copy(update={"follow_fills": False})
ON = COMPLETE.model_copy(update={"follow_fills": True})
SPECIFICATION = PositionSettings(jwt_secret="s" * 32)


async def test_the_complete_rules_follow_the_trades_of_a_new_platform_from_then_on(pool: asyncpg.Pool) -> None:
    # A platform that tried the rules of the specification first is new, too.
    assert not await follows_fills(pool, SPECIFICATION)
    await traded(pool, 0)
    assert all(await asyncio.gather(*(follows_fills(pool, COMPLETE) for _ in range(4))))
    # A trade that was not followed yet is not said to be counted.
    assert (await SpotStore(pool).waiting("alice")).since == datetime(1970, 1, 1, tzinfo=UTC)
    # What is recorded by hand later, and old trades, change nothing.
    await traded(pool, 40)
    await follow(pool, [trade(1)])
    await pool.execute("UPDATE position_trades SET source = 'close'")
    assert await follows_fills(pool, COMPLETE)


@pytest.mark.parametrize("ended", [OFF, SPECIFICATION])
async def test_what_has_ended_begins_again_only_by_setting(pool: asyncpg.Pool, ended: PositionSettings) -> None:
    assert await follows_fills(pool, COMPLETE)
    assert await pool.fetchval(f"SELECT {FOLLOWS_FILLS}") is False
    await follow(pool, [trade(1)])
    assert await pool.fetchval(f"SELECT {FOLLOWS_FILLS}") is True
    assert not await follows_fills(pool, ended)
    # What others may have booked since is no difference.
    assert await pool.fetchval(f"SELECT {FOLLOWS_FILLS}") is False
    assert not await follows_fills(pool, COMPLETE)
    assert await follows_fills(pool, ON)
    assert await follows_fills(pool, COMPLETE)
    assert await pool.fetchval(f"SELECT {FOLLOWS_FILLS}") is True


async def test_a_service_of_an_earlier_release_that_had_followed_is_not_turned_on(pool: asyncpg.Pool) -> None:
    await follow(pool, [trade(1)])
    await pool.execute("TRUNCATE position_trades CASCADE")
    assert not await follows_fills(pool, COMPLETE)
    assert await follows_fills(pool, ON)


async def test_trades_that_may_have_been_booked_otherwise_are_followed_only_by_setting(pool: asyncpg.Pool) -> None:
    await traded(pool, 2)
    assert not await follows_fills(pool, COMPLETE)
    await pool.execute("DELETE FROM trades")
    await pool.execute("INSERT INTO archive_floors VALUES ('trades', 'e', 9, now())")
    assert not await follows_fills(pool, COMPLETE)
    await pool.execute("DELETE FROM archive_floors")
    await pool.execute(
        "INSERT INTO fifo_transactions (user_id, external_id, executed_ms, kind, account, asset, quantity, value, fee,"
        " fee_quantity, fingerprint) VALUES ('alice', 'buy-1', 0, 'acquisition', 'main', 'BTC', 1, 1, 0, 0, 'f')"
    )
    assert not await follows_fills(pool, COMPLETE)
    await pool.execute("DELETE FROM fifo_transactions")
    async with pool.acquire() as connection:
        await book_trades(connection, followed_trade(trade(1)).sides)
    assert not await follows_fills(pool, COMPLETE)
    assert await pool.fetchval("SELECT count(*) FROM position_checkpoints") == 0
    assert await follows_fills(pool, ON)
