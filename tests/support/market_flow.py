"""Order flow for markets of a test, made with `openspot.client`: quotes around a price, and trades against them."""

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

from openspot.client import ApiError, OpenSpotClient
from openspot.kit.tasks import end_tasks
from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import credit

LEVELS = 4


@dataclass(frozen=True)
class FlowMarket:
    """A market that trades: prices move between `price` and `price` + 8 × `step`, a step at a time."""

    symbol: str
    price: Decimal
    step: Decimal
    quantity: Decimal
    """What one level offers; a trade takes a tenth of it."""


@dataclass
class FlowUser:
    """A user with a session."""

    user_id: str
    client: OpenSpotClient

    async def fund(self, platform: ChildPlatform, **amounts: str) -> None:
        """Deposit at once, without a chain."""
        for asset, amount in amounts.items():
            await credit(platform, self.user_id, asset, amount)


@asynccontextmanager
async def flow_user(platform: ChildPlatform) -> AsyncIterator[FlowUser]:
    """A new user."""
    email, password = f"{secrets.token_hex(6)}@flow.example", secrets.token_urlsafe(16)
    async with OpenSpotClient(platform.settings.rest_url, platform.settings.ws_url) as client:
        user = await client.register(email, password)
        await client.login(email, password)
        yield FlowUser(user.user_id, client)


class MarketFlow:
    """A maker who quotes and a taker who trades, in each market once a `pause_s`."""

    def __init__(self, maker: OpenSpotClient, taker: OpenSpotClient, pause_s: float) -> None:
        self._maker = maker
        self._taker = taker
        self._pause_s = pause_s
        self.trades = 0

    async def run(self, market: FlowMarket) -> None:
        """Keep a market going until cancelled."""
        resting: list[str] = []
        for round_number in itertools.count():
            # Up eight steps and down again, so that a day's prices stay within a percent.
            phase = round_number % 16
            middle = market.price + market.step * min(phase, 16 - phase)
            placed = [
                await self._maker.place_order(market.symbol, side, quantity=market.quantity, price=price)
                for level in range(1, LEVELS + 1)
                for side, price in (
                    ("sell", middle + market.step * level / 2), ("buy", middle - market.step * level / 2),
                )
            ]  # fmt: skip
            for order_id in resting:
                await self._cancel(order_id)
            resting = [order.order_id for order in placed]
            side = "buy" if round_number % 2 else "sell"
            await self._taker.place_order(
                market.symbol, side, quantity=market.quantity / 10,
                price=middle + market.step * (LEVELS if side == "buy" else -LEVELS),
            )  # fmt: skip
            self.trades += 1
            await asyncio.sleep(self._pause_s)

    async def _cancel(self, order_id: str) -> None:
        try:
            await self._maker.cancel_order(order_id)
        except ApiError as error:
            # It was filled meanwhile.
            if error.code != "ORDER_NOT_OPEN":
                raise


@asynccontextmanager
async def market_flow(
    platform: ChildPlatform, markets: list[FlowMarket], funds: dict[str, str], pause_s: float
) -> AsyncIterator[MarketFlow]:
    """Markets that trade while the block runs. Fails if the flow does."""
    async with AsyncExitStack() as stack:
        maker, taker = [await stack.enter_async_context(flow_user(platform)) for _ in range(2)]
        await asyncio.gather(maker.fund(platform, **funds), taker.fund(platform, **funds))
        flow = MarketFlow(maker.client, taker.client, pause_s)
        tasks = [asyncio.create_task(flow.run(market)) for market in markets]
        try:
            yield flow
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            await end_tasks(*tasks)
