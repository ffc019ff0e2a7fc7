"""`openspot ledger book-adjustments`: books in the ledger what AdminService adjusted at the engine alone.

AdjustBalance writes to the engine, and the ledger stays as it is (facts A1.5-11, A1.5-12). Where operators want the two
to agree, each such event gets a credit or debit with the outside world on the other side, under an id that follows from
the journal's epoch and the event's number. The engine's events are the only source, so nothing is booked that the
engine does not have; the ids are unique, so nothing is booked twice.

One run is one transaction: the entries, the balance events of their owners and the entry in the operators' trail. What
comes meanwhile is left for the next run. Beyond the bound of other adjustments, or for an account of the operator's
own, the run asks another person instead, who approves exactly this list; the next run books it.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

import asyncpg
import msgspec

from openspot.contracts.engine_events import BalanceEvent
from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.accounts import user_of_account
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.money import amount_to_text
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.kit.bus import Bus, BusError
from openspot.kit.clock import iso_from_ms, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Connection, create_idle_pool
from openspot.ledger.changes import CreditOrDebit
from openspot.ledger.rebuild import booking_of
from openspot.ledger.store import apply_with
from openspot.market_data_client.fair_prices import FairPrices
from openspot.reconcile.outcome import NotRebuiltError
from openspot.reconcile.rebuild import repair_session
from openspot.reconcile.rebuild_rows import checked_position
from openspot.reconcile.store import EngineReader, EngineUnavailableError
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.booking import store
from openspot.rest_edge.operators.booking.service import ACCOUNTS_SEPARATOR
from openspot.rest_edge.operators.moves.rules import WINDOW, counted_price, dollars, needs_second_person, value_in_cents
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, RequestStatus
from openspot.rest_edge.operators.pending.service import PendingActions
from openspot.rest_edge.operators.pending.store import linked_with, lock_operator
from openspot.rest_edge.operators.sums_alone import cents_alone
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.router.rows_position import rows_position

CENTS = 100
BOOKED_MAX = 200
"""One run books at most this many, the oldest first."""
_FIND_BOOKED = "SELECT transaction_id FROM ledger_entries WHERE transaction_id = ANY ($1::text[])"
PRICES_S_MAX = 10.0
"""How long the command waits for prices; without them, nobody knows the value."""


class Unbooked(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An adjustment that the ledger lacks: the engine's event `sequence` changed the account's total by `amount`."""

    sequence: int
    at: str
    account: str
    asset: str
    amount: str
    value_usd: str | None
    """None if nobody knows it."""


class BookedAdjustments(msgspec.Struct, rename="camel", kw_only=True):
    """The outcome of a run: `adjustments` were booked if `is_booked`.

    `request_id` names the request that waits for another person, or with `is_booked` the one that was approved.
    `more` counts those that are left for the next run. `problems` names what the ledger does not take, with the
    reason. The engine's events begin with `first_sequence`: of an older adjustment nobody knows.
    """

    epoch: str
    until: int
    first_sequence: int
    adjustments: list[Unbooked]
    more: int
    problems: list[str]
    is_booked: bool = False
    request_id: str | None = None


class _Item(NamedTuple):
    """An event that the ledger lacks, the change that books it, and its value in US cents; None if nobody knows it."""

    event: BalanceEvent
    change: CreditOrDebit
    cents: int | None


class _Finder:
    """Finds the adjustments that the ledger lacks, the oldest first."""

    def __init__(self, connection: Connection, epoch: str, prices: Mapping[str, AssetPrice]) -> None:
        self._connection = connection
        self._epoch = epoch
        self._prices = prices
        self.items: list[_Item] = []
        self.more = 0
        self.problems: list[str] = []

    async def take(self, events: Sequence[BalanceEvent]) -> None:
        """Take those of the events that have no entry."""
        changes: dict[str, tuple[BalanceEvent, CreditOrDebit]] = {}
        for event in events:
            try:
                change = booking_of(event, self._epoch)
            except InvalidRequestError as error:
                self.problems.append(f"event {event.seq}, {event.participant_id} {event.asset}: {error}")
                continue
            if change is not None:
                changes[change.transaction_id] = event, change
        rows = await self._connection.fetch(_FIND_BOOKED, list(changes)) if changes else []
        booked = {row[0] for row in rows}
        for name, (event, change) in changes.items():
            if name in booked:
                continue
            if len(self.items) == BOOKED_MAX:
                self.more += 1
                continue
            value = value_in_cents(Decimal(amount_to_text(change.amount)), counted_price(self._prices, change.asset))
            self.items.append(_Item(event, change, value))


