"""The devices that users are notified on: the table `push_subscriptions`.

A subscription belongs to the session that made it, and counts while that session can be refreshed. So a logout, a
change of the password and a lock end it in the moment in which they end the session.
"""

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from openspot.http.ended_sessions import SessionOverError
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.push.encryption import DeviceKeys

DEVICES_MAX = 10
"""Subscriptions of one user."""
_LOCK_OF_USER = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-push:' || $1, 0))"
IS_ALIVE = """EXISTS (
    SELECT FROM refresh_tokens AS token WHERE token.family_id = device.session_id
        AND token.used_at IS NULL AND token.revoked_at IS NULL AND token.expires_at > $1
)"""
"""Whether the session of `device` can still be refreshed at $1."""


@dataclass(frozen=True, slots=True)
class KeptDevice:
    """A device that a user is notified on, with the browser that its session began with."""

    subscription_id: str
    session_id: str
    endpoint: str
    user_agent: str
    created_at: datetime
    reached_at: datetime | None


class TooManyDevicesError(Exception):
    """The user has DEVICES_MAX devices already."""


class PushSubscriptions:
    """The subscriptions of users, at most DEVICES_MAX of each."""

    def __init__(self, pool: Pool, now: DateClock = utc_now) -> None:
        self._pool = pool
        self._now = now

    async def all_of(self, user_id: str) -> list[KeptDevice]:
        """The user's devices, newest first."""
        return await _devices_of(self._pool, user_id, self._now())

    async def add(
        self, subscription_id: str, user_id: str, session_id: str, endpoint: str, keys: DeviceKeys
    ) -> KeptDevice:
        """Add a device. One with the same endpoint becomes a device of this session.

        Subscriptions whose session has ended make room. Raises TooManyDevicesError, and SessionOverError if the session
        has ended meanwhile, or the account with it.
        """
        try:
            return await self._added(subscription_id, user_id, session_id, endpoint, keys)
        except asyncpg.ForeignKeyViolationError as error:
            raise SessionOverError from error

    async def _added(
        self, subscription_id: str, user_id: str, session_id: str, endpoint: str, keys: DeviceKeys
    ) -> KeptDevice:
        now = self._now()
        async with self._pool.acquire() as connection, connection.transaction():
            await lock_users(connection, [user_id])
            await connection.execute(_LOCK_OF_USER, user_id)
            await _delete_ended(connection, now, user_id)
            known = await connection.fetchval(
                "SELECT subscription_id FROM push_subscriptions WHERE user_id = $1 AND endpoint = $2", user_id, endpoint
            )
            count = await connection.fetchval("SELECT count(*) FROM push_subscriptions WHERE user_id = $1", user_id)
            if known is None and count >= DEVICES_MAX:
                raise TooManyDevicesError
            await connection.execute(
                """
                INSERT INTO push_subscriptions
                    (subscription_id, user_id, session_id, endpoint, public_key, secret, created_at, paused_until)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
                ON CONFLICT (user_id, endpoint) DO UPDATE SET session_id = excluded.session_id,
                    public_key = excluded.public_key, secret = excluded.secret, refusals = 0
                """,
                subscription_id,
                user_id,
                session_id,
                endpoint,
                keys.public_key,
                keys.secret,
                now,
            )
            devices = await _devices_of(connection, user_id, now)
            added = next((device for device in devices if device.endpoint == endpoint), None)
            if added is None:
                raise SessionOverError
        return added

    async def renew(self, endpoint: str, keys: DeviceKeys, new_endpoint: str, new_keys: DeviceKeys) -> bool:
        """Give the devices with this endpoint and these keys others. False if none with a living session has them.

        Endpoint and keys together are a secret of the browser. A request may be repeated: a device that has the new
        ones already stays as it is.
        """
        # The new one is looked for first: of one that is there already nothing of the old one is left.
        query = f"""
            WITH known AS (
                SELECT user_id FROM push_subscriptions AS device
                WHERE endpoint = $5 AND public_key = $6 AND secret = $7 AND {IS_ALIVE}
            ), renewed AS (
                UPDATE push_subscriptions AS device
                SET endpoint = $5, public_key = $6, secret = $7, refusals = 0, paused_until = $1
                WHERE endpoint = $2 AND public_key = $3 AND secret = $4 AND {IS_ALIVE} AND NOT EXISTS (
                    SELECT FROM push_subscriptions AS other
                    WHERE other.user_id = device.user_id AND other.endpoint = $5
                        AND other.subscription_id <> device.subscription_id
                ) RETURNING user_id
            )
            SELECT EXISTS (SELECT FROM known) OR EXISTS (SELECT FROM renewed)
        """  # noqa: S608
        return bool(
            await self._pool.fetchval(
                query,
                self._now(),
                endpoint,
                keys.public_key,
                keys.secret,
                new_endpoint,
                new_keys.public_key,
                new_keys.secret,
            )
        )

    async def delete(self, user_id: str, subscription_id: str) -> bool:
        """Delete a device with what waits for it. False if the user has none with this id."""
        query = "DELETE FROM push_subscriptions WHERE user_id = $1 AND subscription_id = $2 RETURNING true"
        return bool(await self._pool.fetchval(query, user_id, subscription_id))

    async def delete_ended(self) -> int:
        """Delete the subscriptions whose session has ended, and return their number."""
        return await _delete_ended(self._pool, self._now(), None)


async def _devices_of(connection: Connection | Pool, user_id: str, now: datetime) -> list[KeptDevice]:
    rows = await connection.fetch(
        f"""
        SELECT subscription_id, session_id, endpoint, user_agent, device.created_at, reached_at
        FROM push_subscriptions AS device JOIN user_sessions USING (session_id)
        WHERE device.user_id = $2 AND {IS_ALIVE} ORDER BY device.created_at DESC, subscription_id
        """,  # noqa: S608
        now,
        user_id,
    )
    return [KeptDevice(**dict(row)) for row in rows]


async def _delete_ended(connection: Connection | Pool, now: datetime, user_id: str | None) -> int:
    outcome = await connection.execute(
        f"DELETE FROM push_subscriptions AS device WHERE NOT {IS_ALIVE} AND ($2::text IS NULL OR user_id = $2)",  # noqa: S608
        now,
        user_id,
    )
    return rows_changed(outcome)
