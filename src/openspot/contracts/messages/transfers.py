"""Transfers between accounts: the event `transfers.executed`."""

import msgspec

from openspot.contracts.messages.message import Message


class TransferMovement(Message, frozen=True):
    """A payment of `amount` of `asset` from `source` to `destination`, participant ids (users or the house's)."""

    source: str = msgspec.field(name="fromId")
    destination: str = msgspec.field(name="toId")
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
