"""Moves each withdrawal through its states, one step in one transaction.

Every step can be repeated: a request on the bus is idempotent by the withdrawal's id, a transaction on the chain by its
hash. The row says `broadcasting` before anything is sent. If a process is killed between any two lines,
the next process goes on with the withdrawal and does not send twice. Several processes share the work by row locks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import WithdrawalOutcome, WithdrawalRequested
from openspot.custody import withdrawal_store as store
from openspot.custody.chain import Chain, ChainRefusedError, confirmations
from openspot.custody.hold import HELD_STEPS
from openspot.custody.metrics import OPEN_WITHDRAWALS, STEPS
from openspot.custody.signatures import may_send, sign, transaction_digest, transaction_hash, valid_signatures
from openspot.custody.wallet_policy import QUOTA_WINDOW, RULES, Wallet, signers_of
from openspot.custody.withdrawal_states import (
    UNSENT,
    WITHDRAWAL_ID_LENGTH_MAX,
    WITHDRAWAL_ID_TEXT,
    Funds,
    Status,
    WithdrawalStep,
    next_step,
)
from openspot.custody.withdrawal_store import CUSTODY_ACTOR, Withdrawal, WithdrawalDecision
from openspot.kit.bus import BusError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, utc_datetime
from openspot.kit.database import TRANSIENT_ERRORS, Connection, Pool, text_of
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within

log = get_logger("custody")

PAUSE_S, IDLE_PAUSE_S = 0.25, 1.0
"""The loop reads the open withdrawals this often, if nothing wakes it: with open ones, and without any."""
PAGE = 500
"""Open withdrawals that one query reads."""
STEPS_MAX = 16
"""At most this many steps of one withdrawal in one round. There are fewer states."""


class EventPublisher(Protocol):
    """The part of the bus that progress uses."""

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        """Publish an event, and wait until it is stored; raises BusError."""


class WithdrawalProgress:
    """Does the steps. `run` does them until it is told to stop; `wake` starts a round at once."""

    def __init__(
        self,
        pool: Pool,
        bus: EventPublisher,
        chain: Chain,
        seed: bytes,
        automatic: frozenset[Wallet],
        clock: Clock,
        is_held: Callable[[], bool] = lambda: False,
    ) -> None:
        """While `is_held` returns True, nothing is approved, signed or sent."""
        self._pool = pool
        self._bus = bus
        self._chain = chain
        self._seed = seed
        self._automatic = automatic
        self._clock = clock
        self._is_held = is_held
        self._news = asyncio.Event()
        self._steps: dict[WithdrawalStep, Callable[[Connection, Withdrawal, datetime], Awaitable[None]]] = {
            WithdrawalStep.REQUEST_FUNDS: self._request_funds,
            WithdrawalStep.APPROVE: self._approve,
            WithdrawalStep.PREPARE: self._prepare,
            WithdrawalStep.SIGN: self._finish_signing,
            WithdrawalStep.SEND: self._send,
            WithdrawalStep.COUNT_CONFIRMATIONS: self._count_confirmations,
            WithdrawalStep.TAKE_FUNDS: self._take_funds,
            WithdrawalStep.RELEASE_FUNDS: self._release_funds,
        }

    def wake(self) -> None:
        """Start a round now."""
        self._news.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Do the due steps until `stop` is set."""
        while not stop.is_set():
            self._news.clear()
            pause_s = PAUSE_S
            try:
                if not await self.advance_all():
                    pause_s = IDLE_PAUSE_S
            except TRANSIENT_ERRORS as error:
                log.warning("withdrawals wait", error=repr(error))
            await is_set_within(self._news, pause_s)

    async def advance_all(self) -> int:
        """Do every step that is possible now, for every open withdrawal. Returns how many were open."""
        count, after = 0, ""
        while ids := await store.open_ids(self._pool, after, PAGE):
            for withdrawal_id in ids:
                for _ in range(STEPS_MAX):
                    if not await self.advance(withdrawal_id):
                        break
            count, after = count + len(ids), ids[-1]
        OPEN_WITHDRAWALS.set(count)
        return count

    async def advance(self, withdrawal_id: str) -> bool:
        """Do the next step of one withdrawal. Returns False if none is possible now, or if it must be tried again."""
        step: WithdrawalStep | None = None
        try:
            async with store.transaction(self._pool) as connection:
                withdrawal = await store.lock(connection, withdrawal_id, skip_locked=True)
                if withdrawal is None:
                    return False
                step = await self._next_step(connection, withdrawal)
                if step is None or (step in HELD_STEPS and await self._is_withheld(connection, withdrawal)):
                    return False
                status, funds = withdrawal.status, withdrawal.funds
                await self._steps[step](connection, withdrawal, utc_datetime(self._clock))
        except (BusError, *TRANSIENT_ERRORS) as error:
            STEPS.labels(step.value if step is not None else "look", "retried").inc()
            log.warning("step will be retried", withdrawal_id=withdrawal_id, step=step, error=repr(error))
            return False
        except Exception:
            # One withdrawal that cannot go on must not stop the others.
            STEPS.labels(step.value if step is not None else "look", "failed").inc()
            log.exception("step failed", withdrawal_id=withdrawal_id, step=step)
            return False
        STEPS.labels(step.value, "done").inc()
        return (status, funds) != (withdrawal.status, withdrawal.funds)

    async def _is_withheld(self, connection: Connection, withdrawal: Withdrawal) -> bool:
        """Whether nothing may be approved, signed or sent now: of any withdrawal, of those of its user, or of those
        of its coin over its network.
        """
        return (
            self._is_held()
            or await store.is_locked_by_operator(connection, withdrawal.user_id)
            or await store.pause_of(connection, withdrawal.asset, withdrawal.network) is not None
        )

    async def reserved(self, event: WithdrawalOutcome) -> None:
        """Note that the engine holds the amount."""
        await self._funds_known(event, Funds.RESERVED)

    async def refused(self, event: WithdrawalOutcome) -> None:
        """Note that the engine did not reserve the amount. Ignores failures that custody itself published."""
        if event.refused:
            await self._funds_known(event, Funds.REFUSED)

    async def _funds_known(self, event: WithdrawalOutcome, funds: Funds) -> None:
        # No withdrawal of ours has such an id. The database would refuse some such ids, and the event would come again.
        if not WITHDRAWAL_ID_TEXT.fullmatch(event.withdrawal_id):
            log.warning(
                "event of an impossible withdrawal", withdrawal_id=event.withdrawal_id[:WITHDRAWAL_ID_LENGTH_MAX]
            )
            return
        now = utc_datetime(self._clock)
        async with store.transaction(self._pool) as connection:
            withdrawal = await store.lock(connection, event.withdrawal_id)
            # The event may be about a request that others published on the bus. And events come more than once.
            if withdrawal is None or withdrawal.funds not in (Funds.NEW, Funds.REQUESTED):
                return
            withdrawal.funds = funds
            if funds is Funds.REFUSED and withdrawal.status not in UNSENT:
                withdrawal.status, withdrawal.reason = Status.FAILED, event.reason or "no reason given"
                await self._note(connection, withdrawal, "failed", withdrawal.reason, now)
            await store.save(connection, withdrawal, now)
        self.wake()

    async def _next_step(self, connection: Connection, withdrawal: Withdrawal) -> WithdrawalStep | None:
        given = 0
        if withdrawal.status is Status.SIGNING and withdrawal.digest is not None:
            if withdrawal.wallet in self._automatic:
                given = RULES[withdrawal.wallet].signatures
            else:
                signed = await store.signatures(connection, withdrawal.withdrawal_id)
                given = valid_signatures(self._seed, withdrawal.wallet, withdrawal.digest, signed)
        return next_step(
            withdrawal.status,
            withdrawal.funds,
            wallet=withdrawal.wallet,
            approvals=len(await store.approvers(connection, withdrawal.withdrawal_id)),
            needed=withdrawal.approvals_needed,
            signatures=given,
        )

    # The steps. Each leaves the row changed; the caller's transaction commits it.

    async def _request_funds(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        event = WithdrawalRequested(
            withdrawal.withdrawal_id,
            withdrawal.user_id,
            withdrawal.asset,
            text_of(withdrawal.amount),
            withdrawal.address,
            withdrawal.network,
            self._milliseconds(),
        )
        await self._bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, event, f"{withdrawal.withdrawal_id}-requested")
        withdrawal.funds = Funds.REQUESTED
        await store.save(connection, withdrawal, now)

    async def _approve(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        withdrawal.status, withdrawal.reason = Status.APPROVED, None
        await store.save(connection, withdrawal, now)
        detail = "below the limit of automatic approval" if not withdrawal.approvals_needed else "approvals complete"
        await self._note(connection, withdrawal, "released", detail, now)

    async def _prepare(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        withdrawal.digest = transaction_digest(
            withdrawal.withdrawal_id,
            withdrawal.asset,
            withdrawal.network,
            withdrawal.address,
            withdrawal.tag,
            text_of(withdrawal.net_amount),
        )
        withdrawal.status = Status.SIGNING
        await store.save(connection, withdrawal, now)

    async def _finish_signing(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        assert withdrawal.digest is not None, "a transaction is prepared before it is signed"
        if withdrawal.wallet in self._automatic:
            for signer in signers_of(withdrawal.wallet)[: RULES[withdrawal.wallet].signatures]:
                signature = sign(self._seed, signer, withdrawal.digest)
                if await store.add_signature(connection, withdrawal.withdrawal_id, signer, signature, now):
                    await self._note(connection, withdrawal, "signed", signer, now)
        withdrawal.tx_hash = transaction_hash(withdrawal.digest, withdrawal.wallet)
        withdrawal.status = Status.BROADCASTING
        await store.save(connection, withdrawal, now)

    async def _send(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        assert withdrawal.digest is not None, "a transaction is prepared before it is sent"
        given = await store.signatures(connection, withdrawal.withdrawal_id)
        assert may_send(self._seed, withdrawal.wallet, withdrawal.digest, given), "too few valid signatures"
        try:
            withdrawal.height = await self._chain.send(withdrawal, now)
            withdrawal.status = Status.CONFIRMING
        except ChainRefusedError as error:
            withdrawal.status, withdrawal.reason = Status.FAILED, str(error)
        await store.save(connection, withdrawal, now)
        await self._note(
            connection,
            withdrawal,
            "failed" if withdrawal.reason else "sent",
            withdrawal.reason or withdrawal.tx_hash,
            now,
        )

    async def _count_confirmations(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        assert withdrawal.height is not None, "a transaction has a block when it is confirming"
        counted = min(confirmations(self._chain.height(now), withdrawal.height), withdrawal.required_confirmations)
        if counted == withdrawal.confirmations and counted < withdrawal.required_confirmations:
            return
        withdrawal.confirmations = counted
        if counted >= withdrawal.required_confirmations:
            withdrawal.status = Status.COMPLETED
            await self._note(connection, withdrawal, "completed", withdrawal.tx_hash, now)
        await store.save(connection, withdrawal, now)

    async def _take_funds(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        await self._publish_end(subjects.CUSTODY_WITHDRAWAL_COMPLETED, withdrawal, "completed")
        withdrawal.funds = Funds.TAKEN
        await store.save(connection, withdrawal, now)

    async def _release_funds(self, connection: Connection, withdrawal: Withdrawal, now: datetime) -> None:
        await self._publish_end(subjects.CUSTODY_WITHDRAWAL_FAILED, withdrawal, "released")
        withdrawal.funds = Funds.RELEASED
        await store.save(connection, withdrawal, now)

    async def _publish_end(self, subject: str, withdrawal: Withdrawal, what: str) -> None:
        outcome = WithdrawalOutcome(
            withdrawal.withdrawal_id,
            withdrawal.user_id,
            withdrawal.asset,
            text_of(withdrawal.amount),
            withdrawal.reason or (None if what == "completed" else withdrawal.status.value),
            withdrawal.tx_hash,
            self._milliseconds(),
            cancelled=withdrawal.status is Status.CANCELLED,
        )
        await self._bus.publish(subject, outcome, f"{withdrawal.withdrawal_id}-{what}")

    async def _note(
        self, connection: Connection, withdrawal: Withdrawal, what: str, detail: str | None, now: datetime
    ) -> None:
        total = await store.sum_of_wallet(connection, withdrawal.wallet, now)
        counts = withdrawal.created_at > now - QUOTA_WINDOW and withdrawal.status not in UNSENT
        sum_before = total - withdrawal.value_cents if counts else total
        await store.audit(connection, withdrawal, WithdrawalDecision(CUSTODY_ACTOR, what, detail), now, sum_before)

    def _milliseconds(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS
