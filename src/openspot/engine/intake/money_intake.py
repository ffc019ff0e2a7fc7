"""Turns requests about money into commands: deposits, withdrawals, holds, adjustments, transfers and links of owners.

As in command_intake.py, what cannot become a command is refused here, without any event.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.intake.command_intake import CommandIntake
from openspot.engine.intake.owner_links import LinkRequest, checked_owners, owner_changes
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import CommandOutcome, Sequencer
from openspot.engine.intake.transfers import MovementRequest, checked_transfer
from openspot.engine.state.directory import PARTICIPANT_KINDS, Note
from openspot.engine.state.state_machine import StateMachine

REFERENCE_LENGTH_MAX = 256
OWNER_CHANGES_MAX = 256
"""Accounts whose owner one list of links changes at most, so that the commands of others come between two."""


class OwnerChanges(NamedTuple):
    """Changes of owners that were submitted, and how many remain. `future` is None if there was nothing to change."""

    submitted: int
    remaining: int
    future: asyncio.Future[CommandOutcome] | None


class MoneyIntake:
    """Submits commands about money to one sequencer."""

    def __init__(self, machine: StateMachine, sequencer: Sequencer, intake: CommandIntake) -> None:
        self._machine = machine
        self._sequencer = sequencer
        self._intake = intake

    def change_balance(
        self, kind: CommandKind, participant_id: str, currency: str, amount: str, reference: str, action: Note = ()
    ) -> asyncio.Future[CommandOutcome]:
        """Submit a DEPOSIT, WITHDRAW, RESERVE or ADJUST of a decimal `amount`. `action` is as in CommandIntake.submit.

        Raises IntakeRefusal, EngineStoppedError.
        """
        directory = self._machine.directory
        known = directory.currencies.get(currency)
        if known is None:
            raise IntakeRefusal(ResultCode.INVALID_CURRENCY)
        if not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
            raise IntakeRefusal(ResultCode.AUTH_INVALID_USER)
        units = _amount(amount)
        if units == 0:
            raise IntakeRefusal(ResultCode.INVALID_AMOUNT)
        low, high = _reference(reference)
        self._intake.admit(2 if action else 1)
        new_allowed = kind in PARTICIPANT_KINDS
        account = directory.account_or_new(participant_id) if new_allowed else directory.account(participant_id)
        return self._intake.submit(
            Command(kind, symbol=known.currency_id, account=account, amount=units, price=low, quantity=high),
            (participant_id, reference),
            action,
        )

    def end_reservation(
        self, kind: CommandKind, reference: str, participant_id: str = "", currency: str = "", amount: str = ""
    ) -> asyncio.Future[CommandOutcome]:
        """Submit a RELEASE or COMMIT of the amount held under `reference`.

        If `amount` is given, the core refuses the command unless participant, currency and amount match what is held.
        Raises IntakeRefusal, EngineStoppedError.
        """
        low, high = _reference(reference)
        command = Command(kind, price=low, quantity=high)
        if amount:
            directory = self._machine.directory
            known, units = directory.currencies.get(currency), _amount(amount)
            if known is None:
                raise IntakeRefusal(ResultCode.INVALID_CURRENCY)
            if units == 0:
                raise IntakeRefusal(ResultCode.INVALID_AMOUNT)
            account = directory.account(participant_id)
            command = command._replace(symbol=known.currency_id, account=account, amount=units)
        return self._intake.submit(command, ("", reference))

    def transfer(
        self, reference: str, kind: str, movements: Sequence[MovementRequest]
    ) -> asyncio.Future[CommandOutcome]:
        """Submit a transfer in one commit. The last result of the outcome is the transfer's.

        Raises IntakeRefusal with the name of the bad field, EngineStoppedError.
        """
        directory = self._machine.directory
        checked = checked_transfer(reference, kind, movements, directory.currencies)
        self._intake.admit(len(checked.movements) + 1)
        low, high = _reference(reference)
        time_ns = self._sequencer.now()
        commands = [
            Command(
                CommandKind.MOVEMENT,
                timestamp=time_ns,
                symbol=movement.currency_id,
                order_id=directory.account(movement.source),
                # Submitted in this same turn, so no other command can take the number of a new participant.
                account=directory.account_or_new(movement.destination),
                amount=movement.amount,
            )
            for movement in checked.movements
        ]
        commands.append(
            Command(
                CommandKind.TRANSFER,
                timestamp=time_ns,
                order_id=len(commands),
                price=low,
                quantity=high,
                amount=checked.digest,
            )
        )
        notes: list[Note] = [(movement.destination,) for movement in checked.movements]
        return self._sequencer.submit(b"".join(command.encode() for command in commands), [*notes, (kind, reference)])

    def set_owners(self, links: Sequence[LinkRequest]) -> OwnerChanges:
        """Let `links`, which are all that count, be those of the core, OWNER_CHANGES_MAX accounts a call.

        Raises IntakeRefusal, EngineStoppedError.
        """
        owners, machine = checked_owners(links), self._machine
        strays = machine.directory.stray_margin_accounts
        changes = owner_changes(owners, self._known_account, strays, machine.core.owner_links())
        made = changes[:OWNER_CHANGES_MAX]
        if not made:
            return OwnerChanges(0, 0, None)
        self._intake.admit(len(made))
        time_ns = self._sequencer.now()
        commands = b"".join(
            Command(CommandKind.SET_OWNER, timestamp=time_ns, account=account, order_id=owner).encode()
            for account, owner in made
        )
        notes = [(machine.directory.participant(account),) for account, _ in made]
        return OwnerChanges(len(made), len(changes) - len(made), self._sequencer.submit(commands, notes))

    def _known_account(self, participant_id: str) -> int:
        """The account of a participant, 0 if the core has none: the directory names it before the first deposit counts.

        The core would refuse a link of such an account, and every comparison would write the refusal to the journal.
        """
        number = self._machine.directory.account(participant_id)
        return 0 if self._machine.core.account(number) is None else number


def _amount(text: str) -> int:
    """The amount in amount units. Returns 0, which is refused, if `text` is not an amount."""
    try:
        return to_amount(parse_decimal(text))
    except MoneyError:
        return 0


def _reference(text: str) -> tuple[int, int]:
    """(low, high) half of the 128-bit digest of an external reference; zeros for an empty one. Raises IntakeRefusal."""
    if not text:
        return 0, 0
    if len(text) > REFERENCE_LENGTH_MAX:
        raise IntakeRefusal(ResultCode.UNKNOWN_REFERENCE)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little", signed=True), int.from_bytes(digest[8:], "little", signed=True)
