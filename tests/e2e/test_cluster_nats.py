"""The bus as a cluster: three NATS servers, streams and buckets with three replicas, nodes killed under order flow.

What must hold afterwards is what `test_faults.py` asks of a single server.
"""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from openspot.contracts.streams import ORDERS, STREAMS, TRADES
from openspot.router.translation.lease import LEASE_BUCKET
from tests.support.fault_run import SECONDS, TIMEOUT_S, Run, kept_after_failure, running
from tests.support.nats_cluster import NODES, NatsCluster
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, stretched

pytestmark = pytest.mark.proof


@pytest.fixture
async def cluster_run(request: pytest.FixtureRequest) -> AsyncIterator[tuple[NatsCluster, Run]]:
    """A cluster and a platform on it."""
    with kept_after_failure(request) as folder:
        cluster = NatsCluster(folder)
        environment = {
            "OPENSPOT_THROTTLE_ENABLED": "false",
            "NATS_URL": cluster.addresses,
            "OPENSPOT_BUS_REPLICAS": str(NODES),
        }
        platform = child_platform(folder, environment)
        try:
            await asyncio.to_thread(cluster.start)
            await cluster.formed()
            await asyncio.to_thread(platform.start, stretched(START_S_MAX))
            async with running(platform) as run:
                yield cluster, run
        finally:
            await asyncio.to_thread(platform.stop)
            await asyncio.to_thread(cluster.stop)


@pytest.mark.timeout(SECONDS + TIMEOUT_S * 3)
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06", "A6.4-07", "A6.4-08")
async def test_a_node_of_the_bus_is_killed_and_brought_back(cluster_run: tuple[NatsCluster, Run]) -> None:
    cluster, run = cluster_run
    copies = await cluster.copies([*(stream.name for stream in STREAMS), f"KV_{LEASE_BUCKET}"])
    assert set(copies.values()) == {NODES}
    assert await cluster.compressed(sorted(copies)) == set()
    chance = run.chance
    deadline = time.monotonic() + SECONDS
    plan = [TRADES.name, ORDERS.name]
    async with run.flowing():
        while plan or time.monotonic() < deadline:
            leads = plan.pop(0) if plan else chance.choice(sorted(copies))
            node = await cluster.leader_of(leads)
            run.killed.update([node])
            began = time.monotonic()
            cluster.kill(node)
            # Two of three are enough: orders are taken, traded and settled while the third is away.
            await run.takes_orders()
            run.note(f"{node}, which led {leads}, killed: orders taken", began)
            await run.settles_trades()
            run.note(f"{node}, which led {leads}, killed: trades settled", began)
            cluster.start(node)
            await cluster.formed()
            run.note(f"{node} killed and brought back: every copy current", began)
        nodes = chance.sample(sorted(cluster.nodes), 2)
        run.killed.update(nodes)
        cluster.kill(*nodes)
        # One node alone keeps no stream, but carries requests.
        await run.takes_orders()
        began = time.monotonic()
        cluster.start(*nodes)
        await cluster.formed()
        await run.healed()
        await run.takes_orders()
        run.note("two nodes killed and brought back: ready and taking orders", began)
    await run.heal_and_check()
