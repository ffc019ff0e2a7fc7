"""Placement in batches: one PlaceOrders call at a time. Orders that arrive meanwhile share the next call.

If no call is under way, an order is sent at once. Under load the batches grow. An order that has waited too long is not
sent, because its caller may no longer wait for the reply.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.engine_client.errors import EngineAmbiguousError, EngineError, EngineUnreachableError
from openspot.kit.batching import Batcher, BatcherFullError
from openspot.router.metrics import ENGINE_BATCH_ORDERS, ENGINE_CALL_SECONDS

BATCH_MAX = 500

PlaceOrders = Callable[[Sequence[orders_pb2.PlaceOrderRequest]], Awaitable[list[orders_pb2.PlaceOrderResponse]]]
_PlacementResult = orders_pb2.PlaceOrderResponse | Exception


class _Waiting(NamedTuple):
    order: orders_pb2.PlaceOrderRequest
    deadline: float


class Placements:
    """The orders that wait for the engine, and the call under way."""

    def __init__(self, place_orders: PlaceOrders, *, wait_s_max: float, waiting_max: int) -> None:
        self._place_orders = place_orders
        self._wait_s_max = wait_s_max
        self._batcher: Batcher[_Waiting, orders_pb2.PlaceOrderResponse] = Batcher(
            self._place_all, batch_max=BATCH_MAX, waiting_max=waiting_max
        )

    async def place(self, order: orders_pb2.PlaceOrderRequest) -> orders_pb2.PlaceOrderResponse:
        """Place one order. Raises EngineUnreachableError if it was not sent, otherwise EngineError."""
        try:
            return await self._batcher.submit(_Waiting(order, time.monotonic() + self._wait_s_max))
        except BatcherFullError as error:
            raise EngineUnreachableError("too many orders wait for the matching engine") from error

    async def close(self) -> None:
        """Refuse the waiting orders, and wait for the call under way."""
        await self._batcher.close(EngineUnreachableError("the router is stopping"))

    async def _place_all(self, batch: list[_Waiting]) -> Sequence[_PlacementResult]:
        now = time.monotonic()
        in_time = [waiting.order for waiting in batch if waiting.deadline >= now]
        responses = iter(await self._call(in_time) if in_time else ())
        return [
            next(responses) if waiting.deadline >= now else EngineUnreachableError("the matching engine is busy")
            for waiting in batch
        ]

    async def _call(self, orders: list[orders_pb2.PlaceOrderRequest]) -> Sequence[_PlacementResult]:
        """One response for each order. An error of the call is the outcome of each of its orders."""
        ENGINE_BATCH_ORDERS.observe(len(orders))
        began = time.perf_counter()
        try:
            return await self._place_orders(orders)
        except EngineError as error:
            return [type(error)(*error.args) for _ in orders]
        except Exception as error:
            return [EngineAmbiguousError(repr(error)) for _ in orders]
        finally:
            ENGINE_CALL_SECONDS.observe(time.perf_counter() - began)
