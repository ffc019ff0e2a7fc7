"""The steps of a run: what clients and operators do, and what goes wrong meanwhile."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from openspot.contracts.gen.exchange.v1.orders_pb2 import AmendOrderRequest
from openspot.domain.order import StpMode
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind
from tests.simulation.bus import BATCH_MAX
from tests.simulation.clients import USERS
from tests.simulation.engine import ASSETS
from tests.simulation.process import Place, Process, Trap

if TYPE_CHECKING:
    from tests.simulation.world import World

LEASE_S = 4.0
MEETINGS_MAX = {
    Place.ENGINE: 6,
    Place.PUBLISH: 24,
    Place.REQUEST: 6,
    Place.KEY: 3,
    Place.ROWS: 5,
    Place.LEDGER: 4,
}
"""A trap waits for at most this many calls of `io`: about as many as one piece of work makes."""


def place(world: "World") -> None:
    """Traders place some orders."""
    for _ in range(world.chance.randint(1, 4)):
        world.traders.place()


def cancel(world: "World") -> None:
    """A trader cancels."""
    world.traders.cancel()


def cancel_open(world: "World") -> None:
    """A trader cancels whatever is open."""
    world.traders.cancel_open()


def amend(world: "World") -> None:
    """A trader amends some orders."""
    world.traders.amend()


def look(world: "World") -> None:
    """A trader asks for an order's state."""
    world.traders.look()


def administer(world: "World") -> None:
    """An operator moves, amends, reduces or cancels an order, or changes an account, past the router."""
    intake, chance, machine = world.engine.intake, world.chance, world.engine.machine
    orders = machine.core.open_orders()
    if not world.engine.is_up:
        return
    kind = chance.randrange(6)
    if kind < 4 and orders:
        order = chance.choice(orders)
        owner = machine.directory.participant(order.account)
        if kind == 0:
            work = intake.move(order.order_id, owner, "", order.price + chance.choice((-50, -25, 25, 50)))
        elif kind == 3:
            quantity = max(order.quantity + chance.choice((-500_000, 0, 500_000)), 1)
            request = AmendOrderRequest(
                order_id=order.order_id,
                participant_id=owner,
                price=order.price + chance.choice((-25, 0, 0, 25)),
                quantity=quantity,
            )
            amended = intake.amend((request,)).future
            if amended is None:
                return
            work = amended
        elif kind == 1:
            work = intake.reduce(order.order_id, owner, "", chance.choice((order.remaining, 500_000)))
        else:
            work = intake.cancel_as_administrator(order.order_id)
    else:
        user = chance.choice(USERS)
        account = machine.directory.account(user)
        if chance.random() < 0.5:
            command = Command(
                CommandKind.SET_ACCOUNT, order_type=chance.choice(list(StpMode)), flags=FLAG_ACTIVE, account=account
            )
        else:
            taker, maker = chance.choice(((25, -10), (10, 5), (0, 0)))
            command = Command(CommandKind.SET_ACCOUNT_FEES, flags=1, account=account, order_id=taker, price=maker)
        work = intake.submit(command, (user,))
    work.add_done_callback(_look_at)


def link_owners(world: "World") -> None:
    """An operator links two users or ends a link, and the engine mostly hears of it at once."""
    world.links.decide()
    if world.chance.random() < 0.7:
        world.links.compare()


def compare_owners(world: "World") -> None:
    """The engine's links of owners are compared again, as they are every two seconds."""
    world.links.compare()


def deposit(world: "World") -> None:
    """Money comes in."""
    asset = world.chance.choice(ASSETS)
    world.custody.deposit(world.chance.choice(USERS), asset, world.chance.choice(("1", "12.5", "0.07")))


def repeat_custody(world: "World") -> None:
    """Custody publishes an event again."""
    world.custody.repeat()


def withdraw(world: "World") -> None:
    """Custody requests a withdrawal, or carries one out."""
    if world.chance.random() < 0.5:
        world.custody.request_withdrawal()
    else:
        world.custody.carry_out()


def transfer(world: "World") -> None:
    """Money moves between accounts."""
    for _ in range(world.chance.randint(1, 3)):
        world.transfers.send()


