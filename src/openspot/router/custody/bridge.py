"""The deposit and withdrawal bridge between custody, engine and ledger (facts A1.5-01 to A1.5-10).

    custody.deposit.confirmed     engine Deposit, then ledger.credit; both keyed by txHash
    custody.withdrawal.requested  engine ReserveWithdrawal, then custody.withdrawal.reserved, or .failed
    custody.withdrawal.completed  engine CompleteWithdrawal, then ledger.debit; both keyed by withdrawalId
    custody.withdrawal.failed     engine ReleaseWithdrawal, unless it is our own refusal

Each step is idempotent by its key, so the bridge retries an event as a whole until its last step succeeds. A failure of
the ledger never undoes what the engine did. The bridge logs, counts and drops an event that can never succeed: its
currency is unknown, or its key was used for something else.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from openspot.contracts import subjects
from openspot.contracts.messages import (
    DepositConfirmed,
    LedgerPosting,
    LedgerPostingReply,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.contracts.streams import StreamConsumer
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, PARTICIPANT_ID_TEXT, REFERENCE_TEXT, RESERVED_SUFFIXES
from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, parse_decimal, scaled_to_text, to_amount, to_scaled
from openspot.domain.result_code import ResultCode
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.kit.bus import Bus, Consumption, DurableConsumer, PublishError, RequestFailedError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.router.custody.withdrawal_decisions import Decision, DecisionsUnavailableError, WithdrawalDecisions
from openspot.router.descriptor import COMPLETE, DEPOSIT, RELEASE, RESERVE
from openspot.router.metrics import CUSTODY_EVENTS, LEDGER_ALERTS

log = get_logger("custody_bridge")

UNKNOWN_CURRENCY = "Unknown currency"
REFERENCE_LENGTH_MAX = 128
ECHO_LENGTH_MAX = 128
"""An answer repeats at most this many characters of a field, so that it never exceeds the bus's size limit."""
LOGGED_LENGTH_MAX = 500
RESERVATION_WAIT_S_MAX = 60.0
"""A completion or failure waits this long for its reservation, which another router may still be making."""
WAITING_OUTCOMES_MAX = 10_000

_NOT_NOW = frozenset({ResultCode.ENGINE_BUSY.name, ResultCode.RATE_LIMITED.name})
_SUCCESS = ResultCode.SUCCESS.name

Event = TypeVar("Event")


class CustodyError(ValueError):
    """An event can never be carried out. The message is the reason."""


class TryAgainError(Exception):
    """A step failed for now. The bridge retries the whole event."""


