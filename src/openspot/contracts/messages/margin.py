"""Margin: the requests `risk.*` (facts B4.3-14 to B4.3-16), and the events of warnings and liquidations.

A user's margin account is separate from the spot account. Its id is a participant id of the engine, `margin:<userId>`.
A request with the `request_id` of an earlier one does nothing, and gets the reply of the first.
"""

from typing import Annotated, Self

from openspot.contracts.messages.message import DecimalText, Message, TimeText, listed
from openspot.contracts.messages.reply import RefusableReply
from openspot.contracts.refusals import Refusal


class CheckMargin(Message, frozen=True):
    """Request `risk.margin.check`: whether a position may be opened. It changes nothing."""

    user_id: str
    symbol: str
    side: str
    quantity: str
    leverage: str | int


class CheckMarginReply(RefusableReply, frozen=True):
    """Reply of `risk.margin.check`. Margins are in the valuation asset, the price in the quote asset of the symbol.

    `reason` says why a check is not approved. A request that could not be checked has `error` and `code` as well.
    """

    approved: bool
    reason: str | None = None
    liquidation_price: str | None = None
    required_margin: str | None = None
    available_margin: str | None = None

    @classmethod
    def refused(cls, refusal: Refusal) -> Self:
        """A reply with this refusal."""
        return cls(False, refusal.message, error=refusal.message, code=refusal.code)


class CheckBalance(Message, frozen=True):
    """Request `risk.balance.check`: whether `amount` of an asset is free in the user's margin account."""

    user_id: str
    asset: str
    amount: str


class CheckBalanceReply(RefusableReply, frozen=True):
    """Reply of `risk.balance.check`. A refusal has `error` and `code`, and nothing is available."""

    NOTHING = (False, "0")

    sufficient: bool
    available: str


class GetMarginLevel(Message, frozen=True):
    """Request `risk.margin.level`. If `margin_account_id` is set, it must be an account of the user."""

    user_id: str
    margin_account_id: str | None = None


class MarginLevelReply(RefusableReply, frozen=True):
    """Reply of `risk.margin.level`: 1.5 is a level of 150 %. An account without debt has no level.

    `equity` and `debt` are in the valuation asset. A refusal has `error` and `code`.
    """

    NOTHING = (None, "0", "0", False)

    margin_level: str | None
    equity: str
    debt: str
    is_at_risk: bool


class GetMarginAccount(Message, frozen=True):
    """Request `risk.margin.account`: the user's margin account with its positions and loans."""

    user_id: str


class TransferCollateral(Message, frozen=True):
    """Request `risk.margin.transfer`: move funds from the spot account `in` to the margin account, or back `out`.

    The first transfer in opens the margin account.
    """

    request_id: str
    user_id: str
    asset: str
    amount: str
    direction: str


class OpenMarginPosition(Message, frozen=True):
    """Request `risk.margin.open`: borrow the missing amount, and place a market order on the margin account."""

    request_id: str
    user_id: str
    symbol: str
    side: str
    quantity: str
    leverage: str | int


class BorrowMargin(Message, frozen=True):
    """Request `risk.margin.borrow`: borrow from the lending pool into the margin account."""

    request_id: str
    user_id: str
    asset: str
    amount: str


class RepayMargin(Message, frozen=True):
    """Request `risk.margin.repay`: repay a loan from the margin account. Without `amount`, repay all of it."""

    request_id: str
    user_id: str
    loan_id: str
    amount: str | None = None


class CloseMarginPosition(Message, frozen=True):
    """Request `risk.margin.close`: trade a position back and repay its loan. Without `position_id`, close the account.

    With `quantity`, trade that part back, and repay the loan from what it brings.
    An account can be closed when it has no loans, no positions and no funds.
    """

    request_id: str
    user_id: str
    position_id: str | None = None
    quantity: str | None = None


class ReduceMarginPositions(Message, frozen=True):
    """Request `risk.margin.reduce`: trade positions of a market back, the oldest first. It never opens one.

    A `sell` closes longs, a `buy` shorts. At most what is open is traded; without `quantity` all of it.
    """

    request_id: str
    user_id: str
    symbol: str
    side: str
    quantity: str | None = None


class GetMarketNeeds(Message, frozen=True):
    """Request `risk.margin.needs`: which margin accounts need a market that is to be delisted. It changes nothing."""

    symbol: str


class MarketNeedsReply(RefusableReply, frozen=True):
    """Reply of `risk.margin.needs`: how many accounts need the market, and why.

    `is_leaving` says that its delisting is scheduled: margin takes nothing new that needs it, so the counts only fall.
    `positions` are those on the market that have not ended. `held` and `owed` are the numbers of the accounts that hold
    or owe an asset for which they need it. A refusal has `error` and `code`.
    """

    NOTHING = (False, 0, 0, {}, {})

    is_leaving: bool
    accounts: int
    positions: int
    held: dict[str, int]
    owed: dict[str, int]


