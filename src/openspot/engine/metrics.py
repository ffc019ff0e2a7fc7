"""Metrics of the engine."""

import struct
from collections import Counter as Tally

from prometheus_client import Counter, Gauge, Histogram

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import RESULT_SIZE

COMMANDS = Counter("openspot_engine_commands_total", "Commands applied, by result code", ["code"])
REFUSED = Counter("openspot_engine_refused_total", "Commands refused at intake, before the journal", ["code"])
EVENTS = Counter("openspot_engine_events_total", "Events emitted")
BATCH_COMMANDS = Histogram(
    "openspot_engine_batch_commands", "Commands in one journal commit", buckets=(1, 2, 4, 8, 16, 64, 256, 1024, 4096)
)
COMMIT_SECONDS = Histogram(
    "openspot_engine_commit_seconds",
    "Duration of a journal commit",
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1),
)
QUEUE_DEPTH = Gauge("openspot_engine_queue_depth", "Commands waiting for a commit")
CONSUMERS = Gauge("openspot_engine_stream_consumers", "Connections of /ws/events")
CONSUMERS_CUT = Counter("openspot_engine_stream_consumers_cut_total", "Connections of /ws/events cut for being slow")
LOGINS = Counter("openspot_engine_logins_total", "Logins of participants, by outcome", ["outcome"])
INTERRUPTIONS = Counter(
    "openspot_engine_volatility_interruptions_total",
    "Auctions for a fast fair price, begun and extended",
    ["symbol", "cause"],
)
SNAPSHOT_SECONDS = Histogram("openspot_engine_snapshot_seconds", "Duration of taking and writing a snapshot")

_EVENT_COUNT = struct.Struct("<4xI32x")
_code_counters = {int(code): COMMANDS.labels(code.name) for code in ResultCode}
assert max(_code_counters) < 256, "the low byte of a result identifies its code"


def event_count(results: bytes) -> int:
    """How many events the commands with these result records emitted."""
    if len(results) == RESULT_SIZE:
        count: int = _EVENT_COUNT.unpack(results)[0]
        return count
    return sum(count for (count,) in _EVENT_COUNT.iter_unpack(results))


def note_batch(results: bytes) -> None:
    """Count the commands of a batch by result code."""
    if not results:
        return
    BATCH_COMMANDS.observe(len(results) // RESULT_SIZE)
    for code, count in Tally(results[::RESULT_SIZE]).items():
        _code_counters[code].inc(count)
