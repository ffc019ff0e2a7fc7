"""The tickers that clients follow. A client gets the last one first, then each one that market data publishes.

The edge takes the last ticker of a followed market from these messages, or else requests it once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from openspot.contracts.messages import TickerEvent
from openspot.kit.backoff import Backoff
from openspot.kit.bus import MalformedEventError
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError, UnknownMarketError
from openspot.ws_edge.channels import Channel
from openspot.ws_edge.connection import text_frame
from openspot.ws_edge.schemas import MarketPush, market_head, read_event

PAUSE_S, PAUSE_S_MAX = 0.1, 2.0

log = get_logger("ws_edge")
_encode = msgspec.json.Encoder().encode

RequestTicker = Callable[[str], Awaitable[TickerEvent]]
"""Requests the ticker of a symbol from market data. Raises the errors of `market_data_client`."""


class TickerFanOut(Protocol):
    """Sends to the clients of a channel, which has at least one."""

    def send_latest(self, channel: str, part: None, frame: bytes) -> None:
        """Send a message that replaces the previous one."""


class Tickers:
    """The last tickers by channel. `run` must run while they are used. `now_ms`: milliseconds since 1970."""

    def __init__(self, fan_out: TickerFanOut, now_ms: Callable[[], int]) -> None:
        self._fan_out = fan_out
        self._now_ms = now_ms
        self._followed: dict[str, Channel] = {}
        self._last: dict[str, MarketPush[msgspec.Raw]] = {}
        """The last ticker of each followed channel. `data` is the whole ticker."""
        self._wanted: asyncio.Queue[Channel] = asyncio.Queue()

    def open(self, channel: Channel) -> None:
        """A channel has its first client."""
        self._followed[channel.name] = channel
        self._wanted.put_nowait(channel)

    def close(self, channel: Channel) -> None:
        """A channel has lost its last client."""
        del self._followed[channel.name]
        self._last.pop(channel.name, None)

    def snapshot(self, channel: Channel) -> bytes | None:
        """The frame of the channel's last ticker, None if none is known."""
        last = self._last.get(channel.name)
        if last is None:
            return None
        return text_frame(_encode(msgspec.structs.replace(last, type="snapshot")))

    def take(self, channel: str, symbol: str, payload: bytes) -> None:
        """Take a message of market data. Raises MalformedEventError."""
        if channel not in self._followed:
            return
        head = read_event(market_head, payload)
        if head.symbol != symbol:
            raise MalformedEventError("the symbol is not the subject's")
        stamp = head.timestamp if head.timestamp is not None else self._now_ms()
        self._send(MarketPush(channel, head.type, head.seq, stamp, msgspec.Raw(payload)))

    def restart(self) -> None:
        """Messages may have been missed: request the followed tickers again."""
        self._last.clear()
        for channel in self._followed.values():
            self._wanted.put_nowait(channel)

    async def run(self, request: RequestTicker) -> None:
        """Request the tickers that are missing, until cancelled."""
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        while True:
            channel = await self._wanted.get()
            if not self._is_wanted(channel):
                continue
            try:
                ticker = await request(channel.symbol)
            except UnknownMarketError:
                backoff.succeeded()
                continue
            except MarketDataUnavailableError as error:
                log.warning("no ticker now", channel=channel.name, reason=str(error))
                await asyncio.sleep(backoff.failed())
                self._wanted.put_nowait(channel)
                continue
            backoff.succeeded()
            # A ticker that was published meanwhile is newer.
            if self._is_wanted(channel):
                data = msgspec.Raw(_encode(ticker))
                self._send(MarketPush(channel.name, "snapshot", ticker.seq, ticker.timestamp, data))

    def _is_wanted(self, channel: Channel) -> bool:
        return channel.name not in self._last and self._followed.get(channel.name) is channel

    def _send(self, push: MarketPush[msgspec.Raw]) -> None:
        self._last[push.channel] = push
        self._fan_out.send_latest(push.channel, None, text_frame(_encode(push)))
