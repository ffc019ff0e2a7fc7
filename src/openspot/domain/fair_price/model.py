"""The fair price of one market, and how sure it is. Prices and quantities are integers at 18 places."""

from dataclasses import dataclass
from enum import StrEnum


class PriceState(StrEnum):
    """How sure a fair price is, best first."""

    GOOD = "good"
    """Several sources, each with enough behind it, agree."""
    THIN = "thin"
    """One source, or sources with little behind them: enough to value small things."""
    STALE = "stale"
    """No source is recent. The price is the last one that was known, or there is none."""
    DISPUTED = "disputed"
    """The sources differ by more than a bound, or moved faster than a bound."""

    @property
    def is_usable(self) -> bool:
        """Whether margin may lend, release collateral and liquidate at such a price."""
        return self in (PriceState.GOOD, PriceState.THIN)


_WORST_LAST = (PriceState.GOOD, PriceState.THIN, PriceState.STALE, PriceState.DISPUTED)


def worst_state(*states: PriceState) -> PriceState:
    """The least sure of `states`."""
    return max(states, key=_WORST_LAST.index)


@dataclass(frozen=True, slots=True)
class FairPrice:
    """The fair price of a market's base in its quote.

    `low` and `high` bound it: what somebody owns is valued at `low`, what somebody owes at `high`. They are equal to
    `price` only where all sources agree. `day_median` is the median of the last 24 hours. `sellable` and `buyable` are
    base quantities that the market could absorb near the fair price, from standing depth and the recent volume of
    distinct owners. `reason` says in words for users why the state is not `good`, and what is waited for.
    `is_confirmed` says that the price can be used and that a venue or the operator is among its sources, which nobody
    moves by trading here.
    """

    symbol: str
    state: PriceState
    price: int
    low: int
    high: int
    day_median: int
    sellable: int
    buyable: int
    timestamp_ms: int
    reason: str = ""
    is_confirmed: bool = False
