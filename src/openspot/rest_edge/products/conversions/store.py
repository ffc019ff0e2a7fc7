"""The tables `conversion_quotes` and `conversions`."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from openspot.domain.money import to_amount
from openspot.domain.owners import Owners
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import newest_rows, numeric
from openspot.rest_edge.common.amounts import row_values

_QUOTE = (
    "quote_id, user_id, symbol, from_asset, to_asset, from_amount, to_amount, spread_amount, spread_bps, value_cents,"
    " is_funded"
)
_CONVERSION = (
    "conversion_id, quote_id, user_id, from_asset, to_asset, from_amount, to_amount, spread_amount, status,"
    " failure_code, created_at, completed_at, value_cents"
)
_LOCK = "openspot-conversion-exposure"
_EXPOSURE = """
    SELECT coalesce(sum(value_cents) FILTER (WHERE user_id = ANY ($1::text[])), 0)::bigint AS of_user,
        coalesce(sum(value_cents) FILTER (WHERE $2 IN (from_asset, to_asset) AND is_funded), 0)::bigint AS of_source,
        coalesce(sum(value_cents) FILTER (WHERE $3 IN (from_asset, to_asset) AND is_funded), 0)::bigint
            AS of_destination
    FROM (
        SELECT user_id, from_asset, to_asset, value_cents, true AS is_funded FROM conversions
        WHERE created_at > $4 AND status <> 'failed'
        UNION ALL
        SELECT user_id, from_asset, to_asset, value_cents, is_funded FROM conversion_quotes quotes
        WHERE expires_at > $5 AND quote_id <> $6
            AND NOT EXISTS (SELECT FROM conversions WHERE conversions.quote_id = quotes.quote_id)
    ) AS counted
"""
_PROMISED = """
    SELECT coalesce(sum(from_amount), 0) FROM (
        SELECT from_amount FROM conversion_quotes quotes
        WHERE user_id = $1 AND from_asset = $2 AND is_funded AND expires_at > $3
            AND NOT EXISTS (SELECT FROM conversions WHERE conversions.quote_id = quotes.quote_id)
        UNION ALL
        SELECT from_amount FROM conversions
        WHERE user_id = $1 AND from_asset = $2 AND created_at > $4
            AND (status = 'pending' OR (created_at >= $5 AND status = 'completed'))
    ) AS counted
"""
_LINKS = "SELECT first_user_id, second_user_id FROM owner_links WHERE ended_at IS NULL"
# The orders of users, and of their margin accounts.
_OWN_LEVELS = """
    SELECT price, sum(remaining_quantity) AS quantity FROM orders
    WHERE user_id IN (
            SELECT unnest($1::text[])
            UNION ALL SELECT account_id FROM margin_accounts WHERE margin_accounts.user_id = ANY ($1::text[])
        )
        AND symbol = $2 AND side = $3 AND status IN ('pending', 'open', 'partially_filled') AND price IS NOT NULL
    GROUP BY price
"""
_AMOUNTS = frozenset({"from_amount", "to_amount", "spread_amount"})
_FIELDS = {
    "from_asset": "source_asset",
    "to_asset": "destination_asset",
    "from_amount": "source_amount",
    "to_amount": "destination_amount",
}
"""The fields that have other names than their columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote. Amounts are in units of 18 places.

    `value_cents` is its value in US cents. `is_funded` says whether the user had the source amount when it was made,
    beside what other quotes and conversions take.
    """

    quote_id: str
    user_id: str
    symbol: str
    source_asset: str
    destination_asset: str
    source_amount: int
    destination_amount: int
    spread_amount: int
    spread_bps: int
    value_cents: int
    is_funded: bool
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A conversion. Amounts are in units of 18 places, `value_cents` is its value in US cents."""

    conversion_id: str
    quote_id: str
    user_id: str
    source_asset: str
    destination_asset: str
    source_amount: int
    destination_amount: int
    spread_amount: int
    status: str
    failure_code: str | None
    created_at: datetime
    completed_at: datetime | None
    value_cents: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """What conversions of a window and outstanding quotes come to, in US cents: a user's, and those of two assets."""

    of_user: int
    of_source: int
    of_destination: int


