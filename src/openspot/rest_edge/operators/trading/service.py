"""Pages of the orders and trades of all users, and the cancel of one order by an operator.

The trail notes that a cancel is asked for before the engine is asked: what the engine does could not be undone if the
entry failed. An entry with the outcome follows as soon as that is certain. Without one, nobody knows what came of it.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import msgspec

from openspot.contracts.messages import OrderRecord
from openspot.domain.accounts import MARGIN_PREFIX
from openspot.domain.ids import HOUSE_PREFIX
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError
from openspot.http.lists import decode_cursor, encode_cursor, utc_of_cursor
from openspot.http.paging import SerialNumber
from openspot.kit.database import Pool
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with
from openspot.rest_edge.operators.trading.schemas import OperatedTrade
from openspot.rest_edge.operators.trading.store import TradePosition, TradingFilter, TradingStore
from openspot.rest_edge.orders.positions import cursor_of, position_of
from openspot.rest_edge.orders.recent import newer_record
from openspot.rest_edge.orders.refusals import already_ended, not_found
from openspot.rest_edge.orders.service import OrderService
from openspot.rest_edge.orders.store import OrderStore

ASKED = "order.cancel_asked"
CANCELLED = "order.cancelled"
NOT_CANCELLED = "order.not_cancelled"
_LAST_NOTED = """
    SELECT action FROM operator_actions WHERE subject_id = $1 AND request_id = $2 AND action = ANY($3::text[])
    ORDER BY entry_number DESC LIMIT 1
"""


class OperatedTrading:
    """Reads both lists, and cancels orders. Methods raise HttpError."""

    def __init__(self, pool: Pool, orders: OrderService) -> None:
        self._pool = pool
        self._orders = orders
        self._rows = OrderStore(pool)
        self._lists = TradingStore(pool)

    async def orders(
        self, wanted: TradingFilter, limit: int, cursor: str | None
    ) -> tuple[list[OrderRecord], str | None]:
        """A page of orders, newest first, and the cursor of the next. 400 for a cursor that this list did not give."""
        rows, following = await self._lists.orders(wanted, limit, position_of(cursor))
        return rows, cursor_of(following)

    async def trades(
        self, wanted: TradingFilter, limit: int, cursor: str | None
    ) -> tuple[list[OperatedTrade], str | None]:
        """A page of trades, newest first, and the cursor of the next. 400 for a cursor that this list did not give."""
        if wanted.user_id is not None:
            last = None if cursor is None else decode_cursor(cursor, tuple[SerialNumber])[0]
            rows, following = await self._lists.trades_of(wanted.user_id, wanted, limit, last)
            return rows, None if following is None else encode_cursor([following])
        after = None
        if cursor is not None:
            executed_at, sequence = decode_cursor(cursor, tuple[datetime, SerialNumber])
            after = TradePosition(utc_of_cursor(executed_at), sequence)
        rows, place = await self._lists.trades(wanted, limit, after)
        return rows, None if place is None else encode_cursor([place.executed_at.isoformat(), place.sequence])

    async def cancel(self, order_id: str, acting: Acting, operation: IdempotentOperation) -> OrderRecord:
        """Cancel an order of a user, and return its record.

        404 for an unknown order; 409 `ORDER_NOT_OPEN` if it has ended, `ORDER_OF_THE_HOUSE`, `ORDER_OF_MARGIN`; 403 for
        one's own; 503 and 504 as the user's own cancel. An operation that was begun before notes nothing twice.
        """
        order = await self._order(order_id)
        require_other_person(acting.operator.name, order.user_id, await linked_with(self._pool, acting.operator.name))
        acting = replace(acting, request_id=operation.operation_id)
        last = await self._last_noted(order_id, operation) if operation.is_resumed else None
        # An earlier run has asked, or was about to, and nobody has noted what came of it.
        is_open = last == ASKED
        if order.status in TERMINAL:
            is_cancelled = order.status == OrderStatus.CANCELLED
            if is_open:
                outcome = CANCELLED if is_cancelled else NOT_CANCELLED
                await self._note(acting, outcome, order, {"status": order.status})
            if is_cancelled and (is_open or last == CANCELLED):
                return order
            raise already_ended(order_id, order.status)
        if last == CANCELLED:
            return await self._cancelled_before(order)
        if not is_open:
            await self._note(acting, ASKED, order, {"outcome": "not known yet"})
        try:
            done = await self._orders.cancel(order.user_id, order_id)
        except HttpError as error:
            await self._note_refusal(acting, order, error, was_asked_before=is_open)
            if error.code == "ORDER_STATUS_UNKNOWN":
                message = "no answer in time: look the order up, and cancel it again if it is open"
                raise HttpError(504, message, error.code, details=error.details) from error
            raise
        after = {"status": done.status, "remainingQuantity": done.remaining_quantity}
        await self._note(acting, CANCELLED, order, after)
        return done

    async def _cancelled_before(self, order: OrderRecord) -> OrderRecord:
        """Cancel an open order of which an entry says that it was: its row follows in a moment.

        Or an earlier release wrote the entry, before it asked the engine. So the engine is asked; a second cancel does
        no harm.
        """
        try:
            return await self._orders.cancel(order.user_id, order.order_id)
        except HttpError as error:
            if (error.details or {}).get("status") != OrderStatus.CANCELLED:
                raise
        return msgspec.structs.replace(order, status=OrderStatus.CANCELLED.value, remaining_quantity="0")

    async def _note_refusal(
        self, acting: Acting, order: OrderRecord, error: HttpError, *, was_asked_before: bool
    ) -> None:
        """Note what a refusal makes certain. After a 504 that is nothing.

        If an earlier run has asked as well, it is what that run did, unless the order is known to have ended.
        """
        found = str((error.details or {}).get("status", order.status))
        if error.status_code == 504 or (was_asked_before and found not in TERMINAL):
            return
        is_own = was_asked_before and found == OrderStatus.CANCELLED
        after = {"status": found, "refusal": error.code}
        await self._note(acting, CANCELLED if is_own else NOT_CANCELLED, order, after)

    async def _last_noted(self, order_id: str, operation: IdempotentOperation) -> str | None:
        """The newest entry that earlier runs of an operation have written."""
        wanted = [ASKED, CANCELLED, NOT_CANCELLED]
        found: str | None = await self._pool.fetchval(_LAST_NOTED, order_id, operation.operation_id, wanted)
        return found

    async def _order(self, order_id: str) -> OrderRecord:
        """The order as its row, or the last answer to its user, has it. Raises HttpError if it is no user's own."""
        row = await self._rows.get(order_id)
        order = newer_record(row, None if row is None else self._orders.recent.get(row.user_id, order_id))
        if order is None:
            raise not_found(order_id)
        if order.user_id.startswith(HOUSE_PREFIX):
            raise HttpError(409, "the order is the house's own, and no user's", "ORDER_OF_THE_HOUSE")
        if order.user_id.startswith(MARGIN_PREFIX):
            message = "the order is a margin account's: closing the position cancels it"
            raise HttpError(409, message, "ORDER_OF_MARGIN")
        return order

    async def _note(self, acting: Acting, action: str, order: OrderRecord, after: Mapping[str, str]) -> None:
        before = {
            "user": order.user_id,
            "market": order.symbol,
            "status": order.status,
            "filledQuantity": order.filled_quantity,
            "remainingQuantity": order.remaining_quantity,
        }
        async with self._pool.acquire() as connection, connection.transaction():
            await record(connection, acting, action, "order", order.order_id, before, after)
