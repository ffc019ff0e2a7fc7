"""Shares the partitions among the routers: each translates about as many as any other.

A router takes every lease that is free. One that has too few writes a claim: a key beside the leases, which expires
like them. A router that has at least two more than the claimant gives one up, and the claimant takes it. So a router
that starts late gets its share, and one that ends leaves its partitions to the others.
"""

import asyncio
import secrets
from collections.abc import Sequence

import msgspec

from openspot.kit.bus import Bus, KeyValueError, WrongRevisionError
from openspot.kit.leader import NotLeadingError
from openspot.kit.log import get_logger
from openspot.router.translation.lease import LEASE_BUCKET
from openspot.router.translation.translator import Translator

log = get_logger("translator")

KEY = "claim"


class Claim(msgspec.Struct, frozen=True):
    """The router `claimant`, which translates `held` partitions, asks for one more."""

    claimant: str
    held: int


class Sharing:
    """One router's part in the sharing. `translators` has one translator for each partition."""

    def __init__(self, bus: Bus, translators: Sequence[Translator], lease_s: float) -> None:
        self._translators = translators
        self._bucket = bus.key_value(LEASE_BUCKET, Claim, lease_s)
        self._pause_s = lease_s / 2
        self._name = secrets.token_hex(8)

    async def run(self) -> None:
        """Claim and give up partitions, until cancelled."""
        while True:
            await asyncio.sleep(self._pause_s)
            try:
                await self._compare()
            except WrongRevisionError:
                # Another router claims at the same moment. It is looked at next time.
                pass
            except KeyValueError as error:
                log.warning("partitions not shared", error=str(error))

    async def _compare(self) -> None:
        entry = await self._bucket.get(KEY)
        claim = None if entry is None else entry.value
        leading = [translator for translator in self._translators if translator.leads]
        held = len(leading)
        if claim is not None and claim.claimant != self._name and claim.held + 2 <= held:
            log.info("partition given up to a router with fewer", partition=leading[-1].partition.number)
            leading[-1].give_up()
        elif self._wants_more(held) and (claim is None or claim.claimant == self._name or claim.held > held):
            await self._bucket.put(KEY, Claim(self._name, held), 0 if entry is None else entry.revision)

    def _wants_more(self, held: int) -> bool:
        """Whether another router may have two more than this one, which is able to translate them."""
        try:
            for translator in self._translators:
                translator.check()
        except NotLeadingError:
            return False
        return 2 * held + 2 <= len(self._translators)
