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
