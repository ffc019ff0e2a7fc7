"""The steps that only worlds with the complete rules take: mark prices, phases of markets, lists of orders."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.domain.market_phase import MarketPhase
from openspot.domain.order import OrderListType
from openspot.engine.core.records import CommandKind
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.router.orders.engine_order_ids import BLOCK_SIZE
from tests.simulation.clients import MANY_OF_ONE, USERS
from tests.simulation.storm import WEIGHTS, Steps

if TYPE_CHECKING:
    from tests.simulation.world import World

_PHASES = (
    MarketPhase.CONTINUOUS, MarketPhase.CONTINUOUS, MarketPhase.AUCTION, MarketPhase.POST_ONLY, MarketPhase.POST_ONLY,
    MarketPhase.CANCEL_ONLY, MarketPhase.HALTED, MarketPhase.HALTED,
)  # fmt: skip
_SCALED = 100
"""The engine's units of a price."""
_LOT_HUNDREDTHS = 1_000_000
"""The engine's units of a hundredth of the base asset."""


def mark(world: "World") -> None:
    """Market data tells a fair price, which may interrupt the market."""
    if not world.engine.is_up:
        return
    price, symbol = 100 * _SCALED + world.chance.randint(-160, 160), world.chance.choice(MANY_OF_ONE)
    _look_at(world.engine.intake.set_mark_price(symbol, price, 0))
    if world.engine.is_pending(CommandKind.SET_PHASE, world.engine.machine.directory.symbols[symbol].symbol_id):
        world.commit()
        _fill_auction(world)


def change_phase(world: "World") -> None:
    """An operator lets a market enter a phase, usually for a short time."""
    chance = world.chance
    phase = chance.choice(_PHASES)
    seconds = 0 if phase == MarketPhase.CONTINUOUS or chance.random() < 0.1 else chance.randint(1, 2)
    symbol = chance.choice(MANY_OF_ONE)
    if world.engine.is_up:
        _look_at(world.engine.intake.set_phase(symbol, phase, seconds))


def hold_auction(world: "World") -> None:
    """A market collects orders for a moment, then trades them at one price."""
    if world.engine.is_up:
        _look_at(world.engine.intake.set_phase(world.chance.choice(MANY_OF_ONE), MarketPhase.AUCTION, 1))
        world.commit()
        _fill_auction(world)


def _fill_auction(world: "World") -> None:
    for _ in range(world.chance.randint(4, 8)):
        world.traders.place()
    world.loop.run_ready()
    world.commit()
    world.loop.run_ready()
    if world.chance.random() < 0.7:
        world.commit()
        world.loop.advance(1.0)


def place_list(world: "World") -> None:
    """Orders that depend on each other come from a trader, or to the engine past the router."""
    chance = world.chance
    if chance.random() < 0.7:
        world.traders.place_list()
        return
    list_type, user, symbol = chance.choice(list(OrderListType)), chance.choice(USERS), chance.choice(MANY_OF_ONE)
    is_buy, quantity = chance.random() < 0.5, chance.randint(2, 40) * _LOT_HUNDREDTHS
    if not world.engine.is_up:
        return
    list_id = len(world.told.lists) + 1
    first = world.rows.next_id() - BLOCK_SIZE + 1
    orders = _orders(world, list_type, is_buy=is_buy)
    for place, order in enumerate(orders, 1):
        order.order_id, order.external_id = first + place, f"l{list_id}-{place}"
        order.participant_id, order.symbol, order.quantity = user, symbol, quantity
        order.reserve_price = order.price if order.side == orders_pb2.BUY else 0
        world.told.listed[order.external_id] = user
    world.told.lists[list_id] = user
    if chance.random() < 0.3:
        orders[-1].client_order_id = f"{user}-{chance.randint(1, 5)}"
    with suppress(IntakeRefusal):
        _look_at(world.engine.list_intake.place(list_id, list_type, orders))


def replace(world: "World") -> None:
    """A trader replaces an order, or somebody does so past the router, usually its owner."""
    chance = world.chance
    orders = world.engine.machine.core.open_orders()
    if chance.random() < 0.8 or not orders:
        world.traders.replace()
        return
    if not world.engine.is_up:
        return
    order, directory = chance.choice(orders), world.engine.machine.directory
    number = len(world.told.listed) + 1
    request = orders_pb2.PlaceOrderRequest(
        order_id=world.rows.next_id() - BLOCK_SIZE + 1,
        external_id=f"n{number}",
        participant_id=directory.participant(order.account) if chance.random() < 0.85 else chance.choice(USERS),
        symbol=chance.choice(MANY_OF_ONE),
        side=chance.choice((orders_pb2.BUY, orders_pb2.SELL)),
        type=chance.choice((orders_pb2.GTC, orders_pb2.GTC, orders_pb2.IOC)),
        price=100 * _SCALED + chance.randint(-5, 5) * 25,
        quantity=chance.randint(2, 60) * _LOT_HUNDREDTHS,
    )
    request.reserve_price = request.price if request.side == orders_pb2.BUY else 0
    if request.type == orders_pb2.GTC and chance.random() < 0.4:
        request.display_quantity = chance.randint(1, 20) * _LOT_HUNDREDTHS
    placed = world.engine.intake.replace(order.order_id, request, allow_failure=chance.random() < 0.5)
    world.told.listed[request.external_id] = request.participant_id
    if placed.future is not None:
        _look_at(placed.future)


