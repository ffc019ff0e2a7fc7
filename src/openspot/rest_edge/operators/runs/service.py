"""Writes a run into the trail. The web server, which runs the command, asks for the entry before it begins.

The command cannot take part in a transaction, so the entry comes first: no run is without one. The entry of a run that
could not begin, or failed, stays.
"""

from openspot.kit.database import Pool
from openspot.rest_edge.operators.acting import Acting, record

SUBJECT_KIND = "command"


class Runs:
    """The runs that operators ask the web server for."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note(self, action: str, command: str, acting: Acting) -> int:
        """Write that an operator has `command` run; returns the number of the entry."""
        async with self._pool.acquire() as connection, connection.transaction():
            await record(connection, acting, action, SUBJECT_KIND, command, {}, {})
        return acting.entries[0]
