"""The candles that clients follow. Market data counts the trades and publishes the candles.

The edge takes the newest candle of a market and interval from these messages, or else requests it once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from openspot.contracts.messages import Candle, GetCandles, MarketCandle
from openspot.domain.candles import Interval, begin_of
from openspot.kit.backoff import Backoff
from openspot.kit.bus import MalformedEventError
from openspot.kit.clock import datetime_from_ms, ms_from_datetime
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError
from openspot.ws_edge.channels import Channel, Kind
from openspot.ws_edge.connection import text_frame
from openspot.ws_edge.schemas import MarketPush, read_event

PAUSE_S, PAUSE_S_MAX = 0.1, 2.0
KEPT = 2
"""The candle of the present interval, and the one before, which a late message may still be about."""

log = get_logger("ws_edge")
_INTERVALS = frozenset(Interval)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(MarketCandle).decode
"""Reads a CandleEvent without its `seq`, which clients do not get."""

RequestCandles = Callable[[GetCandles], Awaitable[list[Candle]]]
"""Requests candles from market data. Raises the errors of `market_data_client`."""


class CandleFanOut(Protocol):
    """Sends to the clients of a channel, which has at least one."""

    def send_latest(self, channel: str, part: int, frame: bytes) -> None:
        """Send a message that replaces the previous one of the same part of the channel."""

    def send_snapshots(self, channel: str) -> None:
        """Send each client of the channel a fresh snapshot."""


class Candles:
    """The newest candles by channel. `run` must run while they are used. `now_ms`: milliseconds since 1970."""

    def __init__(self, fan_out: CandleFanOut, now_ms: Callable[[], int]) -> None:
        self._fan_out = fan_out
        self._now_ms = now_ms
        self._followed: dict[str, Channel] = {}
        self._newest: dict[str, list[MarketCandle]] = {}
        """The newest candles, at most KEPT a channel, newest first: published, or requested for followed channels."""
        self._published: set[str] = set()
        self._wanted: asyncio.Queue[Channel] = asyncio.Queue()

    def open(self, channel: Channel) -> None:
        """A channel has its first client."""
        self._followed[channel.name] = channel
        if channel.name not in self._newest:
            self._wanted.put_nowait(channel)

    def close(self, channel: Channel) -> None:
        """A channel has lost its last client."""
        del self._followed[channel.name]
        if channel.name not in self._published:
            self._newest.pop(channel.name, None)

    def snapshot(self, channel: Channel) -> bytes | None:
        """The frame of the channel's newest candle, None if none is known."""
        newest = self._newest.get(channel.name)
        return None if newest is None else _frame_of(channel, "snapshot", newest[0])

    def take(self, symbol: str, payload: bytes) -> None:
        """Take a message of market data. Raises MalformedEventError."""
        candle = read_event(_decode, payload)
        if candle.interval not in _INTERVALS:
            raise MalformedEventError("the interval is not known")
        if candle.symbol != symbol:
            raise MalformedEventError("the symbol is not the subject's")
        name = f"{Kind.CANDLES}:{symbol}:{candle.interval}"
        self._published.add(name)
        self._note(name, candle)

    def restart(self) -> None:
        """Messages may have been missed: request the followed candles again."""
        self._newest.clear()
        self._published.clear()
        for channel in self._followed.values():
            self._wanted.put_nowait(channel)

    async def run(self, request: RequestCandles) -> None:
        """Request the newest candles that are missing, until cancelled."""
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            channel = await self._wanted.get()
            if channel.name in self._newest or self._followed.get(channel.name) is not channel:
                continue
            try:
                candles = await request(self._question(channel))
            except (MarketDataUnavailableError, UnknownMarketError) as error:
                log.warning("no candles now", channel=channel.name, reason=str(error) or "market data has none")
                await asyncio.sleep(backoff.failed())
                self._wanted.put_nowait(channel)
                continue
            backoff.succeeded()
            if channel.name in self._followed:
                for candle in candles:
                    self._note(channel.name, _candle_of(channel, candle))

    def _question(self, channel: Channel) -> GetCandles:
        """The request for the candles of the present interval and of the one before."""
        interval = channel.interval
        assert interval is not None, "a channel of candles has an interval"
        begin = begin_of(interval, datetime_from_ms(self._now_ms()))
        since, until = begin - interval.length, begin + interval.length
        return GetCandles(channel.symbol, interval.value, ms_from_datetime(since), ms_from_datetime(until))

    def _note(self, name: str, candle: MarketCandle) -> None:
        """Send a candle to its clients, unless theirs has as many trades or more."""
        known = self._newest.get(name, [])
        same = next((each for each in known if each.timestamp == candle.timestamp), None)
        if same is not None and candle.trades <= same.trades:
            return
        others = [each for each in known if each is not same]
        self._newest[name] = sorted([candle, *others], key=lambda each: each.timestamp, reverse=True)[:KEPT]
        channel = self._followed.get(name)
        if channel is None:
            return
        if not known:
            # Every client still waits for its snapshot.
            self._fan_out.send_snapshots(name)
        else:
            self._fan_out.send_latest(name, candle.timestamp, _frame_of(channel, "update", candle))


def _candle_of(channel: Channel, candle: Candle) -> MarketCandle:
    return MarketCandle(**msgspec.structs.asdict(candle), symbol=channel.symbol, interval=str(channel.interval))


def _frame_of(channel: Channel, kind: str, candle: MarketCandle) -> bytes:
    return text_frame(_encode(MarketPush(channel.name, kind, candle.trades, candle.timestamp, candle)))
