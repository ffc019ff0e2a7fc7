"""Markets through the REST edge: specifications of the engine, everything else of market data."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from openspot.contracts.messages import AggregateTrade, Candle, MarketTrade, Ticker
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.kit.settings import Settings
from openspot.rest_edge.markets.schemas import AssetFairPrice, Market, MarketFairPrice, OrderBook
from tests.integration.rest_edge.test_orders import add_row
from tests.support.fair_prices import FakeFairPrices, fair_price
from tests.support.fake_engine_http import FakeEngineHttp, market
from tests.support.fake_market_data import FakeMarketData
from tests.support.records import read_exactly
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

NOW = datetime.fromtimestamp(round(datetime.now(UTC).timestamp() * 1000) / 1000, UTC)
"""Now. The engine's times are whole milliseconds."""


@pytest.fixture
async def market_data(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[FakeMarketData]:
    """Market data of two markets."""
    fake = FakeMarketData(settings, pool, ("BTC-USD", "ETH-USD"), NOW)
    await fake.start()
    yield fake
    await fake.stop()


async def add_trades(pool: asyncpg.Pool, symbol: str, *trades: tuple[int, str, str, float]) -> None:
    """Trades as (sequence, price, quantity, hours ago)."""
    await add_row(pool, f"maker{symbol}")
    for sequence, price, quantity, hours in trades:
        await pool.execute(
            """
            INSERT INTO trades VALUES ($1, $2, $3, $4::text::numeric, $5::text::numeric, 'sell', $6, $6, 'u1', 'u2',
                                       0, 0, 'USD', $7)
            """,
            f"e-{symbol}-{sequence}", sequence, symbol, price, quantity, f"maker{symbol}", NOW - timedelta(hours=hours),
        )  # fmt: skip


@pytest.mark.spec("B4.1-22", "B4.1-23", "B4.1-25")
async def test_markets_are_the_engines_with_the_limits_of_the_pre_trade_check(
    own_edge: RestClient, engine: FakeEngineHttp
) -> None:
    own_edge.token = None
    engine.markets.append(market("DOGE-USD"))
    reply = await own_edge("GET", "/markets")
    assert [row["symbol"] for row in reply.body] == ["BTC-USD", "DOGE-USD", "ETH-USD"]
    for row in reply.body:
        read_exactly(row, Market)
    bitcoin, dogecoin, _ = reply.body
    assert (bitcoin["baseAsset"], bitcoin["quoteAsset"]) == ("BTC", "USD")
    assert (bitcoin["tickSize"], bitcoin["takerFee"], bitcoin["makerFee"]) == ("0.01", 25, 15)
    assert (bitcoin["quantityMin"], bitcoin["notionalMax"]) == ("0.00001", "10000000")
    assert (dogecoin["quantityMin"], dogecoin["notionalMax"]) == (None, None)
    assert (await own_edge("GET", "/markets/BTC-USD")).body == bitcoin
    unknown = await own_edge("GET", "/markets/ADA-USD")
    assert (unknown.status, unknown.code, unknown.message) == (404, "MARKET_NOT_FOUND", "Market ADA-USD not found")


async def test_a_market_shows_the_band_of_its_prices_and_what_it_is_centred_on(
    own_edge: RestClient, engine: FakeEngineHttp
) -> None:
    shown = (await own_edge("GET", "/markets/BTC-USD")).body
    band = {name: shown[name] for name in BAND}
    assert band == dict(zip(BAND, (2000, 500, "last_trade", None), strict=True))


async def test_a_band_around_a_fair_price_is_shown_as_it_is_now(
    settings: Settings, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("BTC-USD", "100.5")
    async with running_edge(settings.model_copy(update={"price_band": "fair_price"})) as edge:

        async def shows(*expected: object) -> bool:
            shown = (await edge("GET", "/markets/BTC-USD")).body
            return [shown[name] for name in BAND] == list(expected)

        assert await shows(2000, 500, "fair_price", "100.5")
        await prices.publish("BTC-USD", "99", state=PriceState.THIN)
        await eventually(lambda: shows(3000, 500, "fair_price", "99"))
    await prices.stop()


BAND = ("deviationBpsMax", "slippageBpsMax", "priceReference", "referencePrice")


@pytest.mark.spec("B4.1-22")
async def test_a_change_at_the_engine_shows_within_moments(own_edge: RestClient, engine: FakeEngineHttp) -> None:
    assert (await own_edge("GET", "/markets/BTC-USD")).body["takerFee"] == 25
    for _ in range(20):
        await own_edge("GET", "/markets")
    assert engine.requests.count("/api/v1/markets") <= 2
    engine.markets[0]["takerFee"] = 7

    async def shows() -> bool:
        return (await own_edge("GET", "/markets/BTC-USD")).body["takerFee"] == 7

    await eventually(shows, 10)


@pytest.mark.spec("B4.1-28")
async def test_the_book_is_market_datas_of_this_moment(
    edge: RestClient, engine: FakeEngineHttp, market_data: FakeMarketData
) -> None:
    bids = [[str(100 - number), "1.5"] for number in range(80)]
    asks = [[str(101 + number), "2"] for number in range(80)]
    market_data.set_book("BTC-USD", bids, asks, 77)
    reply = await edge("GET", "/markets/BTC-USD/orderbook?depth=3")
    read_exactly(reply.body, OrderBook)
    assert reply.body == {
        "symbol": "BTC-USD", "bids": bids[:3], "asks": asks[:3], "sequence": 77, "timestamp": 1_700_000_000_000,
    }  # fmt: skip
    assert len((await edge("GET", "/markets/BTC-USD/orderbook")).body["bids"]) == 50
    market_data.set_book("BTC-USD", bids, asks, 78)
    assert (await edge("GET", "/markets/BTC-USD/orderbook")).body["sequence"] == 78
    for query, message in (("0", "depth must be at least 1"), ("1001", "depth must be at most 1000")):
        assert (await edge("GET", f"/markets/BTC-USD/orderbook?depth={query}")).message == [message]
    assert (await edge("GET", "/markets/ADA-USD/orderbook")).status == 404


@pytest.mark.spec("B4.1-29")
async def test_trades_are_listed_newest_first(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool, market_data: FakeMarketData
) -> None:
    await add_trades(pool, "BTC-USD", (1, "100", "1", 3), (2, "101.5", "0.25", 2), (5, "99", "2", 1))
    await add_trades(pool, "ETH-USD", (3, "10", "1", 1))
    await market_data.load()
    reply = await edge("GET", "/markets/BTC-USD/trades?limit=2")
    assert [(row["sequence"], row["price"], row["quantity"], row["side"]) for row in reply.body] == [
        (5, "99", "2", "sell"),
        (2, "101.5", "0.25", "sell"),
    ]
    for row in reply.body:
        read_exactly(row, MarketTrade)
    assert abs(reply.body[0]["timestamp"] - (NOW - timedelta(hours=1)).timestamp() * 1000) <= 1
    following = await edge("GET", f"/markets/BTC-USD/trades?limit=2&cursor={reply.headers['X-Next-Cursor']}")
    assert [row["sequence"] for row in following.body] == [1]
    assert "X-Next-Cursor" not in following.headers
    assert (await edge("GET", "/markets/ADA-USD/trades")).status == 404
    assert (await edge("GET", "/markets/BTC-USD/trades?cursor=WzFlOTld")).status == 400
    # [2^63], [1, 2^63] and a time after the year 9999.
    for cursor in ("WzkyMjMzNzIwMzY4NTQ3NzU4MDhd", "WzEsOTIyMzM3MjAzNjg1NDc3NTgwOF0", "WzI1MzQwMjMwMDgwMDAwMCwxXQ"):
        assert (await edge("GET", f"/markets/BTC-USD/trades?cursor={cursor}")).status == 400


async def test_aggregate_trades_are_paged_by_cursor_time_and_trade(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool, market_data: FakeMarketData
) -> None:
    await add_trades(
        pool, "BTC-USD", (1, "100", "1", 3), (2, "100", "0.25", 3), (3, "101", "2", 3), (5, "99", "2", 1),
        (6, "98", "1", 1),
    )  # fmt: skip
    await add_trades(pool, "ETH-USD", (4, "10", "1", 1))
    path = "/markets/BTC-USD/agg-trades"
    reply = await edge("GET", path)
    for row in reply.body:
        read_exactly(row, AggregateTrade)
    assert reply.body[3] == {
        "firstTradeId": "e-BTC-USD-1", "lastTradeId": "e-BTC-USD-2", "symbol": "BTC-USD", "price": "100",
        "quantity": "1.25", "side": "sell", "trades": 2, "firstSequence": 1, "lastSequence": 2,
        "timestamp": round((NOW - timedelta(hours=3)).timestamp() * 1000),
    }  # fmt: skip
    assert ([row["lastSequence"] for row in reply.body], "X-Next-Cursor" in reply.headers) == ([6, 5, 3, 2], False)
    first = await edge("GET", f"{path}?limit=3")
    following = await edge("GET", f"{path}?limit=3&cursor={first.headers['X-Next-Cursor']}")
    assert (first.body + following.body, "X-Next-Cursor" in following.headers) == (reply.body, False)
    begin, end = ((NOW - timedelta(hours=hours)).isoformat().replace("+00:00", "Z") for hours in (3, 1))
    within = await edge("GET", f"{path}?from={begin}&to={end}")
    assert [row["lastSequence"] for row in within.body] == [3, 2]
    younger = await edge("GET", f"{path}?fromTradeId=e-BTC-USD-2&limit=2")
    assert ([row["firstSequence"] for row in younger.body], "X-Next-Cursor" in younger.headers) == ([1, 3], False)
    for wrong, status, code in (
        ("/markets/BTC-USD/agg-trades?fromTradeId=e-ETH-USD-4", 404, "TRADE_NOT_FOUND"),
        ("/markets/ADA-USD/agg-trades", 404, "MARKET_NOT_FOUND"),
        (f"{path}?fromTradeId=a%20b", 400, "VALIDATION_FAILED"),
        (f"{path}?fromTradeId=e-BTC-USD-1&cursor={first.headers['X-Next-Cursor']}", 400, "VALIDATION_FAILED"),
        (f"{path}?from={end}&to={begin}", 400, "VALIDATION_FAILED"),
        (f"{path}?limit=1001", 400, "VALIDATION_FAILED"),
        (f"{path}?cursor=WzFlOTld", 400, "VALIDATION_FAILED"),
    ):
        refused = await edge("GET", wrong)
        assert (refused.status, refused.code) == (status, code), wrong


@pytest.mark.spec("B4.1-24", "B4.1-26")
async def test_tickers_tell_the_last_day_and_the_best_prices(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool, market_data: FakeMarketData
) -> None:
    await add_trades(
        pool, "BTC-USD", (1, "500", "9", 25), (2, "100", "1", 23), (3, "120", "0.5", 12), (4, "90", "2", 6),
        (5, "110", "0.123456789012345678", 1),
    )  # fmt: skip
    await market_data.load()
    market_data.set_book("BTC-USD", [["109", "1.5"]], [["111", "0.25"], ["112", "1"]])
    reply = await edge("GET", "/markets/tickers")
    assert [row["symbol"] for row in reply.body] == ["BTC-USD", "ETH-USD"]
    for row in reply.body:
        read_exactly(row, Ticker)
    assert reply.body[0] == {
        "symbol": "BTC-USD", "lastPrice": "110", "bidPrice": "109", "bidQuantity": "1.5", "askPrice": "111",
        "askQuantity": "0.25", "openPrice": "100", "highPrice": "120", "lowPrice": "90",
        "volume": "3.623456789012345678", "quoteVolume": "353.58024679135802458", "priceChange": "10",
        "priceChangePercent": "10", "timestamp": round(NOW.timestamp() * 1000),
    }  # fmt: skip
    silent = reply.body[1]
    assert (silent["lastPrice"], silent["openPrice"], silent["volume"]) == (None, None, "0")
    assert (silent["bidQuantity"], silent["askQuantity"]) == (None, None)
    assert (await edge("GET", "/markets/BTC-USD/ticker")).body == reply.body[0]
    assert (await edge("GET", "/markets/ADA-USD/ticker")).status == 404


async def test_a_price_older_than_a_day_is_still_the_last(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool, market_data: FakeMarketData
) -> None:
    await add_trades(pool, "BTC-USD", (1, "500", "9", 25))
    await market_data.load()
    ticker = (await edge("GET", "/markets/BTC-USD/ticker")).body
    assert (ticker["lastPrice"], ticker["openPrice"], ticker["volume"]) == ("500", None, "0")


async def test_the_fair_price_is_the_one_that_market_data_knows(
    own_edge: RestClient, engine: FakeEngineHttp, market_data: FakeMarketData
) -> None:
    own_edge.token = None
    market_data.set_fair_prices(
        FairPrice(
            symbol="BTC-USD",
            state=PriceState.THIN,
            price=100_500_000_000_000_000_000,
            low=99 * AMOUNT_SCALE,
            high=102 * AMOUNT_SCALE,
            day_median=98 * AMOUNT_SCALE,
            sellable=3 * AMOUNT_SCALE,
            buyable=4 * AMOUNT_SCALE,
            timestamp_ms=1_800_000_000_123,
            reason="Few people trade here.",
        )
    )
    reply = await own_edge("GET", "/markets/BTC-USD/fair-price")
    assert reply.body == {
        "symbol": "BTC-USD", "price": "100.5", "low": "99", "high": "102", "state": "thin",
        "reason": "Few people trade here.", "timestamp": 1_800_000_000_123,
    }  # fmt: skip
    read_exactly(reply.body, MarketFairPrice)
    unknown = await own_edge("GET", "/markets/ADA-USD/fair-price")
    assert (unknown.status, unknown.code) == (404, "MARKET_NOT_FOUND")
    silent = await own_edge("GET", "/markets/ETH-USD/fair-price")
    assert (silent.status, silent.message) == (503, "nobody has made a price of ETH-USD yet")


async def test_an_asset_is_worth_what_the_markets_to_the_dollar_say_together(
    own_edge: RestClient, engine: FakeEngineHttp, market_data: FakeMarketData
) -> None:
    own_edge.token = None
    market_data.set_fair_prices(
        fair_price("BTC-USD", "100000.5"),
        fair_price("ETH-BTC", "0.04", state=PriceState.THIN),
        fair_price("ADA-EUR", "0.5"),
    )
    reply = await own_edge("GET", "/markets/asset-prices")
    assert reply.body == [
        {"asset": "BTC", "price": "100000.5", "state": "good"},
        {"asset": "ETH", "price": "4000.02", "state": "thin"},
        {"asset": "USD", "price": "1", "state": "good"},
    ]
    read_exactly(reply.body[0], AssetFairPrice)


async def test_without_the_engine_market_data_answers_503(own_edge: RestClient) -> None:
    for path in ("", "/tickers", "/BTC-USD", "/BTC-USD/ticker", "/BTC-USD/orderbook", "/BTC-USD/trades"):
        reply = await own_edge("GET", f"/markets{path}")
        assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE"), path


async def test_an_engine_that_answers_nonsense_counts_as_silent(own_edge: RestClient, engine: FakeEngineHttp) -> None:
    engine.markets = [{"symbol": 5}]
    assert (await own_edge("GET", "/markets")).status == 503
    assert (await own_edge("GET", "/markets/BTC-USD/trades")).status == 503


async def test_without_market_data_its_routes_answer_503_with_the_reason(
    edge: RestClient, engine: FakeEngineHttp
) -> None:
    for path in (
        "/tickers", "/asset-prices", "/BTC-USD/ticker", "/BTC-USD/fair-price", "/BTC-USD/orderbook", "/BTC-USD/trades",
        "/BTC-USD/candles",
    ):  # fmt: skip
        reply = await edge("GET", f"/markets{path}")
        assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE"), path
        assert reply.message == "nobody provides market data now"
    assert (await edge("GET", "/markets")).status == 200


async def test_no_stale_book_or_ticker_is_served(
    edge: RestClient, engine: FakeEngineHttp, market_data: FakeMarketData
) -> None:
    assert (await edge("GET", "/markets/BTC-USD/orderbook")).status == 200
    market_data.fault = "the engine's events do not come"
    for path in ("/tickers", "/BTC-USD/ticker", "/BTC-USD/orderbook"):
        reply = await edge("GET", f"/markets{path}")
        assert (reply.status, reply.message) == (
            503,
            "market data is not current: the engine's events do not come",
        ), path
    assert (await edge("GET", "/markets/BTC-USD/trades")).status == 200


async def test_a_market_that_only_the_engine_has_yet_answers_503(
    own_edge: RestClient, engine: FakeEngineHttp, market_data: FakeMarketData
) -> None:
    engine.markets.append(market("DOGE-USD"))
    for path in ("ticker", "orderbook"):
        reply = await own_edge("GET", f"/markets/DOGE-USD/{path}")
        assert (reply.status, reply.message) == (503, "market data has nothing of DOGE-USD yet")


@pytest.mark.spec("B4.1-30")
async def test_candles_are_made_of_the_trades_of_each_interval(
    edge: RestClient, engine: FakeEngineHttp, pool: asyncpg.Pool, market_data: FakeMarketData
) -> None:
    edge.token = None
    # Of one moment, the sequence decides what opened and closed.
    await add_trades(
        pool, "BTC-USD", (1, "100", "1", 3), (2, "90", "0.5", 3), (3, "110", "0.25", 3), (4, "105", "0.25", 3),
        (5, "7", "2", 1), (6, "8", "1", 24 * 30),
    )  # fmt: skip
    await add_trades(pool, "ETH-USD", (7, "1", "1", 3))
    await market_data.load()
    reply = await edge("GET", "/markets/BTC-USD/candles?interval=1m&limit=1000")
    assert reply.status == 200
    first, second = (read_exactly(row, Candle) for row in reply.body)
    began = (NOW - timedelta(hours=3)).replace(second=0, microsecond=0)
    assert first.timestamp == int(began.timestamp() * 1000)
    assert (first.open, first.high, first.low, first.close) == ("100", "110", "90", "105")
    assert (first.volume, first.trades) == ("2", 4)
    assert (second.open, second.close, second.trades) == ("7", "7", 1)
    # The same sums, whatever the interval.
    for interval in ("5m", "15m", "30m", "1h", "4h", "1d", "1w"):
        rows = (await edge("GET", f"/markets/BTC-USD/candles?interval={interval}&limit=1000")).body
        assert sum(row["trades"] for row in rows) == (6 if interval in ("1h", "4h", "1d", "1w") else 5), interval
    at = first.timestamp
    only = await edge("GET", f"/markets/BTC-USD/candles?from={at}&to={at + 60_000}")
    assert [row["timestamp"] for row in only.body] == [at]
    assert (await edge("GET", f"/markets/BTC-USD/candles?from={at + 1}&limit=5")).body == []
    assert (await edge("GET", f"/markets/BTC-USD/candles?to={began.isoformat()}&limit=5")).body == []


@pytest.mark.parametrize("query", ["interval=2m", "from=yesterday", "from=2&to=1", "limit=0", "limit=1001", "to=-1"])
async def test_a_query_for_candles_that_makes_no_sense_is_refused(
    edge: RestClient, engine: FakeEngineHttp, query: str
) -> None:
    reply = await edge("GET", f"/markets/BTC-USD/candles?{query}")
    assert (reply.status, reply.code) == (400, "VALIDATION_FAILED")
    assert (await edge("GET", "/markets/ADA-USD/candles")).status == 404