async def book_adjustments(
    settings: RestEdgeSettings, *, operator: str, reason: str, is_plan: bool, request_id: str = "", address: str = ""
) -> BookedAdjustments:
    """Book every adjustment that the ledger lacks, or with `is_plan` only name them.

    `operator` is a name as in the trail. `request_id` and `address` say which request of the operator this is, and from
    where; a shell has neither. Raises NotRebuiltError; then nothing was booked.
    """
    prices = await _prices(settings)
    try:
        async with EngineReader(settings) as engine, repair_session(settings) as connection:
            mark = await engine.position()
            checked_position(await rows_position(connection), mark.epoch, mark.last_seq)
            finder = _Finder(connection, mark.epoch, prices)
            async for events in engine.events(mark.first_seq, mark.last_seq):
                await finder.take([each for each in events if isinstance(each, BalanceEvent) and each.kind == "ADJUST"])
            outcome = BookedAdjustments(
                epoch=mark.epoch,
                until=mark.last_seq,
                first_sequence=mark.first_seq,
                adjustments=[_shown(item) for item in finder.items],
                more=finder.more,
                problems=finder.problems,
            )
            if not is_plan and finder.items:
                who = Operator(operator, frozenset(), frozenset())
                booking = _Booking(settings, Acting(who, reason, request_id, address))
                await booking.book(connection, finder.items, outcome)
            return outcome
    except EngineUnavailableError as error:
        raise NotRebuiltError(f"the engine does not answer: {error}") from error
    except HttpError as error:
        raise NotRebuiltError(str(error.message)) from error
    except ValueError as error:
        raise NotRebuiltError(str(error)) from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise NotRebuiltError(f"the database does not answer: {error!r}") from error


class _Booking:
    """One run of one operator."""

    def __init__(self, settings: RestEdgeSettings, acting: Acting) -> None:
        self._acting = acting
        self._bound_cents = settings.adjustment_alone_limit * CENTS
        self._settings = settings

    async def book(self, connection: Connection, found: Sequence[_Item], outcome: BookedAdjustments) -> None:
        """Book in one transaction, or ask another person for it, and write into `outcome` which of the two."""
        async with connection.transaction(isolation="read_committed"):
            await store.lock(connection)
            own = await linked_with(connection, self._acting.operator.name)
            await lock_operator(connection, ActionKind.ADJUSTMENT, own)
            items, request_id = await self._agreed(connection, found)
            if request_id is None and await self._needs_another(connection, found, own):
                outcome.request_id = await self._ask(connection, found)
                return
            applied = await apply_with(connection, [item.change for item in items])
            for item, result in zip(items, applied.decision.results, strict=True):
                if result.refusal is not None or result.altered:
                    why = "its entry is there otherwise" if result.refusal is None else result.refusal.message
                    raise NotRebuiltError(f"{item.change.transaction_id}: {why}; nothing was booked")
            after = _detail(items) | ({} if request_id is None else {"request": request_id})
            await record(connection, self._acting, store.BOOKED, store.SUBJECT_KIND, EXTERNAL_ACCOUNT_ID, {}, after)
        outcome.more += len(found) - len(items)
        outcome.adjustments = [_shown(item) for item in items]
        outcome.request_id = request_id
        outcome.is_booked = True

    async def _agreed(self, connection: Connection, found: Sequence[_Item]) -> tuple[Sequence[_Item], str | None]:
        """What another person approved, with the request; without one everything. Later adjustments are not in it."""
        for request in await store.newest_of(connection, RequestStatus.APPROVED):
            items = _up_to(found, request)
            if items and _digest(items) == request.detail["digest"]:
                return items, request.request_id
        return found, None

    async def _needs_another(self, connection: Connection, found: Sequence[_Item], own: frozenset[str]) -> bool:
        if any(user_of_account(item.change.user_id).lower() in own for item in found):
            return True
        alone = await cents_alone(connection, own, utc_now() - WINDOW)
        return needs_second_person(_total(found), alone, self._bound_cents)

    async def _ask(self, connection: Connection, found: Sequence[_Item]) -> str:
        """Ask for the approval of exactly these, unless that is asked for already. Raises NotRebuiltError."""
        for request in await store.newest_of(connection, RequestStatus.WAITING):
            items = _up_to(found, request)
            if request.expires_at <= utc_now():
                continue
            if items and _digest(items) == request.detail["digest"]:
                return request.request_id
            raise NotRebuiltError(
                f"request {request.request_id} waits for an approval, and is not about what the ledger lacks now: "
                "reject it in the console, and run this command again"
            )
        pool = await create_idle_pool(self._settings, 1)
        try:
            life = timedelta(seconds=self._settings.operator_request_s)
            pending = PendingActions(pool, utc_now, life, self._settings.operator_roles_wait)
            asked = await pending.ask(
                connection, self._acting, ActionKind.ENGINE_ADJUSTMENTS, EXTERNAL_ACCOUNT_ID, _detail(found)
            )
        finally:
            await pool.close()
        return asked.request_id


