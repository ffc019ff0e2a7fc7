"""Every difference of the ledger gets its likely cause."""

from decimal import Decimal

import pytest

from openspot.reconcile import causes
from openspot.reconcile.tables import BalanceGap, EntryGap, Imbalance

ZERO = Decimal(0)
NOTHING = BalanceGap("u1", "USD", ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)


def imbalance(
    *, total: str | None, entries: str, newest: str, off: int = 0, locked: str = "0", by_locks: str = "0"
) -> Imbalance:
    whole = None if total is None else Decimal(total)
    return Imbalance("u1", "USD", whole, Decimal(entries), Decimal(newest), off, Decimal(locked), Decimal(by_locks))


def entry(state: str, source: str = "trade", entries: int = 8, refusal: str | None = None) -> EntryGap:
    engine = None if state == "extra" else "u1 USD 5"
    mirror = None if state == "missing" else "u1 USD 4"
    return EntryGap(source, state, "t-1", entries, "t-1:buyer-quote", engine, mirror, refusal)


@pytest.mark.parametrize(
    ("gap", "settled", "cause"),
    [
        (entry("missing"), False, causes.PENDING),
        (entry("missing"), True, causes.LOST),
        (entry("missing"), None, causes.PENDING_OR_LOST),
        (entry("missing", refusal="too odd"), True, "refused by the ledger: too odd"),
        (entry("extra"), True, causes.UNKNOWN_TRADE),
        (entry("extra", "money"), True, causes.LEDGER_ONLY),
        (entry("altered"), True, causes.ALTERED),
    ],
)
def test_a_gap_of_entries_has_a_cause(gap: EntryGap, settled: bool | None, cause: str) -> None:
    assert causes.entry_difference(gap, settled).cause == cause


def test_one_entry_is_shown_as_it_is_and_several_are_counted() -> None:
    single = causes.entry_difference(entry("altered", entries=1), True)
    assert (single.kind, single.name, single.engine, single.mirror) == (
        "entry", "t-1:buyer-quote", "u1 USD 5", "u1 USD 4",
    )  # fmt: skip
    assert causes.entry_difference(entry("missing", entries=1), True).mirror == "missing"
    several = causes.entry_difference(entry("missing"), True)
    assert (several.kind, several.name, several.engine, several.mirror) == (
        "settlement", "t-1", "8 entries", "missing",
    )  # fmt: skip
    assert causes.entry_difference(entry("extra"), True).engine == "missing"
    assert "2 others" in causes.entry_difference(entry("altered", entries=2), True).mirror


@pytest.mark.spec("A1.5-12")
def test_a_balance_is_explained_to_the_last_digit() -> None:
    gap = NOTHING._replace(
        engine=Decimal("10.5"), ledger=Decimal(1), adjusted=Decimal(-2), unreferenced=Decimal(4), missing=Decimal(5),
        in_flight=Decimal(1), other=Decimal("1.25"),
    )  # fmt: skip
    difference = causes.balance_difference(gap, False, True)
    assert (difference.engine, difference.mirror) == ("10.5", "1")
    assert difference.cause.split("; ") == [
        "operator adjustment -2",
        "moved in the engine alone, without a reference +4",
        "on its way +1",
        "settlement pending +5",
        "in the ledger otherwise than in the engine +1.25",
        "unexplained +0.25",
    ]


def test_what_nothing_explains_is_said_to_be_so() -> None:
    gap = NOTHING._replace(engine=Decimal("0.000000000000000001"))
    assert causes.balance_difference(gap, True, True).cause == "unexplained +0.000000000000000001"
    assert "older than the events" in causes.balance_difference(gap, True, False).cause


def test_differences_within_one_side_name_the_sides() -> None:
    account = causes.account_difference(imbalance(total="5", entries="4", newest="3"))
    assert str(account) == (
        "account u1 USD: total is 4 (the newest says 3) by its entries, 5 in the account (written past the ledger)"
    )
    even = causes.account_difference(imbalance(total="5", entries="4", newest="4"))
    assert even.engine == "4"
    off = causes.account_difference(imbalance(total="4", entries="4", newest="4", off=2))
    assert off.engine == "4 (2 of their running balances say otherwise)"
    gone = causes.account_difference(imbalance(total=None, entries="4", newest="4"))
    assert "is 4 by its entries, missing in the account" in str(gone)
    locked = causes.account_difference(imbalance(total="4", entries="4", newest="4", locked="2", by_locks="3"))
    assert str(locked) == "lock u1 USD: locked is 3 by its locks, 2 in the account (written past the ledger)"
    assert "0 by rule, 1 in the ledger" in str(causes.asset_difference("USD", Decimal(1)))
    assert "engine verify" in str(causes.engine_difference("u1", "USD", Decimal(1)))
    assert "is 10 in the engine, 5 in the mirror" in str(causes.rows_difference(10, 5))
