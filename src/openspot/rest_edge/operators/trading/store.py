"""The orders and trades of all users, newest first, from the tables that the router writes.

A page is read along an index: by time, those of one user, the trades of a market. What no index finds, such as how an
order ended, is looked for among LOOKED_THROUGH rows at most. The page ends with them, however few of them fit, and the
next one begins behind them. So no filter makes a request read a whole table, and none leaves a row out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from openspot.contracts.messages import OrderRecord
from openspot.domain.money import decimal_to_text
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.trading.schemas import OperatedTrade
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.service import OPEN_STATUSES
from openspot.rest_edge.orders.store import ORDER_COLUMNS, record_of

LOOKED_THROUGH = 20_000
"""So many rows are looked through for a page. It costs a few hundredths of a second."""
# As text, so that the planner knows it before the parameters: open orders have indexes of their own.
_OPEN = "status IN ('pending', 'open', 'partially_filled')"
_TRADE_COLUMNS = """
    trade_id, symbol, price, quantity, taker_side, buyer_id, seller_id, taker_order_id, maker_order_id, taker_fee,
    maker_fee, fee_currency, sequence, executed_at
"""
_SIDES = tuple((owner, side) for owner in ("buyer", "seller") for side in ("buy", "sell"))
"""The user's place in a trade, and the taker's side: each pair has an index from the newest trade on."""

EVER = Span()
Filters: TypeAlias = Sequence[tuple[str, Any]]
"""Conditions with a place for their value, such as `symbol = {}`."""


@dataclass(frozen=True, slots=True)
class TradingFilter:
    """The filter of both lists; None filters nothing. Of a trade, `side` is the taker's. Trades have no `statuses`."""

    user_id: str | None = None
    symbol: str | None = None
    side: str | None = None
    span: Span = EVER
    statuses: tuple[str, ...] = ()

    def texts(self) -> dict[str, str | None]:
        """What the trail notes of it."""
        named = {"user": self.user_id, "market": self.symbol, "side": self.side}
        return named | {"status": ",".join(self.statuses) or None} | self.span.texts()


class TradePosition(NamedTuple):
    """A position in the list of all trades, newest first: the page begins after this trade."""

    executed_at: datetime
    sequence: int


