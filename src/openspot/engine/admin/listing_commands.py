"""The commands of the journal that a change of a market's listing consists of."""

from collections.abc import Mapping

import msgspec

from openspot.contracts.listings import ListingChange, MarketTerms, differences
from openspot.domain.listing import MarketStatus
from openspot.domain.market_phase import MarketPhase
from openspot.domain.symbol import SymbolSpec
from openspot.engine.admin.acting import Acting
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind
from openspot.engine.state.directory import LIST_MARKET, Note

_UNSIGNED = 2**64
PHASES: Mapping[MarketStatus, MarketPhase] = {
    MarketStatus.POST_ONLY: MarketPhase.POST_ONLY,
    MarketStatus.AUCTION: MarketPhase.AUCTION,
    MarketStatus.OPEN: MarketPhase.CONTINUOUS,
}


def update(spec: SymbolSpec, *, active: bool, taker: int | None = None, maker: int | None = None) -> Command:
    """The command that changes whether a symbol takes orders, and its fees, which stay if they are None."""
    taker = spec.taker_fee_bps if taker is None else taker
    maker = spec.maker_fee_bps if maker is None else maker
    return Command(
        CommandKind.UPDATE_SYMBOL,
        flags=FLAG_ACTIVE if active else 0,
        symbol=spec.symbol_id,
        order_id=taker % _UNSIGNED,
        account=maker % _UNSIGNED,
    )


def phase_command(spec: SymbolSpec, status: MarketStatus) -> Command:
    """The command that lets a market enter the phase of a status in which it trades."""
    return Command(CommandKind.SET_PHASE, symbol=spec.symbol_id, order_type=PHASES[status])


def change_of(
    operator: str, action: str, reason: str, before: dict[str, object], after: dict[str, object]
) -> ListingChange:
    """An entry of a market's history. Its time is that of the command."""
    old, new = differences(before, after)
    return ListingChange(timestamp=0, operator=operator, action=action, reason=reason, before=old, after=new)


def noted(acting: Acting, spec: SymbolSpec, change: ListingChange) -> Note:
    """The note of who made a change of a market."""
    subject = "market", spec.symbol
    return acting.note(f"markets.{change.action}", subject, change.before, change.after, change.reason)


def described(spec: SymbolSpec, terms: MarketTerms, change: ListingChange) -> tuple[Command, Note]:
    """The command that gives a market its terms, with the entry of its history."""
    note = (msgspec.json.encode(terms).decode(), msgspec.json.encode(change).decode())
    return Command(LIST_MARKET, symbol=spec.symbol_id), note
