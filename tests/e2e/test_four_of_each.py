"""Four ledgers, four ledger workers, four REST edges and four WebSocket edges, killed kind by kind and at random.

What must hold afterwards is what `test_faults.py` asks of one process of each. Besides, each REST edge then takes an
order of the same user, and each WebSocket edge tells that user of it.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from openspot.client import ApiError, OpenSpotClient, Push, ReconnectPolicy, UnreachableError
from openspot.client.stream import Stream
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES, PlatformSettings
from tests.support.fault_run import HEALED_S_MAX, SECONDS, TIMEOUT_S, Beside, Run, running
from tests.support.money_user import credit
from tests.support.ports import free_port
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

NUMBER = 4
KINDS = {
    kind: (kind, *(f"{kind}-{number}" for number in range(2, NUMBER + 1)))
    for kind in ("rest-edge", "ws-edge", "ledger", "ledger-worker")
}
"""The processes of each kind. The first is the platform's own."""
ALL = [name for names in KINDS.values() for name in names]
COMES_BACK = ReconnectPolicy(attempts_max=1000)
TOLD_S = 5.0
"""An order that no event has told of for so long is followed by another one."""


@dataclass
class Seat:
    """The user at one REST edge and one WebSocket edge, and the ids of the orders that the latter told of."""

    client: OpenSpotClient
    told: set[str] = field(default_factory=set)

    async def listen(self, stream: Stream) -> None:
        """Note the orders of the user's events, until cancelled."""
        async for event in stream:
            if isinstance(event, Push) and event.channel == "orders":
                self.told.add(event.data["orderId"])


@pytest.fixture
async def run(breakable: ChildPlatform) -> AsyncIterator[Run]:
    """A platform with three more processes of each kind, whose users trade through all its REST edges."""
    beside = {
        name: Beside(breakable, SERVICES[kind], free_port()) for kind, names in KINDS.items() for name in names[1:]
    }
    try:
        await asyncio.gather(*(one.child.start() for one in beside.values()))
        await asyncio.gather(*(one.child.await_started() for one in beside.values()))
        edges = [settings_of(breakable, beside, name).rest_url for name in KINDS["rest-edge"]]
        async with running(breakable, beside, edges) as run:
            yield run
    finally:
        await asyncio.gather(*(one.child.stop() for one in beside.values()))


def settings_of(platform: ChildPlatform, beside: dict[str, Beside], name: str) -> PlatformSettings:
    """The settings of one process: those of the platform, but for its own port."""
    settings: PlatformSettings = beside[name].settings if name in beside else platform.settings
    return settings


@pytest.fixture
async def seats(run: Run) -> AsyncIterator[list[Seat]]:
    """One user at each pair of edges, with a stream that comes back."""
    email, password = f"{secrets.token_hex(6)}@four.invalid", secrets.token_urlsafe(16)
    async with AsyncExitStack() as stack:
        seats = []
        for rest, ws in zip(KINDS["rest-edge"], KINDS["ws-edge"], strict=True):
            rest_url = settings_of(run.platform, run.beside, rest).rest_url
            ws_url = settings_of(run.platform, run.beside, ws).ws_url
            seats.append(Seat(await stack.enter_async_context(OpenSpotClient(rest_url, ws_url))))
        user = await seats[0].client.register(email, password)
        await credit(run.platform, user.user_id, "BRL", "1000")
        listening = []
        for seat in seats:
            await seat.client.login(email, password)
            stream = await stack.enter_async_context(seat.client.stream(reconnect=COMES_BACK))
            listening.append(asyncio.create_task(seat.listen(stream)))
        yield seats
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)


async def each_edge_serves(seats: list[Seat]) -> None:
    """Wait until every REST edge has taken an order of which every WebSocket edge has told."""
    for seat in seats:

        async def told_everywhere(seat: Seat = seat) -> bool:
            # A stream that is coming back misses events, so one order may not be enough.
            try:
                order = await seat.client.place_order("BTC-BRL", "buy", quantity=Decimal("0.1"), price=Decimal(90))
                await eventually(lambda: all(order.order_id in other.told for other in seats), TOLD_S)
            except (ApiError, UnreachableError, AssertionError):
                return False
            return True

        await eventually(told_everywhere, HEALED_S_MAX)
    await seats[0].client.cancel_orders()


@pytest.mark.spec("A6.4-08")
@pytest.mark.timeout(SECONDS + TIMEOUT_S * 3)
async def test_four_ledgers_workers_and_edges_of_both_kinds_keep_every_guarantee(run: Run, seats: list[Seat]) -> None:
    chance = run.chance

    async def all_have_settled() -> bool:
        names = (*KINDS["ledger"], *KINDS["ledger-worker"])
        return all([await run.metric(name, "openspot_ledger_trades_total") for name in names])

    async with run.flowing():
        await each_edge_serves(seats)
        await eventually(all_have_settled, 60, 0.2)
        for kind in KINDS.values():
            await run.kill_and_heal(*kind)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            run.kill(*chance.sample(ALL, chance.choice((1, 2, 4))))
            await asyncio.sleep(chance.uniform(0.2, 4.0))
        await run.healed()
        await each_edge_serves(seats)
    await run.heal_and_check()
