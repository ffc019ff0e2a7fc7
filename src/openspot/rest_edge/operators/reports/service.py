"""Reports for operators: their rows, their files, and the work that closes days."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from decimal import Decimal

from openspot.contracts.messages import CustodyReserve
from openspot.domain.money import EXACT, parse_decimal
from openspot.http.errors import HttpError
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.reports.days import close_days, is_due
from openspot.rest_edge.operators.reports.periods import Span
from openspot.rest_edge.operators.reports.store import ReportStore
from openspot.rest_edge.operators.reports.tables import (
    INCOME,
    Row,
    balance_rows,
    fee_rows,
    reserve_rows,
    user_rows,
    volume_rows,
    with_gaps,
)
from openspot.rest_edge.operators.table_files import FileFormat

CLOSE_INTERVAL_S = 300.0
_AT_END = ("balances", "reserves")
"""The reports that say what was there at the end of a period."""
log = get_logger("reports")

CustodyReserves = Callable[[], Awaitable[Sequence[CustodyReserve]]]


class Reports:
    """The reports. `custody_reserves` asks custody what it holds, and raises HttpError if it does not answer."""

    def __init__(self, pool: Pool, custody_reserves: CustodyReserves, now: Callable[[], datetime]) -> None:
        self._pool = pool
        self._custody_reserves = custody_reserves
        self._now = now
        self._store = ReportStore(pool, now)

    async def rows(self, name: str, span: Span) -> list[Row]:
        """The rows of the report of that name. Raises KeyError for another name.

        A period that is not closed yet has a `note` and no figures.
        """
        readers = {
            "fees": self.fees,
            "volumes": self.volumes,
            "users": self.users,
            "balances": self.balances,
            "reserves": self.reserves,
        }
        # They are asked for first: a day that is closed meanwhile is a gap once more, and never 0.
        unclosed = span.periods_without(await self._store.unclosed(span), is_at_end=name in _AT_END)
        return with_gaps(await readers[name](span), unclosed)

    async def fees(self, span: Span) -> list[Row]:
        """What the exchange earned."""
        return fee_rows(span, await self._store.movements(span, INCOME))

    async def volumes(self, span: Span) -> list[Row]:
        """What was traded."""
        return volume_rows(span, await self._store.volumes(span))

    async def users(self, span: Span) -> list[Row]:
        """How many users there were."""
        return user_rows(span, await self._store.users(span))

    async def balances(self, span: Span) -> list[Row]:
        """What was held, by class of accounts."""
        return balance_rows(span, await self._store.balances(span))

    async def reserves(self, span: Span) -> list[Row]:
        """What users were owed, and what custody held. Of today it is what custody says now."""
        days = await self._store.balances(span)
        held = await self._store.reserves(sorted({row.day for row in days}))
        known = {day for day, _ in held}
        today = self._store.today
        if any(row.day == today for row in days):
            now = await self._held_now()
            if now is not None:
                known.add(today)
                held |= {(today, asset): amount for asset, amount in now.items()}
        loans = await self._store.loans(sorted({row.day for row in days}))
        return reserve_rows(span, days, held, known, loans)

    async def note_export(self, name: str, span: Span, written_as: FileFormat, acting: Acting) -> None:
        """Write into the trail that a report leaves the platform, before it does."""
        async with self._pool.acquire() as connection, connection.transaction():
            await record(
                connection, acting, "reports.exported", "report", name, {},
                {"from": span.since.isoformat(), "to": span.until.isoformat(), "by": span.by.value,
                 "format": written_as.value},
            )  # fmt: skip

    async def close(self) -> None:
        """Close the days that are over. Repeated, it does nothing."""
        if await is_due(self._pool, self._now()):
            await close_days(self._pool, self._now(), held=await self._held_now())

    async def _held_now(self) -> dict[str, Decimal] | None:
        """What custody holds of each asset, what is leaving included; None if it does not answer."""
        try:
            return held_by_asset(await self._custody_reserves())
        except HttpError as error:
            log.warning("custody does not say what it holds", error=str(error.message))
            return None


def held_by_asset(reserves: Sequence[CustodyReserve]) -> dict[str, Decimal]:
    """What custody holds of each asset on all networks; what is leaving was not taken from its user yet."""
    held: dict[str, Decimal] = {}
    for each in reserves:
        amount = EXACT.add(parse_decimal(each.held), parse_decimal(each.leaving))
        held[each.asset] = EXACT.add(held.get(each.asset, Decimal(0)), amount)
    return held
