"""Makes the streams, durable consumers and buckets of the bus, and makes them again if the bus has lost them.

The services may not make them: whoever may make a consumer can have the server publish on any subject.

The keeper remembers in a file when each part was made. If a part is younger than that, the bus has lost the one before,
with every event that its consumers had not taken. The keeper says so; it cannot bring them back. Streams say when they
were made; of consumers the server forgets it when it starts again, so they have a mark (`kit/bus/preparation.py`).
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from openspot.contracts.streams import STREAMS
from openspot.kit.bus import BucketNeed, Bus, BusNeeds
from openspot.kit.log import get_logger
from openspot.kit.settings import Settings
from openspot.kit.tasks import first_ended, is_set_within
from openspot.up.bus_users import ACCESSES

log = get_logger("keeper")

CONNECT_S_MAX = 15.0
LOOK_S = 15.0
"""Seconds between two looks whether everything is there."""
RETRY_S = 1.0
FILE_NAME = "bus-made.json"


def needs_of(settings: Settings) -> BusNeeds:
    """What the processes need of the bus with these settings, as their descriptors say."""
    accesses = [access for found in ACCESSES.values() for access in found]
    consumers = {consumer.durable: consumer for access in accesses for consumer in access.consumes}
    buckets = {bucket.name: bucket for access in accesses for bucket in access.writes_buckets}
    return BusNeeds(
        STREAMS,
        tuple(
            consumer
            for consumer in consumers.values()
            if not consumer.enabled_by or getattr(settings, consumer.enabled_by)
        ),
        tuple(BucketNeed(bucket.name, bucket.life_s(settings)) for bucket in buckets.values()),
    )


class BusKeeper:
    """Keeps the bus prepared. `settings` are those of the platform, with an address whose user may make streams."""

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        """The file that remembers what was made is in `folder`; without one, nothing is remembered."""
        self._settings = settings
        self._needs = needs_of(settings)
        self._memory = None if folder is None else folder / FILE_NAME
        self._bus: Bus | None = None
        self._restored = asyncio.Event()

    async def open(self) -> list[str]:
        """Connect and prepare the bus. Returns the names of the parts that the bus has lost since the last time.

        Raises BusError, or TimeoutError if the bus does not answer.
        """
        async with asyncio.timeout(CONNECT_S_MAX):
            self._bus = await Bus.connect(self._settings, "keeper")
        self._bus.on_reconnect(self._restored.set)
        return await self._prepare(self._bus)

    async def run(self, stop: asyncio.Event) -> None:
        """Prepare the bus again whenever something is missing, until `stop` is set."""
        assert self._bus is not None, "opened first"
        pause_s = LOOK_S
        while not stop.is_set():
            await _either(stop, self._restored, pause_s)
            self._restored.clear()
            try:
                if not await self._bus.is_prepared(self._needs):
                    await self._prepare(self._bus)
                pause_s = LOOK_S
            except Exception as error:
                # No error may end the keeper: nobody else can make what the bus has lost.
                log.warning("the bus is not known to be whole", error=repr(error))
                pause_s = RETRY_S

    async def close(self) -> None:
        """Close the connection."""
        if self._bus is not None:
            await self._bus.close()

    async def _prepare(self, bus: Bus) -> list[str]:
        prepared = await bus.prepare(self._needs)
        known, made = self._remembered(), prepared.made_at
        changed = {name for name, at in known.items() if name in made and made[name] != at}
        lost = sorted(changed - prepared.newly_marked)
        if lost:
            log.error(
                "the bus had lost streams, which were made again: events in them may be missing",
                lost=", ".join(lost),
                remedy="run `openspot reconcile` and mend what it names (docs/operations/faults.md)",
            )
        self._remember(known, made)
        return lost

    def _remembered(self) -> dict[str, Any]:
        if self._memory is None:
            return {}
        try:
            found = json.loads(self._memory.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _remember(self, known: dict[str, Any], now: dict[str, str]) -> None:
        if self._memory is None or now.items() <= known.items():
            return
        draft = self._memory.with_suffix(".draft")
        try:
            # Whoever is killed here forgets nothing.
            draft.write_text(json.dumps(known | now, indent=1), "utf-8")
            draft.replace(self._memory)
        except OSError as error:
            log.warning("what the bus has cannot be remembered", error=str(error))


async def _either(stop: asyncio.Event, other: asyncio.Event, timeout_s: float) -> None:
    """Wait for one of the events, at most `timeout_s` seconds."""
    waits = [asyncio.ensure_future(is_set_within(event, timeout_s)) for event in (stop, other)]
    try:
        await first_ended(*waits)
    finally:
        for wait in waits:
            wait.cancel()
