"""Proof by a token that came by mail: reset the password, verify the address (facts B4.1-35 to B4.1-37).

A request for a mail does the same work and gets the same response, whether or not the address has an account.
"""

from collections.abc import Awaitable, Callable

from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.kit.passwords import Passwords
from openspot.kit.token_hash import token_hash
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.auth.unproved_access import UnprovedAccess
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.password_rules import password_fault
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.credentials.store import AuthStore, set_password
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind, TokenKind
from openspot.rest_edge.mail.tokens import MailTokens, consume_token


class MailProof:
    """Handles the requests to the routes for tokens of mails. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        *,
        pool: Pool,
        store: AuthStore,
        tokens: MailTokens,
        outbox: Outbox,
        passwords: Passwords,
        attempts: AttemptStore,
        ended: EndedSessions,
        activity: ActivityLog,
        revoke_keys: Callable[[str], Awaitable[None]],
        unproved: UnprovedAccess,
    ) -> None:
        self._pool = pool
        self._store = store
        self._tokens = tokens
        self._outbox = outbox
        self._passwords = passwords
        self._attempts = attempts
        self._ended = ended
        self._activity = activity
        self._revoke_keys = revoke_keys
        self._unproved = unproved

    async def ask_for_reset(self, email: str) -> None:
        """Queue a mail with a token, if the address has an account. 503 if too many mails wait."""
        if not await self._outbox.add(MailKind.RESET_PASSWORD, email):
            raise service_unavailable("too many mails are waiting")

    async def reset(self, token: str, password: str, origin: Origin) -> None:
        """Set a new password and end all sessions. MFA stays, and the address counts as verified.

        API keys stay too, because a forgotten password does not endanger them. After a lock-out they are revoked,
        because somebody attacks the account. If nobody had proved the address before, API keys, saved addresses,
        second factor and anti-phishing code go: whoever registered may be another person.

        400 for a token that is unknown, used or expired. 400 for a password that is easy to guess; the token can then
        be used again. 503 if the revoked keys cannot be announced; the token can be used again later.
        """
        digest = token_hash(token)
        user_id = await self._tokens.user_of(TokenKind.RESET_PASSWORD, digest, utc_now())
        user = None if user_id is None else await self._store.user_by_id(user_id)
        if user is None:
            raise _invalid_token()
        fault = password_fault(password, user.email)
        if fault is not None:
            raise validation_error([fault.replace("password", "newPassword", 1)])
        password_hash = await self._passwords.hash(password)
        # This comes first: if it fails, the lock is still there for the next attempt.
        if await self._attempts.is_account_locked(user.email):
            await self._revoke_keys(user.user_id)
        now = utc_now()
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user.user_id], to_change=True)
            # If two resets use one token at once, one of them finds here that it is used.
            if await consume_token(connection, TokenKind.RESET_PASSWORD, digest, now) is None:
                raise _invalid_token()
            keys = await self._unproved.remove(connection, user.user_id, self._activity, origin)
            ended = await set_password(connection, user.user_id, password_hash, now, is_email_proved=True)
            await self._activity.record(user.user_id, ActivityKind.PASSWORD_RESET, origin, connection)
        await self._attempts.forget_account(user.email)
        await self._ended.end_as_far_as_possible(ended)
        await self._unproved.announce_keys(keys)

    async def ask_for_verification(self, user_id: str) -> None:
        """Queue a mail that verifies the user's address. 409 if it is verified, 503 if too many mails wait."""
        row = await self._pool.fetchrow("SELECT email, email_verified_at FROM users WHERE user_id = $1", user_id)
        if row is None:
            raise user_not_found()
        if row["email_verified_at"] is not None:
            raise HttpError(409, "the email address is verified already", "EMAIL_VERIFIED_ALREADY")
        if not await self._outbox.add(MailKind.VERIFY_EMAIL, row["email"]):
            raise service_unavailable("too many mails are waiting")

    async def verify(self, token: str, origin: Origin) -> None:
        """Mark the address as verified. 400 for a token that is unknown, used or expired."""
        now, digest = utc_now(), token_hash(token)
        user_id = await self._tokens.user_of(TokenKind.VERIFY_EMAIL, digest, now)
        if user_id is None:
            raise _invalid_token()
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id], to_change=True)
            if await consume_token(connection, TokenKind.VERIFY_EMAIL, digest, now) is None:
                raise _invalid_token()
            await connection.execute(
                "UPDATE users SET email_verified_at = coalesce(email_verified_at, $2) WHERE user_id = $1", user_id, now
            )
            await self._activity.record(user_id, ActivityKind.EMAIL_VERIFIED, origin, connection)


def _invalid_token() -> HttpError:
    return HttpError(400, "the token is unknown, was used or has expired", "INVALID_MAIL_TOKEN")
