"""Changing the password while logged in."""

from openspot.http.context import Identity
from openspot.http.errors import validation_error
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.kit.passwords import Passwords
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.password_check import PasswordCheck
from openspot.rest_edge.identity.credentials.password_rules import password_fault
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.credentials.store import AuthStore, set_password
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions


class PasswordChange:
    """Replaces a user's password."""

    def __init__(
        self,
        *,
        pool: Pool,
        store: AuthStore,
        check: PasswordCheck,
        second_factor: SecondFactor,
        passwords: Passwords,
        ended: EndedSessions,
        activity: ActivityLog,
    ) -> None:
        self._pool = pool
        self._store = store
        self._check = check
        self._second_factor = second_factor
        self._passwords = passwords
        self._ended = ended
        self._activity = activity

    async def change(self, identity: Identity, current: str, new: str, mfa_code: str | None, origin: Origin) -> None:
        """Set a new password and end every other session.

        Raises HttpError: 400 for a wrong current password or a new one that is easy to guess, and what
        `SecondFactor.require` raises.
        """
        user = await self._store.user_by_id(identity.user_id)
        if user is None:
            raise user_not_found()
        fault = password_fault(new, user.email)
        if fault is not None:
            raise validation_error([fault.replace("password", "newPassword", 1)])
        await self._check.require(identity.user_id, current)
        await self._second_factor.require(identity.user_id, mfa_code, origin)
        password_hash = await self._passwords.hash(new)
        async with self._pool.acquire() as connection, connection.transaction():
            ended = await set_password(connection, identity.user_id, password_hash, utc_now(), kept=identity.session_id)
            await self._activity.record(identity.user_id, ActivityKind.PASSWORD_CHANGED, origin, connection)
        await self._ended.end_as_far_as_possible(ended)
