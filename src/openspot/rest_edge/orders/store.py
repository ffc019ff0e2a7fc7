"""The tables `orders` and `trades`, which the router writes and the edge reads."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec

from openspot.contracts.messages import OrderRecord
from openspot.contracts.order_terms import with_list, with_terms
from openspot.domain.money import decimal_to_text
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.rest_edge.common.average_price import average_price
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition, page_of_trades
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.schemas import OwnTrade

ORDER_COLUMNS = """
    order_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price, quantity,
    filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
    created_at, updated_at, post_only, stop_price, trigger_by, trailing_amount, trailing_bps, triggered_at, expires_at,
    self_trade_prevention, list_id, client_list_id, list_type, list_role, list_state, display_quantity,
    max_slippage_bps
"""


def record_of(row: Any) -> OrderRecord:
    """Convert a row of `orders` to a record."""
    filled: Decimal = row["filled_quantity"]
    price: Decimal | None = row["price"]
    average = average_price(row["filled_notional"], filled)
    record = OrderRecord(
        order_id=row["order_id"],
        client_order_id=row["client_order_id"],
        user_id=row["user_id"],
        symbol=row["symbol"],
        side=row["side"],
        type=row["type"],
        time_in_force=row["time_in_force"],
        margin_mode=row["margin_mode"],
        price=None if price is None else decimal_to_text(price),
        quantity=decimal_to_text(row["quantity"]),
        filled_quantity=decimal_to_text(filled),
        remaining_quantity=decimal_to_text(row["remaining_quantity"]),
        average_price=None if average is None else decimal_to_text(average),
        fee=decimal_to_text(row["fee"]),
        fee_currency=row["fee_currency"],
        status=row["status"],
        reject_reason=row["reject_reason"],
        created_at=iso_of(row["created_at"]),
        updated_at=iso_of(row["updated_at"]),
        post_only=True if row["post_only"] else msgspec.UNSET,
    )
    triggered_at, expires_at = row["triggered_at"], row["expires_at"]
    if row["list_id"] is not None:
        names = ("list_id", "client_list_id", "list_type", "list_role", "list_state")
        record = with_list(record, **{name: row[name] for name in names})
    return with_terms(
        record,
        stop_price=row["stop_price"],
        trigger_by=row["trigger_by"],
        trailing_amount=row["trailing_amount"],
        trailing_bps=row["trailing_bps"],
        triggered_at=None if triggered_at is None else iso_of(triggered_at),
        expires_at=None if expires_at is None else iso_of(expires_at),
        self_trade_prevention=row["self_trade_prevention"],
        display_quantity=row["display_quantity"],
        max_slippage_bps=row["max_slippage_bps"],
    )


class OrderStore:
    """Reads the tables `orders` and `trades`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def get(self, order_id: str) -> OrderRecord | None:
        """The order with this id, of any user; None if there is none."""
        row = await self._pool.fetchrow(f"SELECT {ORDER_COLUMNS} FROM orders WHERE order_id = $1", order_id)  # noqa: S608
        return None if row is None else record_of(row)

    async def list_of(
        self, user_id: str, wanted: OrderFilter, limit: int, after: OrderPosition | None
    ) -> tuple[list[OrderRecord], OrderPosition | None]:
        """A page of a user's orders, newest first, and the position of the next page, None if there is none."""
        conditions, values = ["user_id = $1"], [user_id]

        def narrow(condition: str, *given: Any) -> None:
            first = len(values) + 1
            values.extend(given)
            conditions.append(condition.format(*(f"${number}" for number in range(first, first + len(given)))))

        if wanted.statuses:
            narrow("status = ANY({}::text[])", list(wanted.statuses))
            if TERMINAL.isdisjoint(map(OrderStatus, wanted.statuses)):
                # As text, so that the planner knows it before the parameters: open orders have an index of their own.
                narrow("status IN ('pending', 'open', 'partially_filled')")
        if wanted.symbol is not None:
            narrow("symbol = {}", wanted.symbol)
        if wanted.side is not None:
            narrow("side = {}", wanted.side)
        if wanted.client_order_id is not None:
            narrow("client_order_id = {}", wanted.client_order_id)
        if wanted.list_id is not None:
            narrow("list_id = {}", wanted.list_id)
        if wanted.since is not None:
            narrow("created_at >= {}", wanted.since)
        if wanted.until is not None:
            narrow("created_at < {}", wanted.until)
        if after is not None:
            narrow("(created_at, order_id) < ({}::timestamptz, {}::text)", after.created_at, after.entry_id)
        query = f"""
            SELECT {ORDER_COLUMNS} FROM orders WHERE {" AND ".join(conditions)}
            ORDER BY created_at DESC, order_id DESC LIMIT {int(limit) + 1}
        """  # noqa: S608
        rows = await self._pool.fetch(query, *values)
        page = rows[:limit]
        more = len(rows) > limit
        position = OrderPosition(page[-1]["created_at"], page[-1]["order_id"]) if more else None
        return [record_of(row) for row in page], position

    async def trades_of(
        self, user_id: str, wanted: OwnTradeFilter, limit: int, after: OwnTradePosition | None
    ) -> tuple[list[OwnTrade], OwnTradePosition | None]:
        """A page of a user's trades, newest first, and the position of the next page, None if there is none."""
        return await page_of_trades(self._pool, user_id, wanted, limit, after)

    async def records_of(self, order_ids: Sequence[str]) -> dict[str, OrderRecord]:
        """The orders of any user with these ids, by id. Orders without a row are left out."""
        rows = await self._pool.fetch(
            f"SELECT {ORDER_COLUMNS} FROM orders WHERE order_id = ANY($1::text[])",  # noqa: S608
            list(order_ids),
        )
        return {row["order_id"]: record_of(row) for row in rows}
