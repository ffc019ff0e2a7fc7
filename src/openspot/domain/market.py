"""The configuration of markets and assets: order limits for the pre-trade check, and what a new engine creates.

The list of markets is fixed (facts A2.5-07, A2.5-08).
"""

import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.resources import files

from openspot.domain.money import parse_decimal
from openspot.domain.offers import EVERYTHING, MarketOffers

SLIPPAGE_BPS_MAX = 10_000
"""A request with a larger maxSlippageBps is invalid on any market. Each market's own ceiling is lower."""


@dataclass(frozen=True, slots=True)
class MarketLimits:
    """The limits of the pre-trade check on one market. Quantities are in the base asset, notionals in the quote asset.

    `deviation_bps_max` limits how far a limit price may be from the last trade price. `slippage_bps_max` limits a
    market order's maxSlippageBps, and applies to an order without one.
    """

    symbol: str
    quantity_min: Decimal
    quantity_max: Decimal
    notional_min: Decimal
    notional_max: Decimal
    deviation_bps_max: int
    slippage_bps_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketSeed:
    """A symbol that a new engine creates at its first start."""

    symbol: str
    symbol_id: int
    base_scale_k: int
    quote_scale_k: int
    tick: Decimal
    lot: Decimal
    taker_fee_bps: int
    maker_fee_bps: int

    @property
    def base(self) -> str:
        return self.symbol.split("-")[0]

    @property
    def quote(self) -> str:
        return self.symbol.split("-")[1]


@dataclass(frozen=True, slots=True)
class AssetScale:
    """An asset and the decimal places of its deposits (facts A1.5-02, A2.5-06)."""

    asset: str
    currency_id: int
    places: int


@dataclass(slots=True)
class MarketConfiguration:
    """The content of the configuration file. `offers` are what each market offers beside trading, by symbol.

    A service that follows the engine's list knows no offers until it has read that list: `knows_offers` is False.
    """

    limits: dict[str, MarketLimits]
    seeds: tuple[MarketSeed, ...]
    assets: dict[str, AssetScale]
    offers: dict[str, MarketOffers] = field(default_factory=dict)
    knows_offers: bool = True


def load_markets() -> MarketConfiguration:
    """Parse the file of the package."""
    document = tomllib.loads(files("openspot.domain").joinpath("markets.toml").read_text("utf-8"))
    assets = {asset: AssetScale(asset, row["currency_id"], row["places"]) for asset, row in document["assets"].items()}
    limits, seeds = {}, []
    for symbol, row in document["markets"].items():
        limits[symbol] = MarketLimits(
            symbol,
            parse_decimal(row["quantity_min"]),
            parse_decimal(row["quantity_max"]),
            parse_decimal(row["notional_min"]),
            parse_decimal(row["notional_max"]),
            row["deviation_bps_max"],
            row["slippage_bps_max"],
        )
        seeds.append(
            MarketSeed(
                symbol=symbol,
                symbol_id=row["symbol_id"],
                base_scale_k=10 ** row["quantity_places"],
                quote_scale_k=10 ** row["price_places"],
                tick=parse_decimal(row["tick"]),
                lot=parse_decimal(row["lot"]),
                taker_fee_bps=row["taker_fee_bps"],
                maker_fee_bps=row["maker_fee_bps"],
            )
        )
    return MarketConfiguration(limits, tuple(seeds), assets, dict.fromkeys(limits, EVERYTHING))
