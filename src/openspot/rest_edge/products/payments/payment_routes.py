"""Payment routes and their fees, from the configuration and from what markets offer: rules without IO."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openspot.domain.market import AssetScale
from openspot.domain.money import parse_decimal, to_amount
from openspot.domain.offer_checks import payment_checks
from openspot.domain.offers import PaymentTerms, payment_fee, smallest_unit
from openspot.rest_edge.common.configuration import ConfigurationError, require_sound

DEVELOPMENT = "development"
PROVIDERS = frozenset({DEVELOPMENT})


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
        return payment_fee(amount, self.fee_bps, self.fee_fixed, self.unit)


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
    amounts = {name: parse_decimal(row[name]) for name in ("minimum", "maximum", "fee_fixed")}
    terms = PaymentTerms(fee_bps=row["fee_bps"], **amounts)
    return route_of(route_id, str(row["name"]), row["provider"], assets[row["currency"]], terms)


def route_of(route_id: str, name: str, provider: str, asset: AssetScale, terms: PaymentTerms) -> PaymentRoute:
    """The route with these terms. Raises ValueError if they break a rule."""
    require_sound(payment_checks(terms, asset.places))
    return PaymentRoute(
        route_id=route_id,
        name=name,
        asset=asset.asset,
        provider=provider,
        minimum=to_amount(terms.minimum),
        maximum=to_amount(terms.maximum),
        fee_bps=terms.fee_bps,
        fee_fixed=to_amount(terms.fee_fixed),
        unit=smallest_unit(asset.places),
    )
