"""What operators read of users, and what they do to them.

Each change is one transaction with its entry in the trail. A lock takes effect when its transaction commits: the login
and custody look at the table in the transactions that begin a session or create a withdrawal, and wait for the same
locks. What other processes keep (access tokens, API keys) is ended by the buckets of the bus right after that; if the
bus does not respond, they learn of it when it comes back.
"""

from collections.abc import Callable
from datetime import datetime

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.domain.ids import withdrawals_lock
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineQueries
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.paging import Page, page_of, serial_of, time_and_id_of, time_place
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.clock import iso_of
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool, text_of
from openspot.kit.log import get_logger
from openspot.rest_edge.common.user_limits import UserLimits
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.credentials.store import end_family, revoke_families
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.sender import TOKEN_GAP
from openspot.rest_edge.mail.texts import TOKEN_OF, MailKind
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.users import search, store
from openspot.rest_edge.operators.users.balances import Held, SideBySide, side_by_side
from openspot.rest_edge.operators.users.reach import require_reach
from openspot.rest_edge.operators.users.schemas import (
    ClosedUserResponse,
    ClosureResponse,
    FoundUserResponse,
    FoundUsersResponse,
    LockResponse,
    NoteResponse,
    UserLimitsResponse,
    UserOverviewResponse,
)
from openspot.rest_edge.operators.users.store import LockKind, UserLock, UserNote

log = get_logger("operators")

LEVELS = ("none", "basic", "verified")
_LOCKED = {LockKind.LOGIN: ActivityKind.LOGIN_LOCKED, LockKind.WITHDRAWALS: ActivityKind.WITHDRAWALS_LOCKED}
_UNLOCKED = {LockKind.LOGIN: ActivityKind.LOGIN_UNLOCKED, LockKind.WITHDRAWALS: ActivityKind.WITHDRAWALS_UNLOCKED}


