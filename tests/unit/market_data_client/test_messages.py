"""What a reader of fair prices believes of a message."""

from typing import Any

import pytest
from msgspec.structs import replace

from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.market_data_client.fair_prices import fair_price_of
from tests.support.fair_prices import fair_price_event

EVENT = fair_price_event("BTC-USD", "100", 7, low="99", high="101", day_median="98", sellable="2", buyable="3")
ONE = 10**18


def test_a_message_becomes_the_price_that_it_says() -> None:
    assert fair_price_of(EVENT) == FairPrice(
        "BTC-USD", PriceState.GOOD, 100 * ONE, 99 * ONE, 101 * ONE, 98 * ONE, 2 * ONE, 3 * ONE, 7
    )


@pytest.mark.parametrize(
    "change",
    [
        {"low": "0"},
        {"low": "100.1"},
        {"high": "99.9"},
        {"price": "-1"},
        {"price": "1e2"},
        {"price": "NaN"},
        {"high": "1000000000000000001"},
        {"day_median": ""},
        {"sellable": "-1"},
        {"buyable": "x"},
        {"state": "certain"},
    ],
)
def test_a_message_that_contradicts_itself_is_no_price(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        fair_price_of(replace(EVENT, **change))
