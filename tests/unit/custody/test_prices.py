"""The price of a withdrawal: nobody makes one look small, and an unsure price is decided on by people."""

from decimal import Decimal

import pytest

from openspot.custody.prices import PriceUnknownError, WithdrawalPrice, parse_prices, withdrawal_price
from openspot.custody.settings import CustodySettings
from openspot.domain.fair_price.model import PriceState
from openspot.domain.market import load_markets
from tests.support.fair_prices import asset_price

REFERENCE = {"BTC": Decimal(60_000)}
UNSURE = (PriceState.STALE, PriceState.DISPUTED)
SURE = (PriceState.GOOD, PriceState.THIN)


def test_a_new_platform_values_every_asset() -> None:
    prices = parse_prices(CustodySettings.model_fields["custody_reference_prices"].default)
    for asset in load_markets().assets:
        assert withdrawal_price(asset, {}, prices).dollars > 0


def test_a_dollar_is_a_dollar_whatever_is_published() -> None:
    assert withdrawal_price("USD", {"USD": asset_price("2", state=PriceState.STALE)}, {}) == WithdrawalPrice(Decimal(1))


@pytest.mark.parametrize("state", SURE)
def test_a_price_that_was_pushed_down_today_counts_with_the_median_of_the_day(state: PriceState) -> None:
    pushed = {"BTC": asset_price("50", low="49", high="51", day_median="100000", state=state)}
    assert withdrawal_price("BTC", pushed, REFERENCE) == WithdrawalPrice(Decimal(100_000))


@pytest.mark.parametrize("state", SURE)
def test_of_several_sources_the_highest_counts_and_not_the_middle(state: PriceState) -> None:
    prices = {"BTC": asset_price("100", low="90", high="110.5", day_median="95", state=state)}
    assert withdrawal_price("BTC", prices, REFERENCE) == WithdrawalPrice(Decimal("110.5"))


@pytest.mark.parametrize("state", UNSURE)
def test_at_an_unsure_price_the_operators_counts_too_and_people_decide(state: PriceState) -> None:
    prices = {"BTC": asset_price("100", day_median="90", state=state, reason="sources differ")}
    assert withdrawal_price("BTC", prices, REFERENCE) == WithdrawalPrice(Decimal(60_000), "sources differ")
    assert withdrawal_price("BTC", prices, {"BTC": Decimal(1)}).dollars == 100
    assert withdrawal_price("BTC", prices, {}) == WithdrawalPrice(Decimal(100), "sources differ")
    silent = {"BTC": asset_price("100", state=state)}
    assert withdrawal_price("BTC", silent, {}).unsure_because == f"its fair price is {state}"


def test_without_any_fair_price_the_operators_values_and_people_decide() -> None:
    found = withdrawal_price("BTC", {}, REFERENCE)
    assert found == WithdrawalPrice(Decimal(60_000), "no market of it has a fair price yet")


def test_what_nobody_knows_the_price_of_is_refused_with_what_is_missing() -> None:
    with pytest.raises(PriceUnknownError, match="no market of it has a fair price yet, and the operator has set none"):
        withdrawal_price("ETH", {"BTC": asset_price("1")}, REFERENCE)


@pytest.mark.parametrize("text", ["BTC", "BTC=", "BTC=0", "BTC=-1", "BTC=much", "BTC=1e5x"])
def test_what_is_no_price_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"OPENSPOT_CUSTODY_REFERENCE_PRICES: 'BTC"):
        parse_prices(f"USDT=1,{text}")
