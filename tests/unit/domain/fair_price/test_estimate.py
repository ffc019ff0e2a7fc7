"""The fair price of one market, second by second."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openspot.domain.fair_price.estimate import FairPriceEstimator, Remembered, Surroundings, in_quote
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.fair_price.standing import PriceLevel, StandingMid
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.owners import Owners

ONE = AMOUNT_SCALE
RULES = FairPriceRules()
BEGIN_S = 1_800_000_000
"""A whole part, and a whole minute."""
AROUND = Surroundings(owners=Owners(), quote_dollars=ONE, fee_bps=40)
GOOD, THIN, STALE, DISPUTED = PriceState.GOOD, PriceState.THIN, PriceState.STALE, PriceState.DISPUTED


class Market:
    """A market of which a test says what happens in each second. Prices are in whole units."""

    def __init__(self, remembered: Remembered | None = None, rules: FairPriceRules = RULES) -> None:
        self.estimator = FairPriceEstimator("BTC-USD", rules, remembered)
        self.second = BEGIN_S
        self.around = AROUND

    @property
    def now_ms(self) -> int:
        return self.second * 1000

    def trade(self, price: int, quantity: int, one: str = "m", other: str = "t", ago_s: int = 0) -> None:
        self.estimator.trades.add(self.now_ms - ago_s * 1000, one, other, price * ONE, quantity * ONE)

    def busy(self, price: int, minutes: int = 60) -> None:
        """Five takers trade with a maker for 60,000 in an hour, until now."""
        for part in range(minutes // 5):
            for number in range(5):
                self.estimator.trades.add(
                    self.now_ms - part * RULES.part_ms, "m", f"t{number}", price * ONE, 1000 * ONE // price
                )

    def pass_s(
        self, seconds: int = 1, *, book: int | None = None, venue: int | None = None, depth: int = 100
    ) -> FairPrice:
        """Let seconds pass with a book of ±1 around a price, and the venue's quote."""
        found = None
        for _ in range(seconds):
            self.second += 1
            if venue is not None:
                self.estimator.quote(self.now_ms, venue * ONE, venue * ONE)
            bids: list[PriceLevel] = [] if book is None else [((book - 1) * ONE, depth * ONE)]
            asks: list[PriceLevel] = [] if book is None else [((book + 1) * ONE, depth * ONE)]
            self.estimator.see_book(self.now_ms, bids, asks, self.around.quote_dollars)
            found = self.estimator.estimate(self.now_ms, self.around)
        assert found is not None
        return found

    def set_operator(self, price: int | None) -> None:
        self.around = replace(self.around, operator_price=None if price is None else price * ONE)


def test_a_market_that_nobody_has_priced_has_no_price() -> None:
    market = Market()
    assert market.estimator.estimate(market.now_ms, AROUND) is None
    assert market.estimator.remembered is None


def test_a_busy_market_with_a_book_is_good_and_absorbs_half_of_its_volume() -> None:
    market = Market()
    market.busy(1000)
    # The first sample did not know yet what is near the price.
    found = market.pass_s(12, book=1010)
    assert found == FairPrice(
        symbol="BTC-USD",
        state=GOOD,
        price=1010 * ONE,
        low=1000 * ONE,
        high=1010 * ONE,
        day_median=1000 * ONE,
        # 60 in an hour, half of that; the book has 100 on each side.
        sellable=30 * ONE,
        buyable=30 * ONE,
        timestamp_ms=market.now_ms,
        reason="",
    )
    found = market.pass_s(11, book=1010, depth=7)
    assert (found.sellable, found.buyable) == (7 * ONE, 7 * ONE)


def test_a_market_without_trades_or_without_a_book_absorbs_nothing() -> None:
    market = Market()
    # The depth near the price is known from the twenty-second second on.
    found = market.pass_s(40, book=1000)
    assert (found.state, found.price, found.sellable, found.buyable) == (THIN, 1000 * ONE, 0, 0)
    market = Market()
    market.busy(1000)
    found = market.pass_s(20)
    assert (found.state, found.price, found.sellable, found.buyable) == (THIN, 1000 * ONE, 0, 0)


