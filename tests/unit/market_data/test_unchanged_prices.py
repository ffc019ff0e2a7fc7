"""A fair price comes at once when it changes, and otherwise often enough that nobody thinks it stale."""

from dataclasses import dataclass

import msgspec
import pytest

from openspot.contracts.messages import FairPriceEvent
from openspot.market_data.unchanged_prices import UNCHANGED_S, UnchangedPrices
from openspot.market_data_client.fair_prices import STALE_S


@dataclass
class Clock:
    """A monotonic clock that stands still."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


BTC = FairPriceEvent(
    symbol="BTC-USD",
    state="fresh",
    price="50000",
    low="49000",
    high="51000",
    day_median="50000",
    sellable="1",
    buyable="1",
    timestamp=1_700_000_000_000,
    is_confirmed=True,
)


def second_later(event: FairPriceEvent, **changes: object) -> FairPriceEvent:
    return msgspec.structs.replace(event, timestamp=event.timestamp + 1000, **changes)


def test_a_price_that_only_grew_older_waits_and_comes_again_when_it_is_due() -> None:
    clock = Clock()
    prices = UnchangedPrices(clock)
    assert prices.due([BTC]) == [BTC]
    clock.now += 1
    assert prices.due([second_later(BTC)]) == []
    clock.now += UNCHANGED_S - 1.001
    assert prices.due([second_later(BTC)]) == []
    clock.now += 0.001
    later = second_later(BTC)
    assert prices.due([later]) == [later]
    clock.now += 1
    assert prices.due([later]) == []


@pytest.mark.parametrize(
    "changes",
    [{"state": "stale"}, {"price": "50000.01"}, {"high": "52000"}, {"sellable": "0"}, {"is_confirmed": False}],
    ids=lambda changes: next(iter(changes)),
)
def test_anything_new_about_a_price_comes_at_once(changes: dict[str, object]) -> None:
    prices = UnchangedPrices(Clock())
    prices.due([BTC])
    changed = second_later(BTC, **changes)
    assert prices.due([changed]) == [changed]


def test_one_market_does_not_hold_back_another() -> None:
    prices = UnchangedPrices(Clock())
    prices.due([BTC])
    ether = msgspec.structs.replace(BTC, symbol="ETH-USD")
    assert prices.due([BTC, ether]) == [ether]


def test_two_repetitions_may_be_lost_before_a_price_is_stale() -> None:
    assert 3 * UNCHANGED_S < STALE_S
