"""One attempt of a transfer, and what its result means."""

from typing import TypeVar

from openspot.engine_transfers.model import (
    SentTransfer,
    TransferEngine,
    TransferResult,
    TransferRules,
    TransferStatus,
)

Sent = TypeVar("Sent", bound=SentTransfer)


async def send(engine: TransferEngine, rules: TransferRules[Sent], transfer: Sent) -> TransferResult:
    """Do what the kind does before each attempt, then send the transfer.

    Raises EngineError or BusError if the outcome is not known.
    """
    await rules.before(transfer)
    return await engine.transfer(transfer.reference, transfer.movements, transfer.kind)


def status_after(result: TransferResult, *, is_owed: bool) -> TransferStatus:
    """The status of a transfer after a result: a refusal is final, unless the platform owes the transfer."""
    if result.succeeded:
        return TransferStatus.DONE
    return TransferStatus.PENDING if is_owed else TransferStatus.REFUSED
