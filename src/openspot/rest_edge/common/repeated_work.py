"""Work that every edge repeats in the background."""

import asyncio
from collections.abc import Awaitable, Callable

from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame

log = get_logger("background")

CLEAN_UP_INTERVAL_S = 3600.0
"""The time between two deletions of expired rows."""


def repeat(frame: ServiceFrame, work_name: str, work: Callable[[], Awaitable[object]], interval_s: float) -> None:
    """Repeat `work`, `interval_s` apart, until the edge ends. A failure is logged and ends nothing."""
    frame.start(work_name, _repeated(work_name, work, interval_s), is_essential=False)


async def _repeated(work_name: str, work: Callable[[], Awaitable[object]], interval_s: float) -> None:
    while True:
        try:
            await work()
        except TRANSIENT_ERRORS as error:
            log.warning("the database does not respond", work=work_name, error=repr(error))
        except Exception:
            # A fault in one row must not stop the work on all others.
            log.exception("work failed", work=work_name)
        await asyncio.sleep(interval_s)
