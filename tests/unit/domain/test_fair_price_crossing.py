"""The prices of assets from the fair prices of markets."""

from dataclasses import replace

from openspot.domain.accounts import margin_account_id, user_of_account
from openspot.domain.fair_price.crossing import IDENTITY, AssetPrice, asset_prices
from openspot.domain.fair_price.model import FairPrice, PriceState, worst_state

ONE = 10**18


def market(
    symbol: str, low: int, mid: int, high: int, state: PriceState = PriceState.GOOD, reason: str = ""
) -> FairPrice:
    return FairPrice(
        symbol=symbol,
        state=state,
        price=mid * ONE,
        low=low * ONE,
        high=high * ONE,
        day_median=mid * ONE,
        sellable=3 * ONE,
        buyable=5 * ONE,
        timestamp_ms=1,
        reason=reason,
    )


def test_an_asset_with_a_market_in_the_valuation_asset_has_that_markets_prices() -> None:
    found = asset_prices("USD", {"BTC-USD": market("BTC-USD", 90, 100, 110)})
    assert found == {
        "USD": IDENTITY,
        "BTC": AssetPrice(90 * ONE, 100 * ONE, 110 * ONE, 100 * ONE, PriceState.GOOD, 3 * ONE, 5 * ONE),
    }


def test_a_chain_is_as_careful_and_as_unsure_as_all_of_its_markets_together() -> None:
    prices = {
        "BTC-USD": market("BTC-USD", 90, 100, 110),
        "BTC-BRL": market("BTC-BRL", 400, 500, 600, PriceState.DISPUTED, "the sources differ"),
    }
    found = asset_prices("USD", prices)["BRL"]
    assert found == AssetPrice(
        low=90 * ONE // 600,
        price=ONE // 5,
        high=-(-110 * ONE // 400),
        day_median=ONE // 5,
        state=PriceState.DISPUTED,
        sellable=5 * 500 * ONE,
        buyable=3 * 500 * ONE,
        reason="the sources differ",
    )


def test_the_direct_market_is_preferred_to_a_chain() -> None:
    prices = {
        "ETH-BTC": market("ETH-BTC", 1, 2, 3),
        "ETH-USD": market("ETH-USD", 10, 11, 12),
        "BTC-USD": market("BTC-USD", 90, 100, 110),
    }
    assert asset_prices("USD", prices)["ETH"].price == 11 * ONE


def test_a_market_that_was_listed_later_does_not_value_what_the_platforms_own_markets_reach() -> None:
    own = {"BTC-USD": market("BTC-USD", 90, 100, 110), "BTC-BRL": market("BTC-BRL", 400, 500, 600)}
    later = {symbol: market(symbol, 1, 1, 1) for symbol in ("ADA-USD", "ADA-BRL", "BRL-USD", "ADA-XYZ")}
    found = asset_prices("USD", own | later)
    assert found["BRL"] == asset_prices("USD", own)["BRL"]
    assert found["ADA"].price == ONE and found["XYZ"].price == ONE


def test_an_asset_without_a_connected_market_has_no_price() -> None:
    assert asset_prices("USD", {"SOL-BRL": market("SOL-BRL", 1, 2, 3)}) == {"USD": IDENTITY}


def test_the_worst_state_is_the_least_sure_one() -> None:
    assert worst_state(PriceState.THIN, PriceState.STALE, PriceState.GOOD) is PriceState.STALE
    assert worst_state(PriceState.DISPUTED, PriceState.STALE) is PriceState.DISPUTED


def test_every_margin_account_belongs_to_its_user() -> None:
    assert [user_of_account(margin_account_id("alice", number)) for number in (1, 2, 17)] == ["alice"] * 3
    assert user_of_account("alice") == "alice"
    assert user_of_account("house:fees") == "house:fees"


def test_the_second_margin_account_of_a_user_has_its_number() -> None:
    assert margin_account_id("ann", 1) == "margin:ann"
    assert margin_account_id("ann", 2) == "margin:ann:2"


# Figures that no fraction of binary arithmetic holds exactly.
ODD = FairPrice(
    symbol="BTC-BRL",
    state=PriceState.GOOD,
    price=500_000_000_000_000_000_000_003,
    low=400_000_000_000_000_000_000_007,
    high=600_000_000_000_000_000_000_001,
    day_median=500_000_000_000_000_000_000_009,
    sellable=3_000_000_000_000_000_001,
    buyable=5_000_000_000_000_000_003,
    timestamp_ms=1,
)
THIN_BRL = FairPrice(
    symbol="BRL-USD",
    state=PriceState.THIN,
    price=200_000_000_000_000_001,
    low=100_000_000_000_000_003,
    high=300_000_000_000_000_007,
    day_median=200_000_000_000_000_009,
    sellable=1,
    buyable=2,
    timestamp_ms=1,
    reason="few owners",
)


def test_a_chain_of_base_assets_is_exact_and_rounds_against_the_account() -> None:
    assert asset_prices("USD", {"BTC-BRL": ODD, "BRL-USD": THIN_BRL})["BTC"] == AssetPrice(
        low=40_000_000_000_000_001_200_000,
        price=100_000_000_000_000_000_500_000,
        high=180_000_000_000_000_004_200_001,
        day_median=100_000_000_000_000_004_500_002,
        state=PriceState.THIN,
        sellable=3_000_000_000_000_000_001,
        buyable=5_000_000_000_000_000_003,
        reason="few owners",
    )


def test_the_price_of_a_quote_asset_is_exact_and_rounds_against_the_account() -> None:
    prices = {"BTC-BRL": ODD, "BTC-USD": replace(THIN_BRL, symbol="BTC-USD")}
    assert asset_prices("USD", prices)["BRL"] == AssetPrice(
        low=100_000_000_000_000_003 * ONE // 600_000_000_000_000_000_000_001,
        price=200_000_000_000_000_001 * ONE // 500_000_000_000_000_000_000_003,
        high=300_000_000_000_000_007 * ONE // 400_000_000_000_000_000_000_007 + 1,
        day_median=200_000_000_000_000_009 * ONE // 500_000_000_000_000_000_000_009 + 1,
        state=PriceState.THIN,
        sellable=2_500_000_000_000_000_001_500_015,
        buyable=1_500_000_000_000_000_000_500_009,
        reason="few owners",
    )


def test_a_quote_asset_whose_market_has_no_day_yet_has_no_median() -> None:
    prices = {"BTC-BRL": replace(ODD, day_median=0), "BTC-USD": replace(THIN_BRL, symbol="BTC-USD")}
    assert asset_prices("USD", prices)["BRL"].day_median == 0


def test_a_market_without_a_price_is_passed_over_and_one_unit_is_a_price() -> None:
    prices = {
        "AAA-USD": replace(ODD, symbol="AAA-USD", low=0),
        "BBB-USD": replace(ODD, symbol="BBB-USD", low=1),
        "CCC-BBB": replace(ODD, symbol="CCC-BBB", low=ONE),
        "DDD-BBB": replace(ODD, symbol="DDD-BBB", low=ONE - 1),
    }
    found = asset_prices("USD", prices)
    assert {asset: price.low for asset, price in found.items()} == {"USD": ONE, "BBB": 1, "CCC": 1}
