"""Bodies of the margin routes."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from openspot.http.validation import Body, Currency, LowerCase, PositiveDecimal, ResponseBody, Symbol, example

RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MarginId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{16}$")]


class CollateralBody(Body):
    """Funds to move `in` from the spot account, or `out` to it."""

    model_config = example({"asset": "USD", "amount": "200", "direction": "in"})

    asset: Currency
    amount: PositiveDecimal
    direction: Annotated[Literal["in", "out"], LowerCase]
    request_id: RequestId | None = None


class OpenPositionBody(Body):
    """A position to open by a market order."""

    model_config = example({"symbol": "BTC-USD", "side": "buy", "quantity": "0.01", "leverage": "3"})

    symbol: Symbol
    side: Annotated[Literal["buy", "sell"], LowerCase]
    quantity: PositiveDecimal
    leverage: PositiveDecimal
    request_id: RequestId | None = None


class ClosePositionBody(Body):
    """The position to close."""

    model_config = example({"positionId": "9FvT4qKxW2mZr7Hd"})

    position_id: MarginId
    request_id: RequestId | None = None


class BorrowBody(Body):
    """An amount to borrow."""

    model_config = example({"asset": "USD", "amount": "100"})

    asset: Currency
    amount: PositiveDecimal
    request_id: RequestId | None = None


class RepayBody(Body):
    """The loan to repay; without `amount`, all that is owed."""

    model_config = example({"loanId": "9FvT4qKxW2mZr7Hd", "amount": "50"})

    loan_id: MarginId
    amount: PositiveDecimal | None = None
    request_id: RequestId | None = None


class MarginBalanceResponse(ResponseBody):
    """What the account holds of an asset, and owes: `borrowed` is principal, `interest` in addition."""

    asset: str
    total: str
    available: str
    borrowed: str
    interest: str


class MarginPositionResponse(ResponseBody):
    """A position. `quantity` is what is open; `requiredMargin` is in the valuation asset."""

    position_id: str
    margin_account_id: str
    symbol: str
    side: str
    quantity: str
    leverage: str
    required_margin: str
    entry_price: str | None
    status: str
    reason: str | None
    loan_id: str | None
    opened_at: str
    closed_at: str | None


class MarginLoanResponse(ResponseBody):
    """A loan. `outstanding` is unpaid principal, `interest` unpaid interest, `rate` the yearly rate (0.1 is 10 %)."""

    loan_id: str
    margin_account_id: str
    asset: str
    principal: str
    outstanding: str
    interest: str
    interest_paid: str
    rate: str
    status: str
    created_at: str
    ended_at: str | None


class MarginAccountResponse(ResponseBody):
    """Your margin account; figures in `valuationAsset`, null while an asset has no mark price."""

    margin_account_id: str
    user_id: str
    status: str
    valuation_asset: str
    margin_level: str | None
    equity: str | None
    debt: str | None
    is_at_risk: bool | None
    balances: list[MarginBalanceResponse]
    positions: list[MarginPositionResponse]
    loans: list[MarginLoanResponse]


class MarginResponse(ResponseBody):
    """The account after the request, and the position or loan that it was about."""

    position_id: str | None
    loan_id: str | None
    account: MarginAccountResponse
