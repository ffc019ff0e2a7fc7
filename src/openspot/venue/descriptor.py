"""The venue adapter describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process
from openspot.venue.settings import VenueSettings

DESCRIPTOR = Descriptor(
    name="venue",
    title="Venue adapter",
    settings=VenueSettings,
    processes=(
        Process(
            name="venue",
            title="Venue adapter",
            module="openspot.venue.service",
            host="venue_host",
            listeners=(Listener("venue_port", "health and metrics"),),
            bus=BusAccess(
                publishes=(
                    subjects.of_venue("*", subjects.VENUE_BOOK_TICKER, "*"),
                    subjects.of_venue("*", subjects.VENUE_TRADE, "*"),
                ),
            ),
            enabled_by=("venue",),
            # /ready waits for the venue's first tick, and the platform must start without the venue.
            started_path="/health/live",
        ),
    ),
    addresses=(Address("Venue health", lambda settings: f"{settings.venue_url}/health"),),
)
