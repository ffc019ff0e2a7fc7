"""The tables `kyc_profiles` and `kyc_events`. Personal information is stored sealed.

The notice of a decision is written in the transaction of the decision: the user is told once, or nothing was decided.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import msgspec

from openspot.domain.ids import short_id
from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.kit.sealing import Sealer
from openspot.rest_edge.common.user_limits import limits_of
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.funds.kyc.notices import DECIDED_KIND, decision_notice
from openspot.rest_edge.funds.kyc.rules import (
    DECIDED_STATES,
    KycLevel,
    KycState,
    Review,
    Standing,
    is_outdated,
    reviewed,
)
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError

log = get_logger("kyc")

_SEALED_AT_A_TIME = 500
_NOTICE_ID_LENGTH = 20
_COLUMNS = """
    level, status, requested_level, provider_reference, last_event_at, updated_at,
    sealed_information IS NOT NULL OR clear_information IS NOT NULL AS has_information
"""
_GET = f"SELECT {_COLUMNS} FROM kyc_profiles WHERE user_id = $1"  # noqa: S608


@dataclass(frozen=True, slots=True)
class BasicInformation:
    """A user's personal information."""

    first_name: str
    last_name: str
    date_of_birth: date
    country: str
    city: str
    street: str
    postal_code: str


@dataclass(frozen=True, slots=True)
class KycProfile:
    """A user's verification as the table holds it."""

    standing: Standing
    requested_level: KycLevel | None
    provider_reference: str | None
    updated_at: datetime | None


NEW_PROFILE = KycProfile(Standing(KycLevel.NONE, KycState.NOT_STARTED, False), None, None, None)

Change = Callable[[KycProfile], KycProfile]
"""Returns the profile after a change. If it raises HttpError, nothing changes."""

Beside = Callable[[Connection, KycProfile], Awaitable[None]]
"""Writes what belongs to a change, given the profile after it."""


def sealing_purpose(user_id: str) -> str:
    """The purpose under which a user's information is sealed: it does not open in another user's row."""
    return f"kyc:{user_id}"


