"""Repairs order rows and trade rows: each becomes what the engine's events say.

The rows that the events make are loaded beside the real ones, and the database finds those that differ. A repair then
keeps the router from writing (it waits for the lock of its cursor), takes the events that the router has taken
meanwhile, and compares the suspects once more. So it changes only what is still wrong at that moment.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import asyncpg

from openspot.contracts.engine_events import EngineEvent
from openspot.domain.money import decimal_to_text
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection
from openspot.reconcile.outcome import NotRebuiltError, Rebuilt
from openspot.router.order_columns import ORDER_COLUMNS, order_values
from openspot.router.rows_position import RowsPosition
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.order_state_machine import OrderStateMachine

# ruff: noqa: S608  (the texts are made of constants only)

REFUSALS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)
_STATEMENT_TIMEOUT_S = 3600.0

_TOLD_OTHERWISE = ("reject_reason", "created_at", "updated_at")
"""Columns that say nothing about money. A row that differs in these alone is not changed."""
_TRADE_COLUMNS = (
    "trade_id", "sequence", "symbol", "price", "quantity", "taker_side", "taker_order_id", "maker_order_id",
    "buyer_id", "seller_id", "taker_fee", "maker_fee", "fee_currency", "executed_at",
)  # fmt: skip

TEMPORARY_TABLES = """
    CREATE TEMPORARY TABLE rebuild_orders ON COMMIT PRESERVE ROWS AS TABLE orders WITH NO DATA;
    CREATE TEMPORARY TABLE rebuild_trades ON COMMIT PRESERVE ROWS AS TABLE trades WITH NO DATA;
    CREATE TEMPORARY TABLE rebuild_suspect_orders (id text);
    CREATE TEMPORARY TABLE rebuild_suspect_trades (id text);
"""
_INDEXES = """
    CREATE INDEX ON rebuild_orders (order_id);
    CREATE INDEX ON rebuild_trades (trade_id);
    ANALYZE rebuild_orders;
    ANALYZE rebuild_trades
