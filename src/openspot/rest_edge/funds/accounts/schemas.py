"""Bodies of the account routes."""

from typing import Literal

from openspot.http.validation import ResponseBody


class BalanceResponse(ResponseBody):
    """One asset of the caller. `available` is what an order or a withdrawal can use: total - locked - reserved.

    `locked` is held for open orders, `reserved` for their worst-case fees and for withdrawals on their way. `source`
    is `ledger` where the engine did not respond and its mirror did: the mirror knows no reserve, `reserved` is null.
    """

    asset: str
    total: str
    available: str
    locked: str
    reserved: str | None
    source: Literal["engine", "ledger"]


class TransactionResponse(ResponseBody):
    """One ledger entry: `balance` is the running one after it, `createdAt` ISO 8601 in UTC."""

    transaction_id: str
    asset: str
    amount: str
    balance: str
    entry_type: str
    reference_type: str
    reference_id: str
    created_at: str


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
