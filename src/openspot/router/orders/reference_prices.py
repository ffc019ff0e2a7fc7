"""Reference prices: the last executed trade of each symbol that this router saw (Document A 1.3 step 4).

Held in memory only: empty after a restart, until a trade is seen. A trade that is published late, because the
router was down when it happened, counts with the time at which it happened.
"""

from decimal import Decimal

from openspot.domain.money import MoneyError, parse_decimal, to_amount


def price_of(text: str) -> Decimal:
    """The price that `text` writes. Raises MoneyError, with the reason, if no trade can have it."""
    price = parse_decimal(text)
    if to_amount(price) <= 0:
        raise MoneyError("must be positive")
    return price


class ReferencePrices:
    """Last trade prices by symbol; one older than `age_ms_max` is no longer recent."""

    def __init__(self, age_ms_max: int) -> None:
        self._age_ms_max = age_ms_max
        self._prices: dict[str, tuple[Decimal, int]] = {}

    def note(self, symbol: str, price: Decimal, timestamp_ms: int) -> None:
        """Take a trade into account; one that is older than the newest seen changes nothing."""
        last = self._prices.get(symbol)
        if last is None or timestamp_ms >= last[1]:
            self._prices[symbol] = (price, timestamp_ms)

    def recent(self, symbol: str, now_ms: int) -> Decimal | None:
        """The price of the newest trade seen, or None if there is none or it is too old."""
        last = self._prices.get(symbol)
        if last is None or now_ms - last[1] > self._age_ms_max:
            return None
        return last[0]
