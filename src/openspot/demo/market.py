"""A market as the bots need it: its steps and limits, and rounding to them. Pure rules."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum

from openspot.domain.market import MarketConfiguration
from openspot.domain.money import BASIS_POINTS


class QuoteSide(StrEnum):
    """Side of an order, as the REST edge writes it."""

    BUY = "buy"
    SELL = "sell"


@dataclass(frozen=True, slots=True)
class DemoMarket:
    """Symbol, assets, steps and limits of one market."""

    symbol: str
    base: str
    quote: str
    tick: Decimal
    lot: Decimal
    quantity_min: Decimal
    quantity_max: Decimal
    notional_min: Decimal

    def price(self, mid: Decimal, side: QuoteSide, distance_bps: Decimal) -> Decimal:
        """The price `distance_bps` below `mid` for a buy, above it for a sell. Rounds to the tick away from the mid."""
        share = distance_bps / BASIS_POINTS
        if side is QuoteSide.BUY:
            return max(self.tick, _on_step(mid * (1 - share), self.tick, ROUND_FLOOR))
        return max(self.tick, _on_step(mid * (1 + share), self.tick, ROUND_CEILING))

    def quantity(self, wanted: Decimal, price: Decimal) -> Decimal | None:
        """`wanted` in whole lots and within the limits; None if it is below the least quantity or notional."""
        quantity = min(_on_step(wanted, self.lot, ROUND_FLOOR), self.quantity_max)
        if quantity < self.quantity_min or quantity * price < self.notional_min:
            return None
        return quantity


def _on_step(value: Decimal, step: Decimal, rounding: str) -> Decimal:
    return (value / step).to_integral_value(rounding) * step


def demo_markets(configuration: MarketConfiguration) -> tuple[DemoMarket, ...]:
    """Every market of the configuration."""
    return tuple(
        DemoMarket(
            symbol=seed.symbol,
            base=seed.base,
            quote=seed.quote,
            tick=seed.tick,
            lot=seed.lot,
            quantity_min=(limits := configuration.limits[seed.symbol]).quantity_min,
            quantity_max=limits.quantity_max,
            notional_min=limits.notional_min,
        )
        for seed in configuration.seeds
    )
