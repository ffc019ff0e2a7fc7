"""Results of what the engine says a user holds: cost from lots, value at fair prices, what waits to be counted."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from openspot.positions.fill_follower import follow
from openspot.positions.fill_valuation import FillValuation
from openspot.positions.prices import Prices
from openspot.positions.spot.store import SpotStore, Waiting
from openspot.positions.times import milliseconds_of
from tests.integration.positions.test_following import trade
from tests.support.fair_prices import fair_price_event
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_prices import FakePrices
from tests.support.positions import PositionClient

NONE = {"today": "0", "week": "0", "month": "0", "all": "0"}
NOW = datetime.now(UTC)


def hold(engine: FakeEngineHttp, **totals: str) -> None:
    engine.balances["alice"] = [
        {"currency": asset, "total": total, "available": total, "locked": "0", "reserved": "0"}
        for asset, total in totals.items()
    ]


async def record(positions: PositionClient, name: str, days_ago: float, kind: str, **fields: Any) -> None:
    """A transaction of the account `exchange`."""
    body = {
        "externalId": name, "timestamp": (NOW - timedelta(days=days_ago)).isoformat(), "type": kind, "asset": "BTC",
        "account": "exchange",
    } | fields  # fmt: skip
    await positions.post("alice", "/fifo/transactions", body)


async def test_holdings_have_the_engines_quantities_and_every_column_adds_up(
    positions: PositionClient, engine: FakeEngineHttp, prices: FakePrices, pool: asyncpg.Pool
) -> None:
    prices.fair_prices = {"BTC-USD": fair_price_event("BTC-USD", "150.017", 1)}
    await record(positions, "b1", 100, "acquisition", quantity="2", value="100", fee="1")
    await record(positions, "b2", 50, "acquisition", quantity="1", value="100")
    for name, days in (("s1", 40), ("s2", 20), ("s3", 3), ("s4", 0.0001)):
        await record(positions, name, days, "disposal", quantity="0.1", value="15")
    # Of another wallet: no part of what the exchange holds.
    await record(positions, "m1", 100, "acquisition", quantity="9", value="9", account="main")
    await record(positions, "m2", 90, "disposal", quantity="1", value="90", account="main")
    hold(engine, USD="10.559", BTC="3", DOGE="4", ETH="0")
    await pool.execute(
        """
        INSERT INTO position_trades (trade_id, participant_id, symbol, side, quantity, notional, fee, realised, source,
            executed_at)
        VALUES ('t1:buy', 'alice', 'BTC-USD', 'buy', 1, 1, 0.5, 0, 'fill', now()),
            ('t2:sell', 'alice', 'BTC-EUR', 'sell', 1, 1, 0.25, 0, 'fill', now()),
            ('b1', 'alice', 'BTC-USD', 'buy', 1, 1, 9, 0, 'broker', now()),
            ('t1:sell', 'bob', 'BTC-USD', 'sell', 1, 1, 8, 0, 'fill', now())
        """
    )
    found = await positions.get("alice", "/spot/alice")
    # Left of the lots: 1.6 for 80.80, and 1 for 100. 0.4 came by a deposit. A tenth of the first lot cost 5.05.
    realised = {"today": found["totals"]["realisedPnl"]["today"], "week": "19.9", "month": "29.85", "all": "39.8"}
    fees = [{"asset": "EUR", "amount": "0.25"}, {"asset": "USD", "amount": "0.5"}]
    assert realised["today"] in ("9.95", "0")  # Midnight may have been seconds ago.
    assert found["holdings"] == [
        {
            "asset": "BTC", "quantity": "3", "knownQuantity": "2.6", "estimatedQuantity": "0",
            "price": "150.017", "value": "450.05",
            "cost": "180.8", "averageCost": "69.538461538461538461", "unrealisedPnl": "209.24",
            "unrealisedPercent": "115.73", "unknownValue": "60.01", "realisedPnl": realised, "fees": fees,
        },
        {
            "asset": "DOGE", "quantity": "4", "knownQuantity": "0", "estimatedQuantity": "0",
            "price": None, "value": None, "cost": None,
            "averageCost": None, "unrealisedPnl": None, "unrealisedPercent": None, "unknownValue": None,
            "realisedPnl": NONE, "fees": [],
        },
        {
            "asset": "USD", "quantity": "10.559", "knownQuantity": "10.559", "estimatedQuantity": "0",
            "price": "1", "value": "10.55",
            "cost": "10.55", "averageCost": "1", "unrealisedPnl": "0", "unrealisedPercent": "0",
            "unknownValue": "0", "realisedPnl": NONE, "fees": [],
        },
    ]  # fmt: skip
    assert found["totals"] == {
        "value": "460.6", "cost": "191.35", "pricedCost": "191.35", "unrealisedPnl": "209.24",
        "unrealisedPercent": "109.34", "unknownValue": "60.01", "realisedPnl": realised, "fees": fees,
        "unpriced": ["DOGE"],
    }  # fmt: skip
    assert (found["userId"], found["currency"], found["shortfallCount"]) == ("alice", "USD", 0)
    # This service does not follow the exchange: it knows nothing but what is recorded.
    assert (found["costsAsOf"], found["unvaluedFills"]) == (None, 0)
    # One asset by itself has the same figures, without those of what was sold.
    for row in found["holdings"]:
        alone = await positions.get("alice", f"/spot/alice/{row['asset']}")
        assert alone.pop("readAt")
        assert alone == {name: value for name, value in row.items() if name not in ("realisedPnl", "fees")} | {
            "userId": "alice", "currency": "USD", "costsAsOf": None,
        }, row["asset"]  # fmt: skip
    nothing = await positions.get("alice", "/spot/alice/ETH")
    assert (nothing["quantity"], nothing["averageCost"], nothing["value"]) == ("0", None, "0")


async def test_what_left_without_a_sale_was_the_oldest_and_without_prices_there_is_no_value(
    positions: PositionClient, engine: FakeEngineHttp, prices: FakePrices
) -> None:
    await record(positions, "b1", 100, "acquisition", quantity="2", value="100")
    await record(positions, "b2", 50, "acquisition", quantity="1", value="100")
    hold(engine, BTC="1.5")
    prices.fault = "no market data"
    (row,) = (await positions.get("alice", "/spot/alice"))["holdings"]
    assert (row["knownQuantity"], row["cost"], row["price"], row["value"]) == ("1.5", "125", None, None)
    hold(engine, BTC="1")
    assert (await positions.get("alice", "/spot/alice"))["holdings"][0]["cost"] == "100"
    hold(engine)
    assert (await positions.get("alice", "/spot/alice"))["holdings"] == []


async def test_the_newest_lot_of_a_millisecond_is_that_of_the_last_trade(
    positions: PositionClient, engine: FakeEngineHttp
) -> None:
    for number in (9, 10):
        await record(positions, f"e-{number}:buy:to", 50, "acquisition", quantity="1", value=str(number))
    hold(engine, BTC="1")
    assert (await positions.get("alice", "/spot/alice"))["holdings"][0]["cost"] == "10"


async def test_a_fill_of_the_exchange_has_a_cost_with_its_fee_and_a_sale_of_what_came_by_deposit_has_none(
    positions: PositionClient, engine: FakeEngineHttp, prices: FakePrices, pool: asyncpg.Pool
) -> None:
    prices.fair_prices = {"BTC-USD": fair_price_event("BTC-USD", "150", 1)}
    await follow(pool, [trade(1)])
    await FillValuation(pool, Prices(None), "USD").run_once()  # type: ignore[arg-type]
    hold(engine, BTC="2", USD="799")
    found = await positions.get("alice", "/spot/alice")
    bitcoin = found["holdings"][0]
    assert (bitcoin["cost"], bitcoin["averageCost"], bitcoin["unrealisedPnl"]) == ("201", "100.5", "99")
    assert bitcoin["fees"] == found["totals"]["fees"] == [{"asset": "USD", "amount": "1"}]
    assert (found["totals"]["value"], found["totals"]["cost"]) == ("1099", "1000")
    # Bob had his bitcoins by a deposit: what the sale earned is unknown. His rebate is not.
    found = await positions.get("bob", "/spot/bob")
    assert (found["shortfallCount"], found["totals"]["realisedPnl"]) == (1, NONE)
    assert found["totals"]["fees"] == [{"asset": "USD", "amount": "-0.5"}]


async def test_without_the_engine_nothing_is_said(positions: PositionClient) -> None:
    refused = await positions.ask("alice", "GET", "/spot/alice")
    assert (refused.status, refused.code) == (503, "BALANCES_UNKNOWN")


async def test_what_waits_to_be_counted_says_since_when(positions: PositionClient, pool: asyncpg.Pool) -> None:
    store = SpotStore(pool)
    first, second = (datetime(2026, 5, day, tzinfo=UTC) for day in (1, 2))
    assert await store.waiting("alice") == Waiting(None, 0)
    await pool.execute(
        """
        INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
            buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
        VALUES ('t1', 1, 'BTC-USD', 1, 1, 'buy', 'o1', 'o2', 'alice', 'bob', 0, 0, 'USD', $1),
            ('t2', 2, 'BTC-USD', 1, 1, 'sell', 'o1', 'o2', 'bob', 'alice', 0, 0, 'USD', $2)
        """,
        first,
        second,
    )
    # Nothing was ever followed.
    assert await store.waiting("alice") == Waiting(datetime(1970, 1, 1, tzinfo=UTC), 0)
    await pool.execute(
        "INSERT INTO position_checkpoints (name, sequence, trade_id, trade_count, updated_at)"
        " VALUES ('exchange', 1, 't1', 1, $1)",
        first,
    )
    await book(pool, "t1:buy", "alice")
    assert await store.waiting("alice") == Waiting(first, 0)
    await book(pool, "t2:sell", "alice")
    assert await store.waiting("alice") == Waiting(None, 0)
    # Bob's side of them is not booked.
    assert (await store.waiting("bob")).since == first
    await pool.execute(
        "INSERT INTO fifo_pending_fills (trade_id, user_id, symbol, side, quantity, notional, fee, executed_ms)"
        " VALUES ('t2:sell', 'alice', 'BTC-EUR', 'sell', 1, 1, 0, $1)",
        milliseconds_of(second),
    )
    assert await store.waiting("alice") == Waiting(second, 1)


async def book(pool: asyncpg.Pool, trade_id: str, user_id: str) -> None:
    """One side of a trade, as it was followed."""
    await pool.execute(
        """
        INSERT INTO position_trades (trade_id, participant_id, symbol, side, quantity, notional, fee, realised, source,
            executed_at)
        VALUES ($1, $2, 'BTC-USD', 'buy', 1, 1, 0, 0, 'fill', now())
        """,
        trade_id,
        user_id,
    )
