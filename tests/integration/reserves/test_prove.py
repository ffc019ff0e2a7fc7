"""Proofs on a real engine, ledger and custody: exact at one event, whole or not there, bounded in number."""

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.domain.accounts import user_of_account
from openspot.reconcile import book_adjustments as booking
from openspot.reconcile.book_adjustments import book_adjustments
from openspot.reconcile.projection import movements
from openspot.reconcile.store import EngineReader
from openspot.reserves import prove as making
from openspot.reserves.errors import ReservesError
from openspot.reserves.export import export, listed
from openspot.reserves.prove import Made, prove
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.mirrored_market import WAIT_S, MirroredMarket
from tests.support.reserve_trees import verifier
from tests.support.waiting import eventually

VERIFY = verifier()


def transfer(reference: str, *moved: tuple[str, str, str], kind: str = "staking") -> pb.TransferRequest:
    movements = [
        pb.Movement(from_participant_id=source, to_participant_id=target, currency="USD", amount=amount)
        for source, target, amount in moved
    ]
    return pb.TransferRequest(reference=reference, kind=kind, movements=movements)


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


async def exported(market: MirroredMarket, folder: Path) -> tuple[dict[str, Any], dict[tuple[str, str], Decimal]]:
    """The statement of the newest proof, and what its leaves say that each user is owed; all of it checked."""
    target = folder / "export.jsonl"
    target.unlink(missing_ok=True)
    await export(market.settings, "", target)
    lines = target.read_text().splitlines()
    statement, _ = VERIFY.check_whole(iter(lines))
    assets = [each["asset"] for each in statement["assets"]]
    owed: dict[tuple[str, str], Decimal] = {}
    for leaf in map(json.loads, lines[1:]):
        for asset, amount in zip(assets, leaf.get("balances", ()), strict=False):
            key = (leaf["userId"], asset)
            owed[key] = owed.get(key, Decimal(0)) + Decimal(amount)
    return statement, {key: amount for key, amount in owed.items() if amount}


async def owed_after(market: MirroredMarket, sequence: int) -> dict[tuple[str, str], Decimal]:
    """What the engine's events up to that one leave in the accounts of each user."""
    totals: dict[tuple[str, str], Decimal] = {}
    async with EngineReader(market.settings) as engine:
        async for batch in engine.events(1, sequence):
            for event in batch:
                for account, amount in movements(event):
                    if not account.user_id.startswith("house:"):
                        key = (user_of_account(account.user_id), account.asset)
                        totals[key] = totals.get(key, Decimal(0)) + amount
    return {key: amount for key, amount in totals.items() if amount}


