"""The request `orders.submit_list`: orders that depend on each other, all or none.

Each order passes the pre-trade check of an order alone. The list as a whole needs funds once: an entry's, or those of
the more expensive exit of an OCO. The engine decides on all of them in one commit, and knows the ids of the orders and
of the list, so a request that arrives twice places nothing twice, whichever router it reaches.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import msgspec

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import SubmitOrder, SubmitOrderList, SubmitOrderListReply
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.order_list import LIST_ORDERS_MAX, ListedOrder, ListType, engine_list_id, list_fault
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError
from openspot.kit import tracing
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.router.metrics import ORDER_LISTS
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.draft import OrderDraft, check_list_ids, draft_of, list_type_in
from openspot.router.orders.engine_order_ids import OrderIds, OrderIdsUnavailableError
from openspot.router.orders.engine_orders import (
    Listing,
    listed_order,
    orders_of_list,
    pending_order,
    place_request,
    refused_order,
)
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.opening import Opening
from openspot.router.orders.pre_trade import (
    BALANCE_ONLY,
    BEFORE_BALANCE,
    Candidate,
    MarketRules,
    PreTradeFailure,
    first_failure,
)
from openspot.router.orders.recent_orders import RecentOrder, RecentOrders
from openspot.router.orders.reference_prices import References
from openspot.router.orders.rejections import Rejections, Slot
from openspot.router.orders.submission import TOO_LATE, opening_failure
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("list_submission")

LISTS_AT_ONCE = 16
"""Lists that this router has under way at the engine at most. The others wait."""
LISTS_WAITING_MAX = 1024


class ListSubmission:
    """Handles new order lists, which only the complete rules have."""

    def __init__(
        self,
        *,
        markets: Mapping[str, MarketRules],
        reference_prices: References,
        funds: AvailableFunds,
        order_ids: OrderIds,
        recent_orders: RecentOrders,
        rejections: Rejections,
        lookup: OrderLookup,
        engine: EngineCommands,
        opening: Opening,
        clock: Clock,
    ) -> None:
        self._markets = markets
        self._reference_prices = reference_prices
        self._funds = funds
        self._order_ids = order_ids
        self._recent_orders = recent_orders
        self._rejections = rejections
        self._lookup = lookup
        self._engine = engine
        self._opening = opening
        self._clock = clock
        self._under_way: set[str] = set()
        self._turns = asyncio.Semaphore(LISTS_AT_ONCE)

    async def submit(self, request: SubmitOrderList) -> SubmitOrderListReply:
        """Reply to one request."""
        reply = await self._submit(request)
        ORDER_LISTS.labels("placed" if reply.success else "refused", reply.code or "").inc()
        return reply

    async def _submit(self, request: SubmitOrderList) -> SubmitOrderListReply:
        try:
            list_type, drafts = _read(request)
        except InvalidRequestError as error:
            return _refused(error.refusal.code, str(error))
        if request.list_id in self._under_way or any(
            self._recent_orders.get(draft.order_id) is not None for draft in drafts
        ):
            return _refused(RefusalCode.DUPLICATE_ORDER_ID, f"list {request.list_id} was placed before")
        if len(self._under_way) >= LISTS_WAITING_MAX:
            return _refused(RefusalCode.BUSY, "too many order lists wait for the matching engine")
        with ExitStack() as end:
            slots: list[Slot] = []
            for _ in drafts:
                slot = self._rejections.reserve()
                if slot is None:
                    return _refused(RefusalCode.BUSY, "too many refused orders wait to be recorded")
                end.callback(slot.release)
                slots.append(slot)
            self._under_way.add(request.list_id)
            end.callback(self._under_way.discard, request.list_id)
            began = tracing.begin()
            end.callback(_trace, drafts, tracing.Step.SUBMIT, began)
            return await self._checked(request, list_type, drafts, slots)

    async def _checked(
        self, request: SubmitOrderList, list_type: ListType, drafts: list[OrderDraft], slots: list[Slot]
    ) -> SubmitOrderListReply:
        now_ms, began = self._now_ms(), tracing.begin()
        listings = [
            Listing(request.list_id, request.client_list_id, list_type, place) for place, _ in enumerate(drafts, 1)
        ]
        candidates: list[Candidate] = []
        for draft in drafts:
            candidates.append(
                Candidate(
                    draft,
                    self._markets,
                    self._reference_prices.reference(draft.symbol, now_ms),
                    has_complete_rules=True,
                    now_ms=now_ms,
                    entry=candidates[0] if list_type.has_entry and candidates else None,
                )
            )
        failed = self._first_failure(candidates) or await self._balance_failure(list_type, candidates)
        _trace(drafts, tracing.Step.CHECKS, began)
        if failed is not None:
            return await self._refuse(candidates, listings, *failed, slots)
        try:
            engine_order_ids = [await self._order_ids.take() for _ in candidates]
        except OrderIdsUnavailableError as error:
            return _refused(RefusalCode.UNAVAILABLE, str(error))
        return await self._place(request.deadline, candidates, listings, engine_order_ids, slots)

    def _first_failure(self, candidates: Sequence[Candidate]) -> tuple[int, PreTradeFailure] | None:
        """The place of the first order that a check refuses, from 1, and why."""
        for place, candidate in enumerate(candidates, 1):
            # Exits of an entry are not placed yet, so the safe opening has nothing to say about them.
            opens = candidate.entry is None
            failure = (
                opening_failure(self._opening, candidate, honour_time_in_force=True) if opens else None
            ) or first_failure(candidate, BEFORE_BALANCE)
            if failure is not None:
                return place, failure
        return None

    async def _balance_failure(
        self, list_type: ListType, candidates: Sequence[Candidate]
    ) -> tuple[int, PreTradeFailure] | None:
        """Why the funds do not suffice: an entry's, or those of the exit that needs more and holds for both."""
        place, payer = 1, candidates[0]
        if not list_type.has_entry and candidates[1].funds_needed > payer.funds_needed:
            place, payer = 2, candidates[1]
        payer.available = await self._funds.available(payer.draft.user_id, payer.funding_asset, payer.funds_needed)
        failure = first_failure(payer, BALANCE_ONLY)
        return None if failure is None else (place, failure)

    async def _refuse(
        self,
        candidates: Sequence[Candidate],
        listings: Sequence[Listing],
        place: int,
        failure: PreTradeFailure,
        slots: Sequence[Slot],
    ) -> SubmitOrderListReply:
        """Record all orders as rejected, each with the reason that it has."""
        now_ms = self._now_ms()
        orders = []
        for candidate, listing in zip(candidates, listings, strict=True):
            is_reason = listing.place == place
            reason = failure.reason if is_reason else f"order {place} of the list was refused: {failure.reason}"
            order = refused_order(candidate.draft, reason, now_ms, has_complete_rules=True)
            order = listed_order(order, candidate.draft, listing)
            self._recent_orders.put(RecentOrder(order))
            orders.append(order)
        await asyncio.gather(
            *(
                slot.record(order, failure if listing.place == place else None)
                for slot, order, listing in zip(slots, orders, listings, strict=True)
            )
        )
        return _refused(RefusalCode.PRE_TRADE_CHECK, failure.reason, orders, place)

    async def _place(
        self,
        deadline: int | None,
        candidates: Sequence[Candidate],
        listings: Sequence[Listing],
        engine_order_ids: Sequence[int],
        slots: Sequence[Slot],
    ) -> SubmitOrderListReply:
        """Send a checked list to the engine and remember the response."""
        now_ms, first = self._now_ms(), listings[0]
        placing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        recents: list[RecentOrder] = []
        call = orders_pb2.PlaceOrderListRequest(list_id=engine_list_id(first.list_id), type=first.type.number.name)
        for candidate, listing, engine_order_id in zip(candidates, listings, engine_order_ids, strict=True):
            pending = listed_order(pending_order(candidate, engine_order_id, now_ms), candidate.draft, listing)
            recents.append(RecentOrder(pending, placing))
            self._recent_orders.put(recents[-1])
            call.orders.append(place_request(candidate, engine_order_id, honour_time_in_force=True, listing=listing))
        pending_orders = [recent.order for recent in recents]
        began = tracing.begin()
        try:
            async with self._turns:
                if deadline is not None and self._now_ms() > deadline:
                    self._forget(pending_orders)
                    return _refused(RefusalCode.TOO_LATE, TOO_LATE)
                response = await self._engine.place_order_list(call)
        except EngineAmbiguousError as error:
            log.error("state of a list unknown", list_id=first.list_id, error=str(error))
            for recent in recents:
                recent.unknown_since_ms = self._now_ms()
            reason = f"the matching engine did not answer, the list may or may not stand: {error}"
            return _refused(RefusalCode.STATUS_UNKNOWN, reason, pending_orders)
        except EngineError as error:
            self._forget(pending_orders)
            return _refused(RefusalCode.UNAVAILABLE, str(error))
        finally:
            _trace([candidate.draft for candidate in candidates], tracing.Step.CALL, began)
            for recent in recents:
                recent.placing = None
            placing.set_result(None)
        spec = candidates[0].market.spec
        orders = orders_of_list(pending_orders, first.type, spec, response)
        if response.status == orders_pb2.REJECTED:
            return await self._rejected(orders, response, slots)
        for recent, order in zip(recents, orders, strict=True):
            recent.order = order
        rows = await self._rows_after(orders, response.sequence)
        if not rows:
            log.warning("list shown without its rows", list_id=first.list_id)
        return SubmitOrderListReply(True, tuple(record_of(order) for order in rows or orders))

    async def _rejected(
        self, orders: list[TrackedOrder], response: orders_pb2.PlaceOrderListResponse, slots: Sequence[Slot]
    ) -> SubmitOrderListReply:
        code, place = response.result_code, response.failed_order
        if code in (ResultCode.DUPLICATE_ORDER_ID.name, ResultCode.DUPLICATE_LIST_ID.name):
            # The ids belong to an earlier list, whose events and rows must stay as they are.
            self._forget(orders)
            is_list = code == ResultCode.DUPLICATE_LIST_ID.name
            kind = RefusalCode.DUPLICATE_LIST_ID if is_list else RefusalCode.DUPLICATE_ORDER_ID
            return _refused(kind, f"list {orders[0].list_id} was placed before", failed_order=place)
        if code == ResultCode.DUPLICATE_CLIENT_ORDER_ID.name:
            self._forget(orders)
            client_order_id = orders[max(place, 1) - 1].client_order_id
            message = f"orders.{max(place, 1) - 1}.clientOrderId {client_order_id} belongs to an open order of yours"
            return _refused(RefusalCode.DUPLICATE_CLIENT_ORDER_ID, message, failed_order=place)
        if code == ResultCode.ENGINE_BUSY.name:
            self._forget(orders)
            return _refused(RefusalCode.BUSY, "the matching engine is busy")
        for order in orders:
            recent = self._recent_orders.get(order.order_id)
            if recent is not None:
                recent.order = order
        if not response.sequence:
            # The engine's stream does not have this refusal, so the translator never sees it.
            await asyncio.gather(
                *(
                    slot.record(msgspec.structs.replace(order, engine_order_id=None), None)
                    for slot, order in zip(slots, orders, strict=True)
                )
            )
        return _refused(RefusalCode.ENGINE, code, orders, place)

    async def _rows_after(self, orders: Sequence[TrackedOrder], sequence: int) -> list[TrackedOrder]:
        """The rows of the orders once they include what their placement caused. Empty if that takes too long."""
        first = orders[0]
        if not await self._lookup.awaited_events(first.symbol, sequence):
            return []
        found = await self._lookup.rows_of_list(first.user_id, first.list_id or "")
        rows = {row.order_id: row for row in found}
        return [rows[order.order_id] for order in orders] if all(order.order_id in rows for order in orders) else []

    def _forget(self, orders: Sequence[TrackedOrder]) -> None:
        for order in orders:
            self._recent_orders.forget(order.order_id)

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS


