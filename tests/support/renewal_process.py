"""Does what is due in a process of its own, which can be killed at a chosen statement.

Arguments: the database, the date, and the number of the statement before which the process kills itself (0: never).
Prints how many steps it did.
"""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from typing import Any

import asyncpg

from openspot.kit.database import create_pool
from openspot.kit.settings import Settings
from openspot.subscriptions.plans import load_plans
from openspot.subscriptions.renewals import Renewals
from openspot.subscriptions.store import SubscriptionStore


def killing_connection(statements_max: int) -> type[asyncpg.Connection]:
    """A kind of connection whose process dies before that statement is sent."""
    sent = 0

    class KillingConnection(asyncpg.Connection):  # type: ignore[misc]
        async def _count(self) -> None:
            nonlocal sent
            sent += 1
            if sent == statements_max:
                os.kill(os.getpid(), signal.SIGKILL)

        async def execute(self, *arguments: Any, **options: Any) -> Any:
            await self._count()
            return await super().execute(*arguments, **options)

        async def fetchrow(self, *arguments: Any, **options: Any) -> Any:
            await self._count()
            return await super().fetchrow(*arguments, **options)

        async def fetchval(self, *arguments: Any, **options: Any) -> Any:
            await self._count()
            return await super().fetchval(*arguments, **options)

    return KillingConnection


async def nobody_is_deleted(user_id: str) -> bool:
    """All users are there."""
    return False


async def main(database_url: str, today: str, statements_max: int) -> int:
    """Returns how many steps were done."""
    configuration = load_plans()
    if statements_max:
        pool = await asyncpg.create_pool(
            database_url, min_size=1, max_size=1, connection_class=killing_connection(statements_max)
        )
    else:
        pool = await create_pool(Settings(database_url=database_url))
    now = datetime.fromisoformat(today).replace(tzinfo=UTC)
    renewals = Renewals(
        SubscriptionStore(pool, configuration.retry_days), configuration, nobody_is_deleted, lambda: now
    )
    try:
        return await renewals.run_due()
    finally:
        await pool.close()


if __name__ == "__main__":
    print(asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
