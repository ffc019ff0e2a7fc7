"""Does what is due in a process of its own, which can be killed at a chosen statement.

Arguments: the database, the time, a file that stands for the engine, and the number of the statement before which the
process kills itself (0: never). Prints how many steps it did.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from openspot.contracts.messages import SendNotification
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer, TransferResult, TransferRules
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.kit.database import create_pool
from openspot.kit.settings import Settings
from openspot.subscriptions.charging import ChargeRules
from openspot.subscriptions.metrics import TRANSFERS
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


class EngineFile:
    """An engine that every process knows: a file with the references of all that it has carried out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Carry everything out, once for each reference."""
        if reference not in self._path.read_text("utf-8").splitlines():
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{reference}\n")
        return TransferResult(True, "SUCCESS")


async def tell_nobody(notification: SendNotification) -> None:
    """Nobody listens."""


async def nobody_is_deleted(user_id: str) -> bool:
    """All users are there."""
    return False


async def main(database_url: str, time: str, engine: str, statements_max: int) -> int:
    """Returns how many steps were done."""
    configuration = load_plans()
    if statements_max:
        pool = await asyncpg.create_pool(
            database_url, min_size=1, max_size=1, connection_class=killing_connection(statements_max)
        )
    else:
        pool = await create_pool(Settings(database_url=database_url))
    now = datetime.fromisoformat(time).replace(tzinfo=UTC)
    store = SubscriptionStore(pool, configuration.retry_days)
    transfers = TransferStore(pool, table="subscription_transfers")
    rules = ChargeRules(store, transfers, configuration.retry_days, tell_nobody)
    kinds: dict[TransferKind, TransferRules[Transfer]] = {TransferKind.SUBSCRIPTION: rules}
    runner = TransferRunner(transfers, EngineFile(Path(engine)), kinds, TRANSFERS, lambda: now)
    renewals = Renewals(store, configuration, rules, transfers, runner, nobody_is_deleted, lambda: now)
    try:
        await runner.resume()
        return await renewals.run_due()
    finally:
        await pool.close()


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:4], int(sys.argv[4]))))
