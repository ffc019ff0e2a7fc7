"""The table of liquidations. A writing function needs the connection of a transaction that has locked the account."""

from typing import Any, Self

import msgspec

from openspot.domain.order import Side
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection, Pool
from openspot.margin.liquidation import Liquidation, LiquidationOrder, LiquidationStep
from openspot.margin.records import LiquidationRow

_LIQUIDATION = "liquidation_id, account_id, step, round, orders, margin_level, next_at, idle_rounds"


class _PlannedOrder(msgspec.Struct, array_like=True):
    """An order of a liquidation, as its row has it."""

    symbol: str
    side: int
    quantity: str
    price: str | None = None

    @classmethod
    def of(cls, order: LiquidationOrder) -> Self:
        price = None if order.price is None else str(order.price)
        return cls(order.symbol, order.side.value, str(order.quantity), price)

    @property
    def order(self) -> LiquidationOrder:
        price = None if self.price is None else int(self.price)
        return LiquidationOrder(self.symbol, Side(self.side), int(self.quantity), price)


async def add_liquidation(connection: Connection, liquidation: Liquidation, level: str | None, now_ms: int) -> None:
    """Write a liquidation that begins."""
    await connection.execute(
        "INSERT INTO margin_liquidations (liquidation_id, account_id, step, round, margin_level, next_at, started_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $6)",
        liquidation.liquidation_id,
        liquidation.account_id,
        None if liquidation.step is None else liquidation.step.value,
        liquidation.round,
        level,
        datetime_from_ms(now_ms),
    )


async def count_liquidations(connection: Connection, account_id: str) -> int:
    """How many liquidations an account has had."""
    query = "SELECT count(*) FROM margin_liquidations WHERE account_id = $1"
    return int(await connection.fetchval(query, account_id))


async def open_liquidation(connection: Connection, account_id: str) -> LiquidationRow | None:
    """The account's liquidation under way; None if there is none."""
    row = await connection.fetchrow(
        f"SELECT {_LIQUIDATION} FROM margin_liquidations WHERE account_id = $1 AND step IS NOT NULL",  # noqa: S608
        account_id,
    )
    return None if row is None else _liquidation_of(row)


async def save_liquidation(connection: Connection, changed: LiquidationRow, now_ms: int) -> None:
    """Write the state of a liquidation."""
    liquidation, orders = changed.liquidation, changed.orders
    rows = None if orders is None else [_PlannedOrder.of(each) for each in orders]
    await connection.execute(
        "UPDATE margin_liquidations SET step = $2, round = $3, orders = $4::jsonb, next_at = $5, finished_at = $6,"
        " idle_rounds = $7 WHERE liquidation_id = $1",
        liquidation.liquidation_id,
        None if liquidation.step is None else liquidation.step.value,
        liquidation.round,
        None if rows is None else msgspec.json.encode(rows).decode(),
        changed.next_at,
        datetime_from_ms(now_ms) if liquidation.step is None else None,
        changed.idle_rounds,
    )


async def idle_liquidations(pool: Pool, rounds: int) -> int:
    """How many liquidations under way have traded nothing in their newest `rounds` rounds or more."""
    query = "SELECT count(*) FROM margin_liquidations WHERE step IS NOT NULL AND idle_rounds >= $1"
    return int(await pool.fetchval(query, rounds))


def _liquidation_of(row: Any) -> LiquidationRow:
    orders = None
    if row["orders"] is not None:
        orders = [each.order for each in msgspec.json.decode(row["orders"], type=list[_PlannedOrder])]
    step = None if row["step"] is None else LiquidationStep(row["step"])
    return LiquidationRow(
        Liquidation(row["liquidation_id"], row["account_id"], step, row["round"]),
        orders,
        row["margin_level"],
        row["next_at"],
        row["idle_rounds"],
    )