def _trace(drafts: Sequence[OrderDraft], step: tracing.Step, began: int) -> None:
    """Record a step that the orders of a list take together."""
    for draft in drafts:
        tracing.end(draft.order_id, step, began, orders=len(drafts))


def _read(request: SubmitOrderList) -> tuple[ListType, list[OrderDraft]]:
    """The type and the orders of a request. Raises InvalidRequestError, which names the order and its field."""
    check_list_ids(request.user_id, request.list_id, request.client_list_id)
    list_type = list_type_in(request.type)
    if not 0 < len(request.orders) <= LIST_ORDERS_MAX:
        raise InvalidRequestError(f"orders must have 1 to {LIST_ORDERS_MAX} entries")
    drafts = []
    for place, order in enumerate(request.orders):
        try:
            drafts.append(draft_of(SubmitOrder(request.user_id, order)))
        except InvalidRequestError as error:
            raise InvalidRequestError(f"orders.{place}.{error}") from None
    if len({draft.order_id for draft in drafts}) < len(drafts):
        raise InvalidRequestError("orders must have an orderId each")
    fault = list_fault(
        list_type,
        [
            ListedOrder(
                draft.symbol,
                draft.is_buy,
                draft.type,
                draft.time_in_force,
                draft.quantity,
                draft.quote_quantity,
                draft.post_only,
                draft.client_order_id,
            )
            for draft in drafts
        ],
    )
    if fault is not None:
        raise InvalidRequestError(fault)
    return list_type, drafts


def _refused(
    code: RefusalCode, message: str, orders: Sequence[TrackedOrder] = (), failed_order: int = 0
) -> SubmitOrderListReply:
    records = tuple(record_of(order) for order in orders)
    return SubmitOrderListReply.refused(Refusal(code, message), records, failed_order)
