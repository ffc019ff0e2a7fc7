"""Retries after transient faults of the database. That is safe, because every write of the ledger is idempotent."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from openspot.kit.backoff import Backoff, retry
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger

ATTEMPTS_MAX = 3
PAUSE_S = 0.05
PAUSE_S_MAX = 0.2

Value = TypeVar("Value")

log = get_logger("ledger")


async def with_retries(work: Callable[[], Awaitable[Value]]) -> Value:
    """Return what `work` returns.

    Repeats it after a transient fault of the database; the last attempt's error is raised. Raises other errors at once.
    """
    return await retry(work, TRANSIENT_ERRORS, Backoff(PAUSE_S, PAUSE_S_MAX, attempts_max=ATTEMPTS_MAX), _note)


def _note(error: Exception) -> None:
    log.warning("database call failed", error=repr(error))
