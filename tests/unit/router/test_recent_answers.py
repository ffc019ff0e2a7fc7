"""What the ledger answered a moment ago, used again while it is recent and covers what is needed."""

from decimal import Decimal

from openspot.router.balances import RecentAnswers

ALICE = ("alice", "USD")


class Time:
    """A clock that a test holds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_is_used_up_by_the_orders_that_ask_of_it() -> None:
    answers = RecentAnswers(0.1, 10, Time())
    answers.put(ALICE, Decimal("10"))
    assert answers.take(ALICE, Decimal("6")) == Decimal("10")
    assert answers.take(ALICE, Decimal("5")) is None
    assert answers.take(ALICE, Decimal("4")) == Decimal("4")
    assert answers.take(ALICE, Decimal("0.000000000000000001")) is None


def test_an_answer_ends_and_a_new_one_counts_from_its_own_time() -> None:
    time = Time()
    answers = RecentAnswers(0.1, 10, time)
    answers.put(ALICE, Decimal("10"))
    time.now += 0.2
    assert answers.take(ALICE, Decimal("1")) is None
    answers.put(ALICE, Decimal("3"))
    assert answers.take(ALICE, Decimal("1")) == Decimal("3")


def test_no_user_and_no_asset_shares_another_ones_answer_and_the_oldest_goes_first() -> None:
    answers = RecentAnswers(0.1, 2, Time())
    answers.put(ALICE, Decimal("1"))
    answers.put(("bob", "USD"), Decimal("2"))
    assert answers.take(("alice", "BTC"), Decimal("1")) is None
    answers.put(("alice", "BTC"), Decimal("3"))
    assert answers.take(ALICE, Decimal("1")) is None
    assert answers.take(("bob", "USD"), Decimal("1")) == Decimal("2")
    assert answers.take(("alice", "BTC"), Decimal("1")) == Decimal("3")
