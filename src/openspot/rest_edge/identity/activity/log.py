"""The activity log: what happened to an account, when, and from where. The user reads it; security needs it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from openspot.contracts.messages import SendNotification
from openspot.http.context import RequestContext
from openspot.kit.clock import DateClock, ms_from_datetime, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import rows_changed
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError

log = get_logger("activity")

USER_AGENT_LENGTH_MAX = 256
PROGRAM_LENGTH_MAX = 120
"""Characters of a user agent in a notice."""


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
    API_KEY_CREATED = "api_key_created"
    API_KEY_ROTATED = "api_key_rotated"
    API_KEY_REVOKED = "api_key_revoked"


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


@dataclass(frozen=True, slots=True)
class ActivityNotice:
    """What the owner of the account is told of an activity. `kind` is that of the notification."""

    kind: str
    title: str
    text: str


_CHANGE = "A change of your account"
_NOT_YOU = "Was it not you? Reset your password and end all sessions."
NOTICES = {
    ActivityKind.REFRESH_TOKEN_REUSED: ActivityNotice(
        "security.token_reused", _CHANGE, "A session was ended, because one of its tokens was used twice."
    ),
    ActivityKind.PASSWORD_CHANGED: ActivityNotice(
        "password.changed", _CHANGE, "Your password was changed. All other sessions have ended."
    ),
    ActivityKind.PASSWORD_RESET: ActivityNotice(
        "password.changed", _CHANGE, "Your password was reset. All sessions have ended."
    ),
    ActivityKind.MFA_ENABLED: ActivityNotice("mfa.changed", _CHANGE, "Two-factor authentication was enabled."),
    ActivityKind.MFA_DISABLED: ActivityNotice("mfa.changed", _CHANGE, "Two-factor authentication was disabled."),
    ActivityKind.RECOVERY_CODE_USED: ActivityNotice(
        "mfa.changed", _CHANGE, "A recovery code was used in place of your authenticator app."
    ),
    ActivityKind.RECOVERY_CODES_RENEWED: ActivityNotice("mfa.changed", _CHANGE, "Your recovery codes were replaced."),
    ActivityKind.ANTI_PHISHING_CODE_CHANGED: ActivityNotice(
        "security.anti_phishing_code", _CHANGE, "Your anti-phishing code was changed. Every mail shows the new one."
    ),
    ActivityKind.API_KEY_CREATED: ActivityNotice("api_key.changed", _CHANGE, "An API key was made."),
    ActivityKind.API_KEY_ROTATED: ActivityNotice("api_key.changed", _CHANGE, "An API key got a new secret."),
    ActivityKind.API_KEY_REVOKED: ActivityNotice("api_key.changed", _CHANGE, "An API key was revoked."),
}
"""Activities that the user is told of, always: security mail cannot be turned off."""


def login_notice(origin: Origin) -> ActivityNotice:
    """The notice of a login from a network that the user has never logged in from."""
    program = f", with {origin.user_agent[:PROGRAM_LENGTH_MAX]}" if origin.user_agent else ""
    return ActivityNotice(
        "new.login", "New login to your account", f"Somebody logged in from {origin.address}{program}."
    )


class ActivityLog:
    """The table `user_activity`."""

    def __init__(self, pool: Pool, notifications: NotificationStore, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._notifications = notifications
        self._now = now

    async def record(
        self, user_id: str, kind: ActivityKind, origin: Origin, connection: Connection | None = None
    ) -> None:
        """Add an entry, and tell the user if NOTICES says so, within the transaction of `connection` if one is given.

        A user who is gone gets neither.
        """
        if connection is not None:
            await self._record(connection, user_id, kind, origin, NOTICES.get(kind))
            return
        async with self._pool.acquire() as own, own.transaction():
            await self._record(own, user_id, kind, origin, NOTICES.get(kind))
        self._notifications.added.set()

    async def record_login(self, user_id: str, origin: Origin, *, from_new_network: bool) -> None:
        """Add the entry of a login. The user is told of one from a new network, unless it is the first one of all."""
        async with self._pool.acquire() as connection, connection.transaction():
            is_unusual = from_new_network and await connection.fetchval(
                "SELECT EXISTS (SELECT FROM user_activity WHERE user_id = $1 AND kind = $2)",
                user_id,
                ActivityKind.LOGGED_IN.value,
            )
            notice = login_notice(origin) if is_unusual else None
            await self._record(connection, user_id, ActivityKind.LOGGED_IN, origin, notice)
        if notice is not None:
            self._notifications.added.set()

    async def _record(
        self, connection: Connection, user_id: str, kind: ActivityKind, origin: Origin, notice: ActivityNotice | None
    ) -> None:
        now = self._now()
        activity_id = await connection.fetchval(
            """
            INSERT INTO user_activity (user_id, kind, address, user_agent, created_at)
            SELECT user_id, $2, $3, $4, $5 FROM users WHERE user_id = $1 RETURNING activity_id
            """,
            user_id,
            kind.value,
            origin.address,
            origin.user_agent,
            now,
        )
        if activity_id is None or notice is None:
            return
        notification = SendNotification(
            f"activity:{activity_id}",
            user_id,
            notice.kind,
            notice.title,
            f"{notice.text}\n{_NOT_YOU}",
            ms_from_datetime(now),
        )
        try:
            await self._notifications.add(notification, connection)
        except OutboxFullError:
            log.error("security mail not queued", user_id=user_id, kind=kind.value)

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
        return rows_changed(outcome)
