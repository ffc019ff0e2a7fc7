"""Sends transfers to the engine until their outcome is known, through restarts and with several edges.

A transfer is written in the transaction of the row that it belongs to. Its first attempt follows at once; the timer of
any edge repeats it after a failure, or after the death of the edge that made the attempt. The engine carries out each
reference once, so a repeated attempt moves nothing twice. Only one edge attempts a transfer at a time: if two calls
were under way, one could be refused for want of funds and the other succeed after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter, Gauge

from openspot.domain.transfer import TransferKind
from openspot.engine_client.errors import EngineError, EngineUnreachableError
from openspot.kit.backoff import pause_s
from openspot.kit.bus import BusError
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.log import get_logger
from openspot.rest_edge.products.transfers.model import Now, Transfer, TransferResult, TransferRules, Transfers
from openspot.rest_edge.products.transfers.store import TransferStore

log = get_logger("transfers")

PENDING = Gauge("openspot_edge_transfers_pending", "Transfers of the REST edge whose outcome is not known")
OWED = Gauge("openspot_edge_transfers_owed", "… of which the engine has refused at least once: a house account lacks")
GIVEN_UP = Counter("openspot_edge_transfers_given_up_total", "Transfers that have used up their attempts")

LEASE = timedelta(seconds=30)
"""Far longer than a call to the engine takes, so that no second call overtakes the first."""
ATTEMPTS_MAX = 200
"""About 16 hours of attempts. Then a transfer waits for the next start of an edge."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0
AT_A_TIME = 50
UNSENT = "ENGINE_UNREACHABLE"
"""The code of a transfer that failed because it could not be sent."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of an attempt; `result` is None while it is not known."""

    result: TransferResult | None


class TransferRunner:
    """Begins, attempts and settles transfers."""

    def __init__(
        self, store: TransferStore, transfers: Transfers, rules: Mapping[TransferKind, TransferRules], now: Now
    ) -> None:
        self._store = store
        self._transfers = transfers
        self._rules = rules
        self._now = now

    async def begin(self, connection: Connection, transfer: Transfer) -> None:
        """Write `transfer` in the caller's transaction; the caller commits and then calls `attempt`."""
        await self._store.add(connection, transfer, self._now(), LEASE)

    async def attempt(self, transfer: Transfer, number: int = 1) -> Attempt:
        """Make one attempt and settle its outcome. Without an outcome the timer tries again later.

        Raises one of TRANSIENT_ERRORS if the outcome could not be written; the timer then finds it out again.
        """
        rules = self._rules[transfer.kind]
        try:
            await rules.before(transfer)
            result = await self._transfers.transfer(transfer.reference, transfer.movements, transfer.kind)
        except EngineUnreachableError as error:
            if number == 1 and not rules.is_owed:
                # Nothing was sent, now or before: it is certain that nothing moves.
                result = TransferResult(False, UNSENT)
            else:
                return await self._postpone(transfer, number, str(error), None)
        except (EngineError, BusError) as error:
            return await self._postpone(transfer, number, str(error), None)
        if not result.succeeded and rules.is_owed:
            return await self._postpone(transfer, number, "refused", result.code)
        async with self._store.pool.acquire() as connection, connection.transaction():
            counts = await self._store.decide(connection, transfer.reference, number, result, self._now())
            if counts:
                await rules.settle(connection, transfer, result, self._now())
        return Attempt(result if counts else None)

    async def resume(self) -> int:
        """Attempt what is due, oldest first; returns how many transfers that were."""
        due = await self._store.lease_due(self._now(), LEASE, ATTEMPTS_MAX, AT_A_TIME)
        for transfer, number in due:
            try:
                await self.attempt(transfer, number)
            except TRANSIENT_ERRORS as error:
                log.warning("the outcome of a transfer was not written", reference=transfer.reference, error=str(error))
        pending, owed = await self._store.count_waiting()
        PENDING.set(pending)
        OWED.set(owed)
        return len(due)

    async def revive(self) -> None:
        """At the start of an edge: begin again with what has used up its attempts."""
        count = await self._store.revive(self._now(), ATTEMPTS_MAX)
        if count:
            log.error("transfers had used up their attempts and are tried again", count=count)

    async def _postpone(self, transfer: Transfer, number: int, reason: str, code: str | None) -> Attempt:
        about = {"reference": transfer.reference, "attempt": number, "reason": reason, "code": code}
        if number >= ATTEMPTS_MAX:
            GIVEN_UP.inc()
            log.error("a transfer has used up its attempts", **about)
        else:
            log.warning("a transfer is tried again later", **about)
        await self._store.postpone(transfer.reference, number, self._next(number), code)
        return Attempt(None)

    def _next(self, number: int) -> datetime:
        return self._now() + timedelta(seconds=pause_s(number, FIRST_PAUSE_S, LONGEST_PAUSE_S))