@pytest.mark.parametrize("outside", ["venue", "operator"])
def test_a_confirmed_price_without_trades_absorbs_standing_depth_as_the_least_volume_would(outside: str) -> None:
    market = Market()
    if outside == "operator":
        market.set_operator(1000)
    venue = 1000 if outside == "venue" else None
    found = market.pass_s(20, book=1000, venue=venue)
    # 10,000 dollars are 10 coins, half of that; the book has 100 on each side.
    assert (found.state, found.is_confirmed, found.sellable, found.buyable) == (GOOD, True, 5 * ONE, 5 * ONE)
    found = market.pass_s(11, book=1000, venue=venue, depth=2)
    assert (found.sellable, found.buyable) == (2 * ONE, 2 * ONE)
    # Without anything that stands nothing can be sold, whoever says the price.
    market = Market()
    market.set_operator(1000)
    assert (market.pass_s(20).sellable, market.pass_s().buyable) == (0, 0)


def test_a_price_is_confirmed_only_while_a_source_outside_counts_and_it_can_be_used() -> None:
    market = Market()
    assert not market.pass_s(11, book=1000).is_confirmed
    assert market.pass_s(1, book=1000, venue=1000).is_confirmed
    disputed = market.pass_s(11, book=1000, venue=1200)
    assert (disputed.state, disputed.is_confirmed) == (DISPUTED, False)
    market = Market()
    market.pass_s(1, venue=1000)
    stale = market.pass_s(11)
    assert (stale.state, stale.is_confirmed) == (STALE, False)


def test_a_single_maker_with_a_venue_is_good() -> None:
    market = Market()
    found = market.pass_s(11, book=1010, venue=1000)
    assert (found.state, found.price, found.low, found.high) == (GOOD, 1005 * ONE, 1000 * ONE, 1010 * ONE)


def test_two_bots_are_thin_and_what_they_trade_counts_for_a_third() -> None:
    market = Market()
    market.trade(1000, 60)
    found = market.pass_s(12, book=1000)
    assert (found.state, found.price, found.sellable) == (THIN, 1000 * ONE, 10 * ONE)


def test_trades_below_the_least_volume_make_no_price() -> None:
    market = Market()
    # 1,497 count for 499 dollars, 1,500 for 500.
    market.trade(499, 3)
    assert market.estimator.estimate(market.now_ms, AROUND) is None
    market.trade(1, 3)
    assert market.pass_s().state is THIN


