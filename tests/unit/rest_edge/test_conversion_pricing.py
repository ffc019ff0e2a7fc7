"""The price of a conversion: the whole amount along the book, the spread, and roundings in the house's favour."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.fair_price.model import PriceState
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.rest_edge.products.conversions.pricing import (
    AmountTooSmallError,
    BookTooThinError,
    Step,
    bounded,
    pairs_of,
    price_of_destination,
    price_of_source,
    steps_of,
    value_in_cents,
    without_own,
)
from tests.support.fair_prices import fair_price

CONFIGURATION = load_markets()
PAIRS = pairs_of(CONFIGURATION)
SALE, PURCHASE = PAIRS["BTC", "USD"], PAIRS["USD", "BTC"]
BIDS = [("100", "1"), ("90", "2")]
ASKS = [("110", "1"), ("120", "2")]


def amount(text: str) -> int:
    return int(Fraction(text) * AMOUNT_SCALE)


def test_every_market_converts_in_both_directions() -> None:
    assert len(PAIRS) == 2 * len(CONFIGURATION.limits)
    assert (SALE.symbol, SALE.sells_base, PURCHASE.symbol, PURCHASE.sells_base) == ("BTC-USD", True, "BTC-USD", False)
    # Base assets have bounds of quantity, quote assets bounds of notional.
    assert (SALE.minimum, PURCHASE.minimum) == (amount("0.00001"), amount("1"))


@pytest.mark.parametrize(
    ("pair", "source", "destination"),
    [
        # One level: the best price.
        (SALE, "0.5", "50"),
        # Two levels: 1 at 100, 0.5 at 90.
        (SALE, "1.5", "145"),
        (PURCHASE, "55", "0.5"),
        (PURCHASE, "230", "2"),
    ],
)
def test_the_whole_amount_walks_the_book(pair: object, source: str, destination: str) -> None:
    steps = steps_of(pair, BIDS, ASKS)  # type: ignore[arg-type]
    amounts = price_of_source(pair, steps, 0, amount(source))  # type: ignore[arg-type]
    assert (amounts.source, amounts.destination, amounts.spread) == (amount(source), amount(destination), 0)
    assert price_of_destination(pair, steps, 0, amount(destination)) == amounts  # type: ignore[arg-type]


def test_the_spread_is_taken_from_what_is_given_before_the_book_is_walked() -> None:
    amounts = price_of_source(SALE, steps_of(SALE, BIDS, ASKS), 100, amount("1"))
    assert (amounts.destination, amounts.spread) == (amount("99"), amount("0.01"))
    # A request for exactly 99 costs the same.
    assert price_of_destination(SALE, steps_of(SALE, BIDS, ASKS), 100, amount("99")) == amounts


def test_what_is_received_rounds_down_and_what_is_given_rounds_up_to_the_places_of_the_asset() -> None:
    steps = steps_of(PURCHASE, BIDS, [("3", "10")])
    assert price_of_source(PURCHASE, steps, 0, amount("1")).destination == amount("0.33333333")
    assert price_of_destination(PURCHASE, steps, 0, amount("0.33333333")).source == amount("1")
    # The spread of 0.05 cents is rounded up to a cent, since what is converted is rounded down.
    assert price_of_source(PURCHASE, steps, 5, amount("1")).spread == amount("0.01")


def test_a_book_that_does_not_cover_the_whole_amount_is_no_price() -> None:
    steps = steps_of(SALE, BIDS, ASKS)
    assert price_of_source(SALE, steps, 0, amount("3")).destination == amount("280")
    with pytest.raises(BookTooThinError):
        price_of_source(SALE, steps, 0, amount("3.00000001"))
    with pytest.raises(BookTooThinError):
        price_of_destination(SALE, steps, 0, amount("280.01"))
    with pytest.raises(BookTooThinError):
        price_of_source(SALE, [], 0, amount("1"))


def test_an_amount_that_is_worth_less_than_a_unit_is_refused() -> None:
    with pytest.raises(AmountTooSmallError):
        price_of_source(SALE, steps_of(SALE, BIDS, ASKS), 0, amount("0.00001"))


def test_ones_own_orders_are_taken_out_of_their_levels() -> None:
    own = {Decimal("100.00"): Decimal("0.4"), Decimal(90): Decimal(2), Decimal(80): Decimal(1)}
    assert without_own(BIDS, own) == [("100", "0.6")]
    # An order that its row still shows and the book no longer has leaves nothing, rather than less than nothing.
    assert without_own([("90", "1")], own) == []
    assert without_own(BIDS, {}) == BIDS


def test_a_sale_gets_no_more_than_the_lower_bound_and_a_purchase_pays_no_less_than_the_upper_one() -> None:
    fair = fair_price("BTC-USD", "105", low="95", high="115")
    sale = bounded(SALE, steps_of(SALE, BIDS, ASKS), fair)
    assert sale == [Step(Fraction(1), Fraction(95)), Step(Fraction(2), Fraction(90))]
    purchase = bounded(PURCHASE, steps_of(PURCHASE, BIDS, ASKS), fair)
    assert purchase == [Step(Fraction(115), Fraction(1, 115)), Step(Fraction(240), Fraction(1, 120))]


def test_a_thin_price_is_bounded_by_the_days_median_too() -> None:
    """A book whose one side somebody has made says a price that is half of the spread away."""

    def rates(state: PriceState, median: str) -> tuple[Fraction, Fraction]:
        fair = fair_price("ETH-USD", "100", day_median=median, state=state)
        steps = [Step(Fraction(1000), Fraction(200))], [Step(Fraction(1000), Fraction(1, 50))]
        sale, purchase = (bounded(pair, each, fair)[0] for pair, each in zip((SALE, PURCHASE), steps, strict=True))
        return sale.rate, 1 / purchase.rate

    assert rates(PriceState.THIN, "98") == (98, 100)
    assert rates(PriceState.THIN, "103") == (100, 103)
    assert rates(PriceState.GOOD, "98") == (100, 100)


def test_a_value_is_rounded_up_to_the_cent() -> None:
    assert value_in_cents(amount("2"), amount("100.005")) == 20_001
    assert value_in_cents(amount("0.000000000000000001"), amount("1")) == 1
    assert value_in_cents(amount("2"), amount("100")) == 20_000


def decimal_text(units: int, places: int) -> str:
    return f"{units // 10**places}.{units % 10**places:0{places}d}"


prices = st.integers(1, 10**9).map(lambda cents: decimal_text(cents, 2))
quantities = st.integers(1, 10**10).map(lambda lots: decimal_text(lots, 8))
levels = st.lists(st.tuples(prices, quantities), min_size=1, max_size=6)


@given(levels, st.integers(1, 10**7), st.integers(0, 5000), st.booleans())
def test_no_rounding_is_ever_at_the_houses_cost(
    book: list[tuple[str, str]], units: int, spread_bps: int, sells: bool
) -> None:
    pair = SALE if sells else PURCHASE
    bids = sorted(book, key=lambda level: -Fraction(level[0]))
    asks = sorted(book, key=lambda level: Fraction(level[0]))
    steps = steps_of(pair, bids, asks)
    try:
        amounts = price_of_source(pair, steps, spread_bps, units * pair.source_unit)
    except (BookTooThinError, AmountTooSmallError):
        return
    assert amounts.destination % pair.destination_unit == 0
    assert amounts.spread >= Fraction(amounts.source * spread_bps, 10_000)
    best = max(step.rate for step in steps)
    assert amounts.destination <= (amounts.source - amounts.spread) * best
    # What the same amount costs when it is asked for is never less than its exact price.
    reverse = price_of_destination(pair, steps, spread_bps, amounts.destination)
    assert reverse.source % pair.source_unit == 0
    assert reverse.spread >= Fraction(reverse.source * spread_bps, 10_000) - pair.source_unit
    assert price_of_source(pair, steps, spread_bps, reverse.source).destination >= amounts.destination
