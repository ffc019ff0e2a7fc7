"""The guards of a world. A world without changes has those of the platform; a mutant lacks one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import FairPrice
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import Balances, MarginFigures, Marks, judged_figures
from openspot.margin.order_prices import closing_price
from openspot.rest_edge.products.conversions.exposure import ExposureLimits
from openspot.rest_edge.products.conversions.pricing import Pair, Step, bounded

Prices = Mapping[str, FairPrice]
SLIPPAGE_BPS, LIQUIDATION_BPS = 100, 200


class Closing(NamedTuple):
    """An order that trades a position back, and what its worst price may depend on."""

    spec: SymbolSpec
    side: Side
    quantity: int
    balances: Balances
    marks: Marks
    last_trade: int


def worst_closing_price(closing: Closing) -> int:
    """The worst price as margin knows it."""
    return closing_price(
        closing.spec, closing.side, closing.quantity, closing.balances, closing.marks,
        slippage_bps=SLIPPAGE_BPS, liquidation_bps=LIQUIDATION_BPS,
    )  # fmt: skip


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
    closing_price: Callable[[Closing], int] = worst_closing_price
    slice_bps: int = LIQUIDATION_BPS
    slices_count: bool = True
    own_orders_count: bool = False
    standing_s: float = 10.0
    bounded: Callable[[Pair, Iterable[Step], FairPrice], list[Step]] = bounded
    exposure: ExposureLimits = EXPOSURE
    band: PriceReference = PriceReference.FAIR_PRICE
    restart_remembers: bool = True
    knows_owners: bool = True


GUARDED = Guards()
