"""The limits that an operator gave to one user, in place of those of the level of verification or of the plan."""

from dataclasses import dataclass

from openspot.kit.database import Connection, Pool

_GET = "SELECT daily_withdrawal_usd, api_keys_max, saved_addresses_max FROM user_limits WHERE user_id = $1"


@dataclass(frozen=True, slots=True)
class UserLimits:
    """A user's own limits; None where the user has the platform's. Withdrawals are US dollars within 24 hours."""

    daily_withdrawal_usd: int | None = None
    api_keys_max: int | None = None
    saved_addresses_max: int | None = None


async def limits_of(connection: Connection | Pool, user_id: str) -> UserLimits:
    """The user's own limits."""
    row = await connection.fetchrow(_GET, user_id)
    return UserLimits() if row is None else UserLimits(**dict(row))
