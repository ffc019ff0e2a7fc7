"""Worlds that lack one guard each. At least one strategy must pay, or do harm, in every one of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.margin.figures import Balances, MarginFigures, Marks, judged_figures, margin_figures
from openspot.margin.slices import bound_price
from openspot.rest_edge.products.conversions.exposure import ExposureLimits
from openspot.rest_edge.products.conversions.pricing import Pair, Step
from tests.simulation.economics.guards import SLIPPAGE_BPS, Closing, Guards, Prices

_EVERY = 10**6
"""Basis points that nothing reaches."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A world without a guard, and the strategy that shows it."""

    name: str
    guards: Guards
    strategy: str


def _last_trades(prices: Prices, last_trades: Mapping[str, int]) -> Prices:
    return {
        symbol: FairPrice(
            symbol=symbol,
            state=PriceState.GOOD,
            price=last_trades.get(symbol, fair.price),
            low=last_trades.get(symbol, fair.price),
            high=last_trades.get(symbol, fair.price),
            day_median=last_trades.get(symbol, fair.price),
            sellable=10**30,
            buyable=10**30,
            timestamp_ms=fair.timestamp_ms,
        )
        for symbol, fair in prices.items()
    }


def _without_liquidity(marks: Marks) -> Marks:
    return {asset: replace(price, sellable=None, buyable=None) for asset, price in marks.items()}


def _of_now(price: AssetPrice) -> AssetPrice:
    return replace(price, day_median=0)


def _judged_at_once(balances: Balances, marks: Marks) -> MarginFigures | None:
    return judged_figures(balances, _confirmed(marks))


def _confirmed(marks: Marks) -> Marks:
    return {asset: replace(price, is_confirmed=True) for asset, price in marks.items()}


def _days_unknown(marks: Marks) -> Marks:
    return {asset: _of_now(price) for asset, price in marks.items()}


def near_the_last_trade(closing: Closing) -> int:
    """The worst price of a closing as it was: measured from the last trade."""
    return bound_price(closing.last_trade, closing.side, SLIPPAGE_BPS, closing.spec)


def _raw(pair: Pair, steps: Iterable[Step], fair: FairPrice) -> list[Step]:
    return list(steps)


def _without(**rules: int) -> Guards:
    return Guards(rules=FairPriceRules(**rules))


_LAST = Guards(believed=_last_trades)

MUTANTS = (
    Mutant("withdrawals believe the last trade", _LAST, "walk_down_and_withdraw"),
    Mutant("loans believe the last trade", _LAST, "walk_up_and_borrow"),
    Mutant("liquidations believe the last trade", _LAST, "walk_down_and_liquidate"),
    Mutant("chains of markets believe the last trade", _LAST, "cross_a_second_market"),
    Mutant("bands follow the last trade", Guards(band=PriceReference.LAST_TRADE), "freeze"),
    Mutant("one owner is enough", _without(owners_min=1), "two_in_the_thin_hours"),
    Mutant("an owner may outweigh all others", _without(owner_part=1), "outweigh"),
    Mutant("dust is enough", _without(volume_dollars=10**18, thin_volume_dollars=10**18), "dust_of_many"),
    Mutant("the price may jump", _without(speed_bps_max=_EVERY), "blink"),
    Mutant("sources never dispute", _without(difference_bps_max=_EVERY), "outweigh_far"),
    Mutant(
        "the day does not matter",
        _without(thin_difference_bps_max=_EVERY, unconfirmed_difference_bps_max=_EVERY),
        "pump_borrow_leave",
    ),
    Mutant(
        "one source is as good as two",
        _without(thin_difference_bps_max=3_000),
        "two_in_the_thin_hours",
    ),
    Mutant("a disputed price liquidates", Guards(judged=margin_figures), "outweigh_far"),
    Mutant("a loan believes the price of an hour", Guards(risk_marks=_days_unknown), "slow_walk_up_and_open"),
    Mutant("a short believes the price of an hour", Guards(risk_marks=_days_unknown), "slow_walk_down_and_short"),
    Mutant("the price of an hour liquidates", Guards(judged=_judged_at_once), "slow_walk_down_and_liquidate"),
    Mutant("a forced sale follows the price of an hour", Guards(forced_marks=_confirmed), "four_in_the_thin_hours"),
    Mutant("collateral has no cap by liquidity", Guards(marks=_without_liquidity), "leave_a_falling_coin"),
    Mutant("a forced sale has no floor", Guards(slice_bps=9_000), "buy_the_liquidation"),
    Mutant(
        "closings are measured from the last trade",
        Guards(closing_price=near_the_last_trade),
        "close_at_a_made_price",
    ),
    Mutant("withdrawals know no day", Guards(custody_price=_of_now), "four_in_the_thin_hours"),
    Mutant("conversions are not bounded by the fair price", Guards(bounded=_raw), "paint_and_convert"),
    Mutant(
        "conversions believe the book with one's own orders",
        Guards(bounded=_raw, own_orders_count=True, standing_s=0),
        "paint_own_and_convert",
    ),
    Mutant("conversions have no bound of exposure", Guards(exposure=ExposureLimits(10**15, 10**15)), "free_option"),
    Mutant("a restart forgets the prices", Guards(restart_remembers=False), "use_the_restart"),
    Mutant("spot and margin are two owners", Guards(knows_owners=False), "wash_for_a_tier"),
)
