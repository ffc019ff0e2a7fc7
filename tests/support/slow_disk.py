"""Makes the disk of a database slow, without another disk and without rights on this one.

Two things that a slow disk does are done to a real server. Every flush of its write-ahead log waits another 100 ms,
by PostgreSQL's own `commit_delay` (its bound) with `commit_siblings = 0`: the flushing process waits while it holds
the log's write lock, as it does on such a disk, so that other commits wait with it and are flushed together. And every
few seconds the disk hangs altogether: all processes of the server stand still (SIGSTOP) for a second or two.

Reads from the server's cache stay fast between two hangs, as with a slow disk.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from openspot.kit.tasks import end_tasks
from tests.support.suspension import frozen
from tests.support.waiting import eventually

FLUSH_DELAY_S = 0.1
HANG_S = (0.5, 2.0)
BETWEEN_HANGS_S = (1.5, 4.0)


@asynccontextmanager
async def slow_disk(administrator_url: str, pid: int, chance: random.Random) -> AsyncIterator[None]:
    """Make the disk of the server with the process id `pid` slow. The context begins when a client notices."""
    connection = await asyncpg.connect(administrator_url)
    try:
        await connection.execute(f"ALTER SYSTEM SET commit_delay = {round(FLUSH_DELAY_S * 1_000_000)}")
        await connection.execute("ALTER SYSTEM SET commit_siblings = 0")
        await connection.execute("SELECT pg_reload_conf()")
        try:
            await eventually(lambda: _commit_is_slow(connection))
            hanging = asyncio.create_task(_hang(pid, chance))
            try:
                yield
            finally:
                await end_tasks(hanging)
        finally:
            await connection.execute("ALTER SYSTEM RESET commit_delay")
            await connection.execute("ALTER SYSTEM RESET commit_siblings")
            await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


async def _commit_is_slow(connection: asyncpg.Connection) -> bool:
    """Whether a commit that changes something waits.

    While others commit all the time, it is flushed together with one that began to wait before it: on the average, it
    waits for half of the delay.
    """
    began = time.monotonic()
    await connection.execute("SELECT pg_logical_emit_message(true, 'slow_disk', '')")
    return time.monotonic() - began >= FLUSH_DELAY_S / 2


async def _hang(pid: int, chance: random.Random) -> None:
    while True:
        await asyncio.sleep(chance.uniform(*BETWEEN_HANGS_S))
        with frozen(pid):
            await asyncio.sleep(chance.uniform(*HANG_S))
