"""Every single damage of every mirror is named, planned, and repaired to what an undamaged twin holds."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.contracts.messages import LedgerLock, LedgerLockReply, LedgerPosting, LedgerPostingReply
from openspot.reconcile.rebuild import rebuild
from tests.support.mirrored_market import MirroredMarket

MIRRORS = {
    "orders": "SELECT * FROM orders ORDER BY order_id",
    "trades": "SELECT * FROM trades ORDER BY trade_id",
    "accounts": "SELECT user_id, asset, available, locked FROM ledger_accounts ORDER BY user_id, asset",
    "entries": "SELECT row_number() OVER (PARTITION BY user_id, asset ORDER BY entry_id), transaction_id, user_id,"
    " asset, amount, balance, entry_type, reference_type, reference_id FROM ledger_entries ORDER BY transaction_id",
    "locks": "SELECT user_id, asset, reference_id, direction, amount FROM ledger_movements ORDER BY 1, 2, 3, 4",
}
COPIED = "user_id, asset, amount, balance, entry_type, reference_type, reference_id, created_at"
TRADE = "(SELECT trade_id FROM trades ORDER BY sequence OFFSET 3 LIMIT 1)"
ALICE = "user_id = 'alice' AND asset = 'USD'"


class Damage(NamedTuple):
    """A statement that damages one row, and what reconcile's differences begin with."""

    statement: str
    named: str


def entry(which: str) -> str:
    return f"DELETE FROM ledger_entries WHERE transaction_id = {which}"


def entry_set(change: str, which: str) -> str:
    return f"UPDATE ledger_entries SET {change} WHERE transaction_id = {which}"


def entry_copy(copy_id: str, which: str) -> str:
    return (
        f"INSERT INTO ledger_entries (transaction_id, {COPIED}) SELECT {copy_id}, {COPIED} FROM ledger_entries"
        f" WHERE transaction_id = {which}"
    )


