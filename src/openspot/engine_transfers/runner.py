"""Sends transfers to the engine until their outcome is known, through restarts and with several processes.

A transfer is written in the transaction of the row that it belongs to. Its first attempt follows at once; the timer of
any process of the service repeats it after a failure, or after the death of the process that made the attempt. Only one
process attempts a transfer at a time: each attempt leases it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from openspot.domain.transfer import TransferKind
from openspot.engine_client.errors import EngineError, EngineUnreachableError
from openspot.engine_transfers.attempt import send, status_after
from openspot.engine_transfers.metrics import TransferMetrics
from openspot.engine_transfers.model import Transfer, TransferEngine, TransferResult, TransferRules, TransferStatus
from openspot.engine_transfers.store import TransferStore
from openspot.kit.backoff import pause_s
from openspot.kit.bus import BusError
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.log import get_logger

log = get_logger("transfers")

LEASE = timedelta(seconds=30)
"""Far longer than a call to the engine takes, so that no second call overtakes the first."""
ATTEMPTS_MAX = 200
"""About 16 hours of attempts. Then a transfer waits for the next start of a process."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0
RESUME_INTERVAL_S = 1.0
"""How often transfers that are due are looked for."""
AT_A_TIME = 50
UNSENT = "ENGINE_UNREACHABLE"
"""The code of a transfer that failed because it could not be sent."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of an attempt; `result` is None while it is not known."""

    result: TransferResult | None


class TransferRunner:
    """Begins, attempts and settles the transfers of one service, whose kinds are those of `rules`."""

    def __init__(
        self,
        store: TransferStore,
        engine: TransferEngine,
        rules: Mapping[TransferKind, TransferRules[Transfer]],
        metrics: TransferMetrics,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._engine = engine
        self._rules = rules
        self._metrics = metrics
        self._now = now

    async def run(self) -> None:
        """Begin again with what has used up its attempts, then attempt what is due, until cancelled."""
        is_revived = False
        while True:
            try:
                if not is_revived:
                    await self.revive()
                    is_revived = True
                await self.resume()
            except TRANSIENT_ERRORS as error:
                log.warning("transfers wait: the database does not respond", error=repr(error))
            except Exception:
                log.exception("the transfers that are due were not attempted")
            await asyncio.sleep(RESUME_INTERVAL_S)

    async def begin(self, connection: Connection, transfer: Transfer) -> None:
        """Write `transfer` in the caller's transaction; the caller commits and then calls `attempt`."""
        now = self._now()
        await self._store.add(connection, transfer, now, leased_until=now + LEASE)

    async def attempt(self, transfer: Transfer, number: int = 1) -> Attempt:
        """Make one attempt and settle its outcome. Without an outcome the timer tries again later.

        Raises one of TRANSIENT_ERRORS if the outcome could not be written; the timer then finds it out again.
        """
        rules = self._rules[transfer.kind]
        try:
            result = await send(self._engine, rules, transfer)
        except EngineUnreachableError as error:
            if number == 1 and not rules.is_owed:
                # Nothing was sent, now or before: it is certain that nothing moves.
                result = TransferResult(False, UNSENT)
            else:
                return await self._postpone(transfer, number, str(error), None)
        except (EngineError, BusError) as error:
            return await self._postpone(transfer, number, str(error), None)
        status = status_after(result, is_owed=rules.is_owed)
        if status is TransferStatus.PENDING:
            return await self._postpone(transfer, number, "refused", result.code)
        async with self._store.pool.acquire() as connection, connection.transaction():
            counts = await self._store.decide(connection, transfer.reference, number, status, result.code, self._now())
            if counts:
                await rules.settle(connection, transfer, result, self._now())
        return Attempt(result if counts else None)

    async def resume(self) -> int:
        """Attempt what is due, oldest first; returns how many transfers that were. A failure of one stops no other."""
        due_by, count = self._now(), 0
        if not await self._note_waiting():
            return 0
        # One after the other: the lease of each begins with its own attempt, however long those before it took.
        while count < AT_A_TIME and (leased := await self._store.lease_due(due_by, self._now() + LEASE, ATTEMPTS_MAX)):
            transfer, number = leased
            count += 1
            try:
                await self.attempt(transfer, number)
            except TRANSIENT_ERRORS as error:
                log.warning("the outcome of a transfer was not written", reference=transfer.reference, error=str(error))
            except Exception:
                log.exception("a transfer's attempt failed", reference=transfer.reference)
        if count:
            await self._note_waiting()
        return count

    async def _note_waiting(self) -> int:
        """Show how many transfers are pending, and return that number."""
        pending, owed = await self._store.count_waiting()
        self._metrics.pending.set(pending)
        self._metrics.owed.set(owed)
        return pending

    async def revive(self) -> None:
        """At the start of a process: begin again with what has used up its attempts."""
        count = await self._store.revive(self._now(), ATTEMPTS_MAX)
        if count:
            log.error("transfers had used up their attempts and are tried again", count=count)

    async def _postpone(self, transfer: Transfer, number: int, reason: str, code: str | None) -> Attempt:
        about = {"reference": transfer.reference, "attempt": number, "reason": reason, "code": code}
        if number >= ATTEMPTS_MAX:
            self._metrics.given_up.inc()
            log.error("a transfer has used up its attempts", **about)
        else:
            log.warning("a transfer is tried again later", **about)
        await self._store.postpone(transfer.reference, number, self._next(number), code)
        return Attempt(None)

    def _next(self, number: int) -> datetime:
        return self._now() + timedelta(seconds=pause_s(number, FIRST_PAUSE_S, LONGEST_PAUSE_S))
