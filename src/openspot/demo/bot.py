"""The common part of maker and taker: a user's session, balances, orders, and a new begin after a failure."""

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from openspot.client import ApiError, OpenSpotClient, OpenSpotError, Order
from openspot.demo.inventory import InventoryTarget, imbalances
from openspot.demo.market import DemoMarket, QuoteSide
from openspot.demo.metrics import CANCELS, FAILURES, IMBALANCE, ORDERS, REFUSALS
from openspot.demo.treasury import Treasury
from openspot.domain.order import TERMINAL, OrderStatus
from openspot.kit.backoff import Backoff
from openspot.kit.bus import BusError
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within
from openspot.rest_edge.common.demo_account_names import DemoAccount

log = get_logger("demo")

PAUSE_S_MIN, PAUSE_S_MAX = 0.5, 15.0
"""The shortest and the longest pause before a bot begins again."""
FUNDS_PAUSE_S = 0.25
SWEEPS_MAX = 5
ORDERS_PAGE = 500
STILL_OPEN = ",".join(status.value for status in OrderStatus if status not in TERMINAL)
CLOSED_S = 15.0
"""For this long bots leave a market alone whose phase has refused an order."""
PHASE_PREFIX = "PHASE_"
"""Codes of refusals for the phase of a market begin with this."""
UNAUTHORIZED, NOT_FOUND, CONFLICT, REJECTED = 401, 404, 409, 400
_ID_BYTES = 4


class NotReadyError(Exception):
    """A bot cannot trade yet. The message says why."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The markets, prices and targets that bots share. `mids` changes while they run."""

    markets: tuple[DemoMarket, ...]
    mids: Mapping[str, Decimal]
    dollars: Mapping[str, Decimal]
    """The usual price of each asset in US dollars. Sizes follow from it."""
    targets: Mapping[str, InventoryTarget]
    treasury: Treasury
    closed: dict[str, float] = field(default_factory=dict)
    """Markets whose phase has refused an order → the loop's time until which nobody tries again."""


class StoppedError(Exception):
    """The bot was told to stop."""


