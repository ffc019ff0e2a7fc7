"""What the book that has stood says about the price."""

from hypothesis import given, settings
from hypothesis import strategies as st

from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.fair_price.standing import (
    LEVELS_MAX,
    BookSample,
    PriceLevel,
    StandingBook,
    StandingDepth,
    StandingMid,
    middle,
    sample_of,
)
from openspot.domain.money import AMOUNT_SCALE

ONE = AMOUNT_SCALE
RULES = FairPriceRules()


def levels(*pairs: tuple[int, int]) -> list[PriceLevel]:
    return [(price * ONE, quantity * ONE) for price, quantity in pairs]


def sample(second: int, sell: int | None = 99, buy: int | None = 101, depth: int = 10) -> BookSample:
    return BookSample(
        second * 1000,
        None if sell is None else sell * ONE,
        None if buy is None else buy * ONE,
        depth * ONE,
        2 * depth * ONE,
    )


def book(*samples: BookSample) -> StandingBook:
    made = StandingBook(RULES)
    for each in samples:
        made.add(each)
    return made


def test_a_sample_knows_where_the_depth_is_reached_and_what_stands_near() -> None:
    found = sample_of(
        7,
        levels((100, 1), (99, 8), (95, 2), (94, 50)),
        levels((101, 1), (102, 2), (105, 7), (106, 9)),
        depth=892 * ONE,
        near=100 * ONE,
        band_bps=500,
    )
    # 100 + 792 = 892 at 99; 101 + 204 + 735 = 1,040 at 105.
    assert found == BookSample(7, 99 * ONE, 105 * ONE, 11 * ONE, 10 * ONE)


def test_a_side_without_the_depth_has_no_price() -> None:
    found = sample_of(7, levels((100, 1)), [], depth=101 * ONE, near=None, band_bps=500)
    assert found == BookSample(7, None, None, 0, 0)


def test_a_sample_reads_a_bounded_number_of_levels() -> None:
    bids = iter(levels(*((10_000 - number, 1) for number in range(10 * LEVELS_MAX))))
    found = sample_of(0, bids, [], depth=10**60, near=10_000 * ONE, band_bps=5000)
    assert (found.sell_price, found.sell_depth) == (None, LEVELS_MAX * ONE)
    assert next(bids)[0] == (10_000 - LEVELS_MAX) * ONE


def test_the_book_has_a_mid_when_it_has_stood_for_ten_seconds() -> None:
    made = book(*(sample(second) for second in range(10)))
    assert made.mid is None
    assert made.depth(9_000) is None
    made.add(sample(10))
    assert made.current_mid(10_000) == StandingMid(100 * ONE, 10_000)
    assert made.depth(10_000) == StandingDepth(10 * ONE, 20 * ONE)


def test_the_worst_of_the_last_seconds_counts() -> None:
    made = book(*(sample(second) for second in range(10)), sample(10, 98, 102, depth=3), *map(sample, range(11, 20)))
    assert made.mid == StandingMid(100 * ONE, 19_000)
    made = book(*(sample(second) for second in range(20)), sample(20, 98, 101, depth=3))
    assert made.mid == StandingMid(99_500_000_000_000_000_000, 20_000)
    assert made.depth(20_000) == StandingDepth(3 * ONE, 6 * ONE)
    # A better order counts when the worse seconds have passed: here not yet, there it does.
    for second in range(21, 31):
        made.add(sample(second, 100, 101))
    assert made.mid == StandingMid(99_500_000_000_000_000_000, 30_000)
    made.add(sample(31, 100, 101))
    assert made.mid == StandingMid(100_500_000_000_000_000_000, 31_000)


def test_a_flash_moves_nothing() -> None:
    made = book(*(sample(second) for second in range(20)))
    made.add(sample(20, 101, 101, depth=1000))
    assert made.depth(20_000) == StandingDepth(10 * ONE, 20 * ONE)
    assert made.mid == StandingMid(100 * ONE, 20_000)


def test_a_side_that_lacks_the_depth_once_ends_the_mid_and_it_is_held_for_half_a_minute() -> None:
    made = book(*(sample(second) for second in range(11)), *(sample(second, sell=None) for second in range(11, 50)))
    assert made.current_mid(40_000) == StandingMid(100 * ONE, 10_000)
    assert made.current_mid(40_001) is None


def test_sides_that_are_too_far_apart_have_no_mid() -> None:
    assert middle(9_750, 10_250, 500) == 10_000
    assert middle(9_749, 10_251, 500) is None
    assert middle(101, 100, 500) is None
    assert middle(100, 100, 500) == 100
    assert middle(0, 1, 500) is None
    assert middle(PRICE_MAX, PRICE_MAX, 500) == PRICE_MAX
    assert middle(PRICE_MAX, PRICE_MAX + 1, 500) is None
    assert book(*(sample(second, 90, 110) for second in range(20))).mid is None


def test_after_a_gap_nothing_is_known_to_have_stood() -> None:
    made = book(*(sample(second) for second in range(11)))
    made.add(sample(13, depth=5))
    assert made.depth(13_000) == StandingDepth(5 * ONE, 10 * ONE)
    made = book(*(sample(second) for second in range(11)))
    made.add(BookSample(13_501, 99 * ONE, 101 * ONE, 1, 1))
    assert made.depth(13_501) is None
    # The mid is held meanwhile.
    assert made.current_mid(13_501) == StandingMid(100 * ONE, 10_000)


def test_old_samples_say_nothing_about_now() -> None:
    made = book(*(sample(second) for second in range(11)))
    assert made.depth(13_500) is not None
    assert made.depth(13_501) is None


def test_a_sample_that_is_not_newer_changes_nothing() -> None:
    made = book(*(sample(second) for second in range(11)), sample(10, None, None, 0), sample(3, None, None, 0))
    assert made.depth(10_000) == StandingDepth(10 * ONE, 20 * ONE)


def test_the_mid_of_an_earlier_process_counts_until_it_is_too_old() -> None:
    made = StandingBook(RULES, StandingMid(7, 1_000))
    assert made.current_mid(31_000) == StandingMid(7, 1_000)
    assert made.current_mid(31_001) is None


def test_samples_are_bounded() -> None:
    made = book(*map(sample, range(100)))
    assert len(made._samples) == 11


AMOUNTS = st.integers(0, 10**60)
SIDE = st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=5)


@settings(max_examples=60)
@given(st.lists(st.tuples(SIDE, SIDE, AMOUNTS, st.none() | AMOUNTS, st.integers(0, 2000)), max_size=20))
def test_extreme_books_never_raise(
    books: list[tuple[list[PriceLevel], list[PriceLevel], int, int | None, int]],
) -> None:
    made = StandingBook(FairPriceRules(standing_ms=2000))
    now_ms = 0
    for bids, asks, depth, near, passed_ms in books:
        now_ms += passed_ms
        made.add(sample_of(now_ms, bids, asks, depth=depth, near=near, band_bps=500))
        found = made.current_mid(now_ms)
        assert found is None or 0 < found.price <= PRICE_MAX
