"""The trades of one user, from the side of the user's orders. The router writes the table `trades`."""

from datetime import datetime
from typing import Any, NamedTuple

from openspot.domain.money import decimal_to_text
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.rest_edge.orders.schemas import OwnTrade

_ONE_SIDE = """
    (SELECT trade_id, {role}_order_id AS order_id, symbol, '{side}' AS side, price, quantity, {role}_fee AS fee,
        fee_currency, '{role}' AS role, sequence, executed_at
    FROM trades
    WHERE {owner}_id = $1 AND taker_side = '{taker_side}'
        AND ($2::text IS NULL OR symbol = $2)
        AND ($3::text IS NULL OR {role}_order_id = $3)
        AND ($4::timestamptz IS NULL OR executed_at >= $4)
        AND ($5::timestamptz IS NULL OR executed_at < $5)
        AND sequence <= coalesce($6::bigint, {sequence_max})
        AND ($6 IS NULL OR (sequence, '{role}') < ($6, $7::text))
    ORDER BY sequence DESC LIMIT $8)
"""
# Each part reads an index from its newest row on. So a page costs the same for any number of trades.
_QUERY = (
    " UNION ALL ".join(
        _ONE_SIDE.format(owner=owner, side=side, role=role, taker_side=taker_side, sequence_max=2**63 - 1)
        for owner, side, role, taker_side in (
            ("buyer", "buy", "taker", "buy"),
            ("buyer", "buy", "maker", "sell"),
            ("seller", "sell", "taker", "sell"),
            ("seller", "sell", "maker", "buy"),
        )
    )
    + " ORDER BY sequence DESC, role DESC LIMIT $8"
)


class OwnTradeFilter(NamedTuple):
    """The filter of a user's trades; None filters nothing. `since` is inclusive, `until` exclusive."""

    symbol: str | None = None
    order_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class OwnTradePosition(NamedTuple):
    """A position in the list, newest first: the page begins after this entry."""

    sequence: int
    role: str


async def page_of_trades(
    pool: Pool, user_id: str, wanted: OwnTradeFilter, limit: int, after: OwnTradePosition | None
) -> tuple[list[OwnTrade], OwnTradePosition | None]:
    """A page of a user's trades, newest first, and the position of the next page, None if there is none."""
    rows = await pool.fetch(
        _QUERY, user_id, *wanted, after.sequence if after else None, after.role if after else None, limit + 1
    )
    page = rows[:limit]
    position = OwnTradePosition(page[-1]["sequence"], page[-1]["role"]) if len(rows) > limit else None
    return [_own_trade(row) for row in page], position


def _own_trade(row: Any) -> OwnTrade:
    return OwnTrade(
        trade_id=row["trade_id"],
        order_id=row["order_id"],
        symbol=row["symbol"],
        side=row["side"],
        price=decimal_to_text(row["price"]),
        quantity=decimal_to_text(row["quantity"]),
        fee=decimal_to_text(row["fee"]),
        fee_currency=row["fee_currency"],
        role=row["role"],
        sequence=row["sequence"],
        executed_at=iso_of(row["executed_at"]),
    )
