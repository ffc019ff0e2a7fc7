"""The command `openspot reports rebuild`: writes the figures of closed days anew, from ledger and trades."""

from datetime import date

from openspot.kit.clock import utc_now
from openspot.kit.database import pool_of_command
from openspot.rest_edge.operators.reports.days import close_days
from openspot.rest_edge.settings import RestEdgeSettings

FIRST_DAY = date(1970, 1, 1)


class ReportError(Exception):
    """The figures were not written anew, and are as they were. The message says why."""


async def rebuild(settings: RestEdgeSettings, since: date | None) -> list[date]:
    """Write the figures of all days from `since` on anew, or of all days. Returns the days. Raises ReportError.

    What custody held, and how many users there were, nobody knows any more: both stay as they were written.
    """
    async with pool_of_command(settings, ReportError) as pool:
        return await close_days(pool, utc_now(), since=since or FIRST_DAY)
