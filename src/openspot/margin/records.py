"""Rows of the margin tables, and the ids that are made from requests. Amounts are integers at 18 places."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from openspot.domain.ids import short_id
from openspot.domain.order import Side
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import TransferStatus
from openspot.margin.crossings import RiskBand
from openspot.margin.interest import LoanAccrual
from openspot.margin.lifecycle import AccountStatus, LoanStatus, MarginPositionStatus
from openspot.margin.liquidation import Liquidation, LiquidationOrder


@dataclass(slots=True)
class MarginAccountRow:
    """A row of `margin_accounts`. `warnings` is the number of published warnings."""

    account_id: str
    user_id: str
    status: AccountStatus
    risk_band: RiskBand
    warnings: int


@dataclass(slots=True, kw_only=True)
class MarginLoanRow:
    """A row of `margin_loans`. While `repaying` names a repayment, nothing else changes the loan."""

    account_id: str
    asset: str
    borrowed: int
    accrual: LoanAccrual
    yearly_rate: Decimal
    repaying: str | None
    status: LoanStatus
    created_at: datetime
    ended_at: datetime | None

    @property
    def loan_id(self) -> str:
        """Its id."""
        return self.accrual.loan_id

    @property
    def interest(self) -> int:
        """The posted interest that is unpaid."""
        return self.accrual.posted - self.accrual.paid


@dataclass(slots=True, kw_only=True)
class MarginPositionRow:
    """A row of `margin_positions`.

    `quantity` is the requested quantity while the position is opening, and the open quantity afterwards. `own_funds` is
    the part of a long that the account pays itself. `closings` is the number of orders that were placed to close it.
    `closing_quantity` is the part that the newest of them trades back, None for the whole. `closing_refused_at` is when
    the router refused that order, None again when it is decided what became of it.
    """

    position_id: str
    account_id: str
    symbol: str
    side: Side
    quantity: int
    leverage: Decimal
    required_margin: int
    own_funds: int
    entry_price: Decimal | None
    status: MarginPositionStatus
    reason: str | None
    loan_id: str | None
    closings: int
    close_request: str | None
    closing_quantity: int | None
    opened_at: datetime
    closed_at: datetime | None
    closing_refused_at: datetime | None = None

    @property
    def order_id(self) -> str:
        """The id of the position's newest order: the one that opens it, or the last that closes it."""
        if self.status is MarginPositionStatus.OPENING:
            return derived_id("open", self.position_id)
        if self.closing_quantity is not None and self.close_request is not None:
            return part_order_id(self.position_id, self.close_request)
        return derived_id("close", self.position_id, str(self.closings))


class Purpose(StrEnum):
    """The purpose of a transfer of a margin account."""

    IN = "in"
    OUT = "out"
    BORROW = "borrow"
    REPAY = "repay"
    LOSS = "loss"


@dataclass(slots=True, kw_only=True)
class MarginTransferRow:
    """A row of `margin_transfers`. A repayment is dated `at_ms`, even if the engine decides later."""

    reference: str
    account_id: str
    purpose: Purpose
    loan_id: str | None
    asset: str
    amount: int
    movements: tuple[Movement, ...]
    at_ms: int
    status: TransferStatus = TransferStatus.PENDING
    result_code: str | None = None

    @property
    def kind(self) -> TransferKind:
        """All money of margin accounts moves for loans: what they are paid from, and what is bought with them."""
        return TransferKind.LOAN


@dataclass(slots=True)
class LiquidationRow:
    """A row of `margin_liquidations`.

    `orders` has the orders of the round, None until they are decided. `idle_rounds` is the number of newest rounds in
    which nothing was traded.
    """

    liquidation: Liquidation
    orders: list[LiquidationOrder] | None
    margin_level: str | None
    next_at: datetime
    idle_rounds: int = 0


def part_order_id(position_id: str, request_id: str) -> str:
    """The id of the order that closes a part of a position. It is the request's, so a late repetition finds it."""
    return derived_id("close a part", position_id, request_id)


def reduction_request(request_id: str) -> str:
    """What stands for a reduce-only request at the positions that it closes.

    No request of a client has a colon. So a request to close a position with the same id is another one, and has
    another order.
    """
    return f"reduce:{request_id}"


def derived_id(*parts: str) -> str:
    """An id in the form of an order id. The same parts always give the same id."""
    return short_id(hashlib.blake2b("\n".join(parts).encode(), digest_size=24).digest())
