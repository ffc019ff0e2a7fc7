"""A leader session: one process follows the engine's events, publishes, and records, until it loses the lease.

At its start the session reads the checkpoint of the candles, follows the events after it, and reads each market's book
from the engine once, as of a sequence. From then on it applies the events to the book. If an event contradicts a book,
the session reads that book from the engine again, and publishes it as a snapshot.

Trades are published before they are recorded. So after a kill some may be published again, and none is missing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp

from openspot.contracts import subjects
from openspot.contracts.engine_events import EngineEvent, Hello, TradeEvent
from openspot.contracts.messages import AggregateTradeEvent, MarketTradeEvent, Message
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.engine_client.position import StreamPosition
from openspot.engine_client.queries import EngineQueries
from openspot.engine_client.stream import EngineStream, StreamEndedError
from openspot.kit.backoff import Backoff
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.lease import Lease
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks, first_ended
from openspot.market_data.book import BookBase
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.fair_price_work import OPERATOR_S, RECORD_S, TICK_S, FairPriceWork
from openspot.market_data.lag import Lag
from openspot.market_data.mark_prices import MarkPrices
from openspot.market_data.markets import EventOutcome, Markets, phase_of, publishable
from openspot.market_data.metrics import EVENTS, LAG, PUBLISHED, REBASED, SEQUENCE
from openspot.market_data.owner_link_sync import OwnerLinkSync
from openspot.market_data.recorder import Recorder
from openspot.market_data.settings import MarketDataSettings
from openspot.market_data.store import CandleCheckpoint, MarketDataStore
from openspot.market_data.unchanged_prices import UnchangedPrices

log = get_logger("market-data")

EVENTS_MAX = 512
"""At most this many events are applied before the trades among them are published."""
PAUSE_S, PAUSE_S_MAX = 0.1, 2.0
NEW_MARKETS_S = 5.0
"""The session asks the engine for new markets this often. A market that trades is noticed at once, by its events."""
IMPORTS_S = 1.0
"""The session looks for newly imported candles this often."""
DRAIN_S_MAX = 3.0


class EngineHistoryError(Exception):
    """The engine's events do not continue what was recorded before."""


