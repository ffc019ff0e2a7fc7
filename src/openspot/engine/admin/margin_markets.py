"""What the engine keeps to where margin offers a market. It knows no position, so it relies on who asked margin.

Such a market is delisted in two steps (docs/adr/0135-margin-is-asked-before-a-delisting.md): its delisting is
scheduled, and from then on margin takes nothing new that needs it. It is carried out for a caller who says that
margin was asked after that. So the engine never carries it out by itself.
"""

from collections.abc import Sequence

from openspot.contracts.listings import MarketTerms, StatusAt
from openspot.domain.listing import MarketStatus
from openspot.domain.margin_offer import margin_offer

NOT_SCHEDULED = "DELISTING_NOT_SCHEDULED"
NOT_ASKED = "MARGIN_NOT_ASKED"

_ON_MARGIN = margin_offer().markets


def due_by_itself(symbol: str, schedule: Sequence[StatusAt]) -> StatusAt | None:
    """The next scheduled status that the engine carries out by itself; None if there is none."""
    first = schedule[0] if schedule else None
    if first is None or (symbol in _ON_MARGIN and first.status == MarketStatus.DELISTING.value):
        return None
    return first


def delisting_refusal(symbol: str, terms: MarketTerms, *, was_asked: bool) -> tuple[str, str] | None:
    """Why a market is not delisted now: a code, and a message with the field and the reason. None if it may be.

    `was_asked` says that the caller asked margin about the market as it is.
    """
    if symbol not in _ON_MARGIN:
        return None
    if not is_leaving(terms):
        return NOT_SCHEDULED, (
            f"schedule: {symbol} is offered on margin: schedule its delisting first, so that margin takes nothing new "
            "that needs it, and holders know until when to close"
        )
    if not was_asked:
        return NOT_ASKED, (
            f"marginAsked: {symbol} is offered on margin: delist it in the operator console, which asks margin whether "
            "an account still needs it"
        )
    return None


def deletion_fault(symbol: str, terms: MarketTerms | None) -> str:
    """Why a symbol cannot be deleted; empty if it can."""
    if symbol not in _ON_MARGIN or (terms is not None and terms.status == MarketStatus.DELISTED.value):
        return ""
    return f"symbol: {symbol} is offered on margin: delist it first"


def is_leaving(terms: MarketTerms) -> bool:
    """Whether the delisting of a market is scheduled, so that margin takes nothing new that needs it."""
    return any(entry.status == MarketStatus.DELISTING.value for entry in terms.schedule)
