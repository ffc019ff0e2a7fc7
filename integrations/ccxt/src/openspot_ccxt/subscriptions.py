"""One WebSocket connection: how it is authenticated, what it subscribes to, and what is refused on it."""

import asyncio
from typing import Any

from ccxt.async_support.base.ws.future import Future
from ccxt.base.errors import ArgumentsRequired, AuthenticationError, ExchangeError, UnsubscribeError

from openspot_ccxt.rest_async import OpenSpot as OpenSpotRest

AUTHENTICATE, UNSUBSCRIBE = "authenticate", "unsubscribe"
BEST = "depth=1"
"""The view of a book by which bids and asks are watched."""
PRIVATE = ("orders", "balances", "notifications")
"""The channels that come with a credential, without a subscription."""
TURNS_OF_A_WATCHER = 20
"""So many turns of the event loop are enough for a watcher to take a message and to wait for the next one."""


class Subscriptions(OpenSpotRest):
    """The part of the WebSocket class that knows of channels, but of no kind of data."""

    def ping(self, client: Any) -> dict[str, Any]:
        """What keeps the connection open: only messages count, not the protocol's pongs."""
        return {"action": "ping"}

    # Subscriptions

    async def follow(self, channel: str) -> Any:
        """The next message of a channel, which is subscribed to first if need be."""
        return await self.follow_first([channel])

    async def follow_first(self, channels: list[str]) -> Any:
        """The next message of any of these channels."""
        url = self.urls["api"]["ws"]
        # The id comes back with a refusal, and tells whose it is.
        messages = [{"action": "subscribe", "channel": channel, "id": channel} for channel in channels]
        return await self.first_of([self.watch(url, each["channel"], each, each["channel"]) for each in messages])

    async def first_of(self, futures: list[Any]) -> Any:
        """What the first of these futures brings. All watchers of a channel share one.

        Whoever awaited it itself would cancel it for the others, if cancelled.
        """
        return await Future.race(futures)

    def channels_of(self, name: str, symbols: list[str] | None, method: str) -> list[str]:
        """The channels of these markets. Raises ArgumentsRequired for none, and BadSymbol."""
        if not symbols:
            raise ArgumentsRequired(f"{self.id} {method}() requires symbols")
        return [f"{name}:{self.market_id(symbol)}" for symbol in symbols]

    def watched_channels(self, name: str) -> list[str]:
        """The channels of this name that are subscribed to now."""
        client = self.clients.get(self.urls["api"]["ws"])
        # ccxt keeps None for messages that subscribe to nothing.
        known = [] if client is None else [each for each in client.subscriptions if each is not None]
        return [each for each in known if each.startswith(f"{name}:")]

    async def leave(self, channels: list[str]) -> bool:
        """Unsubscribe from those of these channels that are watched. Their watchers get an UnsubscribeError."""
        url = self.urls["api"]["ws"]
        if url not in self.clients:
            return True
        client = self.clients[url]
        replies = []
        for channel in channels:
            if channel in client.subscriptions:
                reply = f"{UNSUBSCRIBE}:{channel}"
                message = {"action": UNSUBSCRIBE, "channel": channel, "id": reply}
                replies.append(self.watch(url, reply, message, reply))
        for reply in replies:
            await self.first_of([reply])
        return True

    async def end_subscription(self, client: Any, channel: str) -> None:
        """The platform sends no more of a channel: tell its watchers, and whoever left it."""
        # A watcher that has just got the last message waits again by then, and is told too.
        for _ in range(TURNS_OF_A_WATCHER):
            await asyncio.sleep(0)
        client.subscriptions.pop(channel, None)
        self.forget(channel)
        # Without a watcher, ccxt would keep the error for the next one.
        if channel in client.futures:
            client.reject(UnsubscribeError(f"{self.id} {channel} is no longer watched"), channel)
        reply = f"{UNSUBSCRIBE}:{channel}"
        client.subscriptions.pop(reply, None)
        client.resolve(True, reply)

    def forget(self, channel: str) -> None:
        """Drop what is kept of a channel: it would grow old."""
        name, _, rest = channel.partition(":")
        market_id, _, view = rest.partition("?") if name == "orderbook" else rest.partition(":")
        symbol = self.safe_symbol(market_id)
        if name == "ticker":
            self.tickers.pop(symbol, None)
        elif name == "trades":
            self.trades.pop(symbol, None)
        elif name == "candles":
            self.ohlcvs.get(symbol, {}).pop(view, None)
        elif view == BEST:
            self.orderbooks.pop(channel, None)
            self.bidsasks.pop(symbol, None)
        else:
            self.orderbooks.pop(channel if view else symbol, None)

    async def connection(self) -> Any:
        """The connection, authenticated. Raises AuthenticationError."""
        self.check_required_credentials()
        self.open()
        url = self.urls["api"]["ws"]
        client = self.client(url)
        await client.connect(self.session, self.ws_dial_delay(url))
        if getattr(client, "is_authenticated", False):
            return client
        # Signed once the connection stands: the platform takes a signature for five seconds.
        stamp = str(self.nonce())
        message = {
            "action": AUTHENTICATE,
            "apiKey": self.apiKey,
            "timestamp": stamp,
            "signature": self.signature_of(f"{stamp}GET/".encode()),
            "id": AUTHENTICATE,
        }
        await self.watch(url, AUTHENTICATE, message, AUTHENTICATE)
        return client

    def handle_message(self, client: Any, message: dict[str, Any]) -> None:
        """Give a message to the method for its kind and channel."""
        client.lastPong = self.milliseconds()
        kind = self.safe_string(message, "type")
        if kind in ("snapshot", "update"):
            name = message["channel"].partition(":")[0]
            # A book that went wrong has no subscription until it is watched again.
            if name in PRIVATE or message["channel"] in client.subscriptions:
                self.handle_push(client, name, message)
        elif kind == "authenticated":
            client.is_authenticated = True
            client.resolve(True, AUTHENTICATE)
        elif kind == "unsubscribed":
            self.spawn(self.end_subscription, client, message["channel"])
        elif kind == "error":
            self.handle_refusal(client, message)

    def handle_refusal(self, client: Any, message: dict[str, Any]) -> None:
        """Tell the watchers of what was refused. What concerns no subscription concerns all."""
        code, text = self.safe_string(message, "code"), f"{self.id} {self.json(message)}"
        subject = self.safe_string_2(message, "channel", "id")
        try:
            self.throw_broadly_matched_exception(self.exceptions["broad"], str(message.get("message")), text)
            self.throw_exactly_matched_exception(self.exceptions["exact"], code, text)
            raise AuthenticationError(text) if subject == AUTHENTICATE else ExchangeError(text)
        except Exception as error:
            if subject == AUTHENTICATE:
                client.subscriptions.pop(AUTHENTICATE, None)
                client.reject(error, AUTHENTICATE)
            elif subject is not None:
                client.subscriptions.pop(subject, None)
                client.reject(error, subject)
            else:
                client.reject(error)
