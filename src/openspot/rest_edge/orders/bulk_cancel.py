"""Bulk cancels take turns, and go to the order router in bounded pieces.

A user's bulk cancels run one after the other: a second one beside the first would only try the same orders again. A
piece is one call of the engine (`orders.cancel_open`). Few pieces run at once, so the orders of others wait for a few
pieces at most, however many orders somebody cancels.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from openspot.contracts import subjects
from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.refusals import UNCERTAIN
from openspot.http.errors import HttpError
from openspot.kit.bus import Bus, RequestFailedError

WAITING_MAX = 20
"""Bulk cancels of one user that wait for their turn at most."""
PIECES_AT_ONCE = 4
NAMED_MAX = 500
"""Orders that one piece names at most."""
PIECES_MAX = 2_000
"""Pieces of one bulk cancel at most: more orders than a user can have, so only one who keeps placing gets there."""

NOT_SENT = "orders cannot be cancelled at this moment: repeat the request"
UNKNOWN = "no answer in time: look up the order, or repeat the request"


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0


class BulkCancelTurns:
    """Lets one bulk cancel of a user run at a time. The others wait, in the order in which they came."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    @asynccontextmanager
    async def of(self, user_id: str) -> AsyncIterator[None]:
        """Wait for the user's turn and keep it until the block ends. Raises HttpError (409) if too many wait."""
        turn = self._turns.setdefault(user_id, _Turn())
        if turn.callers > WAITING_MAX:
            message = f"{turn.callers} bulk cancels of yours are not finished: wait for their answers"
            raise HttpError(409, message, "BULK_CANCEL_IN_PROGRESS")
        turn.callers += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.callers -= 1
            if not turn.callers:
                del self._turns[user_id]


class OpenOrderCancels:
    """Cancels the open orders of a user, piece by piece."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._pieces = asyncio.Semaphore(PIECES_AT_ONCE)

    async def cancel(self, user_id: str, symbol: str | None, side: str | None, cancelled: list[str]) -> str | None:
        """Cancel until none remains, and append the ids to `cancelled`. Returns why it ended early, or None."""
        return await self._cancel(CancelOpenOrders(user_id, symbol or "", side or ""), cancelled)

    async def cancel_named(self, user_id: str, order_ids: Sequence[str], cancelled: list[str]) -> str | None:
        """Cancel those of `order_ids` that are open, and append their ids to `cancelled`.

        Returns why it ended early, or None.
        """
        for first in range(0, len(order_ids), NAMED_MAX):
            piece = tuple(order_ids[first : first + NAMED_MAX])
            failure = await self._cancel(CancelOpenOrders(user_id, order_ids=piece), cancelled)
            if failure is not None:
                return failure
        return None

    async def _cancel(self, request: CancelOpenOrders, cancelled: list[str]) -> str | None:
        for _ in range(PIECES_MAX):
            try:
                async with self._pieces:
                    reply = await self._bus.request(subjects.ORDERS_CANCEL_OPEN, request, CancelOpenOrdersReply)
            except RequestFailedError as error:
                return UNKNOWN if error.may_have_happened else NOT_SENT
            if not reply.success:
                return UNKNOWN if reply.code is None or reply.code in UNCERTAIN else NOT_SENT
            cancelled.extend(reply.cancelled)
            if not reply.more_remain:
                return None
        return NOT_SENT
