"""The composition root of the venue adapter, and its health (Document B 4.7)."""

import asyncio
import time
from contextlib import AsyncExitStack

from openspot.domain.market import load_markets
from openspot.http.server import serve_health
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.venue.ccxt_venue import VenueSettingError, load_exchange_class, open_exchange, parse_config
from openspot.venue.feed import Feed
from openspot.venue.freshness import Freshness
from openspot.venue.intake import Intake, count_drop
from openspot.venue.outbox import Outbox
from openspot.venue.publisher import Publisher
from openspot.venue.settings import VenueSettings
from openspot.venue.symbols import SymbolMap, SymbolPairsError, parse_pairs

log = get_logger("venue")


async def run(settings: VenueSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Republish until `stop` is set.

    Raises VenueSettingError for a wrong setting or without the library, PortTakenError or BusError if it cannot start.
    """
    if not settings.venue:
        raise VenueSettingError("OPENSPOT_VENUE is not set: name a venue of ccxt, for example binance")
    symbols = symbol_map(settings)
    config = parse_config(settings.venue_config)
    exchange_class = await asyncio.to_thread(load_exchange_class, settings.venue)
    freshness = Freshness(settings.venue_stale_s)
    outbox = Outbox(settings.venue_queue_max, count_drop)
    intake = Intake(settings.venue, symbols, outbox, freshness, clock)
    feed = Feed(
        symbols,
        intake,
        freshness,
        lambda sink: open_exchange(exchange_class, config, sink),
        longest_pause_s=settings.venue_reconnect_s_max,
    )

    async def check_venue() -> None:
        problem = freshness.problem(time.monotonic())
        if problem is not None:
            raise RuntimeError(problem)

    async with AsyncExitStack() as stack:
        bus = await Bus.connect(settings, "venue")
        stack.push_async_callback(bus.close)
        health = Health()
        # Both decide /health: stale prices are worse than none, and without the bus nobody gets any.
        health.add("venue", check_venue, vital=True)
        health.add("bus", bus.check, vital=True)
        server = await serve_health(
            health, settings, settings.venue_port, "OpenSpot venue adapter", settings.venue_host
        )
        stack.push_async_callback(server.stop)
        log.info("listening", port=settings.venue_port, venue=settings.venue)
        working = [asyncio.create_task(task.run()) for task in (Publisher(bus, outbox, clock), feed)]
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([*working, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in working:
                if task.done():
                    task.result()
        finally:
            await end_tasks(*working, stopping)


def symbol_map(settings: VenueSettings) -> SymbolMap:
    """The markets that each symbol of the platform takes its ticks from. Raises VenueSettingError."""
    platform_symbols = tuple(load_markets().limits)
    try:
        return SymbolMap(platform_symbols, parse_pairs(settings.venue_symbols, platform_symbols))
    except SymbolPairsError as error:
        raise VenueSettingError(f"OPENSPOT_VENUE_SYMBOLS: {error}") from error
