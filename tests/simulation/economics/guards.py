"""The guards of a world. A world without changes has those of the platform; a mutant lacks one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import FairPrice
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.margin.figures import Balances, MarginFigures, Marks, judged_figures
from openspot.rest_edge.products.conversions.exposure import ExposureLimits
from openspot.rest_edge.products.conversions.pricing import Pair, Step, bounded

Prices = Mapping[str, FairPrice]


def believed(prices: Prices, last_trades: Mapping[str, int]) -> Prices:
    """The prices that the products believe: the fair ones."""
    return prices


def unchanged(marks: Marks) -> Marks:
    """The marks as margin knows them."""
    return marks


def unchanged_price(price: AssetPrice) -> AssetPrice:
    """The price as custody knows it."""
    return price


RULES = FairPriceRules()
EXPOSURE = ExposureLimits(user_cents=100_000 * 100, asset_cents=1_000_000 * 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What protects the platform."""

    rules: FairPriceRules = RULES
    believed: Callable[[Prices, Mapping[str, int]], Prices] = believed
    marks: Callable[[Marks], Marks] = unchanged
    risk_marks: Callable[[Marks], Marks] = unchanged
    """The marks by which loans, openings and moves out are judged."""
    forced_marks: Callable[[Marks], Marks] = unchanged
    """The marks near which liquidations trade."""
    judged: Callable[[Balances, Marks], MarginFigures | None] = judged_figures
    custody_price: Callable[[AssetPrice], AssetPrice] = unchanged_price
    slice_bps: int = 200
    slices_count: bool = True
    own_orders_count: bool = False
    standing_s: float = 10.0
    bounded: Callable[[Pair, Iterable[Step], FairPrice], list[Step]] = bounded
    exposure: ExposureLimits = EXPOSURE
    band: PriceReference = PriceReference.FAIR_PRICE
    restart_remembers: bool = True
    knows_owners: bool = True


GUARDED = Guards()
