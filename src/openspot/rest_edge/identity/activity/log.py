"""The activity log of each account: every change and login, with its time and origin. The user can read it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from openspot.contracts.messages import SendNotification
from openspot.http.context import RequestContext
from openspot.kit.clock import ms_from_datetime, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sql import rows_changed
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError

log = get_logger("activity")

USER_AGENT_LENGTH_MAX = 256
PROGRAM_LENGTH_MAX = 120
"""A notice shows this many characters of a user agent."""


class ActivityKind(StrEnum):
    """The kinds of entries."""

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
    WITHDRAWAL_ADDRESS_SAVED = "withdrawal_address_saved"
    WITHDRAWAL_ADDRESS_DELETED = "withdrawal_address_deleted"
    MADE_ADMINISTRATOR = "made_administrator"
    ADMINISTRATOR_NO_MORE = "administrator_no_more"
    LOGIN_LOCKED = "login_locked"
    LOGIN_UNLOCKED = "login_unlocked"
    WITHDRAWALS_LOCKED = "withdrawals_locked"
    WITHDRAWALS_UNLOCKED = "withdrawals_unlocked"
    MFA_RESET = "mfa_reset"
    SESSIONS_ENDED_BY_OPERATOR = "sessions_ended_by_operator"
    API_KEY_REVOKED_BY_OPERATOR = "api_key_revoked_by_operator"
    UNPROVED_API_KEYS_REVOKED = "unproved_api_keys_revoked"
    UNPROVED_ADDRESSES_DELETED = "unproved_addresses_deleted"
    UNPROVED_MFA_REMOVED = "unproved_mfa_removed"
    UNPROVED_ANTI_PHISHING_CODE_REMOVED = "unproved_anti_phishing_code_removed"


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request: the client's address, and the name that its program states."""

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
    """The notice that the account's owner gets of an activity. `kind` is the kind of the notification."""

    kind: str
    title: str
    text: str


CHANGE_TITLE = "A change of your account"
_NOT_YOU = "Was it not you? Reset your password and end all sessions."
NOTICES = {
    ActivityKind.REFRESH_TOKEN_REUSED: ActivityNotice(
        "security.token_reused", CHANGE_TITLE, "A session was ended, because one of its tokens was used twice."
    ),
    ActivityKind.PASSWORD_CHANGED: ActivityNotice(
        "password.changed", CHANGE_TITLE, "Your password was changed. All other sessions have ended."
    ),
    ActivityKind.PASSWORD_RESET: ActivityNotice(
        "password.changed", CHANGE_TITLE, "Your password was reset. All sessions have ended."
    ),
    ActivityKind.MFA_ENABLED: ActivityNotice("mfa.changed", CHANGE_TITLE, "Two-factor authentication was enabled."),
    ActivityKind.MFA_DISABLED: ActivityNotice("mfa.changed", CHANGE_TITLE, "Two-factor authentication was disabled."),
    ActivityKind.RECOVERY_CODE_USED: ActivityNotice(
        "mfa.changed", CHANGE_TITLE, "A recovery code was used in place of your authenticator app."
    ),
    ActivityKind.RECOVERY_CODES_RENEWED: ActivityNotice(
        "mfa.changed", CHANGE_TITLE, "Your recovery codes were replaced."
    ),
    ActivityKind.ANTI_PHISHING_CODE_CHANGED: ActivityNotice(
        "security.anti_phishing_code",
        CHANGE_TITLE,
        "Your anti-phishing code was changed. Every mail shows the new one.",
    ),
    ActivityKind.API_KEY_CREATED: ActivityNotice("api_key.changed", CHANGE_TITLE, "An API key was made."),
    ActivityKind.API_KEY_ROTATED: ActivityNotice("api_key.changed", CHANGE_TITLE, "An API key got a new secret."),
    ActivityKind.API_KEY_REVOKED: ActivityNotice("api_key.changed", CHANGE_TITLE, "An API key was revoked."),
    ActivityKind.MADE_ADMINISTRATOR: ActivityNotice(
        "security.role", CHANGE_TITLE, "Your account is an administrator's from your next login on."
    ),
    ActivityKind.ADMINISTRATOR_NO_MORE: ActivityNotice(
        "security.role", CHANGE_TITLE, "Your account is no administrator's any more. All sessions have ended."
    ),
    ActivityKind.LOGIN_LOCKED: ActivityNotice(
        "security.lock", CHANGE_TITLE, "The platform has locked your login. All sessions have ended, and API keys rest."
    ),
    ActivityKind.LOGIN_UNLOCKED: ActivityNotice("security.lock", CHANGE_TITLE, "You can log in again."),
    ActivityKind.WITHDRAWALS_LOCKED: ActivityNotice(
        "security.lock", CHANGE_TITLE, "The platform has locked your withdrawals. Those under way wait."
    ),
    ActivityKind.WITHDRAWALS_UNLOCKED: ActivityNotice("security.lock", CHANGE_TITLE, "You can withdraw again."),
    ActivityKind.MFA_RESET: ActivityNotice(
        "mfa.changed",
        CHANGE_TITLE,
        "The platform has removed your second factor, as support was asked to. All sessions have ended.",
    ),
    ActivityKind.SESSIONS_ENDED_BY_OPERATOR: ActivityNotice(
        "security.lock", CHANGE_TITLE, "The platform has ended sessions of yours. Log in again."
    ),
    ActivityKind.API_KEY_REVOKED_BY_OPERATOR: ActivityNotice(
        "api_key.changed",
        CHANGE_TITLE,
        "The platform has revoked API keys of yours. Programs that use them have stopped.",
    ),
    ActivityKind.UNPROVED_API_KEYS_REVOKED: ActivityNotice(
        "api_key.changed",
        CHANGE_TITLE,
        "Your API keys were revoked, because they were made before anybody had proved to own this email address.",
    ),
    ActivityKind.UNPROVED_ADDRESSES_DELETED: ActivityNotice(
        "security.addresses",
        CHANGE_TITLE,
        "Your saved withdrawal addresses were deleted, because they were saved before anybody had proved to own this "
        "email address.",
    ),
    ActivityKind.UNPROVED_MFA_REMOVED: ActivityNotice(
        "mfa.changed",
        CHANGE_TITLE,
        "Two-factor authentication was removed, because it was enabled before anybody had proved to own this email "
        "address. Enable it again.",
    ),
    ActivityKind.UNPROVED_ANTI_PHISHING_CODE_REMOVED: ActivityNotice(
        "security.anti_phishing_code",
        CHANGE_TITLE,
        "Your anti-phishing code was removed, because it was chosen before anybody had proved to own this email "
        "address.",
    ),
}
"""The activities that the user always gets a notice of: security mail cannot be turned off.

One of a withdrawal address names the address, so whoever saves or deletes it passes its notice.
"""