def test_the_least_volume_is_in_dollars_of_the_quote_asset() -> None:
    market = Market()
    market.around = replace(AROUND, quote_dollars=ONE // 5)
    market.trade(1000, 7)
    # 7,000 BRL count for 2,333, which are 466 dollars.
    assert market.estimator.estimate(market.now_ms, market.around) is None
    market.trade(500, 1)
    assert market.pass_s().price == 1000 * ONE
    assert in_quote(500 * ONE, ONE // 5) == 2500 * ONE
    assert in_quote(1, 3 * ONE) == 1


def test_the_price_moves_three_percent_in_a_minute_and_is_disputed_while_it_runs_behind() -> None:
    market = Market()
    market.pass_s(60, venue=1000)
    found = market.pass_s(venue=1100)
    assert (found.state, found.price, found.low, found.high) == (DISPUTED, 1030 * ONE, 1030 * ONE, 1100 * ONE)
    assert found.reason == "The price moves faster than it may be believed. Wait until it has stood for some minutes."
    assert market.pass_s(59, venue=1100).price == 1030 * ONE
    # The last second at 1,000 is a minute ago.
    assert market.pass_s(2, venue=1100).price == 1_060_900_000_000_000_000_000
    found = market.pass_s(120, venue=1100)
    assert (found.state, found.price) == (THIN, 1100 * ONE)


def test_the_price_falls_as_slowly() -> None:
    market = Market()
    market.pass_s(60, venue=1000)
    assert market.pass_s(venue=500).price == 970 * ONE
    assert market.pass_s(venue=1000).price == 999_100_000_000_000_000_000


def test_a_move_within_the_bound_is_followed_at_once() -> None:
    market = Market()
    market.pass_s(60, venue=1000)
    found = market.pass_s(venue=1030)
    assert (found.state, found.price) == (THIN, 1030 * ONE)
    # There and back is no more than the bound either; beyond it, it is.
    assert market.pass_s(venue=1001).price == 1001 * ONE
    assert market.pass_s(venue=998).price == 999_100_000_000_000_000_000


def test_after_a_silence_the_bound_counts_for_each_minute() -> None:
    market = Market()
    market.pass_s(5, venue=1000)
    market.second += 600
    found = market.pass_s(venue=1400)
    assert (found.state, found.price) == (DISPUTED, 1300 * ONE)


def test_without_sources_the_last_price_is_stale_and_absorbs_nothing() -> None:
    market = Market()
    market.pass_s(5, venue=1000)
    assert market.pass_s(10).state is THIN
    found = market.pass_s()
    assert (found.state, found.price, found.sellable, found.buyable) == (STALE, 1000 * ONE, 0, 0)
    assert found.reason == (
        "Nobody trades or quotes here now: this is the last price that was known. Wait for somebody who does."
    )
    assert found.timestamp_ms == market.now_ms
    # Whoever comes first makes the next one.
    assert market.estimator.move_cost == 0


def test_a_stale_price_becomes_that_of_the_day_when_it_has_held_for_longer() -> None:
    market = Market()
    market.pass_s(600, venue=1000)
    market.pass_s(61, venue=1020)
    assert market.pass_s(11).day_median == 1000 * ONE
    market.second += 1200
    found = market.pass_s()
    assert (found.state, found.price, found.day_median) == (STALE, 1020 * ONE, 1020 * ONE)


def test_sources_in_dispute_are_the_reason_also_while_the_price_runs_behind() -> None:
    market = Market()
    market.pass_s(30, venue=1000)
    market.busy(2000)
    found = market.pass_s(venue=3000)
    assert (found.state, found.price) == (DISPUTED, 1030 * ONE)
    assert found.reason == (
        "The prices of trades and an outside venue are too far apart. "
        "Wait until they agree, or until the operator sets a price."
    )


def test_a_price_of_the_smallest_unit_is_possible() -> None:
    market = Market()
    for _ in range(2):
        market.second += 1
        market.estimator.quote(market.now_ms, 1, 1)
        found = market.estimator.estimate(market.now_ms, AROUND)
        assert found is not None
        assert (found.state, found.price) == (THIN, 1)


def test_a_thin_price_far_from_the_days_is_disputed_until_it_has_held_for_longer() -> None:
    market = Market()
    market.pass_s(601, book=1000)
    # The maker leaves in the thin hours; somebody alone stands ten per cent lower, and then a little more.
    market.pass_s(250, book=910)
    assert market.pass_s(book=910).state is THIN
    market.pass_s(30, book=908)
    found = market.pass_s(book=908)
    assert (found.state, found.price, found.day_median) == (DISPUTED, 908 * ONE, 1000 * ONE)
    assert found.reason == (
        "The price is far from that of the last day, and too little confirms it. "
        "It becomes sure when more people trade or when an outside price comes."
    )
    # When the lower price has held for longer than the higher one, it is that of the day.
    market.pass_s(700, book=908)
    assert market.pass_s(book=908).state is THIN


@pytest.mark.parametrize(
    ("price", "venue", "state"), [(1300, None, GOOD), (1301, None, DISPUTED), (769, None, DISPUTED), (1301, 1301, GOOD)]
)
def test_a_good_price_far_from_the_days_is_disputed_unless_a_venue_confirms_it(
    price: int, venue: int | None, state: PriceState
) -> None:
    market = Market()
    market.estimator.day.load(market.now_ms - 3_600_000, 1000 * ONE)
    market.busy(price)
    found = market.pass_s(12, book=price, venue=venue)
    assert (found.state, found.price, found.day_median) == (state, price * ONE, 1000 * ONE)


def test_a_venues_price_alone_may_be_far_from_the_days() -> None:
    market = Market()
    market.estimator.day.load(market.now_ms - 3_600_000, 1000 * ONE)
    found = market.pass_s(venue=5000)
    assert (found.state, found.price) == (THIN, 5000 * ONE)


def test_the_operators_price_wins_at_once_and_binds_what_follows() -> None:
    market = Market()
    market.pass_s(30, venue=1000)
    market.set_operator(3000)
    found = market.pass_s(venue=1000)
    assert (found.state, found.price, found.low, found.high) == (GOOD, 3000 * ONE, 3000 * ONE, 3000 * ONE)
    assert market.estimator.move_cost is None
    market.set_operator(None)
    found = market.pass_s(venue=1000)
    assert (found.state, found.price) == (DISPUTED, 2910 * ONE)


def test_a_market_with_only_the_operators_price_is_good_and_then_stale() -> None:
    market = Market()
    market.set_operator(7)
    assert market.pass_s().state is GOOD
    market.set_operator(None)
    assert market.pass_s().state is STALE


def test_the_reference_price_binds_nothing_that_follows() -> None:
    market = Market()
    market.around = replace(AROUND, reference_price=100_000 * ONE)
    found = market.pass_s(60)
    assert (found.state, found.price, found.day_median) == (THIN, 100_000 * ONE, 100_000 * ONE)
    assert market.estimator.remembered is None
    found = market.pass_s(venue=10)
    assert (found.state, found.price, found.day_median) == (THIN, 10 * ONE, 10 * ONE)
    # And it does not come back when the market falls silent.
    found = market.pass_s(20)
    assert (found.state, found.price) == (STALE, 10 * ONE)


def test_a_source_beyond_all_sense_does_not_move_the_bounds_beyond_twice_the_price() -> None:
    market = Market()
    market.pass_s(30, book=1000, venue=1000)
    found = market.pass_s(60, book=1000, venue=10**15)
    assert found.state is DISPUTED
    assert (found.price, found.low, found.high) == (1000 * ONE, 1000 * ONE, 2000 * ONE)
    found = market.pass_s(60, book=100_000, venue=1000)
    assert (found.low, found.price) == (1000 * ONE, 1000 * ONE)


def test_a_new_process_goes_on_with_price_state_and_depth() -> None:
    before = Market()
    before.busy(1000)
    told = before.pass_s(30, book=1010)
    assert before.estimator.remembered == Remembered(told, StandingMid(1010 * ONE, before.now_ms))
    after = Market(before.estimator.remembered)
    after.second = before.second + 5
    after.busy(1000)
    for _ in range(9):
        found = after.pass_s(book=1010, depth=1)
        assert replace(found, timestamp_ms=0, day_median=0) == replace(told, timestamp_ms=0, day_median=0)
    # Now this process itself has seen what has stood.
    after.pass_s(2, book=1010, depth=1)
    assert after.pass_s(book=1010, depth=1).sellable == ONE
    # Its first price is bound by the last one of the process before.
    after = Market(Remembered(told))
    after.second = before.second + 5
    assert after.pass_s(venue=2000).price == 1_040_300_000_000_000_000_000


def test_depth_of_an_earlier_process_counts_for_half_a_minute_only() -> None:
    before = Market()
    before.busy(1000)
    told = before.pass_s(30, book=1000)
    after = Market(Remembered(told))
    after.second = before.second + 29
    found = after.pass_s(venue=1000)
    assert (found.sellable, found.buyable) == (30 * ONE, 30 * ONE)
    found = after.pass_s(venue=1000)
    assert (found.sellable, found.buyable) == (0, 0)


@pytest.mark.parametrize(
    ("book", "venue", "cost"),
    # 0.4 % of seven parts of 5,000; 2.5 % of 100 at 1,010, and a tenth of the least depth of 1,000.
    [(None, None, 140), (1010, None, 140 + 2525 + 100), (1010, 1000, None)],
)
def test_what_it_costs_to_move_the_price(book: int | None, venue: int | None, cost: int | None) -> None:
    market = Market()
    market.busy(1000)
    market.pass_s(30, book=book, venue=venue)
    assert market.estimator.move_cost == (None if cost is None else cost * ONE)


def test_the_example_of_the_page() -> None:
    market = Market()
    market.busy(1000)
    market.trade(1019, 1, "x", "y")
    # 50,000 in all: 1,019 and the rest.
    market.estimator.trades.add(market.now_ms, "y", "x", 1019 * ONE, 50_000 * ONE * ONE // (1019 * ONE) - ONE)
    traded = market.estimator.trades.source(market.now_ms, Owners(), RULES.volume_dollars)
    assert traded is not None
    assert (traded.price, traded.owners, len(traded.part_values)) == (1000 * ONE, 8, 12)
    assert round(traded.value / ONE) == 62_500
    assert round(traded.quantity / ONE, 3) == 62.453
    found = market.pass_s(12, book=1010, depth=40)
    assert (found.state, found.price, found.low, found.high) == (GOOD, 1010 * ONE, 1000 * ONE, 1010 * ONE)
    assert round(found.sellable / ONE, 3) == 31.227
    assert market.estimator.move_cost == 1250 * ONE


def test_quotes_of_the_venue_that_are_none_change_nothing() -> None:
    market = Market()
    market.pass_s(venue=1000)
    for bid, ask in ((0, 5), (7 * ONE, 6 * ONE), (900 * ONE, 1000 * ONE), (-1, 1)):
        market.estimator.quote(market.now_ms, bid, ask)
    assert market.pass_s().price == 1000 * ONE


AMOUNTS = st.integers(0, 10**40)
SIDE = st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=2)
SECONDS = st.tuples(SIDE, SIDE, st.none() | st.tuples(AMOUNTS, AMOUNTS), st.none() | AMOUNTS, st.integers(1, 200_000))


@settings(max_examples=100)
@given(
    st.lists(SECONDS, max_size=15), st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=5), st.integers(1, 10**40),
    st.none() | AMOUNTS,
)  # fmt: skip
def test_whatever_comes_the_price_is_one_that_everybody_can_read(
    seconds: list[tuple[list[PriceLevel], list[PriceLevel], tuple[int, int] | None, int | None, int]],
    trades: list[tuple[int, int]],
    quote_dollars: int,
    reference: int | None,
) -> None:
    estimator = FairPriceEstimator("BTC-USD", FairPriceRules(standing_ms=2000))
    now_ms = 0
    for price, quantity in trades:
        estimator.trades.add(now_ms, "a", "b", price, quantity)
    for bids, asks, quote, operator, passed_ms in seconds:
        now_ms += passed_ms
        if quote is not None:
            estimator.quote(now_ms, *quote)
        estimator.see_book(now_ms, bids, asks, quote_dollars)
        around = Surroundings(Owners(), quote_dollars, operator, reference, 40)
        found = estimator.estimate(now_ms, around)
        if found is not None:
            assert 0 < found.low <= found.price <= found.high <= PRICE_MAX
            assert found.sellable >= 0
            assert found.buyable >= 0
            assert found.day_median > 0
            assert found.timestamp_ms == now_ms
            assert (found.reason == "") == (found.state is GOOD)