ORDER_COLUMNS = (
    "client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price, quantity, filled_quantity,"
    " filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason, last_sequence, created_at,"
    " updated_at"
)
TRADE_COLUMNS = (
    "sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id, seller_id, taker_fee,"
    " maker_fee, fee_currency, executed_at"
)
FILLED = "(SELECT min(order_id) FROM orders WHERE status = 'filled')"
OPEN = "(SELECT min(order_id) FROM orders WHERE status = 'open')"
DAMAGE = {
    "entry of a trade deleted": Damage(entry(f"{TRADE} || ':buyer-quote'"), "entry"),
    "entry of the house deleted": Damage(entry(f"{TRADE} || ':house-buyer-fee'"), "entry"),
    "entry of the newest trade deleted": Damage(
        entry("(SELECT trade_id FROM trades ORDER BY sequence DESC LIMIT 1) || ':seller-quote'"), "entry"
    ),
    "entry of a deposit deleted": Damage(entry("'tx-1'"), "entry tx-1"),
    "other side of a deposit deleted": Damage(entry("'tx-1:contra'"), "account house:external"),
    "entry of a withdrawal deleted": Damage(entry("'w-1'"), "entry w-1"),
    "entry of a transfer deleted": Damage(entry("'s-1:1:transfer-credit'"), "entry s-1:1:transfer-credit"),
    "entry of the ledger's own deleted": Damage(entry("'own-1'"), "account carol BTC"),
    "other side of the ledger's own deleted": Damage(entry("'own-1:contra'"), "account house:external"),
    "entry of a trade changed": Damage(entry_set("amount = amount + 1", f"{TRADE} || ':seller-base'"), "entry"),
    "owner of an entry changed": Damage(entry_set("user_id = 'dave'", f"{TRADE} || ':buyer-base'"), "entry"),
    "type of an entry changed": Damage(entry_set("entry_type = 'gift'", f"{TRADE} || ':buyer-base'"), "entry"),
    "running balance of an entry changed": Damage(
        entry_set("balance = balance - 3", f"{TRADE} || ':buyer-base'"), "account"
    ),
    "entry of a deposit changed": Damage(entry_set("amount = amount - 5", "'tx-1'"), "entry tx-1"),
    "other side of a deposit changed": Damage(
        entry_set("amount = amount - 5", "'tx-1:contra'"), "account house:external"
    ),
    "entry of the ledger's own changed": Damage(entry_set("amount = 9", "'own-1'"), "account carol BTC"),
    "other side of the ledger's own changed": Damage(
        entry_set("amount = 9", "'own-1:contra'"), "account house:external"
    ),
    "entry of a trade doubled": Damage(
        entry_copy(f"{TRADE} || ':buyer-base:again'", f"{TRADE} || ':buyer-base'"), "entry"
    ),
    "entry of a trade doubled under a trade's name": Damage(
        entry_copy("'x-1:buyer-base'", f"{TRADE} || ':buyer-base'"), "entry x-1:buyer-base"
    ),
    "entry of a deposit doubled": Damage(entry_copy("'tx-1-again'", "'tx-1'"), "entry tx-1-again"),
    "other side of a deposit doubled": Damage(entry_copy("'tx-9:contra'", "'tx-1:contra'"), "account house:external"),
    "entry of the ledger's own doubled": Damage(entry_copy("'own-9'", "'own-1'"), "entry own-9"),
    "account deleted": Damage(f"DELETE FROM ledger_accounts WHERE {ALICE}", "account alice USD"),
    "account with locks deleted": Damage("DELETE FROM ledger_accounts WHERE user_id = 'bob'", "account bob USD"),
    "account of the outside world deleted": Damage(
        "DELETE FROM ledger_accounts WHERE user_id = 'house:external' AND asset = 'BTC'", "account house:external"
    ),
    "account changed": Damage(
        f"UPDATE ledger_accounts SET available = available + 7 WHERE {ALICE}", "account alice USD"
    ),
    "locked part of an account changed": Damage(
        "UPDATE ledger_accounts SET locked = locked + 7 WHERE user_id = 'bob' AND asset = 'USD'", "account bob USD"
    ),
    "account doubled": Damage(
        "INSERT INTO ledger_accounts (user_id, asset, available, locked, version)"
        f" SELECT 'alice-again', asset, available, locked, version FROM ledger_accounts WHERE {ALICE}",
        "account alice-again USD",
    ),
    "lock doubled": Damage(
        "INSERT INTO ledger_movements SELECT user_id, asset, 'lock-again', direction, amount, created_at"
        " FROM ledger_movements WHERE reference_id = 'lock-1'",
        "lock bob USD",
    ),
    "order deleted": Damage(f"DELETE FROM orders WHERE order_id = {OPEN}", "order"),
    "fills of an order changed": Damage(
        f"UPDATE orders SET filled_quantity = filled_quantity + 1 WHERE order_id = {FILLED}", "order"
    ),
    "open order made cancelled": Damage(
        f"UPDATE orders SET status = 'cancelled', remaining_quantity = 0 WHERE order_id = {OPEN}", "order"
    ),
    "price of an order changed": Damage(f"UPDATE orders SET price = price + 1 WHERE order_id = {OPEN}", "order"),
    "owner of an order changed": Damage(f"UPDATE orders SET user_id = 'dave' WHERE order_id = {FILLED}", "order"),
    "open order is ahead of its events": Damage(
        f"UPDATE orders SET last_sequence = 1000000, filled_quantity = 1 WHERE order_id = {OPEN}", "order"
    ),
    "order doubled": Damage(
        f"INSERT INTO orders (order_id, {ORDER_COLUMNS}) SELECT 'again', {ORDER_COLUMNS} FROM orders"
        f" WHERE order_id = {FILLED}",
        "order again",
    ),
    "trade deleted": Damage(f"DELETE FROM trades WHERE trade_id = {TRADE}", "trade"),
    "trade changed": Damage(f"UPDATE trades SET price = price + 1 WHERE trade_id = {TRADE}", "trade"),
    "fee of a trade changed": Damage(f"UPDATE trades SET maker_fee = maker_fee + 1 WHERE trade_id = {TRADE}", "trade"),
    "trade doubled": Damage(
        f"INSERT INTO trades (trade_id, {TRADE_COLUMNS}) SELECT 'x-7', {TRADE_COLUMNS} FROM trades"
        f" WHERE trade_id = {TRADE}",
        "trade x-7",
    ),
}
SUM_ONLY = {
    "lock deleted": "DELETE FROM ledger_movements WHERE reference_id = 'lock-1'",
    "unlock deleted": "DELETE FROM ledger_movements WHERE direction = 'unlock'",
    "lock changed": "UPDATE ledger_movements SET amount = amount + 2 WHERE (direction, amount) = ('lock', 11)",
}
"""Damage to what only the ledger knew: the repair keeps the account, and a lock of its own stands for what is lost."""


async def mirrors(pool: asyncpg.Pool) -> dict[str, list[tuple[Any, ...]]]:
    """All that the mirrors hold, but for when it was written and how often an account changed."""
    return {name: [tuple(row) for row in await pool.fetch(query)] for name, query in MIRRORS.items()}


