"""The order router's composition root.

Any number of router processes handle `orders.submit`, `orders.cancel` and `orders.get`, and share custody's events. One
of them at a time translates a partition of the engine's events.
"""

import asyncio
import time
from collections.abc import Container, Mapping
from decimal import Decimal

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AmendOrders,
    AmendOrdersReply,
    CancelOpenOrders,
    CancelOpenOrdersReply,
    CancelOrder,
    CancelOrderList,
    CancelOrderListReply,
    CancelOrderReply,
    GetOrder,
    GetOrderReply,
    GetTriggers,
    GetTriggersReply,
    Message,
    ReplaceOrder,
    ReplaceOrderReply,
    SubmitOrder,
    SubmitOrderList,
    SubmitOrderListReply,
    SubmitOrderReply,
)
from openspot.domain.market import load_markets
from openspot.domain.money import MoneyError
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.engine_client.live_markets import LiveMarkets
from openspot.engine_client.queries import EngineQueries
from openspot.http.server import serve_health
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, system_clock
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.shared_process import SharedProcess
from openspot.market_data_client.fair_prices import FairPrices
from openspot.market_data_client.price_bands import PriceBands
from openspot.router.custody.bridge import CustodyBridge
from openspot.router.orders.amendment import Amendment
from openspot.router.orders.available_funds import AvailableFunds
from openspot.router.orders.bulk_cancellation import BulkCancellation
from openspot.router.orders.cancellation import Cancellation
from openspot.router.orders.engine_order_ids import OrderIds
from openspot.router.orders.list_cancellation import ListCancellation
from openspot.router.orders.list_submission import ListSubmission
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.opening import Opening
from openspot.router.orders.placements import Placements
from openspot.router.orders.pre_trade import MarketRules
from openspot.router.orders.recent_orders import RecentOrders
from openspot.router.orders.reference_prices import FairReferences, LastTradePrices, References, price_of
from openspot.router.orders.rejections import Rejections
from openspot.router.orders.replacement import Replacement
from openspot.router.orders.submission import Submission
from openspot.router.orders.symbols import Symbols
from openspot.router.orders.triggers import Triggers
from openspot.router.settings import RouterSettings
from openspot.router.store import RouterStore
from openspot.router.translation.translation import Translation

log = get_logger("router")

CONNECTIONS = 3
"""Connections to the database, beside one for each partition."""
PLACEMENTS_WAITING_MAX = 8192
OPENING_DEPTH = 50
"""Levels of a book that are looked at while its market waits for its makers."""
OPENING_POLL_INTERVAL_S = 0.5


class _TradePrice(Message, frozen=True):
    """The fields of `trades.executed` that make a reference price."""

    symbol: str
    price: str
    timestamp: int


