"""Sends the waiting ticks to the bus, no faster than the bus takes them."""

import asyncio

from openspot.contracts import subjects
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.venue.metrics import LAG, PUBLISHED, WAITING, TickKind
from openspot.venue.outbox import PendingTick, TickOutbox

log = get_logger("venue")

BATCH_MAX = 256
"""After this many ticks in a row, other tasks get their turn."""
UNCONFIRMED_MAX = 4096
"""Ticks that may be on their way to the bus. At half of this number the publisher asks the bus whether it keeps up."""
BUS_PAUSE_S = 0.25
"""Pause before it asks again."""
_PUBLISHED = {kind: PUBLISHED.labels(kind) for kind in TickKind}
_LAG = {kind: LAG.labels(kind) for kind in TickKind}


class TickPublisher:
    """Empties the outbox. While the bus is away or slow, ticks wait in the outbox, which is bounded."""

    def __init__(self, bus: Bus, outbox: TickOutbox, clock: Clock) -> None:
        self._bus = bus
        self._outbox = outbox
        self._clock = clock
        self._sent = 0
        self._confirmed = 0
        self._confirming: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Publish until cancelled."""
        try:
            while True:
                await self._outbox.wait()
                await self._keep_pace()
                ticks = self._outbox.take(BATCH_MAX)
                for tick in ticks:
                    await self._publish(tick)
                self._sent += len(ticks)
                WAITING.set(len(self._outbox))
                await asyncio.sleep(0)
        finally:
            if self._confirming is not None:
                await end_tasks(self._confirming)

    async def _keep_pace(self) -> None:
        """Ask the bus whether it keeps up, early enough that the reply is there in time. Wait while it does not."""
        unconfirmed = self._sent - self._confirmed
        is_due = unconfirmed >= UNCONFIRMED_MAX // 2 or not self._bus.is_connected
        if is_due and (self._confirming is None or self._confirming.done()):
            self._confirming = asyncio.create_task(self._confirm(self._sent))
        if self._confirming is not None and (unconfirmed >= UNCONFIRMED_MAX or not self._bus.is_connected):
            WAITING.set(len(self._outbox))
            await self._confirming

    async def _publish(self, tick: PendingTick) -> None:
        message = tick.message
        await self._bus.announce(subjects.of_venue(message.venue, tick.kind, message.symbol), message)
        _PUBLISHED[tick.kind].inc()
        if tick.venue_ms is not None:
            _LAG[tick.kind].observe((self._clock() // NANOSECONDS_PER_MS - tick.venue_ms) / 1000)

    async def _confirm(self, sent: int) -> None:
        """Wait until the bus has echoed a message. It then has the first `sent` ticks, which were sent before it."""
        waits = False
        while True:
            try:
                await self._bus.check()
            except BusUnavailableError as error:
                if not waits:
                    log.warning("the bus does not keep up, ticks wait", error=str(error))
                    waits = True
                await asyncio.sleep(BUS_PAUSE_S)
                continue
            if waits:
                log.info("the bus keeps up again")
            self._confirmed = sent
            return
