"""Pages of balances: each balance once, in the order of accounts, whatever happens between two pages."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.domain.order import Side
from openspot.engine.admin import balance_pages
from openspot.engine.admin.balance_pages import BalancePages, BalancePlace
from openspot.engine.admin.order_list import OrderQueries
from openspot.engine.core.protocol import OWNER_SHIFT
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.state.state_machine import StateMachine
from openspot.http.errors import HttpError
from openspot.http.lists import encode_cursor
from tests.support.engine_state import SEED, Commands, deposit, feed, place, together
from tests.unit.engine.conftest import CoreFactory

USD, BTC = 1, 3
Row = tuple[str, int, int]
"""(participant, currency, whole units)."""


def account_of(account: int, participant: str) -> Commands:
    """A new account without a balance."""
    return Command(CommandKind.CREATE_ACCOUNT, timestamp=2, account=account).encode(), [(participant, "", "BOTH", "")]


@pytest.fixture
def machine(core_factory: CoreFactory) -> StateMachine:
    """Alice with two balances, her margin account with one, Bob with none, Carol with two, Dora with one."""
    machine = StateMachine(core_factory(), 1000)
    margin = 2 << OWNER_SHIFT | 3
    feed(
        machine,
        together(
            SEED,
            deposit(2, "alice", 5, BTC),
            deposit(2, "alice", 1000),
            deposit(margin, "margin:alice", 7),
            account_of(4, "bob"),
            deposit(5, "carol", 3),
            deposit(5, "carol", 4, BTC),
            deposit(6, "dora", 8, BTC),
        ),
    )
    return machine


ALL: list[Row] = [
    ("alice", USD, 1000), ("alice", BTC, 5), ("margin:alice", USD, 7), ("carol", USD, 3), ("carol", BTC, 4),
    ("dora", BTC, 8),
]  # fmt: skip


async def page(
    machine: StateMachine, cursor: str | None, limit: int, participant_id: str = "", currency: int | None = None
) -> tuple[list[Row], str | None]:
    """The rows of a page, and the cursor of the next."""
    found, following = await BalancePages(machine).page(participant_id, currency, BalancePlace.of(cursor), limit)
    rows = [(name, balance.currency, balance.total // 10**18) for name, balance in found]
    return rows, following and following.cursor


async def pages(machine: StateMachine, limit: int, participant_id: str = "", currency: int | None = None) -> list[Any]:
    """The rows of each page, read one after the other."""
    cursor: str | None = None
    found = []
    while True:
        rows, cursor = await page(machine, cursor, limit, participant_id, currency)
        found.append(rows)
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 100])
async def test_pages_of_any_size_have_each_balance_once_in_the_order_of_accounts(
    machine: StateMachine, limit: int
) -> None:
    assert await pages(machine, limit) == [ALL[first : first + limit] for first in range(0, len(ALL), limit)]


async def test_balances_are_narrowed_to_a_currency_and_to_a_participant(machine: StateMachine) -> None:
    in_btc = [row for row in ALL if row[1] == BTC]
    assert await pages(machine, 2, currency=BTC) == [in_btc[:2], in_btc[2:]]
    assert await pages(machine, 1, "alice") == [[ALL[0]], [ALL[1]]]
    assert await pages(machine, 9, "alice", BTC) == [[ALL[1]]]
    assert await pages(machine, 9, "margin:alice", BTC) == [[]]


async def test_a_participant_without_balances_and_one_that_is_unknown_have_an_empty_page(machine: StateMachine) -> None:
    assert await pages(machine, 9, "bob") == [[]]
    assert await pages(machine, 9, "nobody") == [[]]


async def test_an_account_that_is_made_between_two_pages_comes_last(machine: StateMachine) -> None:
    first, cursor = await page(machine, None, 3)
    assert first == ALL[:3]
    feed(machine, together(deposit(2 << OWNER_SHIFT | 7, "margin2:alice", 2), deposit(8, "erin", 9)))
    assert await page(machine, cursor, 100) == ([*ALL[3:], ("margin2:alice", USD, 2), ("erin", USD, 9)], None)


async def test_a_balance_at_which_a_page_begins_may_be_gone_by_then(machine: StateMachine) -> None:
    rows, cursor = await page(machine, None, 2)
    assert rows == ALL[:2]
    taken = Command(CommandKind.ADJUST, symbol=USD, timestamp=3, account=2 << OWNER_SHIFT | 3, amount=-7 * 10**18)
    feed(machine, (taken.encode(), [("margin:alice", "")]))
    assert await page(machine, cursor, 100) == (ALL[3:], None)


async def test_a_page_looks_at_a_bounded_number_of_accounts_and_each_account_is_looked_at_once(
    machine: StateMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: Counter[int] = Counter()

    class Counting:
        def balances(self, account: int) -> Any:
            looked[account] += 1
            return core.balances(account)

    core, counting = machine.core, Counting()
    counted: Any = SimpleNamespace(core=counting, directory=machine.directory)
    monkeypatch.setattr(balance_pages, "_ACCOUNTS_A_PAGE", 2)
    # The house's account of fees is the first.
    assert await pages(counted, 100, currency=BTC) == [[ALL[1]], [], [ALL[4], ALL[5]], []]
    assert set(looked.values()) == {1}
    assert len(looked) == len(machine.directory.accounts)


async def test_others_have_their_turn_while_a_page_is_read(
    machine: StateMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance_pages, "ACCOUNTS_A_TURN", 2)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    await page(machine, None, 100)
    other.cancel()
    assert turns >= len(machine.directory.accounts) // 2


@pytest.mark.parametrize(
    "cursor",
    ["", "nonsense", "é", encode_cursor([]), encode_cursor([1]), encode_cursor([1, 2, 3]), encode_cursor(["2", 1]),
     encode_cursor([-1, 0]), encode_cursor([1, 2**32])],
)  # fmt: skip
def test_a_cursor_that_no_page_gave_is_refused_by_its_name(cursor: str) -> None:
    with pytest.raises(HttpError) as refused:
        BalancePlace.of(cursor)
    assert (refused.value.status_code, refused.value.message) == (400, ["cursor is not one that this list gave"])


async def test_the_open_orders_of_some_accounts_are_counted_as_those_of_all(machine: StateMachine) -> None:
    feed(
        machine,
        together(place(1, 2), place(2, 2, price=9_000), place(3, 2, Side.SELL, 20_000), place(4, 5, quantity=10**6)),
    )
    pending = {2}
    sequencer = SimpleNamespace(pending_engine_order_ids=lambda: pending)
    engine: Any = SimpleNamespace(machine=machine, sequencer=sequencer)
    orders = OrderQueries(engine)
    assert await orders.open_counts() == {(2, USD): 1, (2, BTC): 1, (5, USD): 1}
    assert +orders.open_counts_of([2, 4, 6]) == {(2, USD): 1, (2, BTC): 1}
    pending.clear()
    assert +orders.open_counts_of([5, 2]) == await orders.open_counts()
