"""Transfers in the ledger: all movements in one transaction, once, and every user is told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTransfer, TransferMovement
from openspot.kit.bus import Bus, PublishError
from openspot.kit.clock import system_clock
from openspot.ledger.changes import ChangedAccount
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.store import LedgerStore
from openspot.ledger.transfers import TransferPosting, transfer_consumer
from tests.support.ledger import BalanceFeed, assert_books_are_right, balance, count


def conversion(reference: str = "c-1", usd: str = "60", btc: str = "0.5") -> ExecutedTransfer:
    return ExecutedTransfer(
        reference,
        "conversion",
        [
            TransferMovement("ann", "house:conversions", "USD", usd),
            TransferMovement("house:conversions", "ann", "BTC", btc),
        ],
        7,
        1_700_000_000_000,
    )


@asynccontextmanager
async def consuming(bus: Bus, posting: TransferPosting) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(transfer_consumer(bus, posting).run(stop))
    try:
        yield
    finally:
        stop.set()
        await task


@pytest.fixture
def transfers(store: LedgerStore, events: BalanceEvents) -> TransferPosting:
    return TransferPosting(store, events)


async def available(pool: asyncpg.Pool, user_id: str, asset: str) -> Decimal | None:
    found = await balance(pool, user_id, asset)
    return None if found is None else found[0]


async def test_a_published_transfer_is_posted_with_all_its_legs_and_the_user_is_told(
    bus: Bus, pool: asyncpg.Pool, transfers: TransferPosting, feed: BalanceFeed
) -> None:
    async with consuming(bus, transfers):
        await bus.publish(subjects.TRANSFERS_EXECUTED, conversion(), "epoch-7-transfer")
        await feed.expect(("c-1:1:transfer-debit", "ann", "USD", "-60"), ("c-1:2:transfer-credit", "ann", "BTC", "0.5"))
    rows = await pool.fetch(
        "SELECT transaction_id, user_id, asset, trim_scale(amount)::text, entry_type, reference_type, reference_id "
        "FROM ledger_entries ORDER BY transaction_id"
    )
    kind = ("conversion", "transfer", "c-1")
    assert [tuple(row) for row in rows] == [
        ("c-1:1:transfer-credit", "house:conversions", "USD", "60", *kind),
        ("c-1:1:transfer-debit", "ann", "USD", "-60", *kind),
        ("c-1:2:transfer-credit", "ann", "BTC", "0.5", *kind),
        ("c-1:2:transfer-debit", "house:conversions", "BTC", "-0.5", *kind),
    ]
    await assert_books_are_right(pool)


class _SilentEvents(BalanceEvents):
    """A process that dies between its commit and the publication."""

    async def publish(self, changes: Sequence[ChangedAccount]) -> list[ChangedAccount]:
        raise PublishError("killed")


async def test_a_transfer_that_comes_again_after_a_crash_is_posted_once_and_still_announced(
    bus: Bus, pool: asyncpg.Pool, store: LedgerStore, transfers: TransferPosting, feed: BalanceFeed
) -> None:
    with pytest.raises(PublishError):
        await TransferPosting(store, _SilentEvents(bus, store, system_clock)).post([conversion()])
    assert await available(pool, "ann", "USD") == -60
    await transfers.post([conversion(), conversion()])
    assert await available(pool, "ann", "USD") == -60
    assert await count(pool) == 4
    await feed.expect(("c-1:1:transfer-debit", "ann", "USD", "-60"), ("c-1:2:transfer-credit", "ann", "BTC", "0.5"))
    await assert_books_are_right(pool)


async def test_two_processes_with_the_same_transfers_post_each_once(
    pool: asyncpg.Pool, store: LedgerStore, events: BalanceEvents
) -> None:
    batch = [conversion(f"c-{number}", "1", "0.25") for number in range(20)]
    await asyncio.gather(*(TransferPosting(store, events).post(part) for part in (batch, batch[::-1], batch[5:])))
    assert await available(pool, "ann", "USD") == -20
    assert await available(pool, "ann", "BTC") == 5
    assert await count(pool) == 80
    await assert_books_are_right(pool)


async def test_a_transfer_that_cannot_be_posted_is_kept_with_the_reason_and_the_others_are_posted(
    pool: asyncpg.Pool, transfers: TransferPosting
) -> None:
    await transfers.post([conversion("bad", usd="-1"), conversion("good")])
    assert await available(pool, "ann", "USD") == -60
    rows = await pool.fetch("SELECT trade_id, reason FROM ledger_rejected_trades")
    assert [tuple(row) for row in rows] == [("bad", "movements[0].amount must be positive")]
