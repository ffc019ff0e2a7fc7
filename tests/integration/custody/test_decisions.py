"""People's decisions: approvals, signatures, rejections, cancels, and the trail that they leave."""

from dataclasses import replace
from decimal import Decimal

import asyncpg
import pytest

from openspot.custody import withdrawal_store as store
from openspot.custody.chain import ChainRefusedError
from openspot.custody.withdrawal_states import Funds, Status
from openspot.custody.withdrawal_store import Withdrawal, WithdrawalDecision
from openspot.custody.withdrawals import WithdrawalError
from openspot.kit.hash_chain import entry_hash
from tests.support.custody import BITCOIN_ADDRESS, BY, SEED, CustodyBench, first_break


async def approve(custody: CustodyBench, withdrawal: Withdrawal, *people: str) -> None:
    for person in people:
        await custody.withdrawals.approve(withdrawal.withdrawal_id, person, BY)


async def sign(custody: CustodyBench, withdrawal: Withdrawal, *signers: str) -> None:
    for signer in signers:
        await custody.withdrawals.sign(withdrawal.withdrawal_id, signer, SEED, BY)


async def status(custody: CustodyBench, withdrawal: Withdrawal) -> tuple[Status, Funds]:
    found = await custody.get(withdrawal.withdrawal_id)
    return found.status, found.funds


@pytest.mark.spec("A8-25", "A8-38", "A1.5-10")
async def test_a_small_withdrawal_needs_nobody_and_arrives_without_its_fee(custody: CustodyBench) -> None:
    small = await custody.create("0.09")
    await custody.advance()
    assert await status(custody, small) == (Status.COMPLETED, Funds.TAKEN)
    assert await custody.sent() == [(BITCOIN_ADDRESS, Decimal("0.0899"))]
    assert custody.router.taken == {small.withdrawal_id: 1}
    assert Decimal(10**12) - custody.router.available == Decimal("0.09")
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_signatures") == 2


@pytest.mark.spec("A8-24", "A8-25")
async def test_from_a_thousand_dollars_on_the_hot_wallet_waits_for_one_person(custody: CustodyBench) -> None:
    edge = await custody.create("0.1")
    below = await custody.create("0.099999")
    await custody.advance()
    assert await status(custody, edge) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    assert (await status(custody, below))[0] is Status.COMPLETED
    await approve(custody, edge, "olivia")
    await custody.advance()
    assert await status(custody, edge) == (Status.COMPLETED, Funds.TAKEN)


@pytest.mark.spec("A8-28", "A8-29", "A8-32", "A8-33", "A8-36", "A8-37", "A8-39", "A8-40", "A8-41")
@pytest.mark.parametrize(
    ("amount", "wallet", "approvals", "signatures"),
    [("1.5", "warm", 2, 3), ("11", "treasury", 3, 3), ("51", "cold", 4, 4)],
)
async def test_a_larger_withdrawal_waits_for_its_last_approval_and_its_last_signature(
    custody: CustodyBench, amount: str, wallet: str, approvals: int, signatures: int
) -> None:
    withdrawal = await custody.create(amount)
    people = ["olivia", "peter", "quinn", "rosa"][:approvals]
    await approve(custody, withdrawal, *people[:-1])
    await custody.advance()
    assert await status(custody, withdrawal) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    await approve(custody, withdrawal, people[-1])
    await custody.advance()
    assert (await status(custody, withdrawal))[0] is Status.SIGNING
    signers = [f"{wallet}-{number}" for number in range(1, signatures + 1)]
    await sign(custody, withdrawal, *signers[:-1])
    await custody.advance()
    assert (await status(custody, withdrawal))[0] is Status.SIGNING
    assert await custody.sent() == []
    await sign(custody, withdrawal, signers[-1])
    await custody.advance()
    assert await status(custody, withdrawal) == (Status.COMPLETED, Funds.TAKEN)
    assert len(await custody.sent()) == 1


