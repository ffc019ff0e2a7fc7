"""Broken on purpose: real processes are killed, stand still or crawl under real order flow.

Afterwards, with no hand moved, engine, ledger, order and trade rows and candles agree to the last digit, each trade is
settled once, each deposit credited once, and every order that a client was told of is there and in the right state. The
seed of a run is printed; `OPENSPOT_FAULT_SEED` repeats its choices, `OPENSPOT_FAULT_SECONDS` and
`OPENSPOT_FAULT_OUTAGE_SECONDS` make it longer.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

import pytest

from openspot.up.child_platform import ChildPlatform
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.fault_run import OUTAGE_S, SECONDS, TIMEOUT_S, Run, running
from tests.support.slow_disk import slow_disk
from tests.support.suspension import frozen
from tests.support.waiting import eventually

VICTIMS = ("router", "ledger", "ledger-worker", "engine", "NATS", "PostgreSQL", "rest-edge", "market-data")


@pytest.fixture
async def run(breakable: ChildPlatform) -> AsyncIterator[Run]:
    async with running(breakable) as run:
        yield run


@pytest.fixture(params=["breakable", "platform"], ids=["apart", "one process"])
async def run_of_either(request: pytest.FixtureRequest) -> AsyncIterator[Run]:
    """With REST edge and router in a process each, and in one."""
    async with running(request.getfixturevalue(request.param)) as run:
        yield run


@pytest.mark.timeout(TIMEOUT_S * 2)
@pytest.mark.spec("A1-04", "A1.2-04", "A1.2-05", "A1.2-06", "A1.5-07", "A1.5-08", "A6.4-06", "A6.4-07", "A6.4-08")
async def test_router_ledger_and_engine_killed_under_load_lose_nothing(platform: ChildPlatform) -> None:
    async with running(platform) as run:
        async with run.flowing():
            for name in ("router", "ledger", "engine"):
                await run.kill_and_heal(name)
        await run.heal_and_check()


@pytest.mark.proof
@pytest.mark.timeout(SECONDS + TIMEOUT_S * 2)
@pytest.mark.spec("A1-04", "A1.2-04", "A1.2-05", "A1.2-06", "A1.3-35", "A1.5-04", "A1.5-06", "A1.5-07", "A1.5-08",
                  "A6.4-06", "A6.4-07", "A6.4-08")  # fmt: skip
async def test_nothing_is_lost_and_nothing_counts_twice_whatever_is_killed(run_of_either: Run) -> None:
    run = run_of_either
    chance = run.chance
    one_by_one = list(VICTIMS)
    chance.shuffle(one_by_one)
    several = [chance.sample(VICTIMS, 2), chance.sample(VICTIMS, 3), list(VICTIMS)]
    async with run.flowing():
        for name in one_by_one:
            await run.kill_and_heal(name)
        # From here on nobody is waited for: the next ones are killed while others are still coming back.
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline or several:
            count = chance.choice((1, 1, 1, 2, 2, 3, len(VICTIMS)))
            run.kill(*(several.pop(0) if several else chance.sample(VICTIMS, count)))
            await asyncio.sleep(chance.uniform(0.2, 7.0))
    await run.heal_and_check()


@pytest.mark.proof
@pytest.mark.timeout(OUTAGE_S + TIMEOUT_S)
@pytest.mark.spec("A1.5-05", "A1.5-06", "A6.4-07", "A6.4-08")
@pytest.mark.parametrize("name", ["PostgreSQL", "NATS"])
@pytest.mark.parametrize("how", ["dead", "standing still"])
async def test_a_dependency_that_is_away_is_waited_for(run: Run, name: str, how: str) -> None:
    away: AbstractContextManager[None] = run.away(name) if how == "dead" else frozen(run.pid(name))
    async with run.flowing():
        with away:
            began = time.monotonic()
            if name == "PostgreSQL":
                # What is only written behind the engine does not hold an order up.
                await run.takes_orders()
            await asyncio.sleep(began + OUTAGE_S - time.monotonic())
        began = time.monotonic()
        await run.healed()
        await run.takes_orders()
        run.note(f"{name}, {how} for {OUTAGE_S:g} s: ready and taking orders", began)
    await run.heal_and_check()


@pytest.mark.proof
@pytest.mark.timeout(OUTAGE_S + TIMEOUT_S)
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06", "A6.4-08")
async def test_a_slow_disk_of_the_database_slows_the_mirrors_and_not_the_orders(run: Run) -> None:
    async with run.flowing():
        server = EmbeddedPostgres(run.settings.data_dir / "postgres")
        async with slow_disk(server.administrator_url(), run.pid("PostgreSQL"), run.chance):
            accepted = len(run.flow.replies.accepted)
            began = time.monotonic()
            await asyncio.sleep(OUTAGE_S)
            orders = len(run.flow.replies.accepted) - accepted
            print(f"{orders / (time.monotonic() - began):.0f} orders/s with a slow disk")
            await eventually(lambda: len(run.flow.replies.accepted) > accepted, 30)
        await run.takes_orders()
    await run.heal_and_check()
