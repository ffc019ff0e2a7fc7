"""The market maker: keeps quotes on both sides of every market."""

import asyncio
from datetime import datetime
from decimal import Decimal

from openspot.client import OpenSpotClient, Order
from openspot.demo.bot import Bot, Surroundings
from openspot.demo.inventory import appetite
from openspot.demo.market import DemoMarket, QuoteSide
from openspot.demo.quoting import QuotingRules, StandingOrder, changes, quotes
from openspot.kit.clock import utc_now
from openspot.rest_edge.common.demo_account_names import DEMO_MAKER


class Maker(Bot):
    """Renews the quotes of every market once in `refresh_s`, market after market, so that requests come evenly."""

    name = DEMO_MAKER.user_id

    def __init__(
        self,
        client: OpenSpotClient,
        password: str,
        surroundings: Surroundings,
        stop: asyncio.Event,
        rules: QuotingRules,
        *,
        level_dollars: Decimal,
        refresh_s: float,
    ) -> None:
        super().__init__(client, DEMO_MAKER, password, surroundings, stop)
        self._rules = rules
        self._level_dollars = level_dollars
        self._refresh_s = refresh_s
        self.quoting = asyncio.Event()
        """Set once every market has had its first quotes."""

    async def _trade(self) -> None:
        pause_s = 0.0
        while True:
            totals, standing = await asyncio.gather(self._imbalances(), self._standing())
            for market in self._around.markets:
                await self._quote(market, totals, standing.get(market.symbol, []))
                await self._pause(pause_s)
            self._succeeded()
            self.quoting.set()
            # The first round does not wait between markets.
            pause_s = self._refresh_s / len(self._around.markets)

    async def _standing(self) -> dict[str, list[StandingOrder]]:
        found: dict[str, list[StandingOrder]] = {}
        for order in await self._open_orders():
            if order.price is not None:
                found.setdefault(order.symbol, []).append(_open_order(order, order.price, utc_now()))
        return found

    async def _quote(self, market: DemoMarket, imbalance: dict[str, Decimal], standing: list[StandingOrder]) -> None:
        mid = self._around.mids[market.symbol]
        size = self._level_dollars / self._around.dollars[market.base]
        wanted = quotes(market, mid, appetite(imbalance[market.base], imbalance[market.quote]), size, self._rules)
        todo = changes(mid, wanted, standing, self._rules)
        # Cancel first: a new quote must not meet an old one of our own.
        await self._all(self._cancel(order_id) for order_id in todo.cancel)
        if self._is_closed(market):
            return
        # Where the phase has refused an order, the first one tries alone whether the market takes orders again.
        first = todo.place[:1] if market.symbol in self._around.closed else ()
        for quote in first:
            if await self._place(market, quote.side, quote.price, quote.quantity) is None:
                return
        rest = todo.place[len(first) :]
        await self._all(self._place(market, quote.side, quote.price, quote.quantity) for quote in rest)


def _open_order(order: Order, price: Decimal, now: datetime) -> StandingOrder:
    age_s = (now - order.created_at).total_seconds()
    return StandingOrder(order.order_id, QuoteSide(order.side), price, order.remaining_quantity, age_s)