async def prepare(market: MirroredMarket) -> None:
    """Trades, withdrawals, a transfer, and what only the ledger knows: a credit, locks and an unlock."""
    await market.trade()
    await market.withdraw("alice", "USD", "12.34", "w-1")
    moved = pb.Movement(from_participant_id="alice", to_participant_id="house:staking", currency="USD", amount="1.25")
    answer = await market.engine.accounts.Transfer(
        pb.TransferRequest(reference="s-1", kind="staking", movements=[moved])
    )
    assert answer.success
    await market.trade(1)
    resting = await market.place("buy", "80", "0.25", "alice")
    assert resting
    assert await market.differences() == []
    posting = LedgerPosting("own-1", "carol", "BTC", "2", "credit", "manual", "own-1")
    await ask(market, subjects.LEDGER_CREDIT, posting)
    for subject, reference, amount in (
        (subjects.LEDGER_LOCK, "lock-1", "11"),
        (subjects.LEDGER_LOCK, "lock-2", "11"),
        (subjects.LEDGER_UNLOCK, "lock-2", "4"),
    ):
        await ask(market, subject, LedgerLock("bob", "USD", amount, reference))


async def ask(market: MirroredMarket, subject: str, message: LedgerPosting | LedgerLock) -> None:
    kind = LedgerLockReply if isinstance(message, LedgerLock) else LedgerPostingReply
    reply = await market.bus.request(subject, message, kind)
    assert reply.success, reply


QUICK = (
    "entry of a trade deleted",
    "other side of the ledger's own deleted",
    "entry of a trade changed",
    "entry of a deposit doubled",
    "account deleted",
    "account changed",
    "account doubled",
    "lock doubled",
    "order deleted",
    "open order made cancelled",
    "order doubled",
    "trade deleted",
    "trade changed",
    "trade doubled",
)
"""One of each kind, for every run. The others take longer."""


async def test_damage_of_each_kind_is_named_planned_and_repaired(market: MirroredMarket) -> None:
    await prepare(market)
    await repair_each(market, QUICK)


@pytest.mark.proof
async def test_every_damage_is_named_planned_and_repaired(market: MirroredMarket) -> None:
    await prepare(market)
    await repair_each(market, tuple(DAMAGE))


async def repair_each(market: MirroredMarket, names: Sequence[str]) -> None:
    """Do each damage, and see that it is named, planned and repaired to what an undamaged twin holds."""
    settings, pool = market.settings, market.pool
    twin = await mirrors(pool)
    # What only the ledger knows is a difference, and the repair leaves it.
    known = set(await market.differences())
    assert {text.split(":")[0] for text in known} == {"balance carol BTC", "entry own-1"}
    for name in names:
        damage = DAMAGE[name]
        tag = await pool.execute(damage.statement)
        assert not tag.endswith(" 0"), name
        damaged = await mirrors(pool)
        assert damaged != twin, name
        found = set(await market.differences(0)) - known
        assert any(text.startswith(damage.named) for text in found), (name, damage.named, found)
        planned = await rebuild(settings, is_plan=True)
        assert await mirrors(pool) == damaged, name
        repaired = await rebuild(settings, is_plan=False)
        assert (planned.changes, planned.counts) == (repaired.changes, repaired.counts), name
        after = await mirrors(pool)
        assert after == twin, (name, {part: set(after[part]) ^ set(twin[part]) for part in twin})
        assert set(await market.differences(0)) == known, name
        assert (await rebuild(settings, is_plan=False)).total == 0, name


@pytest.mark.proof
async def test_locks_that_only_the_ledger_knew_are_made_to_fit_their_account(market: MirroredMarket) -> None:
    await prepare(market)
    settings, pool = market.settings, market.pool
    twin, known = await mirrors(pool), await market.differences()
    for name, statement in SUM_ONLY.items():
        await pool.execute(statement)
        assert any(text.startswith("lock bob USD") for text in await market.differences(0)), name
        (change,) = (await rebuild(settings, is_plan=False)).changes
        assert "its own reference is lost" in change
        after = await mirrors(pool)
        assert {part: after[part] for part in ("accounts", "entries")} == {
            part: twin[part] for part in ("accounts", "entries")
        }
        assert await market.differences(0) == known, name
        assert (await rebuild(settings, is_plan=False)).total == 0, name


@pytest.mark.proof
async def test_a_repair_beside_a_market_in_full_flow_changes_only_what_is_damaged(market: MirroredMarket) -> None:
    await market.trade()
    assert await market.differences() == []
    enough = asyncio.Event()

    async def flow() -> None:
        while not enough.is_set():
            await market.trade(1)
            # The funds must last.
            await asyncio.sleep(0.02)

    flowing = asyncio.create_task(flow())
    named: list[str] = []
    try:
        for name in ("entry of a trade deleted", "account changed", "open order made cancelled", "trade changed"):
            await market.pool.execute(DAMAGE[name].statement)
            named += (await rebuild(market.settings, is_plan=False, wait_s=10)).changes
    finally:
        enough.set()
        await flowing
    assert await market.differences() == []
    kinds = [" ".join(text.split()[:2]) for text in named]
    assert {"ledger entry", "ledger account", "trade row"} <= set(kinds)
    assert (await rebuild(market.settings, is_plan=False, wait_s=10)).total == 0
