"""Settlement in the database: exactly once, exactly right, whatever arrives how often and side by side."""

import asyncio
import random

import asyncpg
import pytest

from openspot.domain.money import amount_to_text
from openspot.ledger.changes import AccountState, CreditOrDebit
from openspot.ledger.postings import JournalEntry, trade_entry
from openspot.ledger.store import LedgerStore, RejectedTrade
from tests.support.ledger import assert_books_are_right, available, count, trade


def posted(*numbers: int, **changes: str) -> list[JournalEntry]:
    return [trade_entry(trade(number, **changes)) for number in numbers]


@pytest.mark.spec("A1.3-35", "A2.4-01", "A2.4-03", "A2.4-05")
async def test_a_trade_is_written_as_six_postings_and_the_houses_two(store: LedgerStore, pool: asyncpg.Pool) -> None:
    settled = await store.post(posted(1))
    rows = await pool.fetch(
        """
        SELECT transaction_id, user_id, asset, trim_scale(amount)::text, trim_scale(balance)::text, entry_type,
            reference_type, reference_id
        FROM ledger_entries ORDER BY entry_id
        """
    )
    assert [tuple(row) for row in rows] == [
        ("epoch-1:buyer-quote", "ann", "USD", "-200", "-200", "trade", "trade", "epoch-1"),
        ("epoch-1:buyer-base", "ann", "BTC", "2", "2", "trade", "trade", "epoch-1"),
        ("epoch-1:seller-base", "bob", "BTC", "-2", "-2", "trade", "trade", "epoch-1"),
        ("epoch-1:seller-quote", "bob", "USD", "200", "200", "trade", "trade", "epoch-1"),
        ("epoch-1:buyer-fee", "ann", "USD", "-0.5", "-200.5", "fee", "trade", "epoch-1"),
        ("epoch-1:seller-fee", "bob", "USD", "-0.3", "199.7", "fee", "trade", "epoch-1"),
        ("epoch-1:house-buyer-fee", "house:fees", "USD", "0.5", "0.5", "fee", "trade", "epoch-1"),
        ("epoch-1:house-seller-fee", "house:fees", "USD", "0.3", "0.8", "fee", "trade", "epoch-1"),
    ]
    assert settled.ids == {"epoch-1"}
    assert settled.states[("ann", "USD")] == AccountState(-2005 * 10**17, 0, 1)
    assert ("house:fees", "USD") not in settled.states
    assert await available(pool, "house:fees", "USD") == "0.8"
    await assert_books_are_right(pool)


async def test_running_balances_go_on_from_what_stands_and_locked_funds_count(
    store: LedgerStore, pool: asyncpg.Pool
) -> None:
    await store.apply([CreditOrDebit("d1", "ann", "USD", 1000 * 10**18, "deposit", "custody", "d1")])
    await pool.execute("UPDATE ledger_accounts SET available = 900, locked = 100 WHERE user_id = 'ann'")
    settled = await store.post(posted(1, 2))
    assert settled.states[("ann", "USD")] == AccountState(499 * 10**18, 100 * 10**18, 2)
    balances = await pool.fetch(
        "SELECT trim_scale(balance)::text FROM ledger_entries WHERE user_id = 'ann' AND asset = 'USD' ORDER BY entry_id"
    )
    assert [row[0] for row in balances] == ["1000", "800", "799.5", "599.5", "599"]
    await assert_books_are_right(pool)


@pytest.mark.spec("A2.3-03", "A2.4-04", "A6.4-06")
async def test_the_same_batch_again_writes_nothing(store: LedgerStore, pool: asyncpg.Pool) -> None:
    first = await store.post(posted(1, 2, 3))
    again = await store.post(posted(1, 2, 3))
    assert (len(first.ids), again.ids, again.states) == (3, set(), {})
    assert await count(pool) == 24
    await assert_books_are_right(pool)


async def test_overlapping_batches_write_each_trade_once(store: LedgerStore, pool: asyncpg.Pool) -> None:
    await store.post(posted(1, 2, 3))
    settled = await store.post(posted(2, 3, 4, 5))
    assert settled.ids == {"epoch-4", "epoch-5"}
    assert await count(pool) == 40
    await assert_books_are_right(pool)


async def test_processes_that_settle_overlapping_batches_at_once_write_each_trade_once(
    store: LedgerStore, pool: asyncpg.Pool
) -> None:
    numbers = list(range(1, 201))
    source = random.Random(7)
    users = [f"user{number}" for number in range(12)]
    trades = {}
    for number in numbers:
        buyer, seller = source.sample(users, 2)
        trades[number] = trade_entry(trade(number, buyer, seller, qty=str(number)))
    batches = []
    for _ in range(24):
        chosen = source.sample(numbers, 60)
        batches.append([trades[number] for number in chosen])
    batches += [[trades[number] for number in numbers[start : start + 50]] for start in range(0, 200, 50)]
    results = await asyncio.gather(*(store.post(batch) for batch in batches))
    settled = [trade_id for result in results for trade_id in result.ids]
    assert sorted(settled) == sorted(f"epoch-{number}" for number in numbers)
    assert await count(pool) == 8 * len(numbers)
    await assert_books_are_right(pool)


