"""What passes when the database comes back is tried again, a few times: every write of the ledger is idempotent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger

ATTEMPTS_MAX = 3
PAUSE_S = 0.05

Value = TypeVar("Value")

log = get_logger("ledger")


async def with_retries(work: Callable[[], Awaitable[Value]]) -> Value:
    """What `work` answers. Raises what the last attempt raised, or at once what no retry would mend."""
    for attempt in range(1, ATTEMPTS_MAX):
        try:
            return await work()
        except TRANSIENT_ERRORS as error:
            log.warning("database failed, trying again", error=repr(error), attempt=attempt)
            await asyncio.sleep(PAUSE_S * attempt)
    return await work()
