"""Deletes an account: the personal data is deleted, the ledger and the orders stay under the user's id.

The user's row is deleted. By foreign key, sessions, factors, activity and API keys are deleted with it. `erasure.py`
deletes the personal rows of the other wings. Rows about money name the user's id without a foreign key and stay. The id
is never used again. Services with data of their own find the id in the bucket of deleted users.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from openspot.http.errors import HttpError
from openspot.kit.bus import KeyValueBucket, KeyValueError
from openspot.kit.clock import utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.identity.activity.log import Origin
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.password_check import PasswordCheck
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.credentials.store import revoke_families
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.identity.users.erasure import erase_personal_data
from openspot.rest_edge.identity.users.obligations import open_obligations
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind

log = get_logger("users")

_InTransaction = Callable[[Connection], Awaitable[None]]


class _Erased(NamedTuple):
    """Who was deleted, and which sessions have ended by it."""

    email: str
    ended: list[str]


class Balances(Protocol):
    """Looks up the balances of users."""

    async def engine_totals(self, user_id: str) -> dict[str, str]:
        """Totals above zero by asset, from the engine alone. Raises HttpError (503) if it does not respond."""


class AccountDeletion:
    """Deletes accounts.

    `revoke_keys` revokes the API keys of a user, `cancel_payments` cancels the unpaid payments of users.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        check: PasswordCheck,
        second_factor: SecondFactor,
        attempts: AttemptStore,
        ended: EndedSessions,
        outbox: Outbox,
        revoke_keys: Callable[[str], Awaitable[None]],
        cancel_payments: Callable[[Sequence[str]], Awaitable[None]],
        balances: Balances,
        deleted: KeyValueBucket[bytes],
    ) -> None:
        self._pool = pool
        self._balances = balances
        self._check = check
        self._second_factor = second_factor
        self._attempts = attempts
        self._ended = ended
        self._outbox = outbox
        self._revoke_keys = revoke_keys
        self._cancel_payments = cancel_payments
        self._deleted = deleted
        self._closing = asyncio.Lock()

    async def delete(self, user_id: str, password: str, mfa_code: str | None, origin: Origin) -> None:
        """Delete the user's account, end all sessions, and cancel the payments for which no money has arrived.

        Raises HttpError: 400 for a wrong password or code, 409 if there are open orders, a balance or money under way,
        503 if the balances cannot be read.
        """
        await self._check.require(user_id, password)
        await self._require_nothing_remains(user_id)
        await self._second_factor.require(user_id, mfa_code, origin)
        await self._end_use(user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            erased = await self._erase(connection, user_id)
        await self._tell(user_id, erased)

    async def require_closable(self, user_id: str) -> None:
        """Raise HttpError if an operator cannot close the account now: 404, 409 or 503, as `delete` does."""
        if not await self._pool.fetchval("SELECT EXISTS (SELECT FROM users WHERE user_id = $1)", user_id):
            raise user_not_found()
        await self._require_nothing_remains(user_id)

    async def close(self, user_id: str, check: _InTransaction, record: _InTransaction) -> None:
        """Delete the account for an operator, without the user's password; `record` writes who did it beside it.

        `check` locks the decision before anything is done, and the lock is held to the end: nobody decides otherwise
        while payments are cancelled and keys revoked. One account is closed at a time, because each holds a connection
        while it needs another.

        Raises HttpError: 404 without such a user, 409 if there are open orders, a balance or money under way, 503 if
        the balances cannot be read, and what `check` and `record` raise. Then nothing is deleted; if `check` raises,
        nothing is done at all.
        """
        await self.require_closable(user_id)
        async with self._closing, self._pool.acquire() as connection, connection.transaction():
            await check(connection)
            await self._end_use(user_id)
            erased = await self._erase(connection, user_id)
            await record(connection)
        await self._tell(user_id, erased)

    async def _end_use(self, user_id: str) -> None:
        """Cancel payments and revoke keys, by connections of their own."""
        await self._cancel_payments([user_id])
        # The check is repeated: a payment may have arrived before it could be cancelled.
        await self._require_nothing_remains(user_id)
        # The keys come first: every process must have dropped them when the user is deleted.
        await self._revoke_keys(user_id)

    async def _erase(self, connection: Connection, user_id: str) -> _Erased:
        now = utc_now()
        user = await connection.fetchrow("SELECT email, language FROM users WHERE user_id = $1 FOR UPDATE", user_id)
        if user is None:
            raise user_not_found()
        email = user["email"]
        ended = await revoke_families(connection, user_id, "", now)
        await connection.execute("DELETE FROM mail_outbox WHERE email = $1", email)
        # The mail is written when nobody can look the language up any more.
        await self._outbox.add(MailKind.ACCOUNT_DELETED, email, user["language"] or "", connection)
        await connection.execute("INSERT INTO deleted_users (user_id, deleted_at) VALUES ($1, $2)", user_id, now)
        await connection.execute("DELETE FROM users WHERE user_id = $1", user_id)
        await erase_personal_data(connection, [user_id])
        return _Erased(email, ended)

    async def _tell(self, user_id: str, erased: _Erased) -> None:
        await self._attempts.forget_account(erased.email)
        await self._ended.end_as_far_as_possible(erased.ended)
        await self._announce([user_id])

    async def _announce(self, user_ids: Sequence[str]) -> None:
        """Announce the deletions to the other services. If the bus fails, `erase_late_records` announces them again."""
        try:
            for user_id in user_ids:
                await self._deleted.put(user_id, b"")
        except KeyValueError as error:
            log.warning("deleted users not announced; this is tried again", error=repr(error))

    async def _require_nothing_remains(self, user_id: str) -> None:
        open_orders = await self._pool.fetchval(
            "SELECT count(*) FROM orders WHERE user_id = $1 AND status IN ('pending', 'open', 'partially_filled')",
            user_id,
        )
        if open_orders:
            raise HttpError(
                409, "cancel your open orders first", "OPEN_ORDERS_REMAIN", details={"openOrders": open_orders}
            )
        await self._require_no_obligations(user_id)
        # The ledger's mirror may lag behind, so only the engine's balances count.
        left = await self._balances.engine_totals(user_id)
        if left:
            raise HttpError(409, "withdraw your balances first", "BALANCES_REMAIN", details={"balances": left})
        # The check is repeated: money may have left the balances between the two reads, and is under way now.
        await self._require_no_obligations(user_id)

    async def _require_no_obligations(self, user_id: str) -> None:
        remaining = await open_obligations(self._pool, user_id)
        if "margin_accounts" in remaining:
            raise HttpError(409, "close your margin account first", "MARGIN_ACCOUNT_REMAINS")
        if "operator_roles" in remaining:
            raise HttpError(409, "another operator must end your roles first", "OPERATOR_ROLES_REMAIN")
        if remaining:
            message = f"wait until your {', '.join(remaining)} are settled"
            raise HttpError(409, message, "OBLIGATIONS_REMAIN", details={"obligations": remaining})

    async def erase_late_records(self, since: datetime) -> None:
        """Erase rows that late requests wrote about users who were deleted at `since` or later.

        Their unpaid payments are cancelled, and the deletions are announced to the other services once more.
        """
        rows = await self._pool.fetch("SELECT user_id FROM deleted_users WHERE deleted_at >= $1", since)
        if rows:
            user_ids = [row["user_id"] for row in rows]
            await self._cancel_payments(user_ids)
            await erase_personal_data(self._pool, user_ids)
            await self._announce(user_ids)
