"""A transfer: an atomic list of movements under a reference that the engine carries out at most once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

import msgspec

from openspot.domain.money import decimal_to_text, parse_decimal
from openspot.domain.transfer import Movement, TransferKind
from openspot.kit.database import Connection


class TransferStatus(StrEnum):
    """States of a transfer. It is `pending` until the engine has decided; the others are final."""

    PENDING = "pending"
    DONE = "done"
    REFUSED = "refused"


class SentTransfer(Protocol):
    """What the engine is told of a transfer."""

    @property
    def reference(self) -> str:
        """Names the transfer among those of all services."""

    @property
    def kind(self) -> TransferKind:
        """What it is for."""

    @property
    def movements(self) -> tuple[Movement, ...]:
        """What it moves, in this order."""


SentT_contra = TypeVar("SentT_contra", bound=SentTransfer, contravariant=True)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of the row `subject_id` of its kind."""

    reference: str
    kind: TransferKind
    subject_id: str
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What the engine decided: it moved everything, or nothing for the reason `code`."""

    succeeded: bool
    code: str


class TransferEngine(Protocol):
    """Carries transfers out: the engine, or what stands for it in a test."""

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing, once for each reference; a repeated call returns the first outcome.

        Raises EngineUnreachableError if nothing was sent; any other EngineError leaves the outcome unknown.
        """


class TransferRules(Protocol[SentT_contra]):
    """What a kind of transfer does when its outcome is known."""

    is_owed: bool
    """Whether a refused transfer stays due. The platform owes it: nobody else can call it off."""

    async def before(self, transfer: SentT_contra) -> None:
        """Do what must be done before each attempt, as often as it is called. Raises BusError or EngineError."""

    async def settle(
        self, connection: Connection, transfer: SentT_contra, result: TransferResult, now: datetime
    ) -> None:
        """Write the outcome into the kind's own rows, in the transaction that decides the transfer."""


def encode_movements(movements: Sequence[Movement]) -> str:
    """Movements as the JSON text that a table keeps, amounts as text."""
    rows = [[each.source, each.destination, each.asset, decimal_to_text(each.amount)] for each in movements]
    return msgspec.json.encode(rows).decode()


def decode_movements(text: str) -> tuple[Movement, ...]:
    """The opposite of `encode_movements`."""
    rows = msgspec.json.decode(text, type=list[tuple[str, str, str, str]])
    return tuple(
        Movement(source, destination, asset, parse_decimal(amount)) for source, destination, asset, amount in rows
    )
