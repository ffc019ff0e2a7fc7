"""The request `orders.get`, and the search for an order, which `orders.cancel` uses too (facts A1.4-02 to A1.4-05).

The router looks for an order in its own memory, then in the order's row, then in the engine. It treats another user's
order as unknown.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from openspot.contracts.messages import GetOrder, GetOrderReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.router.orders.draft import check_ids
from openspot.router.orders.engine_orders import found_order
from openspot.router.orders.recent_orders import RecentOrder, RecentOrders
from openspot.router.store import RouterStore
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("order_lookup")

ROW_POLLS = 20
ROW_POLL_S = 0.02
ROW_S_MAX = 0.5
"""A reply that is right in most cases without the row waits for it at most this long."""
UNKNOWN_FOR_MS_MAX = 10_000
"""A placement without a response that the engine does not know after this time never reached the engine."""


class OrderLookup:
    """Finds orders in memory, in the rows and in the engine.

    A cancel waits at most `placement_s_max` seconds for the placement of its order to end, before it looks further.
    """

    def __init__(
        self,
        *,
        specs: Mapping[str, SymbolSpec],
        recent_orders: RecentOrders,
        store: RouterStore,
        engine: EngineCommands,
        clock: Clock,
        placement_s_max: float,
    ) -> None:
        self._specs = specs
        self._recent_orders = recent_orders
        self._store = store
        self._engine = engine
        self._clock = clock
        self._placement_s_max = placement_s_max

    async def get(self, request: GetOrder) -> GetOrderReply:
        """Reply to `orders.get`. The reply has no order if nobody knows it, or if it is another user's."""
        try:
            check_ids(request.user_id, request.order_id)
            order = await self.freshest(request.order_id)
        except InvalidRequestError as error:
            return GetOrderReply.refused(error.refusal)
        except EngineError as error:
            reason = f"the order has no row and the matching engine does not answer: {error}"
            return GetOrderReply.refused(Refusal(RefusalCode.UNAVAILABLE, reason))
        if order is None or order.user_id != request.user_id:
            return GetOrderReply()
        return GetOrderReply(record_of(order))

    async def nearest(self, order_id: str) -> TrackedOrder | None:
        """Look in memory, in the rows and in the engine, and return the first order found. It may lack fills.

        Raises EngineError if only the engine could know the order and does not answer.
        """
        recent = self._recent_orders.get(order_id)
        refused: TrackedOrder | None = None
        if recent is not None:
            if recent.placing is not None:
                await asyncio.wait({recent.placing}, timeout=self._placement_s_max)
            if self._recent_orders.get(order_id) is recent:
                if recent.order.engine_order_id is not None:
                    return recent.order
                # This router refused the order before it reached the engine. Another may have placed the same id.
                refused = recent.order
        row = await self.row(order_id)
        if row is not None and row.engine_order_id is not None:
            return row
        return await self.ask_engine(order_id) or row or refused

    async def ended(self, order: TrackedOrder) -> TrackedOrder | None:
        """How an order ended that the engine does not hold any more; None if nobody knows yet. Raises EngineError."""
        row = await self.row(order.order_id)
        if row is not None and row.has_ended:
            return row
        found = await self.ask_engine(order.order_id)
        if found is None or not found.has_ended:
            return None
        row = await self.awaited_row(order.order_id, lambda row: row.has_ended)
        return row or with_state_of(order, found)

    async def ask_engine(self, order_id: str) -> TrackedOrder | None:
        """The order as the engine knows it; None if it does not know it. Raises EngineError."""
        found = await self._engine.get_order(order_id)
        spec = self._specs.get(found.symbol)
        return found_order(found, spec, self._now_ms()) if found.found and spec is not None else None

    async def row(self, order_id: str) -> TrackedOrder | None:
        """The order's row. None if there is none, or if the database is away; the engine may know the order then."""
        try:
            return await self._store.order(order_id)
        except TRANSIENT_ERRORS as error:
            log.warning("order looked up without the database", order_id=order_id, error=repr(error))
            return None

    async def row_at_once(self, order_id: str) -> TrackedOrder | None:
        """The order's row, or None if the database does not answer within ROW_S_MAX."""
        try:
            async with asyncio.timeout(ROW_S_MAX):
                return await self.row(order_id)
        except TimeoutError:
            return None

    async def awaited_row(self, order_id: str, is_wanted: Callable[[TrackedOrder], bool]) -> TrackedOrder | None:
        """The order's row once `is_wanted` holds for it. Returns None if that takes too long."""
        for _ in range(ROW_POLLS):
            row = await self.row(order_id)
            if row is not None and is_wanted(row):
                return row
            await asyncio.sleep(ROW_POLL_S)
        return None

    async def rows_of_list(self, user_id: str, list_id: str) -> list[TrackedOrder]:
        """The orders of a user's list, from their rows, the entry first. Empty if there are none, or no database."""
        try:
            orders = await self._store.orders_of_list(list_id)
        except TRANSIENT_ERRORS as error:
            log.warning("list looked up without the database", list_id=list_id, error=repr(error))
            return []
        return [order for order in orders if order.user_id == user_id]

    async def ended_list(self, user_id: str, list_id: str) -> list[TrackedOrder]:
        """The orders of a user's list, from their rows, once all have ended. Empty if that takes too long."""
        for _ in range(ROW_POLLS):
            rows = await self.rows_of_list(user_id, list_id)
            if rows and all(order.has_ended for order in rows):
                return rows
            await asyncio.sleep(ROW_POLL_S)
        return []

    async def _rows_include(self, symbol: str, sequence: int) -> bool:
        """Whether the rows include every event of a symbol up to this one, as far as the database can say."""
        try:
            return await self._store.rows_include(symbol, sequence)
        except TRANSIENT_ERRORS:
            return False

    async def awaited_events(self, symbol: str, sequence: int) -> bool:
        """Wait until the rows include every event of a symbol up to this one. False if that takes too long."""
        for _ in range(ROW_POLLS):
            if await self._rows_include(symbol, sequence):
                return True
            await asyncio.sleep(ROW_POLL_S)
        return False

    async def ended_with_lists(self, order_ids: Sequence[str], first: int, last: int) -> list[str]:
        """The orders whose lists ended with one of these, by an event from `first` to `last`, as far as rows say so."""
        try:
            return await self._store.ended_with_lists(order_ids, first, last)
        except TRANSIENT_ERRORS:
            return []

    async def freshest(self, order_id: str) -> TrackedOrder | None:
        """The newest state of the order that this process, the rows or the engine know; None if none of them does.

        Raises EngineError if only the engine could know the order and does not answer.
        """
        recent = self._recent_orders.get(order_id)
        if recent is not None and recent.placing is not None:
            return recent.order
        order = await self.row(order_id)
        if recent is not None and (order is None or order.last_sequence < recent.order.last_sequence):
            if recent.unknown_since_ms is not None:
                return await self._resolved(recent, recent.unknown_since_ms)
            order = recent.order
        if order is not None and order.engine_order_id is not None:
            return order
        # This router does not know the order, or refused it. Another router may have placed the same id.
        try:
            found = await self.ask_engine(order_id)
        except EngineError:
            if order is None:
                raise
            return order
        if found is None:
            return order
        # Another router has just placed the order. Its row comes soon, and says more than the engine.
        return await self.awaited_row(order_id, lambda row: row.engine_order_id is not None) or found

    async def _resolved(self, recent: RecentOrder, unknown_since_ms: int) -> TrackedOrder | None:
        """The engine's present state of an order whose placement got no response. None if it never arrived."""
        order = recent.order
        found = await self.ask_engine(order.order_id)
        if found is not None:
            return with_state_of(order, found)
        if self._now_ms() - unknown_since_ms <= UNKNOWN_FOR_MS_MAX:
            return order
        self._recent_orders.forget(order.order_id)
        return None

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def with_state_of(order: TrackedOrder, found: TrackedOrder) -> TrackedOrder:
    """`order` with the status and the fills of `found`."""
    return msgspec.structs.replace(
        order,
        filled_quantity=found.filled_quantity,
        filled_notional=found.filled_notional,
        remaining_quantity=found.remaining_quantity,
        status=found.status,
    )