def login_notice(origin: Origin) -> ActivityNotice:
    """The notice of a login from a network that the user has never logged in from."""
    program = f", with {origin.user_agent[:PROGRAM_LENGTH_MAX]}" if origin.user_agent else ""
    return ActivityNotice(
        "new.login", "New login to your account", f"Somebody logged in from {origin.address}{program}."
    )


class ActivityLog:
    """The table `user_activity`."""

    def __init__(self, pool: Pool, notifications: NotificationStore) -> None:
        self._pool = pool
        self._notifications = notifications

    async def record(
        self,
        user_id: str,
        kind: ActivityKind,
        origin: Origin,
        connection: Connection | None = None,
        *,
        notice: ActivityNotice | None = None,
    ) -> None:
        """Add an entry, and notify the user by `notice`, or if NOTICES says so.

        Uses the transaction of `connection` if one is given. For a deleted user it does nothing.
        """
        told = notice or NOTICES.get(kind)
        if connection is not None:
            await self._record(connection, user_id, kind, origin, told)
            return
        async with self._pool.acquire() as own, own.transaction():
            await self._record(own, user_id, kind, origin, told)
        self._notifications.added.set()

    async def record_login(self, user_id: str, origin: Origin, *, from_new_network: bool) -> None:
        """Add the entry of a login. The user is notified of a new network, unless it is the user's first login."""
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
        now = utc_now()
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

    async def page(
        self,
        user_id: str,
        limit: int,
        before: int | None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Activity]:
        """At most `limit` entries of a user, newest first, older than the entry `before`.

        They were made at `since` or later and before `until`; None bounds nothing.
        """
        rows = await self._pool.fetch(
            """
            SELECT activity_id, kind, address, user_agent, created_at FROM user_activity
            WHERE user_id = $1 AND ($3::bigint IS NULL OR activity_id < $3)
                AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
            ORDER BY activity_id DESC LIMIT $2
            """,
            user_id,
            limit,
            before,
            since,
            until,
        )
        return [Activity(**dict(row)) for row in rows]

    async def delete_older(self, before: datetime) -> int:
        """Delete the entries from before that time, and return their number."""
        outcome = await self._pool.execute("DELETE FROM user_activity WHERE created_at < $1", before)
        return rows_changed(outcome)
