"""What has stood in a book: the least quantity at each price or a better one, over all the time."""

from openspot.rest_edge.products.conversions.standing import GAP_S_MAX, Side, StandingBooks, least_of

BIDS = [("100", "1"), ("99", "2")]


def test_the_least_of_several_books_is_taken_price_by_price() -> None:
    painted = [("101", "50"), ("99", "1")]
    assert least_of([BIDS, BIDS], is_bids=True) == BIDS
    # At 100 one book has 1 and the other 50; at 99 one has 3 and the other 51.
    assert least_of([BIDS, painted], is_bids=True) == BIDS
    assert least_of([BIDS, []], is_bids=True) == []
    assert least_of([[("100", "1"), ("101", "4")], [("100.5", "3")]], is_bids=False) == [("100.5", "1"), ("101", "2")]


def test_quotes_that_move_keep_counting_at_the_worst_price_that_they_had() -> None:
    moving = [[(str(price), "5")] for price in (100, 101, 99, 102)]
    assert least_of(moving, is_bids=True) == [("99", "5")]


def test_depth_counts_when_the_time_is_full_and_not_after_a_gap() -> None:
    books = StandingBooks(10)
    present = Side(BIDS, is_bids=True)
    for second in (0, 4, 8):
        books.add("BTC-USD", second, BIDS, [])
    assert books.standing("BTC-USD", 9.9, present) == []
    assert books.standing("BTC-USD", 10, present) == BIDS
    assert books.standing("ETH-USD", 10, present) == []
    assert books.standing("BTC-USD", 8 + GAP_S_MAX + 0.1, present) == []
    books.add("BTC-USD", 8 + GAP_S_MAX + 1, BIDS, [])
    assert books.standing("BTC-USD", 8 + GAP_S_MAX + 2, present) == []


def test_what_was_there_longer_ago_is_forgotten() -> None:
    books = StandingBooks(10)
    books.add("BTC-USD", 0, [], BIDS)
    for second in range(2, 16, 2):
        books.add("BTC-USD", second, BIDS, [])
    assert books.standing("BTC-USD", 14, Side(BIDS, is_bids=True)) == BIDS
    assert books.standing("BTC-USD", 14, Side(BIDS, is_bids=False)) == []


def test_without_a_time_the_present_book_counts() -> None:
    assert StandingBooks(0).standing("BTC-USD", 0, Side(BIDS, is_bids=True)) == BIDS


def test_a_sample_is_old_enough_at_its_last_second_and_the_one_before_it_goes() -> None:
    books = StandingBooks(10)
    books.add("BTC-USD", 0, [], [])
    for second in (2, 6, 12):
        books.add("BTC-USD", second, BIDS, [])
    assert books.standing("BTC-USD", 12, Side(BIDS, is_bids=True)) == BIDS
    # A gap of exactly this length is none yet.
    assert books.standing("BTC-USD", 12 + GAP_S_MAX, Side(BIDS, is_bids=True)) == BIDS
