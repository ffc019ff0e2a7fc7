"""Staking products, from the configuration and from what markets offer: rules without IO."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, parse_decimal, to_amount, to_scaled
from openspot.domain.offer_checks import DAYS_MAX, staking_checks
from openspot.domain.offers import EarlyRedemption, StakingTerms, smallest_unit
from openspot.rest_edge.common.configuration import ConfigurationError, require_sound

RATE_SCALE = 1_000_000
"""Yearly rates are in parts per million."""


class ProductType(StrEnum):
    """Whether a stake can be taken back at any time."""

    FLEXIBLE = "flexible"
    LOCKED = "locked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A staking product. Amounts are units of 18 places; `unit` is the smallest amount of the asset.

    It takes new stakes while it `is_open`. Stakes that it has go on with its terms, and can be taken back.
    """

    product_id: str
    asset: str
    type: ProductType
    rate_ppm: int
    lock_days: int
    unbonding_days: int
    early_redemption: EarlyRedemption
    minimum: int
    maximum: int
    capacity: int
    unit: int
    is_open: bool = True

    @property
    def rate(self) -> Decimal:
        """The yearly rate as a decimal: 0.04 is 4 %."""
        return Decimal(self.rate_ppm) / RATE_SCALE


_KEYS = frozenset(
    {"asset", "type", "apr", "lock_days", "unbonding_days", "early_redemption", "minimum", "maximum", "capacity"}
)


def products_of(document: Mapping[str, Any], assets: Mapping[str, AssetScale]) -> dict[str, Product]:
    """The products of a configuration file, by id. Raises ConfigurationError."""
    products = {}
    for product_id, row in document.get("products", {}).items():
        try:
            products[product_id] = _product(product_id, row, assets)
        except (KeyError, ValueError, TypeError, MoneyError) as error:
            raise ConfigurationError(f"staking product {product_id}: {error}") from error
    return products


def _product(product_id: str, row: Mapping[str, Any], assets: Mapping[str, AssetScale]) -> Product:
    if unknown := set(row) - _KEYS:
        raise ValueError(f"{', '.join(sorted(unknown))} should not exist")
    locked = ProductType(row["type"]) is ProductType.LOCKED
    lock_days, unbonding_days = row.get("lock_days", 0), row["unbonding_days"]
    if not 0 <= unbonding_days <= DAYS_MAX or not (1 if locked else 0) <= lock_days <= (DAYS_MAX if locked else 0):
        raise ValueError("lock_days is for locked products, and both counts of days are whole numbers in range")
    terms = StakingTerms(
        apr=parse_decimal(row["apr"]),
        lock_days=lock_days,
        unbonding_days=unbonding_days,
        early_redemption=EarlyRedemption(row["early_redemption"]) if locked else EarlyRedemption.ALLOWED,
        **{name: parse_decimal(row[name]) for name in ("minimum", "maximum", "capacity")},
    )
    return product_of(product_id, assets[row["asset"]], terms)


def product_of(product_id: str, asset: AssetScale, terms: StakingTerms) -> Product:
    """The product with these terms. Raises ValueError if they break a rule."""
    require_sound(staking_checks(terms, asset.places))
    return Product(
        product_id=product_id,
        asset=asset.asset,
        type=ProductType.LOCKED if terms.lock_days else ProductType.FLEXIBLE,
        rate_ppm=to_scaled(terms.apr, RATE_SCALE),
        lock_days=terms.lock_days,
        unbonding_days=terms.unbonding_days,
        early_redemption=terms.early_redemption,
        minimum=to_amount(terms.minimum),
        maximum=to_amount(terms.maximum),
        capacity=to_amount(terms.capacity),
        unit=smallest_unit(asset.places),
    )
