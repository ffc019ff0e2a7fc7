"""The venue's WebSocket protocol: stream names, requests and replies, and the market list of its REST interface."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from openspot.domain.market import MarketLimits, MarketSeed
from openspot.domain.money import decimal_to_text
from openspot.venue_simulator.events import market_id

STREAM_NAME = re.compile(r"[a-z0-9]{2,20}@(bookTicker|trade|depth@100ms)")
"""The simulator has these streams. The real venue has more."""
STREAMS_MAX = 1024
"""A connection has at most this many streams, as on the real venue."""
REQUESTS_PER_S_MAX = 5
"""A connection that sends more requests in a second is ended, as on the real venue."""
REQUEST_BYTES_MAX = 65_536


class RequestError(ValueError):
    """A request that cannot be carried out. `code` is the venue's; `request_id` is the request's, if it has one."""

    def __init__(self, code: int, message: str, request_id: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


def carry_out(text: str, streams: set[str]) -> bytes:
    """Carry out a request on a connection's `streams` and return the reply. Raises RequestError."""
    try:
        request = json.loads(text)
    except ValueError as error:
        raise RequestError(3, f"Invalid JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestError(2, "Invalid request: not an object")
    request_id, method = request.get("id"), request.get("method")
    if method == "LIST_SUBSCRIPTIONS":
        return json.dumps({"result": sorted(streams), "id": request_id}).encode()
    if method not in ("SUBSCRIBE", "UNSUBSCRIBE"):
        raise RequestError(2, f"Invalid request: unknown method {method!r}", request_id)
    names = request.get("params")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RequestError(2, "Invalid request: params must be a list of stream names", request_id)
    if method == "UNSUBSCRIBE":
        streams.difference_update(names)
    else:
        if wrong := [name for name in names if not STREAM_NAME.fullmatch(name)]:
            raise RequestError(2, f"Invalid request: no stream {wrong[0]!r}", request_id)
        if len(streams.union(names)) > STREAMS_MAX:
            raise RequestError(2, f"Invalid request: more than {STREAMS_MAX} streams", request_id)
        streams.update(names)
    return json.dumps({"result": None, "id": request_id}).encode()


def error_reply(error: RequestError) -> bytes:
    """The reply to a request that was refused."""
    return json.dumps({"error": {"code": error.code, "msg": str(error)}, "id": error.request_id}).encode()


def streams_of_path(path: str, query_streams: str) -> set[str]:
    """The streams in an address: `/ws/NAME/NAME` or `/stream?streams=NAME/NAME`. Other words are ignored."""
    words: Iterable[str] = [*path.split("/"), *query_streams.split("/")]
    return {word for word in words if STREAM_NAME.fullmatch(word)}


def exchange_info(markets: Sequence[MarketSeed], limits: dict[str, MarketLimits], now_ms: int) -> dict[str, Any]:
    """The body of `GET /api/v3/exchangeInfo`."""
    return {
        "timezone": "UTC",
        "serverTime": now_ms,
        "rateLimits": [],
        "exchangeFilters": [],
        "symbols": [_symbol(market, limits[market.symbol]) for market in markets],
    }


def _symbol(market: MarketSeed, limits: MarketLimits) -> dict[str, Any]:
    return {
        "symbol": market_id(market),
        "status": "TRADING",
        "baseAsset": market.base,
        "baseAssetPrecision": 8,
        "quoteAsset": market.quote,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "orderTypes": ["LIMIT", "MARKET"],
        "isSpotTradingAllowed": True,
        "isMarginTradingAllowed": False,
        "permissions": ["SPOT"],
        "filters": [
            {
                "filterType": "PRICE_FILTER",
                "minPrice": decimal_to_text(market.tick),
                "maxPrice": "1000000000",
                "tickSize": decimal_to_text(market.tick),
            },
            {
                "filterType": "LOT_SIZE",
                "minQty": decimal_to_text(limits.quantity_min),
                "maxQty": decimal_to_text(limits.quantity_max),
                "stepSize": decimal_to_text(market.lot),
            },
            {
                "filterType": "NOTIONAL",
                "minNotional": decimal_to_text(limits.notional_min),
                "maxNotional": decimal_to_text(limits.notional_max),
            },
        ],
    }
