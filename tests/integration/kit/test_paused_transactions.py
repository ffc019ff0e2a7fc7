"""A process that is stopped in the middle of a transaction does not keep its locks for ever."""

from openspot.kit.database import create_pool
from openspot.kit.settings import Settings

LOCK = "SELECT pg_advisory_xact_lock(20251122)"


async def test_a_transaction_that_pauses_loses_its_locks_to_whoever_waits(settings: Settings) -> None:
    stopped = await create_pool(settings, 1, transaction_pause_s_max=1)
    successor = await create_pool(settings, 1)
    try:
        connection = await stopped.acquire()
        await connection.transaction().start()
        await connection.execute(LOCK)
        # The command's own limit is 30 s: without an end of the pause it raises TimeoutError.
        await successor.execute(LOCK)
    finally:
        stopped.terminate()
        await successor.close()
