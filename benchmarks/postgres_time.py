"""Processor time of one PostgreSQL backend, to the nanosecond. Runs on Linux."""

from pathlib import Path

import asyncpg


class BackendTime:
    """The clock of the backend that serves a connection."""

    def __init__(self, backend: int) -> None:
        self._schedule = Path(f"/proc/{backend}/schedstat")

    @classmethod
    async def of(cls, pool: asyncpg.Pool) -> "BackendTime":
        """The clock of the only connection of `pool`."""
        return cls(await pool.fetchval("SELECT pg_backend_pid()"))

    def seconds(self) -> float:
        """The seconds that the backend has run on a processor so far."""
        return int(self._schedule.read_text("ascii").split()[0]) / 1e9
