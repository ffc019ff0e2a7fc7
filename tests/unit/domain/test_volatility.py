"""When a price has moved too far: against what, and for how long a price counts."""

import pytest

from openspot.domain.volatility import PARTS, PriceWindow, has_moved

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND
SPAN = 60 * SECOND


@pytest.mark.parametrize(
    ("price", "other", "is_moved"),
    [(1000, 1050, False), (1050, 1000, False), (1000, 1051, True), (1051, 1000, True), (1000, 1000, False)],
)
def test_a_move_is_in_basis_points_of_the_lower_price_and_more_than_the_setting(
    price: int, other: int, is_moved: bool
) -> None:
    assert has_moved(price, other, 500) is is_moved


def test_a_price_is_compared_with_the_highest_and_the_lowest_of_the_window() -> None:
    window = PriceWindow(SPAN)
    for second, price in enumerate((1000, 1040, 1000, 960)):
        window.add(price, NOW + second * SECOND, 0)
    assert window.has_moved(1009, 500), "960 is too low"
    assert window.has_moved(990, 500), "1040 is too high"
    assert not window.has_moved(1000, 500)


def test_a_price_that_has_stood_counts_until_it_was_replaced() -> None:
    window = PriceWindow(SPAN)
    window.add(1000, NOW, None)
    window.add(1100, NOW + 3600 * SECOND, 0)
    assert window.has_moved(1100, 500)


@pytest.mark.parametrize("gap_ns", [None, 3600 * SECOND, SPAN + SECOND])
def test_a_price_from_before_a_long_silence_counts_no_more(gap_ns: int | None) -> None:
    window = PriceWindow(SPAN)
    window.add(1000, NOW, None)
    window.add(1100, NOW + 3600 * SECOND, gap_ns)
    assert not window.has_moved(1100, 500)


def test_a_price_from_before_a_short_silence_counts() -> None:
    window = PriceWindow(SPAN)
    window.add(1000, NOW, None)
    window.add(1100, NOW + 3600 * SECOND, SPAN - 5 * SECOND)
    assert window.has_moved(1100, 500)


def test_a_slow_move_is_none() -> None:
    window = PriceWindow(SPAN)
    for minute in range(20):
        price = 1000 + 40 * minute
        window.add(price, NOW + minute * (SPAN + SECOND), None)
        assert not window.has_moved(price, 500)


def test_a_window_has_a_bound_however_many_prices_come() -> None:
    window = PriceWindow(SPAN)
    for number in range(20_000):
        window.add(1000 + number % 7, NOW + number * SECOND // 10, 0)
    assert len(window._parts) <= PARTS + 1


def test_the_first_price_is_no_move() -> None:
    window = PriceWindow(SPAN)
    window.add(5, NOW, 0)
    assert not window.has_moved(5, 1)