"""


class _Mirror(NamedTuple):
    """A table of rows that mirror the engine. A row without events is too many only if it satisfies `is_extra`."""

    kind: str
    table: str
    key: str
    columns: tuple[str, ...]
    compared: tuple[str, ...]
    is_extra: str

    @property
    def made(self) -> str:
        """The temporary table with the rows that the events make."""
        return f"rebuild_{self.table}"

    @property
    def suspects(self) -> str:
        """The temporary table with the ids of the rows that may differ."""
        return f"rebuild_suspect_{self.table}"

    def differing(self, where: str) -> str:
        """The ids of rows that differ among those that satisfy `where`, a condition on `{key}`, and both sides."""
        made = ", ".join(f"made.{name}" for name in self.compared)
        kept = ", ".join(f"kept.{name}" for name in self.compared)
        condition = where.format(key=self.key)
        return f"""
            FROM (SELECT * FROM {self.made} WHERE {condition}) AS made
            FULL JOIN (SELECT * FROM {self.table} WHERE {condition}) AS kept ON kept.{self.key} = made.{self.key}
            WHERE (made.{self.key} IS NULL AND {self.is_extra})
                OR (made.{self.key} IS NOT NULL AND ({made}) IS DISTINCT FROM ({kept}))
        """

    def find(self) -> str:
        """Collects the suspects."""
        both = f"coalesce(made.{self.key}, kept.{self.key})"
        return f"INSERT INTO {self.suspects} (id) SELECT {both} {self.differing('true')}"

    def judge(self) -> str:
        """Both sides of each suspect that still differs."""
        made = ", ".join(f"made.{name} AS made_{name}" for name in self.compared)
        kept = ", ".join(f"kept.{name} AS kept_{name}" for name in self.compared)
        suspected = f"{{key}} IN (SELECT id FROM {self.suspects})"
        return f"SELECT {made}, {kept} {self.differing(suspected)} ORDER BY coalesce(made.{self.key}, kept.{self.key})"

    def write(self) -> str:
        """Writes the missing rows among the ids $1."""
        names = ", ".join(self.columns)
        return f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {self.made} WHERE {self.key} = ANY ($1)"

    def set(self) -> str:
        """Makes the rows with the ids $1 what the events say."""
        assigned = ", ".join(f"{name} = made.{name}" for name in self.columns if name != self.key)
        return (
            f"UPDATE {self.table} AS kept SET {assigned} FROM {self.made} AS made"
            f" WHERE kept.{self.key} = made.{self.key} AND kept.{self.key} = ANY ($1)"
        )

    def remove(self) -> str:
        """Removes the rows with the ids $1."""
        return f"DELETE FROM {self.table} WHERE {self.key} = ANY ($1)"


_ORDERS = _Mirror(
    "order row",
    "orders",
    "order_id",
    ORDER_COLUMNS,
    tuple(name for name in ORDER_COLUMNS if name not in _TOLD_OTHERWISE),
    # A router refuses some orders before they reach the engine, so it has no events of them.
    "kept.status <> 'rejected'",
)
_TRADES = _Mirror("trade row", "trades", "trade_id", _TRADE_COLUMNS, _TRADE_COLUMNS, "true")


class _Judged(NamedTuple):
    """The ids of rows that are missing, wrong or too many."""

    missing: list[str]
    wrong: list[str]
    extra: list[str]


class RowsRepair:
    """Takes the engine's events, and repairs the rows that differ from them. It uses one connection."""

    def __init__(self, connection: Connection, epoch: str, rebuilt: Rebuilt) -> None:
        self._connection = connection
        self._rebuilt = rebuilt
        self._machine = OrderStateMachine(epoch, [])
        self._open: dict[str, TrackedOrder] = {}
        self._is_loaded = False

    async def take(self, events: Iterable[EngineEvent]) -> None:
        """Take the next events that the rows include."""
        changed: dict[str, TrackedOrder] = {}
        trades: list[TradeRow] = []
        for event in events:
            translated = self._machine.apply(event)
            trades += translated.trades
            changed |= {order.order_id: order for order in translated.orders}
        await self._copy(_TRADES, map(_trade_values, trades))
        if self._is_loaded:
            # These may be in the table in an earlier state.
            await self._connection.execute("DELETE FROM rebuild_orders WHERE order_id = ANY ($1)", list(changed))
            await self._copy(_ORDERS, map(order_values, changed.values()))
            await self._suspect(_ORDERS, list(changed))
            return
        ended: list[TrackedOrder] = []
        for order_id, order in changed.items():
            if order.has_ended:
                self._open.pop(order_id, None)
                ended.append(order)
            else:
                self._open[order_id] = order
        await self._copy(_ORDERS, map(order_values, ended))

    async def find(self) -> bool:
        """Find what may differ, after the events up to the router's cursor. Returns whether there is anything."""
        await self._copy(_ORDERS, map(order_values, self._open.values()))
        self._open.clear()
        self._is_loaded = True
        await self._connection.execute(_INDEXES)
        found = 0
        for mirror in (_ORDERS, _TRADES):
            await self._connection.execute(mirror.find(), timeout=_STATEMENT_TIMEOUT_S)
            found += await self._connection.fetchval(f"SELECT count(*) FROM {mirror.suspects}")
        return bool(found)

    async def keep_router_out(self) -> None:
        """Make the router wait with writing rows until the transaction ends."""
        await self._connection.execute("LOCK TABLE engine_cursors IN SHARE ROW EXCLUSIVE MODE")

    async def repair(self, *, is_plan: bool) -> None:
        """Change the suspects that still differ, or only name the changes. Within a transaction."""
        orders = await self._judge(_ORDERS)
        trades = await self._judge(_TRADES)
        if is_plan:
            return
        # Trade rows refer to order rows, and no two order rows have one engine id.
        await self._change(_TRADES, trades.extra, _TRADES.remove())
        touched = orders.wrong + orders.extra
        await self._connection.execute("UPDATE orders SET engine_order_id = NULL WHERE order_id = ANY ($1)", touched)
        await self._change(_ORDERS, orders.missing, _ORDERS.write())
        await self._change(_ORDERS, orders.wrong, _ORDERS.set())
        await self._change(_TRADES, trades.wrong, _TRADES.set())
        await self._change(_TRADES, trades.missing, _TRADES.write())
        await self._change(_ORDERS, orders.extra, _ORDERS.remove())

    async def _judge(self, mirror: _Mirror) -> _Judged:
        """Name each change that is due."""
        judged = _Judged([], [], [])
        width = len(mirror.compared)
        async for row in self._connection.cursor(mirror.judge(), timeout=_STATEMENT_TIMEOUT_S):
            made, kept = tuple(row)[:width], tuple(row)[width:]
            if made[0] is None:
                judged.extra.append(kept[0])
                self._rebuilt.change(mirror.kind, kept[0], "remove it, the engine knows none")
            elif kept[0] is None:
                judged.missing.append(made[0])
                self._rebuilt.change(mirror.kind, made[0], "write it, it is missing")
            else:
                judged.wrong.append(made[0])
                self._rebuilt.change(mirror.kind, made[0], _differences(mirror.compared, kept, made))
        return judged

    async def _change(self, mirror: _Mirror, ids: Sequence[str], statement: str) -> None:
        """Change the rows together, or one by one if the database refuses some of them."""
        if not ids:
            return
        try:
            async with self._connection.transaction():
                await self._connection.execute(statement, ids, timeout=_STATEMENT_TIMEOUT_S)
        except REFUSALS as error:
            if len(ids) == 1:
                self._rebuilt.problem(f"{mirror.kind} {ids[0]}: {error}")
                return
            middle = len(ids) // 2
            await self._change(mirror, ids[:middle], statement)
            await self._change(mirror, ids[middle:], statement)

    async def _suspect(self, mirror: _Mirror, ids: Sequence[str]) -> None:
        await self._connection.execute(f"INSERT INTO {mirror.suspects} (id) SELECT unnest($1::text[])", ids)

    async def _copy(self, mirror: _Mirror, rows: Iterable[Sequence[object]]) -> None:
        await self._connection.copy_records_to_table(mirror.made, records=rows, columns=mirror.columns)


