"""Platforms with one deliberate fault each. The auditor must find every one of them."""

import functools
import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest.mock import patch

import msgspec

from openspot.contracts.engine_events import TransferEvent
from openspot.contracts.gen.exchange.v1.orders_pb2 import AmendOrderRequest, AmendOrderResponse
from openspot.contracts.messages import ExecutedTransfer, SubmitOrderReply, TransferMovement
from openspot.contracts.refusals import RefusalCode
from openspot.domain.partition import Partition
from openspot.engine.core.protocol import spot_account_of
from openspot.engine.core.reference_state import CoreState
from openspot.engine.core.selection import make_core
from openspot.engine.intake import money_intake
from openspot.engine.state.order_memory import OrderMemory
from openspot.engine_client.position import StreamPosition
from openspot.ledger import settlement, transfers
from openspot.ledger.changes import Change, decide
from openspot.ledger.postings import JournalEntry, Posting, trade_entry, transfer_entry
from openspot.ledger.store import AppliedChanges
from openspot.router.orders.submission import Submission
from openspot.router.store import RowBatch
from openspot.router.tracked_order import TrackedOrder
from openspot.router.translation import row_writer, translator
from openspot.router.translation.order_state_machine import OrderStateMachine
from openspot.router.translation.transfer_gathering import TransferGathering
from tests.simulation import engine as simulated_engine
from tests.simulation.engine import SimulatedEngine
from tests.simulation.engine_access import SimulatedEngineClient
from tests.simulation.ledger import Entry, LedgerTables
from tests.simulation.rows import Cursor, Rows

Fault = AbstractContextManager[Any]


def _no_unique_key(tables: LedgerTables, postings: Sequence[Posting], balances: Sequence[int]) -> None:
    for posting, balance in zip(postings, balances, strict=True):
        tables.entries[posting.transaction_id] = Entry(posting, balance)


class ForgetfulTables(LedgerTables):
    """Does not check whether a trade is settled already."""

    insert = _no_unique_key

    def is_posted(self, entry: JournalEntry) -> bool:
        """Never."""
        return False


class TransfersAgainTables(LedgerTables):
    """Does not check whether a transfer is posted already."""

    insert = _no_unique_key

    def is_posted(self, entry: JournalEntry) -> bool:
        """Never, for a transfer."""
        return not entry.marker.endswith(":transfer-debit") and super().is_posted(entry)


class GenerousTables(LedgerTables):
    """Does not check whether a transaction id was used before."""

    insert = _no_unique_key

    def apply(self, changes: Sequence[Change]) -> AppliedChanges:
        """Every credit counts."""
        decision = decide(changes, self.accounts, {}, {})
        self.insert(decision.postings, decision.balances)
        self.accounts |= decision.states
        return AppliedChanges(decision, [])


class UnfencedRows(Rows):
    """Lets every writer write, wherever the cursor is, over any existing row."""

    def move_cursor(self, partition: Partition, last: StreamPosition | None, position: StreamPosition) -> None:
        """Move the cursor, wherever it is."""
        self.cursors[partition] = Cursor(position, True)

    def write_order(self, order: TrackedOrder) -> None:
        """Overwrite the row."""
        self.orders[order.order_id] = order


def seller_pays_no_fee() -> Fault:
    """The posting of a fee is missing, on both sides."""

    def entry(trade: Any) -> JournalEntry:
        whole = trade_entry(trade)
        kept = [
            tuple(posting for posting in postings if not posting.transaction_id.endswith("seller-fee"))
            for postings in (whole.postings, whole.house_postings)
        ]
        return whole._replace(postings=kept[0], house_postings=kept[1])

    return patch.object(settlement, "trade_entry", entry)


def balance_events_share_ids() -> Fault:
    """A trade settled earlier shares the message ids of new balance events, so the stream may drop news."""
    publish = settlement.Settlement._publish

    async def as_one(ledger: Any, entries: Any, settled: Any) -> None:
        await publish(ledger, entries, settled._replace(ids={entry.id for entry in entries}))

    return patch.object(settlement.Settlement, "_publish", as_one)


def position_before_events() -> Fault:
    """The translator saves its position before it publishes: a kill between the two skips events."""
    publish = translator._LeaderSession._publish

    async def hasty(session: Any, pending: Any) -> None:
        await session._save(StreamPosition(session._epoch, session.next_sequence - 1))
        await publish(session, pending)

    return patch.object(translator._LeaderSession, "_publish", hasty)


def position_passes_held_events() -> Fault:
    """The published position goes past events that neither the bus nor the disk has: a kill loses them."""
    return patch.object(translator._LeaderSession, "_publishable", lambda _, position: position)


def rows_pass_held_events() -> Fault:
    """The rows go past events that the bus has not taken, without keeping them: a kill loses them."""

    def forgetful(orders: Any, trades: Any, _: Any, position: Any) -> RowBatch:
        """Keep no event."""
        return RowBatch(orders, trades, (), position)

    return patch.object(row_writer, "RowBatch", forgetful)


