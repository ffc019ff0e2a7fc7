"""The rules of what a market offers, which the engine asks before it writes a change, and the files of the platform."""

from collections.abc import Sequence
from decimal import Decimal

from openspot.domain.listing import ENDED, ListingCheck, MarketStatus
from openspot.domain.money import BASIS_POINTS, MoneyError, decimal_to_text, to_amount
from openspot.domain.offers import (
    EarlyRedemption,
    MarketOffers,
    Offer,
    PaymentTerms,
    StakingTerms,
    payment_fee,
    smallest_unit,
)

APR_PLACES = 6
APR_MAX = 10
DAYS_MAX = 3650


def offer_checks(
    offers: MarketOffers, given: Sequence[str], places: int, status: MarketStatus, *, has_file: bool
) -> list[ListingCheck]:
    """The rules of what a market with a base asset of so many decimal places offers.

    `given` are the names as an operator gave them. With `has_file`, files of the platform may have the terms.
    """
    twice = "must name each service once" if len(set(given)) < len(given) else ""
    ended = f"must be empty: the market is {status}" if status in ENDED and offers.names else ""
    checks = [
        _check("offers", "each service once", twice),
        _check("offers", "nothing of a market that is delisted", ended),
    ]
    for offer, terms in ((Offer.PAYMENTS, offers.payments), (Offer.STAKING, offers.staking)):
        lacks = offer in offers.names and terms is None and not has_file
        fault = f"{offer} of an asset that the platform did not begin with need terms" if lacks else ""
        checks.append(_check(offer.value, f"terms, if {offer} are offered", fault))
    if offers.payments is not None:
        checks += payment_checks(offers.payments, places)
    if offers.staking is not None:
        checks += staking_checks(offers.staking, places)
    return checks


def payment_checks(terms: PaymentTerms, places: int) -> list[ListingCheck]:
    """The rules of the terms of payments in an asset with so many decimal places."""
    amounts = {"minimum": terms.minimum, "maximum": terms.maximum}
    checks = [_amount_check(f"payments.{name}", amount, places) for name, amount in amounts.items()]
    fixed = _places_fault(terms.fee_fixed, places) or ("must be at least 0" if terms.fee_fixed < 0 else "")
    in_range = 0 <= terms.fee_bps < BASIS_POINTS
    bounds = "" if terms.minimum <= terms.maximum else "must not be below minimum"
    checks += [
        _check("payments.maximum", "not below minimum", bounds),
        _check("payments.feeFixed", "at least 0, no finer than the asset", fixed),
        _check("payments.feeBps", f"at least 0 and less than {BASIS_POINTS}",
               "" if in_range else f"must be at least 0 and less than {BASIS_POINTS}"),
    ]  # fmt: skip
    too_high = ""
    if not any(check.fault for check in checks):
        # The fee grows more slowly than the amount. So if it is less than the least amount, it is less than any amount.
        least = to_amount(terms.minimum)
        fee = payment_fee(least, terms.fee_bps, to_amount(terms.fee_fixed), smallest_unit(places))
        too_high = "" if fee < least else "is too high: the fee on the least amount must be less than it"
    return [*checks, _check("payments.feeFixed", "the fee on the least amount is less than it", too_high)]


def staking_checks(terms: StakingTerms, places: int) -> list[ListingCheck]:
    """The rules of the terms of stakes of an asset with so many decimal places."""
    amounts = {"minimum": terms.minimum, "maximum": terms.maximum, "capacity": terms.capacity}
    checks = [_amount_check(f"staking.{name}", amount, places) for name, amount in amounts.items()]
    bounds = "" if terms.minimum <= terms.maximum else "must not be below minimum"
    rate = _places_fault(terms.apr, APR_PLACES)
    rate = rate or ("" if 0 <= terms.apr <= APR_MAX else f"must be between 0 and {APR_MAX}")
    is_free = terms.lock_days > 0 or terms.early_redemption is EarlyRedemption.ALLOWED
    return [
        *checks,
        _check("staking.maximum", "not below minimum", bounds),
        _check("staking.apr", f"the yearly rate, between 0 and {APR_MAX}, with at most {APR_PLACES} places", rate),
        _check("staking.lockDays", f"0 to {DAYS_MAX} days; 0: a stake can be taken back at any time",
               _days_fault(terms.lock_days)),
        _check("staking.unbondingDays", f"0 to {DAYS_MAX} days", _days_fault(terms.unbonding_days)),
        _check("staking.earlyRedemption", "allowed, unless the stake is locked for days",
               "" if is_free else "must be allowed where lockDays is 0"),
    ]  # fmt: skip


def rate_check(terms: StakingTerms, apr_max: Decimal) -> ListingCheck:
    """The rule of the yearly rate that an operator gives a market. The files of the platform are free of it."""
    most = f"at most {decimal_to_text(apr_max)}"
    fault = f"must be {most}, as OPENSPOT_ENGINE_STAKING_APR_MAX says" if terms.apr > apr_max else ""
    return _check("staking.apr", f"{most}, where an operator sets it", fault)


def _amount_check(field: str, amount: Decimal, places: int) -> ListingCheck:
    fault = "must be above 0" if amount <= 0 else _places_fault(amount, places)
    return _check(field, f"above 0, with at most {places} decimal places", fault)


def _places_fault(amount: Decimal, places: int) -> str:
    try:
        is_whole = to_amount(amount) % smallest_unit(places) == 0
    except MoneyError as error:
        return str(error)
    return "" if is_whole else f"must have at most {places} decimal places"


def _days_fault(days: int) -> str:
    return "" if 0 <= days <= DAYS_MAX else f"must be between 0 and {DAYS_MAX}"


def _check(field: str, rule: str, fault: str) -> ListingCheck:
    return ListingCheck(field, rule, fault)
