"""Finds how far the mirrors are behind the engine, and waits for them up to a bound.

The cursors of the rows show how far they are. The ledger follows through the bus: it has caught up once the router
holds back no event that the ledger needs, and then the ledger's durable consumers have acknowledged every message of
their streams.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.streams import StreamConsumer
from openspot.kit.bus import Bus, BusError
from openspot.kit.settings import Settings
from openspot.ledger.descriptor import SETTLEMENT, TRANSFER_POSTING
from openspot.positions.descriptor import FILLS
from openspot.reconcile.position_queries import FOLLOWS_FILLS
from openspot.reconcile.tables import CONNECT_TIMEOUT_S
from openspot.router.descriptor import COMPLETE, DEPOSIT
from openspot.router.rows_position import rows_position

POLL_S = 0.2
BUS_TIMEOUT_S = 2.0
_LEDGER_SUBJECTS = (subjects.TRADES_EXECUTED, subjects.TRANSFERS_EXECUTED)


FOLLOWERS = (SETTLEMENT, TRANSFER_POSTING, DEPOSIT, COMPLETE)
"""The durable consumers whose messages become ledger entries."""


class MirrorProgress(NamedTuple):
    """Whether the mirrors have caught up. `settled` is about the ledger; None if the bus did not answer.

    `counted` is about the position service; None if it follows no trades, or the bus did not answer.
    """

    rows_reached: bool
    settled: bool | None
    counted: bool | None = None


async def wait_for_mirrors(settings: Settings, sequence: int, timeout_s: float) -> MirrorProgress:
    """Wait for at most `timeout_s` seconds until the mirrors have processed the engine's event `sequence`.

    Raises an asyncpg error, OSError or TimeoutError if the database does not answer.
    """
    deadline = time.monotonic() + timeout_s
    connection = await asyncpg.connect(settings.database_url, timeout=CONNECT_TIMEOUT_S)
    try:
        rows_reached = await _wait_for_rows(connection, sequence, deadline)
        follows_fills = await connection.fetchval(f"SELECT {FOLLOWS_FILLS}")
        all_published = await _wait_for_held_events(connection, sequence, deadline)
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)
    is_with_ledger = rows_reached and all_published
    if not is_with_ledger:
        return MirrorProgress(rows_reached, False, False)
    settled = await _wait_for_consumers(settings, deadline, FOLLOWERS)
    counted = await _wait_for_consumers(settings, deadline, (FILLS,)) if follows_fills else None
    return MirrorProgress(rows_reached, settled, counted)


async def _wait_for_rows(connection: asyncpg.Connection, sequence: int, deadline: float) -> bool:
    """Wait for the rows of all partitions. Returns whether they reach the event `sequence` by the deadline."""
    while True:
        position = await rows_position(connection)
        if (0 if position is None else position.least) >= sequence:
            return True
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(POLL_S)


async def _wait_for_held_events(connection: asyncpg.Connection, sequence: int, deadline: float) -> bool:
    """Whether the router publishes by the deadline what it holds for the ledger up to the event `sequence`.

    The router holds events that the bus does not take, for example while a subject's circuit breaker is open. The rows
    do not wait for them.
    """
    while await connection.fetchval(
        "SELECT EXISTS (SELECT FROM router_held_events WHERE sequence <= $1 AND subject = ANY ($2::text[]))",
        sequence,
        _LEDGER_SUBJECTS,
    ):
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(POLL_S)
    return True


async def _wait_for_consumers(settings: Settings, deadline: float, followers: Sequence[StreamConsumer]) -> bool | None:
    """Whether these consumers catch up by the deadline; None if the bus did not answer until then."""
    short = settings.model_copy(update={"request_timeout_s": BUS_TIMEOUT_S})
    try:
        async with asyncio.timeout(BUS_TIMEOUT_S):
            bus = await Bus.connect(short, "reconcile")
    except (BusError, TimeoutError):
        return None
    targets: dict[StreamConsumer, int] | None = None
    try:
        while True:
            caught_up = None
            # Ask again if the bus is just coming back, or its cluster is electing a leader.
            with suppress(BusError):
                if targets is None:
                    targets = {
                        follower: await bus.newest(follower.stream.name, follower.subject) for follower in followers
                    }
                reached = [await _has_reached(bus, *follower) for follower in targets.items()]
                caught_up = all(reached)
            if caught_up or time.monotonic() >= deadline:
                return caught_up
            await asyncio.sleep(POLL_S)
    finally:
        await bus.close()


async def _has_reached(bus: Bus, follower: StreamConsumer, target: int) -> bool:
    """Whether everything up to the stream sequence `target` is acknowledged."""
    if not target:
        return True
    state = await bus.consumer_state(follower.stream.name, follower.durable)
    return state is not None and (state.lag == 0 or state.acknowledged_until >= target)
