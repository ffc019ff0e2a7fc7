"""Bodies of the margin routes."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from openspot.contracts.messages import MarginAccount, Message
from openspot.http.validation import Body, Currency, LowerCase, PositiveDecimal, Symbol, example

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
    """The position to close. With `quantity`, that part of it is closed."""

    model_config = example({"positionId": "9FvT4qKxW2mZr7Hd", "quantity": "0.005"})

    position_id: MarginId
    quantity: PositiveDecimal | None = None
    request_id: RequestId | None = None


class ReducePositionsBody(Body):
    """What to trade back: a `sell` closes longs of the market, a `buy` shorts. Without `quantity`, all of them."""

    model_config = example({"symbol": "BTC-USD", "side": "sell", "quantity": "0.005"})

    symbol: Symbol
    side: Annotated[Literal["buy", "sell"], LowerCase]
    quantity: PositiveDecimal | None = None
    request_id: RequestId | None = None


class BorrowBody(Body):
    """An amount to borrow."""

    model_config = example({"asset": "USD", "amount": "100"})

    asset: Currency
    amount: PositiveDecimal
    request_id: RequestId | None = None


class RepayBody(Body):
    """The loan to repay. Without `amount`, the whole debt is repaid."""

    model_config = example({"loanId": "9FvT4qKxW2mZr7Hd", "amount": "50"})

    loan_id: MarginId
    amount: PositiveDecimal | None = None
    request_id: RequestId | None = None


class MarginResult(Message, frozen=True):
    """The margin account after a request, and the position or loan that the request was about."""

    position_id: str | None
    loan_id: str | None
    account: MarginAccount
