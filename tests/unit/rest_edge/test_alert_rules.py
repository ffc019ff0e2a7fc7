"""When a price alert fires, is armed again, and what a sound one is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from openspot.domain.fair_price.band import PriceReference
from openspot.rest_edge.alerts.rules import (
    AlertState,
    Definition,
    Observation,
    PriceSide,
    Progress,
    armed,
    faults_of,
    judged,
    notification_text,
    state_of,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONCE = Definition(
    symbol="BTC-USD",
    source=PriceReference.LAST_TRADE,
    direction=PriceSide.ABOVE,
    price=Decimal(100),
    note=None,
    repeat=False,
    rearm_distance=None,
    interval_s=None,
)
BELOW = replace(ONCE, direction=PriceSide.BELOW)
HOURLY = replace(ONCE, repeat=True, interval_s=3600)
BY_DISTANCE = replace(ONCE, repeat=True, rearm_distance=Decimal(2))
FIRED = Progress(waits_for=None, level=None)


def seen(*prices: tuple[str, int]) -> list[Observation]:
    """Prices, each with its time in seconds after noon."""
    return [
        Observation(Decimal(price), NOON + timedelta(seconds=second), number)
        for number, (price, second) in enumerate(prices, start=1)
    ]


def firing_numbers(definition: Definition, *prices: tuple[str, int]) -> list[int]:
    """Which of the prices, counted from 1, fire an alert that is armed before the first."""
    return [firing.sequence for firing in judged(definition, armed(definition), seen(*prices))[1]]


@pytest.mark.parametrize(
    ("definition", "price", "fires"),
    [
        (ONCE, "99.999999999999999999", False),
        (ONCE, "100", True),
        (ONCE, "100.000000000000000001", True),
        (BELOW, "100.000000000000000001", False),
        (BELOW, "100", True),
        (BELOW, "99", True),
    ],
)
def test_a_price_fires_an_alert_if_it_is_at_its_price_or_beyond(
    definition: Definition, price: str, fires: bool
) -> None:
    assert firing_numbers(definition, (price, 0)) == ([1] if fires else [])


def test_an_alert_without_repeat_fires_once_however_often_the_price_comes_back() -> None:
    prices = seen(("99", 0), ("100", 1), ("90", 2), ("101", 9_999))
    assert judged(ONCE, armed(ONCE), prices) == (FIRED, [prices[1]])
    assert judged(ONCE, FIRED, prices) == (FIRED, [])


def test_a_price_that_hovers_fires_once_in_an_interval() -> None:
    assert firing_numbers(HOURLY, ("100", 0), ("99", 1), ("100", 2), ("101", 3599), ("100", 3600), ("100", 7199)) == [
        1,
        5,
    ]
    assert judged(HOURLY, armed(HOURLY), seen(("100", 0)))[0] == Progress(
        waits_for=PriceSide.ABOVE, level=Decimal(100), rests_until=NOON + timedelta(hours=1)
    )


def test_a_distance_arms_an_alert_only_when_the_price_has_gone_back_so_far() -> None:
    prices = ("100", 0), ("98.01", 70), ("100", 80), ("98", 90), ("99.99", 100), ("100", 110)
    assert firing_numbers(BY_DISTANCE, *prices) == [1, 6]
    below = replace(BY_DISTANCE, direction=PriceSide.BELOW)
    assert firing_numbers(below, ("100", 0), ("101.99", 70), ("99", 80), ("102", 90), ("100", 110)) == [1, 5]


def test_an_alert_with_a_distance_rests_for_a_minute_too() -> None:
    """Whoever trades with himself across the distance is told once a minute."""
    prices = ("100", 0), ("98", 1), ("100", 2), ("98", 3), ("100", 59), ("100", 60), ("98", 61), ("100", 119)
    assert firing_numbers(BY_DISTANCE, *prices) == [1, 6]
    assert judged(BY_DISTANCE, armed(BY_DISTANCE), seen(*prices))[0] == Progress(
        waits_for=PriceSide.ABOVE, level=Decimal(100), rests_until=NOON + timedelta(seconds=120)
    )
    assert judged(BY_DISTANCE, armed(BY_DISTANCE), seen(prices[0]))[0].level == 98


def test_the_state_says_whether_the_next_price_fires() -> None:
    assert state_of(ONCE, armed(ONCE), NOON) is AlertState.ARMED
    assert state_of(ONCE, FIRED, NOON) is AlertState.FIRED
    resting = Progress(waits_for=PriceSide.ABOVE, level=Decimal(100), rests_until=NOON + timedelta(seconds=1))
    assert state_of(HOURLY, resting, NOON) is AlertState.WAITING
    assert state_of(HOURLY, resting, NOON + timedelta(seconds=1)) is AlertState.ARMED
    back = Progress(waits_for=PriceSide.BELOW, level=Decimal(98), rests_until=NOON)
    assert state_of(BY_DISTANCE, back, NOON) is AlertState.WAITING


@pytest.mark.parametrize(
    ("definition", "faults"),
    [
        (ONCE, []),
        (HOURLY, []),
        (BY_DISTANCE, []),
        (replace(ONCE, rearm_distance=Decimal(1)), ["rearmDistance is for alerts with repeat"]),
        (replace(ONCE, interval_s=60), ["minimumIntervalSeconds is for alerts with repeat"]),
        (
            replace(ONCE, repeat=True),
            ["rearmDistance or minimumIntervalSeconds is required for an alert with repeat"],
        ),
        (
            replace(BY_DISTANCE, rearm_distance=Decimal(100)),
            ["rearmDistance must be less than price: the price would have to fall to 0"],
        ),
        (replace(BY_DISTANCE, rearm_distance=Decimal("99.99")), []),
        (replace(BY_DISTANCE, direction=PriceSide.BELOW, rearm_distance=Decimal(100)), []),
    ],
)
def test_a_definition_that_means_nothing_is_refused_with_the_field(definition: Definition, faults: list[str]) -> None:
    assert faults_of(definition) == faults


def test_a_condition_is_a_definition_without_its_note() -> None:
    assert replace(ONCE, note="buy").condition() == ONCE


def test_the_text_names_price_side_and_note() -> None:
    (price,) = seen(("100.50", 0))
    assert notification_text(ONCE, price) == "The last trade was at 100.5 USD: at or above 100 USD."
    fair = replace(BELOW, source=PriceReference.FAIR_PRICE, note="buy some")
    assert notification_text(fair, price) == "The fair price is 100.5 USD: at or below 100 USD. Your note: buy some"