async def test_one_person_approves_once_and_never_their_own_withdrawal(
    custody: CustodyBench, pool: asyncpg.Pool
) -> None:
    await pool.execute("INSERT INTO users VALUES ('alice', 'alice@example.org', 'x', 'user', now(), now())")
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, "olivia")
    for person, message in (
        ("olivia", "has approved this withdrawal already"),
        ("alice", "a withdrawal of their own"),
        ("alice@example.org", "a withdrawal of their own"),
        ("Olivia", "the operator's name"),
        ("", "the operator's name"),
        ("olivia\n", "the operator's name"),
    ):
        with pytest.raises(WithdrawalError, match=message):
            await approve(custody, withdrawal, person)
    await custody.advance()
    assert (await status(custody, withdrawal))[0] is Status.PENDING_APPROVAL
    assert await pool.fetchval("SELECT count(*) FROM custody_approvals") == 1


async def test_one_person_with_several_names_or_linked_accounts_is_one_approver_and_decides_on_none_of_their_own(
    custody: CustodyBench, pool: asyncpg.Pool
) -> None:
    await pool.execute("INSERT INTO users VALUES ('Olivia', 'olivia@example.org', 'x', 'user', now(), now())")
    await pool.executemany(
        "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by) VALUES ($1, $2, 'x', 'x')",
        [("Olivia", "Peter"), ("Rosa", "alice"), ("Peter", "Quinn")],
    )
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, "user:olivia")
    # The engine's participant of the same id, the mail address, and accounts that are linked directly and by another.
    for name in ("olivia", "olivia@example.org", "peter", "user:quinn"):
        with pytest.raises(WithdrawalError, match="user:olivia has approved already, and is the same person"):
            await approve(custody, withdrawal, name)
    for decide in (
        custody.withdrawals.approve(withdrawal.withdrawal_id, "user:rosa", BY),
        custody.withdrawals.reject(withdrawal.withdrawal_id, "rosa", BY),
        custody.withdrawals.sign(withdrawal.withdrawal_id, "warm-1", SEED, BY, operator="user:rosa"),
    ):
        with pytest.raises(WithdrawalError, match="a withdrawal of their own"):
            await decide
    assert await pool.fetchval("SELECT count(*) FROM custody_approvals") == 1
    await pool.execute("UPDATE owner_links SET ended_at = now(), end_reason = 'x', ended_by = 'x'")
    await approve(custody, withdrawal, "peter")
    await custody.advance()
    assert (await status(custody, withdrawal))[0] is Status.SIGNING


async def test_a_signer_signs_once_and_only_for_its_own_wallet_and_after_the_approvals(custody: CustodyBench) -> None:
    withdrawal = await custody.create("1.5")
    with pytest.raises(WithdrawalError, match="is pending_approval"):
        await sign(custody, withdrawal, "warm-1")
    await approve(custody, withdrawal, "olivia", "peter")
    await custody.advance()
    await sign(custody, withdrawal, "warm-1")
    for signer in ("warm-6", "cold-1", "olivia"):
        with pytest.raises(WithdrawalError, match="signer must be one of warm-1, warm-2"):
            await sign(custody, withdrawal, signer)
    with pytest.raises(WithdrawalError, match="has signed this withdrawal already"):
        await sign(custody, withdrawal, "warm-1")


async def test_a_signature_of_another_seed_or_a_forged_row_does_not_send(custody: CustodyBench) -> None:
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, "olivia", "peter")
    await custody.advance()
    await sign(custody, withdrawal, "warm-1", "warm-2")
    await custody.withdrawals.sign(withdrawal.withdrawal_id, "warm-3", b"another seed", BY)
    await custody.advance()
    assert (await status(custody, withdrawal))[0] is Status.SIGNING
    # Whoever can write to the database alone still cannot have it sent.
    await custody.pool.execute("UPDATE custody_withdrawals SET status = 'broadcasting', tx_hash = '0xforged'")
    await custody.advance()
    assert await custody.sent() == []