def checked_position(position: RowsPosition | None, epoch: str, last_sequence: int) -> RowsPosition:
    """The position up to which rows are written; without one, all events. Raises NotRebuiltError if the rows are not
    this engine's.
    """
    if position is None:
        return RowsPosition.at(epoch, last_sequence)
    if position.epoch != epoch:
        raise NotRebuiltError(
            f"the engine's journal is {epoch}, the rows are those of {position.epoch}: "
            "the engine has a new journal, the database is that of an old one"
        )
    if position.newest > last_sequence:
        raise NotRebuiltError(
            f"the rows are at event {position.newest}, the engine's newest is {last_sequence}: "
            "its data directory is older than the database"
        )
    return position


def _differences(columns: Sequence[str], kept: Sequence[Any], made: Sequence[Any]) -> str:
    return ", ".join(
        f"{name} {_text(has)} becomes {_text(needs)}"
        for name, has, needs in zip(columns, kept, made, strict=True)
        if has != needs
    )


def _text(value: Any) -> str:
    texts: dict[type, Callable[[Any], str]] = {Decimal: decimal_to_text, datetime: datetime.isoformat}
    return "nothing" if value is None else texts.get(type(value), str)(value)


def _trade_values(trade: TradeRow) -> tuple[object, ...]:
    return (
        trade.trade_id, trade.sequence, trade.symbol, Decimal(trade.price), Decimal(trade.quantity), trade.taker_side,
        trade.taker_order_id, trade.maker_order_id, trade.buyer_id, trade.seller_id, Decimal(trade.taker_fee),
        Decimal(trade.maker_fee), trade.fee_currency, datetime_from_ms(trade.executed_ms),
    )  # fmt: skip
