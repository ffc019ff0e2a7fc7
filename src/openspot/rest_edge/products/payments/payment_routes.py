"""Payment routes and their fees, from the configuration: rules without IO."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import AMOUNT_PLACES, BASIS_POINTS, parse_decimal, to_amount
from openspot.rest_edge.common.configuration import ConfigurationError

PROVIDERS = frozenset({"development"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentRoute:
    """A way to pay in. Amounts are units of 18 places; `unit` is the smallest amount of the asset."""

    route_id: str
    name: str
    asset: str
    provider: str
    minimum: int
    maximum: int
    fee_bps: int
    fee_fixed: int
    unit: int

    def fee(self, amount: int) -> int:
        """The fee on a payment of `amount`, rounded up to the asset's places."""
        exact = self.fee_fixed * BASIS_POINTS + amount * self.fee_bps
        return -(-exact // (BASIS_POINTS * self.unit)) * self.unit


_KEYS = frozenset({"name", "currency", "provider", "minimum", "maximum", "fee_bps", "fee_fixed"})


def routes_of(document: Mapping[str, Any], assets: Mapping[str, AssetScale]) -> dict[str, PaymentRoute]:
    """The payment routes of a configuration file, by id. Raises ConfigurationError."""
    routes = {}
    for route_id, row in document.get("routes", {}).items():
        try:
            routes[route_id] = _route(route_id, row, assets)
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigurationError(f"payment route {route_id}: {error}") from error
    return routes


def _route(route_id: str, row: Mapping[str, Any], assets: Mapping[str, AssetScale]) -> PaymentRoute:
    if unknown := set(row) - _KEYS:
        raise ValueError(f"{', '.join(sorted(unknown))} should not exist")
    if row["provider"] not in PROVIDERS:
        raise ValueError(f"provider must be one of {', '.join(sorted(PROVIDERS))}")
    asset = assets[row["currency"]]
    unit = 10 ** (AMOUNT_PLACES - asset.places)
    minimum, maximum, fixed = (to_amount(parse_decimal(row[name])) for name in ("minimum", "maximum", "fee_fixed"))
    if not 0 < minimum <= maximum or fixed < 0 or any(value % unit for value in (minimum, maximum, fixed)):
        raise ValueError(f"amounts have at most {asset.places} decimal places, and 0 < minimum <= maximum")
    if not 0 <= row["fee_bps"] < BASIS_POINTS:
        raise ValueError(f"fee_bps must be at least 0 and less than {BASIS_POINTS}")
    route = PaymentRoute(
        route_id=route_id,
        name=str(row["name"]),
        asset=asset.asset,
        provider=row["provider"],
        minimum=minimum,
        maximum=maximum,
        fee_bps=row["fee_bps"],
        fee_fixed=fixed,
        unit=unit,
    )
    # The fee grows more slowly than the amount. So if it is less than the least amount, it is less than any amount.
    if route.fee(minimum) >= minimum:
        raise ValueError("the fee on the least amount must be less than it")
    return route
