"""The composition root of the venue adapter, and its health (fact B4.7-01)."""

import asyncio
import time

from openspot.domain.market import load_markets
from openspot.http.server import serve_health
from openspot.kit.clock import Clock, system_clock
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame
from openspot.venue.ccxt_venue import VenueSettingError, load_exchange_class, open_exchange, parse_config
from openspot.venue.feed import VenueFeed
from openspot.venue.freshness import Freshness
from openspot.venue.intake import Intake, count_drop
from openspot.venue.outbox import TickOutbox
from openspot.venue.publisher import TickPublisher
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
    outbox = TickOutbox(settings.venue_queue_max, count_drop)
    intake = Intake(settings.venue, symbols, outbox, freshness, clock)
    feed = VenueFeed(
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

    async with ServiceFrame("venue", settings, stop) as frame:
        # Both are vital: stale prices are worse than none, and without the bus nobody gets any.
        bus = await frame.connect_bus()
        frame.health.add("venue", check_venue, vital=True)
        await serve_health(frame, settings.venue_port, "OpenSpot venue adapter", settings.venue_host)
        log.info("listening", port=settings.venue_port, venue=settings.venue)
        frame.start("publisher", TickPublisher(bus, outbox, clock).run())
        frame.start("feed", feed.run())
        await frame.until_stopped()


def symbol_map(settings: VenueSettings) -> SymbolMap:
    """The markets that each symbol of the platform takes its ticks from. Raises VenueSettingError."""
    platform_symbols = tuple(load_markets().limits)
    try:
        return SymbolMap(platform_symbols, parse_pairs(settings.venue_symbols, platform_symbols))
    except SymbolPairsError as error:
        raise VenueSettingError(f"OPENSPOT_VENUE_SYMBOLS: {error}") from error
