"""What the ledger posts for money that the engine moved, for a rebuild from the engine's events.

The router's custody bridge posts the same under the same transaction ids (facts A1.5-03, A1.5-07), so a rebuild of a
running platform posts nothing twice.
"""

from openspot.contracts.engine_events import BalanceEvent
from openspot.contracts.messages import LedgerPosting
from openspot.ledger.changes import CreditOrDebit
from openspot.ledger.schemas import checked_credit_or_debit

_ENTRY_TYPES = {"DEPOSIT": ("deposit", 1), "COMMIT": ("withdrawal", -1)}


def credit_or_debit_of(event: BalanceEvent) -> CreditOrDebit | None:
    """The credit or debit that mirrors `event`, or None if nothing mirrors it.

    Nothing mirrors an operator's adjustment (fact A1.5-12), a hold or its end, or money that was moved in the engine
    without a reference. Raises InvalidRequestError for a reference that the ledger does not take.
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
