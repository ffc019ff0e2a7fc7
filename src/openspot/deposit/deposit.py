"""Publishes `custody.deposit.confirmed` and waits until the ledger has credited it (facts A1.5-01 to A1.5-03)."""

import asyncio
import time
from contextlib import AsyncExitStack

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus, BusError
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.database import Connection, DatabaseUnavailableError, Pool, create_pool, text_of
from openspot.kit.settings import Settings

_POLL_S = 0.05
_LOCK_REFERENCE = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-house-flow:' || lower($1), 0))"
"""The lock of a reference of the house's flows, as the REST edge takes it."""
_FLOW = """
    SELECT 'flow' AS what, flow_id AS id, account FROM house_flows
    WHERE lower(reference) = lower($1) AND status <> 'refused'
    UNION ALL
    SELECT 'request', request_id, user_id FROM operator_requests
    WHERE status = 'waiting' AND kind = 'house_flow' AND lower(detail ->> 'reference') = lower($1)
        AND expires_at > now()
    LIMIT 1
"""


class DepositError(Exception):
    """The deposit was not made, or it is not known whether it was. The message says which, and what to do."""


async def deposit(settings: Settings, user: str, asset: str, amount: str, tx_hash: str) -> str:
    """Credit `amount` of `asset` to `user`, a user id or a registered e-mail address; returns a line to print.

    A repeated `tx_hash` credits nothing more. Raises DepositError, also for one that is recorded as money of the house.
    """
    async with AsyncExitStack() as stack:
        try:
            # `Bus.connect` would wait for a server without limit.
            async with asyncio.timeout(settings.request_timeout_s):
                bus = await Bus.connect(settings, "deposit")
            stack.push_async_callback(bus.close)
            pool = await create_pool(settings, connections_max=1, timeout_s=settings.request_timeout_s)
            stack.push_async_callback(pool.close)
        except (BusError, DatabaseUnavailableError, TimeoutError) as error:
            reason = str(error) or "no NATS server answers"
            raise DepositError(f"the platform is not running here ({reason}); `openspot up` starts it") from error
        user_id = await _user_id(pool, user)
        async with pool.acquire() as connection, connection.transaction():
            # The lock is held until the entry is there: a flow of the house looks for it under the same lock.
            await connection.execute(_LOCK_REFERENCE, tx_hash)
            await _require_no_flow(connection, tx_hash)
            event = DepositConfirmed(tx_hash, user_id, asset, amount, timestamp=time.time_ns() // NANOSECONDS_PER_MS)
            try:
                await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{tx_hash}")
            except BusError as error:
                raise DepositError(f"the deposit was not published: {error}") from error
            balance = await _credited_balance(connection, tx_hash, settings.request_timeout_s * 3)
        return f"credited {amount} {asset} to {user_id}, balance {balance} ({tx_hash})"


async def _user_id(pool: Pool, user: str) -> str:
    if "@" not in user:
        return user
    user_id: str | None = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", user.lower())
    if user_id is None:
        raise DepositError(f"USER: nobody is registered as {user}")
    return user_id


async def _require_no_flow(connection: Connection, tx_hash: str) -> None:
    flow = await connection.fetchrow(_FLOW, tx_hash)
    if flow is not None:
        raise DepositError(
            f"{tx_hash} counts already, as money of the house: {flow['what']} {flow['id']} of {flow['account']}"
        )


async def _credited_balance(connection: Connection, tx_hash: str, timeout_s: float) -> str:
    query = "SELECT balance FROM ledger_entries WHERE transaction_id = $1"
    deadline = time.monotonic() + timeout_s
    while (balance := await connection.fetchval(query, tx_hash)) is None:
        if time.monotonic() > deadline:
            raise DepositError(
                f"published ({tx_hash}), but not credited within {timeout_s:g} s: "
                "see the log for the reason (unknown currency, too many decimals, a service that is down)"
            )
        await asyncio.sleep(_POLL_S)
    return text_of(balance)