class _Where:
    """Conditions of SQL with their values."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)
        self._conditions = ["true"]

    @property
    def text(self) -> str:
        return " AND ".join(self._conditions)

    def add(self, condition: str, *given: Any) -> None:
        """Add a condition whose places, `{}`, get these values."""
        first = len(self.values) + 1
        self.values += given
        self._conditions.append(condition.format(*(f"${number}" for number in range(first, first + len(given)))))

    def add_all(self, filters: Filters) -> None:
        """Add conditions with one value each."""
        for condition, value in filters:
            self.add(condition, value)


@dataclass(frozen=True, slots=True)
class _Listing:
    """A list by time and id, with where its rows are.

    That of all rows is along `…_newest`, which are indexes of the time in UTC. Where an index of the user or the market
    has the order, the planner must not see another with it: it takes rows for spread over the years, and would look for
    those of somebody who has left among the newest of all.
    """

    rows: str
    columns: str
    time: str
    row_id: str
    is_of_all: bool

    @property
    def place(self) -> str:
        """The columns of a position."""
        return f"{self.time}, {self.row_id}"

    def where(self, span: Span, after: tuple[datetime, Any] | None) -> _Where:
        """The conditions for a page of these days."""
        where = _Where()
        for sign, moment in ((">=", span.since), ("<", span.until)):
            if moment is not None:
                where.add(f"{self._moment(self.time)} {sign} {self._moment('{}::timestamptz')}", moment)
        if after is not None:
            self.add_place(where, "<", after)
        return where

    def add_place(self, where: _Where, sign: str, place: tuple[datetime, Any]) -> None:
        """Add the condition that rows come before or behind a position."""
        cast = "bigint" if isinstance(place[1], int) else "text"
        given = f"({self._moment('{}::timestamptz')}, {{}}::{cast})"
        where.add(f"({self._moment(self.time)}, {self.row_id}) {sign} {given}", *place)

    def query(self, columns: str, where: _Where) -> str:
        """What reads these columns, newest first."""
        order = f"ORDER BY {self._moment(self.time)} DESC, {self.row_id} DESC"
        return f"SELECT {columns} {self.rows} WHERE {where.text} {order}"

    def _moment(self, sql: str) -> str:
        return f"({sql} AT TIME ZONE 'UTC')" if self.is_of_all else sql


class TradingStore:
    """Reads pages of both lists."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def orders(
        self, wanted: TradingFilter, limit: int, after: OrderPosition | None
    ) -> tuple[list[OrderRecord], OrderPosition | None]:
        """A page of orders, and the position of the next page, None if there is none."""
        listing = _Listing("FROM orders", ORDER_COLUMNS, "created_at", "order_id", is_of_all=wanted.user_id is None)
        where = listing.where(wanted.span, None if after is None else (after.created_at, after.entry_id))
        where.add_all(_equal(user_id=wanted.user_id))
        if wanted.statuses and set(wanted.statuses).issubset(OPEN_STATUSES):
            where.add(_OPEN)
        others = _equal(symbol=wanted.symbol, side=wanted.side)
        if wanted.statuses and set(wanted.statuses) != set(OPEN_STATUSES):
            others.append(("status = ANY({}::text[])", list(wanted.statuses)))
        rows, last = await self._page(listing, where, others, limit)
        following = None if last is None else OrderPosition(last["created_at"], last["order_id"])
        return [record_of(row) for row in rows], following

    async def trades(
        self, wanted: TradingFilter, limit: int, after: TradePosition | None
    ) -> tuple[list[OperatedTrade], TradePosition | None]:
        """A page of the trades of everybody, and the position of the next page, None if there is none."""
        listing = _Listing("FROM trades", _TRADE_COLUMNS, "executed_at", "sequence", is_of_all=wanted.symbol is None)
        where = listing.where(wanted.span, after)
        where.add_all(_equal(symbol=wanted.symbol))
        rows, last = await self._page(listing, where, _equal(taker_side=wanted.side), limit)
        following = None if last is None else TradePosition(last["executed_at"], last["sequence"])
        return [_trade(row) for row in rows], following

    async def trades_of(
        self, user_id: str, wanted: TradingFilter, limit: int, after: int | None
    ) -> tuple[list[OperatedTrade], int | None]:
        """A page of the trades of one user, each once, in the engine's order, as the user's indexes have them.

        `after` is the sequence of the last one before the page; with the page comes that of the next one.
        """
        where = _Where(user_id)
        if after is not None:
            where.add("sequence < {}::bigint", after)
        others = [*_equal(symbol=wanted.symbol), *_days("executed_at", wanted.span)]
        last: int | None = None
        order = "ORDER BY sequence DESC"
        if others:
            looked = _sides_of(wanted.side, "sequence", where, LOOKED_THROUGH)
            query = f"SELECT sequence FROM ({looked}) AS looked {order} OFFSET {LOOKED_THROUGH - 1} LIMIT 1"  # noqa: S608
            last = await self._pool.fetchval(query, *where.values)
            if last is not None:
                where.add("sequence >= {}::bigint", last)
            where.add_all(others)
        # Who trades with itself is on both sides of one trade.
        found = _sides_of(wanted.side, _TRADE_COLUMNS, where, limit + 1)
        query = f"SELECT DISTINCT ON (sequence) * FROM ({found}) AS found {order} LIMIT {int(limit) + 1}"  # noqa: S608
        rows = await self._pool.fetch(query, *where.values)
        return [_trade(row) for row in rows[:limit]], rows[limit - 1]["sequence"] if len(rows) > limit else last

    async def _page(
        self, listing: _Listing, where: _Where, others: Filters, limit: int
    ) -> tuple[list[Any], Any | None]:
        """Rows that fulfil `where`, which an index serves, and `others`, and the last row before the next page."""
        last: Any | None = None
        if others:
            query = f"{listing.query(listing.place, where)} OFFSET {LOOKED_THROUGH - 1} LIMIT 1"
            last = await self._pool.fetchrow(query, *where.values)
            if last is not None:
                listing.add_place(where, ">=", tuple(last))
            where.add_all(others)
        rows = await self._pool.fetch(f"{listing.query(listing.columns, where)} LIMIT {int(limit) + 1}", *where.values)
        return rows[:limit], rows[limit - 1] if len(rows) > limit else last


def _equal(**wanted: str | None) -> list[tuple[str, Any]]:
    return [(f"{column} = {{}}", value) for column, value in wanted.items() if value is not None]


def _days(column: str, span: Span) -> Filters:
    bounds = ((">=", span.since), ("<", span.until))
    return [(f"{column} {sign} {{}}", moment) for sign, moment in bounds if moment is not None]


def _sides_of(side: str | None, columns: str, where: _Where, limit: int) -> str:
    """What reads the newest trades of the user, who is the first value, on each side."""
    part = f"(SELECT {columns} FROM trades WHERE {{}} AND {where.text} ORDER BY sequence DESC LIMIT {int(limit)})"  # noqa: S608
    sides = (f"{owner}_id = $1 AND taker_side = '{taker}'" for owner, taker in _SIDES if side in (None, taker))
    return " UNION ALL ".join(map(part.format, sides))


def _trade(row: Any) -> OperatedTrade:
    return OperatedTrade(
        trade_id=row["trade_id"],
        symbol=row["symbol"],
        price=decimal_to_text(row["price"]),
        quantity=decimal_to_text(row["quantity"]),
        taker_side=row["taker_side"],
        buyer_id=row["buyer_id"],
        seller_id=row["seller_id"],
        taker_order_id=row["taker_order_id"],
        maker_order_id=row["maker_order_id"],
        taker_fee=decimal_to_text(row["taker_fee"]),
        maker_fee=decimal_to_text(row["maker_fee"]),
        fee_currency=row["fee_currency"],
        sequence=row["sequence"],
        executed_at=iso_of(row["executed_at"]),
    )
