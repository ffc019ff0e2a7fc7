"""Keeps the engine's links of owners equal to the table `owner_links`, which operators write and this service owns."""

import asyncpg

from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.market_data.fair_price_store import FairPriceStore

log = get_logger("market-data")

_ERRORS = (*TRANSIENT_ERRORS, asyncpg.PostgresError, EngineError)


class OwnerLinkSync:
    """Sends all links that count to the engine, which changes only what differs.

    So a link that was lost on its way, an engine that began anew, and a user whose first account came after the link
    are all repaired by the next comparison.
    """

    def __init__(self, store: FairPriceStore, commands: EngineCommands) -> None:
        self._store = store
        self._commands = commands

    async def compare(self) -> None:
        """Let the engine change what differs. A failure is logged, and the next comparison tries again."""
        try:
            changed = await self._commands.set_owners(await self._store.owner_links())
        except _ERRORS as error:
            log.warning("links of owners not compared with the engine's", error=repr(error))
        else:
            if changed:
                log.info("links of owners changed in the engine", accounts=changed)