class MarginBalance(Message, frozen=True):
    """A margin account's holding of an asset, and its debt: the principal `borrowed`, and `interest` in addition.

    What is not `is_offered` on margin secures nothing, and can only be moved out.
    """

    asset: str
    total: DecimalText
    available: DecimalText
    borrowed: DecimalText
    interest: DecimalText
    is_offered: bool = True


class MarginPosition(Message, frozen=True, kw_only=True):
    """A margin position. `required_margin` is in the account's valuation asset.

    `quantity` is the open quantity, 0 after the position is closed. `entry_price` is the average price of the opening
    order, None until that order is filled. `status` is `opening`, `failed`, `open`, `closing`, `liquidating` or
    `closed`.
    """

    position_id: str
    margin_account_id: str
    symbol: str
    side: str
    quantity: DecimalText
    leverage: DecimalText
    required_margin: DecimalText
    entry_price: DecimalText | None
    status: str
    reason: str | None
    loan_id: str | None
    opened_at: TimeText
    closed_at: TimeText | None


class MarginLoan(Message, frozen=True, kw_only=True):
    """A loan. `outstanding` is the unpaid principal, `interest` the unpaid interest that is posted so far.

    `rate` is the yearly rate: 0.1 is 10 % a year. `status` is `pending`, `active`, `repaid`, `refused` or
    `written_off`.
    """

    loan_id: str
    margin_account_id: str
    asset: str
    principal: DecimalText
    outstanding: DecimalText
    interest: DecimalText
    interest_paid: DecimalText
    rate: DecimalText
    status: str
    created_at: TimeText
    ended_at: TimeText | None


class MarginPrice(Message, frozen=True, kw_only=True):
    """The fair price of an asset in the valuation asset, as margin uses it.

    What is held counts at `low`, what is owed at `high`. For a loan, an opening or a move out, `day_median` bounds both
    (the median of 24 hours; 0 where it is not known). While `state` is `stale` or `disputed`, nobody borrows, opens a
    position or moves collateral out that needs this price, and nobody is liquidated; `reason` says what is waited for.
    `sellable` is how much of the asset counts as collateral beyond what is owed of it, `borrowable` how much all
    accounts together may still borrow. Both are None without a bound.
    """

    asset: str
    low: DecimalText
    price: DecimalText
    high: DecimalText
    day_median: DecimalText
    state: Annotated[str, listed("good", "thin", "stale", "disputed")]
    reason: str
    sellable: DecimalText | None
    borrowable: DecimalText | None


class MarginAccount(Message, frozen=True):
    """A margin account. `status` is `active`, `liquidating` or `closed`.

    `equity` and `debt` are in `valuation_asset`. `margin_level` is assets / debt: 1.5 is 150 %, and None without debt.
    All figures and `is_at_risk` are None while an asset of the account has no mark price. `prices` has every asset
    of margin that has one, by name. `borrow_rate` is the yearly rate of a new loan: 0.1 is 10 % a year.
    """

    margin_account_id: str
    user_id: str
    status: str
    valuation_asset: str
    margin_level: DecimalText | None
    equity: DecimalText | None
    debt: DecimalText | None
    is_at_risk: bool | None
    balances: list[MarginBalance]
    positions: list[MarginPosition]
    loans: list[MarginLoan]
    prices: list[MarginPrice]
    borrow_rate: DecimalText


class MarginReply(RefusableReply, frozen=True):
    """Reply of the requests that change a margin account, and of `risk.margin.account`.

    `account` is the account after the request. `position_id` and `loan_id` are those of the request's position and
    loan. A refusal has `error` and `code`.
    """

    NOTHING = (False,)

    success: bool
    account: MarginAccount | None = None
    position_id: str | None = None
    loan_id: str | None = None


class MarginWarning(Message, frozen=True):
    """Payload of `margin.liquidation.warning`: the account's level fell to 150 % or below."""

    id: str
    margin_account_id: str
    user_id: str
    margin_level: str
    equity: str
    debt: str
    timestamp: int


class MarginPositionClosed(Message, frozen=True, kw_only=True):
    """Payload of `margin.position.closed`: a liquidation begins to close the position."""

    id: str
    liquidation_id: str
    margin_account_id: str
    user_id: str
    position_id: str
    symbol: str
    side: str
    quantity: str
    reason: str
    timestamp: int


class MarginPositionUpdated(Message, frozen=True):
    """Payload of `margin.position.updated`: a position of the account changed, so its level must be computed again."""

    id: str
    margin_account_id: str
    user_id: str
    position_id: str
    status: str
    quantity: str
    timestamp: int


class LiquidationOrderEvent(Message, frozen=True, kw_only=True):
    """Payload of `orders.liquidation`: an IOC order that a liquidation places. It trades at `price` at worst."""

    id: str
    liquidation_id: str
    margin_account_id: str
    user_id: str
    order_id: str
    symbol: str
    side: str
    quantity: str
    price: str | None
    round: int
    timestamp: int


class CancelOrderCommand(Message, frozen=True):
    """Payload of `commands.order.cancel`: a liquidation cancels an open order of the margin account."""

    id: str
    liquidation_id: str
    user_id: str
    order_id: str
    symbol: str
    timestamp: int
