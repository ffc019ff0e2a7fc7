"""The order router's composition root (design sections 5 to 10).

Any number of router processes provide `orders.submit`, `orders.cancel` and `orders.get` and share custody's events. One
of them at a time translates the engine's events.
"""

import asyncio
from collections.abc import Container
from contextlib import AsyncExitStack

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelOrder,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    Message,
    SubmitOrder,
    SubmitOrderReply,
)
from openspot.domain.market import load_markets
from openspot.domain.money import MoneyError
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.queries import EngineQueries
from openspot.http.server import serve_health
from openspot.kit import database
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, system_clock
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.secrets_file import with_secrets
from openspot.kit.tasks import end_tasks
from openspot.router.custody.bridge import CustodyBridge
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.cancellation import Cancellation
from openspot.router.orders.engine_order_ids import OrderIds
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.placements import Placements
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.orders.reference_prices import ReferencePrices, price_of
from openspot.router.orders.rejections import Rejections
from openspot.router.orders.submission import Submission
from openspot.router.orders.symbols import Symbols
from openspot.router.settings import RouterSettings
from openspot.router.store import Store
from openspot.router.translation.translator import Translator

log = get_logger("router")

PLACEMENTS_WAITING_MAX = 8192


class _TradePrice(Message, frozen=True):
    """The fields of `trades.executed` that make a reference price."""

    symbol: str
    price: str
    timestamp: int


async def run(settings: RouterSettings, stop: asyncio.Event) -> None:
    """Run a router until `stop` is set. Raises if bus, database or the engine's symbols are missing at start."""
    settings = with_secrets(settings)
    async with AsyncExitStack() as stack:
        bus = await Bus.connect(settings, "router")
        stack.push_async_callback(bus.close)
        await bus.ensure_streams()
        pool = await database.create_pool(settings)
        stack.push_async_callback(pool.close)
        engine = EngineCommands(settings)
        stack.push_async_callback(engine.close)
        queries = EngineQueries(settings)
        stack.push_async_callback(queries.close)
        store = Store(pool)
        configuration = load_markets()
        symbols = Symbols(configuration, queries.symbols)
        translator = Translator(
            settings=settings, bus=bus, store=store, session=queries.session, engine_url=settings.engine_url
        )

        health = Health()
        health.add("bus", bus.check, vital=True)
        health.add("engine", queries.check)
        health.add("database", lambda: database.check(pool))
        health.add("symbols", symbols.check)
        health.add("translator", translator.check)
        rejections = Rejections(bus, store)
        bridge = CustodyBridge(bus, engine, configuration.assets, system_clock)
        health.add("custody", bridge.check)
        title = "OpenSpot order router"
        server = await serve_health(health, settings, settings.router_port, title, settings.router_host)
        stack.push_async_callback(server.stop)

        await symbols.load(settings.symbol_load_attempts, settings.symbol_load_pause_s)
        reference_prices = ReferencePrices(int(settings.reference_price_age_s_max * 1000))
        await _follow_trades(bus, reference_prices, configuration.limits, system_clock)
        recent_orders = RecentOrders(settings.known_orders_max)
        order_ids = OrderIds(store.take_id_block)
        stack.push_async_callback(order_ids.close)
        placements = Placements(
            engine.place_orders, wait_s_max=settings.request_timeout_s * 0.3, waiting_max=PLACEMENTS_WAITING_MAX
        )
        stack.push_async_callback(placements.close)
        submission = Submission(
            markets=symbols.markets,
            reference_prices=reference_prices,
            funds=AvailableFunds(bus, engine, settings.balance_check_timeout_s),
            order_ids=order_ids,
            recent_orders=recent_orders,
            placements=placements,
            rejections=rejections,
            clock=system_clock,
            honour_time_in_force=settings.honour_time_in_force,
        )
        lookup = OrderLookup(
            specs=symbols.specs, recent_orders=recent_orders, store=store, engine=engine, clock=system_clock
        )
        cancellation = Cancellation(
            specs=symbols.specs, lookup=lookup, recent_orders=recent_orders, engine=engine, clock=system_clock
        )

        queue = subjects.ORDER_ROUTER_QUEUE
        await bus.serve(subjects.ORDERS_SUBMIT, queue, SubmitOrder, submission.submit, SubmitOrderReply.refused)
        await bus.serve(subjects.ORDERS_CANCEL, queue, CancelOrder, cancellation.cancel, CancelOrderReply.refused)
        await bus.serve(subjects.ORDERS_GET, queue, GetOrder, lookup.get, GetOrderReply.refused)
        work = [rejections.run(), translator.run(), bridge.run(stop)]
        if settings.symbol_refresh_s:
            work.append(symbols.keep_fresh(settings.symbol_refresh_s))
        log.info("taking orders", markets=len(symbols.markets))
        try:
            await _until(stop, [asyncio.create_task(task) for task in work])
        finally:
            # First take no more requests, then record what they left, then close what they used.
            await bus.stop_serving()
            await rejections.close()
            await bus.close()


async def _until(stop: asyncio.Event, work: list[asyncio.Task[None]]) -> None:
    """Wait for `stop`. If a task ends before it, raise its error. End all tasks in any case."""
    stopped = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({stopped, *work}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await end_tasks(stopped, *work)


async def _follow_trades(bus: Bus, reference_prices: ReferencePrices, symbols: Container[str], clock: Clock) -> None:
    """Take the reference prices of `symbols` from the trades that the translating router publishes."""

    async def note(subject: str, trade: _TradePrice) -> None:
        if trade.symbol not in symbols:
            return
        try:
            price = price_of(trade.price)
        except MoneyError as error:
            BUS_MALFORMED.labels(subject).inc()
            log.warning("trade without a price", symbol=trade.symbol, error=f"price {error}")
            return
        # Clamp future timestamps, or one bad trade would block later prices.
        reference_prices.note(trade.symbol, price, min(trade.timestamp, clock() // NANOSECONDS_PER_MS))

    await bus.subscribe(subjects.TRADES_EXECUTED, _TradePrice, note)
