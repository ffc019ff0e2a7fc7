"""The taker: trades against the book now and then on every market."""

import asyncio
import heapq
import random
from decimal import Decimal

from openspot.client import OpenSpotClient
from openspot.demo.bot import Bot, Surroundings
from openspot.demo.inventory import appetite
from openspot.demo.market import DemoMarket
from openspot.demo.taking import pause_s, take
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.rest_edge.common.demo_account_names import DEMO_TAKER

BEGIN_S = 0.1
FIRST_TAKES_S = 1.5
"""Every market gets its first trade within this time after the first quotes."""
POLL_INTERVAL_S = 5.0
"""The taker looks this often at its balances, and for orders that a lost reply has left."""


class Taker(Bot):
    """Takes from each market about once in `take_s`. The unfilled rest of an order is cancelled at once."""

    name = DEMO_TAKER.user_id

    def __init__(
        self,
        client: OpenSpotClient,
        password: str,
        surroundings: Surroundings,
        stop: asyncio.Event,
        *,
        take_dollars: Decimal,
        take_s: float,
        reach_bps: Decimal,
        begin: asyncio.Event,
        chance: random.Random,
    ) -> None:
        """The taker waits for `begin`: without quotes there is nothing to take."""
        super().__init__(client, DEMO_TAKER, password, surroundings, stop)
        self._take_dollars = take_dollars
        self._take_s = take_s
        self._reach_bps = reach_bps
        self._begin_taking = begin
        self._chance = chance

    async def _trade(self) -> None:
        while not self._begin_taking.is_set():
            await self._pause(BEGIN_S)
        clock = asyncio.get_running_loop().time
        markets = self._around.markets
        due = [(clock() + FIRST_TAKES_S * place / len(markets), place) for place in range(len(markets))]
        looked, imbalance = clock(), await self._imbalances()
        while True:
            at, place = heapq.heappop(due)
            await self._pause(max(0.0, at - clock()))
            if clock() - looked > POLL_INTERVAL_S:
                looked, imbalance = clock(), await self._imbalances()
                for order in await self._open_orders():
                    await self._cancel(order.order_id)
            await self._take(markets[place], imbalance)
            self._succeeded()
            heapq.heappush(due, (clock() + pause_s(self._take_s, self._chance), place))

    async def _take(self, market: DemoMarket, imbalance: dict[str, Decimal]) -> None:
        wanted = take(
            market,
            self._around.mids[market.symbol],
            appetite(imbalance[market.base], imbalance[market.quote]),
            self._take_dollars / self._around.dollars[market.base],
            self._reach_bps,
            self._chance,
        )
        if wanted is None:
            return
        order = await self._place(market, wanted.side, wanted.price, wanted.quantity)
        if order is not None and OrderStatus(order.status) not in TERMINAL:
            await self._cancel(order.order_id)
