"""Tells users of their filled orders, if they want to hear of them: from the rows, once a second.

Hardly anybody wants it, so no message is made for each filled order: what has been filled is read from the rows of the
router (fill_store.py). All edges do so, one at a time. The notifications and the place among the trades are written in
one transaction: a process that dies leaves all of it to the next one. The id of a notification is made from its order,
so nothing is told twice.
"""

from datetime import timedelta

from openspot.contracts.streams import NOTIFICATIONS
from openspot.engine_client.position import StreamPosition
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.notifications.fill_store import FillPosition, FillStore
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.rules import checked
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError
from openspot.rest_edge.notifications.templates import order_filled

log = get_logger("notifications")

INTERVAL_S = 1.0
"""Every edge looks this often for filled orders: no notification is late by more, while everything is up."""
TRADES_MAX = 1_000
TOLD_MAX = 200
"""One transaction reads at most so many trades, and tells of at most so many orders."""
FIRST_LOOK_BACK = timedelta(hours=1)
"""A journal's position begins so long ago. The release before used a consumer of the bus, which may have left some."""
AGE_MAX = timedelta(seconds=NOTIFICATIONS.age_s_max)
"""What was filled longer ago is told to nobody."""


class FillNotifier:
    """Tells users of their filled orders. Shares `mails` with whatever else mails users about their orders."""

    def __init__(
        self, pool: Pool, store: NotificationStore, fills: FillStore, mails: OrderMails, now: DateClock = utc_now
    ) -> None:
        self._pool = pool
        self._store = store
        self._fills = fills
        self._mails = mails
        self._now = now

    async def tell(self) -> None:
        """Tell of all orders that were filled since the last time. While the outbox is full, they wait."""
        try:
            written = await self._fills.news()
            while written is not None and await self._tell_some(written):
                pass
        except OutboxFullError:
            log.warning("users will be told of filled orders later: the outbox is full")

    async def _tell_some(self, written: StreamPosition) -> bool:
        """Tell of the orders that the next trades filled. Whether there may be more to do."""
        now = self._now()
        mailed: set[str] = set()
        async with self._pool.acquire() as connection, connection.transaction():
            position = await self._fills.lock(written.epoch, now - FIRST_LOOK_BACK, connection)
            if position is None or position.sequence >= written.sequence:
                return False
            trades = await self._fills.fresh_trades(position, written.sequence, TRADES_MAX, connection)
            end = trades.end
            wanting = await self._store.who_wants(NotificationEvent.ORDER_FILLED, trades.accounts, connection)
            if wanting:
                orders = await self._fills.filled_orders(
                    position, end.sequence, wanting, TRADES_MAX, TOLD_MAX, connection
                )
                for order in orders:
                    if now - order.filled_at > AGE_MAX:
                        continue
                    may_mail = order.user_id not in mailed and self._mails.may_mail(order.user_id, now.timestamp())
                    await self._store.add(checked(order_filled(order)), connection, may_mail=may_mail)
                    mailed.add(order.user_id)
                if len(orders) == TOLD_MAX:
                    # The same trade may have filled another order, which comes with the next ones.
                    end = FillPosition(end.epoch, orders[-1].sequence - 1, orders[-1].filled_at)
            await self._fills.note(end, connection)
        if mailed:
            self._mails.note(mailed, now.timestamp())
            self._store.added.set()
        return end.sequence < written.sequence
