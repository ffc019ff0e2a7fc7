"""The translation in partitions by symbol: shared by routers, taken over, and divided anew, with nothing lost."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import asyncpg
import pytest

from openspot.domain.partition import Partition
from openspot.engine_client.position import StreamPosition
from openspot.engine_client.queries import EngineQueries
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.reconcile.rebuild import rebuild
from openspot.router.division import PartitionsRefusedError
from openspot.router.rows_position import PassedEvents, rows_position
from openspot.router.service import run
from openspot.router.store import FencedError, RouterStore, RowBatch
from openspot.router.translation.translation import Translation
from openspot.router.translation.translator import Translator
from tests.support.mirrored_market import METADATA, MirroredMarket, mirrored_market
from tests.support.ports import free_port
from tests.support.router_client import RouterProcess, router_process, router_ready, running_router, stored
from tests.support.waiting import eventually, stretched

LEASE_S = stretched(1.0)


def divided(settings: Settings, partitions: int) -> Settings:
    return settings.model_copy(update={"translator_partitions": partitions, "translator_lease_s": LEASE_S})


@pytest.fixture
async def market(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MirroredMarket]:
    """Engine and ledger, and no router."""
    async with mirrored_market(settings, bus, pool, ("engine", "ledger")) as made:
        yield made


async def fund(market: MirroredMarket) -> None:
    await market.fund()
    for user in ("alice", "bob"):
        await market.deposit(user, "ETH", "100")

    async def has_eth() -> bool:
        return all(["ETH" in await market.engine.balances(user) for user in ("alice", "bob")])

    await eventually(has_eth)


async def trade(market: MirroredMarket, rounds: int = 5) -> None:
    """Trades on BTC-USD and ETH-USD, which are in different partitions of two and of three, and resting orders."""
    for _ in range(rounds):
        for symbol in ("BTC-USD", "ETH-USD"):
            for side, quantity, user in (("buy", "0.3", "alice"), ("sell", "0.2", "bob")):
                placed = await market.engine.place(side, "100", quantity, user, symbol=symbol, metadata=METADATA)
                assert placed.result_code == "SUCCESS", placed


async def rows_are_at(pool: asyncpg.Pool, sequence: int) -> bool:
    position = await rows_position(pool)
    return position is not None and position.least >= sequence


@asynccontextmanager
async def translating(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[Translation]:
    """A router's translation in this process."""
    queries = EngineQueries(settings)
    translation = Translation(
        settings=settings, bus=bus, store=RouterStore(pool), session=queries.session, engine_url=settings.engine_url
    )
    await translation.prepare()
    task = asyncio.create_task(translation.run())
    try:
        yield translation
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await queries.close()


@asynccontextmanager
async def a_router(settings: Settings, *, is_killed: bool) -> AsyncIterator[None]:
    """A router that stops in order, or one in a process that is killed."""
    if not is_killed:
        async with running_router(settings):
            yield
        return
    async with router_process(settings):
        yield


@pytest.mark.parametrize("is_killed", [False, pytest.param(True, marks=pytest.mark.proof)])
async def test_the_number_of_partitions_changes_amid_trades_and_nothing_is_lost_or_doubled(
    market: MirroredMarket, settings: Settings, pool: asyncpg.Pool, nats_url: str, is_killed: bool
) -> None:
    for number, count in enumerate((1, 3, 2, 1)):
        async with a_router(divided(settings, count), is_killed=is_killed):
            if not number:
                await fund(market)
            # The router ends amid its work.
            await trade(market)
        assert await pool.fetchval("SELECT count(*) FROM engine_cursors WHERE is_current") == count
        await trade(market)
    async with running_router(divided(settings, 1)):
        last = await market.engine.last_sequence()
        await eventually(lambda: rows_are_at(pool, last))
        assert await market.differences() == []
    ids = Counter(message_id for subject, _, message_id in await stored(nats_url, "TRADES"))
    assert set(ids.values()) == {1}
    assert len(ids) == await pool.fetchval("SELECT count(*) FROM trades") >= 80


