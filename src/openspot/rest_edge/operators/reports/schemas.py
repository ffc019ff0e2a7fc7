"""Rows of reports. A `period` is a day such as 2026-01-31 or a month such as 2026-01, in UTC."""

from typing import Literal

from openspot.contracts.messages.message import DecimalText
from openspot.http.validation import ResponseBody


class UnclosedReportRow(ResponseBody):
    """A period in place of its figures, while one of its days is not closed: the closing of days is far behind.

    Of balances and reserves this is a period whose last day is not closed.
    """

    period: str
    note: Literal["not closed yet"]


class FeeReportRow(ResponseBody):
    """What an account of income moved of an asset: `total` is `fees`, `rebates` (negative) and `other` together.

    `other` is what is neither: interest, the price of plans, and what operators moved.
    """

    period: str
    account: str
    asset: str
    fees: DecimalText
    rebates: DecimalText
    other: DecimalText
    total: DecimalText


class VolumeReportRow(ResponseBody):
    """What was traded on a market, in its base and its quote asset."""

    period: str
    symbol: str
    trades: int
    base: DecimalText
    quote: DecimalText


class UserReportRow(ResponseBody):
    """How many users registered, were active on a day (by month: on the busiest day), and were there at the end.

    `verified` is null for days that were closed later than they ended.
    """

    period: str
    registered: int
    active: int
    total: int
    verified: int | None


class BalanceReportRow(ResponseBody):
    """What a class of accounts held at the end: `users`, `margin`, or an account of the house."""

    period: str
    account: str
    asset: str
    balance: DecimalText


class ReserveReportRow(ResponseBody):
    """What users were owed at the end, and what custody held; `house` is what the house's own accounts held.

    Liabilities are gross: what users borrowed is in them as long as they hold it. `loans` is what users owed the house
    when the day was closed, beside it and in no sum; null if that was not counted.
    `ratio` is reserves by liabilities, and null where nothing is owed. Reserves are null where custody was not asked.
    """

    period: str
    asset: str
    liabilities: DecimalText
    house: DecimalText
    loans: DecimalText | None
    reserves: DecimalText | None
    ratio: DecimalText | None
    covered: bool | None
