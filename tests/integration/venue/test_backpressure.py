"""A bus that does not keep up costs ticks, which are counted, and never memory or the venue's connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psutil
import pytest

from openspot.up.embedded_nats import EmbeddedNats
from openspot.venue import publisher
from openspot.venue.settings import VenueSettings
from tests.support.venue import BusTicks, Counts, of, quote, running_adapter, running_simulator, send, subscribed, trade
from tests.support.waiting import eventually

QUEUE_MAX = 100
UNCONFIRMED_MAX = 64
BATCH_MAX = 16
SENT = 2000


@asynccontextmanager
async def standing_still(server: EmbeddedNats) -> AsyncIterator[None]:
    """The server's process stops: its connections stay open, and nothing is read or written."""
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    process.suspend()
    try:
        await eventually(lambda: process.status() == psutil.STATUS_STOPPED)
        yield
    finally:
        process.resume()


async def test_with_a_bus_that_stands_still_the_newest_quote_waits_and_trades_are_dropped_and_counted(
    venue_settings: VenueSettings, nats_server: EmbeddedNats, ticks: BusTicks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "UNCONFIRMED_MAX", UNCONFIRMED_MAX)
    monkeypatch.setattr(publisher, "BATCH_MAX", BATCH_MAX)
    async with (
        running_simulator() as venue,
        running_adapter(of(venue_settings, venue, venue_queue_max=QUEUE_MAX, venue_stale_s=60.0)),
    ):
        await subscribed(venue)
        await send(venue, quote(1), trade(1))
        await eventually(lambda: len(ticks.heard) == 2)
        counts = Counts()
        async with standing_still(nats_server):
            for number in range(2, SENT + 2):
                await send(venue, quote(number), trade(number))

            def all_are_taken() -> bool:
                taken = counts("openspot_venue_ticks_total") + counts("openspot_venue_dropped_total")
                return taken + counts("openspot_venue_waiting_ticks") >= 2 * SENT

            await eventually(all_are_taken)
            assert counts("openspot_venue_ticks_total") <= UNCONFIRMED_MAX + BATCH_MAX
            assert counts("openspot_venue_waiting_ticks") <= QUEUE_MAX + 1
            replaced = counts.dropped("bookTicker", "replaced")
            lost = counts.dropped("trade", "queue_full")
            assert replaced > SENT / 2
            assert lost > SENT / 2
            # The venue's connection was read all the time.
            assert counts("openspot_venue_reconnects_total") == 0
        newest = f"{SENT + 1}.00000000"
        await eventually(lambda: newest in ticks.bid_quantities)
        await eventually(lambda: len(ticks.heard) == 2 + 2 * SENT - replaced - lost)
        await send(venue, trade(SENT + 2))
        await eventually(lambda: ticks.trade_ids[-1] == SENT + 2)
    assert ticks.trade_ids == sorted(set(ticks.trade_ids))


async def test_ticks_go_on_after_the_bus_was_away(
    venue_settings: VenueSettings, nats_server: EmbeddedNats, ticks: BusTicks
) -> None:
    async with running_simulator() as venue, running_adapter(of(venue_settings, venue)):
        await subscribed(venue)
        await send(venue, trade(1))
        await eventually(lambda: ticks.trade_ids == [1])
        nats_server.stop()
        await send(venue, trade(2))
        nats_server.start()
        sent = 2

        async def hears_again() -> bool:
            nonlocal sent
            sent += 1
            await send(venue, trade(sent))
            return ticks.trade_ids[-1] > 2

        await eventually(hears_again)
    assert ticks.trade_ids == sorted(set(ticks.trade_ids))
