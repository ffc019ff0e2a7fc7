"""After the flow: wait until the mirrors have caught up with the engine, then compare everything."""

import asyncio
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.money import EXACT
from openspot.reconcile.comparison import (
    compare_acknowledged,
    compare_balances,
    compare_fills,
    compare_orders,
    compare_trades,
)
from openspot.reconcile.projection import EngineProjection
from openspot.reconcile.records import Difference, OrderFacts, TradeFacts
from openspot.reconcile.store import EngineReader, MirrorReader

POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of the comparison. `volume` is in the base asset."""

    caught_up: bool
    trades: int
    volume: Decimal
    accounts_compared: int
    orders_compared: int
    differences: list[Difference]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The edge's replies to its clients: ids of orders that it accepted, and of orders that it cancelled."""

    accepted: Set[str]
    cancelled: Set[str]


async def check_agreement(
    engine: EngineReader,
    mirror: MirrorReader,
    users: Sequence[str],
    acknowledged: Acknowledged,
    from_sequence: int,
    timeout_s: float,
) -> Agreement:
    """Compare engine, ledger, rows and replies of `users`. The mirrors get `timeout_s` to catch up.

    `from_sequence` is the first engine event of the flow. Raises EngineUnavailableError.
    """
    known = EngineProjection()
    async for events in engine.events(from_sequence):
        known.apply_all(events)
    mine = frozenset(users)
    orders = {key: order for key, order in known.orders.items() if order.user_id in mine}
    trades = {key: trade for key, trade in known.trades.items() if mine & {trade.buyer_id, trade.seller_id}}
    participants = [*users, FEE_ACCOUNT_ID]
    deadline = time.monotonic() + timeout_s
    caught_up = await _wait_for_counts(mirror, users, len(orders), len(trades), deadline)
    while True:
        late = time.monotonic() >= deadline
        totals = await engine.balances(participants)
        differences = compare_balances(totals, await mirror.balances(participants))
        # The ledger is usually last. Read the rows after it has settled.
        if late or not differences:
            differences += await _row_differences(mirror, users, orders, trades)
        if late or not differences:
            break
        await asyncio.sleep(POLL_S)
    differences += compare_acknowledged(orders, acknowledged.accepted, acknowledged.cancelled)
    volume = Decimal(0)
    for trade in trades.values():
        volume = EXACT.add(volume, trade.quantity)
    return Agreement(caught_up, len(trades), volume, len(totals), len(orders), differences)


async def _wait_for_counts(
    mirror: MirrorReader, users: Sequence[str], orders: int, trades: int, deadline: float
) -> bool:
    """Wait until there are as many rows as the engine has orders and trades. Counting is cheaper than reading."""
    while True:
        rows = await mirror.counts(users)
        if rows.orders >= orders and rows.trades >= trades:
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_S)


async def _row_differences(
    mirror: MirrorReader, users: Sequence[str], orders: dict[str, OrderFacts], trades: dict[str, TradeFacts]
) -> list[Difference]:
    order_rows, trade_rows = await mirror.orders(users), await mirror.trades(users)
    return [
        *compare_orders(orders, order_rows),
        *compare_trades(trades, trade_rows),
        *compare_fills(order_rows, trade_rows),
    ]
