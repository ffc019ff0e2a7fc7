"""Figures of the ledger are used again while they are recent and cover what is needed."""

from decimal import Decimal

from openspot.router.orders.available_funds import RecentFigures

ALICE = ("alice", "USD")


class Time:
    """A clock that a test holds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_figure_is_used_up_by_the_orders_that_need_it() -> None:
    figures = RecentFigures(0.1, 10, Time())
    figures.put(ALICE, Decimal("10"))
    assert figures.take(ALICE, Decimal("6")) == Decimal("10")
    assert figures.take(ALICE, Decimal("5")) is None
    assert figures.take(ALICE, Decimal("4")) == Decimal("4")
    assert figures.take(ALICE, Decimal("0.000000000000000001")) is None


def test_a_figure_expires_and_a_new_one_counts_from_its_own_time() -> None:
    time = Time()
    figures = RecentFigures(0.1, 10, time)
    figures.put(ALICE, Decimal("10"))
    time.now += 0.2
    assert figures.take(ALICE, Decimal("1")) is None
    figures.put(ALICE, Decimal("3"))
    assert figures.take(ALICE, Decimal("1")) == Decimal("3")


def test_each_user_and_asset_has_a_figure_of_its_own_and_the_oldest_is_dropped_first() -> None:
    figures = RecentFigures(0.1, 2, Time())
    figures.put(ALICE, Decimal("1"))
    figures.put(("bob", "USD"), Decimal("2"))
    assert figures.take(("alice", "BTC"), Decimal("1")) is None
    figures.put(("alice", "BTC"), Decimal("3"))
    assert figures.take(ALICE, Decimal("1")) is None
    assert figures.take(("bob", "USD"), Decimal("1")) == Decimal("2")
    assert figures.take(("alice", "BTC"), Decimal("1")) == Decimal("3")


def test_what_the_ledger_says_lowers_a_figure_and_never_raises_it() -> None:
    figures = RecentFigures(0.1, 10, Time())
    figures.put(ALICE, Decimal("10"))
    figures.limit(ALICE, Decimal("7"))
    assert figures.take(ALICE, Decimal("8")) is None
    assert figures.take(ALICE, Decimal("5")) == Decimal("7")
    figures.limit(ALICE, Decimal("7"))
    assert figures.take(ALICE, Decimal("3")) is None
    assert figures.take(ALICE, Decimal("2")) == Decimal("2")


def test_what_the_ledger_says_makes_no_figure_and_prolongs_none() -> None:
    time = Time()
    figures = RecentFigures(0.1, 10, time)
    figures.limit(ALICE, Decimal("7"))
    assert figures.take(ALICE, Decimal("1")) is None
    figures.put(ALICE, Decimal("10"))
    figures.limit(ALICE, Decimal("7"))
    time.now += 0.2
    assert figures.take(ALICE, Decimal("1")) is None


def test_nothing_is_known_once_it_is_forgotten() -> None:
    figures = RecentFigures(0.1, 10, Time())
    figures.put(ALICE, Decimal("10"))
    figures.forget()
    assert figures.take(ALICE, Decimal("1")) is None
