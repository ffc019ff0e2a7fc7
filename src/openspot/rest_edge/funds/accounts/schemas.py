"""Bodies of the account routes."""

from typing import Annotated

from openspot.contracts.messages import Message
from openspot.contracts.messages.message import DecimalText, listed
from openspot.http.validation import ResponseBody


class Balance(Message, frozen=True):
    """One asset of the caller. `available` is what an order or a withdrawal can use: total - locked - reserved.

    `locked` is held for open orders, `reserved` for their worst-case fees and for withdrawals on their way. `source`
    is `ledger` where the engine did not respond and its mirror did: the mirror knows no reserve, `reserved` is None.
    """

    asset: str
    total: DecimalText
    available: DecimalText
    locked: DecimalText
    reserved: DecimalText | None
    source: Annotated[str, listed("engine", "ledger")]


class HoldingResponse(ResponseBody):
    """One asset at a point of time. `price` and `value` are null where the asset had no price yet."""

    asset: str
    balance: str
    price: str | None
    value: str | None


class PortfolioPointResponse(ResponseBody):
    """The portfolio at `timestamp` (ms since 1970). `value` (USD) adds the assets that had a price."""

    timestamp: int
    value: str
    unpriced: list[str]
    holdings: list[HoldingResponse]
