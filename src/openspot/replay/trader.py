"""One user of a replay: places and cancels orders, and counts the results."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from openspot.client import ApiError, OpenSpotClient, Order, UnreachableError
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.replay.plan import CancelCommand, Command, PlaceCommand
from openspot.replay.statistics import Statistics

Result = TypeVar("Result")

THROTTLE_PATIENCE_S = 900.0
"""429 replies may delay one command by this long in all."""
THROTTLE_PAUSE_S = 1.0
"""Pause after a 429 that does not say how long to wait."""
CLARIFY_ATTEMPTS = 20
CLARIFY_PAUSE_S = 0.25
_STATUS_UNKNOWN = "ORDER_STATUS_UNKNOWN"
_FIGURE = re.compile(r"(?<![\w.-])\d+(\.\d+)?(?![\w-])")


def reason_of(message: str) -> str:
    """Replace the figures in a reject reason by "…", so that equal reasons count together."""
    return _FIGURE.sub("…", message)


class ThrottledTooLongError(Exception):
    """The edge throttled a command for too long."""


class Patience:
    """Waits after 429 replies. Calls `on_first` once, before the first wait."""

    def __init__(self, statistics: Statistics, on_first: Callable[[], None]) -> None:
        self._statistics = statistics
        self._on_first = on_first

    async def call(self, request: Callable[[], Awaitable[Result]]) -> Result:
        """Send `request`, and again after each 429, and return its result.

        Raises ThrottledTooLongError, and what `request` raises other than a 429.
        """
        waited_s = 0.0
        while True:
            try:
                return await request()
            except ApiError as error:
                if error.status != 429:
                    raise
                pause_s = error.retry_after_s or THROTTLE_PAUSE_S
                if waited_s + pause_s > THROTTLE_PATIENCE_S:
                    raise ThrottledTooLongError(f"throttled for more than {THROTTLE_PATIENCE_S:g} s") from error
            if not self._statistics.throttle_waits:
                self._on_first()
            self._statistics.throttle_waits += 1
            self._statistics.throttle_wait_s += pause_s
            waited_s += pause_s
            await asyncio.sleep(pause_s)


class Trader:
    """A registered, funded user. The client order id is made of `run_id` and the venue's id."""

    def __init__(
        self, client: OpenSpotClient, user_id: str, symbol: str, run_id: str, patience: Patience, statistics: Statistics
    ) -> None:
        self.client = client
        self.user_id = user_id
        self._symbol = symbol
        self._run_id = run_id
        self._patience = patience
        self._statistics = statistics
        self._orders: dict[str, str] = {}
        self.accepted: set[str] = set()
        """Ids of the orders that the edge said it accepted."""
        self.cancelled: set[str] = set()
        """Ids of the orders that the edge said it cancelled."""

    async def do(self, command: Command) -> None:
        """Carry out one command. Raises ThrottledTooLongError."""
        if isinstance(command, PlaceCommand):
            await self._place(command)
        else:
            await self._cancel(command)

    async def _place(self, command: PlaceCommand) -> None:
        client_order_id = f"{self._run_id}-{command.venue_id}"[:64]
        began = 0.0

        async def send() -> Order:
            nonlocal began
            began = time.perf_counter()
            return await self.client.place_order(
                self._symbol,
                command.side,
                order_type="market" if command.price is None else "limit",
                quantity=command.quantity,
                price=command.price,
                client_order_id=client_order_id,
            )

        self._statistics.orders_sent += 1
        try:
            order = await self._patience.call(send)
        except ApiError as error:
            self._note_latency(began)
            if error.code == _STATUS_UNKNOWN:
                order_id = error.details.get("orderId")
                await self._clarify(command, lambda: self._order_by_id(order_id), error.code)
            elif error.status == 400:
                self._statistics.orders_rejected[reason_of(error.message)] += 1
            else:
                self._statistics.orders_unclear[f"{error.status} {error.code}"] += 1
        except UnreachableError:
            await self._clarify(command, lambda: self._order_by_client_id(client_order_id), "no answer")
        else:
            self._note_latency(began)
            self._note_accepted(command, order)

    def _note_latency(self, began: float) -> None:
        self._statistics.latencies_s.append(time.perf_counter() - began)

    def _note_accepted(self, command: PlaceCommand, order: Order) -> None:
        self._statistics.orders_accepted += 1
        self._orders[command.venue_id] = order.order_id
        self.accepted.add(order.order_id)

    async def _clarify(self, command: PlaceCommand, ask: Callable[[], Awaitable[Order | None]], reason: str) -> None:
        """Find out what became of an order whose reply was lost."""
        order = await self._ask_until(ask, lambda _: True)
        if order is None:
            self._statistics.orders_unclear[reason] += 1
        elif order.status == OrderStatus.REJECTED:
            self._statistics.orders_rejected[reason_of(order.reject_reason or order.status)] += 1
        else:
            self._note_accepted(command, order)

    async def _ask_until(
        self, ask: Callable[[], Awaitable[Order | None]], enough: Callable[[Order], bool]
    ) -> Order | None:
        """Call `ask` until its result is `enough`, at most a fixed number of times. Returns None if it never is."""
        for _ in range(CLARIFY_ATTEMPTS):
            try:
                order = await self._patience.call(ask)
            except (ApiError, UnreachableError):
                order = None
            if order is not None and enough(order):
                return order
            await asyncio.sleep(CLARIFY_PAUSE_S)
        return None

    async def _order_by_id(self, order_id: str | None) -> Order | None:
        return await self.client.order(order_id) if order_id else None

    async def _order_by_client_id(self, client_order_id: str) -> Order | None:
        page = await self.client.orders(client_order_id=client_order_id, limit=1)
        return page.entries[0] if page.entries else None

    async def _cancel(self, command: CancelCommand) -> None:
        order_id = self._orders.pop(command.venue_id, None)
        if order_id is None:
            self._statistics.cancels_without_order += 1
            return
        self._statistics.cancels_sent += 1
        try:
            await self._patience.call(lambda: self.client.cancel_order(order_id))
        except ApiError as error:
            if error.status == 409:
                self._statistics.cancels_too_late += 1
            elif error.code == _STATUS_UNKNOWN:
                await self._clarify_cancel(order_id, error.code)
            else:
                self._statistics.cancels_failed[f"{error.status} {error.code}"] += 1
        except UnreachableError:
            await self._clarify_cancel(order_id, "no answer")
        else:
            self._note_cancelled(order_id)

    def _note_cancelled(self, order_id: str) -> None:
        self._statistics.cancels_done += 1
        self.cancelled.add(order_id)

    async def _clarify_cancel(self, order_id: str, reason: str) -> None:
        """Find out what became of a cancel whose reply was lost. If the order stays open, the cancel failed."""
        order = await self._ask_until(lambda: self._order_by_id(order_id), lambda seen: seen.status in TERMINAL)
        if order is None:
            self._statistics.cancels_failed[reason] += 1
        elif order.status == OrderStatus.CANCELLED:
            self._note_cancelled(order_id)
        else:
            self._statistics.cancels_too_late += 1
