"""What the tables know of one user, and the tables `user_locks`, `user_notes` and `user_limits`."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from openspot.http.operators import OperatorRole
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.common.user_limits import UserLimits, limits_of
from openspot.rest_edge.operators.spans import Span

_OVERVIEW = """
    SELECT users.user_id, email, email_verified_at, display_name, language, time_zone, role, users.created_at,
        user_mfa.enabled_at AS second_factor_since,
        coalesce(kyc_profiles.level, 0) AS level, coalesce(kyc_profiles.status, 'not_started') AS verification,
        kyc_profiles.updated_at AS verification_changed_at,
        daily_withdrawal_usd, api_keys_max, saved_addresses_max,
        EXISTS (SELECT FROM operator_roles WHERE operator_roles.user_id = users.user_id) AS is_operator
    FROM users
    LEFT JOIN user_mfa ON user_mfa.user_id = users.user_id AND user_mfa.enabled_at IS NOT NULL
    LEFT JOIN kyc_profiles ON kyc_profiles.user_id = users.user_id
    LEFT JOIN user_limits ON user_limits.user_id = users.user_id
    WHERE users.user_id = $1
"""
# A request is approved in the transaction that closes the account, so there is one at most.
_CLOSED = """
    SELECT deleted_users.user_id, deleted_at, requested_by, reason, decided_by, decision_reason
    FROM deleted_users
    LEFT JOIN operator_requests ON operator_requests.user_id = deleted_users.user_id
        AND kind = 'account_closure' AND status = 'approved'
    WHERE deleted_users.user_id = $1
"""
# Each is asked for by itself, and a user may close one and open the next as often as they like.
_MARGIN_ACCOUNTS = """
    SELECT account_id, status FROM margin_accounts WHERE user_id = $1 ORDER BY created_at DESC LIMIT 50
"""
_LEDGER = "SELECT asset, available, locked FROM ledger_accounts WHERE user_id = $1 ORDER BY asset"


class MarginAccount(NamedTuple):
    """A margin account of a user. One at most is open."""

    account_id: str
    is_open: bool


class LockKind(StrEnum):
    """What a user can be kept from."""

    LOGIN = "login"
    WITHDRAWALS = "withdrawals"


@dataclass(frozen=True, slots=True)
class UserLock:
    """A lock that is on."""

    kind: LockKind
    reason: str
    locked_by: str
    locked_at: datetime


@dataclass(frozen=True, slots=True)
class UserNote:
    """A note of support about a user. The user does not see it."""

    note_id: int
    author: str
    text: str
    created_at: datetime


async def overview(pool: Pool, user_id: str) -> Any | None:
    """The user's row with what hangs on it; None if there is no such user."""
    return await pool.fetchrow(_OVERVIEW, user_id)


async def closed(pool: Pool, user_id: str) -> Any | None:
    """When the user's account was closed, and by whom if by operators; None if it was not."""
    return await pool.fetchrow(_CLOSED, user_id)


async def exists(connection: Connection | Pool, user_id: str, *, lock: bool = False) -> bool:
    """Whether the user exists. With `lock`, nobody begins a session or deletes the user until the transaction ends."""
    query = f"SELECT TRUE FROM users WHERE user_id = $1{' FOR UPDATE' if lock else ''}"  # noqa: S608
    return bool(await connection.fetchval(query, user_id))


async def roles_of(connection: Connection, user_id: str) -> frozenset[OperatorRole]:
    """The roles that the user has as an operator."""
    rows = await connection.fetch("SELECT role FROM operator_roles WHERE user_id = $1", user_id)
    return frozenset(OperatorRole(row["role"]) for row in rows)


async def locks_of(connection: Connection | Pool, user_id: str) -> list[UserLock]:
    """The locks of a user."""
    rows = await connection.fetch(
        "SELECT kind, reason, locked_by, locked_at FROM user_locks WHERE user_id = $1 ORDER BY kind", user_id
    )
    return [UserLock(LockKind(row["kind"]), row["reason"], row["locked_by"], row["locked_at"]) for row in rows]


async def add_lock(connection: Connection, user_id: str, lock: UserLock) -> bool:
    """Lock; False if the lock is on already."""
    outcome = await connection.execute(
        "INSERT INTO user_locks (user_id, kind, reason, locked_by, locked_at) VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT DO NOTHING",
        user_id,
        lock.kind.value,
        lock.reason,
        lock.locked_by,
        lock.locked_at,
    )
    return rows_changed(outcome) == 1


async def remove_lock(connection: Connection, user_id: str, kind: LockKind) -> UserLock | None:
    """Unlock, and return the lock that was on."""
    row = await connection.fetchrow(
        "DELETE FROM user_locks WHERE user_id = $1 AND kind = $2 RETURNING reason, locked_by, locked_at",
        user_id,
        kind.value,
    )
    return None if row is None else UserLock(kind, row["reason"], row["locked_by"], row["locked_at"])


async def add_note(connection: Connection, user_id: str, author: str, text: str, now: datetime) -> int:
    """Add a note, and return its number."""
    return int(
        await connection.fetchval(
            "INSERT INTO user_notes (user_id, author, text, created_at) VALUES ($1, $2, $3, $4) RETURNING note_id",
            user_id,
            author,
            text,
            now,
        )
    )


async def notes_of(pool: Pool, user_id: str, span: Span, limit: int, before: int) -> list[UserNote]:
    """Notes about a user that were written in `span`, the newest first, older than `before`."""
    values: list[Any] = [user_id, before, limit]
    conditions = ["user_id = $1", "note_id < $2", *span.conditions("created_at", values)]
    rows = await pool.fetch(
        f"SELECT note_id, author, text, created_at FROM user_notes WHERE {' AND '.join(conditions)}"  # noqa: S608
        " ORDER BY note_id DESC LIMIT $3",
        *values,
    )
    return [UserNote(**dict(row)) for row in rows]


async def set_limits(
    connection: Connection, user_id: str, limits: UserLimits, operator: str, now: datetime
) -> UserLimits:
    """Replace the user's own limits, and return those before. The transaction has locked the user's row."""
    before = await limits_of(connection, user_id)
    await connection.execute(
        """
        INSERT INTO user_limits (user_id, daily_withdrawal_usd, api_keys_max, saved_addresses_max, changed_by,
            changed_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (user_id) DO UPDATE SET daily_withdrawal_usd = $2, api_keys_max = $3, saved_addresses_max = $4,
            changed_by = $5, changed_at = $6
        """,
        user_id,
        limits.daily_withdrawal_usd,
        limits.api_keys_max,
        limits.saved_addresses_max,
        operator,
        now,
    )
    return before


async def margin_accounts(pool: Pool, user_id: str) -> list[MarginAccount]:
    """All margin accounts that the user has had, the newest first."""
    rows = await pool.fetch(_MARGIN_ACCOUNTS, user_id)
    return [MarginAccount(row["account_id"], row["status"] != "closed") for row in rows]


async def ledger_balances(pool: Pool, account: str) -> list[Any]:
    """What the ledger says of an account, by asset."""
    return list(await pool.fetch(_LEDGER, account))