async def test_crossing_orders_of_accounts_do_not_deadlock(store: LedgerStore, pool: asyncpg.Pool) -> None:
    async def settle(start: int, users: list[str], quotes: list[str]) -> None:
        for turn in range(15):
            batch = [
                trade_entry(trade(start + turn * 10 + place, buyer, seller, symbol=f"BTC-{quote}"))
                for place, (buyer, seller, quote) in enumerate(zip(users, reversed(users), quotes, strict=True))
            ]
            await store.post(batch)

    async def deposit(start: int, users: list[str]) -> None:
        for turn in range(15):
            await store.apply(
                [
                    CreditOrDebit(f"d{start}-{turn}-{place}", user, "USD", 10**18, "deposit", "custody", "r")
                    for place, user in enumerate((*users, "house:fees"))
                ]
            )

    users, quotes = ["ann", "bob", "cat", "zoe"], ["USD", "USDT", "BRL", "EUR"]
    before = await pool.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    await asyncio.gather(
        settle(1000, users, quotes),
        settle(2000, users[::-1], quotes[::-1]),
        deposit(3000, users),
        deposit(4000, users[::-1]),
    )
    await pool.execute("SELECT pg_stat_force_next_flush()")
    after = await pool.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert after == before
    assert await count(pool) == 2 * 15 * 4 * 8 + 2 * 15 * 5 * 2
    await assert_books_are_right(pool)


@pytest.mark.spec("A2.4-02")
async def test_amounts_are_kept_to_the_last_of_eighteen_places(store: LedgerStore, pool: asyncpg.Pool) -> None:
    tiny = {"price": "0.000000001", "qty": "0.000000001", "buyer_fee": "0.000000000000000001", "seller_fee": "0"}
    await store.post(posted(1, **tiny))
    large = {"price": "9999999999.999999999", "qty": "999999999.999999999", "buyer_fee": "0", "seller_fee": "0"}
    settled = await store.post(posted(2, **large))
    expected = -2 - 9999999999999999989000000000000000001
    assert settled.states[("ann", "USD")].available == expected
    query = "SELECT available::text FROM ledger_accounts WHERE user_id = 'ann' AND asset = 'USD'"
    assert await pool.fetchval(query) == amount_to_text(expected)
    await assert_books_are_right(pool)


async def test_a_rebate_is_paid_by_the_house(store: LedgerStore, pool: asyncpg.Pool) -> None:
    await store.post(posted(1, buyer_fee="0.5", seller_fee="-0.2"))
    assert await available(pool, "bob", "USD") == "200.2"
    assert await available(pool, "house:fees", "USD") == "0.3"
    query = "SELECT entry_type FROM ledger_entries WHERE transaction_id = $1"
    assert await pool.fetchval(query, "epoch-1:seller-fee") == "rebate"
    await assert_books_are_right(pool)


@pytest.mark.spec("A2.4-04", "A2.4-09")
@pytest.mark.parametrize("posting", ["buyer-base", "seller-base", "seller-fee", "house-seller-fee"])
async def test_if_one_leg_of_a_trade_cannot_be_written_none_of_its_batch_is(
    store: LedgerStore, pool: asyncpg.Pool, posting: str
) -> None:
    # Another entry already has the transaction id of this posting.
    await pool.execute(
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type, "
        "reference_id) VALUES ($1, 'x', 'BTC', 0, 0, 'a', 'b', 'c')",
        f"epoch-2:{posting}",
    )
    with pytest.raises(asyncpg.UniqueViolationError):
        await store.post(posted(1, 2, 3))
    assert await count(pool) == 1
    assert await count(pool, "ledger_accounts") == 0


async def test_rejected_trades_are_kept_once_whatever_they_hold(store: LedgerStore, pool: asyncpg.Pool) -> None:
    rejected = [
        RejectedTrade("a\x00é\n", "because", '{"id":"a\\u0000é\\n"}'),
        RejectedTrade("epoch-1", "because", '{"id":"epoch-1"}'),
    ]
    await store.reject(rejected)
    await store.reject(rejected)
    rows = await pool.fetch("SELECT trade_id, reason, payload FROM ledger_rejected_trades ORDER BY trade_id")
    assert [tuple(row) for row in rows] == [
        ("a\\x00\\xe9\\n", "because", '{"id":"a\\u0000é\\n"}'),
        ("epoch-1", "because", '{"id":"epoch-1"}'),
    ]
