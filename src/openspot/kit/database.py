"""The database: a pool of asyncpg connections, and what every store needs of it.

Amounts are sent as text and are `numeric` in SQL, so no amount ever becomes a float.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, TypeVar, cast

import asyncpg

from openspot.kit.log import get_logger
from openspot.kit.settings import Settings

log = get_logger("database")

CLOSE_S_MAX = 5.0
"""When a pool is closed, statements under way get this many seconds to end."""

REPAIR_LOCK = 0x0905_5107
"""The key of the advisory lock that lets one repair or one run of the archive change rows at a time."""

Method = TypeVar("Method", bound=Callable[..., Any])

Pool = asyncpg.Pool
Connection = asyncpg.Connection | asyncpg.pool.PoolConnectionProxy

AWAY_ERRORS = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # asyncpg raises this for a statement on a connection that the server is about to close.
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    ConnectionError,
)
"""What a statement raises while the server is away. asyncpg raises an InterfaceError for misuse too: see `is_away`."""
# Errors that end when the server is back. Each caller retries them, within its own bound.
TRANSIENT_ERRORS = (
    *AWAY_ERRORS,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.QueryCanceledError,
    TimeoutError,
    OSError,
)


_CLOSED = "connection is closed"
_RELEASED = "released back to the pool"
"""asyncpg says this of a connection that was lost while it was lent, and of one that is used after its return."""


class DatabaseUnavailableError(Exception):
    """The database does not answer."""


def is_away(error: BaseException) -> bool:
    """Whether a statement raised this while the server is away, and not because asyncpg was used wrongly."""
    if isinstance(error, asyncpg.InterfaceError):
        return str(error.args[0]).endswith((_CLOSED, _RELEASED))
    return isinstance(error, AWAY_ERRORS)


def may_be_misuse(error: BaseException) -> bool:
    """Whether a fault of the program raises the same as a server that is away."""
    return isinstance(error, asyncpg.InterfaceError) and str(error.args[0]).endswith(_RELEASED)


def _noted(method: Method, *, leaves_open: bool = False) -> Method:
    """`method` of a connection, which notes whether it ended well and left nothing open."""

    @functools.wraps(method)
    async def noted(connection: "PooledConnection", *arguments: Any, **named: Any) -> Any:
        connection.must_be_reset = True
        result = await method(connection, *arguments, **named)
        connection.must_be_reset = leaves_open
        return result

    return cast(Method, noted)


class PooledConnection(asyncpg.Connection):
    """A connection whose pool resets it after a use only if the use may have left something behind.

    Services never change their sessions, so a statement that ended well leaves nothing behind. One that was parsed and
    not run has begun a transaction, and only the reset ends it (docs/adr/0124). `executemany` without rows is one:
    asyncpg would parse its statement and run nothing. So nothing is sent for it.
    """

    __slots__ = ("must_be_reset",)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.must_be_reset = False

    def get_reset_query(self) -> str:
        """The statements of a reset. Empty if there is nothing to reset."""
        return super().get_reset_query() if self.must_be_reset else ""

    async def executemany(self, command: str, args: Iterable[Sequence[Any]], *, timeout: float | None = None) -> None:
        """Run `command` for each row of `args`."""
        rows = list(args)
        if rows:
            await self._run_many(command, rows, timeout=timeout)

    _run_many = _noted(asyncpg.Connection.executemany)
    prepare = _noted(asyncpg.Connection.prepare, leaves_open=True)
    fetchmany = _noted(asyncpg.Connection.fetchmany, leaves_open=True)
    copy_from_query = _noted(asyncpg.Connection.copy_from_query, leaves_open=True)
    copy_from_table = _noted(asyncpg.Connection.copy_from_table, leaves_open=True)
    set_type_codec = _noted(asyncpg.Connection.set_type_codec, leaves_open=True)
    execute = _noted(asyncpg.Connection.execute)
    fetch = _noted(asyncpg.Connection.fetch)
    fetchrow = _noted(asyncpg.Connection.fetchrow)
    fetchval = _noted(asyncpg.Connection.fetchval)
    copy_records_to_table = _noted(asyncpg.Connection.copy_records_to_table)
    copy_to_table = _noted(asyncpg.Connection.copy_to_table)


async def create_pool(
    settings: Settings, connections_max: int = 4, timeout_s: float = 30.0, *, transaction_pause_s_max: int = 0
) -> Pool:
    """Return a pool on `settings.database_url`. Waits up to `timeout_s` for the server.

    The server ends a transaction that pauses for longer than `transaction_pause_s_max` (0: never). Otherwise a process
    that is stopped in the middle of a transaction would keep its locks, and block the process that takes over.

    Raises DatabaseUnavailableError if the server does not come up, or if none is configured.
    """
    if not settings.database_url:
        raise DatabaseUnavailableError("DATABASE_URL is not set")
    deadline = asyncio.get_running_loop().time() + timeout_s
    while True:
        try:
            return await asyncpg.create_pool(
                settings.database_url,
                min_size=1,
                max_size=connections_max,
                connection_class=PooledConnection,
                command_timeout=30,
                server_settings={
                    "application_name": "openspot",
                    "timezone": "UTC",
                    "idle_in_transaction_session_timeout": f"{transaction_pause_s_max}s",
                },
            )
        except TRANSIENT_ERRORS as error:
            if asyncio.get_running_loop().time() > deadline:
                raise DatabaseUnavailableError(repr(error)) from error
            log.info("waiting for the database", error=repr(error))
            await asyncio.sleep(0.25)


@asynccontextmanager
async def pool_of_command(settings: Settings, error_type: type[Exception], advice: str = "") -> AsyncIterator[Pool]:
    """A pool for one command of the operator.

    Raises `error_type` if the database does not answer, at first or later; the message ends with `advice` then.
    """
    try:
        pool = await create_pool(settings, connections_max=2, timeout_s=settings.request_timeout_s)
    except DatabaseUnavailableError as error:
        raise error_type(f"the platform is not running here ({error}); `openspot up` starts it") from error
    try:
        yield pool
    except TRANSIENT_ERRORS as error:
        raise error_type(f"the database does not answer: {error!r}{advice}") from error
    finally:
        await pool.close()


async def create_idle_pool(settings: Settings, connections_max: int) -> Pool:
    """Return a pool on `settings.database_url` that connects at its first use. The server need not be up before."""
    return await asyncpg.create_pool(
        settings.database_url,
        min_size=0,
        max_size=connections_max,
        connection_class=PooledConnection,
        command_timeout=settings.request_timeout_s,
        timeout=settings.request_timeout_s,
        server_settings={"application_name": "openspot", "timezone": "UTC"},
    )


async def close(pool: Pool) -> None:
    """Close a pool. Statements that last longer than CLOSE_S_MAX are ended."""
    try:
        async with asyncio.timeout(CLOSE_S_MAX):
            await pool.close()
    except TimeoutError:
        pool.terminate()


async def check(pool: Pool) -> None:
    """Raise DatabaseUnavailableError if the server does not answer. The caller limits the time."""
    try:
        await pool.fetchval("SELECT 1")
    except Exception as error:
        raise DatabaseUnavailableError(repr(error)) from error


def text_of(value: Decimal) -> str:
    """The value of a `numeric` column as plain decimal text, without trailing zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text
