"""Transfers between accounts: the event `transfers.executed`."""

from openspot.contracts.messages.message import Message


class TransferMovement(Message, frozen=True):
    """A payment of `amount` of `asset` from one account to another; both are participant ids or the house's."""

    from_id: str
    to_id: str
    asset: str
    amount: str


class ExecutedTransfer(Message, frozen=True):
    """Payload of `transfers.executed`: published once for each transfer, with all its movements.

    `id` is the transfer's reference, `kind` a domain.transfer.TransferKind. `sequence` is the sequence of its last
    event in the engine.
    """

    id: str
    kind: str
    movements: list[TransferMovement]
    sequence: int
    timestamp: int
