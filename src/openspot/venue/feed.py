"""Keeps a session with the venue, and starts a new one when it breaks or falls silent.

A session subscribes to all markets that both sides have. When one of its connections ends, the whole session ends, and
the next one starts after a pause. The pause grows with each failure up to a bound.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn

from openspot.kit.backoff import Backoff
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.venue.ccxt_venue import TickCache, TickSink, VenueExchange
from openspot.venue.freshness import Freshness
from openspot.venue.intake import Intake
from openspot.venue.metrics import RECONNECTS, SESSIONS
from openspot.venue.sources import QUOTE_SOURCES, TRADE_SOURCES, TickSource, choose, quotes_in
from openspot.venue.symbols import SymbolMap

log = get_logger("venue")

FIRST_PAUSE_S = 0.5
STEADY_S = 60.0
"""A session that lasted this long and had ticks counts as a success: the pause after it is short again."""
CLOSE_TIMEOUT_S = 5.0
MARKETS_AGE_S_MAX = 3600.0
"""If the venue's list of markets is older than this, the next session fetches it again."""
OpenExchange = Callable[[TickSink], VenueExchange]
Sleep = Callable[[float], Awaitable[None]]


class SessionEndedError(Exception):
    """A session is over. `cause` is the label of the metric: closed, silent or failed."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class VenueFeed:
    """Follows the venue, session after session. `longest_pause_s` is the longest pause between two sessions."""

    def __init__(
        self,
        symbols: SymbolMap,
        intake: Intake,
        freshness: Freshness,
        open_exchange: OpenExchange,
        *,
        longest_pause_s: float,
        chance: Callable[[], float] = random.random,
        sleep: Sleep = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._symbols = symbols
        self._intake = intake
        self._freshness = freshness
        self._open_exchange = open_exchange
        self._backoff = Backoff(FIRST_PAUSE_S, longest_pause_s, chance=chance)
        self._sleep = sleep
        self._monotonic = monotonic
        self._markets: tuple[float, Any, Any] | None = None

    async def run(self) -> None:
        """Run sessions until cancelled."""
        while True:
            began = self._monotonic()
            error = await self._session()
            lived_s = self._monotonic() - began
            had_ticks = self._freshness.silence_s(self._monotonic(), began) < lived_s
            if had_ticks and lived_s >= STEADY_S:
                self._backoff.succeeded()
            wait_s = self._backoff.failed()
            RECONNECTS.labels(error.cause).inc()
            log.warning("session with the venue ended", reason=str(error), next_in_s=round(wait_s, 2))
            await self._sleep(wait_s)

    async def _session(self) -> SessionEndedError:
        """Run one session and return why it ended."""
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note_end(reason: str) -> None:
            if not ended.done():
                ended.set_result(reason)

        intake = self._intake
        sink = TickSink(intake.take_quote, intake.take_trade, intake.note_unreadable, note_end)
        exchange: VenueExchange | None = None
        try:
            exchange = self._open_exchange(sink)
            symbols = await self._listed_symbols(exchange)
            intake.begin_session()
            SESSIONS.inc()
            await self._follow(exchange, symbols, ended)
        except SessionEndedError as error:
            return error
        except Exception as error:
            # The library raises errors of any kind. Against all of them, a new session helps.
            return SessionEndedError("failed", f"{type(error).__name__}: {error}")
        finally:
            if exchange is not None:
                await _close(exchange)

    async def _listed_symbols(self, exchange: VenueExchange) -> list[str]:
        """The markets to subscribe to. Raises SessionEndedError if the venue lists none of them."""
        now = self._monotonic()
        if self._markets is not None and now - self._markets[0] < MARKETS_AGE_S_MAX:
            exchange.set_markets(*self._markets[1:])
            markets: Mapping[str, Any] = exchange.markets
        else:
            markets = await exchange.load_markets()
            self._markets = (now, list(markets.values()), exchange.currencies)
        listed = [symbol for symbol in self._symbols.venue_symbols if _is_listed(markets.get(symbol))]
        missing = sorted(set(self._symbols.venue_symbols) - set(listed))
        if not listed:
            raise SessionEndedError("failed", f"the venue lists none of {', '.join(missing)}")
        log.info("subscribing", markets=listed, not_listed=missing)
        return listed

    async def _follow(self, exchange: VenueExchange, symbols: Sequence[str], ended: asyncio.Future[str]) -> NoReturn:
        """Subscribe, and raise when the session is over: SessionEndedError, or the error of a subscription."""
        quotes, trades = choose(QUOTE_SOURCES, exchange.has), choose(TRADE_SOURCES, exchange.has)
        began = self._monotonic()
        subscriptions = {
            asyncio.ensure_future(self._subscribe(exchange, source, group, take))
            for source, take in ((quotes, self._take_quotes), (trades, self._take_trades))
            for group in ([list(symbols)] if source.takes_all else list(symbols))
        }
        try:
            pending: set[asyncio.Future[Any]] = {*subscriptions, ended}
            while True:
                left_s = self._freshness.left_s(self._monotonic(), began)
                if left_s == 0:
                    raise SessionEndedError("silent", "no tick for the set time")
                done, pending = await asyncio.wait(pending, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
                if ended in done:
                    raise SessionEndedError("closed", ended.result())
                for subscription in done:
                    if subscription.cancelled():
                        raise SessionEndedError("closed", "the library cancelled a subscription")
                    subscription.result()
        finally:
            await end_tasks(*subscriptions)

    async def _subscribe(
        self, exchange: VenueExchange, source: TickSource, symbols: Any, take: Callable[[Any], None]
    ) -> None:
        """Subscribe, and return once a tick has arrived in the library's cache, which hands on all later ones.

        If the library does not cache this venue's ticks, hand its results to `take` until cancelled. Of several quotes
        that arrive together it returns the newest only.
        """
        watch = getattr(exchange, source.method)
        cache: TickCache | None = getattr(exchange, source.cache) if source.cache else None
        while True:
            stored = cache.stored if cache is not None else 0
            result = await watch(symbols)
            if cache is not None and cache.stored > stored:
                return
            take(result)

    def _take_quotes(self, result: Any) -> None:
        for ticker in quotes_in(result):
            self._intake.take_quote(ticker)

    def _take_trades(self, result: Any) -> None:
        for trade in result:
            self._intake.take_trade(trade)


def _is_listed(market: Mapping[str, Any] | None) -> bool:
    return market is not None and market.get("active") is not False


async def _close(exchange: VenueExchange) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await exchange.close()
    except Exception as error:
        log.warning("a connection to the venue was not closed cleanly", error=repr(error))
