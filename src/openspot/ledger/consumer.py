"""The durable consumer of `trades.executed`, shared by all ledger processes."""

from collections.abc import Awaitable, Callable

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade
from openspot.contracts.streams import TRADES
from openspot.kit.bus import Consumption, DurableConsumer
from openspot.kit.bus.consumer import ConsumingBus

DURABLE = "ledger-settlement"
BATCH_MAX = 1000
INTERVAL_S = 0.1
"""Batches that are not full are at least this far apart: a transaction for one trade costs as much as for a hundred."""
ACKNOWLEDGE_WAIT_S = 10.0
"""After this time without an acknowledgement the bus gives a trade to another process, in case this one died."""

Settle = Callable[[list[ExecutedTrade]], Awaitable[None]]
"""Settles a batch of trades. If it raises, the batch is delivered again."""


def trade_consumer(bus: ConsumingBus, settle: Settle, interval_s: float = INTERVAL_S) -> DurableConsumer[ExecutedTrade]:
    """Return a consumer that hands batches of executed trades to `settle`."""
    consumption = Consumption(
        TRADES,
        subjects.TRADES_EXECUTED,
        DURABLE,
        ExecutedTrade,
        BATCH_MAX,
        acknowledge_wait_s=ACKNOWLEDGE_WAIT_S,
        interval_s=interval_s,
    )
    return DurableConsumer(bus, consumption, settle)
