"""The rows of each report, put together from the figures of its days. Pure."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from openspot.domain.ids import (
    EXTERNAL_ACCOUNT_ID,
    FEE_ACCOUNT_ID,
    INTEREST_ACCOUNT_ID,
    STAKING_ACCOUNT_ID,
    SUBSCRIPTIONS_ACCOUNT_ID,
)
from openspot.domain.money import EXACT, decimal_to_text
from openspot.rest_edge.operators.reports.days import MovementRow, UserRow, VolumeRow
from openspot.rest_edge.operators.reports.periods import Span

INCOME = (FEE_ACCOUNT_ID, INTEREST_ACCOUNT_ID, SUBSCRIPTIONS_ACCOUNT_ID)
"""The accounts that receive what the exchange earns."""
OWED = ("users", "margin", STAKING_ACCOUNT_ID)
"""The classes whose balances belong to users: their own accounts, their margin accounts, and what they have staked."""
RATIO_PLACES = 4

NOT_CLOSED = "not closed yet"

Row = dict[str, Any]


def with_gaps(rows: Iterable[Row], unclosed: Iterable[str]) -> list[Row]:
    """The rows of a report, in which a period that is not closed yet has a note in place of figures."""
    gaps = set(unclosed)
    kept = [row for row in rows if row["period"] not in gaps]
    notes: list[Row] = [{"period": period, "note": NOT_CLOSED} for period in gaps]
    return sorted(kept + notes, key=lambda row: str(row["period"]))


def fee_rows(span: Span, days: Iterable[MovementRow]) -> list[Row]:
    """What each account of income moved in each period, by asset."""
    sums: dict[tuple[str, str, str], list[Decimal]] = {}
    for row in days:
        amounts = sums.setdefault((span.period_of(row.day), row.account_class, row.asset), [Decimal(0)] * 3)
        for place, amount in enumerate((row.fees, row.rebates, row.other)):
            amounts[place] = EXACT.add(amounts[place], amount)
    return [
        {
            "period": period,
            "account": account,
            "asset": asset,
            "fees": _text(fees),
            "rebates": _text(rebates),
            "other": _text(other),
            "total": _text(EXACT.add(EXACT.add(fees, rebates), other)),
        }
        for (period, account, asset), (fees, rebates, other) in sorted(sums.items())
        if fees or rebates or other
    ]


def volume_rows(span: Span, days: Iterable[VolumeRow]) -> list[Row]:
    """What was traded on each market in each period."""
    sums: dict[tuple[str, str], tuple[int, Decimal, Decimal]] = {}
    for row in days:
        key = (span.period_of(row.day), row.symbol)
        trades, base, quote = sums.get(key, (0, Decimal(0), Decimal(0)))
        sums[key] = trades + row.trades, EXACT.add(base, row.base), EXACT.add(quote, row.quote)
    return [
        {"period": period, "symbol": symbol, "trades": trades, "base": _text(base), "quote": _text(quote)}
        for (period, symbol), (trades, base, quote) in sorted(sums.items())
    ]


def user_rows(span: Span, days: Iterable[UserRow]) -> list[Row]:
    """How many users registered in each period, were active on its busiest day, and were there at its end."""
    rows: dict[str, Row] = {}
    for day in days:
        period = span.period_of(day.day)
        known = rows.get(period, {"registered": 0, "active": 0})
        rows[period] = {
            "period": period,
            "registered": known["registered"] + day.registered,
            "active": max(known["active"], day.active),
            "total": day.total,
            "verified": day.verified,
        }
    return [rows[period] for period in sorted(rows)]


def balance_rows(span: Span, days: Iterable[MovementRow]) -> list[Row]:
    """What each class of accounts held at the end of each period."""
    return [
        {
            "period": span.period_of(row.day),
            "account": row.account_class,
            "asset": row.asset,
            "balance": _text(row.balance),
        }
        for row in sorted(days)
        if row.balance
    ]


def reserve_rows(
    span: Span,
    days: Iterable[MovementRow],
    held: Mapping[tuple[date, str], Decimal],
    known: Iterable[date],
    loans: Mapping[date, Mapping[str, Decimal]],
) -> list[Row]:
    """What users are owed and what custody held at the end of each period, by asset.

    `known` are the days for which custody said what it holds: what it does not name, it has nothing of. `loans` are
    what users owed the house, by day and asset. They change neither liabilities nor reserves: what was lent is in a
    margin account or was paid out, and a claim on a user pays no other user's withdrawal.
    """
    owed: dict[tuple[date, str], Decimal] = {}
    house: dict[tuple[date, str], Decimal] = {}
    for row in days:
        if row.account_class != EXTERNAL_ACCOUNT_ID:
            sums = owed if row.account_class in OWED else house
            sums[row.day, row.asset] = EXACT.add(sums.get((row.day, row.asset), Decimal(0)), row.balance)
    said = set(known)
    rows = []
    lent = {(day, asset) for day, assets in loans.items() for asset in assets}
    for day, asset in sorted(owed.keys() | house.keys() | lent | {key for key in held if key[0] in said}):
        liabilities = owed.get((day, asset), Decimal(0))
        reserves = held.get((day, asset), Decimal(0)) if day in said else None
        rows.append(
            {
                "period": span.period_of(day),
                "asset": asset,
                "liabilities": _text(liabilities),
                "house": _text(house.get((day, asset), Decimal(0))),
                "loans": _text(loans[day].get(asset, Decimal(0))) if day in loans else None,
                "reserves": None if reserves is None else _text(reserves),
                "ratio": None if reserves is None else ratio(reserves, liabilities),
                "covered": None if reserves is None else reserves >= liabilities,
            }
        )
    return rows


def ratio(reserves: Decimal, liabilities: Decimal) -> str | None:
    """Reserves by liabilities, cut to four places, so that it never looks covered if it is not. None without any."""
    if liabilities <= 0:
        return None
    scale = 10**RATIO_PLACES
    whole = max(reserves, Decimal(0)) * scale // liabilities
    return decimal_to_text(Decimal(whole).scaleb(-RATIO_PLACES))


def _text(amount: Decimal) -> str:
    return decimal_to_text(amount)
