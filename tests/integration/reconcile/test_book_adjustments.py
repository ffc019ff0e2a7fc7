"""What the engine alone has is booked in the ledger once, whatever is killed, and by two persons beyond the bound."""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.http.policy import Permission
from openspot.kit.clock import utc_now
from openspot.kit.settings import environment_of
from openspot.reconcile import book_adjustments as booking
from openspot.reconcile.book_adjustments import BookedAdjustments, book_adjustments
from openspot.reconcile.outcome import NotRebuiltError
from openspot.reconcile.rebuild import rebuild
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.booking.service import BookingApproval
from openspot.rest_edge.operators.pending.rules import ActionKind
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.booking_process import PLACES
from tests.support.mirrored_market import MirroredMarket
from tests.support.waiting import eventually, stretched

ALONE = 10**9
"""A bound that nothing here exceeds. Without market data nobody knows a value, so the tests give one."""
BOOKED = "SELECT transaction_id, amount FROM ledger_entries WHERE entry_type = 'adjustment' ORDER BY entry_id"


@pytest.fixture(autouse=True)
def values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every adjustment is worth a dollar for each unit."""
    monkeypatch.setattr(booking, "value_in_cents", lambda amount, _price: int(abs(amount) * 100))


async def adjust(market: MirroredMarket, user: str, amount: str, kind: str = "DEPOSIT", asset: str = "USD") -> None:
    administrator = await market.administrator()
    answer = await administrator.call("AdjustBalance", participantId=user, currency=asset, amount=amount, type=kind)
    assert answer["success"], answer


def settings_of(market: MirroredMarket, bound: int = ALONE) -> RestEdgeSettings:
    return RestEdgeSettings(**{**market.settings.model_dump(), "adjustment_alone_limit": bound})


async def book(
    market: MirroredMarket, *, is_plan: bool = False, bound: int = ALONE, operator: str = "user:ada"
) -> BookedAdjustments:
    return await book_adjustments(
        settings_of(market, bound), operator=operator, reason="the ledger lacks it", is_plan=is_plan,
        request_id="Requ3st", address="192.0.2.7",
    )  # fmt: skip


def approver(market: MirroredMarket) -> PendingActions:
    pending = PendingActions(market.pool, utc_now, timedelta(days=1), timedelta(days=3))
    pending.use({ActionKind.ENGINE_ADJUSTMENTS: BookingApproval(market.pool)})
    return pending


def acting(user: str) -> Acting:
    return Acting(Operator(f"user:{user}", frozenset(), frozenset({Permission.BALANCES_APPROVE})), "checked", "", "")


@pytest.mark.spec("A1.5-11", "A1.5-12")
async def test_credits_and_debits_of_the_engine_alone_are_booked_once_and_the_comparison_finds_nothing(
    market: MirroredMarket,
) -> None:
    await adjust(market, "alice", "7.5")
    await adjust(market, "alice", "2.25", "WITHDRAW")
    await adjust(market, "house:fees", "0.000000000000000001", asset="BTC")
    before = await market.reconcile()
    assert (before.adjustments, before.unbooked_adjustments) == (3, 3)
    plan = await book(market, is_plan=True)
    assert [(each.account, each.asset, each.amount) for each in plan.adjustments] == [
        ("alice", "USD", "7.5"),
        ("alice", "USD", "-2.25"),
        ("house:fees", "BTC", "0.000000000000000001"),
    ]
    assert await market.pool.fetch(BOOKED) == []
    both = await asyncio.gather(book(market), book(market), return_exceptions=True)
    assert [each.is_booked for each in both if isinstance(each, BookedAdjustments)].count(True) == 1, both
    assert len(await market.pool.fetch(BOOKED)) == 6
    assert (await book(market)).adjustments == []
    after = await market.reconcile()
    assert (after.differences, after.adjustments, after.unbooked_adjustments) == ([], 3, 0)
    rows = await market.pool.fetch(
        "SELECT operator_actions.operator, reason, request_id, address FROM operator_actions"
        " JOIN operator_action_origins USING (entry_number) WHERE action LIKE 'engine_adj%'"
    )
    assert [tuple(row) for row in rows] == [("user:ada", "the ledger lacks it", "Requ3st", "192.0.2.7")]
    # A rebuild knows them, and mends what somebody does to them.
    assert (await rebuild(settings_of(market), is_plan=False)).total == 0
    await market.pool.execute("DELETE FROM ledger_entries WHERE entry_type = 'adjustment' AND amount = 7.5")
    assert (await rebuild(settings_of(market), is_plan=False)).total
    assert await market.differences() == []


async def test_a_kill_before_the_end_books_nothing_and_the_next_run_books_all(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    await adjust(market, "alice", "3")
    await adjust(market, "dave", "5")

    async def killed(*_: Any) -> None:
        raise ConnectionError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(booking, "record", killed)
        with pytest.raises(NotRebuiltError):
            await book(market)
    assert await market.pool.fetch(BOOKED) == []
    assert await market.pool.fetchval("SELECT count(*) FROM ledger_accounts WHERE user_id = 'dave'") == 0
    assert (await book(market)).is_booked
    assert await market.differences() == []


@pytest.mark.proof
@pytest.mark.parametrize("place", PLACES)
async def test_a_process_killed_at_any_step_leaves_each_adjustment_booked_once_after_the_next_run(
    market: MirroredMarket, place: str
) -> None:
    await adjust(market, "alice", "3")
    await adjust(market, "dave", "5")
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.booking_process",
        place,
        env=os.environ | environment_of(settings_of(market)),
    )
    assert await asyncio.wait_for(child.wait(), stretched(120)) == -signal.SIGKILL
    before = len(await market.pool.fetch(BOOKED))
    assert before == (4 if place == "after the commit" else 0)

    async def is_run_again() -> bool:
        # The server holds the lock of repairs until it notices that its client is gone.
        try:
            return (await book(market)).is_booked == (before == 0)
        except NotRebuiltError:
            return False

    await eventually(is_run_again)
    entries = await market.pool.fetch(BOOKED)
    assert sorted(str(row["amount"].normalize()) for row in entries) == ["-3", "-5", "3", "5"]
    assert len({row["transaction_id"] for row in entries}) == 4
    rows = "SELECT count(*) FROM operator_actions WHERE action = 'engine_adjustments.booked'"
    assert await market.pool.fetchval(rows) == 1
    assert await market.differences() == []


async def test_what_goes_beyond_the_bound_needs_another_person_who_approves_exactly_that(
    market: MirroredMarket,
) -> None:
    await adjust(market, "alice", "60")
    assert (await book(market, bound=100)).is_booked
    # Many small ones are no way around the bound.
    await adjust(market, "alice", "60")
    asked = await book(market, bound=100)
    assert not asked.is_booked
    assert asked.request_id
    assert (await book(market, bound=100)).request_id == asked.request_id, "it is asked for once"
    pending = approver(market)
    for person in ("ada", "alice"):
        with pytest.raises(HttpError) as refused:
            await pending.approve(asked.request_id, acting(person))
        assert refused.value.status_code == 403
    # What comes later was not approved, and waits for its own run.
    await adjust(market, "bob", "1")
    await pending.approve(asked.request_id, acting("eve"))
    done = await book(market, bound=100)
    assert (done.is_booked, done.request_id, done.more) == (True, asked.request_id, 1)
    assert [each.account for each in done.adjustments] == ["alice"]
    assert (await market.reconcile()).unbooked_adjustments == 1
    # An account of the operator's own is never booked alone.
    own = await book(market, operator="engine:Bob")
    assert (own.is_booked, bool(own.request_id)) == (False, True)


async def test_what_the_operators_own_route_moved_is_not_booked_again(market: MirroredMarket) -> None:
    await market.deposit("house:adjustments", "USD", "5")
    while not await market.engine.balances("house:adjustments"):
        await asyncio.sleep(0.02)
    movement = pb.Movement(
        from_participant_id="house:adjustments", to_participant_id="alice", currency="USD", amount="5"
    )
    transfer = pb.TransferRequest(reference="adjustment:a-1", kind="adjustment", movements=[movement])
    assert (await market.engine.accounts.Transfer(transfer)).success
    assert (await book(market)).adjustments == []
    # The engine and its ledger agree; the row of the route is not there, because the test went past it.
    assert [each.split()[0] for each in await market.differences()] == ["transfer"]