class CustodyBridge:
    """Carries out the events of custody. `run` consumes them."""

    def __init__(
        self,
        bus: Bus,
        engine: EngineCommands,
        assets: Mapping[str, AssetScale],
        clock: Clock,
        read_list: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`read_list` brings `assets` up to date, for an asset that they do not have. Raises EngineError."""
        self._read_list = read_list
        self._bus = bus
        self._engine = engine
        self._assets = assets
        self._clock = clock
        self._decisions = WithdrawalDecisions(bus)
        self._waiting_since: dict[str, float] = {}
        self._consumers: tuple[DurableConsumer[Any], ...] = (
            self._consumer(DEPOSIT, "deposit", DepositConfirmed, self.deposit),
            self._consumer(RESERVE, "reserve", WithdrawalRequested, self.reserve),
            self._consumer(COMPLETE, "complete", WithdrawalOutcome, self.complete),
            self._consumer(RELEASE, "release", WithdrawalOutcome, self.release),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set. Several routers share the events."""
        await asyncio.gather(*(consumer.run(stop) for consumer in self._consumers))

    async def deposit(self, event: DepositConfirmed) -> None:
        """Credit a confirmed deposit in the engine and in the ledger. Raises CustodyError or TryAgainError."""
        _check_reference("txHash", event.tx_hash)
        amount = await self._amount(event.user_id, event.asset, event.amount)
        code = await self._engine.deposit(event.user_id, event.asset, amount, event.tx_hash)
        _check_code(code)
        await self._post(
            subjects.LEDGER_CREDIT,
            LedgerPosting(event.tx_hash, event.user_id, event.asset, amount, "deposit", "custody", event.tx_hash),
        )

    async def reserve(self, event: WithdrawalRequested) -> None:
        """Reserve the funds of a withdrawal. Then tell custody that it may send them, or why it may not."""
        _check_reference("withdrawalId", event.withdrawal_id)
        try:
            amount = await self._amount(event.user_id, event.asset, event.amount)
        except CustodyError as error:
            await self._answer_request(event, str(error))
            raise
        try:
            decision = await self._decided(event, amount)
        except DecisionsUnavailableError as error:
            raise TryAgainError(str(error)) from error
        await self._answer_request(event, decision.refusal)
        if decision.refusal is not None:
            raise CustodyError(decision.refusal)

    async def _decided(self, event: WithdrawalRequested, amount: str) -> Decision:
        """The decision on a request, the same at each delivery. Raises CustodyError if custody gets no reply."""
        earlier = await self._decisions.earlier(event.withdrawal_id)
        if earlier is not None and earlier.refusal is not None:
            return earlier
        code = await self._engine.reserve_withdrawal(event.user_id, event.asset, amount, event.withdrawal_id)
        if code in (ResultCode.REFERENCE_CONFLICT.name, ResultCode.RESERVATION_CLOSED.name):
            # Another withdrawal has this id, or this withdrawal has ended, which custody knows.
            raise CustodyError(code)
        if code in _NOT_NOW:
            raise TryAgainError(code)
        refusal = UNKNOWN_CURRENCY if code == ResultCode.INVALID_CURRENCY.name else code
        decision = await self._decisions.decide(event.withdrawal_id, Decision(None if code == _SUCCESS else refusal))
        if code == _SUCCESS and decision.refusal is not None:
            # The engine refused another router's request just before, and custody knows that.
            await self._engine.release_withdrawal(event.withdrawal_id)
        return decision

    async def complete(self, event: WithdrawalOutcome) -> None:
        """Debit a withdrawal that was sent on the chain, in the engine and in the ledger."""
        _check_reference("withdrawalId", event.withdrawal_id)
        amount = await self._amount(event.user_id, event.asset, event.amount)
        withdrawal_id = event.withdrawal_id
        # If the reservation was different, engine and ledger change nothing: an operator has to decide.
        code = await self._engine.complete_withdrawal(event.user_id, event.asset, amount, withdrawal_id)
        self._check_end(withdrawal_id, code)
        await self._post(
            subjects.LEDGER_DEBIT,
            LedgerPosting(
                withdrawal_id,
                event.user_id,
                event.asset,
                amount,
                "withdrawal",
                "custody",
                withdrawal_id,
                # The engine may have funds that the ledger does not know, for example from an operator's adjustment.
                already_moved=True,
            ),
        )

    async def release(self, event: WithdrawalOutcome) -> None:
        """Release the reserved funds of a withdrawal that will not be sent."""
        _check_reference("withdrawalId", event.withdrawal_id)
        if not event.refused:
            self._check_end(event.withdrawal_id, await self._engine.release_withdrawal(event.withdrawal_id))

    def _consumer(
        self,
        consumer: StreamConsumer,
        kind: str,
        event_type: type[Event],
        carry_out: Callable[[Event], Awaitable[None]],
    ) -> DurableConsumer[Event]:
        async def take(events: list[Event]) -> Sequence[int]:
            outcomes = await asyncio.gather(*(_is_done(kind, event, carry_out) for event in events))
            return [place for place, done in enumerate(outcomes) if not done]

        return DurableConsumer(self._bus, Consumption.of(consumer, event_type), take)

    async def _amount(self, user_id: str, asset: str, amount: str) -> str:
        """The amount at the asset's fixed scale. Raises CustodyError if that would cut digits, EngineError."""
        if asset not in self._assets and self._read_list is not None:
            # It may have been listed a moment ago, and a deposit that is refused is refused for good.
            await self._read_list()
        scale = self._assets.get(asset)
        if scale is None:
            raise CustodyError(UNKNOWN_CURRENCY)
        if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
            raise CustodyError("userId is no participant id")
        if user_id == EXTERNAL_ACCOUNT_ID:
            raise CustodyError(f"userId {EXTERNAL_ACCOUNT_ID} is the other side of every deposit and withdrawal")
        try:
            value = parse_decimal(amount)
            # The ledger refuses such an amount. Refuse it here, or the posting would be retried for ever.
            to_amount(value)
            scaled = to_scaled(value, 10**scale.places)
        except MoneyError as error:
            raise CustodyError(f"amount {error}") from None
        if scaled <= 0:
            raise CustodyError("amount must be positive")
        return scaled_to_text(scaled, 10**scale.places)

    async def _answer_request(self, event: WithdrawalRequested, refusal: str | None) -> None:
        """Tell custody that the funds are reserved, or why they are not."""
        subject = subjects.CUSTODY_WITHDRAWAL_RESERVED if refusal is None else subjects.CUSTODY_WITHDRAWAL_FAILED
        outcome = WithdrawalOutcome(
            withdrawal_id=event.withdrawal_id,
            user_id=event.user_id[:ECHO_LENGTH_MAX],
            asset=event.asset[:ECHO_LENGTH_MAX],
            amount=event.amount[:ECHO_LENGTH_MAX],
            reason=refusal,
            timestamp=self._clock() // NANOSECONDS_PER_MS,
            refused=refusal is not None,
        )
        try:
            await self._bus.publish(subject, outcome, f"{event.withdrawal_id}-{'refused' if refusal else 'reserved'}")
        except PublishError as error:
            raise TryAgainError(str(error)) from error

    def _check_end(self, withdrawal_id: str, code: str) -> None:
        """Check the engine's response to the end of a reservation. Raises CustodyError or TryAgainError."""
        if code == ResultCode.UNKNOWN_REFERENCE.name:
            self._wait_for_reservation(withdrawal_id)
        self._waiting_since.pop(withdrawal_id, None)
        _check_code(code)

    def _wait_for_reservation(self, withdrawal_id: str) -> None:
        """Raise TryAgainError for a minute after the withdrawal's first call: the reservation may still come."""
        now = time.monotonic()
        if len(self._waiting_since) >= WAITING_OUTCOMES_MAX:
            self._waiting_since.clear()
        if now - self._waiting_since.setdefault(withdrawal_id, now) < RESERVATION_WAIT_S_MAX:
            raise TryAgainError("nothing is reserved for this withdrawal yet")

    async def _post(self, subject: str, posting: LedgerPosting) -> None:
        """Send the ledger a posting. If it fails, count an alert and raise TryAgainError."""
        try:
            reply = await self._bus.request(subject, posting, LedgerPostingReply)
            error = None if reply.success else reply.error or "no reason given"
        except RequestFailedError as failure:
            error = str(failure)
        if error is not None:
            LEDGER_ALERTS.labels(posting.entry_type).inc()
            log.error("ledger posting failed, will be retried", id=posting.transaction_id, error=error)
            raise TryAgainError(error)


async def _is_done(kind: str, event: Event, carry_out: Callable[[Event], Awaitable[None]]) -> bool:
    """Carry out `event`. Returns False if it has to be retried: it is neither done nor impossible."""
    try:
        await carry_out(event)
    except CustodyError as error:
        CUSTODY_EVENTS.labels(kind, "failed").inc()
        log.error("custody event failed", kind=kind, reason=str(error), custody_event=_shown(event))
        return True
    except (TryAgainError, EngineError) as error:
        CUSTODY_EVENTS.labels(kind, "retried").inc()
        log.warning("custody event will be retried", kind=kind, reason=str(error), custody_event=_shown(event))
        return False
    CUSTODY_EVENTS.labels(kind, "done").inc()
    return True


def _shown(event: object) -> str:
    return repr(event)[:LOGGED_LENGTH_MAX]


def _check_reference(field: str, reference: str) -> None:
    """Raise CustodyError for an id that the ledger would refuse. Call it before the engine sees the id."""
    if len(reference) > REFERENCE_LENGTH_MAX or not REFERENCE_TEXT.fullmatch(reference):
        raise CustodyError(
            f"{field} must be 1 to {REFERENCE_LENGTH_MAX} visible ASCII characters without quote or backslash"
        )
    if reference.endswith(RESERVED_SUFFIXES):
        raise CustodyError(f"{field} must not end in :{reference.rpartition(':')[2]}, which the ledger gives itself")


def _check_code(code: str) -> None:
    if code in _NOT_NOW:
        raise TryAgainError(code)
    if code == ResultCode.INVALID_CURRENCY.name:
        raise CustodyError(UNKNOWN_CURRENCY)
    if code != _SUCCESS:
        raise CustodyError(code)
