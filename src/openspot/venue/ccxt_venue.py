"""The library ccxt's exchange of a venue, changed where a republisher needs more than other users of the library.

- It hands on every tick. The library returns only the newest quote, so the adapter takes ticks where it stores them.
- It loses no digit. Numbers stay texts (`number = str`). A number that the venue sends without quotes becomes a float
  that remembers its text.
- It survives a frame that cannot be read, and reports it. In the library's own receiving loop an exception ends the
  loop, and the connection stays open and silent.
- It reports the end of a connection at once, not only to callers that await a tick.
"""

import asyncio
import contextlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from openspot.venue.ticks import Tick

KEEP_ALIVE_MS = 15_000
"""Longest time between two pings to the venue. Two pings without a pong end the connection."""
GOODBYE_TIMEOUT_S = 1.0
FRAMES_IN_A_ROW_MAX = 64
"""After this many frames in a row, other tasks get their turn."""


class VenueSettingError(ValueError):
    """A setting cannot be used, or the library is missing; the message says what to do."""


class VenueExchange(Protocol):
    """The part of the library's exchange object that the adapter uses. It calls the `watch_*` methods by name."""

    has: Mapping[str, Any]
    markets: Mapping[str, Any]
    currencies: Mapping[str, Any]

    async def load_markets(self) -> Mapping[str, Any]: ...

    def set_markets(self, markets: Any, currencies: Any) -> Any: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class TickSink:
    """Callbacks for a venue's ticks and faults. `ended` gets the reason for the end of a connection."""

    quote: Callable[[Tick], None]
    trade: Callable[[Tick], None]
    unreadable: Callable[[str | bytes, Exception], None]
    ended: Callable[[str], None]


class WrittenNumber(float):
    """A float that keeps the text it was read from."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> "WrittenNumber":
        """Parse `text`, and keep it."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


decode_frame = msgspec.json.Decoder(float_hook=WrittenNumber).decode


class TickCache(dict[str, Any]):
    """Replaces the library's store of the newest ticks by symbol. Hands on and counts each tick that is stored.

    Its values are the newest quote of a symbol, or the list to which the library appends a symbol's trades.
    """

    def __init__(self, sink: Callable[[Tick], None]) -> None:
        super().__init__()
        self._sink = sink
        self.stored = 0

    def __setitem__(self, symbol: str, stored: Any) -> None:
        if not isinstance(stored, list):
            self._hand_on(stored)
        elif self.get(symbol) is not stored:
            # For some venues the library appends the first trade before it stores the list, for others after.
            for trade in stored:
                self._hand_on(trade)
            append = stored.append

            def append_and_hand_on(trade: Any) -> None:
                append(trade)
                self._hand_on(trade)

            stored.append = append_and_hand_on  # type: ignore[method-assign]
        super().__setitem__(symbol, stored)

    def _hand_on(self, tick: Tick) -> None:
        self.stored += 1
        self._sink(tick)


def load_exchange_class(venue: str) -> type[Any]:
    """The library's class for a venue, with the changes of this module. Importing the library takes seconds.

    Raises VenueSettingError if the library is not installed or does not have the venue.
    """
    try:
        library = importlib.import_module("ccxt.pro")
        client_class = importlib.import_module("ccxt.async_support.base.ws.client").Client
        network_error: type[Exception] = importlib.import_module("ccxt.base.errors").NetworkError
    except ImportError as error:
        raise VenueSettingError(
            f"the venue adapter needs the package ccxt: run `make venue`, or install openspot[venue] ({error})"
        ) from error
    if venue not in library.exchanges:
        raise VenueSettingError(f"OPENSPOT_VENUE: ccxt has no venue {venue!r} with WebSocket streams")

    class AdapterClient(client_class):  # type: ignore[misc, valid-type]
        """The library's WebSocket connection, with another receiving loop."""

        def receive_loop(self) -> None:
            self.receiving = asyncio.ensure_future(self._receive())

        async def _receive(self) -> None:
            frames = 0
            try:
                while not self.closed():
                    self.handle_message(await self.connection.receive())
                    frames += 1
                    if frames % FRAMES_IN_A_ROW_MAX == 0:
                        await asyncio.sleep(0)
            except Exception as error:
                self.on_error(network_error(repr(error)))
            else:
                self.on_close(1006)

        async def aiohttp_close(self) -> None:
            if self.ping_looper:
                self.ping_looper.cancel()
            if not self.closed():
                # A silent venue would not answer the close frame; the timeout then cuts the connection.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GOODBYE_TIMEOUT_S):
                        await self.connection.close()

        def handle_text_or_binary_message(self, data: str | bytes) -> None:
            try:
                text = data.decode() if isinstance(data, bytes) and self.decompressBinary else data
                is_json = isinstance(text, str) and text[:1] in ("{", "[")
                self.on_message_callback(self, decode_frame(text) if is_json else text)
            except Exception as error:
                self.on_unreadable(data, error)

    class AdapterExchange(getattr(library, venue)):  # type: ignore[misc]
        """The library's exchange, which hands ticks and the ends of connections to `sink`."""

        def __init__(self, config: dict[str, Any], sink: TickSink) -> None:
            super().__init__(config)
            self._sink = sink
            self.bidsasks = TickCache(sink.quote)
            self.tickers = TickCache(sink.quote)
            self.trades = TickCache(sink.trade)

        def client(self, url: str) -> Any:
            client = super().client(url)
            if not isinstance(client, AdapterClient):
                # The library makes the client, and its class cannot be chosen.
                client.__class__ = AdapterClient
                client.on_unreadable = self._sink.unreadable
            return client

        def on_error(self, client: Any, error: Any) -> None:
            super().on_error(client, error)
            self._sink.ended(f"{type(error).__name__}: {error}")

        def on_close(self, client: Any, code: Any) -> None:
            super().on_close(client, code)
            self._sink.ended(f"connection closed with code {code}")

    return AdapterExchange


def parse_config(text: str) -> dict[str, Any]:
    """The library's configuration from the text of a JSON object. Raises VenueSettingError for any other text."""
    try:
        config = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise VenueSettingError(f"OPENSPOT_VENUE_CONFIG is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise VenueSettingError("OPENSPOT_VENUE_CONFIG must be a JSON object")
    return config


def open_exchange(exchange_class: type[Any], config: Mapping[str, Any], sink: TickSink) -> VenueExchange:
    """A new exchange object for spot markets, not yet connected. `config` takes precedence over our defaults."""
    options = {"defaultType": "spot", **config.get("options", {})}
    has = {"fetchCurrencies": False, **config.get("has", {})}
    exchange = exchange_class({"enableRateLimit": True, **config, "options": options, "has": has, "number": str}, sink)
    markets_option = exchange.options.get("fetchMarkets")
    if isinstance(markets_option, dict) and "types" in markets_option and "fetchMarkets" not in options:
        markets_option["types"] = ["spot"]
    exchange.streaming["keepAlive"] = min(exchange.streaming.get("keepAlive") or KEEP_ALIVE_MS, KEEP_ALIVE_MS)
    opened: VenueExchange = exchange
    return opened
