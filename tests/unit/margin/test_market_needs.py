"""Which markets an account needs, so that it can be valued and liquidated."""

import pytest

from openspot.domain.margin_offer import margin_offer
from openspot.margin.market_needs import needs_market, valued_only_with

OFFERED = margin_offer().markets
BRAZILIAN = {symbol for symbol in OFFERED if symbol.endswith("-BRL")}


@pytest.mark.parametrize(
    ("symbol", "involved", "is_needed"),
    [
        # Over the valuation asset everything is sold and bought, also where nothing is held or owed of it.
        ("BTC-USD", {"BTC", "USD"}, True),
        ("BTC-USD", {"BTC"}, True),
        ("BTC-USD", {"ETH", "USD"}, False),
        ("BTC-USD", {"BRL", "ETH"}, False),
        ("BTC-USD", set(), False),
        # A direct way between the two.
        ("BTC-BRL", {"BTC", "BRL"}, True),
        ("BTC-BRL", {"BTC", "USD"}, False),
        ("BTC-BRL", {"ETH", "BRL"}, False),
        ("ETH-BTC", {"ETH", "BTC"}, True),
        ("ETH-BTC", {"ETH", "USD"}, False),
    ],
)
def test_an_account_needs_the_markets_on_which_its_assets_are_sold_and_bought(
    symbol: str, involved: set[str], is_needed: bool
) -> None:
    assert needs_market(symbol, involved, OFFERED - {symbol}, "USD") is is_needed


def test_the_last_market_that_values_an_asset_is_needed_by_everyone_who_has_the_asset() -> None:
    last = sorted(BRAZILIAN)[0]
    assert not needs_market(last, {"BRL", "USD"}, OFFERED - {last}, "USD")
    # The others are delisted soon, too: nobody may count on them.
    assert needs_market(last, {"BRL", "USD"}, OFFERED - BRAZILIAN, "USD")
    assert valued_only_with(last, OFFERED - BRAZILIAN, "USD") == {"BRL"}
    assert valued_only_with(last, OFFERED - {last}, "USD") == set()


def test_a_chain_over_two_markets_needs_both() -> None:
    others = {"ETH-BTC", "BTC-BRL"}
    assert valued_only_with("BTC-USD", others, "USD") == {"BTC", "ETH", "BRL"}
    assert needs_market("BTC-USD", {"BRL"}, others, "USD")
    assert valued_only_with("BTC-BRL", {"BTC-USD", "ETH-BTC"}, "USD") == {"BRL"}