def cancel_list(world: "World") -> None:
    """The owner of a list cancels it."""
    lists = world.told.lists
    if world.chance.random() < 0.7:
        world.traders.cancel_list()
    elif lists and world.engine.is_up:
        list_id = world.chance.choice(list(lists)[-6:])
        _look_at(world.engine.list_intake.cancel(list_id, lists[list_id], ""))


def amend_listed(world: "World") -> None:
    """The owner of a list gives one of its orders, open or planned, another price and trigger, or another size."""
    chance, core, directory = world.chance, world.engine.machine.core, world.engine.machine.directory
    lists = core.order_lists()
    if not lists or not world.engine.is_up:
        return
    planned = [row for row in lists if row.planned_exits]
    row = chance.choice(planned if planned and chance.random() < 0.7 else lists)
    order_id = chance.choice([*([row.entry] if row.entry else []), *row.armed_exits, *row.planned_exits])
    owner, remembered = directory.participant(row.account), world.engine.machine.orders.find(order_id)
    has_stop = core.waiting_order(order_id) is not None and chance.random() < 0.8
    if remembered is not None and chance.random() < 0.5:
        world.traders.amend_listed(owner, remembered.order_id, has_stop=has_stop)
        return
    request = orders_pb2.AmendOrderRequest(
        order_id=order_id,
        participant_id=owner if chance.random() < 0.95 else chance.choice(USERS),
        price=100 * _SCALED + chance.randint(-6, 6) * 25 if chance.random() < 0.8 else 0,
        quantity=chance.choice((0, 0, 0, 0, _LOT_HUNDREDTHS)),
        trigger_price=100 * _SCALED + chance.randint(-6, 6) * 25 if has_stop else 0,
    )
    amended = world.engine.intake.amend((request,)).future
    if amended is not None:
        _look_at(amended)


def end_all(world: "World") -> None:
    """A dead man's switch runs out: an edge cancels whatever a user has open."""
    world.traders.end_all(world.engine)


def _orders(world: "World", list_type: OrderListType, *, is_buy: bool) -> list[orders_pb2.PlaceOrderRequest]:
    """An entry of that side, and its exits on the other; of an OCO the exits of such an entry."""
    chance, sign = world.chance, 1 if is_buy else -1
    exit_side = orders_pb2.SELL if is_buy else orders_pb2.BUY
    middle = 100 * _SCALED + chance.randint(-2, 2) * 25
    gain = orders_pb2.PlaceOrderRequest(
        side=exit_side, type=orders_pb2.GTC, price=middle + sign * chance.randint(2, 5) * 25
    )
    stop_price = middle - sign * chance.randint(2, 5) * 25
    stop = orders_pb2.PlaceOrderRequest(
        side=exit_side,
        type=chance.choice((orders_pb2.GTC, orders_pb2.IOC)),
        price=stop_price - sign * chance.randint(0, 4) * 25,
        trigger=orders_pb2.TRIGGER_FIXED,
        trigger_source=chance.choice((orders_pb2.TRIGGER_LAST_TRADE, orders_pb2.TRIGGER_MARK_PRICE)),
        trigger_direction=orders_pb2.TRIGGER_AT_OR_BELOW if is_buy else orders_pb2.TRIGGER_AT_OR_ABOVE,
        trigger_value=stop_price,
    )
    if chance.random() < 0.3:
        stop.expires_at_ms = world.engine.now() // 1_000_000 + chance.choice((800, 5_000))
    entry = orders_pb2.PlaceOrderRequest(
        side=orders_pb2.BUY if is_buy else orders_pb2.SELL,
        type=chance.choice((orders_pb2.GTC, orders_pb2.GTC, orders_pb2.GTC, orders_pb2.IOC)),
        price=middle,
    )
    if list_type == OrderListType.OCO:
        return [gain, stop]
    return [entry, chance.choice((gain, stop))] if list_type == OrderListType.OTO else [entry, gain, stop]


def _look_at(future: asyncio.Future[Any]) -> None:
    future.add_done_callback(lambda done: done.cancelled() or done.exception())


_WEIGHTS = WEIGHTS | {
    mark: 10,
    change_phase: 3,
    hold_auction: 3,
    place_list: 10,
    cancel_list: 5,
    amend_listed: 12,
    replace: 14,
    end_all: 1,
}
COMPLETE_STEPS: Steps = list(_WEIGHTS), list(_WEIGHTS.values())
"""The steps of a world with the complete rules."""
