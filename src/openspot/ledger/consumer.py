"""The durable consumer of `trades.executed`, shared by all ledger processes."""

from collections.abc import Awaitable, Callable

from openspot.contracts.messages import ExecutedTrade
from openspot.kit.bus import Consumption, DurableConsumer
from openspot.kit.bus.consumer import ConsumingBus
from openspot.ledger.descriptor import SETTLEMENT

INTERVAL_S = 0.1
"""Batches that are not full are at least this far apart: a transaction for one trade costs as much as for a hundred."""

Settle = Callable[[list[ExecutedTrade]], Awaitable[None]]
"""Settles a batch of trades. If it raises, the batch is delivered again."""


def trade_consumer(bus: ConsumingBus, settle: Settle, interval_s: float = INTERVAL_S) -> DurableConsumer[ExecutedTrade]:
    """Return a consumer that hands batches of executed trades to `settle`."""
    return DurableConsumer(bus, Consumption.of(SETTLEMENT, ExecutedTrade, interval_s=interval_s), settle)
