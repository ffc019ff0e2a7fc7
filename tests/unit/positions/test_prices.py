"""The prices from which positions are valued: which candles are asked for, and in which currency closes are."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.contracts.messages import Candle, FairPriceEvent, GetCandles, TickerEvent
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.kit.clock import datetime_from_ms
from openspot.market_data_client.errors import UnknownMarketError
from openspot.positions.prices import Prices, closes_in
from tests.support.fair_prices import fair_price_event

NOON = datetime(2026, 5, 2, 12, 34, 56, tzinfo=UTC)
MAY_1, MAY_2 = date(2026, 5, 1), date(2026, 5, 2)


class Market:
    """Market data with one candle for each interval of `closes`; it keeps what it is asked."""

    def __init__(self, **closes: str) -> None:
        self.closes = closes
        self.asked: list[tuple[str, int]] = []
        self.since = 0
        self.last: dict[str, str | None] = {}
        self.fair: list[FairPriceEvent] = []

    async def tickers(self) -> list[TickerEvent]:
        nothing = (None, None, None, None, None, "0", "0", None, None)
        return [TickerEvent(symbol, price, *nothing, 9_000, 1) for symbol, price in self.last.items()]

    async def fair_prices(self) -> list[FairPriceEvent]:
        return self.fair

    async def candles(self, request: GetCandles) -> list[Candle]:
        if request.symbol == "GONE-USD":
            raise UnknownMarketError(request.symbol)
        self.asked.append((request.interval, request.until - request.since))
        self.since = request.since
        close = self.closes.get(f"i{request.interval}")
        return [] if close is None else [Candle(request.since, "2", "9", "1", close, "1", 1)]


def prices_of(market: Market) -> Prices:
    client: Any = market
    return Prices(client)


async def test_a_fill_is_valued_by_the_shortest_candle_that_there_is() -> None:
    for market, asked, price in (
        (Market(i1m="5", i1h="6", i1d="7"), [("1m", 60_000)], 5),
        (Market(i1h="6", i1d="7"), [("1m", 60_000), ("1h", 3_600_000)], 6),
        (Market(i1d="7"), [("1m", 60_000), ("1h", 3_600_000), ("1d", 86_400_000)], 7),
    ):
        assert await prices_of(market).price_at("USDT-USD", NOON) == price * AMOUNT_SCALE
        assert market.asked == asked
    assert await prices_of(Market()).price_at("USDT-USD", NOON) is None


@pytest.mark.parametrize(
    ("interval", "begin"),
    [
        ("1m", NOON.replace(second=0)),
        ("1h", NOON.replace(minute=0, second=0)),
        ("1d", datetime(2026, 5, 2, tzinfo=UTC)),
    ],
)
async def test_the_candle_is_the_one_that_holds_the_time_of_the_fill(interval: str, begin: datetime) -> None:
    market = Market(**{f"i{interval}": "5"})
    await prices_of(market).price_at("USDT-USD", NOON)
    assert market.since == round(begin.timestamp()) * 1000


async def test_a_market_that_is_not_there_has_no_price() -> None:
    assert await prices_of(Market(i1d="7")).price_at("GONE-USD", NOON) is None
    assert await prices_of(Market(i1d="7")).daily_closes("GONE-USD", NOON) == {}


async def test_value_at_risk_looks_back_365_whole_days() -> None:
    market = Market(i1d="7")
    assert await prices_of(market).daily_closes("BTC-USD", NOON) == {date(2025, 5, 2): Decimal(7)}
    assert market.asked == [("1d", 365 * 86_400_000)]
    # Whole days in UTC: the present one is not over.
    assert market.since == round(datetime(2025, 5, 2, tzinfo=UTC).timestamp()) * 1000


def test_closes_in_another_quote_asset_are_converted_on_the_days_that_both_markets_traded() -> None:
    closes = {
        "ETH-BTC": {MAY_1: Decimal("0.05"), MAY_2: Decimal("0.06")},
        "BTC-USD": {MAY_2: Decimal(50_000)},
        "SOL-BRL": {MAY_1: Decimal(3)},
    }
    assert closes_in("USD", ["ETH-BTC", "BTC-USD", "SOL-BRL"], closes) == {
        "ETH-BTC": {MAY_2: Decimal(3_000)},
        "BTC-USD": {MAY_2: Decimal(50_000)},
    }
    assert closes_in("USD", ["ETH-BTC", "BTC-USD"], {"BTC-USD": closes["BTC-USD"]}) == {
        "ETH-BTC": {},
        "BTC-USD": {MAY_2: Decimal(50_000)},
    }
    assert closes_in("USD", ["BTC-USD"], {}) == {"BTC-USD": {}}


async def test_positions_are_marked_to_fair_prices_and_to_the_last_price_where_there_is_none() -> None:
    market = Market()
    market.last = {"BTC-USD": "1", "ETH-USD": "1", "SOL-USD": "1", "ADA-USD": "0.4", "XRP-USD": None, "DOT-USD": "1"}
    market.fair = [
        fair_price_event("BTC-USD", "50000", 7_000, state=PriceState.GOOD),
        fair_price_event("ETH-USD", "3000", 7_001, state=PriceState.THIN),
        fair_price_event("SOL-USD", "200", 7_002, state=PriceState.DISPUTED),
        fair_price_event("DOT-USD", "5", 7_003, state=PriceState.STALE),
    ]
    # SOL has no new mark: a disputed price is none.
    assert await prices_of(market).latest() == {
        "BTC-USD": (50_000 * AMOUNT_SCALE, datetime_from_ms(7_000)),
        "ETH-USD": (3_000 * AMOUNT_SCALE, datetime_from_ms(7_001)),
        "DOT-USD": (5 * AMOUNT_SCALE, datetime_from_ms(7_003)),
        "ADA-USD": (AMOUNT_SCALE * 2 // 5, datetime_from_ms(9_000)),
    }


async def test_a_market_that_nobody_has_traded_marks_positions_only_by_a_confirmed_price() -> None:
    market = Market()
    market.last = {"BTC-USD": None, "ETH-USD": None}
    market.fair = [
        fair_price_event("BTC-USD", "50000", 7_000, state=PriceState.THIN, is_confirmed=True),
        fair_price_event("ETH-USD", "3000", 7_001, state=PriceState.THIN),
        fair_price_event("SOL-USD", "200", 7_002, state=PriceState.THIN),
    ]
    assert await prices_of(market).latest() == {"BTC-USD": (50_000 * AMOUNT_SCALE, datetime_from_ms(7_000))}
