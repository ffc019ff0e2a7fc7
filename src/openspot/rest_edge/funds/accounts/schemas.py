"""Bodies of the account routes."""

from typing import Annotated

from openspot.contracts.messages import Message
from openspot.contracts.messages.message import DecimalText, listed
from openspot.http.validation import ResponseBody


class Balance(Message, frozen=True):
    """One asset of the caller. Orders and withdrawals can use `available`, which is total - locked - reserved.

    `locked` is held for open orders, `reserved` for their worst-case fees and for withdrawals under way. `source` is
    `ledger` if the engine did not respond and its mirror did. The mirror knows no reserve: `reserved` is then None.
    """

    asset: str
    total: DecimalText
    available: DecimalText
    locked: DecimalText
    reserved: DecimalText | None
    source: Annotated[str, listed("engine", "ledger")]


class HoldingResponse(ResponseBody):
    """One asset at a point in time. `price` and `value` are null if the asset had no price yet."""

    asset: str
    balance: DecimalText
    price: DecimalText | None
    value: DecimalText | None


class PortfolioPointResponse(ResponseBody):
    """The portfolio at `timestamp` (ms since 1970). `value` (USD) is the sum over the assets that had a price."""

    timestamp: int
    value: DecimalText
    unpriced: list[str]
    holdings: list[HoldingResponse]


class PortfolioFlowsResponse(ResponseBody):
    """What came in less what went out, by its kind, in USD at the prices of their times.

    `moves` are those to and from staking and the margin account, `subscriptions` what plans cost, less refunds.
    """

    deposits: DecimalText
    withdrawals: DecimalText
    payments: DecimalText
    moves: DecimalText
    subscriptions: DecimalText
    adjustments: DecimalText


class PortfolioMovementResponse(ResponseBody):
    """A movement that no trade and no conversion made. Its value (USD) is null if its asset had no price."""

    timestamp: int
    kind: Annotated[str, listed("deposit", "withdrawal", "payment", "move", "subscription", "adjustment", "income")]
    asset: str
    amount: DecimalText
    value: DecimalText | None


class PortfolioReturnResponse(ResponseBody):
    """What the wallet gained from `beginsAt` to `endsAt` (ms since 1970), without what was paid in and out. In USD.

    `startValue` + all of `flows` + `result` = `endValue`. The result has the `income` (rewards). `percent` is the
    time-weighted return, null if nothing was held. `unpriced` assets had no price in the period and are in no figure.
    `movements` are the newest of the `movementCount`, oldest first; if they are `grouped`, each is the sum of those of
    its kind and asset in a part of the period, at the price of the part's end.
    """

    period: Annotated[str, listed("day", "week", "month", "year", "all")]
    begins_at: int
    ends_at: int
    start_value: DecimalText
    end_value: DecimalText
    flows: PortfolioFlowsResponse
    result: DecimalText
    income: DecimalText
    percent: DecimalText | None
    unpriced: list[str]
    grouped: bool
    movement_count: int
    movements: list[PortfolioMovementResponse]
