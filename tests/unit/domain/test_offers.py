"""What a market offers beside trading: which asset is offered, and the rules of the terms."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.listing import MarketStatus, faults
from openspot.domain.offer_checks import offer_checks, payment_checks, rate_check, staking_checks
from openspot.domain.offers import (
    EVERYTHING,
    NOTHING,
    EarlyRedemption,
    MarketOffers,
    Offer,
    PaymentTerms,
    StakingTerms,
    is_offered,
)

PAYMENTS = PaymentTerms(minimum=Decimal(5), maximum=Decimal(100), fee_bps=150, fee_fixed=Decimal("0.3"))
STAKING = StakingTerms(
    apr=Decimal("0.04"), lock_days=30, unbonding_days=2, early_redemption=EarlyRedemption.NOT_ALLOWED,
    minimum=Decimal(1), maximum=Decimal(100), capacity=Decimal(1000),
)  # fmt: skip
STAKING_ONLY = MarketOffers(frozenset({Offer.STAKING}))


def payment_faults(**changes: Any) -> list[str]:
    return faults(payment_checks(replace(PAYMENTS, **changes), 2))


def staking_faults(**changes: Any) -> list[str]:
    return faults(staking_checks(replace(STAKING, **changes), 2))


def offer_faults(
    names: list[str], status: MarketStatus = MarketStatus.OPEN, *, has_file: bool = False, **terms: Any
) -> list[str]:
    offers = MarketOffers(frozenset(Offer(name) for name in names), **terms)
    return faults(offer_checks(offers, names, 2, status, has_file=has_file))


def test_an_asset_is_offered_as_long_as_one_of_its_markets_says_so() -> None:
    markets = {"DOGE-USD": NOTHING, "DOGE-USDT": STAKING_ONLY, "BTC-USD": NOTHING}
    assert is_offered("DOGE", Offer.STAKING, markets)
    assert not is_offered("DOGE", Offer.PAYMENTS, markets)
    assert not is_offered("BTC", Offer.STAKING, markets)
    assert not is_offered("DOGE", Offer.STAKING, markets | {"DOGE-USDT": NOTHING})


def test_an_asset_that_is_no_base_is_offered_while_a_market_is_quoted_in_it() -> None:
    assert is_offered("USD", Offer.PAYMENTS, {"BTC-USD": NOTHING})
    assert not is_offered("USD", Offer.PAYMENTS, {"BTC-EUR": EVERYTHING})
    # USDT is the base of a market, and what that says counts.
    assert not is_offered("USDT", Offer.STAKING, {"BTC-USDT": EVERYTHING, "USDT-USD": NOTHING})


def test_sound_terms_have_no_fault() -> None:
    assert payment_faults() == []
    assert staking_faults() == []
    assert offer_faults(["conversions", "payments", "staking"], payments=PAYMENTS, staking=STAKING) == []
    assert offer_faults([]) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"minimum": Decimal(0)}, "payments.minimum must be above 0"),
        ({"minimum": Decimal("5.001")}, "payments.minimum must have at most 2 decimal places"),
        ({"minimum": Decimal(101)}, "payments.maximum must not be below minimum"),
        ({"maximum": Decimal(10) ** 30}, "payments.maximum is too large"),
        ({"fee_bps": -1}, "payments.feeBps must be at least 0 and less than 10000"),
        ({"fee_bps": 10_000}, "payments.feeBps must be at least 0 and less than 10000"),
        ({"fee_fixed": Decimal(-1)}, "payments.feeFixed must be at least 0"),
        ({"fee_fixed": Decimal("0.001")}, "payments.feeFixed must have at most 2 decimal places"),
        (
            {"fee_fixed": Decimal(5)},
            "payments.feeFixed is too high: the fee on the least amount must be less than it",
        ),
    ],
)
def test_a_fault_of_the_terms_of_payments_is_named_with_its_field(changes: dict[str, Any], fault: str) -> None:
    assert payment_faults(**changes) == [fault]
    assert offer_faults(["payments"], payments=replace(PAYMENTS, **changes)) == [fault]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"minimum": Decimal(0)}, "staking.minimum must be above 0"),
        ({"minimum": Decimal(101)}, "staking.maximum must not be below minimum"),
        ({"capacity": Decimal("1.001")}, "staking.capacity must have at most 2 decimal places"),
        ({"apr": Decimal("10.000001")}, "staking.apr must be between 0 and 10"),
        ({"apr": Decimal("-0.1")}, "staking.apr must be between 0 and 10"),
        ({"apr": Decimal("0.0000001")}, "staking.apr must have at most 6 decimal places"),
        ({"lock_days": 3651}, "staking.lockDays must be between 0 and 3650"),
        ({"lock_days": -1, "early_redemption": EarlyRedemption.ALLOWED}, "staking.lockDays must be between 0 and 3650"),
        ({"unbonding_days": 3651}, "staking.unbondingDays must be between 0 and 3650"),
        ({"lock_days": 0}, "staking.earlyRedemption must be allowed where lockDays is 0"),
    ],
)
def test_a_fault_of_the_terms_of_stakes_is_named_with_its_field(changes: dict[str, Any], fault: str) -> None:
    assert staking_faults(**changes) == [fault]
    # They are checked also while stakes are not offered: stakes of before go on with them.
    assert offer_faults([], staking=replace(STAKING, **changes)) == [fault]


def test_an_operators_rate_has_a_bound_of_its_own_which_it_may_reach() -> None:
    most = Decimal("0.25")
    assert faults([rate_check(replace(STAKING, apr=most), most)]) == []
    assert faults([rate_check(replace(STAKING, apr=Decimal("0.250001")), most)]) == [
        "staking.apr must be at most 0.25, as OPENSPOT_ENGINE_STAKING_APR_MAX says"
    ]


def test_a_new_asset_needs_terms_and_one_of_the_platform_has_those_of_the_files() -> None:
    both = ["payments", "staking"]
    assert offer_faults(both) == [
        f"{name} {name} of an asset that the platform did not begin with need terms" for name in both
    ]
    assert offer_faults(both, has_file=True) == []


@pytest.mark.parametrize("status", [MarketStatus.DELISTING, MarketStatus.DELISTED])
def test_a_market_that_is_delisted_offers_nothing(status: MarketStatus) -> None:
    assert offer_faults(["conversions"], status) == [f"offers must be empty: the market is {status}"]
    assert offer_faults([], status) == []


def test_a_service_is_named_once() -> None:
    assert offer_faults(["conversions", "conversions"]) == ["offers must name each service once"]
