"""The request `orders.replace`: cancel an open order and place another on its symbol, with nothing between.

The engine does both in one commit, so the funds and the client order id of the first are there for the second, and
nobody trades between them. What can be known before, the form of the request and the pre-trade check of the new order,
refuses the whole request: then nothing has changed. What only the engine knows may refuse the second after the first
was cancelled.
"""

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrderReply, ReplaceOrder, ReplaceOrderReply, SubmitOrder
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.router.metrics import REPLACEMENTS
from openspot.router.orders.cancellation import Cancellation, refused_order
from openspot.router.orders.draft import check_ids
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.submission import Submission
from openspot.router.tracked_order import TrackedOrder


class Replacement:
    """Replaces orders in the engine."""

    def __init__(
        self, *, lookup: OrderLookup, submission: Submission, cancellation: Cancellation, engine: EngineCommands
    ) -> None:
        self._lookup = lookup
        self._submission = submission
        self._cancellation = cancellation
        self._engine = engine

    async def replace(self, request: ReplaceOrder) -> ReplaceOrderReply:
        """Reply to `orders.replace`."""
        try:
            check_ids(request.user_id, request.order_id)
            order = await self._lookup.nearest(request.order_id)
            if order is not None and order.user_id == request.user_id and order.symbol != request.order.symbol:
                raise InvalidRequestError(f"symbol must be {order.symbol}, that of the order to be replaced")
        except InvalidRequestError as error:
            REPLACEMENTS.labels("failed").inc()
            return ReplaceOrderReply.refused(error.refusal)
        except EngineError as error:
            REPLACEMENTS.labels("failed").inc()
            return ReplaceOrderReply.refused(Refusal(RefusalCode.UNAVAILABLE, str(error)))
        reply = await self._replaced(request, order)
        is_placed = reply.placed is not None and reply.placed.success
        REPLACEMENTS.labels("replaced" if is_placed else "failed").inc()
        return reply

    async def _replaced(self, request: ReplaceOrder, order: TrackedOrder | None) -> ReplaceOrderReply:
        new = SubmitOrder(request.user_id, request.order, request.deadline)
        refused = refused_order(order, request.order_id, request.user_id)
        if refused is not None or order is None:
            if not request.allow_failure:
                return ReplaceOrderReply(refused, None)
            return ReplaceOrderReply(refused, await self._submission.submit(new))
        responses: list[orders_pb2.CancelOrderResponse] = []

        async def place(engine_order: orders_pb2.PlaceOrderRequest) -> orders_pb2.PlaceOrderResponse:
            response = await self._engine.replace_order(
                order.engine_order_id or 0, engine_order, allow_failure=request.allow_failure
            )
            if response.placed.sequence or response.placed.status != orders_pb2.REJECTED:
                # Else the engine refused the new order before it tried anything.
                responses.append(response.cancelled)
            return response.placed

        placed = await self._submission.submit(new, place)
        if not responses:
            return ReplaceOrderReply(None, placed)
        try:
            cancelled = await self._cancellation.outcome(order, responses[0])
        except EngineError as error:
            cancelled = CancelOrderReply.refused(Refusal(RefusalCode.UNAVAILABLE, str(error)))
        is_stopped = placed.error == ResultCode.REPLACEMENT_NOT_ATTEMPTED.name
        return ReplaceOrderReply(cancelled, None if is_stopped else placed)
