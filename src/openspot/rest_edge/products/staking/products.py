"""Staking products, from the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import AMOUNT_PLACES, MoneyError, parse_decimal, to_amount, to_scaled
from openspot.rest_edge.common.configuration import ConfigurationError

RATE_SCALE = 1_000_000
"""Yearly rates are in parts per million."""
DAYS_MAX = 3650


class ProductType(StrEnum):
    """Whether a stake can be taken back at any time."""

    FLEXIBLE = "flexible"
    LOCKED = "locked"


class EarlyRedemption(StrEnum):
    """The effect of taking a stake back before its end."""

    ALLOWED = "allowed"
    FORFEITS_REWARDS = "forfeits_rewards"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A staking product. Amounts are units of 18 places; `unit` is the smallest amount of the asset."""

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
    asset = assets[row["asset"]]
    unit = 10 ** (AMOUNT_PLACES - asset.places)
    kind = ProductType(row["type"])
    locked = kind is ProductType.LOCKED
    amounts = {name: to_amount(parse_decimal(row[name])) for name in ("minimum", "maximum", "capacity")}
    for name, amount in amounts.items():
        if amount <= 0 or amount % unit:
            raise ValueError(f"{name} must be above 0, with at most {asset.places} decimal places")
    if amounts["maximum"] < amounts["minimum"]:
        raise ValueError("maximum must be at least minimum")
    rate = to_scaled(parse_decimal(row["apr"]), RATE_SCALE)
    if not 0 <= rate <= 10 * RATE_SCALE:
        raise ValueError("apr must be between 0 and 10")
    lock_days, unbonding_days = row.get("lock_days", 0), row["unbonding_days"]
    if not 0 <= unbonding_days <= DAYS_MAX or not (1 if locked else 0) <= lock_days <= (DAYS_MAX if locked else 0):
        raise ValueError("lock_days is for locked products, and both counts of days are whole numbers in range")
    early = EarlyRedemption(row["early_redemption"]) if locked else EarlyRedemption.ALLOWED
    return Product(
        product_id=product_id,
        asset=asset.asset,
        type=kind,
        rate_ppm=rate,
        lock_days=lock_days,
        unbonding_days=unbonding_days,
        early_redemption=early,
        minimum=amounts["minimum"],
        maximum=amounts["maximum"],
        capacity=amounts["capacity"],
        unit=unit,
    )
