"""What entries of the ledger that no trade made do to lots."""

import random

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo import FifoBook, ShortfallError
from openspot.positions.fifo_transaction import FifoTransaction
from openspot.positions.movements import (
    ENTRY_ID_LENGTH_MAX,
    ESTIMATE_PREFIX,
    MINUTE_MS,
    AccountMovement,
    transaction_id,
    transactions_of_movement,
)

AT = 1_700_000_012_345
BEGIN_OF_MINUTE = AT - AT % MINUTE_MS
PRICES = {"BTC": 100 * AMOUNT_SCALE, "ETH": 10 * AMOUNT_SCALE, "XYZ": None}


def moved(entry_type: str, asset: str, amount: int, name: str = "e1") -> AccountMovement:
    return AccountMovement(name, AT, entry_type, asset, amount * AMOUNT_SCALE)


def words(transaction: FifoTransaction) -> str:
    """A transaction as a line of the table below."""
    parts = [transaction.kind.value, transaction.account, str(transaction.quantity // AMOUNT_SCALE), transaction.asset]
    if transaction.destination:
        parts.append(f"to {transaction.destination}")
    if transaction.value:
        parts.append(f"for {transaction.value // AMOUNT_SCALE}")
    if transaction.external_id.startswith(ESTIMATE_PREFIX):
        parts.append("estimated")
    return " ".join(parts)


SCENARIOS = {
    ("deposit", "BTC", 2): ["acquisition exchange 2 BTC for 200 estimated"],
    ("deposit", "XYZ", 2): [],
    ("deposit", "USD", 2): [],
    ("withdrawal", "BTC", -2): ["transfer exchange 2 BTC to elsewhere"],
    ("withdrawal", "XYZ", -2): ["transfer exchange 2 XYZ to elsewhere"],
    ("staking", "BTC", -3): ["transfer exchange 3 BTC to staking"],
    ("unstaking", "BTC", 3): ["transfer staking 3 BTC to exchange"],
    ("reward", "ETH", 1): ["acquisition exchange 1 ETH for 10"],
    ("payment", "ETH", 4): ["acquisition exchange 4 ETH for 40 estimated"],
    ("payment", "ETH", -4): ["disposal exchange 4 ETH for 40"],
    ("payment", "XYZ", -4): ["transfer exchange 4 XYZ to elsewhere"],
    ("subscription", "ETH", -1): ["disposal exchange 1 ETH for 10"],
    ("loan", "BTC", -1): ["transfer exchange 1 BTC to elsewhere"],
    ("loan", "BTC", 1): ["acquisition exchange 1 BTC for 100 estimated"],
    ("adjustment", "BTC", 1): ["acquisition exchange 1 BTC for 100 estimated"],
    ("adjustment", "BTC", -1): ["transfer exchange 1 BTC to elsewhere"],
}


@pytest.mark.parametrize(("entry_type", "asset", "amount"), SCENARIOS)
def test_a_movement(entry_type: str, asset: str, amount: int) -> None:
    found = transactions_of_movement([moved(entry_type, asset, amount)], PRICES, "USD")
    assert [words(each) for each in found] == SCENARIOS[entry_type, asset, amount]


DEALS = {
    # The dollars of the deal count, whatever the market's price is.
    (("BTC", -1), ("USD", 97)): ["disposal exchange 1 BTC for 97"],
    (("USD", -97), ("BTC", 1)): ["acquisition exchange 1 BTC for 97"],
    # What left has a price: it is worth that, and so is what came.
    (("BTC", -1), ("ETH", 9)): ["disposal exchange 1 BTC for 100", "acquisition exchange 9 ETH for 100"],
    (("XYZ", -5), ("ETH", 9)): ["disposal exchange 5 XYZ for 90", "acquisition exchange 9 ETH for 90"],
    (("XYZ", -5), ("OTH", 9)): ["transfer exchange 5 XYZ to elsewhere"],
}


@pytest.mark.parametrize("legs", DEALS)
def test_a_conversion_sells_one_asset_and_buys_the_other_at_the_price_of_the_deal(
    legs: tuple[tuple[str, int], ...],
) -> None:
    movements = [moved("conversion", asset, amount, f"c{number}") for number, (asset, amount) in enumerate(legs)]
    found = transactions_of_movement(movements, PRICES, "USD")
    assert [words(each) for each in found] == DEALS[legs]


def test_what_comes_in_counts_before_what_was_done_with_it_in_the_same_minute() -> None:
    (came,) = transactions_of_movement([moved("deposit", "BTC", 1)], PRICES, "USD")
    (left,) = transactions_of_movement([moved("withdrawal", "BTC", -1)], PRICES, "USD")
    assert (came.timestamp, left.timestamp) == (BEGIN_OF_MINUTE, AT)


@pytest.mark.parametrize(
    ("entry_type", "amount", "asked_at", "expected"),
    [
        # The ledger was late. What comes in counts from when it was asked for, what goes out from its entry.
        ("conversion", 1, AT - 3 * MINUTE_MS, BEGIN_OF_MINUTE - 3 * MINUTE_MS),
        ("conversion", -1, AT - 3 * MINUTE_MS, AT),
        ("staking", -1, AT - 3 * MINUTE_MS, AT - 3 * MINUTE_MS),
        ("unstaking", 1, AT - 2 * MINUTE_MS, AT - 2 * MINUTE_MS),
        ("unstaking", 1, None, AT),
        # Clocks differ.
        ("deposit", 1, AT + MINUTE_MS, BEGIN_OF_MINUTE),
    ],
)
def test_what_comes_in_counts_from_when_it_was_asked_for(
    entry_type: str, amount: int, asked_at: int | None, expected: int
) -> None:
    (made,) = transactions_of_movement([AccountMovement("m", AT, entry_type, "BTC", amount, asked_at)], PRICES, "USD")
    assert made.timestamp == expected


def test_an_entry_gives_the_same_id_each_time_and_a_long_one_its_digest() -> None:
    assert transaction_id("tx:1", "deposit", is_in=True) == "ledger:estimate:tx:1"
    assert transaction_id("tx:1", "withdrawal", is_in=False) == "ledger:tx:1"
    long, other = "a" * (ENTRY_ID_LENGTH_MAX + 1), "b" * (ENTRY_ID_LENGTH_MAX + 1)
    made = transactions_of_movement([AccountMovement(long, AT, "deposit", "BTC", 1)], PRICES, "USD")[0]
    assert (
        made.external_id == transaction_id(long, "deposit", is_in=True) != transaction_id(other, "deposit", is_in=True)
    )


@pytest.mark.parametrize("seed", range(50))
def test_lots_are_what_the_ledger_says_after_any_movements(seed: int) -> None:
    """On the exchange, and in stakes; the cost of what came in is in the lots or in disposals."""
    chance = random.Random(seed)
    book, held, staked, cost_in, gone = FifoBook("ada"), {"BTC": 0, "ETH": 0}, {"BTC": 0, "ETH": 0}, 0, 0
    for number in range(200):
        asset = chance.choice(("BTC", "ETH"))
        entry_type = chance.choice(("deposit", "withdrawal", "staking", "unstaking", "reward", "payment", "conversion"))
        amount = chance.randrange(1, 10**20)
        if entry_type == "unstaking":
            amount = min(amount, staked[asset])
        elif entry_type in ("withdrawal", "staking", "conversion") or (
            entry_type == "payment" and chance.random() < 0.5
        ):
            amount = -min(amount, held[asset])
        if not amount:
            continue
        at = AT + number * MINUTE_MS
        movements = [AccountMovement(f"e{number}:1", at, entry_type, asset, amount)]
        if entry_type == "conversion":
            other = "ETH" if asset == "BTC" else "BTC"
            movements.append(AccountMovement(f"e{number}:2", at, entry_type, other, chance.randrange(1, 10**20)))
        for movement in movements:
            held[movement.asset] += movement.amount
        if entry_type in ("staking", "unstaking"):
            staked[asset] -= amount
        for transaction in sorted(transactions_of_movement(movements, PRICES, "USD"), key=lambda one: one.order_key):
            try:
                gone += sum(disposal.cost for disposal in book.apply(transaction))
            except ShortfallError:
                pytest.fail("the account holds less than the ledger says")
            if transaction.kind == "acquisition":
                cost_in += transaction.value
    assert {asset: book.held("exchange", asset) for asset in held} == held
    assert {asset: book.held("staking", asset) for asset in staked} == staked
    assert cost_in == gone + sum(holding.cost for holding in book.holdings())
