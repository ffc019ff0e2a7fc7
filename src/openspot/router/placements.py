"""Placement in batches: one PlaceOrders call under way at a time, what arrives meanwhile goes into the next.

No wait when idle, large batches under load (design section 6). An order that has waited too long is given up
unsent, so that none reaches the engine after its caller has stopped listening.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.router.engine_client import EngineAmbiguousError, EngineError, EngineUnreachableError
from openspot.router.metrics import ENGINE_BATCH_ORDERS, ENGINE_CALL_SECONDS

BATCH_MAX = 500

PlaceOrders = Callable[[Sequence[orders_pb2.PlaceOrderRequest]], Awaitable[list[orders_pb2.PlaceOrderResponse]]]
_Waiting = tuple[orders_pb2.PlaceOrderRequest, asyncio.Future[orders_pb2.PlaceOrderResponse], float]


class Placements:
    """The orders that wait for the engine, and the one call under way."""

    def __init__(self, place_orders: PlaceOrders, *, wait_s_max: float, waiting_max: int) -> None:
        self._place_orders = place_orders
        self._wait_s_max = wait_s_max
        self._waiting_max = waiting_max
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def place(self, order: orders_pb2.PlaceOrderRequest) -> orders_pb2.PlaceOrderResponse:
        """Place one order. Raises EngineUnreachableError if it was not sent, else EngineError."""
        if len(self._waiting) >= self._waiting_max:
            raise EngineUnreachableError("too many orders wait for the matching engine")
        future: asyncio.Future[orders_pb2.PlaceOrderResponse] = asyncio.get_running_loop().create_future()
        self._waiting.append((order, future, time.monotonic() + self._wait_s_max))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await future

    async def close(self) -> None:
        """Give up what waits, after the call under way has ended."""
        while self._waiting:
            _, future, _ = self._waiting.popleft()
            _fail(future, EngineUnreachableError("the router is stopping"))
        if self._worker is not None:
            await self._worker

    async def _work(self) -> None:
        while self._waiting:
            batch = self._next_batch()
            if batch:
                await self._send(batch)

    def _next_batch(self) -> list[_Waiting]:
        now = time.monotonic()
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < BATCH_MAX:
            waiting = self._waiting.popleft()
            if waiting[2] < now:
                _fail(waiting[1], EngineUnreachableError("the matching engine is busy"))
            elif not waiting[1].done():
                batch.append(waiting)
        return batch

    async def _send(self, batch: list[_Waiting]) -> None:
        ENGINE_BATCH_ORDERS.observe(len(batch))
        began = time.perf_counter()
        try:
            answers = await self._place_orders([order for order, _, _ in batch])
        except EngineError as error:
            for _, future, _ in batch:
                _fail(future, error)
        except Exception as error:
            for _, future, _ in batch:
                _fail(future, EngineAmbiguousError(repr(error)))
        else:
            for (_, future, _), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
        finally:
            ENGINE_CALL_SECONDS.observe(time.perf_counter() - began)


def _fail(future: asyncio.Future[orders_pb2.PlaceOrderResponse], error: EngineError) -> None:
    if not future.done():
        future.set_exception(type(error)(*error.args))
