"""Metrics of the venue adapter, and the values of their labels."""

from enum import StrEnum

from prometheus_client import Counter, Gauge, Histogram

from openspot.contracts import subjects


class TickKind(StrEnum):
    """Kinds of tick, as subjects name them."""

    BOOK_TICKER = subjects.VENUE_BOOK_TICKER
    TRADE = subjects.VENUE_TRADE


class DropReason(StrEnum):
    """Why a tick was not published."""

    UNKNOWN_SYMBOL = "unknown_symbol"
    UNUSABLE = "unusable"
    """A field is missing, or is not a positive number."""
    UNCHANGED = "unchanged"
    """The quote equals the last one of its market."""
    REPEATED = "repeated"
    """The trade was received before."""
    PAST = "past"
    """The trade was made before the session began."""
    REPLACED = "replaced"
    """A newer quote replaced it while it waited for the bus."""
    QUEUE_FULL = "queue_full"
    """Too many ticks waited for the bus."""


PUBLISHED = Counter("openspot_venue_ticks_total", "Ticks published", ["kind"])
DROPPED = Counter("openspot_venue_dropped_total", "Ticks not published", ["kind", "reason"])
UNREADABLE = Counter("openspot_venue_unreadable_frames_total", "Frames of the venue that are not valid messages")
SESSIONS = Counter("openspot_venue_sessions_total", "Sessions started with the venue")
RECONNECTS = Counter("openspot_venue_reconnects_total", "Sessions that ended: closed, silent or failed", ["reason"])
WAITING = Gauge("openspot_venue_waiting_ticks", "Ticks that wait for the bus")
LAG = Histogram(
    "openspot_venue_lag_seconds",
    "From the venue's time of a tick to its publication; the two clocks may differ",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
