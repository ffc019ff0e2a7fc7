"""What trades between different owners say about the price."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.fair_price.trades import (
    CELLS_MAX,
    LARGE_PART,
    PAIRS_MAX,
    TradePart,
    TradesSource,
    TradeWindow,
    median,
    weighted_median,
    witness_cap,
)
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.owners import Owners

ONE = AMOUNT_SCALE
RULES = FairPriceRules()
PART_MS = RULES.part_ms
LEAST = 12 * ONE
"""A least volume of 12, so that each part wants 1."""
NOBODY = Owners()

Trade = tuple[int, str, str, int, int]
"""Part, two accounts, price and quantity; both in whole units."""


def window(*trades: Trade) -> TradeWindow:
    made = TradeWindow(RULES)
    for part, one, other, price, quantity in trades:
        made.add(part * PART_MS, one, other, price * ONE, quantity * ONE)
    return made


def source(made: TradeWindow, part: int = 11, owners: Owners = NOBODY, least: int = LEAST) -> TradesSource:
    found = made.source(part * PART_MS, owners, least)
    assert found is not None
    return found


def test_a_parts_price_is_the_median_weighted_by_what_was_paid() -> None:
    # One witness: 200 at 100, 330 at 110, 300 at 150. Half of 830 is reached at 110, but not by quantities.
    made = window((11, "m", "a", 100, 2), (11, "m", "a", 110, 3), (11, "m", "a", 150, 2))
    assert source(made).price == 110 * ONE
    # Twenty for 1 each are worth less than the others, though they are most of the quantity.
    made.add(11 * PART_MS, "m", "a", ONE, 20 * ONE)
    assert source(made).price == 110 * ONE


def test_the_windows_price_is_the_median_of_its_parts() -> None:
    made = window((1, "m", "a", 300, 1), (5, "m", "a", 100, 50), (11, "m", "a", 110, 1))
    assert source(made).price == 110 * ONE
    made.add(7 * PART_MS, "m", "a", 130 * ONE, ONE)
    # Of four parts: the middle between 110 and 130.
    assert source(made).price == 120 * ONE


def test_twelve_parts_count_and_the_present_one_is_the_twelfth() -> None:
    made = window((0, "m", "a", 100, 1), (11, "m", "a", 200, 1))
    assert len(source(made, part=11).part_values) == 2
    assert source(made, part=12).price == 200 * ONE
    assert len(source(made, part=22).part_values) == 1
    assert made.source(23 * PART_MS, NOBODY, LEAST) is None


def test_a_part_that_has_not_begun_does_not_count() -> None:
    made = window((11, "m", "a", 100, 1), (12, "m", "a", 200, 1))
    assert source(made, part=11).price == 100 * ONE


def test_old_trades_do_not_come_back_and_parts_are_bounded() -> None:
    made = window(*((part, "m", "a", 100 + part, 1) for part in range(40)), (3, "m", "a", 1, 1))
    assert len(made._parts) == RULES.parts + 1
    assert min(made._parts) == 27


def test_accounts_of_one_user_make_no_price() -> None:
    made = window((11, "u", "margin:u", 500, 100), (11, "margin:u", "margin:u:2", 500, 100))
    assert made.source(11 * PART_MS, NOBODY, LEAST) is None


def test_a_margin_account_is_its_user_in_trades_with_others() -> None:
    made = window((11, "margin:a", "m", 100, 12), (11, "a", "m", 100, 12))
    assert source(made).owners == 2


def test_linked_users_make_no_price_also_for_trades_before_the_link() -> None:
    made = window((11, "a", "b", 500, 100), (11, "m", "c", 100, 1))
    assert source(made).price == 500 * ONE
    linked = Owners([("b", "x"), ("x", "a")])
    assert source(made, owners=linked).price == 100 * ONE
    # And when the link ends, they count again.
    assert source(made).price == 500 * ONE


def test_a_lone_pair_counts_for_a_third() -> None:
    found = source(window((11, "m", "t", 100, 30)))
    assert (found.price, found.value, found.quantity, found.owners) == (100 * ONE, 1000 * ONE, 10 * ONE, 2)


def test_one_witness_counts_for_at_most_a_third() -> None:
    # a, b and c take 100 each from the maker; x and y trade 10,000 with each other, which count as 150: a third of 450.
    made = window(
        (11, "m", "a", 100, 1), (11, "m", "b", 100, 1), (11, "m", "c", 100, 1), (11, "x", "y", 200, 50),
    )  # fmt: skip
    found = source(made)
    assert (found.price, found.value) == (100 * ONE, 450 * ONE)
    # 3 at 100, and 150 of 10,000 at 200.
    assert found.quantity == 3_750_000_000_000_000_000


def test_small_trades_do_not_outweigh_a_large_one() -> None:
    made = window((11, "m", "t", 100, 10))
    for number, user in enumerate(("d1", "d2", "d3", "d4")):
        made.add(11 * PART_MS, user, f"e{number}", 150 * ONE, ONE // 1000)
    # The small ones are worth 0.6 together, and a part wants 1: all count as they are.
    assert source(made).price == 100 * ONE


def test_a_full_source_needs_volume_owners_and_parts() -> None:
    def of(volume: int, owners: int, parts: int) -> bool:
        values = tuple(range(parts))
        return TradesSource(1, 1, volume, owners, values).is_full(RULES, 100)

    assert of(100, 4, 3)
    assert not of(99, 4, 3)
    assert not of(100, 3, 3)
    assert not of(100, 4, 2)


def test_owners_count_who_traded_at_about_the_price() -> None:
    # Two takers bought from a maker at 100 before the others went to bed. Then two accounts trade at 94.
    honest = [(0, taker, "maker", 100, 50) for taker in ("a", "b")]
    night = [(part, "x", "y", 94, 50) for part in range(1, 12)]
    found = source(window(*honest, *night))
    assert (found.price, found.owners) == (94 * ONE, 2)
    # Nor is somebody a witness whose bid was in the way of the first of these trades.
    assert source(window((1, "x", "c", 100, 2), (2, "y", "d", 100, 2), *night)).owners == 2
    near = [(part, "x", "y", 96, 50) for part in range(1, 12)]
    assert source(window(*honest, *near)).owners == 5


def test_an_owner_is_counted_from_a_hundredth_of_the_least_volume_on() -> None:
    made = TradeWindow(RULES)
    made.add(11 * PART_MS, "a", "b", 99 * ONE // 100, ONE)
    made.add(11 * PART_MS, "c", "d", ONE, ONE)
    assert source(made, least=100 * ONE).owners == 2
    # The smallest least volume wants one unit of worth, and a fraction of a unit is none.
    for quantity, owners in ((ONE - 1, 0), (ONE, 2)):
        made = TradeWindow(RULES)
        made.add(11 * PART_MS, "a", "b", 1, quantity)
        assert source(made, least=100).owners == owners


def test_users_of_folded_trades_are_no_witnesses() -> None:
    made = TradeWindow(RULES)
    for number in range(2 * CELLS_MAX):
        made.add(11 * PART_MS, f"x{number}", f"y{number}", 100 * ONE, ONE)
    # 128 pairs are kept; the others count for volume only.
    assert source(made).owners == 256


@pytest.mark.parametrize(("price", "quantity"), [(0, 1), (-1, 1), (1, 0), (1, -1), (PRICE_MAX + 1, 1)])
def test_what_is_no_trade_counts_nothing(price: int, quantity: int) -> None:
    made = TradeWindow(RULES)
    made.add(0, "a", "b", price, quantity)
    assert made.source(0, NOBODY, LEAST) is None


def test_the_smallest_quantity_is_a_trade() -> None:
    made = TradeWindow(RULES)
    made.add(11 * PART_MS, "a", "b", 100 * ONE, 1)
    assert source(made).price == 100 * ONE


def test_medians() -> None:
    assert median([3]) == 3
    assert median([5, 1, 3]) == 3
    assert median([4, 1]) == 2
    assert weighted_median({10: 1, 20: 1, 30: 1}) == 20
    assert weighted_median({10: 1, 20: 1}) == 15
    assert weighted_median({10: 5, 20: 4}) == 10
    assert weighted_median({10: 0, 20: 0, 40: 0}) == 20


def test_the_cap_of_a_witness() -> None:
    # Nobody has more than a third.
    assert witness_cap([10, 10, 10], 3, 0) == 10
    # One has more: half of the rest.
    assert witness_cap([1000, 10, 10, 10], 3, 0) == 15
    # Two have more: the rest.
    assert witness_cap([1000, 900, 10, 5], 3, 0) == 15
    # Fewer than three witnesses, or a rest that is too small.
    assert witness_cap([1000, 10], 3, 0) is None
    assert witness_cap([], 3, 0) is None
    assert witness_cap([1000, 10, 10, 10], 3, 31) is None
    assert witness_cap([1000, 10, 10, 10], 3, 30) == 15
    assert witness_cap([12, 10, 10], 3, 21) is None


def test_many_small_trades_take_bounded_room_and_leave_the_price() -> None:
    part = TradePart()
    for number in range(3 * CELLS_MAX):
        part.add("maker", f"honest{number % 5}", (100 * ONE) + number, ONE)
        # An attacker with many accounts and a price of its own for each trade.
        part.add(f"x{number % 700}", f"y{number % 701}", ONE + number, ONE)
        assert len(part._cells) < 2 * CELLS_MAX
    assert len({(one, other) for one, other, _ in part._cells}) <= PAIRS_MAX + 1 + CELLS_MAX
    figures = part.figures(0, NOBODY, RULES, 1)
    assert figures is not None
    assert 100 * ONE <= figures.price <= 100 * ONE + 3 * CELLS_MAX


def test_folding_keeps_quantities_and_stays_within_the_range_of_a_pair() -> None:
    part = TradePart()
    for number in range(2 * CELLS_MAX):
        part.add("a", "b", 1000 + number, 7)
    assert len(part._cells) <= CELLS_MAX
    assert sum(part._cells.values()) == 7 * 2 * CELLS_MAX
    assert min(part._cells)[2] >= 1000
    assert max(part._cells)[2] < 1000 + 2 * CELLS_MAX


def test_the_figures_of_a_large_part_are_made_every_five_seconds() -> None:
    part = TradePart()

    def price(second: int) -> int:
        found = part.figures(second * 1000, NOBODY, RULES, 1)
        assert found is not None
        return found.price

    for number in range(LARGE_PART):
        part.add("a", "b", 1000 + number, 7)
    assert price(0) == 1065
    part.add("a", "b", 5000, 1000)
    assert price(0) == 1065
    assert price(4) == 1065
    assert price(5) == 5000
    # A link of owners counts at once.
    assert part.figures(6000, Owners([("a", "b")]), RULES, 1) is None


# Properties

AMOUNTS = st.integers(min_value=1, max_value=AMOUNT_MAX)
PRICES = st.integers(min_value=1, max_value=PRICE_MAX)
PARTS = st.integers(min_value=0, max_value=11)
HONEST_PRICES = st.integers(min_value=90 * ONE, max_value=110 * ONE)


def honest_window(parts: dict[int, list[int]]) -> TradeWindow:
    """Four takers, each with the same volume in a part, at the part's prices in turn."""
    made = TradeWindow(RULES)
    for part, prices in parts.items():
        for number, price in enumerate(prices):
            made.add(part * PART_MS, "maker", f"taker{number}", price, 100 * ONE * ONE // price)
    return made


HONEST = st.dictionaries(PARTS, st.lists(HONEST_PRICES, min_size=4, max_size=4), min_size=1)


@settings(max_examples=60)
@given(HONEST, st.lists(st.tuples(PARTS, PRICES, AMOUNTS), max_size=20), st.booleans())
def test_trades_of_one_owner_with_itself_move_nothing(
    honest: dict[int, list[int]], own: list[tuple[int, int, int]], is_linked: bool
) -> None:
    made = honest_window(honest)
    other, owners = ("y", Owners([("x", "y")])) if is_linked else ("margin:x:3", NOBODY)
    before = made.source(11 * PART_MS, owners, LEAST)
    for part, price, quantity in own:
        made.add(part * PART_MS, "x", other, price, quantity)
    assert made.source(11 * PART_MS, owners, LEAST) == before


@settings(max_examples=60)
@given(
    st.lists(st.lists(HONEST_PRICES, min_size=4, max_size=4), min_size=12, max_size=12),
    st.lists(st.tuples(PARTS, PRICES, AMOUNTS), max_size=20),
)
def test_one_pair_of_owners_never_moves_the_price_out_of_the_honest_range(
    honest: list[list[int]], own: list[tuple[int, int, int]]
) -> None:
    made = honest_window(dict(enumerate(honest)))
    for part, price, quantity in own:
        made.add(part * PART_MS, "x", "y", price, quantity)
    prices = [price for part in honest for price in part]
    assert min(prices) <= source(made).price <= max(prices)


@settings(max_examples=60)
@given(
    st.lists(st.lists(HONEST_PRICES, min_size=4, max_size=4), min_size=12, max_size=12),
    st.sets(PARTS, max_size=5),
    st.lists(st.tuples(PARTS, st.integers(0, 5), st.integers(6, 9), PRICES), max_size=40),
)
def test_an_attacker_with_less_volume_in_most_parts_stays_within_the_honest_range(
    honest: list[list[int]], overwhelmed: set[int], attack: list[tuple[int, int, int, int]]
) -> None:
    """Ten accounts trade with each other: in most parts for less than the honest 400, in up to five without limit."""
    made = honest_window(dict(enumerate(honest)))
    spent: dict[int, int] = {}
    for part, one, other, price in attack:
        value = 10**6 * ONE if part in overwhelmed else 50 * ONE
        if part not in overwhelmed and spent.get(part, 0) + value >= 400 * ONE:
            continue
        spent[part] = spent.get(part, 0) + value
        quantity = value * ONE // price
        if quantity:
            made.add(part * PART_MS, f"x{one}", f"x{other}", price, quantity)
    prices = [price for part in honest for price in part]
    assert min(prices) <= source(made).price <= max(prices)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(-(10**18), 10**18), st.text(max_size=3), st.text(max_size=3),
                       st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40)), max_size=30),
    st.integers(-(10**18), 10**18), st.integers(0, 10**60),
)  # fmt: skip
def test_extreme_values_never_raise(trades: list[tuple[int, str, str, int, int]], now_ms: int, least: int) -> None:
    made = TradeWindow(RULES)
    for trade in trades:
        made.add(*trade)
    found = made.source(now_ms, NOBODY, least)
    assert found is None or 0 < found.price <= PRICE_MAX