class KycStore:
    """Profiles and events."""

    def __init__(self, pool: Pool, sealer: Sealer, notifications: NotificationStore) -> None:
        self._pool = pool
        self._sealer = sealer
        self._notifications = notifications

    async def get(self, user_id: str, connection: Connection | None = None) -> KycProfile:
        """The user's profile, a new one if the table has none. With a `connection`, as its transaction sees it."""
        return _profile(await (connection or self._pool).fetchrow(_GET, user_id))

    async def own_withdrawal_limit(self, user_id: str) -> int | None:
        """US dollars that an operator lets this user withdraw within 24 hours, None where the level decides."""
        return (await limits_of(self._pool, user_id)).daily_withdrawal_usd

    async def information(self, user_id: str) -> BasicInformation | None:
        """What the user stated, in clear. None if the user stated nothing."""
        sealed: bytes | None = await self._pool.fetchval(
            "SELECT sealed_information FROM kyc_profiles WHERE user_id = $1", user_id
        )
        if sealed is None:
            return None
        return msgspec.json.decode(self._sealer.open(sealed, sealing_purpose(user_id)), type=BasicInformation)

    async def change(
        self,
        user_id: str,
        change: Change,
        now: datetime,
        information: BasicInformation | None = None,
        beside: Beside | None = None,
    ) -> KycProfile:
        """Change a profile under a lock, and store `information` with it; `beside` writes in the same transaction."""
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            await connection.execute(
                """
                INSERT INTO kyc_profiles (user_id, status, updated_at) VALUES ($1, 'not_started', $2)
                ON CONFLICT DO NOTHING
                """,
                user_id,
                now,
            )
            before = _profile(await connection.fetchrow(f"{_GET} FOR UPDATE", user_id))
            changed = change(before)
            await _save(connection, user_id, changed, now)
            if information is not None:
                await self._seal(connection, user_id, information)
            if beside is not None:
                await beside(connection, changed)
            is_told = await self._tell(connection, user_id, before.standing, changed.standing, now)
        self._announce(is_told=is_told)
        return changed

    async def seal_clear_information(self) -> int:
        """Seal some of the information that an earlier version stored in clear. Returns the number of users."""
        async with self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(
                "SELECT user_id, clear_information FROM kyc_profiles WHERE clear_information IS NOT NULL"
                " LIMIT $1 FOR UPDATE SKIP LOCKED",
                _SEALED_AT_A_TIME,
            )
            for row in rows:
                information = msgspec.json.decode(row["clear_information"], type=BasicInformation)
                await self._seal(connection, row["user_id"], information)
        return len(rows)

    async def _seal(self, connection: Any, user_id: str, information: BasicInformation) -> None:
        sealed = self._sealer.seal(msgspec.json.encode(information), sealing_purpose(user_id))
        await connection.execute(
            "UPDATE kyc_profiles SET sealed_information = $2, clear_information = NULL WHERE user_id = $1",
            user_id,
            sealed,
        )

    async def take_event(self, event_id: str, user_id: str, review: Review, now: datetime) -> bool:
        """Apply an event of the provider. False if it is a repetition, is outdated, or names an unknown user."""
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            row = await connection.fetchrow(f"{_GET} FOR UPDATE", user_id)
            if row is None:
                return False
            is_new = await connection.fetchval(
                "INSERT INTO kyc_events VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING event_id",
                event_id,
                user_id,
                now,
            )
            profile = _profile(row)
            if is_new is None or is_outdated(profile.standing, review):
                return False
            standing = reviewed(profile.standing, review)
            changed = KycProfile(standing, profile.requested_level, profile.provider_reference, now)
            await _save(connection, user_id, changed, now)
            is_told = await self._tell(connection, user_id, profile.standing, standing, now)
        self._announce(is_told=is_told)
        return True

    async def _tell(
        self, connection: Connection, user_id: str, before: Standing, after: Standing, now: datetime
    ) -> bool:
        """Store the notice of a decision. False if there is none."""
        # The transaction makes it one notice for each decision, so the id only has to be a new one.
        notice_id = f"{DECIDED_KIND}:{short_id(os.urandom(_NOTICE_ID_LENGTH), _NOTICE_ID_LENGTH)}"
        notice = decision_notice(notice_id, user_id, before, after, ms_from_datetime(now))
        if notice is None:
            return False
        try:
            await self._notifications.add(notice, connection)
        except OutboxFullError:
            log.error("mail about a decision on a verification not queued", user_id=user_id)
        return True

    def _announce(self, *, is_told: bool) -> None:
        """Have the notice shown without a pause, now that its transaction is over."""
        if is_told:
            self._notifications.added.set()


async def _save(connection: Any, user_id: str, changed: KycProfile, now: datetime) -> None:
    await connection.execute(
        """
        UPDATE kyc_profiles SET level = $2, status = $3, requested_level = $4, provider_reference = $5,
            last_event_at = $6, updated_at = $7
        WHERE user_id = $1
        """,
        user_id, changed.standing.level, changed.standing.status.value, changed.requested_level,
        changed.provider_reference, changed.standing.last_event_at, now,
    )  # fmt: skip
    if changed.standing.status in DECIDED_STATES:
        # The documents that were decided on stay as they are, until they are deleted in time.
        undecided = "UPDATE kyc_documents SET decided_at = $2 WHERE user_id = $1 AND decided_at IS NULL"
        await connection.execute(undecided, user_id, now)


def _profile(row: Any) -> KycProfile:
    if row is None:
        return NEW_PROFILE
    requested = row["requested_level"]
    return KycProfile(
        Standing(KycLevel(row["level"]), KycState(row["status"]), row["has_information"], row["last_event_at"]),
        None if requested is None else KycLevel(requested),
        row["provider_reference"],
        row["updated_at"],
    )
