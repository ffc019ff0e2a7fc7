"""kill -9 at random and at the worst times: every acknowledged command survives exactly once."""

import asyncio
import importlib.util
import os
import random
import time
from decimal import Decimal
from pathlib import Path

import grpc
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.engine import journal_path
from openspot.engine.journal import snapshots
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, EngineProcess, engine_process, engine_settings, order
from tests.support.engine_faults import (
    FULL_DISK,
    KILLED_AFTER_A_SNAPSHOT_IS_RENAMED,
    KILLED_AFTER_APPLY,
    KILLED_AFTER_COMMIT,
    KILLED_BEFORE_A_SNAPSHOT_IS_RENAMED,
    KILLED_BEFORE_COMMIT,
    KILLED_IN_HALF_A_SNAPSHOT,
    tear,
    tell_to_die,
)
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.engine_witness import Witness
from tests.support.parts import first_then_proof
from tests.support.waiting import stretched

KILLS = int(os.environ.get("OPENSPOT_ENGINE_KILLS", "50"))
"""How often an engine with each core is killed at random times; `make test` does the first ten, nightly runs 200."""
KILLS_OF_A_JOURNAL = 10
"""After this many kills a new journal begins, because a check takes longer the longer the history."""
LOAD_S_MAX = 0.1
START_S_MAX = 0.6

CORES = ("rust", "reference") if importlib.util.find_spec("openspot_matching") else ("reference",)


def other_core(core: str) -> str:
    """The core for the check: the other core if both are available."""
    return next((name for name in CORES if name != core), core)


async def restart(child: EngineProcess, engine: EngineClient) -> None:
    child.start()
    await child.ready(engine)


@pytest.mark.spec("A6.4-05")
@pytest.mark.timeout(stretched(60 + 4 * KILLS))
@pytest.mark.parametrize("kills_wanted", first_then_proof(KILLS_OF_A_JOURNAL, KILLS - KILLS_OF_A_JOURNAL))
@pytest.mark.parametrize("core", CORES)
async def test_kills_at_random_times_under_load_lose_and_repeat_nothing(
    tmp_path: Path, nursery: Nursery, core: str, kills_wanted: int
) -> None:
    chance = random.Random(20_260_729 + kills_wanted)
    started = time.monotonic()
    kills = in_start = torn = answered = trades = 0
    while kills < kills_wanted:
        # Frequent snapshots and few events in memory, so that kills also happen during their handling.
        settings = engine_settings(
            tmp_path / str(kills), engine_core=core, engine_snapshot_interval=1000, engine_stream_buffer=500
        )
        witness = Witness(chance.getrandbits(32))
        last = min(kills + KILLS_OF_A_JOURNAL, kills_wanted)
        async with forked_engine(settings, nursery) as (child, engine):
            await witness.fund(engine)
            while kills < last:
                load = asyncio.create_task(witness.load(engine))
                await asyncio.sleep(chance.uniform(0, LOAD_S_MAX))
                child.kill()
                kills += 1
                await load
                if chance.random() < 0.3:
                    tear(settings, chance.randrange(1, 4096))
                    torn += 1
                if chance.random() < 0.2 and kills < last:
                    child.start()
                    await asyncio.sleep(chance.uniform(0, START_S_MAX))
                    child.kill()
                    kills, in_start = kills + 1, in_start + 1
                await restart(child, engine)
                await witness.check(engine, child, other_core(core))
            await witness.check_history(engine)
            assert child.stop() == 0
            await restart(child, engine)
            await witness.check(engine, child, other_core(core))
        answered, trades = answered + witness.answered, trades + witness.trades
    assert answered > kills_wanted
    assert trades > kills_wanted
    seconds = time.monotonic() - started
    print(
        f"\n{kills} kills -9 of the {core} core ({in_start} in a start, {torn} with a torn commit), {answered} answers,"
        f" {trades} trades: nothing lost, nothing twice, sums unchanged, state = replay from zero; {seconds:.0f} s"
    )


