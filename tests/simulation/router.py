"""A router process of the simulation: the real router without its sockets."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from unittest.mock import patch

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
    ExecutedTrade,
    GetOrder,
    GetOrderReply,
    ReplaceOrder,
    ReplaceOrderReply,
    SubmitOrder,
    SubmitOrderList,
    SubmitOrderListReply,
    SubmitOrderReply,
)
from openspot.domain.symbol import SymbolSpec
from openspot.kit.bus import LocalSubjects
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.settings import Settings
from openspot.router.custody.bridge import CustodyBridge
from openspot.router.division import PartitionsRefusedError
from openspot.router.orders import available_funds
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
from openspot.router.orders.reference_prices import LastTradePrices
from openspot.router.orders.rejections import Rejections
from openspot.router.orders.replacement import Replacement
from openspot.router.orders.submission import Submission
from openspot.router.translation.translation import Translation
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.engine import SimulatedEngine, configuration
from tests.simulation.engine_access import SimulatedEngineClient, SimulatedSession
from tests.simulation.process import Process
from tests.simulation.rows import Rows, SimulatedStore

NEVER_S = 1e9
FIGURE_LIFE_S = 0.1
"""The simulated bus brings routers no balance events, so a balance is believed for a moment only."""


class Router:
    """A router, from its start to its end."""

    def __init__(
        self,
        process: Process,
        settings: Settings,
        server: BusServer,
        engine: SimulatedEngine,
        rows: Rows,
        specs: Mapping[str, SymbolSpec],
        *,
        has_an_edge: bool = False,
        has_complete_rules: bool = False,
    ) -> None:
        """With `has_an_edge` the process has a REST edge as well: `edge` is its connection."""
        self.process = process
        self._clock = engine.now
        local = LocalSubjects() if has_an_edge else None
        bus: Any = SimulatedBus(server, process, local)
        self._bus = bus
        self.edge = SimulatedBus(server, process, local)
        client = SimulatedEngineClient(engine, process, server.weather)
        store: Any = SimulatedStore(rows, process)
        session: Any = SimulatedSession(engine, process, server.weather)
        self.translator = Translation(settings=settings, bus=bus, store=store, session=session, engine_url="")
        self._reference_prices = LastTradePrices(3_600_000)
        recent_orders = RecentOrders(1000)
        self.rejections = Rejections(bus, store)
        markets = {symbol: MarketRules(configuration().limits[symbol], spec) for symbol, spec in specs.items()}
        with patch.object(available_funds, "FIGURE_LIFE_S", FIGURE_LIFE_S):
            funds = AvailableFunds(bus, client, 0.5, server.weather.loop.time)
        order_ids = OrderIds(store.take_id_block, 1.5)
        opening = Opening((), server.weather.loop.time, cancel_only_s=0, post_only_s_max=0)
        self._submission = Submission(
            markets=markets,
            reference_prices=self._reference_prices,
            funds=funds,
            order_ids=order_ids,
            recent_orders=recent_orders,
            placements=Placements(client.place_orders, wait_s_max=NEVER_S, waiting_max=1000),
            rejections=self.rejections,
            clock=engine.now,
            honour_time_in_force=True,
            opening=opening,
            has_complete_rules=has_complete_rules,
        )
        lookup = OrderLookup(
            specs=specs,
            recent_orders=recent_orders,
            store=store,
            engine=client,
            clock=engine.now,
            placement_s_max=2.0,
        )
        self._lookup = lookup
        self._cancellation = Cancellation(
            specs=specs, lookup=lookup, recent_orders=recent_orders, engine=client, clock=engine.now
        )
        self._bulk = BulkCancellation(
            lookup=lookup, recent_orders=recent_orders, engine=client, clock=engine.now, has_lists=has_complete_rules
        )
        self._lists = ListSubmission(
            markets=markets,
            reference_prices=self._reference_prices,
            funds=funds,
            order_ids=order_ids,
            recent_orders=recent_orders,
            rejections=self.rejections,
            lookup=lookup,
            engine=client,
            opening=opening,
            clock=engine.now,
        )
        self._list_cancellation = ListCancellation(lookup=lookup, recent_orders=recent_orders, engine=client)
        self._replacement = Replacement(
            lookup=lookup, submission=self._submission, cancellation=self._cancellation, engine=client
        )
        self._has_complete_rules = has_complete_rules
        self._amendment = Amendment(
            markets=markets,
            reference_prices=self._reference_prices,
            lookup=lookup,
            recent_orders=recent_orders,
            engine=client,
            opening=opening,
            clock=engine.now,
        )
        self._bridge = CustodyBridge(bus, client, configuration().assets, engine.now)
        process.start(self._run())

    async def _run(self) -> None:
        try:
            await self.translator.prepare()
        except PartitionsRefusedError:
            # The supervisor starts the service again.
            self.process.kill()
        bus, queue = self._bus, subjects.ORDER_ROUTER_QUEUE
        await bus.subscribe(subjects.TRADES_EXECUTED, ExecutedTrade, self._note_price)
        await bus.serve(subjects.ORDERS_SUBMIT, queue, SubmitOrder, self._submission.submit, SubmitOrderReply.refused)
        await bus.serve(subjects.ORDERS_CANCEL, queue, CancelOrder, self._cancellation.cancel, CancelOrderReply.refused)
        await bus.serve(
            subjects.ORDERS_CANCEL_OPEN, queue, CancelOpenOrders, self._bulk.cancel_open, CancelOpenOrdersReply.refused
        )
        await bus.serve(subjects.ORDERS_AMEND, queue, AmendOrders, self._amendment.amend, AmendOrdersReply.refused)
        if self._has_complete_rules:
            await bus.serve(
                subjects.ORDERS_SUBMIT_LIST, queue, SubmitOrderList, self._lists.submit, SubmitOrderListReply.refused
            )
            await bus.serve(
                subjects.ORDERS_CANCEL_LIST,
                queue,
                CancelOrderList,
                self._list_cancellation.cancel,
                CancelOrderListReply.refused,
            )
            await bus.serve(
                subjects.ORDERS_REPLACE, queue, ReplaceOrder, self._replacement.replace, ReplaceOrderReply.refused
            )
        await bus.serve(subjects.ORDERS_GET, queue, GetOrder, self._lookup.get, GetOrderReply.refused)
        await asyncio.gather(self.rejections.run(), self.translator.run(), self._bridge.run(asyncio.Event()))

    def note_price(self, symbol: str, price: Decimal) -> None:
        """Know the price of an earlier trade, as the service does when it has read the newest rows."""
        self._reference_prices.note(symbol, price, self._clock() // NANOSECONDS_PER_MS)

    async def _note_price(self, _: str, trade: ExecutedTrade) -> None:
        self._reference_prices.note(trade.symbol, Decimal(trade.price), trade.timestamp)