class StaleError(Exception):
    """Market data is not current. The message says why."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The outside of a session: all that it reads from and writes to."""

    settings: MarketDataSettings
    bus: Bus
    store: MarketDataStore
    fair_price_store: FairPriceStore
    queries: EngineQueries
    commands: EngineCommands
    clock: Clock

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session of the event stream."""
        return self.queries.session


class LeaderSession:
    """The work of a leader. Other parts may serve `markets` while `check` does not raise."""

    def __init__(self, sources: Sources, lease: Lease, checkpoint: CandleCheckpoint) -> None:
        self._sources = sources
        self._settings = sources.settings
        self._lease = lease
        self._token = checkpoint.token
        self._position = checkpoint.position
        self._recorder = Recorder(sources.store, checkpoint.token, sources.settings.market_data_queue_max)
        self._fault: str | None = "the engine's events have not been reached yet"
        self._lag = Lag(sources.settings.market_data_stale_s)
        self._is_loaded = False
        self._imports = 0
        self._arrived = asyncio.Event()
        """Set when events came since the books were published last."""
        self.markets = Markets(sources.settings.market_data_depth)
        self.fair_prices = FairPriceWork(sources.settings, sources.fair_price_store, checkpoint.token, sources.clock)
        self._unchanged_prices = UnchangedPrices(asyncio.get_running_loop().time)
        self._mark_prices = MarkPrices(sources.commands, sources.queries, asyncio.get_running_loop().time)
        self._owner_links = OwnerLinkSync(sources.fair_price_store, sources.commands)

    def check(self) -> None:
        """Raise StaleError, LeaseLostError or NotRecordedError if this process does not publish current data."""
        self.check_current()
        self._recorder.check()

    def check_current(self) -> None:
        """Raise StaleError or LeaseLostError if books, tickers and trades are not current."""
        self._lease.check()
        if self._fault is not None:
            raise StaleError(self._fault)
        fault = self._lag.fault(asyncio.get_running_loop().time())
        if fault is not None:
            raise StaleError(fault)

    async def run(self) -> None:
        """Work until cancelled. Raises LeaseLostError, FencedError, or the error that ended the session."""
        work: list[Awaitable[None]] = [
            self._recorder.failure(),
            self._follow(),
            self._every(self._settings.market_data_ticker_ms / 1000, self._publish_tickers_and_candles),
            self._every(NEW_MARKETS_S, self._begin_new_markets),
            self._every(IMPORTS_S, self._take_imports),
            self._every(TICK_S, self._publish_fair_prices),
            self._every(OPERATOR_S, self.fair_prices.read_operator),
            self._every(OPERATOR_S, self._owner_links.compare),
            self._every(RECORD_S, self.fair_prices.record),
        ]
        if self._settings.has_complete_rules:
            work.append(self._every(TICK_S, self._tell_mark_prices))
        if self._settings.market_data_book_ms:
            work.append(self._publish_changed_books(self._settings.market_data_book_ms / 1000))
        tasks = [asyncio.ensure_future(task) for task in work]
        try:
            await first_ended(*tasks)
        finally:
            recording, *rest = tasks
            await end_tasks(*rest)
            await self.fair_prices.cancel()
            if self._lease.is_held and not recording.done():
                await self._drain()
            await end_tasks(recording)
            await self._recorder.cancel()

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(DRAIN_S_MAX):
                await self._recorder.drained()
                await self.fair_prices.record()
        except TimeoutError:
            log.warning("stopped before every trade was recorded: the next leader reads them again")

    # Following

    async def _follow(self) -> None:
        """Follow the event stream, through all its connections."""
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            try:
                async with EngineStream(
                    self._sources.session,
                    self._settings.engine_url,
                    self._next,
                    hello_s_max=self._settings.request_timeout_s,
                ) as stream:
                    if not await self._continues_with(stream.hello):
                        continue
                    if not self._is_loaded:
                        await self._load()
                    self._note_lag(stream)
                    self._fault = None
                    backoff.succeeded()
                    while True:
                        await stream.arrived()
                        await self._take(stream.take(EVENTS_MAX))
                        self._note_lag(stream)
            except (StreamEndedError, EngineError) as error:
                self._fault = f"the engine's events do not come: {error}"
                log.warning("event stream ended, connecting again", error=str(error), next=self._next)
                await asyncio.sleep(backoff.failed())

    @property
    def _next(self) -> int:
        return 1 if self._position is None else self._position.sequence + 1

    async def _continues_with(self, hello: Hello) -> bool:
        """Whether this connection delivers the next event. If not, the caller connects again.

        For events that the engine no longer has, the session counts the trades of the router's rows. Raises
        EngineHistoryError if the rows lack them too, or if the engine's newest event is older than the recorded ones.
        """
        position = self._position
        if position is None or position.epoch != hello.epoch:
            if position is not None:
                log.warning("the engine has a new journal", epoch=hello.epoch, last_epoch=position.epoch)
            await self._count_routers_trades(StreamPosition(hello.epoch, 0))
            # This connection began at the old position.
            return self._next == (1 if position is None else position.sequence + 1)
        if hello.last_seq < position.sequence:
            raise EngineHistoryError(
                f"the engine's newest event is {hello.last_seq}, but {position.sequence} was recorded before: "
                "its data directory is older than the platform's"
            )
        if hello.first_seq > self._next:
            log.warning("events were lost to the engine's retention", next=self._next, first=hello.first_seq)
            await self._count_routers_trades(position)
            if hello.first_seq > self._next:
                raise EngineHistoryError(
                    f"the engine's oldest event is {hello.first_seq}, and the router's rows end with {self._next - 1}"
                )
            return False
        return True

    async def _count_routers_trades(self, begin: StreamPosition) -> None:
        await self._recorder.drained()
        self._position = await self._sources.store.count_routers_trades(self._token, begin)
        self._is_loaded = False

    async def _load(self) -> None:
        """Begin all markets: their days from the candles, their books from the engine. Raises EngineError.

        Publishes the newest candles again, because the last leader may have recorded them without publishing them.
        """
        assert self._position is not None, "the position is known when the stream continues"
        await self._recorder.drained()
        now_ms = self._sources.clock() // NANOSECONDS_PER_MS
        self.markets.begin(await self._sources.store.histories(self._position.epoch, now_ms))
        await self._read_imported(await self._sources.store.imports())
        self._recorder.note_changed(await self._sources.store.newest_candles())
        for market in await self._sources.queries.markets():
            self.markets.set_base(market.symbol, await self._base_of(market.symbol))
            phase = phase_of(
                market.phase, market.phase_ends_at, market.tick_size, market.phase_reference, market.phase_cause
            )
            self.markets.set_phase(market.symbol, phase)
        await self.fair_prices.load(self._position, [market.symbol for market in self.markets.all()])
        self._is_loaded = True
        await self._publish_books()

    async def _take_imports(self) -> None:
        """Read the imported candles again if there are new ones."""
        try:
            imports = await self._sources.store.imports()
            if imports != self._imports:
                await self._read_imported(imports)
        except TRANSIENT_ERRORS as error:
            log.warning("imported candles not read", error=repr(error))

    async def _read_imported(self, imports: int) -> None:
        """Read what `imports` imports have brought; what comes meanwhile is read again."""
        now_ms = self._sources.clock() // NANOSECONDS_PER_MS
        self.markets.set_imported(await self._sources.store.imported_minutes(now_ms))
        self._imports = imports

    async def _base_of(self, symbol: str) -> BookBase:
        book = await self._sources.commands.whole_book(symbol)
        return BookBase(
            book.sequence,
            book.timestamp,
            [(level.price, level.quantity) for level in book.bids],
            [(level.price, level.quantity) for level in book.asks],
        )

    async def _take(self, events: list[EngineEvent]) -> None:
        """Apply the events, publish their trades, and queue those for recording. Raises StreamEndedError at a gap."""
        assert self._position is not None, "the position is known when events come"
        for due, event in enumerate(events, start=self._next):
            # Checked before any event is applied, so that no trade before the gap is left unpublished.
            if event.seq != due:
                raise StreamEndedError(f"event {event.seq} came where {due} was due")
        trades: list[MarketTradeEvent] = []
        aggregates: dict[str, AggregateTradeEvent] = {}
        for event in events:
            applied = self.markets.apply(event)
            self._position = StreamPosition(self._position.epoch, event.seq)
            if applied is None:
                continue
            if applied.trade is not None:
                trades.append(applied.trade)
                if applied.aggregate is not None:
                    aggregates[applied.aggregate.first_trade_id] = applied.aggregate
                if isinstance(event, TradeEvent):
                    self.fair_prices.take(event)
            if applied.contradiction is not None:
                await self._rebase(applied)
        await self._connected()
        await self._publish([(subjects.MARKETDATA_TRADE, trade.symbol, trade) for trade in trades], "trade")
        if self._settings.has_complete_rules:
            await self._publish(
                [(subjects.MARKETDATA_AGGREGATE, each.symbol, each) for each in aggregates.values()], "aggtrade"
            )
        self._arrived.set()
        if not self._settings.market_data_book_ms:
            await self._publish_books()
        EVENTS.inc(len(events))
        SEQUENCE.set(self._position.sequence)
        await self._recorder.put(trades, self._position)

    async def _rebase(self, applied: EventOutcome) -> None:
        """Read a book from the engine again. No event is applied meanwhile, so the book misses none."""
        REBASED.labels("contradiction").inc()
        log.warning("book taken from the engine again", symbol=applied.symbol, reason=applied.contradiction)
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            try:
                base = await self._base_of(applied.symbol)
            except EngineError as error:
                log.warning("book not read yet", symbol=applied.symbol, error=str(error))
                await asyncio.sleep(backoff.failed())
            else:
                self.markets.set_base(applied.symbol, base)
                await self._publish_books()
                return

    def _note_lag(self, stream: EngineStream) -> None:
        events = max(0, stream.last_received - self._next + 1)
        LAG.set(events)
        self._lag.note(events, asyncio.get_running_loop().time())

    # Publishing

    async def _connected(self) -> None:
        """Wait for the bus. Raises LeaseLostError if the lease is lost meanwhile."""
        while not self._sources.bus.is_connected:
            self._lease.check()
            await asyncio.sleep(PAUSE_S)

    async def _every(self, interval_s: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(interval_s)
            if self._is_loaded:
                await work()

    async def _publish_changed_books(self, interval_s: float) -> None:
        """Publish what has changed once in each interval. While no event comes, nobody is woken."""
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            await asyncio.sleep(interval_s - loop.time() % interval_s)
            if self._is_loaded and self._sources.bus.is_connected:
                self._arrived.clear()
                await self._publish_books()

    async def _publish_books(self) -> None:
        if not self._sources.bus.is_connected:
            # Nothing is lost: the next update covers the time without a connection.
            self._arrived.set()
            return
        self._lease.check()
        messages = publishable(self.markets.all())
        await self._publish([(subjects.MARKETDATA_ORDERBOOK, book.symbol, book) for book in messages], "orderbook")

    async def _publish_tickers_and_candles(self) -> None:
        if not self._sources.bus.is_connected:
            return
        self._lease.check()
        now_ms = self._sources.clock() // NANOSECONDS_PER_MS
        tickers = [market.changed_ticker(now_ms) for market in self.markets.all()]
        await self._publish(
            [(subjects.MARKETDATA_TICKER, ticker.symbol, ticker) for ticker in tickers if ticker is not None], "ticker"
        )
        candles = self._recorder.take_changed()
        await self._publish([(subjects.MARKETDATA_CANDLE, candle.symbol, candle) for candle in candles], "candle")

    async def _publish_fair_prices(self) -> None:
        prices = self.fair_prices.tick(self.markets, is_current=self._is_current())
        self._mark_prices.take(prices)
        if self._sources.bus.is_connected:
            due = self._unchanged_prices.due(prices)
            await self._publish([(subjects.MARKETDATA_FAIR_PRICE, price.symbol, price) for price in due], "fairprice")

    async def _tell_mark_prices(self) -> None:
        self._lease.check()
        await self._mark_prices.tell()

    def _is_current(self) -> bool:
        try:
            self.check_current()
        except StaleError:
            return False
        return True

    async def _publish(self, events: list[tuple[str, str, Message]], kind: str) -> None:
        """Publish events: (subject, symbol, message). Raises LeaseLostError."""
        self._lease.check()
        if not events:
            return
        for subject, symbol, message in events:
            await self._sources.bus.announce(subjects.of_symbol(subject, symbol), message)
        PUBLISHED.labels(kind).inc(len(events))

    async def _begin_new_markets(self) -> None:
        """Begin the markets that the engine lists and this session does not have yet."""
        try:
            listed = await self._sources.queries.markets()
            self.fair_prices.set_fees({market.symbol: market.taker_fee + market.maker_fee for market in listed})
            for market in listed:
                if self.markets.get(market.symbol) is None:
                    base = await self._base_of(market.symbol)
                    if self.markets.get(market.symbol) is None:
                        self.markets.set_base(market.symbol, base)
                        await self._publish_books()
            if self._settings.has_complete_rules:
                await self._mark_prices.renew()
        except EngineError as error:
            log.warning("new markets not read", error=str(error))
