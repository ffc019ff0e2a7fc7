"""The engine's own work on listings: scheduled statuses, and the end of markets that are delisted.

What is due follows from the journal alone, so a restart goes on where the engine ended.
"""

import asyncio

from openspot.engine.admin.listings import ListingError
from openspot.engine.admin.market_listings import MarketListings
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.http.errors import HttpError
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import get_logger

log = get_logger("listings")

SLEEP_S_MAX = 30.0
PAUSE_S = 0.25
"""Between two parts of the same work, and before work that was refused is tried again."""


class ListingSchedule:
    """Carries out what is due on one engine's markets."""

    def __init__(self, engine: Engine, listings: MarketListings) -> None:
        self._engine = engine
        self._listings = listings

    async def run(self) -> None:
        """Work until cancelled, or until the engine accepts no more commands."""
        board = self._engine.board
        while True:
            version = board.document.version
            try:
                due = self._listings.due(self._now_ms())
                for symbol in due:
                    await self._advance(symbol)
            except EngineStoppedError:
                # Without space on the disk, commands are refused for a while only.
                if self._engine.sequencer.has_ended:
                    return
            if due:
                await asyncio.sleep(PAUSE_S)
            else:
                await board.next_version(version, self._sleep_s())

    async def _advance(self, symbol: str) -> None:
        try:
            await self._listings.advance(symbol)
        except (ListingError, IntakeRefusal, HttpError) as error:
            log.warning("a market's listing waits", symbol=symbol, reason=str(error))

    def _now_ms(self) -> int:
        return self._engine.sequencer.now() // NANOSECONDS_PER_MS

    def _sleep_s(self) -> float:
        next_ms = self._listings.next_time_ms()
        if next_ms is None:
            return SLEEP_S_MAX
        return min(max((next_ms - self._now_ms()) / 1000, 0.0) + 0.01, SLEEP_S_MAX)