def events_in_any_order() -> Fault:
    """The translator publishes the bus events of an engine event in reverse order."""
    pending_of = translator._pending_of
    return patch.object(translator, "_pending_of", lambda *given: pending_of(*given)[::-1])


def makers_forget_fills() -> Fault:
    """A partial fill of a resting order is not noted."""
    fill = OrderStateMachine._fill

    def skipping(machine: Any, event: Any, side: Any, *rest: Any) -> None:
        if side.role == "taker" or side.is_completed:
            fill(machine, event, side, *rest)

    return patch.object(OrderStateMachine, "_fill", skipping)


def amendments_are_not_sent() -> Fault:
    """The router reports orders as amended that the engine never heard of."""

    async def done(client: Any, orders: Sequence[AmendOrderRequest]) -> list[AmendOrderResponse]:
        return [
            AmendOrderResponse(
                order_id=order.order_id,
                status=1,
                price=order.price or 1,
                quantity=order.quantity,
                remaining_quantity=order.quantity,
                sequence=1,
            )
            for order in orders
        ]

    return patch.object(SimulatedEngineClient, "amend_orders", done)


def amendments_keep_the_quantity() -> Fault:
    """The translator takes the price of an amended order and forgets its quantity."""
    move = OrderStateMachine._move

    def forgetful(state: Any, event: Any, translated: Any) -> None:
        move(state, msgspec.structs.replace(event, quantity=""), translated)

    return patch.object(OrderStateMachine, "_move", forgetful)


def deposits_without_reference() -> Fault:
    """The engine is not told which deposit it credits."""
    deposit = SimulatedEngineClient.deposit

    async def anonymous(client: Any, user_id: str, asset: str, amount: str, reference: str) -> str:
        return await deposit(client, user_id, asset, amount, "")

    return patch.object(SimulatedEngineClient, "deposit", anonymous)


def unknown_is_refused() -> Fault:
    """The router reports an order without a reply of the engine as refused."""
    submit = Submission.submit

    async def certain(submission: Any, request: Any) -> SubmitOrderReply:
        reply = await submit(submission, request)
        code = None if reply.code is None else RefusalCode.ENGINE
        return SubmitOrderReply(reply.success, reply.order, error=reply.error, code=code)

    return patch.object(Submission, "submit", certain)


def order_ids_count_again() -> Fault:
    """The engine forgets the external ids that it has seen."""

    class Blind(dict[str, int]):
        def __contains__(self, key: object) -> bool:
            return False

    index = OrderMemory.index

    def blind(memory: OrderMemory) -> dict[str, int]:
        memory._ids = Blind(index(memory))
        return memory._ids

    return patch.object(OrderMemory, "index", blind)


def journal_in_memory() -> Fault:
    """Committed commands are not durable: a kill loses the newest batch."""
    kill = SimulatedEngine.kill

    def lossy(engine: SimulatedEngine, *, after_commit: bool = False) -> None:
        kill(engine, after_commit=after_commit)
        if len(engine.journal) > 2:
            engine.journal.pop()
            engine.forget_events()

    return patch.object(SimulatedEngine, "kill", lossy)


def movements_are_not_gathered() -> Fault:
    """The router publishes each movement of a transfer as a transfer of its own."""

    def alone(_: Any, event: TransferEvent) -> ExecutedTransfer:
        movement = TransferMovement(event.source, event.destination, event.asset, event.amount)
        return ExecutedTransfer(event.reference, event.kind, [movement], event.seq, event.timestamp)

    return patch.object(TransferGathering, "add", alone)


def position_inside_a_transfer() -> Fault:
    """The translator's position may end between two movements: after a restart, nobody knows the first ones."""
    return patch.object(translator, "whole_transfers", len)


def last_movement_is_not_posted() -> Fault:
    """The ledger posts a transfer without its last movement."""

    def entry(transfer: ExecutedTransfer) -> JournalEntry:
        kept = ExecutedTransfer(
            transfer.id, transfer.kind, transfer.movements[:-1], transfer.sequence, transfer.timestamp
        )
        return transfer_entry(kept if kept.movements else transfer)

    return patch.object(transfers, "transfer_entry", entry)


def transfers_lose_their_reference() -> Fault:
    """Each call is a transfer of its own for the engine, even if its reference was sent before."""
    halves = money_intake._reference
    numbers = itertools.count(1)

    def always_new(text: str) -> tuple[int, int]:
        return halves(f"{text} {next(numbers)}") if text.startswith("t-") else halves(text)

    return patch.object(money_intake, "_reference", always_new)


def links_prevent_nothing() -> Fault:
    """The core takes links of owners, and lets them trade with each other all the same."""
    faults = ExitStack()
    faults.enter_context(
        patch.object(simulated_engine, "core_makers", lambda: [functools.partial(make_core, "reference")])
    )
    faults.enter_context(patch.object(CoreState, "owner_of", lambda _, account: spot_account_of(account)))
    return faults


def links_never_end() -> Fault:
    """The engine takes new links of owners, and keeps those that are gone."""
    changes_of = money_intake.owner_changes
    return patch.object(
        money_intake, "owner_changes", lambda *given: [change for change in changes_of(*given) if change.owner]
    )
