"""What the engine says of its markets and assets, beside the figures that matching needs: their listing.

The engine keeps the terms of a market in its journal, and every service reads the whole list from it
(docs/adr/0076-the-engine-lists-the-markets.md). Decimals are text, times are milliseconds since 1970.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

import msgspec

from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.domain.listing import MarketStatus, ProposedBounds
from openspot.domain.market import MarketConfiguration, MarketLimits
from openspot.domain.money import decimal_to_text, parse_decimal

Status = Annotated[str, listed(*MarketStatus)]


class StatusAt(Message, frozen=True):
    """A status that a market gets by itself at a time."""

    status: Status
    at: Count


class MarketTerms(Message, frozen=True, kw_only=True):
    """The terms of a market: its bounds and bands, its status, and what traders read of it.

    Quantities are in the base asset, notionals in the quote asset. `name` is empty if the symbol is name enough.
    """

    quantity_min: DecimalText
    quantity_max: DecimalText
    notional_min: DecimalText
    notional_max: DecimalText
    deviation_bps_max: int
    slippage_bps_max: int
    status: Status = MarketStatus.OPEN.value
    name: str = ""
    announcement: str = ""
    schedule: list[StatusAt] = msgspec.field(default_factory=list)

    @property
    def market_status(self) -> MarketStatus:
        """The status. Raises ValueError for one that this version does not know."""
        return MarketStatus(self.status)

    @property
    def bounds(self) -> ProposedBounds:
        """The bounds as numbers. Raises MoneyError unless all texts are decimals."""
        return ProposedBounds(
            quantity_min=parse_decimal(self.quantity_min),
            quantity_max=parse_decimal(self.quantity_max),
            notional_min=parse_decimal(self.notional_min),
            notional_max=parse_decimal(self.notional_max),
            deviation_bps_max=self.deviation_bps_max,
            slippage_bps_max=self.slippage_bps_max,
        )

    def limits(self, symbol: str) -> MarketLimits:
        """The limits of the pre-trade check on the market `symbol`. Raises MoneyError."""
        bounds = self.bounds
        return MarketLimits(
            symbol,
            bounds.quantity_min,
            bounds.quantity_max,
            bounds.notional_min,
            bounds.notional_max,
            bounds.deviation_bps_max,
            bounds.slippage_bps_max,
        )


class ListingChange(Message, frozen=True, kw_only=True):
    """A change of a market's listing: who made it, when, why, and each field that it changed, before and after."""

    timestamp: Count
    operator: str
    action: str
    reason: str
    before: dict[str, str]
    after: dict[str, str]


class ListedAsset(Message, frozen=True, kw_only=True):
    """An asset of the engine. `places` are the decimal places of its deposits and withdrawals."""

    asset: str = msgspec.field(name="currency")
    currency_id: int
    name: str
    places: int
    logo: str = ""


class ListedMarket(Message, frozen=True, kw_only=True):
    """A market of the engine. `terms` are null for a symbol that was created without any: nobody can trade on it."""

    symbol: str
    terms: MarketTerms | None = None
    taker_fee: int
    maker_fee: int


class MarketList(Message, frozen=True, kw_only=True):
    """All markets and assets of the engine. `version` is another text after each change."""

    version: str
    currencies: list[ListedAsset]
    markets: list[ListedMarket]


def terms_of(limits: MarketLimits) -> MarketTerms:
    """The terms of a market of domain/markets.toml."""
    return MarketTerms(
        quantity_min=decimal_to_text(limits.quantity_min),
        quantity_max=decimal_to_text(limits.quantity_max),
        notional_min=decimal_to_text(limits.notional_min),
        notional_max=decimal_to_text(limits.notional_max),
        deviation_bps_max=limits.deviation_bps_max,
        slippage_bps_max=limits.slippage_bps_max,
    )


def seed_terms(configuration: MarketConfiguration) -> dict[str, MarketTerms]:
    """The terms of the markets of domain/markets.toml, by symbol."""
    return {symbol: terms_of(limits) for symbol, limits in configuration.limits.items()}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The fields that differ, as texts, before and after."""
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return (
        {name: _text(before[name]) for name in changed if name in before},
        {name: _text(after[name]) for name in changed if name in after},
    )


def fields_of(terms: MarketTerms, taker_fee: int, maker_fee: int) -> dict[str, Any]:
    """The fields of a market that an operator changes, by their names on the wire."""
    return {**msgspec.to_builtins(terms), "takerFee": taker_fee, "makerFee": maker_fee}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{entry['status']} at {entry['at']}" for entry in value)
    return decimal_to_text(value) if isinstance(value, Decimal) else str(value)
