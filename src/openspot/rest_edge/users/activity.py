"""The activity log: what happened to an account, when, and from where. The user reads it; security needs it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from openspot.http.context import RequestContext
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import NOTICES, MailKind

USER_AGENT_LENGTH_MAX = 256


class ActivityKind(StrEnum):
    """What happened."""

    LOGGED_IN = "logged_in"
    LOGGED_OUT = "logged_out"
    SESSION_ENDED = "session_ended"
    OTHER_SESSIONS_ENDED = "other_sessions_ended"
    REFRESH_TOKEN_REUSED = "refresh_token_reused"  # noqa: S105
    EMAIL_VERIFIED = "email_verified"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    PASSWORD_RESET = "password_reset"  # noqa: S105
    MFA_ENABLED = "mfa_enabled"
    MFA_DISABLED = "mfa_disabled"
    RECOVERY_CODE_USED = "recovery_code_used"
    RECOVERY_CODES_RENEWED = "recovery_codes_renewed"
    PROFILE_CHANGED = "profile_changed"
    ANTI_PHISHING_CODE_CHANGED = "anti_phishing_code_changed"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from: the client's address and what its program calls itself."""

    address: str = ""
    user_agent: str = ""


def origin_of(context: RequestContext) -> Origin:
    """The origin of a request. Raises HttpError (400) if it names two user agents."""
    named = context.header(b"user-agent") or ""
    printable = "".join(letter for letter in named if letter.isprintable())
    return Origin(context.address, printable[:USER_AGENT_LENGTH_MAX])


@dataclass(frozen=True, slots=True)
class Activity:
    """An entry of the log."""

    activity_id: int
    kind: str
    address: str
    user_agent: str
    created_at: datetime


class ActivityLog:
    """The table `user_activity`."""

    def __init__(self, pool: Pool, outbox: Outbox, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._outbox = outbox
        self._now = now

    async def record(
        self, user_id: str, kind: ActivityKind, origin: Origin, connection: Connection | None = None
    ) -> None:
        """Add an entry, and queue the mail that goes with it, within the transaction of `connection` if one is given.

        A user who is gone gets neither.
        """
        await (connection or self._pool).execute(
            """
            INSERT INTO user_activity (user_id, kind, address, user_agent, created_at)
            SELECT user_id, $2, $3, $4, $5 FROM users WHERE user_id = $1
            """,
            user_id,
            kind.value,
            origin.address,
            origin.user_agent,
            self._now(),
        )
        if kind.value in NOTICES:
            email = await (connection or self._pool).fetchval("SELECT email FROM users WHERE user_id = $1", user_id)
            if email is not None:
                await self._outbox.add(MailKind.NOTICE, email, kind.value, connection)

    async def page(self, user_id: str, limit: int, before: int | None) -> list[Activity]:
        """At most `limit` entries of a user, newest first, older than the entry `before`."""
        rows = await self._pool.fetch(
            """
            SELECT activity_id, kind, address, user_agent, created_at FROM user_activity
            WHERE user_id = $1 AND ($3::bigint IS NULL OR activity_id < $3)
            ORDER BY activity_id DESC LIMIT $2
            """,
            user_id,
            limit,
            before,
        )
        return [Activity(**dict(row)) for row in rows]

    async def delete_older(self, before: datetime) -> int:
        """Delete entries from before that time; returns how many."""
        outcome = await self._pool.execute("DELETE FROM user_activity WHERE created_at < $1", before)
        return int(outcome.rpartition(" ")[2])
