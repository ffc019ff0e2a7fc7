"""From the sources of a price to one price: which count, whether they agree, how sure they are. Pure rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from openspot.domain.fair_price.model import PriceState
from openspot.domain.fair_price.trades import differ, median

WAITS_FOR_MORE = "It becomes sure when more people trade or when an outside price comes."
WAITS_FOR_AGREEMENT = "Wait until they agree, or until the operator sets a price."


class SourceName(StrEnum):
    """Where a price comes from."""

    TRADES = "trades"
    BOOK = "book"
    VENUE = "venue"
    OPERATOR = "operator"
    REFERENCE = "reference"


_WORDS = {
    SourceName.TRADES: "trades",
    SourceName.BOOK: "the order book",
    SourceName.VENUE: "an outside venue",
}


@dataclass(frozen=True, slots=True)
class PriceSource:
    """One source. A weak one counts only where there is no full one."""

    name: SourceName
    price: int
    is_full: bool = True


@dataclass(frozen=True, slots=True)
class Combined:
    """What the sources say together, before speed and day are looked at. `used` are the sources that count."""

    state: PriceState
    price: int
    low: int
    high: int
    used: tuple[SourceName, ...]
    reason: str = ""


def combine(sources: Sequence[PriceSource], last: int | None, difference_bps_max: int) -> Combined | None:
    """Combine the sources of one market, at most one of each name; None without any.

    - The operator's price wins over all others, and is good.
    - Two full sources that agree make a good price, one a thin price, and so does a weak one where no full one is.
    - With three full sources, the venue and one that agrees with it outvote the third.
    - Sources that differ by more than the bound are in dispute. The price then stays as close to `last` as they allow.
    - Agreeing sources: the middle one of three; of two, what is quoted now outweighs what was traded in the window.
    - The settings' reference counts where nothing else is.
    """
    by_name = {source.name: source for source in sources}
    operator = by_name.get(SourceName.OPERATOR)
    if operator is not None:
        return _combined(PriceState.GOOD, operator.price, [operator])
    counted = [source for source in sources if source.name is not SourceName.REFERENCE]
    full = [source for source in counted if source.is_full] or counted
    if not full:
        reference = by_name.get(SourceName.REFERENCE)
        if reference is None:
            return None
        return _combined(
            PriceState.THIN,
            reference.price,
            [reference],
            "Nobody has made a price here yet: this one is from the platform's settings. " + WAITS_FOR_MORE,
        )
    if len(full) == 1:
        only = full[0]
        return _combined(
            PriceState.THIN, only.price, [only], f"The price rests on {_WORDS[only.name]} alone. " + WAITS_FOR_MORE
        )
    agreed = _agreed(full, difference_bps_max)
    if agreed is None:
        price = median(source.price for source in full) if last is None else _within(last, full)
        words = " and ".join(_WORDS[source.name] for source in sorted(full, key=lambda source: source.price))
        return _combined(
            PriceState.DISPUTED, price, full, f"The prices of {words} are too far apart. " + WAITS_FOR_AGREEMENT
        )
    return _combined(PriceState.GOOD, _agreed_price(agreed), agreed)


def _agreed(full: Sequence[PriceSource], bps_max: int) -> list[PriceSource] | None:
    prices = [source.price for source in full]
    if not differ(min(prices), max(prices), bps_max):
        return list(full)
    venue = next((source for source in full if source.name is SourceName.VENUE), None)
    if venue is None or len(full) < 3:
        return None
    with_venue = [source for source in full if not differ(source.price, venue.price, bps_max)]
    prices = [source.price for source in with_venue]
    if len(with_venue) < 2 or differ(min(prices), max(prices), bps_max):
        return None
    return with_venue


def _agreed_price(agreed: Sequence[PriceSource]) -> int:
    quoted = [source.price for source in agreed if source.name is not SourceName.TRADES]
    return median(source.price for source in agreed) if len(agreed) > 2 else median(quoted)


def _within(price: int, sources: Sequence[PriceSource]) -> int:
    prices = [source.price for source in sources]
    return min(max(price, min(prices)), max(prices))


def _combined(state: PriceState, price: int, used: Sequence[PriceSource], reason: str = "") -> Combined:
    prices = [source.price for source in used]
    return Combined(
        state, price, min(*prices, price), max(*prices, price), tuple(source.name for source in used), reason
    )