class OperatedUsers:
    """Users as operators see and change them. Methods raise HttpError: 404 for an unknown user, and as they say."""

    def __init__(
        self,
        pool: Pool,
        bus: Bus,
        engine: EngineQueries,
        *,
        activity: ActivityLog,
        ended: EndedSessions,
        outbox: Outbox,
        keys: ApiKeyService,
        now: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._bus = bus
        self._engine = engine
        self._activity = activity
        self._ended = ended
        self._outbox = outbox
        self._keys = keys
        self._now = now

    # Reading

    async def search(self, text: str) -> FoundUsersResponse:
        """The users whom `text` points at."""
        found, is_complete = await search.search(self._pool, text)
        return FoundUsersResponse(users=[_found(user) for user in found], complete=is_complete)

    async def newest(self, span: Span, limit: int, cursor: str | None) -> Page[FoundUserResponse]:
        """A page of the users who registered in `span`, the newest first."""
        rows = await search.newest(self._pool, limit + 1, time_and_id_of(cursor), span)
        return page_of(rows, limit, _place, _found)

    async def overview(self, user_id: str) -> UserOverviewResponse | ClosedUserResponse:
        """One user, or what is known of a closed account. The plan is null if the subscription service does not say."""
        row = await store.overview(self._pool, user_id)
        if row is None:
            return await self._closed(user_id)
        return UserOverviewResponse(
            user_id=row["user_id"],
            email=row["email"],
            email_verified_at=_iso(row["email_verified_at"]),
            display_name=row["display_name"],
            language=row["language"],
            time_zone=row["time_zone"],
            role=row["role"],
            is_operator=row["is_operator"],
            created_at=iso_of(row["created_at"]),
            second_factor_since=_iso(row["second_factor_since"]),
            verification_level=LEVELS[row["level"]],
            verification_status=row["verification"],
            verification_changed_at=_iso(row["verification_changed_at"]),
            plan=await self._plan(user_id),
            locks=[_lock(lock) for lock in await store.locks_of(self._pool, user_id)],
            limits=UserLimitsResponse(
                daily_withdrawal_usd=row["daily_withdrawal_usd"],
                api_keys=row["api_keys_max"],
                saved_addresses=row["saved_addresses_max"],
            ),
            margin_accounts=await self._margin_accounts(user_id),
        )

    async def _closed(self, user_id: str) -> ClosedUserResponse:
        row = await store.closed(self._pool, user_id)
        if row is None:
            raise _unknown(user_id)
        closure = None if row["requested_by"] is None else ClosureResponse(
            requested_by=row["requested_by"],
            reason=row["reason"],
            approved_by=row["decided_by"],
            approval_reason=row["decision_reason"],
        )  # fmt: skip
        return ClosedUserResponse(
            user_id=row["user_id"],
            closed_at=iso_of(row["deleted_at"]),
            closure=closure,
            margin_accounts=await self._margin_accounts(user_id),
        )

    async def require(self, user_id: str) -> None:
        """404 if there is no such user."""
        if not await store.exists(self._pool, user_id):
            raise _unknown(user_id)

    async def balances(self, user_id: str) -> list[SideBySide]:
        """The user's balances at the engine and in the ledger, and those of the margin account that is open.

        503 if neither responds.
        """
        accounts = [user_id]
        try:
            accounts += [each.account_id for each in await store.margin_accounts(self._pool, user_id) if each.is_open]
        except TRANSIENT_ERRORS as error:
            log.warning("balances without the margin account", error=repr(error))
        return [row for account in accounts for row in await self._balances_of(account)]

    async def _balances_of(self, account: str) -> list[SideBySide]:
        engine = ledger = None
        try:
            engine = [Held(row.asset, row.total, row.available) for row in await self._engine.balances(account)]
        except EngineError as error:
            log.warning("balances without the engine", error=str(error))
        try:
            rows = await store.ledger_balances(self._pool, account)
            ledger = [
                Held(row["asset"], text_of(row["available"] + row["locked"]), text_of(row["available"])) for row in rows
            ]
        except TRANSIENT_ERRORS as error:
            log.warning("balances without the ledger", error=repr(error))
        if engine is None and ledger is None:
            raise service_unavailable("balances cannot be read now")
        return side_by_side(account, engine, ledger)

    async def _margin_accounts(self, user_id: str) -> list[str]:
        return [each.account_id for each in await store.margin_accounts(self._pool, user_id)]

    async def notes(self, user_id: str, span: Span, limit: int, cursor: str | None) -> Page[NoteResponse]:
        """A page of notes about the user that were written in `span`, the newest first."""
        rows = await store.notes_of(self._pool, user_id, span, limit + 1, serial_of(cursor))
        return page_of(rows, limit, lambda note: [note.note_id], _note)

    # Changing

    async def lock(self, user_id: str, kind: LockKind, acting: Acting) -> LockResponse:
        """Lock a user's login or withdrawals at once. Locking twice changes nothing: the first reason stays.

        A locked login ends all sessions, and API keys rest until it is unlocked. Of locked withdrawals none is made,
        approved, signed or sent. 403 for an operator, whom administrators lock; 503 if the resting keys could not be
        announced: the lock is on.
        """
        await self._require_other(acting, user_id)
        ended: list[str] = []
        now = self._now()
        async with self._pool.acquire() as connection, connection.transaction():
            await self._begin(connection, user_id, kind, acting)
            lock = UserLock(kind, acting.reason, acting.operator.name, now)
            is_new = await store.add_lock(connection, user_id, lock)
            if is_new and kind is LockKind.LOGIN:
                await connection.execute("DELETE FROM mfa_challenges WHERE user_id = $1", user_id)
                ended = await revoke_families(connection, user_id, "", now)
            shown = next(each for each in await store.locks_of(connection, user_id) if each.kind is kind)
            if is_new:
                await self._activity.record(user_id, _LOCKED[kind], Origin(), connection)
                before, after = {kind.value: "free"}, {kind.value: "locked"}
                await record(connection, acting, f"user.{kind}.locked", "user", user_id, before, after)
        if kind is LockKind.LOGIN and not acting.is_rehearsal:
            await self._ended.end_as_far_as_possible(ended)
            await self._keys.suspend_all(user_id)
        return _lock(shown)

    async def unlock(self, user_id: str, kind: LockKind, acting: Acting) -> None:
        """End a lock. 403 for an operator, whom administrators unlock; 409 if there is none."""
        await self._require_other(acting, user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await self._begin(connection, user_id, kind, acting)
            lock = await store.remove_lock(connection, user_id, kind)
            if lock is None:
                raise HttpError(409, f"the {kind} of the user is not locked", "NOT_LOCKED")
            await self._activity.record(user_id, _UNLOCKED[kind], Origin(), connection)
            await record(
                connection, acting, f"user.{kind}.unlocked", "user", user_id,
                {kind.value: "locked", "lockedBy": lock.locked_by}, {kind.value: "free"},
            )  # fmt: skip

    async def end_sessions(self, user_id: str, acting: Acting, session_id: str | None = None) -> int:
        """End one session of a user, or all. Returns their number.

        403 for an operator, whose sessions administrators end; 404 for a session that the user does not have.
        """
        now = self._now()
        async with self._pool.acquire() as connection, connection.transaction():
            if not await store.exists(connection, user_id, lock=True):
                raise _unknown(user_id)
            await require_reach(connection, acting.operator, user_id)
            if session_id is None:
                ended = await revoke_families(connection, user_id, "", now)
            else:
                ended = await self._end_one(connection, user_id, session_id, now)
            if ended:
                await self._activity.record(user_id, ActivityKind.SESSIONS_ENDED_BY_OPERATOR, Origin(), connection)
                await record(
                    connection, acting, "user.sessions.ended", "user", user_id, {},
                    {"ended": str(len(ended)), "session": session_id},
                )  # fmt: skip
        await self._ended.end_as_far_as_possible(ended)
        return len(ended)

    async def revoke_keys(self, user_id: str, acting: Acting, key_id: str | None = None) -> list[str]:
        """Revoke one API key of a user, or all, at once in all processes. Returns their ids.

        Connections that began with one of them end. 404 for an unknown user or a key that the user never had, 503 if
        not every process could be told: the keys are revoked.
        """
        await self._require_other(acting, user_id)
        await self.require(user_id)

        async def note(connection: Connection, ids: list[str]) -> None:
            await self._activity.record(user_id, ActivityKind.API_KEY_REVOKED_BY_OPERATOR, Origin(), connection)
            keys = {"apiKeys": ",".join(sorted(ids))}
            await record(connection, acting, "user.api_keys.revoked", "user", user_id, keys, {"apiKeys": None})

        return await self._keys.revoke_for_operator(user_id, key_id, note)

    async def add_note(self, user_id: str, text: str, acting: Acting) -> NoteResponse:
        """Add a note about the user. The trail says who wrote it, not what it says: notes go with their user."""
        now = self._now()
        async with self._pool.acquire() as connection, connection.transaction():
            if not await store.exists(connection, user_id, lock=True):
                raise _unknown(user_id)
            number = await store.add_note(connection, user_id, acting.operator.name, text, now)
            await record(connection, acting, "user.note.added", "user", user_id, {}, {"note": str(number)})
        return _note(UserNote(number, acting.operator.name, text, now))

    async def set_limits(self, user_id: str, limits: UserLimits, acting: Acting) -> UserLimitsResponse:
        """Give a user limits of their own, which hold from the next request on."""
        await self._require_other(acting, user_id)
        async with self._pool.acquire() as connection, connection.transaction():
            if not await store.exists(connection, user_id, lock=True):
                raise _unknown(user_id)
            before = await store.set_limits(connection, user_id, limits, acting.operator.name, self._now())
            await record(
                connection, acting, "user.limits.changed", "user", user_id, _limit_texts(before), _limit_texts(limits)
            )
        return UserLimitsResponse(
            daily_withdrawal_usd=limits.daily_withdrawal_usd,
            api_keys=limits.api_keys_max,
            saved_addresses=limits.saved_addresses_max,
        )

    async def send_mail(self, user_id: str, kind: MailKind, acting: Acting) -> None:
        """Send the mail that verifies the address, or the one that resets the password, again.

        409 if the address is verified or such a mail was sent just now, 503 if too many mails wait.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow("SELECT email, email_verified_at FROM users WHERE user_id = $1", user_id)
            if row is None:
                raise _unknown(user_id)
            if kind is MailKind.VERIFY_EMAIL and row["email_verified_at"] is not None:
                raise HttpError(409, "the email address is verified already", "EMAIL_VERIFIED_ALREADY")
            # The sender would drop it without a word.
            issued_at = await connection.fetchval(
                "SELECT created_at FROM mail_tokens WHERE user_id = $1 AND kind = $2", user_id, TOKEN_OF[kind].value
            )
            if issued_at is not None and issued_at > self._now() - TOKEN_GAP:
                pause = f"another can be sent {TOKEN_GAP.seconds} s after it"
                message = f"such a mail was sent at {iso_of(issued_at)}: {pause}"
                raise HttpError(409, message, "MAIL_SENT_JUST_NOW")
            if not await self._outbox.add(kind, row["email"], connection=connection):
                raise service_unavailable("too many mails are waiting")
            await record(connection, acting, "user.mail.sent", "user", user_id, {}, {"kind": kind.value})

    async def _begin(self, connection: Connection, user_id: str, kind: LockKind, acting: Acting) -> None:
        """Wait for whoever begins a session, or creates a withdrawal, of the user, and let nobody begin meanwhile."""
        if not await store.exists(connection, user_id, lock=True):
            raise _unknown(user_id)
        await require_reach(connection, acting.operator, user_id)
        if kind is LockKind.WITHDRAWALS:
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", withdrawals_lock(user_id))

    async def _end_one(self, connection: Connection, user_id: str, session_id: str, now: datetime) -> list[str]:
        if not await end_family(connection, session_id, user_id, now):
            raise HttpError(404, "the user has no such session", "SESSION_NOT_FOUND")
        return [session_id]

    async def _require_other(self, acting: Acting, user_id: str) -> None:
        require_other_person(acting.operator.name, user_id, await linked_with(self._pool, acting.operator.name))

    async def _plan(self, user_id: str) -> str | None:
        try:
            reply = await self._bus.request(
                subjects.ENTITLEMENTS_GET, GetEntitlements(user_id), GetEntitlementsReply, self._bus.read_timeout_s
            )
        except RequestFailedError:
            return None
        return reply.plan_id if reply.error is None else None


def _place(user: search.FoundUser) -> list[str | int]:
    assert user.created_at is not None, "a list of all users has no deleted ones"
    return time_place(user.created_at, user.user_id)


def _found(user: search.FoundUser) -> FoundUserResponse:
    return FoundUserResponse(
        user_id=user.user_id,
        email=user.email,
        display_name=user.display_name,
        created_at=_iso(user.created_at),
        locks=[LockKind(kind) for kind in user.locks],
        found_by=user.found_by,
    )


def _lock(lock: UserLock) -> LockResponse:
    return LockResponse(kind=lock.kind, reason=lock.reason, locked_by=lock.locked_by, locked_at=iso_of(lock.locked_at))


def _note(note: UserNote) -> NoteResponse:
    return NoteResponse(id=note.note_id, author=note.author, text=note.text, created_at=iso_of(note.created_at))


def _iso(time: datetime | None) -> str | None:
    return None if time is None else iso_of(time)


def _limit_texts(limits: UserLimits) -> dict[str, str | None]:
    given = {
        "dailyWithdrawalUsd": limits.daily_withdrawal_usd,
        "apiKeys": limits.api_keys_max,
        "savedAddresses": limits.saved_addresses_max,
    }
    return {name: None if value is None else str(value) for name, value in given.items()}


def _unknown(user_id: str) -> HttpError:
    return HttpError(404, f"user {user_id} not found", "USER_NOT_FOUND")
