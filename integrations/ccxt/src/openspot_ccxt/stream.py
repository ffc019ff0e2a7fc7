"""The exchange class of ccxt.pro: REST, and the channels of the WebSocket edge (docs/protocol/websocket.md).

One connection carries everything. The first private watcher authenticates it.
"""

import asyncio
from typing import Any

from ccxt.async_support.base.ws.cache import ArrayCache, ArrayCacheBySymbolById, ArrayCacheByTimestamp
from ccxt.base.errors import ArgumentsRequired, ChecksumError, InvalidNonce

from openspot_ccxt.common import checksum_of
from openspot_ccxt.description import PAGE_MAX, STREAMS_OFFERED
from openspot_ccxt.funds_async import Params
from openspot_ccxt.subscriptions import BEST, Subscriptions

DEPTHS = (5, 10, 20, 25, 50, 100, 200, 500, 1000)
"""The views of a book that the platform offers, but for that of the best level (`BEST`)."""
BALANCE, ORDERS, MY_TRADES = "balance", "orders", "myTrades"
ROWS_WAIT_S, ROWS_TRIES = 0.1, 150
"""A trade's row is written a moment after its event: wait so long between looks, and look so often at most."""


class OpenSpot(Subscriptions):
    """OpenSpot with `watch_*`. A broken connection raises NetworkError; call the method again to connect again."""

    def describe(self) -> dict[str, Any]:
        """What ccxt is told about the exchange."""
        return self.deep_extend(super().describe(), {
            "pro": True,
            "has": dict.fromkeys(STREAMS_OFFERED, True),
            "streaming": {"keepAlive": 30_000},
        })  # fmt: skip

    def handle_push(self, client: Any, name: str, message: dict[str, Any]) -> None:
        """Give a message to the method for its channel."""
        handlers = {
            "ticker": self.handle_ticker,
            "trades": self.handle_trade,
            "candles": self.handle_candle,
            "orderbook": self.handle_order_book,
            "orders": self.handle_order,
            "balances": self.handle_balance,
        }
        if name in handlers:
            handlers[name](client, message)

    # Tickers

    async def watch_ticker(self, symbol: str, params: Params = None) -> dict[str, Any]:
        """The next ticker of a market."""
        await self.load_markets()
        return await self.follow(f"ticker:{self.market_id(symbol)}")

    async def watch_tickers(self, symbols: list[str] | None = None, params: Params = None) -> dict[str, Any]:
        """The next ticker of any of these markets, or of all."""
        await self.load_markets()
        ticker = await self.follow_first(self.channels_of("ticker", symbols or self.symbols, "watchTickers"))
        if self.newUpdates:
            return {ticker["symbol"]: ticker}
        return self.filter_by_array(self.tickers, "symbol", symbols)

    async def un_watch_ticker(self, symbol: str, params: Params = None) -> bool:
        """Unsubscribe from the ticker of a market."""
        return await self.un_watch_tickers([symbol])

    async def un_watch_tickers(self, symbols: list[str] | None = None, params: Params = None) -> bool:
        """Unsubscribe from the tickers of these markets, or of all."""
        await self.load_markets()
        return await self.leave(self.channels_of("ticker", symbols or self.symbols, "unWatchTickers"))

    def handle_ticker(self, client: Any, message: dict[str, Any]) -> None:
        """Keep a ticker."""
        ticker = self.parse_ticker(message["data"])
        self.tickers[ticker["symbol"]] = ticker
        client.resolve(ticker, message["channel"])

    # Trades

    async def watch_trades(
        self, symbol: str, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next public trades of a market."""
        return await self.watch_trades_for_symbols([symbol], since, limit)

    async def watch_trades_for_symbols(
        self, symbols: list[str], since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next public trades of any of these markets: those of one market at a time."""
        await self.load_markets()
        trades = await self.follow_first(self.channels_of("trades", symbols, "watchTradesForSymbols"))
        if self.newUpdates:
            limit = trades.getLimit(trades[-1]["symbol"], limit)
        return self.filter_by_since_limit(trades, since, limit, "timestamp", True)

    async def un_watch_trades(self, symbol: str, params: Params = None) -> bool:
        """Unsubscribe from the public trades of a market."""
        return await self.un_watch_trades_for_symbols([symbol])

    async def un_watch_trades_for_symbols(self, symbols: list[str], params: Params = None) -> bool:
        """Unsubscribe from the public trades of these markets."""
        await self.load_markets()
        return await self.leave(self.channels_of("trades", symbols, "unWatchTradesForSymbols"))

    def handle_trade(self, client: Any, message: dict[str, Any]) -> None:
        """Keep a trade. After a restart of market data some come again: those are dropped."""
        trade = self.parse_trade(message["data"])
        kept = self.trades.setdefault(trade["symbol"], ArrayCache(self.options["tradesLimit"]))
        if any(known["id"] == trade["id"] for known in kept):
            return
        kept.append(trade)
        client.resolve(kept, message["channel"])

    # Candles

    async def watch_ohlcv(
        self, symbol: str, timeframe: str = "1m", since: int | None = None, limit: int | None = None,
        params: Params = None,
    ) -> list[Any]:  # fmt: skip
        """The candles of a market that changed."""
        changed = await self.watch_ohlcv_for_symbols([[symbol, timeframe]], since, limit)
        return changed[self.symbol(symbol)][timeframe]

    async def watch_ohlcv_for_symbols(
        self, symbolsAndTimeframes: list[list[str]], since: int | None = None, limit: int | None = None,
        params: Params = None,
    ) -> dict[str, Any]:  # fmt: skip
        """The candles of any of these markets and timeframes that changed, by symbol and timeframe."""
        await self.load_markets()
        symbol, timeframe, candles = await self.follow_first(self.candle_channels(symbolsAndTimeframes))
        if self.newUpdates:
            limit = candles.getLimit(symbol, limit)
        return {symbol: {timeframe: self.filter_by_since_limit(candles, since, limit, 0, True)}}

    async def un_watch_ohlcv(self, symbol: str, timeframe: str = "1m", params: Params = None) -> bool:
        """Unsubscribe from the candles of a market."""
        return await self.un_watch_ohlcv_for_symbols([[symbol, timeframe]])

    async def un_watch_ohlcv_for_symbols(self, symbolsAndTimeframes: list[list[str]], params: Params = None) -> bool:
        """Unsubscribe from the candles of these markets and timeframes."""
        await self.load_markets()
        return await self.leave(self.candle_channels(symbolsAndTimeframes))

    def candle_channels(self, pairs: list[list[str]]) -> list[str]:
        """The channels of these pairs of market and timeframe. Raises ArgumentsRequired, BadRequest and BadSymbol."""
        if not pairs or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise ArgumentsRequired(f"{self.id} candles are watched by pairs, such as [['BTC/USD', '1m']]")
        return [f"candles:{self.market_id(symbol)}:{self.timeframe_named(timeframe)}" for symbol, timeframe in pairs]

    def handle_candle(self, client: Any, message: dict[str, Any]) -> None:
        """Keep a candle. One message has the whole candle."""
        data = message["data"]
        symbol = self.safe_symbol(data["symbol"])
        by_timeframe = self.ohlcvs.setdefault(symbol, {})
        kept = by_timeframe.setdefault(data["interval"], ArrayCacheByTimestamp(self.options["OHLCVLimit"]))
        kept.append(self.parse_ohlcv(data))
        client.resolve((symbol, data["interval"], kept), message["channel"])

    # Order books (docs/guides/order-book.md)

    async def watch_order_book(self, symbol: str, limit: int | None = None, params: Params = None) -> dict[str, Any]:
        """The book after the next change. With `limit` it is the platform's view of that many levels, or some more.

        Raises ChecksumError for a book that is not the platform's, and InvalidNonce after a gap. The next call gets a
        fresh book.
        """
        return await self.watch_order_book_for_symbols([symbol], limit)

    async def watch_order_book_for_symbols(
        self, symbols: list[str], limit: int | None = None, params: Params = None
    ) -> dict[str, Any]:
        """The next of these markets' books that changes, as `watch_order_book` has it."""
        await self.load_markets()
        channels = self.channels_of("orderbook", symbols, "watchOrderBookForSymbols")
        if limit is not None and limit <= DEPTHS[-1]:
            view = f"?depth={next(depth for depth in DEPTHS if depth >= limit)}"
            channels = [channel + view for channel in channels]
        book = await self.follow_first(channels)
        if limit is None:
            return book
        # The view is kept whole: what is cut off here is cut off from a copy.
        shown = book.copy()
        for side in ("bids", "asks"):
            shown[side] = shown[side][:limit]
        return shown

    async def un_watch_order_book(self, symbol: str, params: Params = None) -> bool:
        """Unsubscribe from the book of a market, of whatever depth."""
        return await self.un_watch_order_book_for_symbols([symbol])

    async def un_watch_order_book_for_symbols(self, symbols: list[str], params: Params = None) -> bool:
        """Unsubscribe from the books of these markets, of whatever depth. Bids and asks are still watched."""
        await self.load_markets()
        books = self.channels_of("orderbook", symbols, "unWatchOrderBookForSymbols")
        watched = [channel.partition("?") for channel in self.watched_channels("orderbook")]
        return await self.leave(["".join(parts) for parts in watched if parts[0] in books and parts[2] != BEST])

    async def watch_bids_asks(self, symbols: list[str] | None = None, params: Params = None) -> dict[str, Any]:
        """The next change of a best price or its volume in any of these markets, or in all."""
        await self.load_markets()
        channels = self.channels_of("orderbook", symbols or self.symbols, "watchBidsAsks")
        book = await self.follow_first([f"{channel}?{BEST}" for channel in channels])
        # An empty book has no best price to tell of.
        while not book["bids"] and not book["asks"]:
            book = await self.follow_first([f"{channel}?{BEST}" for channel in channels])
        best = self.best_of(book)
        self.bidsasks[best["symbol"]] = best
        if self.newUpdates:
            return {best["symbol"]: best}
        return self.filter_by_array(self.bidsasks, "symbol", symbols)

    async def un_watch_bids_asks(self, symbols: list[str] | None = None, params: Params = None) -> bool:
        """Unsubscribe from the best prices of these markets, or of all."""
        await self.load_markets()
        channels = self.channels_of("orderbook", symbols or self.symbols, "unWatchBidsAsks")
        return await self.leave([f"{channel}?{BEST}" for channel in channels])

    def best_of(self, book: Any) -> dict[str, Any]:
        """The best prices of a book with their volumes; None for an empty side."""
        best = {"symbol": book["symbol"], "timestamp": book["timestamp"], "datetime": book["datetime"], "info": {}}
        for side, name in (("bids", "bid"), ("asks", "ask")):
            best[name], best[f"{name}Volume"] = book[side][0][:2] if book[side] else (None, None)
        return self.safe_ticker(best, self.market(book["symbol"]))

    def handle_order_book(self, client: Any, message: dict[str, Any]) -> None:
        """Apply a snapshot or what changed, as the guide's steps say."""
        channel, data = message["channel"], message["data"]
        key = channel if "?" in channel else self.safe_symbol(data["symbol"])
        if data["type"] == "snapshot":
            self.orderbooks[key] = self.order_book({"symbol": self.safe_symbol(data["symbol"])})
            self.orderbooks[key].texts = {"bids": {}, "asks": {}}
        elif key not in self.orderbooks:
            return
        book = self.orderbooks[key]
        if data["type"] == "update" and book["nonce"] != data["prevSeq"]:
            error = InvalidNonce(f"{self.id} missed an update of {channel} after {book['nonce']}")
            self.drop_book(client, channel, key, error)
            return
        for side in ("bids", "asks"):
            self.change_side(book, side, data[side])
        book["nonce"], book["timestamp"] = data["seq"], data["timestamp"]
        book["datetime"] = self.iso8601(data["timestamp"])
        if self.handle_option("watchOrderBook", "checksum", True) and self.checksum(book) != data["checksum"]:
            error = ChecksumError(f"{self.id} {channel} at {data['seq']} is not the platform's book")
            self.drop_book(client, channel, key, error)
            return
        client.resolve(book, channel)

    def change_side(self, book: Any, side: str, levels: list[list[str]]) -> None:
        """Set the levels that changed, in ccxt's floats and in the platform's texts."""
        texts = book.texts[side]
        for price, quantity in levels:
            number = float(price)
            book[side].store(number, float(quantity))
            if quantity == "0":
                texts.pop(number, None)
            else:
                texts[number] = (price, quantity)

    def checksum(self, book: Any) -> int:
        """The checksum of the best ten levels."""
        bids, asks = ([book.texts[side][level[0]] for level in book[side][:10]] for side in ("bids", "asks"))
        return checksum_of(bids, asks)

    def drop_book(self, client: Any, channel: str, key: str, error: Exception) -> None:
        """Forget a book and its subscription: the next watcher subscribes again, which brings a snapshot."""
        self.orderbooks.pop(key, None)
        client.subscriptions.pop(channel, None)
        client.reject(error, channel)

    # Orders

    async def watch_orders(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next of the user's orders that change."""
        return await self.watch_orders_for_symbols([] if symbol is None else [symbol], since, limit)

    async def watch_orders_for_symbols(
        self, symbols: list[str], since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next of the user's orders that change on any of these markets; on any market if there are none."""
        await self.load_markets()
        await self.connection()
        return await self.next_of(ORDERS, symbols, since, limit)

    async def next_of(self, name: str, symbols: list[str], since: int | None, limit: int | None) -> list[Any]:
        """The user's next orders or trades on these markets, or on any, oldest first.

        What changed last is kept last, so an old order that changes would come after a younger one.
        """
        symbols = [self.symbol(symbol) for symbol in symbols]
        message_hashes = [f"{name}:{symbol}" for symbol in symbols] or [name]
        kept = await self.first_of([self.watch(self.urls["api"]["ws"], each) for each in message_hashes])
        if self.newUpdates:
            counts = [kept.getLimit(symbol, None) or 0 for symbol in symbols or [None]]
            limit = sum(counts) if limit is None else min(sum(counts), limit)
        found = self.filter_by_symbols_since_limit(kept, symbols, since, limit, True)
        in_order: list[Any] = self.sort_by(found, "timestamp")
        return in_order

    def handle_order(self, client: Any, message: dict[str, Any]) -> None:
        """Keep an order, and see to the watchers of balances and trades, which the order may have changed."""
        order = self.parse_order(message["data"])
        if self.orders is None:
            self.orders = ArrayCacheBySymbolById(self.options["ordersLimit"])
        self.orders.append(order)
        client.resolve(self.orders, ORDERS)
        client.resolve(self.orders, f"{ORDERS}:{order['symbol']}")
        self.note_balance_change(client)
        if message["event"] in ("order.updated", "order.filled") and order["filled"]:
            self.note_trade(client, message["seq"])

    # Balances

    async def watch_balance(self, params: Params = None) -> dict[str, Any]:
        """The balances: at once at the first call, then whenever an order or a transfer changes them."""
        client = await self.connection()
        if getattr(client, "balance_is_old", True):
            client.balance_is_old = False
            self.balance = await self.fetch_balance()
            return self.balance
        return await self.first_of([self.watch(self.urls["api"]["ws"], BALANCE)])

    def handle_balance(self, client: Any, message: dict[str, Any]) -> None:
        """A balance has changed. The message has the ledger's figures, which know no reserves: REST has them all."""
        self.note_balance_change(client)

    def note_balance_change(self, client: Any) -> None:
        """Read the balances again if somebody waits for them, or leave it to the next call."""
        client.balance_is_old = True
        if BALANCE in client.futures and not getattr(client, "reads_balance", False):
            client.reads_balance = True
            self.spawn(self.read_balance, client)

    async def read_balance(self, client: Any) -> None:
        """Read the balances for those who wait."""
        try:
            client.balance_is_old = False
            self.balance = await self.fetch_balance()
            client.resolve(self.balance, BALANCE)
        except Exception as error:
            client.balance_is_old = True
            client.reject(error, BALANCE)
        finally:
            client.reads_balance = False

    # The user's trades

    async def watch_my_trades(
        self, symbol: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next of the user's trades. The order events tell that there are some, REST has them with their fees."""
        return await self.watch_my_trades_for_symbols([] if symbol is None else [symbol], since, limit)

    async def watch_my_trades_for_symbols(
        self, symbols: list[str], since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The next of the user's trades on any of these markets; on any market if there are none."""
        await self.load_markets()
        client = await self.connection()
        if getattr(self, "newest_trade", None) is None:
            newest = await self.call("GET", "orders/trades", {"limit": 1})
            self.newest_trade = newest[0]["sequence"] if newest else 0
        if not getattr(client, "follows_trades", False):
            client.follows_trades = True
            # Those that happened while no connection stood.
            self.note_trade(client, 0)
        return await self.next_of(MY_TRADES, symbols, since, limit)

    def note_trade(self, client: Any, sequence: int) -> None:
        """An order was filled by the engine's event `sequence`."""
        if not getattr(client, "follows_trades", False):
            return
        client.trades_until = max(getattr(client, "trades_until", 0), sequence)
        if not getattr(client, "reads_trades", False):
            client.reads_trades = True
            self.spawn(self.read_trades, client)

    async def read_trades(self, client: Any) -> None:
        """Read the user's new trades, in their order, until the one that was told of is there."""
        try:
            for _ in range(ROWS_TRIES):
                self.keep_trades(client, await self.new_trades())
                if self.newest_trade >= client.trades_until:
                    return
                await asyncio.sleep(ROWS_WAIT_S)
        except Exception as error:
            for message_hash in [name for name in client.futures if name.startswith(MY_TRADES)]:
                client.reject(error, message_hash)
        finally:
            client.reads_trades = False

    async def new_trades(self) -> list[dict[str, Any]]:
        """The trades after the newest one that is known, oldest first, at most 1,000."""
        rows = await self.call("GET", "orders/trades", {"limit": 20})
        if len(rows) == 20 and rows[-1]["sequence"] > self.newest_trade:
            rows = await self.call("GET", "orders/trades", {"limit": PAGE_MAX})
        return [row for row in reversed(rows) if row["sequence"] > self.newest_trade]

    def keep_trades(self, client: Any, rows: list[dict[str, Any]]) -> None:
        """Give new trades to those who wait."""
        if self.myTrades is None:
            self.myTrades = ArrayCacheBySymbolById(self.options["tradesLimit"])
        symbols = set()
        for row in rows:
            trade = self.parse_trade(row)
            self.myTrades.append(trade)
            self.newest_trade = row["sequence"]
            symbols.add(trade["symbol"])
        for symbol in symbols:
            client.resolve(self.myTrades, f"{MY_TRADES}:{symbol}")
        if rows:
            client.resolve(self.myTrades, MY_TRADES)
