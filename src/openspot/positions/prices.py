"""Prices from the market data service."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from openspot.contracts.messages import Candle, GetCandles
from openspot.domain.candles import Interval, begin_of
from openspot.domain.fair_price.crossing import asset_prices
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import MoneyError, parse_decimal
from openspot.kit.clock import datetime_from_ms
from openspot.market_data_client.errors import UnknownMarketError
from openspot.market_data_client.fair_prices import fair_price_of
from openspot.market_data_client.requests import MarketDataClient
from openspot.positions.profit_and_loss import mark_price
from openspot.positions.times import milliseconds_of

CLOSES_DAYS = 365
"""The number of daily closes from which value at risk is computed."""


class Prices:
    """Latest prices and recorded candles. Every method raises MarketDataUnavailableError."""

    def __init__(self, market_data: MarketDataClient) -> None:
        self._market_data = market_data

    async def latest(self) -> dict[str, tuple[int, datetime]]:
        """The price to which each market's positions are marked, at 18 places, with its time.

        It is the fair price, because two accounts of one person make a last price. The last price counts where market
        data has no fair price. While that is disputed, the market has none, so that its earlier mark stays. A market in
        which nobody has traded has a price only if it is confirmed: else it may be no more than the settings' own.
        """
        last = {
            ticker.symbol: (mark_price(ticker.last_price), datetime_from_ms(ticker.timestamp))
            for ticker in await self._market_data.tickers()
            if ticker.last_price is not None
        }
        fair = {event.symbol: event for event in await self._market_data.fair_prices()}
        return {symbol: mark for symbol, mark in last.items() if symbol not in fair} | {
            symbol: (mark_price(event.price), datetime_from_ms(event.timestamp))
            for symbol, event in fair.items()
            if event.state != PriceState.DISPUTED and (symbol in last or event.is_confirmed)
        }

    async def of_assets(self, currency: str) -> dict[str, int]:
        """The fair price of each asset in `currency`, at 18 places."""
        known: dict[str, FairPrice] = {}
        for event in await self._market_data.fair_prices():
            try:
                known[event.symbol] = fair_price_of(event)
            except (MoneyError, ValueError):
                # It is no price. Its market is as one that never had one.
                continue
        return {asset: price.price for asset, price in asset_prices(currency, known).items()}

    async def daily_closes(self, symbol: str, until: datetime) -> dict[date, Decimal]:
        """The closes of the last CLOSES_DAYS whole UTC days before `until`, without days on which nothing traded."""
        end = begin_of(Interval.D1, until)
        candles = await self._candles(symbol, Interval.D1, end - timedelta(days=CLOSES_DAYS), end)
        return {datetime_from_ms(candle.timestamp).date(): parse_decimal(candle.close) for candle in candles}

    async def price_at(self, symbol: str, time: datetime) -> int | None:
        """The close of the shortest candle that holds `time` (a minute, an hour, a day), at 18 places."""
        for interval in (Interval.M1, Interval.H1, Interval.D1):
            begin = begin_of(interval, time)
            candles = await self._candles(symbol, interval, begin, begin + interval.length)
            if candles:
                return mark_price(candles[0].close)
        return None

    async def _candles(self, symbol: str, interval: Interval, since: datetime, until: datetime) -> list[Candle]:
        request = GetCandles(symbol, interval.value, milliseconds_of(since), milliseconds_of(until))
        try:
            return await self._market_data.candles(request)
        except UnknownMarketError:
            return []


def closes_in(
    currency: str, symbols: list[str], closes: Mapping[str, Mapping[date, Decimal]]
) -> dict[str, dict[date, Decimal]]:
    """The daily closes of each symbol, in `currency`.

    If a symbol's quote asset is not `currency`, the market of the two converts its closes. A day counts only if both
    markets traded on it. A symbol without such a market has no entry.
    """
    found: dict[str, dict[date, Decimal]] = {}
    for symbol in symbols:
        quote = symbol.split("-")[1]
        own = closes.get(symbol, {})
        if quote == currency:
            found[symbol] = dict(own)
        elif (rates := closes.get(f"{quote}-{currency}")) is not None:
            found[symbol] = {day: close * rates[day] for day, close in own.items() if day in rates}
    return found
