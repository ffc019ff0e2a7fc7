"""Quotes and trades of external venues (facts A6.1-21 to A6.1-28). No stream stores them for absent listeners."""

import msgspec

from openspot.contracts.messages.message import Message


class VenueBookTicker(Message, frozen=True):
    """Payload of `venue.<venue>.bookTicker.<SYMBOL>`: the best bid and ask of a market, with their quantities.

    `symbol` is the platform's. Prices and quantities have all digits of the venue. `timestamp` is the venue's time of
    the quote, or the time of its receipt if the venue sends none.
    """

    venue: str
    symbol: str
    bid_price: str
    bid_quantity: str = msgspec.field(name="bidQty")
    ask_price: str
    ask_quantity: str = msgspec.field(name="askQty")
    timestamp: int


class VenueTrade(Message, frozen=True):
    """Payload of `venue.<venue>.trade.<SYMBOL>`: one trade of the venue.

    `trade_id` and `timestamp` are the venue's. `buyer_is_maker` is true if the seller was the taker.
    """

    venue: str
    symbol: str
    price: str
    quantity: str
    trade_id: str
    timestamp: int
    buyer_is_maker: bool