class ConversionStore:
    """Reads and writes the quotes and conversions of all users."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def users_of_owner(self, connection: Connection, user_id: str) -> list[str]:
        """The user, and the users whom an operator has linked with them."""
        links = [(row["first_user_id"], row["second_user_id"]) for row in await connection.fetch(_LINKS)]
        owners = Owners(links)
        owner = owners.of_user(user_id)
        linked = {user for link in links for user in link if owners.of_user(user) == owner}
        return sorted({user_id, *linked})

    async def own_levels(self, user_id: str, symbol: str, *, bids: bool) -> dict[Decimal, Decimal]:
        """The quantities by price of the resting orders on one side of a market that are of the user's owner."""
        async with self.pool.acquire() as connection:
            users = await self.users_of_owner(connection, user_id)
            rows = await connection.fetch(_OWN_LEVELS, users, symbol, "buy" if bids else "sell")
        return {row["price"]: row["quantity"] for row in rows}

    async def lock_exposure(self, connection: Connection) -> None:
        """Let no other quote or conversion begin until the transaction ends."""
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", _LOCK)

    async def exposure(self, connection: Connection, quote: Quote, since: datetime, now: datetime) -> Exposure:
        """What counts beside `quote`; all users of its user's owner count as one. The caller holds the lock.

        Conversions after `since` count, and quotes that can still be used. A quote whose user had too little money
        counts for that user alone, so that nobody uses up an asset's share for all without having the money.
        """
        users = await self.users_of_owner(connection, quote.user_id)
        row = await connection.fetchrow(
            _EXPOSURE, users, quote.source_asset, quote.destination_asset, since, now, quote.quote_id
        )
        assert row is not None, "a sum has one row"
        return Exposure(row["of_user"], row["of_source"], row["of_destination"])

    async def promised(
        self, connection: Connection, user_id: str, asset: str, since: datetime, read_at: datetime, now: datetime
    ) -> int:
        """What the user's funds in an asset are meant for already, in units of 18 places. The caller holds the lock.

        That is: funded quotes that can still be used, and of the conversions after `since` those that are not decided
        or may have been taken from the funds only after these were read, at `read_at`.
        """
        return to_amount(await connection.fetchval(_PROMISED, user_id, asset, now, since, read_at))

    async def add_quote(self, connection: Connection, quote: Quote) -> None:
        """Store a quote."""
        await connection.execute(
            f"INSERT INTO conversion_quotes ({_QUOTE}, created_at, expires_at)"  # noqa: S608
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            quote.quote_id,
            quote.user_id,
            quote.symbol,
            quote.source_asset,
            quote.destination_asset,
            numeric(quote.source_amount),
            numeric(quote.destination_amount),
            numeric(quote.spread_amount),
            quote.spread_bps,
            quote.value_cents,
            quote.is_funded,
            quote.created_at,
            quote.expires_at,
        )

    async def lock_quote(self, connection: Connection, quote_id: str, user_id: str) -> Quote | None:
        """The user's quote, locked until the transaction ends, so that it is used only once."""
        row = await connection.fetchrow(
            f"SELECT {_QUOTE}, created_at, expires_at FROM conversion_quotes"  # noqa: S608
            " WHERE quote_id = $1 AND user_id = $2 FOR UPDATE",
            quote_id,
            user_id,
        )
        if row is None:
            return None
        return Quote(**row_values(row, _AMOUNTS, _FIELDS))

    async def add(self, connection: Connection, conversion: Conversion) -> None:
        """Store a new conversion."""
        await connection.execute(
            f"INSERT INTO conversions ({_CONVERSION})"  # noqa: S608
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            conversion.conversion_id,
            conversion.quote_id,
            conversion.user_id,
            conversion.source_asset,
            conversion.destination_asset,
            numeric(conversion.source_amount),
            numeric(conversion.destination_amount),
            numeric(conversion.spread_amount),
            conversion.status,
            conversion.failure_code,
            conversion.created_at,
            conversion.completed_at,
            conversion.value_cents,
        )

    async def of_quote(self, quote_id: str, user_id: str) -> Conversion | None:
        """The conversion that used a quote, None if there is none."""
        row = await self.pool.fetchrow(
            f"SELECT {_CONVERSION} FROM conversions WHERE quote_id = $1 AND user_id = $2",  # noqa: S608
            quote_id,
            user_id,
        )
        return None if row is None else _conversion_of(row)

    async def is_used(self, connection: Connection, quote_id: str) -> bool:
        """Whether a conversion has used a quote. The caller has locked the quote."""
        query = "SELECT EXISTS (SELECT FROM conversions WHERE quote_id = $1)"
        return bool(await connection.fetchval(query, quote_id))

    async def get(self, conversion_id: str, user_id: str) -> Conversion | None:
        """A conversion of the user, None if this user has no such conversion."""
        row = await self.pool.fetchrow(
            f"SELECT {_CONVERSION} FROM conversions WHERE conversion_id = $1 AND user_id = $2",  # noqa: S608
            conversion_id,
            user_id,
        )
        return None if row is None else _conversion_of(row)

    async def list_of(self, user_id: str, limit: int, after: tuple[datetime, str] | None) -> list[Conversion]:
        """Up to `limit` conversions of the user, newest first, after a position."""
        query = f"SELECT {_CONVERSION} FROM conversions WHERE user_id = $1"  # noqa: S608
        rows = await newest_rows(self.pool, query, "conversion_id", user_id, limit, after)
        return [_conversion_of(row) for row in rows]

    async def settle(self, connection: Connection, conversion_id: str, failure_code: str | None, now: datetime) -> None:
        """Write the outcome of a pending conversion."""
        await connection.execute(
            "UPDATE conversions SET status = $2, failure_code = $3, completed_at = $4"
            " WHERE conversion_id = $1 AND status = 'pending'",
            conversion_id,
            "completed" if failure_code is None else "failed",
            failure_code,
            now if failure_code is None else None,
        )

    async def delete_expired(self, before: datetime) -> None:
        """Delete the quotes that expired before that time. A conversion holds all that it needs of its quote."""
        await self.pool.execute("DELETE FROM conversion_quotes WHERE expires_at < $1", before)


def _conversion_of(row: Any) -> Conversion:
    return Conversion(**row_values(row, _AMOUNTS, _FIELDS))
