"""What the ledger posts for money that the engine moved, for a rebuild from the engine's events.

The router's custody bridge posts the same under the same transaction ids (facts A1.5-03, A1.5-07), so a rebuild of a
running platform posts nothing twice.
"""

from openspot.contracts.engine_events import BalanceEvent
from openspot.contracts.messages import LedgerPosting
from openspot.ledger.changes import CreditOrDebit
from openspot.ledger.schemas import checked_credit_or_debit

ADJUSTMENT_TYPE = "adjustment"
"""The type of an entry that books an engine adjustment; that of an adjustment which was a transfer is the same."""
ENGINE_REFERENCE = "engine"
"""The reference type of such an entry."""
_ENTRY_TYPES = {"DEPOSIT": ("deposit", 1), "COMMIT": ("withdrawal", -1)}


def credit_or_debit_of(event: BalanceEvent) -> CreditOrDebit | None:
    """The credit or debit that mirrors `event`, or None if nothing mirrors it.

    Nothing mirrors an operator's adjustment by itself (fact A1.5-12; `booking_of`), a hold or its end, or money that
    was moved in the engine without a reference. Raises InvalidRequestError for a reference that the ledger refuses.
    """
    if event.kind not in _ENTRY_TYPES or not event.reference:
        return None
    entry_type, sign = _ENTRY_TYPES[event.kind]
    request = LedgerPosting(
        event.reference,
        event.participant_id,
        event.asset,
        event.amount.removeprefix("-"),
        entry_type,
        "custody",
        event.reference,
        already_moved=True,
    )
    return checked_credit_or_debit(request, sign)


def booking_id(epoch: str, sequence: int) -> str:
    """The transaction id under which the ledger books the adjustment that is this event of the journal `epoch`."""
    return f"engine-adjustment:{epoch}-{sequence}"


def booking_of(event: BalanceEvent, epoch: str) -> CreditOrDebit | None:
    """The credit or debit that books an engine adjustment once operators want it booked; None for another event.

    Its id follows from the event, so an adjustment is booked once. Raises InvalidRequestError for an account that the
    ledger does not take.
    """
    if event.kind != "ADJUST":
        return None
    name = booking_id(epoch, event.seq)
    request = LedgerPosting(
        name,
        event.participant_id,
        event.asset,
        event.amount.removeprefix("-"),
        ADJUSTMENT_TYPE,
        ENGINE_REFERENCE,
        name,
        already_moved=True,
    )
    return checked_credit_or_debit(request, -1 if event.amount.startswith("-") else 1)
