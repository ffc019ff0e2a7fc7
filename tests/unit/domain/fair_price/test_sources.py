"""From the sources of a price to one price."""

import pytest

from openspot.domain.fair_price.model import PriceState
from openspot.domain.fair_price.sources import Combined, PriceSource, SourceName, combine
from openspot.domain.fair_price.trades import differ

TRADES, BOOK, VENUE = SourceName.TRADES, SourceName.BOOK, SourceName.VENUE
OPERATOR, REFERENCE = SourceName.OPERATOR, SourceName.REFERENCE
GOOD, THIN, DISPUTED = PriceState.GOOD, PriceState.THIN, PriceState.DISPUTED


def combined(
    trades: int | None = None,
    book: int | None = None,
    venue: int | None = None,
    operator: int | None = None,
    reference: int | None = None,
    *,
    is_weak: bool = False,
    last: int | None = None,
) -> Combined | None:
    given = {TRADES: trades, BOOK: book, VENUE: venue, OPERATOR: operator, REFERENCE: reference}
    sources = [
        PriceSource(name, price, is_full=not (is_weak and name is TRADES))
        for name, price in given.items()
        if price is not None
    ]
    return combine(sources, last, 500)


def figures(found: Combined | None) -> tuple[PriceState, int, int, int]:
    assert found is not None
    return found.state, found.price, found.low, found.high


def test_without_a_source_there_is_no_price() -> None:
    assert combined() is None


@pytest.mark.parametrize("name", ["trades", "book", "venue", "reference"])
def test_one_source_is_thin_and_says_what_is_waited_for(name: str) -> None:
    found = combined(**{name: 1000})
    assert figures(found) == (THIN, 1000, 1000, 1000)
    assert found is not None
    assert found.reason.endswith("It becomes sure when more people trade or when an outside price comes.")


def test_two_sources_that_agree_are_good() -> None:
    # What is quoted now is the price; the trades of the last hour are a witness.
    assert figures(combined(trades=1000, book=1050)) == (GOOD, 1050, 1000, 1050)
    assert figures(combined(trades=1050, venue=1000)) == (GOOD, 1000, 1000, 1050)
    assert figures(combined(book=1000, venue=1010)) == (GOOD, 1005, 1000, 1010)


def test_of_three_sources_the_middle_one_counts() -> None:
    assert figures(combined(trades=1000, book=1040, venue=1010)) == (GOOD, 1010, 1000, 1040)


def test_sources_that_are_too_far_apart_are_in_dispute_and_the_price_stays_where_it_can() -> None:
    assert figures(combined(trades=1000, book=1051, last=1020)) == (DISPUTED, 1020, 1000, 1051)
    assert figures(combined(trades=1000, book=1051, last=900)) == (DISPUTED, 1000, 1000, 1051)
    assert figures(combined(trades=1000, book=1051, last=2000)) == (DISPUTED, 1051, 1000, 1051)
    assert figures(combined(trades=1000, book=1052)) == (DISPUTED, 1026, 1000, 1052)
    found = combined(trades=1000, book=1051)
    assert found is not None
    assert found.reason == (
        "The prices of trades and the order book are too far apart. "
        "Wait until they agree, or until the operator sets a price."
    )


def test_the_venue_and_one_that_agrees_outvote_the_third() -> None:
    assert figures(combined(trades=500, book=1000, venue=1020)) == (GOOD, 1010, 1000, 1020)
    assert figures(combined(trades=1000, book=9000, venue=1020)) == (GOOD, 1020, 1000, 1020)


def test_nobody_outvotes_the_venue() -> None:
    assert figures(combined(trades=500, book=500, venue=1000, last=990)) == (DISPUTED, 990, 500, 1000)


def test_three_that_differ_pairwise_from_end_to_end_are_in_dispute() -> None:
    # Each of both agrees with the venue, but they do not agree with each other.
    assert figures(combined(trades=960, book=1050, venue=1005, last=1005)) == (DISPUTED, 1005, 960, 1050)


def test_a_weak_source_counts_only_without_a_full_one() -> None:
    assert figures(combined(trades=5, is_weak=True)) == (THIN, 5, 5, 5)
    assert figures(combined(trades=5, book=1000, is_weak=True)) == (THIN, 1000, 1000, 1000)
    assert figures(combined(trades=5, book=1000, venue=1000, is_weak=True)) == (GOOD, 1000, 1000, 1000)


def test_the_operators_price_wins_and_is_good() -> None:
    assert figures(combined(trades=500, book=700, venue=900, operator=1000)) == (GOOD, 1000, 1000, 1000)


def test_the_reference_counts_only_where_nothing_else_is() -> None:
    assert figures(combined(trades=5, reference=1000, is_weak=True)) == (THIN, 5, 5, 5)
    assert figures(combined(operator=7, reference=1000)) == (GOOD, 7, 7, 7)


def test_a_difference_is_measured_from_the_lower_price() -> None:
    assert not differ(1000, 1050, 500)
    assert differ(1000, 1051, 500)
    assert not differ(1050, 1000, 500)
    assert differ(1, 10**36, 5000)
