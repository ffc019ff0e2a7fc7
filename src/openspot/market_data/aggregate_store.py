"""SQL of aggregate trades: they are gathered from the router's trade rows, which know each trade's taker.

A page reads rows in chunks and keeps sums alone, so an aggregate of any number of trades takes no memory.
"""

from datetime import datetime
from typing import NamedTuple

import asyncpg

from openspot.contracts.messages import AggregateTrade, GetAggregateTrades
from openspot.domain.money import to_amount
from openspot.kit.clock import datetime_from_ms, ms_from_datetime
from openspot.kit.database import Connection, Pool
from openspot.market_data.aggregates import Fill, Gathering

CHUNK = 1000
ROWS_MAX = 20_000
"""A page reads at most so many rows, and then to the end of the aggregate that they end in."""

_COLUMNS = "trade_id, sequence, price, quantity, taker_side, executed_at, taker_order_id"
_OLDER = f"""
    SELECT {_COLUMNS} FROM trades
    WHERE symbol = $1 AND ($2::timestamptz IS NULL OR (executed_at, sequence) < ($2, $3))
        AND ($4::timestamptz IS NULL OR executed_at >= $4) AND ($5::timestamptz IS NULL OR executed_at < $5)
    ORDER BY executed_at DESC, sequence DESC LIMIT $6
"""  # noqa: S608  (constant text)
_YOUNGER = f"""
    SELECT {_COLUMNS} FROM trades
    WHERE symbol = $1 AND ($2::timestamptz IS NULL OR (executed_at, sequence) > ($2, $3))
        AND ($4::timestamptz IS NULL OR executed_at >= $4) AND ($5::timestamptz IS NULL OR executed_at < $5)
    ORDER BY executed_at, sequence LIMIT $6
"""  # noqa: S608  (constant text)


class AggregatePage(NamedTuple):
    """A part of a market's aggregates, and whether there are further ones in its direction."""

    aggregates: list[AggregateTrade]
    more_remain: bool


class _Position(NamedTuple):
    """The place of a trade among those of its market."""

    executed_at: datetime
    sequence: int


class AggregateStore:
    """The trade rows as aggregates."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(self, request: GetAggregateTrades) -> AggregatePage | None:
        """The aggregates that `request` asks for; None if it begins with a trade that the market does not have.

        Raises ValueError and OverflowError for times that are none.
        """
        async with (
            self._pool.acquire() as connection,
            # The chunks of a page are of one moment.
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            if request.from_trade_id is None:
                before = request.before
                position = None if before is None else _Position(datetime_from_ms(before[0]), before[1])
                return await self._gathered(connection, request, position, is_rising=False)
            position = await self._beginning(connection, request.symbol, request.from_trade_id)
            if position is None:
                return None
            return await self._gathered(connection, request, position, is_rising=True)

    async def _beginning(self, connection: Connection, symbol: str, trade_id: str) -> _Position | None:
        """The place of the trade before the aggregate that has this trade; None without such a trade."""
        row = await connection.fetchrow(
            f"SELECT {_COLUMNS} FROM trades WHERE trade_id = $1 AND symbol = $2",  # noqa: S608  (constant text)
            trade_id,
            symbol,
        )
        if row is None:
            return None
        gathering = Gathering(is_rising=False)
        gathering.add([_fill_of(row)])
        position = _Position(row["executed_at"], row["sequence"])
        while True:
            rows = await connection.fetch(_OLDER, symbol, *position, None, None, CHUNK)
            gathering.add(map(_fill_of, rows))
            if gathering.complete or len(rows) < CHUNK:
                break
            position = _Position(rows[-1]["executed_at"], rows[-1]["sequence"])
        gathering.end()
        first = gathering.complete[0].first
        return _Position(datetime_from_ms(first.timestamp_ms), first.sequence - 1)

    async def _gathered(
        self, connection: Connection, request: GetAggregateTrades, position: _Position | None, *, is_rising: bool
    ) -> AggregatePage:
        since, until = (None if time is None else datetime_from_ms(time) for time in (request.since, request.until))
        gathering, count, is_over = Gathering(is_rising=is_rising), 0, False
        query = _YOUNGER if is_rising else _OLDER
        while len(gathering.complete) < request.limit and (count < ROWS_MAX or not gathering.complete):
            executed_at, sequence = position or (None, None)
            rows = await connection.fetch(query, request.symbol, executed_at, sequence, since, until, CHUNK)
            gathering.add(map(_fill_of, rows))
            count += len(rows)
            if len(rows) < CHUNK:
                gathering.end()
                is_over = True
                break
            position = _Position(rows[-1]["executed_at"], rows[-1]["sequence"])
        shown = gathering.complete[: request.limit]
        more_remain = len(gathering.complete) > len(shown) or not is_over
        return AggregatePage([run.aggregate(request.symbol) for run in shown], more_remain)


def _fill_of(row: asyncpg.Record) -> Fill:
    return Fill(
        row["trade_id"],
        row["sequence"],
        to_amount(row["price"]),
        to_amount(row["quantity"]),
        row["taker_side"],
        ms_from_datetime(row["executed_at"]),
        row["taker_order_id"],
    )
