"""Answers requests for market data. Only the leader serves them."""

from openspot.contracts import subjects
from openspot.contracts.messages import (
    GetAggregateTrades,
    GetAggregateTradesReply,
    GetBook,
    GetBookReply,
    GetCandles,
    GetCandlesReply,
    GetFairPrices,
    GetFairPricesReply,
    GetMarketTrades,
    GetMarketTradesReply,
    GetTickers,
    GetTickersReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.candles import Interval
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, datetime_from_ms
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.lease import LeaseLostError
from openspot.market_data.leader_session import LeaderSession, StaleError
from openspot.market_data.store import MarketDataStore

LIST_MAX = 1000
_NOT_FOUND = "no such market"


class RequestHandlers:
    """The handlers of the requests of one leader session."""

    def __init__(self, session: LeaderSession, store: MarketDataStore, clock: Clock) -> None:
        self._session = session
        self._store = store
        self._aggregates = store.aggregates
        self._clock = clock

    async def serve(self, bus: Bus) -> None:
        """Serve all requests on `bus`."""
        queue = subjects.MARKET_DATA_QUEUE
        await bus.serve(subjects.MARKETDATA_BOOKS_GET, queue, GetBook, self.book, GetBookReply.refused)
        await bus.serve(subjects.MARKETDATA_TICKERS_GET, queue, GetTickers, self.tickers, GetTickersReply.refused)
        await bus.serve(
            subjects.MARKETDATA_TRADES_GET, queue, GetMarketTrades, self.trades, GetMarketTradesReply.refused
        )
        await bus.serve(subjects.MARKETDATA_CANDLES_GET, queue, GetCandles, self.candles, GetCandlesReply.refused)
        await bus.serve(
            subjects.MARKETDATA_AGGREGATES_GET,
            queue,
            GetAggregateTrades,
            self.aggregate_trades,
            GetAggregateTradesReply.refused,
        )
        await bus.serve(
            subjects.MARKETDATA_FAIR_PRICES_GET, queue, GetFairPrices, self.fair_prices, GetFairPricesReply.refused
        )

    async def book(self, request: GetBook) -> GetBookReply:
        """The present book, or the snapshot that the updates continue."""
        stale = self._stale()
        if stale is not None:
            return GetBookReply.refused(stale)
        market = self._session.markets.get(request.symbol)
        if market is None:
            return GetBookReply.refused(Refusal(RefusalCode.NOT_FOUND, _NOT_FOUND))
        depth = request.depth
        if depth is not None and not 1 <= depth <= LIST_MAX:
            reason = f"depth must be from 1 to {LIST_MAX}"
            return GetBookReply.refused(Refusal(RefusalCode.VALIDATION, reason))
        book = market.book.published() if depth is None else market.book.current(depth)
        if book is None:
            return GetBookReply.refused(Refusal(RefusalCode.UNAVAILABLE, "the book is not published yet"))
        return GetBookReply(book)

    async def tickers(self, request: GetTickers) -> GetTickersReply:
        """The tickers of all markets, or of one."""
        stale = self._stale()
        if stale is not None:
            return GetTickersReply.refused(stale)
        now_ms = self._clock() // NANOSECONDS_PER_MS
        if request.symbol is None:
            return GetTickersReply([market.ticker(now_ms) for market in self._session.markets.all()])
        market = self._session.markets.get(request.symbol)
        if market is None:
            return GetTickersReply.refused(Refusal(RefusalCode.NOT_FOUND, _NOT_FOUND))
        return GetTickersReply([market.ticker(now_ms)])

    async def fair_prices(self, _request: GetFairPrices) -> GetFairPricesReply:
        """The fair prices of all markets that have one."""
        stale = self._stale()
        if stale is not None:
            return GetFairPricesReply.refused(stale)
        return GetFairPricesReply(self._session.fair_prices.board.events())

    async def trades(self, request: GetMarketTrades) -> GetMarketTradesReply:
        """Recorded trades of a market, newest first."""
        if not 1 <= request.limit <= LIST_MAX:
            reason = f"limit must be from 1 to {LIST_MAX}"
            return GetMarketTradesReply.refused(Refusal(RefusalCode.VALIDATION, reason))
        try:
            trades = await self._store.recent_trades(request.symbol, request.limit, request.before)
        except TRANSIENT_ERRORS as error:
            return GetMarketTradesReply.refused(_database_away(error))
        return GetMarketTradesReply(trades)

    async def aggregate_trades(self, request: GetAggregateTrades) -> GetAggregateTradesReply:
        """Aggregate trades of a market, newest first, or from one trade on."""
        if not 1 <= request.limit <= LIST_MAX:
            reason = f"limit must be from 1 to {LIST_MAX}"
            return GetAggregateTradesReply.refused(Refusal(RefusalCode.VALIDATION, reason))
        try:
            found = await self._aggregates.page(request)
        except (ValueError, OverflowError) as error:
            return GetAggregateTradesReply.refused(Refusal(RefusalCode.VALIDATION, str(error)))
        except TRANSIENT_ERRORS as error:
            return GetAggregateTradesReply.refused(_database_away(error))
        if found is None:
            return GetAggregateTradesReply.refused(Refusal(RefusalCode.NOT_FOUND, "no such trade"))
        return GetAggregateTradesReply(found.aggregates, found.more_remain)

    async def candles(self, request: GetCandles) -> GetCandlesReply:
        """Recorded candles of a market, oldest first."""
        try:
            interval = Interval(request.interval)
            since, until = datetime_from_ms(request.since), datetime_from_ms(request.until)
        except (ValueError, OverflowError) as error:
            return GetCandlesReply.refused(Refusal(RefusalCode.VALIDATION, str(error)))
        if until - since > LIST_MAX * interval.length:
            reason = f"since and until must not be more than {LIST_MAX} intervals apart"
            return GetCandlesReply.refused(Refusal(RefusalCode.VALIDATION, reason))
        try:
            return GetCandlesReply(await self._store.candles(request.symbol, interval, since, until))
        except TRANSIENT_ERRORS as error:
            return GetCandlesReply.refused(_database_away(error))

    def _stale(self) -> Refusal | None:
        """Why books and tickers cannot be served now; None if they can."""
        try:
            self._session.check_current()
        except (StaleError, LeaseLostError) as error:
            return Refusal(RefusalCode.UNAVAILABLE, f"market data is not current: {error}")
        return None


def _database_away(error: BaseException) -> Refusal:
    return Refusal(RefusalCode.UNAVAILABLE, f"the database does not answer: {type(error).__name__}")
