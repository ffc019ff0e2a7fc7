"""The tables `kyc_profiles` and `kyc_events`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from openspot.kit.database import Pool
from openspot.rest_edge.kyc.rules import Level, Review, Standing, Status, is_outdated, reviewed

_COLUMNS = """
    level, status, requested_level, provider_reference, first_name, last_name, date_of_birth, country, city, street,
    postal_code, last_event_at, updated_at
"""
_GET = f"SELECT {_COLUMNS} FROM kyc_profiles WHERE user_id = $1"  # noqa: S608


@dataclass(frozen=True, slots=True)
class BasicInformation:
    """What a user says about himself or herself."""

    first_name: str
    last_name: str
    date_of_birth: date
    country: str
    city: str
    street: str
    postal_code: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's verification as it is kept."""

    standing: Standing
    requested_level: Level | None
    provider_reference: str | None
    updated_at: datetime | None


NEW_PROFILE = Profile(Standing(Level.NONE, Status.NOT_STARTED, False), None, None, None)

Change = Callable[[Profile], Profile]
"""The profile after a change. May raise HttpError, which changes nothing."""


class KycStore:
    """Profiles and events."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def get(self, user_id: str) -> Profile:
        """The user's profile; a new one if there is none."""
        return _profile(await self._pool.fetchrow(_GET, user_id))

    async def change(
        self, user_id: str, change: Change, now: datetime, information: BasicInformation | None = None
    ) -> Profile:
        """Change a profile, while nobody else does, and keep `information` with it."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(
                """
                INSERT INTO kyc_profiles (user_id, status, updated_at) VALUES ($1, 'not_started', $2)
                ON CONFLICT DO NOTHING
                """,
                user_id,
                now,
            )
            changed = change(_profile(await connection.fetchrow(f"{_GET} FOR UPDATE", user_id)))
            await _save(connection, user_id, changed, now)
            if information is not None:
                await connection.execute(
                    """
                    UPDATE kyc_profiles SET first_name = $2, last_name = $3, date_of_birth = $4, country = $5,
                        city = $6, street = $7, postal_code = $8
                    WHERE user_id = $1
                    """,
                    user_id, information.first_name, information.last_name, information.date_of_birth,
                    information.country, information.city, information.street, information.postal_code,
                )  # fmt: skip
        return changed

    async def take_event(self, event_id: str, user_id: str, review: Review, now: datetime) -> bool:
        """Apply an event of the provider. False if it was seen before, is outdated, or is about nobody we know."""
        async with self._pool.acquire() as connection, connection.transaction():
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
            changed = Profile(standing, profile.requested_level, profile.provider_reference, now)
            await _save(connection, user_id, changed, now)
        return True


async def _save(connection: Any, user_id: str, changed: Profile, now: datetime) -> None:
    await connection.execute(
        """
        UPDATE kyc_profiles SET level = $2, status = $3, requested_level = $4, provider_reference = $5,
            last_event_at = $6, updated_at = $7
        WHERE user_id = $1
        """,
        user_id, changed.standing.level, changed.standing.status.value, changed.requested_level,
        changed.provider_reference, changed.standing.last_event_at, now,
    )  # fmt: skip


def _profile(row: Any) -> Profile:
    if row is None:
        return NEW_PROFILE
    requested = row["requested_level"]
    return Profile(
        Standing(Level(row["level"]), Status(row["status"]), row["first_name"] is not None, row["last_event_at"]),
        None if requested is None else Level(requested),
        row["provider_reference"],
        row["updated_at"],
    )