class Bot(ABC):
    """A user that trades by rules until `stop` is set; `end` then takes its orders out of the books.

    After any failure it pauses, cancels the orders that it may have left, and begins again. So it needs no memory, and
    the orders of a killed process are cancelled too.
    """

    name = ""

    def __init__(
        self,
        client: OpenSpotClient,
        account: DemoAccount,
        password: str,
        surroundings: Surroundings,
        stop: asyncio.Event,
    ) -> None:
        self._client = client
        self._account = account
        self._password = password
        self._around = surroundings
        self._stop = stop
        self._has_session = False
        self._backoff = Backoff(PAUSE_S_MIN, PAUSE_S_MAX)
        self._life = secrets.token_hex(_ID_BYTES)
        self._orders_sent = 0
        self._last_success: float | None = None
        self._problem = "it has not traded yet"

    async def run(self) -> None:
        """Trade until `stop` is set. No request is under way when it returns."""
        try:
            while True:
                await self._try_to_trade()
        except StoppedError:
            return

    async def _try_to_trade(self) -> None:
        """Trade until something fails, then pause."""
        try:
            await self._begin()
            await self._trade()
        except (OpenSpotError, BusError, NotReadyError) as error:
            self._problem = str(error)
            FAILURES.labels(self.name).inc()
            if isinstance(error, ApiError) and error.status == UNAUTHORIZED:
                self._has_session = False
            log.warning("begins again after a pause", bot=self.name, reason=str(error))
            pause_s = self._backoff.failed()
            if isinstance(error, ApiError):
                pause_s = max(pause_s, error.retry_after_s or 0.0)
            await self._pause(pause_s)

    def check(self, silence_s_max: float) -> None:
        """Raise NotReadyError if the bot has done nothing for `silence_s_max` seconds."""
        now = asyncio.get_running_loop().time()
        if self._last_success is None or now - self._last_success > silence_s_max:
            raise NotReadyError(f"{self.name}: {self._problem}")

    async def clear(self) -> None:
        """Cancel all orders of the account. Raises OpenSpotError, NotReadyError if some stay."""
        for _ in range(SWEEPS_MAX):
            done = await self._client.cancel_orders()
            CANCELS.labels(self.name).inc(len(done.cancelled))
            if not (await self._client.orders(status=STILL_OPEN, limit=1)).entries:
                return
        raise NotReadyError("orders of the account stay open")

    async def end(self) -> None:
        """Take the orders out of the books and end the session. Raises OpenSpotError, NotReadyError."""
        if self._has_session:
            await self.clear()
            await self._client.logout()

    async def _pause(self, seconds: float) -> None:
        """Sleep. Raises StoppedError once the bot is to stop."""
        if await is_set_within(self._stop, seconds):
            raise StoppedError

    async def _open_orders(self) -> list[Order]:
        """The account's orders that have not ended."""
        found: list[Order] = []
        cursor: str | None = None
        while True:
            page = await self._client.orders(status=STILL_OPEN, limit=ORDERS_PAGE, cursor=cursor)
            found += page
            cursor = page.next_cursor
            if cursor is None:
                return found

    @abstractmethod
    async def _trade(self) -> None:
        """Trade for ever, and call `_succeeded` now and then. Raises OpenSpotError, BusError, StoppedError."""

    async def _begin(self) -> None:
        if not self._has_session:
            try:
                await self._client.login(self._account.email, self._password)
            except ApiError as error:
                if error.status != UNAUTHORIZED:
                    raise
                raise NotReadyError(
                    f"{self._account.email} cannot log in: the REST edge keeps this account where OPENSPOT_DEMO is "
                    "true, with the password in OPENSPOT_DEMO_PASSWORD"
                ) from error
            self._has_session = True
        await self.clear()
        totals = await self._totals()
        await self._around.treasury.fund(self._account.user_id, totals)
        while not self._around.treasury.is_funded(totals):
            self._problem = "it waits for its funds"
            await self._pause(FUNDS_PAUSE_S)
            totals = await self._totals()

    async def _totals(self) -> dict[str, Decimal]:
        return {balance.asset: balance.total for balance in await self._client.balances()}

    async def _imbalances(self) -> dict[str, Decimal]:
        """The imbalance of each asset now. Also asks for funds in place of those that fees have used up."""
        totals = await self._totals()
        await self._around.treasury.fund(self._account.user_id, totals)
        found = imbalances(totals, self._around.targets)
        for asset, imbalance in found.items():
            IMBALANCE.labels(self.name, asset).set(float(imbalance))
        return found

    def _succeeded(self) -> None:
        self._backoff.succeeded()
        self._problem = "it has stopped trading"
        self._last_success = asyncio.get_running_loop().time()

    async def _place(self, market: DemoMarket, side: QuoteSide, price: Decimal, quantity: Decimal) -> Order | None:
        """Place an order. Returns it as it was accepted, or None if it was refused."""
        self._orders_sent += 1
        try:
            order = await self._client.place_order(
                market.symbol,
                side,
                quantity=quantity,
                price=price,
                client_order_id=f"{self.name}-{self._life}-{self._orders_sent}",
            )
        except ApiError as error:
            if error.code.startswith(PHASE_PREFIX):
                # The market is halted, or trades an auction this moment. The others go on.
                self._around.closed[market.symbol] = asyncio.get_running_loop().time() + CLOSED_S
                self._note_refusal(error, error.status)
            else:
                self._note_refusal(error, REJECTED)
            return None
        self._around.closed.pop(market.symbol, None)
        ORDERS.labels(self.name).inc()
        return order

    def _is_closed(self, market: DemoMarket) -> bool:
        """Whether a market has just refused an order for its phase."""
        return self._around.closed.get(market.symbol, 0.0) > asyncio.get_running_loop().time()

    async def _cancel(self, order_id: str) -> None:
        try:
            await self._client.cancel_order(order_id)
        except ApiError as error:
            # Filled or cancelled meanwhile.
            self._note_refusal(error, NOT_FOUND, CONFLICT)
        else:
            CANCELS.labels(self.name).inc()

    @staticmethod
    async def _all(calls: Iterable[Coroutine[Any, Any, object]]) -> None:
        """Make all calls side by side, and wait for all of them. Then raises the first error."""
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    def _note_refusal(self, error: ApiError, *expected: int) -> None:
        """Count a refusal. Raises `error` if its status is not among the expected ones."""
        REFUSALS.labels(self.name, error.code).inc()
        if error.status not in expected:
            raise error
        log.debug("refused", bot=self.name, code=error.code, reason=error.message)
