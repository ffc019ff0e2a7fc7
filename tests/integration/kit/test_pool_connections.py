"""What a use of a pool leaves behind in its connection."""

import asyncpg

from openspot.kit.database import create_pool
from openspot.kit.settings import Settings
from tests.support.waiting import stretched


async def test_a_statement_that_was_parsed_and_never_run_keeps_no_lock_in_the_pool(settings: Settings) -> None:
    async with await create_pool(settings, 1) as pool:
        async with pool.acquire() as connection:
            await connection.prepare("SELECT * FROM orders WHERE order_id = $1")
        other = await asyncpg.connect(settings.database_url)
        try:
            # Without the reset of docs/adr/0110 this would wait until the pool closes the connection.
            await other.execute(f"SET lock_timeout = '{stretched(5)}s'")
            await other.execute("BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE; ROLLBACK")
        finally:
            await other.close()
