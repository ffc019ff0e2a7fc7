"""A market with margin: engine, router, ledger, fair prices, a lending pool, and a client of the margin service."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CloseMarginPosition,
    GetMarginAccount,
    GetMarginLevel,
    MarginAccount,
    MarginLevelReply,
    MarginReply,
    OpenMarginPosition,
    ReduceMarginPositions,
    RepayMargin,
    TransferCollateral,
)
from openspot.domain.margin_offer import margin_offer
from openspot.domain.market import load_markets
from openspot.domain.money import parse_decimal, to_amount
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.commands import EngineCommands, TransferOutcome
from openspot.engine_client.queries import EngineQueries
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.margin.dependencies import Dependencies
from openspot.margin.liquidator import Liquidator
from openspot.margin.loans import Loans
from openspot.margin.marks import MarkPriceCache
from openspot.margin.orders import OrderUndecidedError
from openspot.margin.positions import Positions
from tests.support.databases import TestDatabases
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.fixtures import platform_settings
from tests.support.in_process_platform import running
from tests.support.mirrored_market import METADATA, MirroredMarket
from tests.support.own_bus import own_bus
from tests.support.ports import free_port
from tests.support.waiting import eventually

MIRRORS = ("engine", "router", "ledger")
ORDER_IDS_FROM = 10**12


class MarginMarket(MirroredMarket):
    """A market on which margin accounts trade, and requests to the margin service."""

    def __init__(
        self, settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, prices: FakeFairPrices
    ) -> None:
        super().__init__(settings, bus, pool, engine)
        self.prices = prices
        self._requests = itertools.count(1)

    async def fund_house(self, **amounts: str) -> None:
        """Deposit into the lending pool, and 1 USD into the insurance account."""
        for asset, amount in (amounts or {"USD": "50000", "BTC": "50"}).items():
            await self.deposit("house:lending", asset, amount)
        await self.deposit("house:insurance", "USD", "1")
        await eventually(self._house_is_funded)

    async def _house_is_funded(self) -> bool:
        return bool(await self.engine.balances("house:insurance"))

    async def place(self, side: str, price: str, quantity: str, user: str) -> int:
        """Place an order in the engine, with an id that the router, which places orders too, does not reach."""
        number = ORDER_IDS_FROM + next(self._serial)
        placed = await self.engine.place(side, price, quantity, user, order_id=number, metadata=METADATA)
        assert placed.result_code == "SUCCESS", placed
        return number

    async def trade_at(self, price: str, quantity: str = "0.01") -> None:
        """Let bob and carol trade at `price`, wait until the router has written it, and make it the fair price."""
        await self.print_at(price, quantity)
        await self.prices.publish("BTC-USD", price)

    async def print_at(self, price: str, quantity: str = "0.01") -> None:
        """Let bob and carol trade at `price`, and wait until the router has written it. The fair price stays."""
        written = "SELECT count(*) FROM trades"
        before = await self.pool.fetchval(written)
        await self.place("buy", price, quantity, "bob")
        await self.place("sell", price, quantity, "carol")

        async def is_known() -> bool:
            return bool(await self.pool.fetchval(written) > before)

        await eventually(is_known)

    async def ask(self, subject: str, message: Any, reply_type: Any = MarginReply) -> Any:
        """The reply to a request."""
        return await self.bus.request(subject, message, reply_type, 30)

    def request_id(self) -> str:
        """A new request id."""
        return f"request-{next(self._requests)}"

    async def move(self, user: str, amount: str, direction: str = "in", asset: str = "USD") -> MarginReply:
        """Move collateral."""
        message = TransferCollateral(self.request_id(), user, asset, amount, direction)
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_TRANSFER, message)
        return reply

    async def open(
        self, user: str, side: str, quantity: str, leverage: str, request_id: str | None = None
    ) -> MarginReply:
        """Open a position on BTC-USD."""
        message = OpenMarginPosition(request_id or self.request_id(), user, "BTC-USD", side, quantity, leverage)
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_OPEN, message)
        return reply

    async def borrow(self, user: str, amount: str, asset: str = "USD", request_id: str | None = None) -> MarginReply:
        """Borrow."""
        message = BorrowMargin(request_id or self.request_id(), user, asset, amount)
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_BORROW, message)
        return reply

    async def repay(self, user: str, loan_id: str, amount: str | None = None) -> MarginReply:
        """Repay."""
        reply: MarginReply = await self.ask(
            subjects.RISK_MARGIN_REPAY, RepayMargin(self.request_id(), user, loan_id, amount)
        )
        return reply

    async def close(
        self, user: str, position_id: str | None = None, quantity: str | None = None, request_id: str | None = None
    ) -> MarginReply:
        """Close a position or a part of it, or the account."""
        message = CloseMarginPosition(request_id or self.request_id(), user, position_id, quantity)
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_CLOSE, message)
        return reply

    async def reduce(
        self, user: str, side: str, quantity: str | None = None, request_id: str | None = None
    ) -> MarginReply:
        """Trade positions of BTC-USD back."""
        message = ReduceMarginPositions(request_id or self.request_id(), user, "BTC-USD", side, quantity)
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_REDUCE, message)
        return reply

    async def level(self, user: str) -> MarginLevelReply:
        """The level of a user's account."""
        reply: MarginLevelReply = await self.ask(subjects.RISK_MARGIN_LEVEL, GetMarginLevel(user), MarginLevelReply)
        return reply

    async def account(self, user: str) -> MarginAccount:
        """A user's account."""
        reply: MarginReply = await self.ask(subjects.RISK_MARGIN_ACCOUNT, GetMarginAccount(user))
        assert reply.account is not None, reply
        return reply.account

    async def total(self, participant: str, asset: str = "USD") -> str:
        """What a participant holds of an asset in the engine."""
        balance = (await self.engine.balances(participant)).get(asset)
        return "0" if balance is None else str(balance.total)