@pytest.mark.spec("A6.4-05")
@pytest.mark.parametrize("moment", ["before commit", "after commit", "after apply"])
async def test_a_kill_between_commit_and_response_leaves_the_command_once(
    settings: Settings, nursery: Nursery, moment: str
) -> None:
    preparation = {
        "before commit": KILLED_BEFORE_COMMIT,
        "after commit": KILLED_AFTER_COMMIT,
        "after apply": KILLED_AFTER_APPLY,
    }[moment]
    durable = moment != "before commit"
    witness = Witness(1)
    async with forked_engine(settings, nursery, preparation) as (child, engine):
        await witness.fund(engine)
        resting = order("sell", "100", "2", "bob")
        await witness.place(engine, [resting])

        async def killed_in(call: object) -> None:
            tell_to_die(settings)
            with pytest.raises(grpc.aio.AioRpcError):
                await call  # type: ignore[misc]
            assert child.wait() == -9
            await restart(child, engine)
            await witness.check(engine, child, "auto")

        taking = order("buy", "100", "1", "alice")
        before = witness.trades
        await killed_in(engine.send(taking))
        assert (await engine.find(taking.order_id)).found is durable
        assert witness.trades == before + durable
        again = await engine.send(taking)
        assert again.result_code == ("DUPLICATE_ORDER_ID" if durable else "SUCCESS")

        many = [order("buy", "99", "0.1", "alice") for _ in range(20)]
        await killed_in(engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=many)))
        assert {(await engine.find(one.order_id)).found for one in many} == {durable}
        await killed_in(engine.cancel(resting.order_id, "bob"))
        assert (await engine.find(resting.order_id)).status == ("CANCELLED" if durable else "PARTIALLY_FILLED")

        for amount in (Decimal(7), Decimal(-3)):
            had = Decimal((await engine.balances())["USD"].total)
            await killed_in(witness.transfer(engine, "alice", "USD", amount, reference=f"transfer of {amount}"))
            assert Decimal((await engine.balances())["USD"].total) == had + (amount if durable else 0)
            assert await witness.transfer(engine, "alice", "USD", amount, reference=f"transfer of {amount}")
            assert Decimal((await engine.balances())["USD"].total) == had + amount
        child.kill()
        await restart(child, engine)
        await witness.check(engine, child, "auto")
        await witness.check_history(engine)


@pytest.mark.proof
@pytest.mark.parametrize(
    "preparation",
    [KILLED_IN_HALF_A_SNAPSHOT, KILLED_BEFORE_A_SNAPSHOT_IS_RENAMED, KILLED_AFTER_A_SNAPSHOT_IS_RENAMED],
    ids=["half written", "not renamed", "renamed"],
)
async def test_a_kill_during_a_snapshot_loses_nothing_and_leaves_no_draft(
    tmp_path: Path, nursery: Nursery, preparation: str
) -> None:
    settings = engine_settings(tmp_path, engine_snapshot_interval=1000)
    folder = journal_path(settings).with_name(snapshots.FOLDER)
    witness = Witness(2)
    async with forked_engine(settings, nursery, preparation) as (child, engine):
        await witness.fund(engine)
        tell_to_die(settings)
        await witness.load(engine)
        assert child.wait() == -9
        renamed = preparation == KILLED_AFTER_A_SNAPSHOT_IS_RENAMED
        assert (len(list(folder.glob("*.snapshot"))), len(list(folder.glob("*.draft")))) == (renamed, not renamed)
        await restart(child, engine)
        await witness.check(engine, child, "auto")
        await witness.check_history(engine)
        assert child.stop() == 0
        assert list(folder.glob("*.draft")) == []
        await restart(child, engine)
        await witness.check(engine, child, "auto")


@pytest.mark.proof
@pytest.mark.spec("A1.1-65")
async def test_a_kill_while_the_disk_is_full_loses_no_acknowledged_command(settings: Settings) -> None:
    witness = Witness(4)
    async with engine_process(settings, FULL_DISK) as (child, engine):
        await witness.fund(engine)
        # The load ends with the first call that fails because the disk is full.
        await witness.load(engine)
        assert "full" in (await engine.request("GET", "/health"))[1]["error"]["journal"]["message"]
        child.kill()
        roomy = EngineProcess(settings)
        child.process = None
        await restart(roomy, engine)
        child.process = roomy.process
        await witness.check(engine, roomy, "auto")
        await witness.check_history(engine)
        assert witness.answered > 100