@pytest.mark.parametrize("state", ["new", "reserved"])
async def test_a_cancelled_withdrawal_sends_nothing_and_frees_its_funds(custody: CustodyBench, state: str) -> None:
    withdrawal = await custody.create("0.5")
    if state == "reserved":
        await custody.advance()
    for _ in range(2):
        cancelled = await custody.withdrawals.cancel(withdrawal.withdrawal_id, "alice")
        assert cancelled.status is Status.CANCELLED
    await custody.advance()
    assert await status(custody, withdrawal) == (Status.CANCELLED, Funds.RELEASED)
    assert custody.router.held == {}
    assert custody.router.available == 10**12
    assert await custody.sent() == []


async def test_another_users_or_an_approved_withdrawal_cannot_be_cancelled(custody: CustodyBench) -> None:
    withdrawal = await custody.create("1.5")
    with pytest.raises(WithdrawalError, match="not found"):
        await custody.withdrawals.cancel(withdrawal.withdrawal_id, "bob")
    with pytest.raises(WithdrawalError, match="not found"):
        await custody.withdrawals.cancel("nothing", "alice")
    await approve(custody, withdrawal, "olivia", "peter")
    await custody.advance()
    with pytest.raises(WithdrawalError, match="is signing and cannot be cancelled"):
        await custody.withdrawals.cancel(withdrawal.withdrawal_id, "alice")


@pytest.mark.parametrize("approvals", [0, 2])
async def test_one_rejection_ends_a_withdrawal_and_frees_its_funds(custody: CustodyBench, approvals: int) -> None:
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, *["olivia", "peter"][:approvals])
    await custody.advance()
    with pytest.raises(WithdrawalError, match="reason must have"):
        await custody.withdrawals.reject(withdrawal.withdrawal_id, "quinn", replace(BY, reason=""))
    await custody.withdrawals.reject(withdrawal.withdrawal_id, "quinn", replace(BY, reason="the address is on a list"))
    await custody.advance()
    found = await custody.get(withdrawal.withdrawal_id)
    assert (found.status, found.funds, found.reason) == (Status.REJECTED, Funds.RELEASED, "the address is on a list")
    with pytest.raises(WithdrawalError, match="is rejected"):
        await approve(custody, withdrawal, "rosa")
    assert await custody.sent() == []


async def test_without_funds_a_withdrawal_fails_and_nothing_is_released(custody: CustodyBench) -> None:
    custody.router.available = Decimal("0.4")
    withdrawal = await custody.create("0.5")
    await custody.advance()
    found = await custody.get(withdrawal.withdrawal_id)
    assert (found.status, found.funds, found.reason) == (Status.FAILED, Funds.REFUSED, "RISK_NSF")
    assert custody.router.released == {}


async def test_what_the_chain_refuses_fails_and_frees_its_funds(custody: CustodyBench) -> None:
    class RefusingChain:
        height = custody.chain.height

        async def send(self, *_: object) -> int:
            raise ChainRefusedError("the transaction is not standard")

    custody.chain = RefusingChain()
    withdrawal = await custody.create("0.09")
    await custody.advance()
    found = await custody.get(withdrawal.withdrawal_id)
    assert (found.status, found.funds) == (Status.FAILED, Funds.RELEASED)
    assert found.reason == "the transaction is not standard"
    assert custody.router.available == 10**12


async def test_while_the_chain_does_not_answer_the_funds_stay_held_and_are_sent_once_later(
    custody: CustodyBench,
) -> None:
    chain = custody.chain

    class LostReply:
        height = chain.height

        async def send(self, *given: object) -> int:
            await chain.send(*given)
            raise ConnectionError("the reply got lost")

    custody.chain = LostReply()
    withdrawal = await custody.create("0.09")
    await custody.advance()
    assert await status(custody, withdrawal) == (Status.BROADCASTING, Funds.RESERVED)
    custody.chain = chain
    await custody.advance()
    assert await status(custody, withdrawal) == (Status.COMPLETED, Funds.TAKEN)
    assert len(await custody.sent()) == 1


