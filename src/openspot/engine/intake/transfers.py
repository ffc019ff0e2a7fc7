"""Checks the request of a transfer between accounts, field by field, before it becomes commands."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, PARTICIPANT_ID_TEXT, REFERENCE_TEXT, RESERVED_SUFFIXES
from openspot.domain.money import AMOUNT_MAX, MoneyError, parse_decimal, to_amount
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import MOVEMENTS_MAX, REFERENCE_LENGTH_MAX, TransferKind, transfer_digest
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.state.directory import Currency

TRANSFER_REFUSALS = {
    ResultCode.RISK_NSF: "movements: the free funds of an account do not cover what it is to pay",
    ResultCode.REFERENCE_CONFLICT: "reference: another transfer, deposit or withdrawal has it",
}
"""What the core's refusals of a checked transfer mean for its caller."""


class MovementRequest(Protocol):
    """The fields of exchange.v1.Movement."""

    @property
    def from_participant_id(self) -> str: ...

    @property
    def to_participant_id(self) -> str: ...

    @property
    def currency(self) -> str: ...

    @property
    def amount(self) -> str: ...


class CheckedMovement(NamedTuple):
    """A movement with valid names. `amount` is in units of the 18th place."""

    source: str
    destination: str
    currency_id: int
    amount: int


class CheckedTransfer(NamedTuple):
    """The movements of a transfer, and the digest that identifies its kind and movements."""

    movements: list[CheckedMovement]
    digest: int


def checked_transfer(
    reference: str, kind: str, movements: Sequence[MovementRequest], currencies: Mapping[str, Currency]
) -> CheckedTransfer:
    """Check a request. Raises IntakeRefusal, whose message begins with the name of the field."""
    # The ledger's entries are named for the reference, so it must be one that the ledger takes.
    if len(reference) > REFERENCE_LENGTH_MAX or not REFERENCE_TEXT.fullmatch(reference):
        raise IntakeRefusal(
            ResultCode.UNKNOWN_REFERENCE,
            f"reference: must be 1 to {REFERENCE_LENGTH_MAX} visible ASCII characters without quote or backslash",
        )
    if reference.endswith(RESERVED_SUFFIXES):
        ending = reference.rpartition(":")[2]
        raise IntakeRefusal(
            ResultCode.UNKNOWN_REFERENCE, f"reference: must not end in :{ending}, which the ledger gives"
        )
    if kind not in frozenset(TransferKind):
        raise IntakeRefusal(ResultCode.INVALID_TRANSFER, f"kind: must be one of {', '.join(TransferKind)}")
    if not 1 <= len(movements) <= MOVEMENTS_MAX:
        raise IntakeRefusal(
            ResultCode.INVALID_TRANSFER, f"movements: must be 1 to {MOVEMENTS_MAX}, are {len(movements)}"
        )
    checked = [_checked(f"movements[{place}]", movement, currencies) for place, movement in enumerate(movements)]
    described = [
        (sent.source, sent.destination, movement.currency, sent.amount)
        for sent, movement in zip(checked, movements, strict=True)
    ]
    return CheckedTransfer(checked, transfer_digest(TransferKind(kind), described))


def _checked(field: str, movement: MovementRequest, currencies: Mapping[str, Currency]) -> CheckedMovement:
    source, destination = movement.from_participant_id, movement.to_participant_id
    _check_participant(f"{field}.fromParticipantId", source)
    _check_participant(f"{field}.toParticipantId", destination)
    if source == destination:
        raise IntakeRefusal(ResultCode.INVALID_TRANSFER, f"{field}.toParticipantId: must not be the payer")
    currency = currencies.get(movement.currency)
    if currency is None:
        raise IntakeRefusal(ResultCode.INVALID_CURRENCY, f"{field}.currency: there is no such currency")
    try:
        amount = to_amount(parse_decimal(movement.amount))
    except MoneyError as error:
        raise IntakeRefusal(ResultCode.INVALID_AMOUNT, f"{field}.amount: {error}") from error
    if not 0 < amount <= AMOUNT_MAX:
        raise IntakeRefusal(
            ResultCode.INVALID_AMOUNT, f"{field}.amount: must be positive and not above the largest amount"
        )
    return CheckedMovement(source, destination, currency.currency_id, amount)


def _check_participant(field: str, participant_id: str) -> None:
    if not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
        raise IntakeRefusal(ResultCode.AUTH_INVALID_USER, f"{field}: must be 1 to 64 letters, digits or _ : -")
    if participant_id == EXTERNAL_ACCOUNT_ID:
        raise IntakeRefusal(
            ResultCode.AUTH_INVALID_USER, f"{field}: only deposits and withdrawals reach the outside world"
        )
