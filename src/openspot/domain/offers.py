"""What the platform offers for an asset beside its trading: conversions, payments and staking.

A market names what is offered: conversions between its two assets, payments and staking of its base asset. A market
that an operator lists offers nothing at first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from openspot.domain.money import AMOUNT_PLACES, BASIS_POINTS


class Offer(StrEnum):
    """A service that the platform offers beside trading."""

    CONVERSIONS = "conversions"
    PAYMENTS = "payments"
    STAKING = "staking"


class EarlyRedemption(StrEnum):
    """The effect of taking a stake back before its end."""

    ALLOWED = "allowed"
    FORFEITS_REWARDS = "forfeits_rewards"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentTerms:
    """The terms of payments in an asset. The fee of a payment is `fee_fixed` and `fee_bps` basis points of it."""

    minimum: Decimal
    maximum: Decimal
    fee_bps: int
    fee_fixed: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class StakingTerms:
    """The terms of stakes of an asset. `apr` is the yearly rate as a decimal; 0 `lock_days`: the stake is flexible.

    `minimum` and `maximum` bound what one user stakes, `capacity` what all users stake.
    """

    apr: Decimal
    lock_days: int
    unbonding_days: int
    early_redemption: EarlyRedemption
    minimum: Decimal
    maximum: Decimal
    capacity: Decimal


@dataclass(frozen=True, slots=True)
class MarketOffers:
    """What a market offers. Terms stay known where the service is not offered any more."""

    names: frozenset[Offer] = frozenset()
    payments: PaymentTerms | None = None
    staking: StakingTerms | None = None


EVERYTHING = MarketOffers(frozenset(Offer))
"""What the markets of domain/markets.toml offer, until an operator changes it."""
NOTHING = MarketOffers()


def is_offered(asset: str, offer: Offer, offers: Mapping[str, MarketOffers]) -> bool:
    """Whether payments or staking of an asset are offered, `offers` being those of all markets by symbol.

    One market with the base `asset` suffices. An asset that is the base of none, such as a currency of account, is
    offered as long as a market is quoted in it.
    """
    own = [offered for symbol, offered in offers.items() if symbol.partition("-")[0] == asset]
    return any(offer in offered.names for offered in own) if own else asset in _quotes(offers)


def _quotes(symbols: Iterable[str]) -> set[str]:
    return {symbol.partition("-")[2] for symbol in symbols}


def smallest_unit(places: int) -> int:
    """The smallest amount of an asset with `places` decimal places, in units of 18 places."""
    return int(10 ** (AMOUNT_PLACES - places))


def payment_fee(amount: int, fee_bps: int, fee_fixed: int, unit: int) -> int:
    """The fee on a payment of `amount`, rounded up to a whole number of `unit`. All are units of 18 places."""
    exact = fee_fixed * BASIS_POINTS + amount * fee_bps
    return -(-exact // (BASIS_POINTS * unit)) * unit
