"""What a user holds on the exchange, what it cost, and what came of it. Pure. Amounts are integers at 18 places.

Money is shown in whole cents, cut towards zero, and every sum is made of the cents that are shown. So the rows of a
page add up to its total to the last cent.

The cost of a holding is that of its lots. Assets leave an account oldest first (`fifo`), so if the account holds less
than its lots, the oldest of these have left: the newest lots count. Those with an estimated cost count last, so that
what a user records takes their place. If the account holds more, nobody has told what the rest cost, and its cost is
unknown. The accounting currency costs what it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE

CENT = AMOUNT_SCALE // 100
HUNDRED_PERCENT = 100 * AMOUNT_SCALE
PERCENT_STEP = AMOUNT_SCALE // 100


class LotSum(NamedTuple):
    """Lots that are held: how much, what it cost, and how much of it has an estimated cost."""

    quantity: int
    cost: int
    estimated: int = 0


class Realised(NamedTuple):
    """Gains less losses of disposals since midnight UTC, in 7 and in 30 times 24 hours, and of all time."""

    today: int = 0
    week: int = 0
    month: int = 0
    all: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotResult:
    """One asset. Money is in the accounting currency.

    `known` of the `quantity` has a cost, `estimated` of that an estimate. What depends on the price is None without
    one. `cost` is that of the known quantity, None if nothing is known of what is held; `average_cost`, of one unit, is
    exact. `unrealised` is the value of the known quantity less its cost, and `unknown_value` the value of the rest.
    """

    asset: str
    quantity: int
    known: int
    estimated: int = 0
    price: int | None
    value: int | None
    cost: int | None
    average_cost: int | None
    unrealised: int | None
    unknown_value: int | None
    realised: Realised
    fees: Mapping[str, int]

    @property
    def unrealised_percent(self) -> int | None:
        """The unrealised result in percent of the cost, cut to two places."""
        return percent_of(self.unrealised, self.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotTotals:
    """The sums of the results of all assets. `value` is `priced_cost` + `unrealised` + `unknown_value`."""

    value: int
    cost: int
    priced_cost: int
    unrealised: int
    unknown_value: int
    realised: Realised
    fees: Mapping[str, int]
    unpriced: tuple[str, ...]

    @property
    def unrealised_percent(self) -> int | None:
        """The unrealised result in percent of the cost of what has a price, cut to two places."""
        return percent_of(self.unrealised, self.priced_cost)


def cents(amount: int) -> int:
    """An amount in whole cents, cut towards zero."""
    return _cut(amount, CENT)


def percent_of(part: int | None, whole: int | None) -> int | None:
    """`part` in percent of `whole`, cut to two places towards zero; None if that has no meaning."""
    if part is None or not whole:
        return None
    magnitude = abs(part) * HUNDRED_PERCENT // abs(whole)
    return _cut(magnitude if (part < 0) == (whole < 0) else -magnitude, PERCENT_STEP)


def newest_lots(whole: LotSum, partial: LotSum | None, quantity: int, told: int) -> LotSum:
    """The newest lots of `quantity`. `whole` lots fit into it, and the next older one, `partial`, only in part.

    What is gone of the partial lot took its share of the cost rounded down, as everywhere in `fifo`. `told` is the
    quantity of those whose cost is not estimated; they come first.
    """
    if partial is None:
        return whole._replace(estimated=max(0, whole.quantity - told))
    rest = quantity - whole.quantity
    gone_cost = partial.cost * (partial.quantity - rest) // partial.quantity
    return LotSum(quantity, whole.cost + partial.cost - gone_cost, max(0, quantity - told))


def spot_result(
    asset: str, quantity: int, lots: LotSum, price: int | None, realised: Realised, fees: Mapping[str, int]
) -> SpotResult:
    """The result of an asset. `lots` are the newest ones, of at most `quantity`."""
    value = 0 if not quantity else None if price is None else cents(quantity * price // AMOUNT_SCALE)
    known_value = (
        value
        if lots.quantity == quantity
        else None
        if value is None or price is None
        else cents(lots.quantity * price // AMOUNT_SCALE)
    )
    cost = None if quantity and not lots.quantity else cents(lots.cost)
    return SpotResult(
        asset=asset,
        quantity=quantity,
        known=lots.quantity,
        estimated=lots.estimated,
        price=price,
        value=value,
        cost=cost,
        average_cost=lots.cost * AMOUNT_SCALE // lots.quantity if lots.quantity else None,
        unrealised=None if known_value is None or cost is None else known_value - cost,
        unknown_value=None if value is None or known_value is None else value - known_value,
        realised=Realised(*map(cents, realised)),
        fees=fees,
    )


def result_of_money(currency: str, quantity: int, realised: Realised, fees: Mapping[str, int]) -> SpotResult:
    """The result of the accounting currency itself: it costs what it is, and gains nothing."""
    return spot_result(currency, quantity, LotSum(quantity, quantity), AMOUNT_SCALE, realised, fees)


def totals_of(results: Iterable[SpotResult]) -> SpotTotals:
    """The sums of what the results show."""
    rows = list(results)
    fees: dict[str, int] = {}
    for row in rows:
        for asset, fee in row.fees.items():
            fees[asset] = fees.get(asset, 0) + fee
    return SpotTotals(
        value=sum(row.value or 0 for row in rows),
        cost=sum(row.cost or 0 for row in rows),
        priced_cost=sum(row.cost or 0 for row in rows if row.value is not None),
        unrealised=sum(row.unrealised or 0 for row in rows),
        unknown_value=sum(row.unknown_value or 0 for row in rows),
        realised=Realised(*(sum(amounts) for amounts in zip(*(row.realised for row in rows), strict=True)))
        if rows
        else Realised(),
        fees=dict(sorted(fees.items())),
        unpriced=tuple(row.asset for row in rows if row.value is None),
    )


def _cut(amount: int, step: int) -> int:
    magnitude = abs(amount) // step * step
    return magnitude if amount >= 0 else -magnitude
