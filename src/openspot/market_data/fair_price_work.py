"""The fair prices of a leader session: reads the past, follows the venue, makes prices each second, keeps them.

Everything that needs the database may fail for a while: prices are made and published meanwhile.
"""

import asyncio
from collections.abc import Mapping

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.engine_events import TradeEvent
from openspot.contracts.messages import FairPriceEvent, VenueBookTicker
from openspot.domain.fair_price.model import PriceState
from openspot.domain.fair_price.reference import reference_prices
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE, MoneyError
from openspot.engine_client.position import StreamPosition
from openspot.kit.backoff import Backoff
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.market_data.fair_price_board import FairPriceBoard
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.markets import Markets
from openspot.market_data.metrics import FAIR_PRICE_MOVE_COST, FAIR_PRICE_STATE
from openspot.market_data.settings import MarketDataSettings

log = get_logger("market-data")

TICK_S = 1.0
OPERATOR_S = 2.0
"""Operators' prices and owner links are read this often."""
RECORD_S = 5.0
"""Prices are kept this often. So a new leader continues with prices that are at most this old."""
ROWS_WAIT_S_MAX = 10.0
"""The session waits this long for the router's rows to reach the position from which on it follows the engine."""
PAUSE_S, PAUSE_S_MAX = 0.1, 2.0
_DATABASE_ERRORS = (*TRANSIENT_ERRORS, asyncpg.PostgresError)


class FairPriceWork:
    """The fair prices under one leader's token."""

    def __init__(self, settings: MarketDataSettings, store: FairPriceStore, token: int, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._token = token
        self._clock = clock
        self._fees = {seed.symbol: max(0, seed.taker_fee_bps + seed.maker_fee_bps) for seed in load_markets().seeds}
        self.board = FairPriceBoard(
            settings.fair_price_rules, reference_prices(settings.custody_reference_prices), self._fees
        )
        self._reading: asyncio.Task[None] | None = None

    async def follow_venue(self, bus: Bus) -> None:
        """Follow the quotes of the venue adapter, if there is one, as long as `bus` is connected."""
        await bus.subscribe(f"venue.*.{subjects.VENUE_BOOK_TICKER}.*", VenueBookTicker, self._take_quote)

    def take(self, event: TradeEvent) -> None:
        """Count a trade."""
        self.board.take(event)

    def set_fees(self, both_sides_bps: Mapping[str, int]) -> None:
        """Take what a trade costs both sides, in basis points by symbol."""
        self._fees.update({symbol: max(0, fee) for symbol, fee in both_sides_bps.items()})

    async def load(self, position: StreamPosition, symbols: list[str]) -> None:
        """Begin with what is kept. The trades up to `position` are read meanwhile; later ones come by `take`.

        Waits until the database answers.
        """
        await self.cancel()
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            try:
                self.board.begin(await self._store.remembered(), await self._store.samples())
                self.board.set_by_operator(await self._store.operator_prices(), await self._store.owners())
            except _DATABASE_ERRORS as error:
                log.warning("fair prices not read yet", error=repr(error))
                await asyncio.sleep(backoff.failed())
            else:
                break
        self._reading = asyncio.create_task(self._read_past(position, symbols))

    async def cancel(self) -> None:
        """Stop to read the past."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None

    def tick(self, markets: Markets, *, is_current: bool) -> list[FairPriceEvent]:
        """The prices of this second. If this process is behind the engine, they are stale."""
        if self._reading is not None and self._reading.done():
            # Raises what ended it, or the prices would wait for it without a word.
            self._reading.result()
        if not is_current:
            return self.board.stale_events()
        events = self.board.tick(self._now_ms(), markets)
        for symbol, price in self.board.prices.items():
            for state in PriceState:
                FAIR_PRICE_STATE.labels(symbol, state.value).set(price.state is state)
            cost = self.board.move_cost(symbol)
            FAIR_PRICE_MOVE_COST.labels(symbol).set(float("inf") if cost is None else cost / AMOUNT_SCALE)
        return events

    async def read_operator(self) -> None:
        """Read operators' prices and owner links."""
        try:
            self.board.set_by_operator(await self._store.operator_prices(), await self._store.owners())
        except _DATABASE_ERRORS as error:
            log.warning("operators' prices not read", error=repr(error))

    async def record(self) -> None:
        """Keep prices and samples. Raises FencedError."""
        samples = self.board.take_samples()
        try:
            await self._store.record(self._token, self.board.records(), samples)
        except _DATABASE_ERRORS as error:
            self.board.put_samples_back(samples)
            log.warning("fair prices not kept yet", error=repr(error))

    async def _read_past(self, position: StreamPosition, symbols: list[str]) -> None:
        """Read the trades of the window from the router's rows."""
        rules = self._settings.fair_price_rules
        since_ms = self._now_ms() - rules.window_ms - rules.part_ms
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        give_up_at = asyncio.get_running_loop().time() + ROWS_WAIT_S_MAX
        known: set[str] = set()
        while len(known) < len(symbols):
            try:
                if not await self._store.rows_have_reached(position):
                    if asyncio.get_running_loop().time() < give_up_at:
                        await asyncio.sleep(PAUSE_S)
                        continue
                    log.warning("trade rows lag: the fair prices lack the newest trades before", position=position)
                for symbol in symbols:
                    if symbol not in known:
                        trades = await self._store.past_trades(symbol, since_ms, rules.part_ms, position)
                        self.board.take_past(trades)
                        known.add(symbol)
            except _DATABASE_ERRORS as error:
                log.warning("past trades not read yet", error=repr(error))
                await asyncio.sleep(backoff.failed())
        self.board.is_complete = True

    async def _take_quote(self, subject: str, quote: VenueBookTicker) -> None:
        try:
            self.board.quote(self._now_ms(), quote.symbol, quote.bid_price, quote.ask_price)
        except MoneyError as error:
            log.warning("a quote of the venue cannot be used", subject=subject, error=str(error))

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS
