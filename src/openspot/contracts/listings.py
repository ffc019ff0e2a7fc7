"""What the engine says of its markets and assets, beside the figures that matching needs: their listing.

The engine keeps the terms of a market in its journal, and every service reads the whole list from it
(docs/adr/0076-the-engine-lists-the-markets.md). Decimals are text, times are milliseconds since 1970.
"""

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

import msgspec

from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.domain.listing import MarketStatus, ProposedBounds
from openspot.domain.market import MarketConfiguration, MarketLimits
from openspot.domain.money import decimal_to_text, parse_decimal
from openspot.domain.offers import (
    NOTHING,
    EarlyRedemption,
    MarketOffers,
    Offer,
    PaymentTerms,
    StakingTerms,
)

Status = Annotated[str, listed(*MarketStatus)]
OfferName = Annotated[str, listed(*Offer)]


class StatusAt(Message, frozen=True):
    """A status that a market gets by itself at a time."""

    status: Status
    at: Count


class PaymentOffer(Message, frozen=True, kw_only=True):
    """The terms of payments in a market's base asset, as `PaymentTerms`."""

    minimum: DecimalText
    maximum: DecimalText
    fee_bps: int
    fee_fixed: DecimalText

    @property
    def terms(self) -> PaymentTerms:
        """The terms as numbers. Raises MoneyError unless all texts are decimals."""
        return PaymentTerms(
            minimum=parse_decimal(self.minimum),
            maximum=parse_decimal(self.maximum),
            fee_bps=self.fee_bps,
            fee_fixed=parse_decimal(self.fee_fixed),
        )


class StakingOffer(Message, frozen=True, kw_only=True):
    """The terms of stakes of a market's base asset, as `StakingTerms`."""

    apr: DecimalText
    lock_days: int
    unbonding_days: int
    early_redemption: Annotated[str, listed(*EarlyRedemption)]
    minimum: DecimalText
    maximum: DecimalText
    capacity: DecimalText

    @property
    def terms(self) -> StakingTerms:
        """The terms as numbers. Raises MoneyError, and ValueError for a redemption that this version does not know."""
        return StakingTerms(
            apr=parse_decimal(self.apr),
            lock_days=self.lock_days,
            unbonding_days=self.unbonding_days,
            early_redemption=EarlyRedemption(self.early_redemption),
            minimum=parse_decimal(self.minimum),
            maximum=parse_decimal(self.maximum),
            capacity=parse_decimal(self.capacity),
        )


class MarketTerms(Message, frozen=True, kw_only=True):
    """The terms of a market: its bounds and bands, its status, what traders read of it, and what it offers.

    Quantities are in the base asset, notionals in the quote asset. `name` is empty if the symbol is name enough.
    `offers` names the services beside trading; `payments` and `staking` have the terms that an operator has given. In
    the journal they are left out until an operator sets them.
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
    offers: list[OfferName] | msgspec.UnsetType = msgspec.UNSET
    payments: PaymentOffer | msgspec.UnsetType = msgspec.UNSET
    staking: StakingOffer | msgspec.UnsetType = msgspec.UNSET

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

    @property
    def market_offers(self) -> MarketOffers:
        """What the market offers. A service that this version does not know is left out. Raises ValueError."""
        return MarketOffers(
            names=frozenset(Offer(name) for name in self.offers or () if name in _OFFERS),
            payments=self.payments.terms if self.payments else None,
            staking=self.staking.terms if self.staking else None,
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


_OFFERS = frozenset(Offer)


def terms_of(limits: MarketLimits, offers: MarketOffers = NOTHING) -> MarketTerms:
    """The terms of a market with these limits and offers."""
    return MarketTerms(
        quantity_min=decimal_to_text(limits.quantity_min),
        quantity_max=decimal_to_text(limits.quantity_max),
        notional_min=decimal_to_text(limits.notional_min),
        notional_max=decimal_to_text(limits.notional_max),
        deviation_bps_max=limits.deviation_bps_max,
        slippage_bps_max=limits.slippage_bps_max,
        offers=sorted(offer.value for offer in offers.names),
    )


def seed_terms(configuration: MarketConfiguration) -> dict[str, MarketTerms]:
    """The terms of the markets of domain/markets.toml, by symbol."""
    return {
        symbol: terms_of(limits, configuration.offers.get(symbol, NOTHING))
        for symbol, limits in configuration.limits.items()
    }


def version_of(terms: MarketTerms | None, taker_fee: int, maker_fee: int, changed_at: int) -> str:
    """A text that is another one after each change of a market, also where the change gives back what was before.

    `changed_at` is the time of its newest change in milliseconds since 1970, 0 before the first.
    """
    content = msgspec.json.encode([terms, taker_fee, maker_fee, changed_at])
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The fields that differ, as texts, before and after."""
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return (
        {name: _text(before[name]) for name in changed if name in before},
        {name: _text(after[name]) for name in changed if name in after},
    )


def fields_of(terms: MarketTerms, taker_fee: int, maker_fee: int) -> dict[str, Any]:
    """The fields of a market that an operator changes, by their names on the wire: `payments.minimum`, for example."""
    fields: dict[str, Any] = {"takerFee": taker_fee, "makerFee": maker_fee}
    for name, value in msgspec.to_builtins(terms).items():
        parts = {f"{name}.{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
        fields |= parts
    return fields


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(entry if isinstance(entry, str) else f"{entry['status']} at {entry['at']}" for entry in value)
    return decimal_to_text(value) if isinstance(value, Decimal) else str(value)
