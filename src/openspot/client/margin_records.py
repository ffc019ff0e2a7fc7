"""The platform's replies about margin trading, typed as in `records`."""

from datetime import datetime
from decimal import Decimal

from openspot.client.records import Record


class MarginBalance(Record, frozen=True):
    """What a margin account holds of an asset, and owes: `borrowed` is principal, `interest` comes on top."""

    asset: str
    total: Decimal
    available: Decimal
    borrowed: Decimal
    interest: Decimal


class MarginPosition(Record, frozen=True):
    """A margin position. `quantity` is what is open, `required_margin` is in the account's valuation asset.

    `entry_price` is the average price of the opening order; None until it is filled.
    `status` is `opening`, `failed`, `open`, `closing`, `liquidating` or `closed`.
    """

    position_id: str
    margin_account_id: str
    symbol: str
    side: str
    quantity: Decimal
    leverage: Decimal
    required_margin: Decimal
    entry_price: Decimal | None
    status: str
    reason: str | None
    loan_id: str | None
    opened_at: datetime
    closed_at: datetime | None


class MarginLoan(Record, frozen=True):
    """A loan. `outstanding` is unpaid principal, `interest` unpaid interest, `rate` the yearly rate (0.1 is 10 %).

    `status` is `pending`, `active`, `repaid`, `refused` or `written_off`.
    """

    loan_id: str
    margin_account_id: str
    asset: str
    principal: Decimal
    outstanding: Decimal
    interest: Decimal
    interest_paid: Decimal
    rate: Decimal
    status: str
    created_at: datetime
    ended_at: datetime | None


class MarginAccount(Record, frozen=True):
    """A margin account. `status` is `active`, `liquidating` or `closed`.

    `equity` and `debt` are in `valuation_asset`. `margin_level` is assets / debt: 1.5 is 150 %, and None without debt.
    All figures and `is_at_risk` are None while an asset of the account has no mark price.
    """

    margin_account_id: str
    user_id: str
    status: str
    valuation_asset: str
    margin_level: Decimal | None
    equity: Decimal | None
    debt: Decimal | None
    is_at_risk: bool | None
    balances: list[MarginBalance]
    positions: list[MarginPosition]
    loans: list[MarginLoan]


class MarginResult(Record, frozen=True):
    """The margin account after a request, and the position or loan that the request was about."""

    position_id: str | None
    loan_id: str | None
    account: MarginAccount
