"""Login attempts in the database: statements of two logins of one user never wait for each other in a circle."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from openspot.kit.database import Pool
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.login_throttling import attempt_keys
from tests.support.waiting import eventually, stretched

EMAIL = "ada@example.com"
KEYS = attempt_keys(EMAIL, "127.0.0.1", known=False)
PAIR, ACCOUNT, NETWORK = (key.text for key in KEYS)
LATER = [NETWORK, PAIR]
"""The rows that an attempt locks after the account's."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Statement = Callable[[AttemptStore], Awaitable[object]]
STATEMENTS: dict[str, Statement] = {
    "a right password": lambda store: store.succeeded(KEYS),
    "an attempt that is given back": lambda store: store.undo(KEYS),
    "a password that is reset": lambda store: store.forget_account(EMAIL),
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
async def test_a_statement_that_waits_for_the_first_row_holds_no_later_one(pool: Pool, statement: Statement) -> None:
    store = AttemptStore(pool)
    # The rows lie in the opposite order, in which a statement without an order of its own would lock them.
    for key in (PAIR, NETWORK, ACCOUNT):
        await pool.execute("INSERT INTO login_attempts (key, next_at) VALUES ($1, $2)", key, NOW)
    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM login_attempts WHERE key = $1 FOR UPDATE", ACCOUNT)
        waiting = asyncio.ensure_future(statement(store))
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        await eventually(lambda: waiting.done() or pool.fetchval(query))
        # An attempt locks these next: SKIP LOCKED returns what the statement does not hold.
        free = await other.fetch("SELECT key FROM login_attempts WHERE key = ANY($1) FOR UPDATE SKIP LOCKED", LATER)
        assert not waiting.done()
    await waiting
    assert {row["key"] for row in free} == set(LATER)


async def test_deleting_old_attempts_waits_for_nobody(pool: Pool) -> None:
    store = AttemptStore(pool)
    await store.take(KEYS, NOW)
    later = NOW + timedelta(days=1)
    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM login_attempts WHERE key = $1 FOR UPDATE", ACCOUNT)
        assert await asyncio.wait_for(store.delete_older(later, later), stretched(10)) == 2
    assert await pool.fetchval("SELECT array_agg(key) FROM login_attempts") == [ACCOUNT]
