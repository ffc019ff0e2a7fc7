"""Tells every service from a command that sessions have ended."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.kit.bus import Bus, BusError, KeyValueError
from openspot.rest_edge.settings import RestEdgeSettings


class UntoldError(Exception):
    """The bus did not take the ends of sessions. The message says why."""


async def tell_ended(settings: RestEdgeSettings, session_ids: Sequence[str]) -> None:
    """Write the sessions' ids to the bucket that every service follows. Raises UntoldError."""
    if not session_ids:
        return
    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(settings.nested_timeout_s):
                # `Bus.connect` would wait for a server without limit.
                bus = await Bus.connect(settings, "users")
                stack.push_async_callback(bus.close)
                bucket = bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, settings.ended_session_life_s)
                for session_id in session_ids:
                    await bucket.put(session_id, b"")
    except (BusError, KeyValueError, TimeoutError) as error:
        raise UntoldError(repr(error)) from error
