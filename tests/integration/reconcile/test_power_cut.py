"""A power cut of NATS in full flow: afterwards the mirrors catch up, and every account agrees with the engine."""

import asyncio
from pathlib import Path

import asyncpg

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.mirrored_market import mirrored_market
from tests.support.ports import free_port
from tests.support.power_cut import after_power_cut
from tests.support.waiting import eventually

TRADES_BEFORE_THE_CUT = 20


async def test_after_a_power_cut_of_nats_the_books_agree(
    settings: Settings, pool: asyncpg.Pool, disk_folder: Path
) -> None:
    server = EmbeddedNats(disk_folder / "nats-before", free_port())
    server.start()
    settings = settings.model_copy(update={"nats_url": server.url, "nats_synced": True})
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()

    async def some_are_settled() -> bool:
        query = "SELECT count(DISTINCT reference_id) FROM ledger_entries WHERE reference_type = 'trade'"
        return await pool.fetchval(query) >= TRADES_BEFORE_THE_CUT

    try:
        async with mirrored_market(settings, bus, pool) as market:
            await market.fund()

            async def flow() -> None:
                while True:
                    await market.trade(1)

            flowing = asyncio.create_task(flow())
            await eventually(some_are_settled, 60)
            # The cut meets events on their way: trades go on all the time.
            server = after_power_cut(server, disk_folder / "nats-after")
            flowing.cancel()
            await asyncio.wait({flowing})
            assert flowing.cancelled(), "orders went on until the end"
        server.start()
        async with mirrored_market(settings, bus, pool) as market:
            report = await market.reconcile(60)
            assert (report.caught_up, report.differences) == (True, [])
            assert report.trades >= TRADES_BEFORE_THE_CUT
            before = report.trades
            await market.trade()
            report = await market.reconcile(60)
            assert report.differences == []
            assert report.trades > before
    finally:
        await bus.close()
        server.stop()
