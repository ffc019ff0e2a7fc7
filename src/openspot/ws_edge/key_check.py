"""Looks now and then whether the API keys of open connections still work.

The bus tells of a key that was rotated or revoked. Whoever changed it may have died before telling, and a connection
with a key does not expire by itself.
"""

import asyncio

import asyncpg

from openspot.http.api_keys.store import ApiKeyStore, Ended
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.ws_edge.hub import Hub

INTERVAL_S = 10.0
_NO_VERSION = 2**31
"""Above every version: none of the key works."""

log = get_logger("ws_edge")


async def keep_checking(hub: Hub, store: ApiKeyStore) -> None:
    """Close the connections of keys that work no more, until cancelled. While the database is away they stay open."""
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            await _check(hub, store)
        except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
            log.warning("API keys of open connections cannot be looked up", error=repr(error))


async def _check(hub: Hub, store: ApiKeyStore) -> None:
    used = hub.api_keys()
    if not used:
        return
    current = await store.versions(list(used))
    for key_id, oldest in used.items():
        first_valid = current.get(key_id, _NO_VERSION)
        if oldest < first_valid:
            hub.api_key_ended(Ended(key_id, first_valid))
