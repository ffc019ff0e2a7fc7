"""Sends transfers under a lock of the service's own.

Whoever holds the lock sends the transfers that it covers, in their order. So two attempts never overlap, and whoever
has the lock and has settled its transfers knows all the money that they move. It costs a database connection while
the engine works. A table needs no columns for attempts and leases then.

No attempts are counted, so nobody can tell a first attempt from a later one. A transfer whose attempt could not be
sent stays pending, therefore: an earlier attempt may have been carried out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from openspot.engine_transfers.attempt import Sent, send, status_after
from openspot.engine_transfers.model import TransferEngine, TransferRules, TransferStatus
from openspot.kit.database import Connection


class LockedTransferStore(Protocol):
    """The table of the transfers, or the module with its SQL."""

    async def decide_transfer(self, connection: Connection, reference: str, status: TransferStatus, code: str) -> None:
        """Write what the engine answered to a pending transfer; with `pending`, why it is still owed."""


async def settle_locked(
    connection: Connection,
    pending: Sequence[Sent],
    *,
    engine: TransferEngine,
    store: LockedTransferStore,
    rules_of: Callable[[Sent], TransferRules[Sent]],
    now: Callable[[], datetime],
) -> list[TransferStatus]:
    """Send `pending` in their order, write and settle each decision; returns their statuses, in that order.

    A transfer that stays `pending` was refused and is owed; the next call sends it again. The transaction of
    `connection` holds a lock that everyone takes before sending any of these transfers.

    Raises EngineError or BusError if an outcome is not known. The transaction must then be rolled back, and the next
    call finds out all outcomes again.
    """
    statuses = []
    for transfer in pending:
        rules = rules_of(transfer)
        result = await send(engine, rules, transfer)
        status = status_after(result, is_owed=rules.is_owed)
        await store.decide_transfer(connection, transfer.reference, status, result.code)
        if status is not TransferStatus.PENDING:
            await rules.settle(connection, transfer, result, now())
        statuses.append(status)
    return statuses
