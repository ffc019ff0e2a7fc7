"""Reads the figures of closed days, and computes those of the days that are not closed yet."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.reports.days import (
    Days,
    MovementRow,
    UserRow,
    VolumeRow,
    figures,
    first_day,
    last_closed,
    loans_now,
)
from openspot.rest_edge.operators.reports.periods import Span

OPEN_DAYS_MAX = 3
"""If the closing of days is further behind than that, the days between are not computed: they are not closed yet."""
OPEN_FIGURES_S = 20.0
"""The figures of open days are computed again when they are this old: reports are read, not watched."""
READ_S_MAX = 30.0
_DAY_LONG = timedelta(days=1)

_MOVEMENTS = """
    SELECT day, account_class, asset, fees, rebates, other, balance FROM report_movements
    WHERE day >= $1 AND day <= $2 AND account_class = ANY ($3::text[]) ORDER BY day, account_class, asset
"""
_VOLUMES = """
    SELECT day, symbol, trades, base, quote FROM report_volumes WHERE day >= $1 AND day <= $2 ORDER BY day, symbol
"""
_USERS = """
    SELECT day, registered, active, total, verified FROM report_users WHERE day >= $1 AND day <= $2 ORDER BY day
"""
# What was held at the end of each month, or of each day: the last closed day of it.
_LAST_DAYS = """
    SELECT max(day) AS day FROM report_users WHERE day >= $1 AND day <= $2 GROUP BY to_char(day, $3)
"""
_BALANCES = """
    SELECT day, account_class, asset, fees, rebates, other, balance FROM report_movements
    WHERE day = ANY ($1::date[]) ORDER BY day, account_class, asset
"""
_RESERVES = "SELECT day, asset, held FROM report_reserves WHERE day = ANY ($1::date[])"
_LOANS = "SELECT day, assets, outstanding FROM report_loans WHERE day = ANY ($1::date[])"


class _Open(NamedTuple):
    """The figures of the open days, from `since` on; and until when they count, of the monotonic clock.

    `unclosed` is the first day that is not closed: those from it to `since` have no figures yet.
    """

    unclosed: date
    since: date
    days: Days
    until_s: float


class ReportStore:
    """The figures of all days. Its methods raise what asyncpg raises."""

    def __init__(
        self, pool: Pool, now: Callable[[], datetime], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._pool = pool
        self._now = now
        self._monotonic = monotonic
        self._open: _Open | None = None
        self._computing = asyncio.Lock()

    async def unclosed(self, span: Span) -> list[date]:
        """The days of the span that have no figures yet, because the closing of days is far behind."""
        opened = await self._open_days()
        begin, end = max(span.since, opened.unclosed), min(span.until + _DAY_LONG, opened.since)
        return [begin + _DAY_LONG * number for number in range((end - begin).days)]

    async def movements(self, span: Span, classes: tuple[str, ...]) -> list[MovementRow]:
        """What the accounts of these classes moved, by day."""
        opened = await self._open_days()
        rows = await self._pool.fetch(_MOVEMENTS, span.since, _closed_until(span, opened), list(classes))
        found = [MovementRow(*row.values()) for row in rows]
        return found + [row for row in opened.days.movements if _is_in(span, row.day) and row.account_class in classes]

    async def volumes(self, span: Span) -> list[VolumeRow]:
        """What was traded, by day and market."""
        opened = await self._open_days()
        rows = await self._pool.fetch(_VOLUMES, span.since, _closed_until(span, opened))
        return [VolumeRow(*row.values()) for row in rows] + [
            row for row in opened.days.volumes if _is_in(span, row.day)
        ]

    async def users(self, span: Span) -> list[UserRow]:
        """How many users there were, by day."""
        opened = await self._open_days()
        rows = await self._pool.fetch(_USERS, span.since, _closed_until(span, opened))
        return [UserRow(*row.values()) for row in rows] + [row for row in opened.days.users if _is_in(span, row.day)]

    async def balances(self, span: Span) -> list[MovementRow]:
        """What all classes held at the end of each period, or hold now."""
        opened = await self._open_days()
        form = "YYYY-MM-DD" if span.by == "day" else "YYYY-MM"
        last = {
            span.period_of(row["day"]): row["day"]
            for row in await self._pool.fetch(_LAST_DAYS, span.since, _closed_until(span, opened), form)
        }
        in_span = [day for day in sorted({row.day for row in opened.days.users}) if _is_in(span, day)]
        last |= {span.period_of(day): day for day in in_span}
        closed = [day for day in last.values() if day < opened.since]
        rows = [MovementRow(*row.values()) for row in await self._pool.fetch(_BALANCES, closed)]
        return rows + [row for row in opened.days.movements if row.day in last.values()]

    async def reserves(self, days: list[date]) -> dict[tuple[date, str], Decimal]:
        """What custody held when these days were closed, by day and asset."""
        return {(row["day"], row["asset"]): row["held"] for row in await self._pool.fetch(_RESERVES, days)}

    async def loans(self, days: list[date]) -> dict[date, dict[str, Decimal]]:
        """What users owed the house when these days were closed, of today what they owe now."""
        rows = await self._pool.fetch(_LOANS, days)
        found = {row["day"]: dict(zip(row["assets"], row["outstanding"], strict=True)) for row in rows}
        return found | ({self.today: await loans_now(self._pool)} if self.today in days else {})

    @property
    def today(self) -> date:
        """The present day."""
        return self._now().astimezone(UTC).date()

    async def _open_days(self) -> _Open:
        """The figures of the open days, not older than OPEN_FIGURES_S. Whoever waits for them gets the same ones."""
        async with self._computing:
            if self._open is None or self._open.until_s <= self._monotonic():
                async with (
                    self._pool.acquire() as connection,
                    connection.transaction(isolation="repeatable_read", readonly=True),
                ):
                    self._open = await self._computed(connection)
            return self._open

    async def _computed(self, connection: Connection) -> _Open:
        today = self.today
        last = await last_closed(connection)
        oldest = today - timedelta(days=OPEN_DAYS_MAX - 1)
        unclosed = await first_day(connection, READ_S_MAX) if last is None else last + _DAY_LONG
        since = oldest if last is None else max(oldest, min(last + _DAY_LONG, today))
        days = await figures(connection, since, today, READ_S_MAX)
        return _Open(unclosed or since, since, days, self._monotonic() + OPEN_FIGURES_S)


def _closed_until(span: Span, opened: _Open) -> date:
    """The last day of the span that is read from the tables."""
    return min(span.until, opened.since - timedelta(days=1))


def _is_in(span: Span, day: date) -> bool:
    return span.since <= day <= span.until
