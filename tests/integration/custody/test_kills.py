"""kill -9 between any two steps of a withdrawal: it is done once, or not at all."""

from decimal import Decimal

import pytest

from openspot.custody import progress as progress_module
from openspot.custody import withdrawal_store as store
from openspot.custody.withdrawal_states import Funds, Status
from tests.support.custody import BY, SEED, CustodyBench, Killed, KillPoints

POINTS_MAX = 200


class KillableBus:
    def __init__(self, custody: CustodyBench, points: KillPoints) -> None:
        self.publish = points.around(custody.router.publish)


class KillableChain:
    def __init__(self, custody: CustodyBench, points: KillPoints) -> None:
        chain = custody.chain
        self.height = chain.height
        self.send = points.around(chain.send)


async def run_with_kill(custody: CustodyBench, monkeypatch: pytest.MonkeyPatch, fatal: int, *, cancels: bool) -> bool:
    """Run one withdrawal to its end, killed at the `fatal`-th point. False if there is no such point."""
    withdrawal = await custody.create("1.5")
    points = KillPoints(fatal)
    chain = custody.chain
    with monkeypatch.context() as patch:
        patch.setattr(store, "save", points.around(store.save))
        patch.setattr(store, "audit", points.around(store.audit))
        patch.setattr(store, "add_signature", points.around(store.add_signature))
        custody.bus, custody.chain = KillableBus(custody, points), KillableChain(custody, points)
        killed = False
        try:
            await whole_life(custody, withdrawal.withdrawal_id, cancels=cancels)
        except Killed:
            killed = True
    custody.bus, custody.chain = custody.router, chain
    if killed:
        await whole_life(custody, withdrawal.withdrawal_id, cancels=cancels)
    found = await custody.get(withdrawal.withdrawal_id)
    of_it = await custody.pool.fetch(
        "SELECT amount FROM custody_chain_transactions WHERE tx_hash = $1", found.tx_hash or ""
    )
    if cancels:
        assert (found.status, found.funds) == (Status.CANCELLED, Funds.RELEASED)
        assert of_it == []
        assert custody.router.released[withdrawal.withdrawal_id] == 1
    else:
        assert (found.status, found.funds) == (Status.COMPLETED, Funds.TAKEN)
        assert [row["amount"] for row in of_it] == [Decimal("1.4999")]
        assert custody.router.taken[withdrawal.withdrawal_id] == 1
    assert custody.router.held == {}
    return killed


async def whole_life(custody: CustodyBench, withdrawal_id: str, *, cancels: bool) -> None:
    """Everything that people and custody do, as far as it is not done yet."""
    await custody.advance()
    found = await custody.get(withdrawal_id)
    if cancels:
        await custody.withdrawals.cancel(withdrawal_id, "alice")
    elif found.status is Status.PENDING_APPROVAL:
        async with custody.pool.acquire() as connection:
            given = await store.approvers(connection, withdrawal_id)
        for person in {"olivia", "peter"} - set(given):
            await custody.withdrawals.approve(withdrawal_id, person, BY)
    await custody.advance()
    if (await custody.get(withdrawal_id)).status is Status.SIGNING:
        async with custody.pool.acquire() as connection:
            signed = await store.signatures(connection, withdrawal_id)
        for signer in sorted({"warm-1", "warm-2", "warm-3"} - set(signed)):
            await custody.withdrawals.sign(withdrawal_id, signer, SEED, BY)
    await custody.advance()


@pytest.mark.parametrize(
    "cancels", [pytest.param(False, id="sent"), pytest.param(True, id="cancelled", marks=pytest.mark.proof)]
)
async def test_a_kill_at_any_point_leaves_a_withdrawal_that_is_done_once(
    custody: CustodyBench, monkeypatch: pytest.MonkeyPatch, cancels: bool
) -> None:
    kills = 0
    for fatal in range(1, POINTS_MAX):
        if not await run_with_kill(custody, monkeypatch, fatal, cancels=cancels):
            break
        kills += 1
        # Keep below the daily limits.
        custody.time.pass_seconds(86_400)
    else:
        pytest.fail("the run has more points than expected")
    assert kills >= (8 if cancels else 30)
    total = await custody.pool.fetchval("SELECT count(*) FROM custody_chain_transactions")
    assert total == (0 if cancels else kills + 1)


async def test_broadcasting_is_written_before_anything_is_sent(custody: CustodyBench) -> None:
    withdrawal = await custody.create("0.09")
    seen: list[str] = []
    chain = custody.chain

    class Watching:
        height = chain.height

        async def send(self, *given: object) -> int:
            # Another connection sees only what is committed.
            seen.append(await custody.pool.fetchval("SELECT status FROM custody_withdrawals"))
            return int(await chain.send(*given))

    custody.chain = Watching()
    await custody.advance()
    assert seen == ["broadcasting"]
    assert (await custody.get(withdrawal.withdrawal_id)).status is Status.COMPLETED


async def test_two_processes_at_the_same_time_do_each_step_once(custody: CustodyBench) -> None:
    import asyncio

    withdrawals = [await custody.create("0.09", f"user{number}") for number in range(20)]
    first, second = custody.progress(), custody.progress()
    for _ in range(6):
        await asyncio.gather(first.advance_all(), second.advance_all())
        await asyncio.gather(custody.deliver(first), custody.deliver(second))
        custody.time.pass_seconds(2)
    await asyncio.gather(first.advance_all(), second.advance_all())
    assert custody.router.taken == {withdrawal.withdrawal_id: 1 for withdrawal in withdrawals}
    assert len(await custody.sent()) == 20


async def test_one_withdrawal_that_cannot_go_on_does_not_stop_the_others(
    custody: CustodyBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = await custody.create("0.09"), await custody.create("0.08")
    await custody.advance(rounds=0)
    await custody.pool.execute(
        "UPDATE custody_withdrawals SET status = 'broadcasting', funds = 'reserved' WHERE withdrawal_id = $1",
        broken.withdrawal_id,
    )
    await custody.advance()
    assert (await custody.get(whole.withdrawal_id)).status is Status.COMPLETED
    assert (await custody.get(broken.withdrawal_id)).status is Status.BROADCASTING
    assert progress_module.STEPS.labels("send", "failed")._value.get() >= 1
