"""The order lists in the table `orders`, which the router writes and the edge reads."""

from collections.abc import Sequence
from typing import Any

from openspot.contracts.messages import OrderRecord
from openspot.kit.database import Pool
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.store import ORDER_COLUMNS, record_of


class OrderListStore:
    """Reads the orders of lists."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def orders_of(self, user_id: str, list_ids: Sequence[str]) -> dict[str, list[OrderRecord]]:
        """The orders of a user's lists, by list; the entry first, then as they were placed."""
        rows = await self._pool.fetch(
            f"SELECT {ORDER_COLUMNS} FROM orders WHERE list_id = ANY($1::text[])"  # noqa: S608
            " ORDER BY list_role <> 'entry', engine_order_id, order_id",
            list(list_ids),
        )
        orders: dict[str, list[OrderRecord]] = {}
        for row in rows:
            # A condition on the user would tempt the planner to look through all lists of the user.
            if row["user_id"] == user_id:
                orders.setdefault(row["list_id"], []).append(record_of(row))
        return orders

    async def page_of(
        self, user_id: str, symbol: str | None, limit: int, after: OrderPosition | None, *, is_active: bool
    ) -> tuple[list[str], OrderPosition | None]:
        """The ids of a page of a user's lists, newest first, and the position of the next page, None if there is none.

        With `is_active` only those whose orders depend on each other.
        """
        conditions, values = ["user_id = $1", "list_id IS NOT NULL"], [user_id]

        def narrow(condition: str, *given: Any) -> None:
            first = len(values) + 1
            values.extend(given)
            conditions.append(condition.format(*(f"${number}" for number in range(first, first + len(given)))))

        if symbol is not None:
            narrow("symbol = {}", symbol)
        if is_active:
            conditions.append(
                "status IN ('pending', 'open', 'partially_filled') AND list_state IN ('planned', 'active')"
            )
        if after is not None:
            narrow("(created_at, list_id) < ({}::timestamptz, {}::text)", after.created_at, after.entry_id)
        # The orders of a list are created at one time, so they stand beside each other in the index.
        rows = await self._pool.fetch(
            f"SELECT DISTINCT created_at, list_id FROM orders WHERE {' AND '.join(conditions)}"  # noqa: S608
            f" ORDER BY created_at DESC, list_id DESC LIMIT {int(limit) + 1}",
            *values,
        )
        page = rows[:limit]
        following = OrderPosition(page[-1]["created_at"], page[-1]["list_id"]) if len(rows) > limit else None
        return [row["list_id"] for row in page], following
