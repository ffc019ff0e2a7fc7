"""How far the mirrors are behind the engine, and a bounded wait for them.

The rows follow by their cursor. The ledger follows through the bus: it has caught up with a moment once every
message that was there at that moment has been acknowledged, which its durable consumers tell.
"""

import asyncio
import time
from contextlib import suppress
from typing import NamedTuple

import asyncpg
import nats
import nats.errors
import nats.js.errors
from nats.js import JetStreamContext

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, TRADES
from openspot.kit.settings import Settings
from openspot.ledger.consumer import DURABLE
from openspot.reconcile.tables import CONNECT_TIMEOUT_S
from openspot.router.store import CONSUMER

POLL_S = 0.2
BUS_TIMEOUT_S = 2
_BUS_ERRORS = (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError)


class Follower(NamedTuple):
    """A durable consumer that leads to ledger entries."""

    stream: str
    subject: str
    durable: str


FOLLOWERS = (
    Follower(TRADES.name, subjects.TRADES_EXECUTED, DURABLE),
    Follower(CUSTODY.name, subjects.CUSTODY_DEPOSIT_CONFIRMED, "router-deposit"),
    Follower(CUSTODY.name, subjects.CUSTODY_WITHDRAWAL_COMPLETED, "router-complete"),
)


class Progress(NamedTuple):
    """How far the mirrors have come: `settled` is None where the bus could not be asked."""

    rows_reached: bool
    settled: bool | None


async def wait_for_mirrors(settings: Settings, sequence: int, timeout_s: float) -> Progress:
    """Wait until the mirrors have seen the engine's event `sequence`, at most `timeout_s` seconds.

    Raises what asyncpg raises, OSError or TimeoutError if the database does not answer.
    """
    deadline = time.monotonic() + timeout_s
    rows_reached = await _wait_for_rows(settings.database_url, sequence, deadline)
    return Progress(rows_reached, await _wait_for_ledger(settings, deadline))


async def _wait_for_rows(database_url: str, sequence: int, deadline: float) -> bool:
    connection = await asyncpg.connect(database_url, timeout=CONNECT_TIMEOUT_S)
    try:
        while True:
            reached = await connection.fetchval("SELECT sequence FROM engine_cursors WHERE consumer = $1", CONSUMER)
            if (reached or 0) >= sequence:
                return True
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(POLL_S)
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)


async def _wait_for_ledger(settings: Settings, deadline: float) -> bool | None:
    """Whether the ledger has caught up by then; None where the bus could not be asked until then."""
    try:
        # Left alone, the library tries a first connection for minutes.
        async with asyncio.timeout(BUS_TIMEOUT_S):
            client = await nats.connect(
                settings.nats_servers,
                reconnect_time_wait=POLL_S,
                max_reconnect_attempts=-1,
                error_cb=_note_nothing,
            )
    except _BUS_ERRORS:
        return None
    jetstream = client.jetstream(timeout=BUS_TIMEOUT_S)
    targets: dict[Follower, int] | None = None
    try:
        while True:
            caught_up = None
            # A bus that is just coming back, or whose cluster elects a leader, is asked again.
            with suppress(*_BUS_ERRORS):
                if targets is None:
                    targets = {follower: await _newest(jetstream, follower) for follower in FOLLOWERS}
                reached = [await _has_reached(jetstream, *follower) for follower in targets.items()]
                caught_up = all(reached)
            if caught_up or time.monotonic() >= deadline:
                return caught_up
            await asyncio.sleep(POLL_S)
    finally:
        await client.close()


async def _note_nothing(_: Exception) -> None:
    """What goes wrong is raised as well, where it matters."""


async def _newest(jetstream: JetStreamContext, follower: Follower) -> int:
    """The stream sequence of the newest message for `follower`, 0 if there is none."""
    try:
        return (await jetstream.get_last_msg(follower.stream, follower.subject)).seq or 0
    except nats.js.errors.NotFoundError:
        return 0


async def _has_reached(jetstream: JetStreamContext, follower: Follower, target: int) -> bool:
    """Whether everything up to `target` is acknowledged."""
    if not target:
        return True
    try:
        info = await jetstream.consumer_info(follower.stream, follower.durable)
    except nats.js.errors.NotFoundError:
        return False
    if info.num_pending == 0 and info.num_ack_pending == 0:
        return True
    return info.ack_floor is not None and info.ack_floor.stream_seq >= target
