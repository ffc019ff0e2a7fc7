"""Fills of the exchange as FIFO transactions (setting `follow_fills`).

A fill on BASE-QUOTE moves two assets. If the quote asset is the owner's accounting currency, only the base asset has
lots. Otherwise the quote asset has lots, too: a buy disposes of it and a sell acquires it, both at the value of the
quote amount at that time. A fee in the quote asset changes the quote amount that moves.
"""

from dataclasses import dataclass

from openspot.domain.order import Side
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """One side of a trade as its owner sees it. Amounts are integers at 18 places.

    `notional` is price × quantity in the quote asset; `fee` is in the quote asset, negative if it is a rebate.
    `quote_value` is the accounting value of notional plus fee (buy) or notional less fee (sell), and is None if the
    quote asset is the accounting currency.
    """

    trade_id: str
    timestamp: int
    account: str
    base: str
    quote: str
    side: Side
    quantity: int
    notional: int
    fee: int
    quote_value: int | None = None


def transactions_of_fill(fill: Fill, accounting_currency: str) -> list[FifoTransaction]:
    """The FIFO transactions of a fill, in the order of their keys. Their ids are made from trade id and side.

    The disposal sorts before the acquisition, so a shortfall refuses a fill before any of it is applied.
    Raises TransactionError if `quote_value` is missing or not needed.
    """
    buys = fill.side is Side.BUY
    base_kind = TransactionKind.ACQUISITION if buys else TransactionKind.DISPOSAL
    if fill.quote == accounting_currency:
        if fill.quote_value is not None:
            raise TransactionError("quoteValue", "is not needed for a quote in the accounting currency")
        return [_transaction(fill, base_kind, fill.base, fill.quantity, fill.notional, fill.fee)]
    if fill.quote_value is None:
        raise TransactionError("quoteValue", f"is missing: {fill.quote} is not the accounting currency")
    quote_kind = TransactionKind.DISPOSAL if buys else TransactionKind.ACQUISITION
    moved = moved_quote(fill.side, fill.notional, fill.fee)
    base = _transaction(fill, base_kind, fill.base, fill.quantity, fill.quote_value)
    quote = _transaction(fill, quote_kind, fill.quote, moved, fill.quote_value)
    return [quote, base] if buys else [base, quote]


def moved_quote(side: Side, notional: int, fee: int) -> int:
    """The quote amount that a fill moves, with its fee."""
    return notional + fee if side is Side.BUY else notional - fee


def _transaction(
    fill: Fill, kind: TransactionKind, asset: str, quantity: int, value: int, fee: int = 0
) -> FifoTransaction:
    leg = "from" if kind is TransactionKind.DISPOSAL else "to"
    external_id = f"{fill.trade_id}:{fill.side.name.lower()}:{leg}"
    return FifoTransaction(
        external_id=external_id,
        timestamp=fill.timestamp,
        kind=kind,
        account=fill.account,
        asset=asset,
        quantity=quantity,
        value=value,
        fee=fee,
    )
