"""The generator of exchange-core's workload: how moves choose prices, and how a book turns at its bounds."""

import random

import pytest

from benchmarks.exchange_core import Order, Session
from openspot.domain.order import Side
from openspot.engine.core.records import CommandKind

DRAWS = 8_000


@pytest.fixture
def session() -> Session:
    """A symbol whose last price is 1,000, with bounds of 800 and 1,200."""
    session = Session(1, 100, random.Random(1))
    session.last, session.lowest, session.highest = 1_000, 800, 1_200
    return session


def rest(session: Session, order_id: int, side: Side, price: int) -> Order:
    """An order of one lot in the plain book."""
    order = Order(order_id, 100, side, price, 1)
    session.sides[side].add(order)
    session.live[order_id] = order
    return order


def trade_at(session: Session, price: int) -> None:
    """Match two orders of one lot at a price."""
    rest(session, 1, Side.SELL, price)
    assert session._match(Order(2, 101, Side.BUY, price, 1), price) == 0


def buys(session: Session) -> float:
    """The share of buys among new orders."""
    return sum(session._side() == Side.BUY for _ in range(DRAWS)) / DRAWS


@pytest.mark.parametrize(
    ("price", "moved"),
    [(999, 1_000), (1_001, 1_000), (900, 901), (899, 901), (850, 852), (1_100, 1_099), (1_101, 1_099), (1_150, 1_148)],
)
def test_a_move_goes_one_percent_of_the_way_to_the_last_price_rounded_away_from_zero(
    session: Session, price: int, moved: int
) -> None:
    assert session._moved_price(price) == moved


def test_an_order_at_the_last_price_moves_one_tick_either_way(session: Session) -> None:
    assert {session._moved_price(session.last) for _ in range(100)} == {999, 1_001}


def test_a_move_stops_at_the_upper_bound_and_at_one(session: Session) -> None:
    session.last = session.highest
    assert {session._moved_price(session.last) for _ in range(100)} == {1_199, 1_200}
    assert session._moved_price(5_000) == 1_200
    session.last = 1
    assert {session._moved_price(1) for _ in range(100)} == {1, 2}


def test_a_move_command_names_the_price_at_which_the_order_then_rests(session: Session) -> None:
    order = rest(session, 7, Side.BUY, 899)
    command = session._move(order)
    assert (command.kind, command.order_id, command.price) == (CommandKind.MOVE, 7, 901)
    assert session.depth() == ([(901, 1, 1)], [])


def test_buys_and_sells_are_equally_likely_between_the_bounds(session: Session) -> None:
    trade_at(session, 1_000)
    assert session.direction == 0
    assert buys(session) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("price", "last", "share"), [(800, 800, 0.75), (700, 800, 0.75), (1_200, 1_200, 0.25), (1_300, 1_200, 0.25)]
)
def test_after_a_trade_at_a_bound_three_of_four_orders_push_back(
    session: Session, price: int, last: int, share: float
) -> None:
    trade_at(session, price)
    assert session.last == last
    assert buys(session) == pytest.approx(share, abs=0.03)


def test_a_book_that_turned_keeps_its_direction_until_the_other_bound(session: Session) -> None:
    trade_at(session, 800)
    trade_at(session, 1_000)
    assert buys(session) == pytest.approx(0.75, abs=0.03)
    trade_at(session, 1_200)
    assert buys(session) == pytest.approx(0.25, abs=0.03)
