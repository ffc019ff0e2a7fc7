"""What is done to users by two persons: reset the second factor, close the account."""

from collections.abc import Callable
from datetime import datetime

from openspot.http.errors import HttpError
from openspot.http.policy import Permission
from openspot.kit.database import Pool
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.store import revoke_families
from openspot.rest_edge.identity.second_factor.store import reset_factor
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.identity.users.deletion import AccountDeletion
from openspot.rest_edge.operators.acting import Acting
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest
from openspot.rest_edge.operators.pending.schemas import OperatorRequestResponse
from openspot.rest_edge.operators.pending.service import Approval, PendingActions, described
from openspot.rest_edge.operators.users.reach import require_reach, require_reach_of_both


class SecondFactorReset:
    """Removes a user's second factor and ends all sessions, so that the user logs in with the password alone."""

    permission = Permission.USERS_RESET_SECOND_FACTOR

    def __init__(
        self,
        pool: Pool,
        pending: PendingActions,
        activity: ActivityLog,
        ended: EndedSessions,
        now: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._pending = pending
        self._activity = activity
        self._ended = ended
        self._now = now

    async def ask(self, user_id: str, acting: Acting) -> OperatorRequestResponse:
        """Ask for it. 403 for an operator, of whom administrators ask; 409 without a second factor, or if one waits."""
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            await require_reach(connection, acting.operator, user_id)
            has_factor = await connection.fetchval(
                "SELECT EXISTS (SELECT FROM user_mfa WHERE user_id = $1 AND enabled_at IS NOT NULL)", user_id
            )
            if not has_factor:
                raise _no_factor()
            return described(await self._pending.ask(connection, acting, ActionKind.SECOND_FACTOR_RESET, user_id, {}))

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Remove the factor. 403 for an operator unless both are administrators, 409 if it is gone already."""
        user_id = request.user_id
        async with self._pool.acquire() as connection, connection.transaction():
            await approval.check(connection)
            await lock_users(connection, [user_id])
            await require_reach_of_both(connection, approval.operator, request.requested_by, user_id)
            if not await reset_factor(connection, user_id):
                raise _no_factor()
            ended = await revoke_families(connection, user_id, "", self._now())
            await self._activity.record(user_id, ActivityKind.MFA_RESET, Origin(), connection)
            await approval.write(connection)
        await self._ended.end_as_far_as_possible(ended)


class AccountClosure:
    """Deletes an account as its user could: nothing may be left on it, and the records of money stay."""

    permission = Permission.USERS_CLOSE

    def __init__(self, pool: Pool, pending: PendingActions, deletion: AccountDeletion) -> None:
        self._pool = pool
        self._pending = pending
        self._deletion = deletion

    async def ask(self, user_id: str, acting: Acting) -> OperatorRequestResponse:
        """Ask for it. 409 if open orders, balances or money under way are left, or if such a request waits."""
        await self._deletion.require_closable(user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            return described(await self._pending.ask(connection, acting, ActionKind.ACCOUNT_CLOSURE, user_id, {}))

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Delete the account, if nothing is left on it now either."""
        await self._deletion.close(request.user_id, approval.check, approval.write)


def _no_factor() -> HttpError:
    return HttpError(409, "the user has no second factor", "MFA_NOT_ENABLED")
