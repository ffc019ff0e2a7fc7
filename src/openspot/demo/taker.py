"""The takers: they trade against the book now and then on every market."""

import asyncio
import heapq
import random
from decimal import Decimal
from typing import NamedTuple

from openspot.client import OpenSpotClient
from openspot.demo.bot import Bot, Surroundings
from openspot.demo.inventory import appetite
from openspot.demo.market import DemoMarket
from openspot.demo.taking import pause_s, take
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.rest_edge.common.demo_account_names import DEMO_TAKERS

BEGIN_S = 0.1
FIRST_TAKES_S = 1.5
"""Every market gets its first trade within this time after the first quotes."""
POLL_INTERVAL_S = 5.0
"""One of the takers looks this often at its balances, and for orders that a lost reply has left."""


class Turn(NamedTuple):
    """The place of a taker among those that share the takes. Together they take as often as one alone would."""

    place: int
    takers: int


class Taker(Bot):
    """All takers together take from each market about once in `take_s`.

    The unfilled rest of an order is cancelled at once.
    """

    def __init__(
        self,
        client: OpenSpotClient,
        password: str,
        surroundings: Surroundings,
        stop: asyncio.Event,
        *,
        turn: Turn,
        take_dollars: Decimal,
        take_s: float,
        reach_bps: Decimal,
        begin: asyncio.Event,
        chance: random.Random,
    ) -> None:
        """The taker waits for `begin`: without quotes there is nothing to take."""
        account = DEMO_TAKERS[turn.place]
        super().__init__(client, account, password, surroundings, stop)
        self.name = account.user_id
        self._first_s = take_s * turn.place
        self._poll_s = POLL_INTERVAL_S * turn.takers
        self._take_dollars = take_dollars
        self._take_s = take_s * turn.takers
        self._reach_bps = reach_bps
        self._begin_taking = begin
        self._chance = chance

    async def _trade(self) -> None:
        while not self._begin_taking.is_set():
            await self._pause(BEGIN_S)
        clock = asyncio.get_running_loop().time
        markets = self._around.markets
        first = clock() + self._first_s
        due = [(first + FIRST_TAKES_S * place / len(markets), place) for place in range(len(markets))]
        looked, imbalance = clock(), await self._imbalances()
        while True:
            at, place = heapq.heappop(due)
            await self._pause(max(0.0, at - clock()))
            if clock() - looked > self._poll_s:
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
        if wanted is None or self._is_closed(market):
            return
        order = await self._place(market, wanted.side, wanted.price, wanted.quantity)
        if order is not None and OrderStatus(order.status) not in TERMINAL:
            await self._cancel(order.order_id)
