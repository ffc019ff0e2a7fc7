"""The edge on the bus: raw events (facts A6.2-04 and A6.3-05 to A6.3-13), a report of every gap, and requests.

Core subscriptions lose events while the connection is down, and drop events if the edge falls behind. The feed calls
`on_gap` for both: a client must never miss an event without noticing. No payload is decoded twice.

All per-user order events come through one subscription, because the bus keeps the order of events only within a
subscription, and an order's `filled` must not overtake its `created`.
"""

import asyncio
from collections.abc import Callable

from openspot.contracts import subjects
from openspot.contracts.messages import Candle, GetCandles, OrderBookEvent, TickerEvent
from openspot.http.api_keys.changes import KeyChanges
from openspot.http.api_keys.store import Ended
from openspot.kit.bus import Bus, BusUnavailableError, Entry, KeyValueBucket, KeyValueError
from openspot.kit.tasks import end_tasks
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.market_data_client.requests import MarketDataClient
from openspot.ws_edge.channels import MARKET_SUBJECTS
from openspot.ws_edge.hub import Hub
from openspot.ws_edge.metrics import BUS_GAPS
from openspot.ws_edge.settings import WsEdgeSettings


class Feed:
    """A connection to the bus that passes events to the hub. It calls `on_gap` when events may have been missed."""

    def __init__(
        self,
        settings: WsEdgeSettings,
        hub: Hub,
        on_gap: Callable[[str], None],
        on_key_change: Callable[[Ended], None],
    ) -> None:
        self._settings = settings
        self._hub = hub
        self._on_gap = on_gap
        self._on_key_change = on_key_change
        self._key_changes: KeyChanges | None = None
        self._bus: Bus | None = None
        self._ended_sessions: KeyValueBucket[bytes] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._ready = False

    async def start(self) -> None:
        """Connect and subscribe. Waits for the bus without a limit, so wrap it in a timeout if you need one."""
        bus = self._bus = await Bus.connect(self._settings, "ws-edge", self._note_gap)
        self._ended_sessions = bus.key_value(
            subjects.SESSIONS_REVOKED_BUCKET, bytes, self._settings.ended_session_life_s
        )
        for subject in MARKET_SUBJECTS:
            await bus.listen(f"{subject}.*", self._hub.market_event)
        await bus.listen("orders.*.>", self._hub.order_event)
        await bus.listen(subjects.ORDERS_CREATED, self._hub.order_event)
        await bus.listen(f"{subjects.BALANCES_UPDATED}.*", self._hub.balance_event)
        await bus.listen(f"{subjects.NOTIFICATIONS_USER}.*", self._hub.notification_event)
        # The server handles the messages of a connection in order: when it replies, it has the subscriptions.
        await bus.check()
        self._key_changes = KeyChanges(bus, self._on_key_change)
        self._key_changes.start()
        self._watching = asyncio.create_task(self._ended_sessions.watch(self._note_ended_session))
        self._ready = True

    async def session_has_ended(self, session_id: str) -> bool:
        """Whether a session has ended while its access tokens are still unexpired. Raises BusUnavailableError."""
        if self._ended_sessions is None:
            raise BusUnavailableError("not connected")
        try:
            return await self._ended_sessions.get(session_id) is not None
        except KeyValueError as error:
            raise BusUnavailableError(f"ended sessions cannot be looked up: {error}") from error

    async def book(self, symbol: str) -> OrderBookEvent:
        """The snapshot that a book's updates continue. Raises MarketDataUnavailableError, UnknownMarketError."""
        return await self._market_data.book(symbol)

    async def candles(self, request: GetCandles) -> list[Candle]:
        """The candles that market data has counted. Raises MarketDataUnavailableError, UnknownMarketError."""
        return await self._market_data.candles(request)

    async def ticker(self, symbol: str) -> TickerEvent:
        """The ticker of a market. Raises MarketDataUnavailableError, UnknownMarketError."""
        return await self._market_data.ticker(symbol)

    @property
    def _market_data(self) -> MarketDataClient:
        if self._bus is None:
            raise MarketDataUnavailableError("the bus is not connected")
        return MarketDataClient(self._bus)

    def _note_ended_session(self, entry: Entry[bytes]) -> None:
        if entry.value is not None:
            self._hub.session_ended(entry.key)

    def _note_gap(self, reason: str) -> None:
        if self._ready:
            BUS_GAPS.inc()
            self._on_gap(reason)

    @property
    def is_listening(self) -> bool:
        """Whether the feed receives every event now."""
        return self._ready and self._bus is not None and self._bus.is_connected

    async def check(self) -> None:
        """Raise BusUnavailableError unless the bus responds within a second."""
        if self._bus is None or not self.is_listening:
            raise BusUnavailableError("not connected")
        await self._bus.check()

    async def close(self) -> None:
        """Stop listening."""
        self._ready = False
        if self._watching is not None:
            await end_tasks(self._watching)
        if self._key_changes is not None:
            await self._key_changes.stop()
        if self._bus is not None:
            await self._bus.close()