@asynccontextmanager
async def margin_market(
    folder: Path, databases: TestDatabases, margins: int = 0, **changes: str
) -> AsyncIterator[MarginMarket]:
    """A funded market at 100 USD for a BTC, and `margins` processes of the margin service side by side.

    `changes` are further settings.
    """
    with own_bus(folder) as (server, data), databases.lend() as url:
        settings = platform_settings(data, url, server.url, shared=True).model_copy(
            update={"margin_scan_s": 0.3, "margin_liquidation_pause_s": 0.3, **changes}
        )
        async with _running_market(settings, margins) as market:
            yield market


@asynccontextmanager
async def _running_market(settings: Settings, margins: int) -> AsyncIterator[MarginMarket]:
    async with AsyncExitStack() as stack:
        bus = await Bus.connect(settings, "test")
        stack.push_async_callback(bus.close)
        await bus.ensure_streams()
        await stack.enter_async_context(running(settings, *MIRRORS))
        pool = await stack.enter_async_context(asyncpg.create_pool(settings.database_url, min_size=1, max_size=12))
        engine = EngineClient(settings)
        stack.push_async_callback(engine.close)
        prices = FakeFairPrices(settings)
        await prices.start()
        stack.push_async_callback(prices.stop)
        market = MarginMarket(settings, bus, pool, engine, prices)
        await market.fund()
        await market.fund_house()
        await market.trade_at("100")
        for _ in range(margins):
            await stack.enter_async_context(running(settings.model_copy(update={"margin_port": free_port()}), "margin"))
        yield market


class Killed(BaseException):
    """Stands for kill -9: no handler of the service catches it, and open transactions are rolled back."""


class Countdown:
    """Ends the work at one of its calls to the outside: before the call for an even number, after it for an odd one."""

    def __init__(self, kill_at: int | None = None) -> None:
        self.kill_at = kill_at
        self.places = 0
        self.calls: list[str] = []

    def _reach(self) -> None:
        if self.places == self.kill_at:
            raise Killed
        self.places += 1

    async def call(self, name: str, work: Awaitable[Any]) -> Any:
        """Do one call."""
        task = asyncio.ensure_future(work)
        try:
            self._reach()
        except Killed:
            task.cancel()
            raise
        result = await task
        self.calls.append(name)
        self._reach()
        return result


class DeadlyBus:
    """The bus of a process that is killed at one of its calls."""

    def __init__(self, bus: Bus, countdown: Countdown) -> None:
        self._bus = bus
        self._countdown = countdown

    async def request(self, subject: str, message: Any, reply_type: Any, timeout_s: float | None = None) -> Any:
        return await self._countdown.call(subject, self._bus.request(subject, message, reply_type, timeout_s))

    async def publish(self, subject: str, message: Any, message_id: str) -> None:
        await self._countdown.call(subject, self._bus.publish(subject, message, message_id))


class DeadlyCommands(EngineCommands):
    """The engine as such a process calls it."""

    countdown = Countdown()

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferOutcome:
        outcome: TransferOutcome = await self.countdown.call("transfer", super().transfer(reference, movements, kind))
        return outcome


class Process:
    """The parts of the margin service, without its timers, so that a test decides what runs when."""

    def __init__(self, market: MarginMarket, commands: DeadlyCommands, queries: EngineQueries) -> None:
        self.market = market
        self._commands = commands
        settings = market.settings
        marks = MarkPriceCache(market.bus, "USD", margin_offer().markets, 60.0, time.monotonic)
        self.clock_ms: int | None = None
        self.dependencies = Dependencies(
            settings=settings,
            pool=market.pool,
            bus=market.bus,
            commands=commands,
            queries=queries,
            marks=marks,
            markets=load_markets(),
            clock=self._clock,
        )
        self.loans = Loans(self.dependencies)
        self.positions = Positions(self.dependencies, self.loans)
        self.liquidator = Liquidator(self.dependencies)

    def _clock(self) -> int:
        return time.time_ns() if self.clock_ms is None else self.clock_ms * 1_000_000

    async def restart(self, kill_at: int | None = None) -> Countdown:
        """Begin again as a new process, which is killed at that place."""
        countdown = self._commands.countdown = Countdown(kill_at)
        self.dependencies.bus = DeadlyBus(self.market.bus, countdown)
        await self.know_prices()
        return countdown

    async def know_prices(self) -> None:
        """Wait until this process knows the fair price that was set last."""
        await eventually(self._knows_prices)

    def _knows_prices(self) -> bool:
        event = self.market.prices.events["BTC-USD"]
        known = self.dependencies.marks.current().get("BTC")
        return known is not None and (known.price, known.state) == (to_amount(parse_decimal(event.price)), event.state)

    async def finish_liquidation(self, account_id: str) -> None:
        """Take a liquidation to its end, with whatever it has to wait for."""

        async def is_done() -> bool:
            with suppress(OrderUndecidedError):
                await self.liquidator.advance(account_id)
            query = "SELECT count(*) FROM margin_liquidations WHERE account_id = $1 AND step IS NOT NULL"
            return not await self.market.pool.fetchval(query, account_id)

        await eventually(is_done, 60, 0.05)


@asynccontextmanager
async def margin_process(market: MarginMarket) -> AsyncIterator[Process]:
    """The parts of the service on a market on which no margin service runs."""
    commands, queries = DeadlyCommands(market.settings), EngineQueries(market.settings)
    try:
        process = Process(market, commands, queries)
        await process.dependencies.marks.follow()
        await process.restart()
        yield process
    finally:
        await commands.close()
        await queries.close()
