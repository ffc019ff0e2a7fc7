"""Reads the fields of the payloads (facts A6.1-23, A6.1-24) from ticks of the library ccxt.

`ccxt_venue.py` makes the library keep each number as the text that the venue wrote. In order books, the library
makes floats nevertheless. Then the payload has the float's shortest text, which is exact up to 15 significant digits.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from openspot.domain.money import MoneyError, decimal_to_text, parse_decimal

_PLAIN_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?")
_ID_LENGTH_MAX = 100
Tick = Mapping[str, Any]
"""A ticker or a trade in the form that the library gives to all venues."""


class TickError(ValueError):
    """A field of a tick cannot be used; the message names the field and the reason."""


class VenueQuote(NamedTuple):
    """The best bid and ask of a market. `timestamp` is in milliseconds since 1970, None if the venue gave none."""

    bid_price: str
    bid_quantity: str
    ask_price: str
    ask_quantity: str
    timestamp: int | None


class Trade(NamedTuple):
    """One trade of a venue; `timestamp` in milliseconds since 1970."""

    price: str
    quantity: str
    trade_id: str
    timestamp: int
    buyer_is_maker: bool


def quote_of(ticker: Tick) -> VenueQuote:
    """The quote in a ticker. Raises TickError if a price or quantity is missing or is not a positive number."""
    timestamp = ticker.get("timestamp")
    return VenueQuote(
        _positive(ticker, "bid"),
        _positive(ticker, "bidVolume"),
        _positive(ticker, "ask"),
        _positive(ticker, "askVolume"),
        timestamp if isinstance(timestamp, int) else None,
    )


def trade_of(trade: Tick) -> Trade:
    """The trade in a tick. Raises TickError if a field is missing or cannot be used.

    The library's `side` is the taker's, so a sale means that the buyer was the maker.
    """
    side = trade.get("side")
    if side not in ("buy", "sell"):
        raise TickError("side is missing")
    timestamp = trade.get("timestamp")
    if not isinstance(timestamp, int):
        raise TickError("timestamp is missing")
    trade_id = str(trade.get("id") or "")
    if not 0 < len(trade_id) <= _ID_LENGTH_MAX:
        raise TickError("id is missing or too long")
    return Trade(_positive(trade, "price"), _positive(trade, "amount"), trade_id, timestamp, side == "sell")


def _positive(tick: Tick, field: str) -> str:
    """The plain decimal text of a field. A text that is already plain is not changed, not even its trailing zeros."""
    value = tick.get(field)
    if value is None:
        raise TickError(f"{field} is missing")
    text = value if isinstance(value, str) else repr(value)
    if not _PLAIN_NUMBER.fullmatch(text):
        try:
            text = decimal_to_text(parse_decimal(text))
        except MoneyError as error:
            raise TickError(f"{field} {error}") from error
    if text.startswith("-") or not text.strip("0."):
        raise TickError(f"{field} must be positive")
    return text