async def test_a_second_router_gets_its_share_and_takes_the_rest_when_the_first_is_killed(
    market: MirroredMarket, settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    halves = divided(settings, 2)
    first = RouterProcess(halves)
    first.start()
    try:
        await router_ready(halves)
        await fund(market)
        async with translating(halves, bus, pool) as second:

            async def leads(count: int) -> bool:
                return second.leads == count

            await eventually(lambda: leads(1), 30)
            await trade(market)
            first.kill()
            await trade(market)
            await eventually(lambda: leads(2), 30)
            last = await market.engine.last_sequence()
            await eventually(lambda: rows_are_at(pool, last))
            await second.check()
            assert await market.differences() == []
    finally:
        if first.exit_code is None:
            first.kill()


async def test_the_cursor_of_a_quiet_partition_moves(
    market: MirroredMarket, settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    async with running_router(divided(settings, 2)):
        await market.fund()
        await market.trade()
        last = await market.engine.last_sequence()
        await eventually(lambda: rows_are_at(pool, last))
        cursors = await pool.fetch("SELECT partition, sequence FROM engine_cursors ORDER BY partition")
        assert [tuple(cursor) for cursor in cursors] == [(0, last), (1, last)]
        assert await market.differences() == []


async def test_a_router_with_another_number_does_not_start_beside_one_that_works(
    market: MirroredMarket, settings: Settings, pool: asyncpg.Pool
) -> None:
    other = divided(settings, 3).model_copy(update={"router_port": free_port()})
    async with running_router(divided(settings, 2)):
        with pytest.raises(PartitionsRefusedError, match="is 3 here, but routers work with 2 partitions"):
            await asyncio.wait_for(run(other, asyncio.Event()), stretched(60))
    assert await RouterStore(pool).division.begin(3) == 2


async def moved(store: RouterStore, last: StreamPosition | None, position: StreamPosition) -> None:
    await store.write(last, RowBatch((), (), (), position))


async def test_a_router_whose_number_is_not_the_stored_one_any_more_says_so_and_writes_nothing(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    store = RouterStore(pool)
    assert await store.division.begin(2) == 2
    old = store.of(Partition(0, 2))
    await moved(old, None, StreamPosition("e", 7))
    await store.division.change(2, 3)
    with pytest.raises(FencedError):
        await moved(old, StreamPosition("e", 7), StreamPosition("e", 8))
    with pytest.raises(FencedError, match="no partition 0 of 2"):
        await old.resumption()
    async with aiohttp.ClientSession() as session:
        stale = Translation(
            settings=divided(settings, 2), bus=bus, store=store, session=session, engine_url="http://127.0.0.1:1"
        )
        task = asyncio.create_task(stale.run())

        async def fault() -> str | None:
            try:
                await stale.check()
            except Exception as error:
                return str(error)
            return None

        assert "the stored number is 3" in str(await eventually(fault))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_new_division_begins_at_the_least_position_and_knows_what_is_written_beyond_it(
    pool: asyncpg.Pool,
) -> None:
    store = RouterStore(pool)
    assert await store.division.begin(2) == 2
    # A second router with the same number finds it, and changes nothing.
    assert await store.division.begin(2) == 2
    for number, sequence in enumerate((30, 20)):
        await moved(store.of(Partition(number, 2)), None, StreamPosition("e", sequence))
    await store.division.change(2, 3)
    # Another router has made the change already.
    await store.division.change(2, 3)
    earlier = (PassedEvents(Partition(0, 2), 30), PassedEvents(Partition(1, 2), 20))
    for number in range(3):
        resumption = await store.of(Partition(number, 3)).resumption()
        assert (resumption.position, resumption.earlier) == (StreamPosition("e", 20), earlier)
    await moved(store.of(Partition(2, 3)), StreamPosition("e", 20), StreamPosition("e", 25))
    await store.division.change(3, 2)
    resumption = await store.of(Partition(1, 2)).resumption()
    assert resumption.position == StreamPosition("e", 20)
    assert PassedEvents(Partition(2, 3), 25) in resumption.earlier


async def test_partitions_of_two_journals_keep_their_number(pool: asyncpg.Pool) -> None:
    store = RouterStore(pool)
    await store.division.begin(2)
    for number, epoch in enumerate(("old", "new")):
        await moved(store.of(Partition(number, 2)), None, StreamPosition(epoch, 5))
    with pytest.raises(PartitionsRefusedError, match="different journals"):
        await store.division.change(2, 1)
    assert await store.division.begin(1) == 2


async def test_rows_of_partitions_at_different_positions_are_compared_and_rebuilt_each_to_its_own(
    market: MirroredMarket, settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    halves = divided(settings, 2)
    async with running_router(halves):
        await fund(market)
        await trade(market)
        first = await market.engine.last_sequence()
        await eventually(lambda: rows_are_at(pool, first))
    await trade(market)
    last = await market.engine.last_sequence()
    queries = EngineQueries(settings)
    ahead = Translator(
        settings=halves,
        bus=bus,
        store=RouterStore(pool),
        session=queries.session,
        engine_url=settings.engine_url,
        partition=Partition(1, 2),
    )
    task = asyncio.create_task(ahead.run())
    of_eth = "SELECT sequence FROM engine_cursors WHERE partition = 1"
    await eventually(lambda: pool.fetchval(f"{of_eth} AND sequence >= $1", last))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await queries.close()
    assert not await rows_are_at(pool, last)
    kinds = {difference.kind for difference in (await market.reconcile(0)).differences}
    assert not kinds & {"order", "trade"}, kinds
    gone = "DELETE FROM trades WHERE symbol = 'ETH-USD' AND sequence > $1 RETURNING trade_id"
    lost = await pool.fetch(gone, first)
    assert lost
    assert "trade" in {difference.kind for difference in (await market.reconcile(0)).differences}
    rebuilt = await rebuild(settings, is_plan=False)
    assert (rebuilt.counts.get("order row", 0), rebuilt.counts.get("trade row", 0)) == (0, len(lost))
