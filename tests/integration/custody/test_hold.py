"""The hold, and the lock of one user: while one is there, nothing that it is about is approved, signed or sent."""

import asyncio
from pathlib import Path

import pytest

from openspot.contracts.refusals import RefusalCode
from openspot.custody import withdrawal_store as store
from openspot.custody.hold import hold_reason, hold_withdrawals, release_withdrawals
from openspot.custody.withdrawal_states import Funds, Status
from openspot.custody.withdrawals import WithdrawalError
from openspot.domain.ids import withdrawals_lock
from tests.support.custody import CustodyBench
from tests.support.waiting import eventually


async def test_a_held_withdrawal_reserves_its_funds_and_is_sent_after_the_release(
    custody: CustodyBench, tmp_path: Path
) -> None:
    custody.is_held = lambda: bool(hold_reason(tmp_path))
    hold_withdrawals(tmp_path, "restored")
    assert hold_reason(tmp_path).startswith("restored, since 2")
    withdrawal = await custody.create("0.09")
    await custody.advance()
    found = await custody.get(withdrawal.withdrawal_id)
    assert (found.status, found.funds) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    assert await custody.sent() == []
    assert release_withdrawals(tmp_path)
    assert not release_withdrawals(tmp_path)
    await custody.advance()
    assert (await custody.get(withdrawal.withdrawal_id)).status is Status.COMPLETED


def test_a_hold_that_cannot_be_read_holds(tmp_path: Path) -> None:
    assert hold_reason(tmp_path) == ""
    (tmp_path / "withdrawals-held.json").write_text("{", "utf-8")
    assert hold_reason(tmp_path) == "its file cannot be read"


async def lock(custody: CustodyBench, user_id: str, kind: str = "withdrawals") -> None:
    """Lock as an operator does: under the lock that the creation of a withdrawal takes, too."""
    async with custody.pool.acquire() as connection, connection.transaction():
        await store.lock_named(connection, withdrawals_lock(user_id))
        await connection.execute(
            "INSERT INTO users (user_id, email, password_hash, role, created_at)"
            " VALUES ($1, $1, 'x', 'user', now()) ON CONFLICT DO NOTHING",
            user_id,
        )
        await connection.execute(
            "INSERT INTO user_locks (user_id, kind, reason, locked_by, locked_at)"
            " VALUES ($1, $2, 'stolen phone', 'user:x', now())",
            user_id,
            kind,
        )


async def test_a_user_whose_withdrawals_are_locked_makes_none_and_those_under_way_wait(custody: CustodyBench) -> None:
    made = await custody.create("0.09")
    await lock(custody, "alice")
    with pytest.raises(WithdrawalError) as refused:
        await custody.create("0.01")
    assert refused.value.refusal.code is RefusalCode.WITHDRAWALS_LOCKED
    await custody.advance()
    found = await custody.get(made.withdrawal_id)
    assert (found.status, found.funds) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    assert await custody.sent() == []
    # Another user's go on, and so do these when the lock is ended.
    await lock(custody, "bob", "login")
    other = await custody.create("0.01", user_id="bob")
    await custody.pool.execute("DELETE FROM user_locks WHERE user_id = 'alice'")
    await custody.advance()
    for withdrawal in (made, other):
        assert (await custody.get(withdrawal.withdrawal_id)).status is Status.COMPLETED


async def test_after_a_lock_no_withdrawal_is_made_that_was_asked_for_before(custody: CustodyBench) -> None:
    async with custody.pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await store.lock_named(connection, withdrawals_lock("alice"))
        creating = asyncio.create_task(custody.create("0.01"))

        async def waits() -> bool:
            query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            return int(await custody.pool.fetchval(query)) == 1

        await eventually(waits)
        await connection.execute(
            "INSERT INTO users (user_id, email, password_hash, role, created_at)"
            " VALUES ('alice', 'alice', 'x', 'user', now())"
        )
        await connection.execute(
            "INSERT INTO user_locks (user_id, kind, reason, locked_by, locked_at)"
            " VALUES ('alice', 'withdrawals', 'stolen phone', 'user:x', now())"
        )
        await transaction.commit()
        with pytest.raises(WithdrawalError):
            await creating
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_withdrawals") == 0
