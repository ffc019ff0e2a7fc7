"""Judges price alerts: by every trade that market data has recorded, and by the fair prices once a second.

All edges do so, one at a time for a market. What became of an alert, its notification and the place among the trades
are written in one transaction: a process that dies leaves all of it to the next one, and nothing is told twice. Trades
are read after the place that is kept, so those of a pause are judged too. A fair price is judged as it is now: one that
is stale or in dispute fires nothing.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from openspot.contracts.messages import SendNotification
from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.model import FairPrice
from openspot.domain.money import AMOUNT_PLACES
from openspot.kit.clock import DateClock, ms_from_datetime, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.alerts.rules import Observation, judged, notification_text
from openspot.rest_edge.alerts.store import Alert, AlertStore, TradePosition
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError

log = get_logger("alerts")

INTERVAL_S = 1.0
"""Every edge looks this often for trades and fair prices: no alert is late by more, while everything is up."""
TRADES_MAX = 1_000
ALERTS_MAX = 200
"""One transaction judges at most so many alerts by at most so many trades."""
MAIL_GAP_S = 60.0
"""After a mail about an alert, the user's alerts of this time come on the screen only."""
MAILED_USERS_MAX = 10_000
NOTIFICATION_KIND = "price.alert"


class AlertJudge:
    """Judges the alerts of all markets. `fair_prices` returns the fair prices by symbol, as they are now."""

    def __init__(
        self,
        pool: Pool,
        store: AlertStore,
        notifications: NotificationStore,
        fair_prices: Callable[[], Mapping[str, FairPrice]],
        now: DateClock = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = pool
        self._store = store
        self._notifications = notifications
        self._fair_prices = fair_prices
        self._now = now
        self._monotonic = monotonic
        self._mailed: dict[str, float] = {}
        """The time of the last mail about an alert, by user."""

    async def judge(self) -> None:
        """Judge all trades that are not judged yet, and the fair prices. While the outbox is full, alerts wait."""
        try:
            for symbol in await self._store.markets_with_news():
                while await self._judge_trades(symbol):
                    pass
            await self._judge_fair_prices()
        except OutboxFullError:
            log.warning("alerts will be judged later: the outbox is full")

    async def _judge_trades(self, symbol: str) -> bool:
        """Judge some alerts of a market by the next trades. Whether there may be more to do."""
        mailed: set[str] = set()
        async with self._pool.acquire() as connection, connection.transaction():
            position = await self._store.lock(symbol, connection)
            if position is None:
                return False
            trades = await self._store.trades_after(symbol, position, TRADES_MAX, connection)
            if not trades:
                return False
            end = TradePosition(at=trades[-1].at, sequence=trades[-1].sequence)
            alerts = await self._store.reached(symbol, PriceReference.LAST_TRADE, trades, ALERTS_MAX, connection)
            await lock_users(connection, [alert.user_id for alert in alerts])
            for alert in alerts:
                seen = alert.seen.at, alert.seen.sequence
                counted = [trade for trade in trades if (trade.at, trade.sequence) > seen]
                await self._judge_alert(alert, counted, end, mailed, connection)
            is_done = len(alerts) < ALERTS_MAX
            if is_done:
                await self._store.note_market(symbol, end, connection)
        self._note_told(mailed)
        return not is_done or len(trades) == TRADES_MAX

    async def _judge_fair_prices(self) -> None:
        usable = {
            symbol: Decimal(price.price).scaleb(-AMOUNT_PLACES)
            for symbol, price in self._fair_prices().items()
            if price.state.is_usable
        }
        for symbol in await self._store.markets_reached(usable, self._now()):
            mailed: set[str] = set()
            async with self._pool.acquire() as connection, connection.transaction():
                if await self._store.lock(symbol, connection) is None:
                    continue
                seen = Observation(usable[symbol], self._now(), 0)
                alerts = await self._store.reached(symbol, PriceReference.FAIR_PRICE, [seen], ALERTS_MAX, connection)
                await lock_users(connection, [alert.user_id for alert in alerts])
                for alert in alerts:
                    await self._judge_alert(alert, [seen], alert.seen, mailed, connection)
            self._note_told(mailed)

    async def _judge_alert(
        self, alert: Alert, counted: Sequence[Observation], end: TradePosition, mailed: set[str], connection: Connection
    ) -> None:
        progress, firings = judged(alert.definition, alert.progress, counted)
        for number, firing in enumerate(firings, start=alert.times_fired + 1):
            user_id = alert.user_id
            may_mail = user_id not in mailed and self._may_mail(user_id)
            told = SendNotification(
                f"{NOTIFICATION_KIND}:{alert.alert_id}:{number}",
                user_id,
                NOTIFICATION_KIND,
                f"Price alert: {alert.definition.symbol}",
                notification_text(alert.definition, firing),
                ms_from_datetime(firing.at),
            )
            await self._notifications.add(told, connection, may_mail=may_mail)
            mailed.add(user_id)
        await self._store.note_judged(alert, progress, firings, end, connection)

    def _may_mail(self, user_id: str) -> bool:
        return self._monotonic() - self._mailed.get(user_id, float("-inf")) >= MAIL_GAP_S

    def _note_told(self, user_ids: set[str]) -> None:
        """The transaction that told these users is committed."""
        if not user_ids:
            return
        self._notifications.added.set()
        if len(self._mailed) >= MAILED_USERS_MAX:
            self._mailed.clear()
        now_s = self._monotonic()
        for user_id in user_ids:
            if self._may_mail(user_id):
                self._mailed[user_id] = now_s