def _up_to(found: Sequence[_Item], request: OperatorRequest) -> list[_Item]:
    """Those of the adjustments that are not newer than the last one of a request."""
    return [item for item in found if item.event.seq <= int(request.detail["lastEvent"])]


def _digest(items: Sequence[_Item]) -> str:
    """SHA-256, in hex, of what is to be booked: an approval counts for nothing else."""
    changes = (item.change for item in items)
    lines = "".join(f"{each.transaction_id} {each.user_id} {each.asset} {each.amount}\n" for each in changes)
    return hashlib.sha256(lines.encode()).hexdigest()


def _total(items: Sequence[_Item]) -> int | None:
    """The value of all of them in US cents; None if nobody knows that of one."""
    known = [item.cents for item in items if item.cents is not None]
    return sum(known) if len(known) == len(items) else None


def _detail(items: Sequence[_Item]) -> dict[str, str]:
    """What the trail and a request say of a booking. The entries themselves are in the ledger, by event."""
    sums: dict[str, int] = {}
    for item in items:
        sums[item.change.asset] = sums.get(item.change.asset, 0) + item.change.amount
    total = _total(items)
    return {
        "count": str(len(items)),
        "lastEvent": str(items[-1].event.seq),
        "amounts": ", ".join(f"{amount_to_text(amount)} {asset}" for asset, amount in sorted(sums.items())),
        "accounts": ACCOUNTS_SEPARATOR.join(sorted({user_of_account(item.change.user_id) for item in items})),
        "valueCents": "" if total is None else str(total),
        "digest": _digest(items),
    }


def _shown(item: _Item) -> Unbooked:
    return Unbooked(
        sequence=item.event.seq,
        at=iso_from_ms(item.event.timestamp),
        account=item.change.user_id,
        asset=item.change.asset,
        amount=amount_to_text(item.change.amount),
        value_usd=dollars(item.cents),
    )


async def _prices(settings: RestEdgeSettings) -> Mapping[str, AssetPrice]:
    """The present fair prices in dollars; without bus or market data none, and then another person must agree."""
    try:
        async with asyncio.timeout(PRICES_S_MAX):
            bus = await Bus.connect(settings, "reconcile")
    except (BusError, TimeoutError):
        return {}
    try:
        prices = FairPrices(bus, time.monotonic)
        await prices.refresh()
        return prices.of_assets(DOLLAR)
    finally:
        await bus.close()


def format_booked(outcome: BookedAdjustments, *, is_plan: bool) -> str:
    """The outcome as text."""
    lines = [
        f"  event {each.sequence:,} of {each.at}: {each.account} {each.asset} {_signed(each.amount)}"
        + (f", worth {each.value_usd} USD" if each.value_usd is not None else ", of unknown value")
        for each in outcome.adjustments
    ]
    number = len(outcome.adjustments)
    if outcome.more:
        lines.append(f"  and {outcome.more:,} more, for the next run")
    if outcome.first_sequence > 1:
        lines.append(f"the engine keeps its events from {outcome.first_sequence:,} on only; older ones are not found")
    if not number:
        lines.append(f"the ledger has every adjustment of the engine, up to event {outcome.until:,}")
    elif is_plan:
        lines.append(f"would book {number:,} adjustments, up to event {outcome.until:,}")
    elif outcome.is_booked:
        lines.append(f"booked {number:,} adjustments, up to event {outcome.until:,}")
    else:
        lines.append(
            f"nothing is booked yet: another person must approve request {outcome.request_id} in the console; then run "
            "this command again"
        )
    return "\n".join(lines)


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") else f"+{amount}"
