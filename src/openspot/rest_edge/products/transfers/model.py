"""A transfer: an atomic list of movements under a reference that the engine carries out at most once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from openspot.domain.money import decimal_to_text, parse_decimal
from openspot.domain.transfer import Movement, TransferKind
from openspot.kit.database import Connection


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


class Transfers(Protocol):
    """Carries transfers out: the engine, or what stands for it in a test."""

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing, once for each reference; a repeated call returns the first outcome.

        Raises EngineUnreachableError if nothing was sent; any other EngineError leaves the outcome unknown.
        """


class TransferRules(Protocol):
    """What a kind of transfer does when its outcome is known."""

    is_owed: bool
    """Whether a refused transfer stays due. The platform owes it: nobody else can call it off."""

    async def before(self, transfer: Transfer) -> None:
        """Do what must be done before each attempt, as often as it is called. Raises BusError or EngineError."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write the outcome into the kind's own rows, in the transaction that decides the transfer."""


Now = Callable[[], datetime]


def movements_to_json(movements: Sequence[Movement]) -> list[list[str]]:
    """Movements as the database keeps them, amounts as text."""
    return [[each.source, each.destination, each.asset, decimal_to_text(each.amount)] for each in movements]


def movements_from_json(rows: Sequence[Sequence[str]]) -> tuple[Movement, ...]:
    """The opposite of `movements_to_json`."""
    return tuple(
        Movement(source, destination, asset, parse_decimal(amount)) for source, destination, asset, amount in rows
    )
