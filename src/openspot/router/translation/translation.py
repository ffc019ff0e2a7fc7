"""The translators of one router: one for each partition, each of which works while this router has its lease."""

import asyncio
from contextlib import AsyncExitStack

import aiohttp

from openspot.domain.partition import partitions
from openspot.kit.bus import Bus
from openspot.kit.leader import NotLeadingError
from openspot.kit.lease import Lease, LeaseLostError
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks, first_ended
from openspot.router.division import PartitionsRefusedError
from openspot.router.metrics import HELD_EVENTS, ROW_QUEUE, TRADE_SEQUENCE, TRANSLATOR_LAG
from openspot.router.settings import RouterSettings
from openspot.router.store import RouterStore
from openspot.router.translation.lease import LEASE_BUCKET, key_of
from openspot.router.translation.sharing import Sharing
from openspot.router.translation.translator import Translator

log = get_logger("translator")

CHANGE_LEASES = 3
"""A change of the number of partitions waits this many lives of a lease for the leases of dead routers to expire."""


class Translation:
    """Translates this router's share of the partitions. `prepare` comes first, `run` does the work."""

    def __init__(
        self, *, settings: RouterSettings, bus: Bus, store: RouterStore, session: aiohttp.ClientSession, engine_url: str
    ) -> None:
        self._bus = bus
        self._store = store
        self._lease_s = settings.translator_lease_s
        self._translators = [
            Translator(
                settings=settings,
                bus=bus,
                store=store,
                session=session,
                engine_url=engine_url,
                partition=partition,
            )
            for partition in partitions(settings.translator_partitions)
        ]

    @property
    def held(self) -> int:
        """The number of events that the bus has not stored."""
        return sum(translator.held for translator in self._translators)

    @property
    def leads(self) -> int:
        """How many partitions this process translates. It may have lost a lease without knowing it yet."""
        return sum(translator.leads for translator in self._translators)

    async def check(self) -> None:
        """Raise NotLeadingError, with the reason, if there is a partition that this process cannot translate, and it
        knows of no other that does.
        """
        for translator in self._translators:
            try:
                translator.check()
            except NotLeadingError as error:
                if len(self._translators) == 1:
                    raise
                raise NotLeadingError(f"partition {translator.partition.number}: {error}") from error

    async def prepare(self) -> None:
        """Make this router's number of partitions the stored one, unless other routers work with that.

        Raises PartitionsRefusedError.
        """
        count = len(self._translators)
        while (stored := await self._store.division.begin(count)) != count:
            log.warning("the number of partitions changes", stored=stored, count=count)
            try:
                async with asyncio.timeout(CHANGE_LEASES * self._lease_s):
                    await self._change(stored, count)
            except (TimeoutError, LeaseLostError) as error:
                if await self._store.division.begin(count) == stored:
                    raise PartitionsRefusedError(
                        f"OPENSPOT_TRANSLATOR_PARTITIONS is {count} here, but routers work with {stored} partitions: "
                        f"stop them, or start this one with {stored}"
                    ) from error

    async def run(self) -> None:
        """Translate until cancelled."""
        HELD_EVENTS.set_function(lambda: self.held)
        TRANSLATOR_LAG.set_function(lambda: sum(translator.lag for translator in self._translators))
        ROW_QUEUE.set_function(lambda: sum(translator.rows_waiting for translator in self._translators))
        TRADE_SEQUENCE.set_function(lambda: max(translator.trade_sequence for translator in self._translators))
        work = [translator.run() for translator in self._translators]
        if len(work) > 1:
            work.append(Sharing(self._bus, self._translators, self._lease_s).run())
        tasks = [asyncio.ensure_future(part) for part in work]
        try:
            await first_ended(*tasks)
        finally:
            await end_tasks(*tasks)

    async def _change(self, stored: int, count: int) -> None:
        """Change the number while no router translates. Raises LeaseLostError or PartitionsRefusedError."""
        async with AsyncExitStack() as end:
            leases = [Lease.on(self._bus, LEASE_BUCKET, key_of(each), self._lease_s) for each in partitions(stored)]
            for lease in leases:
                await lease.acquire()
                end.push_async_callback(lease.release)
                end.push_async_callback(end_tasks, asyncio.ensure_future(lease.keep()))
            for lease in leases:
                lease.check()
            await self._store.division.change(stored, count)