async def test_every_decision_leaves_an_entry_with_its_grounds_in_an_unbroken_chain(custody: CustodyBench) -> None:
    other = await custody.create("2")
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, "olivia", "peter")
    await custody.advance()
    await sign(custody, withdrawal, "warm-2", "warm-4", "warm-5")
    await custody.advance()
    await custody.withdrawals.cancel(other.withdrawal_id, "alice")
    async with store.transaction(custody.pool) as connection:
        entries = [entry async for entry in store.audit_entries(connection)]
    assert first_break(entries) is None
    about = [content for *_, content in entries if content["withdrawal_id"] == withdrawal.withdrawal_id]
    assert [(entry["actor"], entry["decision"]) for entry in about] == [
        ("user:alice", "requested"), ("operator:olivia", "approved"), ("operator:peter", "approved"),
        ("custody", "released"), ("signer:warm-2", "signed"), ("signer:warm-4", "signed"), ("signer:warm-5", "signed"),
        ("custody", "sent"), ("custody", "completed"),
    ]  # fmt: skip
    for entry in about:
        assert (entry["policy_version"], entry["price"], entry["value_cents"]) == ("A8-1", "10000", 1_500_000)
        assert entry["sum_before_cents"] == 2_000_000
    assert [(entry.get("operator"), entry.get("reason")) for entry in about[:4]] == [
        (None, None), ("shell:test", "as the owner asked"), ("shell:test", "as the owner asked"), (None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'operator:mallory'",
        "reason = 'the owner called'",
        "operator = 'user:mallory'",
        "operator = NULL, reason = NULL, before = NULL, after = NULL, request_id = NULL",
    ],
)
async def test_a_change_of_who_decided_or_why_breaks_the_chain(custody: CustodyBench, change: str) -> None:
    withdrawal = await custody.create("1.5")
    await approve(custody, withdrawal, "olivia", "peter")
    await custody.pool.execute(f"UPDATE custody_audit SET {change} WHERE entry_number = 3")
    async with store.transaction(custody.pool) as connection:
        entries = [entry async for entry in store.audit_entries(connection)]
    assert first_break(entries) == 2


async def test_entries_of_earlier_releases_which_name_no_operator_stay_in_the_chain(custody: CustodyBench) -> None:
    withdrawal = await custody.create("1.5")
    earlier = WithdrawalDecision("operator:olivia", "approved", "1 of 2")
    async with store.transaction(custody.pool) as connection:
        await store.audit(connection, withdrawal, earlier, custody.time.now(), 0)
        row = await connection.fetchrow("SELECT * FROM custody_audit WHERE decision = 'approved'")
        entries = [entry async for entry in store.audit_entries(connection)]
    fields = ("withdrawal_id", "actor", "decision", "detail", "policy_version", "price", "value_cents",
              "sum_before_cents", "at_ms")  # fmt: skip
    # What the release before this one hashed.
    assert row["hash"] == entry_hash(row["previous_hash"], {name: row[name] for name in fields})
    await approve(custody, withdrawal, "peter")
    assert first_break(entries) is None


@pytest.mark.parametrize("reason", ["", "no", "x" * 201, "two\nlines"])
async def test_nobody_approves_or_signs_without_a_reason(custody: CustodyBench, reason: str) -> None:
    withdrawal, by = await custody.create("1.5"), replace(BY, reason=reason)
    for decide in (
        custody.withdrawals.approve(withdrawal.withdrawal_id, "olivia", by),
        custody.withdrawals.sign(withdrawal.withdrawal_id, "warm-1", SEED, by),
    ):
        with pytest.raises(WithdrawalError, match="reason must have 3 to 200 printable characters"):
            await decide