async def run(settings: RouterSettings, stop: asyncio.Event, shared: SharedProcess | None = None) -> None:
    """Run a router until `stop` is set, alone or in a process that it shares.

    Raises BusError, DatabaseUnavailableError, PartitionsRefusedError or SymbolsUnavailableError if it cannot start.
    """
    settings = with_secrets(settings)
    async with ServiceFrame("router", settings, stop, shared=shared) as frame:
        bus = await frame.connect_bus()
        await bus.ensure_streams()
        pool = await frame.connect_database(CONNECTIONS + settings.translator_partitions, vital=False)
        engine = EngineCommands(settings)
        frame.at_end(engine.close)
        queries = EngineQueries(settings)
        frame.at_end(queries.close)
        store = RouterStore(pool)
        live = LiveMarkets(settings.engine_url, load_markets())
        configuration = live.configuration

        async def read_list() -> None:
            if settings.follows_listings:
                await live.load(queries.session)

        symbols = Symbols(configuration, queries.symbols, read_list)
        translator = Translation(
            settings=settings, bus=bus, store=store, session=queries.session, engine_url=settings.engine_url
        )

        frame.health.add("engine", queries.check)
        frame.health.add("symbols", symbols.check)
        frame.health.add("translator", translator.check)
        rejections = Rejections(bus, store)
        bridge = CustodyBridge(bus, engine, configuration.assets, system_clock, read_list)
        await serve_health(frame, settings.router_port, "OpenSpot order router", settings.router_host)

        await translator.prepare()
        await symbols.load(settings.symbol_load_attempts, settings.symbol_load_pause_s)
        reference_prices = await _references(settings, bus, symbols.markets, configuration.limits)
        recent_orders = RecentOrders(settings.known_orders_max)
        # Who places an order waits for its id, then for a place, then for the engine: parts of one request's time.
        order_ids = OrderIds(store.take_id_block, settings.request_timeout_s * 0.3)
        frame.at_end(order_ids.close)
        placements = Placements(
            engine.place_orders, wait_s_max=settings.request_timeout_s * 0.3, waiting_max=PLACEMENTS_WAITING_MAX
        )
        frame.at_end(placements.close)
        opening = Opening(
            symbols.markets,
            time.monotonic,
            cancel_only_s=settings.opening_cancel_only_s,
            post_only_s_max=settings.opening_post_only_s,
        )
        funds = AvailableFunds(bus, engine, settings.balance_check_timeout_s)
        await funds.follow()
        submission = Submission(
            markets=symbols.markets,
            reference_prices=reference_prices,
            funds=funds,
            order_ids=order_ids,
            recent_orders=recent_orders,
            placements=placements,
            rejections=rejections,
            clock=system_clock,
            honour_time_in_force=settings.honours_time_in_force,
            opening=opening,
            has_complete_rules=settings.has_complete_rules,
        )
        lookup = OrderLookup(
            specs=symbols.specs,
            recent_orders=recent_orders,
            store=store,
            engine=engine,
            clock=system_clock,
            placement_s_max=settings.request_timeout_s * 0.4,
        )
        cancellation = Cancellation(
            specs=symbols.specs, lookup=lookup, recent_orders=recent_orders, engine=engine, clock=system_clock
        )
        bulk = BulkCancellation(
            lookup=lookup,
            recent_orders=recent_orders,
            engine=engine,
            clock=system_clock,
            has_lists=settings.has_complete_rules,
        )

        queue = subjects.ORDER_ROUTER_QUEUE
        await bus.serve(subjects.ORDERS_SUBMIT, queue, SubmitOrder, submission.submit, SubmitOrderReply.refused)
        await bus.serve(subjects.ORDERS_CANCEL, queue, CancelOrder, cancellation.cancel, CancelOrderReply.refused)
        await bus.serve(
            subjects.ORDERS_CANCEL_OPEN, queue, CancelOpenOrders, bulk.cancel_open, CancelOpenOrdersReply.refused
        )
        if settings.has_complete_rules:
            amendment = Amendment(
                markets=symbols.markets,
                reference_prices=reference_prices,
                lookup=lookup,
                recent_orders=recent_orders,
                engine=engine,
                opening=opening,
                clock=system_clock,
            )
            replacement = Replacement(lookup=lookup, submission=submission, cancellation=cancellation, engine=engine)
            await bus.serve(
                subjects.ORDERS_REPLACE, queue, ReplaceOrder, replacement.replace, ReplaceOrderReply.refused
            )
            await bus.serve(subjects.ORDERS_AMEND, queue, AmendOrders, amendment.amend, AmendOrdersReply.refused)
            triggers = Triggers(specs=symbols.specs, engine=engine)
            await bus.serve(subjects.ORDERS_GET_TRIGGERS, queue, GetTriggers, triggers.get, GetTriggersReply.refused)
            lists = ListSubmission(
                markets=symbols.markets,
                reference_prices=reference_prices,
                funds=funds,
                order_ids=order_ids,
                recent_orders=recent_orders,
                rejections=rejections,
                lookup=lookup,
                engine=engine,
                opening=opening,
                clock=system_clock,
            )
            list_cancellation = ListCancellation(lookup=lookup, recent_orders=recent_orders, engine=engine)
            await bus.serve(
                subjects.ORDERS_SUBMIT_LIST, queue, SubmitOrderList, lists.submit, SubmitOrderListReply.refused
            )
            await bus.serve(
                subjects.ORDERS_CANCEL_LIST,
                queue,
                CancelOrderList,
                list_cancellation.cancel,
                CancelOrderListReply.refused,
            )
        await bus.serve(subjects.ORDERS_GET, queue, GetOrder, lookup.get, GetOrderReply.refused)
        # At the end the router first accepts no more requests, then records their refusals, then ends the rest.
        frame.at_end(rejections.close)
        frame.at_end(bus.stop_serving)
        frame.start("rejections", rejections.run())
        frame.start("translation", translator.run())
        frame.start("custody", bridge.run(stop))
        if settings.opening_cancel_only_s or settings.opening_post_only_s:
            frame.start("opening", _watch_openings(opening, queries, symbols.markets))
        if settings.follows_listings:
            live.on_change(symbols.refresh)
            frame.start("markets", live.run())
        if settings.symbol_refresh_s:
            frame.start("symbols", symbols.keep_fresh(settings.symbol_refresh_s))
        log.info("taking orders", markets=len(symbols.markets))
        await frame.until_stopped()


async def _watch_openings(opening: Opening, queries: EngineQueries, markets: Mapping[str, MarketRules]) -> None:
    """Tell `opening` whether the engine responds, and the books of the markets that wait for their makers."""
    while True:
        try:
            await queries.check()
            opening.note_engine(is_there=True)
            for symbol in opening.waiting:
                book = await queries.book(symbol, OPENING_DEPTH)
                market = markets.get(symbol)
                if book is not None and market is not None:
                    bids, asks = (
                        [(Decimal(price), Decimal(quantity)) for price, quantity in side]
                        for side in (book.bids, book.asks)
                    )
                    opening.note_book(symbol, bids, asks, market.limits.notional_min)
        except EngineError:
            opening.note_engine(is_there=False)
        await asyncio.sleep(OPENING_POLL_INTERVAL_S)


async def _references(
    settings: RouterSettings, bus: Bus, markets: Mapping[str, MarketRules], symbols: Container[str]
) -> References:
    """What prices of orders are compared with: the last trades, or the fair prices if the setting says so."""
    if settings.follows_fair_price:
        fair_prices = FairPrices(bus, time.monotonic)
        await fair_prices.follow()
        return FairReferences(PriceBands(fair_prices, time.monotonic), markets)
    last_trades = LastTradePrices(int(settings.reference_price_age_s_max * 1000))
    await _follow_trades(bus, last_trades, symbols, system_clock)
    return last_trades


async def _follow_trades(bus: Bus, reference_prices: LastTradePrices, symbols: Container[str], clock: Clock) -> None:
    """Follow the trades that the translating router publishes, for the reference prices of `symbols`."""

    async def note(subject: str, trade: _TradePrice) -> None:
        if trade.symbol not in symbols:
            return
        try:
            price = price_of(trade.price)
        except MoneyError as error:
            BUS_MALFORMED.labels(subject).inc()
            log.warning("trade without a price", symbol=trade.symbol, error=f"price {error}")
            return
        # Cut a timestamp in the future to now, or one bad trade would block later prices.
        reference_prices.note(trade.symbol, price, min(trade.timestamp, clock() // NANOSECONDS_PER_MS))

    await bus.subscribe(subjects.TRADES_EXECUTED, _TradePrice, note)
