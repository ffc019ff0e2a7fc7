"""Results by market: what its fills made, whatever asset they moved, and sums that agree with the results by asset."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import msgspec

from openspot.contracts.messages import ExecutedTrade
from openspot.domain.money import AMOUNT_SCALE, text_to_amount
from openspot.kit.clock import system_clock
from openspot.positions.fill_follower import follow
from openspot.positions.fill_valuation import FillValuation
from openspot.positions.movement_follower import MovementFollower
from openspot.positions.times import milliseconds_of
from tests.integration.positions.test_following import trade
from tests.integration.positions.test_movements import enter
from tests.integration.positions.test_spot import NONE, hold, record
from tests.support.fair_prices import fair_price_event
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_prices import FakePrices
from tests.support.positions import ADMIN, PositionClient

NOW = datetime.now(UTC)
PERIODS = ("today", "week", "month", "all")
NOT_HELD = {
    "heldQuantity": "0", "cost": "0", "averageCost": None, "value": "0", "unrealisedPnl": "0",
    "unrealisedPercent": None,
}  # fmt: skip


class Rates:
    """A euro was worth 2 dollars until a month ago, and 3 since; a bitcoin 150.017. Now nothing has a price."""

    async def of_assets(self, currency: str) -> dict[str, int]:
        return {}

    async def price_at(self, symbol: str, moment: datetime) -> int | None:
        euro = 2 if moment < NOW - timedelta(days=30) else 3
        return {"EUR-USD": euro * AMOUNT_SCALE, "BTC-USD": text_to_amount("150.017")}.get(symbol)


def fill(number: int, symbol: str, days_ago: float, price: str, quantity: str, **sides: str) -> ExecutedTrade:
    """A trade of alice with carol. The buyer's fee is 1, the seller's rebate 0.5."""
    traded = trade(number, symbol, qty=quantity, **({"buyer_id": "alice", "seller_id": "carol"} | sides))
    return msgspec.structs.replace(traded, price=price, timestamp=milliseconds_of(NOW - timedelta(days=days_ago)))


async def count(pool: asyncpg.Pool, fills: Sequence[ExecutedTrade]) -> None:
    """Follow fills until they are FIFO transactions."""
    await follow(pool, fills)
    await FillValuation(pool, Rates(), "USD").run_once()  # type: ignore[arg-type]


async def found(positions: PositionClient, user_id: str) -> dict[str, Any]:
    """The results by market, which add up to those by asset."""
    by_market = await positions.get(user_id, f"/spot/{user_id}/markets")
    by_asset = await positions.get(user_id, f"/spot/{user_id}")
    for period in PERIODS:
        rows = [*by_market["markets"], by_market["other"]]
        total = sum((Decimal(row["realisedPnl"][period]) for row in rows), Decimal())
        for view in (by_market, by_asset):
            assert Decimal(view["totals"]["realisedPnl"][period]) == total, period
    for name in ("userId", "currency", "costsAsOf", "unvaluedFills", "shortfallCount"):
        assert by_market[name] == by_asset[name], name
    assert datetime.fromisoformat(by_market["readAt"]) <= datetime.fromisoformat(by_asset["readAt"])
    return by_market


async def test_what_fills_of_a_market_sold_is_its_result_and_what_they_bought_is_held_there(
    positions: PositionClient, engine: FakeEngineHttp, prices: FakePrices, pool: asyncpg.Pool
) -> None:
    prices.fair_prices = {"BTC-USD": fair_price_event("BTC-USD", "150", 1)}
    await count(
        pool,
        [
            fill(1, "BTC-USD", 60, "100", "2"),
            # Half of them are sold for 100.5 euros, worth 201.
            fill(2, "BTC-EUR", 40, "100", "1", buyer_id="carol", seller_id="alice"),
            # 26 and 31 of these euros, which cost 2 each, buy when they are worth 3.
            fill(3, "BTC-EUR", 20, "50", "0.5"),
            fill(4, "ETH-EUR", 3, "100", "0.3"),
        ],
    )
    # A conversion and a sale elsewhere are of no market: they take of the oldest bitcoins, which cost 100.5 each.
    await enter(pool, "c1", "conversion", "BTC", "-0.25", NOW - timedelta(days=2))
    await enter(pool, "c2", "conversion", "ETH", "2.5", NOW - timedelta(days=2))
    await MovementFollower(pool, Rates(), "USD", system_clock).run_once()  # type: ignore[arg-type]
    await record(positions, "sold-elsewhere", 1.5, "disposal", quantity="0.05", value="10")
    # The lots have 1.2 bitcoins; the oldest 0.2 left without a sale.
    hold(engine, BTC="1", ETH="2.8", USD="10")
    results = await found(positions, "alice")
    assert results["markets"] == [
        {
            "symbol": "BTC-EUR", "fills": 2, "boughtQuantity": "0.5", "boughtNotional": "25", "averageBuyPrice": "50",
            "soldQuantity": "1", "soldNotional": "100", "averageSellPrice": "100", "fees": "0.5",
            "heldQuantity": "0.5", "cost": "78", "averageCost": "156", "value": "75", "unrealisedPnl": "-3",
            "unrealisedPercent": "-3.84",
            "realisedPnl": {"today": "0", "week": "0", "month": "26", "all": "126.5"},
        },
        {
            "symbol": "BTC-USD", "fills": 1, "boughtQuantity": "2", "boughtNotional": "200", "averageBuyPrice": "100",
            "soldQuantity": "0", "soldNotional": "0", "averageSellPrice": None, "fees": "1",
            "heldQuantity": "0.5", "cost": "50.25", "averageCost": "100.5", "value": "75", "unrealisedPnl": "24.75",
            "unrealisedPercent": "49.25", "realisedPnl": NONE,
        },
        {
            "symbol": "ETH-EUR", "fills": 1, "boughtQuantity": "0.3", "boughtNotional": "30", "averageBuyPrice": "100",
            "soldQuantity": "0", "soldNotional": "0", "averageSellPrice": None, "fees": "1",
            "heldQuantity": "0.3", "cost": "93", "averageCost": "310", "value": None, "unrealisedPnl": None,
            "unrealisedPercent": None, "realisedPnl": {"today": "0", "week": "31", "month": "31", "all": "31"},
        },
    ]  # fmt: skip
    # 12.37925 of the conversion and 4.975 of the sale.
    elsewhere = results["other"]["realisedPnl"]
    assert (elsewhere["week"], elsewhere["month"], elsewhere["all"]) == ("17.35", "17.35", "17.35")
    assert results["totals"]["realisedPnl"]["all"] == "174.85"
    # If less is held than the newest lot, the older market has nothing left.
    hold(engine, BTC="0.25")
    euro, dollar, ether = (await found(positions, "alice"))["markets"]
    assert (euro["heldQuantity"], euro["cost"]) == ("0.25", "39")
    for row in (dollar, ether):
        assert {name: row[name] for name in NOT_HELD} == NOT_HELD


async def test_a_rebate_is_a_fee_below_zero_and_a_sale_of_what_has_no_lots_counts_as_shortfall_alone(
    positions: PositionClient, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    await count(pool, [fill(1, "BTC-USD", 10, "100", "2")])
    hold(engine)
    engine.balances["carol"] = engine.balances["alice"]
    results = await found(positions, "carol")
    (row,) = results["markets"]
    assert (row["fills"], row["soldQuantity"], row["averageSellPrice"], row["fees"]) == (1, "2", "100", "-0.5")
    assert (row["realisedPnl"], results["shortfallCount"]) == (NONE, 1)


async def test_a_fill_that_waits_for_a_price_is_a_fill_without_a_result(
    positions: PositionClient, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    await count(pool, [fill(1, "BTC-XYZ", 10, "100", "2")])
    hold(engine, BTC="2")
    results = await found(positions, "alice")
    (row,) = results["markets"]
    assert (results["unvaluedFills"], row["fills"], row["boughtQuantity"]) == (1, 1, "2")
    assert {name: row[name] for name in NOT_HELD} == NOT_HELD


async def test_a_market_whose_base_asset_is_the_accounting_currency_holds_nothing_that_has_a_cost(
    positions: PositionClient, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    await count(pool, [fill(1, "EUR-USD", 10, "2", "20"), fill(2, "USD-EUR", 3, "0.5", "10")])
    hold(engine, USD="10", EUR="14")
    euro, dollar = (await found(positions, "alice"))["markets"]
    assert (euro["heldQuantity"], euro["cost"], euro["realisedPnl"]) == ("14", "28.7", NONE)
    assert {dollar[name] for name in NOT_HELD} == {None}
    # 6 euros at 3 each, which cost 2.05.
    assert dollar["realisedPnl"]["all"] == "5.7"


async def test_who_has_traded_nothing_has_no_markets_and_others_do_not_exist(
    positions: PositionClient, engine: FakeEngineHttp, pool: asyncpg.Pool
) -> None:
    await count(pool, [fill(1, "BTC-USD", 10, "100", "2")])
    for user_id in ("alice", "bob"):
        engine.balances[user_id] = []
    # The broker's trades are of no market of this exchange.
    await pool.execute("UPDATE position_trades SET source = 'broker' WHERE participant_id = 'alice'")
    for user_id in ("alice", "bob"):
        results = await found(positions, user_id)
        assert (results["markets"], results["other"]["realisedPnl"]) == ([], NONE)
    refused = await positions.ask("bob", "GET", "/spot/alice/markets")
    assert (refused.status, refused.code) == (404, "PARTICIPANT_NOT_FOUND")
    assert (await positions.get(ADMIN, "/spot/alice/markets"))["userId"] == "alice"


async def test_without_the_engine_nothing_is_said_of_markets(positions: PositionClient) -> None:
    refused = await positions.ask("alice", "GET", "/spot/alice/markets")
    assert (refused.status, refused.code) == (503, "BALANCES_UNKNOWN")