def kill_amid_transfer(world: "World") -> None:
    """The router that translates dies when it has seen only the first movements of a long transfer, perhaps."""
    world.transfers.send_long()
    world.loop.run_ready()
    world.commit()
    world.loop.advance(0.025)
    for router in world.routers:
        if router.translator.leads:
            router.process.kill()


def deliver(world: "World") -> None:
    """Durable consumers deliver waiting messages."""
    for consumer in world.server.consumers.values():
        if world.chance.random() < 0.6:
            consumer.deliver(world.weather, world.chance.randint(1, BATCH_MAX))


def go_on(world: "World") -> None:
    """Some held-up messages arrive."""
    world.weather.go_on(world.chance.randint(1, 6))


def wait(world: "World") -> None:
    """Time passes, usually after the waiting work is done."""
    if world.chance.random() < 0.8:
        world.weather.go_on(10)
        world.commit()
    world.loop.advance(world.chance.choice((0.05, 0.3, 1.0, LEASE_S)))


def kill_engine(world: "World") -> None:
    """The engine dies, before or after a commit, or comes back."""
    if world.engine.is_up:
        world.engine.kill(after_commit=world.chance.random() < 0.5)
    else:
        world.engine.restart()


def snapshot(world: "World") -> None:
    """The engine takes a snapshot."""
    if world.engine.is_up:
        world.engine.take_snapshot()


def kill(world: "World") -> None:
    """A router or a ledger dies at once, or a little later in the middle of its work."""
    process = _any_process(world)
    if world.chance.random() < 0.3:
        process.kill()
    else:
        process.trap = _trap(world, world.chance.choice(list(Place)), is_deadly=True)


def revive(world: "World") -> None:
    """Dead processes and a dead engine come back."""
    world.revive()


def freeze(world: "World") -> None:
    """A process freezes in the middle of its work, without knowing it."""
    _any_process(world).trap = _trap(world, world.chance.choice(list(Place)), is_deadly=False)


def oversleep(world: "World") -> None:
    """The router that translates freezes in the middle of some orders, for longer than its lease lives."""
    for router in world.routers:
        if router.translator.leads:
            where = world.chance.choice((Place.ROWS, Place.ROWS, Place.KEY, Place.PUBLISH))
            router.process.trap = _trap(world, where, is_deadly=False)
    world.weather.go_on(10)
    place(world)
    world.loop.run_ready()
    world.commit()
    world.loop.advance(2 * LEASE_S)


def thaw(world: "World") -> None:
    """Frozen processes go on without knowing that they were frozen."""
    for process in world.processes:
        if process.is_frozen and world.chance.random() < 0.7:
            world.loop.thaw(process)


def end_window(world: "World") -> None:
    """The duplicate windows of all streams end."""
    for stream in world.server.streams.values():
        stream.end_window()


def _any_process(world: "World") -> Process:
    """A router or a ledger; most often the router that translates, which has the most to lose."""
    leading = [router.process for router in world.routers if router.translator.leads]
    if leading and world.chance.random() < 0.5:
        return world.chance.choice(leading)
    return world.chance.choice(world.processes)


def _trap(world: "World", place: Place, *, is_deadly: bool) -> Trap:
    return Trap(place, world.chance.randint(1, MEETINGS_MAX[place]), is_deadly)


def _look_at(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


WEIGHTS: dict[Callable[["World"], None], int] = {
    place: 30,
    deliver: 16,
    go_on: 14,
    wait: 10,
    cancel: 12,
    cancel_open: 1,
    amend: 4,
    look: 4,
    administer: 4,
    link_owners: 2,
    compare_owners: 2,
    deposit: 1,
    repeat_custody: 2,
    withdraw: 4,
    transfer: 8,
    kill_amid_transfer: 3,
    kill: 5,
    revive: 5,
    freeze: 3,
    oversleep: 4,
    thaw: 4,
    kill_engine: 3,
    snapshot: 2,
    end_window: 4,
}
"""How often each step is taken, compared with the others."""


Steps = tuple[list[Callable[["World"], None]], list[int]]
"""Steps, and how often each is taken."""


def step(world: "World", steps: Steps | None = None) -> None:
    """Have one thing happen, of `steps` or of those of this module."""
    world.chance.choices(*(steps or _STEPS))[0](world)
    world.loop.run_ready()
    if world.chance.random() < 0.75:
        world.commit()


_STEPS: Steps = list(WEIGHTS), list(WEIGHTS.values())
