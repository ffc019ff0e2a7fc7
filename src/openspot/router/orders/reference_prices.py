"""Reference prices: the last executed trade of each symbol that this router saw (facts A1.3-20 to A1.3-22).

They are only in memory, so after a restart there are none until a trade is seen. A trade that was published late,
because no router was running, keeps the time at which it happened.
"""

from decimal import Decimal
from typing import NamedTuple

from openspot.domain.money import MoneyError, parse_decimal, to_amount


def price_of(text: str) -> Decimal:
    """The price in `text`. Raises MoneyError, with the reason, if no trade can have this price."""
    price = parse_decimal(text)
    if to_amount(price) <= 0:
        raise MoneyError("must be positive")
    return price


class _LastTrade(NamedTuple):
    price: Decimal
    timestamp_ms: int


class ReferencePrices:
    """The last trade price of each symbol. `recent` ignores a price older than `age_ms_max`."""

    def __init__(self, age_ms_max: int) -> None:
        self._age_ms_max = age_ms_max
        self._last: dict[str, _LastTrade] = {}

    def note(self, symbol: str, price: Decimal, timestamp_ms: int) -> None:
        """Note a trade. A trade older than the newest one seen changes nothing."""
        last = self._last.get(symbol)
        if last is None or timestamp_ms >= last.timestamp_ms:
            self._last[symbol] = _LastTrade(price, timestamp_ms)

    def recent(self, symbol: str, now_ms: int) -> Decimal | None:
        """The price of the newest trade seen; None if there is none, or if it is too old."""
        last = self._last.get(symbol)
        if last is None or now_ms - last.timestamp_ms > self._age_ms_max:
            return None
        return last.price
