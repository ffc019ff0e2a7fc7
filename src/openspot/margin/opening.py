"""Opening a margin position: the amount to borrow, and the margin check (risk.margin.check, fact B4.3-14).

A long borrows the part of the quote amount that its own margin does not pay, and buys the base. A short borrows the
whole quantity of the base, and sells it. The check uses the account as it is and as it would be afterwards, each at
the careful bounds of the fair prices. It approves nothing while one of these prices is not sure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.margin.figures import (
    AssetBalance,
    Balances,
    Marks,
    UnpricedError,
    UnsurePriceError,
    available_margin,
    check_sure,
    leverage_error,
    required_margin,
    secured_figures,
)
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.limits import liquidity_error, uncounted
from openspot.margin.liquidation_price import liquidation_price


class RefusalReason(StrEnum):
    """Why a margin check is not approved."""

    INVALID_LEVERAGE = "invalid_leverage"
    INVALID_QUANTITY = "invalid_quantity"
    ACCOUNT_NOT_ACTIVE = "account_not_active"
    NO_MARK_PRICE = "no_mark_price"
    PRICE_NOT_SURE = "price_not_sure"
    TOO_LITTLE_LIQUIDITY = "too_little_liquidity"
    INSUFFICIENT_MARGIN = "insufficient_margin"
    WOULD_BE_LIQUIDATED = "would_be_liquidated"


class OpeningRequest(NamedTuple):
    """A position to open on BASE-QUOTE. `quantity` is an integer at 18 places."""

    base: str
    quote: str
    side: Side
    quantity: int
    leverage: Decimal


class Borrowing(NamedTuple):
    """An asset and the amount to borrow, at 18 places. The amount may be zero."""

    asset: str
    amount: int


@dataclass(frozen=True, slots=True)
class MarginDecision:
    """The result of a margin check. Margins are in the valuation asset, the price in the quote asset, at 18 places."""

    reason: RefusalReason | None
    detail: str = ""
    liquidation_price: int | None = None
    required_margin: int | None = None
    available_margin: int | None = None

    @property
    def approved(self) -> bool:
        """Whether the position may be opened."""
        return self.reason is None


def borrowing(request: OpeningRequest, price: int, held_quote: int) -> Borrowing:
    """The amount to borrow for an opening at `price` (18 places) if the account holds `held_quote` of the quote asset.

    A long pays notional ÷ leverage itself, as far as it holds the quote asset, and borrows the rest.
    Raises MarginError if the leverage is refused.
    """
    if request.side is Side.SELL:
        return Borrowing(request.base, request.quantity)
    notional = _notional(request.quantity, price)
    own = min(required_margin(notional, request.leverage), max(held_quote, 0))
    return Borrowing(request.quote, notional - own)


def balances_after(request: OpeningRequest, price: int, balances: Balances) -> dict[str, AssetBalance]:
    """The account after the opening, if its order is filled fully at `price` without fees."""
    after = dict(balances)
    borrowed = borrowing(request, price, balances.get(request.quote, AssetBalance()).held)
    notional = _notional(request.quantity, price)
    bought = request.quantity if request.side is Side.BUY else -request.quantity
    paid = notional if request.side is Side.BUY else -notional
    for asset, held, owed in (
        (request.base, bought, 0),
        (request.quote, -paid, 0),
        (borrowed.asset, borrowed.amount, borrowed.amount),
    ):
        before = after.get(asset, AssetBalance())
        after[asset] = AssetBalance(before.held + held, before.owed + owed, before.interest)
    return after


def price_of(marks: Marks, base: str, quote: str) -> int:
    """The fair price of `base` in `quote` at 18 places, at least 1."""
    return max(marks[base].price * AMOUNT_SCALE // marks[quote].price, 1)


def check_margin(
    request: OpeningRequest,
    status: AccountStatus,
    balances: Balances,
    marks: Marks,
    required: Iterable[int],
    borrowable: int | None,
) -> MarginDecision:
    """Check a request.

    `required` has the required margins of the account's open positions, `borrowable` the amount of the borrowed asset
    that all accounts together may still borrow (None without a bound).
    """
    if (detail := leverage_error(request.leverage)) is not None:
        return MarginDecision(RefusalReason.INVALID_LEVERAGE, detail)
    if request.quantity <= 0:
        return MarginDecision(RefusalReason.INVALID_QUANTITY, "quantity must be positive")
    if request.quantity > AMOUNT_MAX:
        return MarginDecision(RefusalReason.INVALID_QUANTITY, "quantity is too large")
    if status is not AccountStatus.ACTIVE:
        return MarginDecision(RefusalReason.ACCOUNT_NOT_ACTIVE, f"account is {status}")
    traded = (request.base, request.quote)
    try:
        missing = [asset for asset in traded if asset not in marks]
        if missing:
            raise UnpricedError(missing)
        check_sure(traded, marks)
        now = secured_figures(balances, marks)
    except UnpricedError as error:
        return MarginDecision(RefusalReason.NO_MARK_PRICE, str(error))
    except UnsurePriceError as error:
        return MarginDecision(RefusalReason.PRICE_NOT_SURE, str(error))
    needed = required_margin(_notional(request.quantity, marks[request.base].high), request.leverage)
    available = available_margin(now.equity, required)
    price = price_of(marks, *traded)
    after = balances_after(request, price, balances)
    at = liquidation_price(after, marks, *traded)
    borrowed = borrowing(request, price, balances.get(request.quote, AssetBalance()).held)
    if needed > available:
        detail = "required margin is larger than available margin" + uncounted(balances, marks)
        return MarginDecision(RefusalReason.INSUFFICIENT_MARGIN, detail, at, needed, available)
    if (detail := liquidity_error(borrowed.asset, borrowed.amount, borrowable)) is not None:
        return MarginDecision(RefusalReason.TOO_LITTLE_LIQUIDITY, detail, at, needed, available)
    if secured_figures(after, marks).must_liquidate:
        detail = "account would be at or below the liquidation level" + uncounted(after, marks)
        return MarginDecision(RefusalReason.WOULD_BE_LIQUIDATED, detail, at, needed, available)
    return MarginDecision(None, "", at, needed, available)


def _notional(quantity: int, price: int) -> int:
    """Quantity × price at 18 places, rounded up."""
    return -(-quantity * price // AMOUNT_SCALE)