def meanwhile(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> None:
    """Let `work` happen after the ledger has reached the event of the proof, and before the snapshot is taken."""
    held = making.custody_reserves

    async def custody_reserves(settings: Any) -> Any:
        await work()
        return await held(settings)

    monkeypatch.setattr(making, "custody_reserves", custody_reserves)


async def test_the_leaves_are_the_balances_after_one_event_although_the_ledger_has_gone_on(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await market.trade(2)
    await market.engine.accounts.Transfer(
        transfer("loan-1", ("alice", "margin:alice", "25"), ("bob", "margin:alice:2", "3"), kind="loan")
    )
    assert (await market.reconcile()).differences == []
    before = await market.pool.fetchval("SELECT count(*) FROM ledger_entries")

    async def go_on() -> None:
        await market.trade(2)
        await market.withdraw("carol", "USD", "12.5", "wd-1")
        await market.deposit("dora", "BTC", "4")
        await market.engine.accounts.Transfer(transfer("loan-2", ("alice", "bob", "7"), kind="loan"))
        assert (await market.reconcile()).differences == []

    meanwhile(monkeypatch, go_on)
    made = await prove(market.settings, WAIT_S)
    assert await market.pool.fetchval("SELECT count(*) FROM ledger_entries") > before
    statement, owed = await exported(market, tmp_path)
    assert owed == await owed_after(market, made.proof.statement.sequence)
    assert owed[("alice", "USD")] != 0
    assert ("dora", "BTC") not in owed
    assert statement["digest"] == made.proof.digest
    assert made.proof.users == 3
    sums = {each["asset"]: Decimal(each["liabilities"]) for each in statement["assets"]}
    assert sums["USD"] == sum(amount for (_, asset), amount in owed.items() if asset == "USD")


async def stake(market: MirroredMarket, number: int, amount: str, status: str) -> None:
    """A stake of alice's as the edge writes it: the transfer and the row, `pending` or settled."""
    await market.engine.accounts.Transfer(transfer(f"stake:{number}", ("alice", "house:staking", amount)))
    is_settled = status == "active"
    await market.pool.execute(
        "INSERT INTO edge_transfers (reference, kind, subject_id, movements, status, attempts, next_attempt_at,"
        " created_at) VALUES ($1, 'staking', $2, $3::jsonb, $4, 1, now(), now())",
        f"stake:{number}", str(number), json.dumps([["alice", "house:staking", "USD", amount]]),
        "done" if is_settled else "pending",
    )  # fmt: skip
    await market.pool.execute(
        "INSERT INTO staking_balances (balance_id, user_id, product_id, asset, type, amount, staked, accrued,"
        " remainder, apr_ppm, lock_days, unbonding_days, status, created_at)"
        " VALUES ($1, 'alice', 'p', 'USD', 'flexible', $2::numeric, $2::numeric, 0, 0, 0, 0, 0, $3, now())",
        str(number), Decimal(amount), status,
    )  # fmt: skip


async def test_what_is_staked_is_owed_whether_or_not_the_edge_has_settled_it(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await stake(market, 1, "10", "active")
    await stake(market, 2, "20", "pending")
    meanwhile(monkeypatch, lambda: stake_and_post(market, 3, "40"))
    made = await prove(market.settings, WAIT_S)
    _, owed = await exported(market, tmp_path)
    after = await owed_after(market, made.proof.statement.sequence)
    assert after[("alice", "USD")] == Decimal(100_000 - 30)
    assert owed == after | {("alice", "USD"): Decimal(100_000)}


async def stake_and_post(market: MirroredMarket, number: int, amount: str) -> None:
    await stake(market, number, amount, "active")
    assert (await market.reconcile()).caught_up


async def test_old_proofs_are_deleted_and_each_names_the_one_before(market: MirroredMarket) -> None:
    settings = market.settings.model_copy(update={"reserves_kept": 2})
    made: list[Made] = [await prove(settings, WAIT_S) for _ in range(3)]
    ids = [each.proof.statement.proof_id for each in made]
    assert [each.deleted for each in made] == [[], [], [ids[0]]]
    assert [each.proof.statement.previous for each in made] == [None, made[0].proof.digest, made[1].proof.digest]
    assert [proof.statement.proof_id for proof in await listed(settings)] == [ids[2], ids[1]]
    for table in ("reserve_leaves", "reserve_nodes"):
        left = await market.pool.fetch(f"SELECT DISTINCT proof_id FROM {table}")
        assert {row["proof_id"] for row in left} <= set(ids[1:])


async def test_nobody_below_zero_is_hidden_in_a_sum(market: MirroredMarket) -> None:
    assert (await market.reconcile()).caught_up
    await market.pool.execute("UPDATE ledger_accounts SET available = -0.5 WHERE user_id = 'bob' AND asset = 'BTC'")
    with pytest.raises(ReservesError, match=r"the account of bob is below zero: -0\.5 BTC"):
        await prove(market.settings, WAIT_S)
    assert await listed(market.settings) == []


@pytest.mark.spec("A1.5-11", "A1.5-12")
async def test_what_only_the_engine_gave_is_owed_before_and_after_it_is_booked(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    administrator = await market.administrator()
    for amount, kind in (("1000", "DEPOSIT"), ("400", "WITHDRAW"), ("400", "DEPOSIT")):
        wanted = {"participantId": "dave", "currency": "USD", "amount": amount, "type": kind}
        assert (await administrator.call("AdjustBalance", **wanted))["success"]
    await market.place("sell", "100", "5", "bob")
    await market.place("buy", "100", "5", "dave")
    assert (await market.reconcile()).caught_up
    # The ledger has dave below zero, whose dollars only the engine knew. What it took from bob alone is still owed.
    taken = {"participantId": "bob", "currency": "BTC", "amount": "1", "type": "WITHDRAW"}
    assert (await administrator.call("AdjustBalance", **taken))["success"]
    made = await prove(market.settings, WAIT_S)
    assert made.unbooked == 4
    _, owed = await exported(market, tmp_path)
    spendable = await owed_after(market, made.proof.statement.sequence)
    assert owed == spendable | {("bob", "BTC"): spendable["bob", "BTC"] + 1}
    monkeypatch.setattr(booking, "value_in_cents", lambda *_: 0)
    settings = RestEdgeSettings(**market.settings.model_dump())

    async def book() -> None:
        # More is adjusted after the event of the proof, and booked before its snapshot.
        late = {"participantId": "dave", "currency": "USD", "amount": "7", "type": "DEPOSIT"}
        assert (await administrator.call("AdjustBalance", **late))["success"]
        made = await book_adjustments(settings, operator="user:ada", reason="the ledger lacks it", is_plan=False)
        assert (made.is_booked, len(made.adjustments)) == (True, 5)

    meanwhile(monkeypatch, book)
    made = await prove(market.settings, WAIT_S)
    assert made.unbooked == 0
    _, owed = await exported(market, tmp_path)
    assert owed == await owed_after(market, made.proof.statement.sequence)
    assert (await market.reconcile()).differences == []


async def test_a_proof_that_is_killed_half_way_leaves_nothing_and_the_next_one_works(
    market: MirroredMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()

    async def stop_here(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(making.ProofMaker, "_write_nodes", stop_here)
        task = asyncio.create_task(prove(market.settings, WAIT_S))
        await reached.wait()
        with pytest.raises(ReservesError, match="another proof is being made now"):
            await prove(market.settings, WAIT_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await market.pool.fetchval("SELECT count(*) FROM reserve_leaves") == 0

    async def is_free() -> bool:
        return bool(await market.pool.fetchval("SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'"))

    await eventually(is_free)
    assert (await prove(market.settings, WAIT_S)).proof.users == 3


async def test_it_says_who_does_not_answer(market: MirroredMarket, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = market.settings.model_copy(update={"given_engine_url": "http://127.0.0.1:1"})
    with pytest.raises(ReservesError, match="the engine does not answer"):
        await prove(gone, 0.1)
    await market.pool.execute("UPDATE engine_cursors SET sequence = 0")
    with pytest.raises(ReservesError, match="the ledger has not posted everything up to the engine's event"):
        await prove(market.settings, 0.0)


async def test_an_export_never_replaces_a_file(market: MirroredMarket, tmp_path: Path) -> None:
    with pytest.raises(ReservesError, match="no proof was made yet"):
        await export(market.settings, "", tmp_path / "none")
    await prove(market.settings, WAIT_S)
    with pytest.raises(ReservesError, match="there is no proof unknown"):
        await export(market.settings, "unknown", tmp_path / "none")
    folder = tmp_path / "auditor"
    folder.mkdir()
    target = folder / "kept"
    target.write_text("mine")
    with pytest.raises(ReservesError, match="kept is there already"):
        await export(market.settings, "", target)
    assert (target.read_text(), names_in(folder)) == ("mine", ["kept"])


async def test_reserves_are_what_custody_says(market: MirroredMarket, pool: asyncpg.Pool, tmp_path: Path) -> None:
    await pool.execute(
        "INSERT INTO custody_deposits VALUES ('c-1', 'alice', 'BTC', 'bitcoin', 'a', 2.5, 1, 1, now(), now()),"
        " ('c-2', 'bob', 'BTC', 'bitcoin', 'b', 1, 1, 9, now(), NULL)"
    )
    await prove(market.settings, WAIT_S)
    statement, _ = await exported(market, tmp_path)
    assert [(each["asset"], each["reserves"]) for each in statement["assets"]] == [("BTC", "2.5"), ("USD", "0")]
