"""Three routers and three ledger workers at a time, killed in turn and together under real order flow.

What must hold afterwards is what `test_faults.py` asks of one process of each.
"""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.fault_run import HEALED_S_MAX, SECONDS, TIMEOUT_S, Beside, Run, running
from tests.support.ports import free_port
from tests.support.suspension import frozen
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

ROUTERS = ("router", "router-2", "router-3")
WORKERS = ("ledger-worker", "ledger-worker-2", "ledger-worker-3")
LEADS = "openspot_router_translator_leads"


@pytest.fixture
async def run(breakable: ChildPlatform) -> AsyncIterator[Run]:
    """A platform with two more routers and workers beside its own."""
    names = (*ROUTERS[1:], *WORKERS[1:])
    beside = {name: Beside(breakable, SERVICES[name[:-2]], free_port()) for name in names}
    try:
        await asyncio.gather(*(one.child.start() for one in beside.values()))
        await asyncio.gather(*(one.child.await_started() for one in beside.values()))
        async with running(breakable, beside) as run:
            yield run
    finally:
        await asyncio.gather(*(one.child.stop() for one in beside.values()))


async def leader(run: Run, *apart_from: str) -> str:
    """The router that translates the engine's events, once there is one, apart from those that do not count."""

    async def found() -> str | None:
        for name in ROUTERS:
            if name not in apart_from and await run.metric(name, LEADS):
                return name
        return None

    return str(await eventually(found, HEALED_S_MAX, 0.05))


@pytest.mark.timeout(SECONDS + TIMEOUT_S * 2)
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06", "A1.5-07", "A1.5-08", "A6.4-06", "A6.4-07", "A6.4-08")
async def test_three_routers_and_three_ledger_workers_keep_every_guarantee(run: Run) -> None:
    chance = run.chance

    async def all_have_worked() -> bool:
        orders = [await run.metric(name, "openspot_router_orders_total") for name in ROUTERS]
        trades = [await run.metric(name, "openspot_ledger_trades_total") for name in WORKERS]
        return all(orders) and all(trades)

    async with run.flowing():
        await eventually(all_have_worked, 60, 0.2)
        first = await leader(run)
        began = time.monotonic()
        with frozen(run.pid(first)):
            # It believes to have the lease when it wakes up: what it then does must do no harm.
            await leader(run, first)
            run.note("the translating router stands still: another translates", began)
            await run.settles_trades()
        for pair in zip(ROUTERS, WORKERS, strict=True):
            await run.kill_and_heal(*pair)
        await run.kill_and_heal(*ROUTERS)
        await run.kill_and_heal(*WORKERS, "ledger")
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            run.kill(*chance.sample((*ROUTERS, *WORKERS, "ledger"), chance.choice((1, 2, 3))))
            await asyncio.sleep(chance.uniform(0.2, 4.0))
    await run.heal_and_check()
