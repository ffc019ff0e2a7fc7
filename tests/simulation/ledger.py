"""The ledger of the simulation: its real parts, on tables that live in memory.

A transaction is all or nothing. A kill comes before it or after it, never within it.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from openspot.contracts.messages import LedgerBalance
from openspot.domain.accounts import AccountKey
from openspot.domain.money import amount_to_text
from openspot.kit.clock import Clock
from openspot.ledger.changes import (
    NEW_ACCOUNT,
    AccountState,
    Change,
    ChangedAccount,
    CreditOrDebit,
    Recorded,
    decide,
)
from openspot.ledger.consumer import trade_consumer
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.postings import JournalEntry, Posting, changes_of, running_balances, sums
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import AppliedChanges, PostedEntries, RejectedTrade, WaitingEvents
from openspot.ledger.transfers import TransferPosting, transfer_consumer
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.process import Place, Process


class Entry(NamedTuple):
    """A ledger entry: its posting, and the account's total after it."""

    posting: Posting
    balance: int


class LedgerTables:
    """Accounts, entries, the outbox and what was rejected. A transaction id is unique."""

    def __init__(self) -> None:
        self.accounts: dict[AccountKey, AccountState] = {}
        self.entries: dict[str, Entry] = {}
        self.outbox: dict[int, ChangedAccount] = {}
        self.rejected: list[RejectedTrade] = []
        self._outbox_ids = 0

    def post(self, entries: Sequence[JournalEntry]) -> PostedEntries:
        """One transaction, as `LedgerStore.post`: a trade or transfer whose marker is there is skipped as a whole."""
        fresh = [entry for entry in entries if not self.is_posted(entry)]
        postings = [posting for entry in fresh for posting in entry.postings]
        house_postings = [posting for entry in fresh for posting in entry.house_postings]
        changes = changes_of(postings + house_postings)
        assert not any(sums(changes).values()), "everything sums to zero in each asset"
        totals = {account: self.accounts.get(account, NEW_ACCOUNT).total for account in changes}
        self.insert(postings + house_postings, running_balances(postings + house_postings, totals))
        for account, amount in changes.items():
            state = self.accounts.get(account, NEW_ACCOUNT)
            self.accounts[account] = AccountState(state.available + amount, state.locked, state.version + 1)
        users = changes_of(postings)
        return PostedEntries({entry.id for entry in fresh}, {account: self.accounts[account] for account in users})

    def is_posted(self, entry: JournalEntry) -> bool:
        """Whether the marker of a trade or transfer is there."""
        return entry.marker in self.entries

    def apply(self, changes: Sequence[Change]) -> AppliedChanges:
        """One transaction, as `LedgerStore.apply`."""
        recorded = {}
        for change in changes:
            assert isinstance(change, CreditOrDebit), "nothing here locks or unlocks"
            entry = self.entries.get(change.transaction_id)
            if entry is not None:
                recorded[change.transaction_id] = Recorded(*entry.posting.account, entry.posting.amount)
        decision = decide(changes, self.accounts, recorded, {})
        self.insert(decision.postings, decision.balances)
        self.accounts |= decision.states
        return AppliedChanges(decision, self.add_to_outbox(decision.balance_changes))

    def add_to_outbox(self, changes: Sequence[ChangedAccount]) -> list[int]:
        """Put events into the outbox, and return their ids."""
        ids = list(range(self._outbox_ids, self._outbox_ids + len(changes)))
        self._outbox_ids += len(ids)
        self.outbox |= dict(zip(ids, changes, strict=True))
        return ids

    def balances(self, user_ids: Collection[str]) -> dict[str, list[LedgerBalance]]:
        """The accounts of each of these users who has any."""
        found: dict[str, list[LedgerBalance]] = {}
        for (user_id, asset), state in self.accounts.items():
            if user_id in user_ids:
                amounts = amount_to_text(state.available), amount_to_text(state.locked)
                found.setdefault(user_id, []).append(LedgerBalance(asset, *amounts))
        return found

    def insert(self, postings: Sequence[Posting], balances: Sequence[int]) -> None:
        """Write entries. Raises asyncpg.UniqueViolationError; the caller then changes nothing else."""
        for posting, balance in zip(postings, balances, strict=True):
            if posting.transaction_id in self.entries:
                raise asyncpg.UniqueViolationError(posting.transaction_id)
            self.entries[posting.transaction_id] = Entry(posting, balance)


class SimulatedLedgerStore:
    """One process's way to the tables: `LedgerStore` without SQL."""

    def __init__(self, tables: LedgerTables, process: Process) -> None:
        self._tables = tables
        self._process = process

    async def post(self, entries: Sequence[JournalEntry]) -> PostedEntries:
        """As `LedgerStore.post`."""
        return await self._process.act(Place.LEDGER, lambda: self._tables.post(entries))

    async def reject(self, trades: Sequence[RejectedTrade]) -> None:
        """As `LedgerStore.reject`."""
        await self._process.act(Place.LEDGER, lambda: self._tables.rejected.extend(trades))

    async def apply(self, changes: Sequence[Change]) -> AppliedChanges:
        """As `LedgerStore.apply`."""
        return await self._process.act(Place.LEDGER, lambda: self._tables.apply(changes))

    async def published(self, outbox_ids: Sequence[int]) -> None:
        """Forget events that are published."""

        def forget() -> None:
            for outbox_id in outbox_ids:
                self._tables.outbox.pop(outbox_id, None)

        await self._process.act(Place.LEDGER, forget)

    async def keep(self, changes: Sequence[ChangedAccount]) -> None:
        """As `LedgerStore.keep`."""
        await self._process.act(Place.LEDGER, lambda: self._tables.add_to_outbox(changes))

    @asynccontextmanager
    async def unpublished(self, age_s: float, limit: int, without: Collection[str]) -> AsyncIterator[WaitingEvents]:
        """The waiting events of the outbox, with the present state of their accounts."""
        await self._process.io(Place.LEDGER)
        waiting = {
            outbox_id: change
            for outbox_id, change in sorted(self._tables.outbox.items())
            if change.account[0] not in without
        }
        taken = list(waiting)[:limit]
        outbox = WaitingEvents(
            {key: waiting[key]._replace(state=self._tables.accounts[waiting[key].account]) for key in taken}, []
        )
        yield outbox
        await self.published(outbox.published)

    async def states(self, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
        """Those of `accounts` that exist."""
        states = self._tables.accounts
        return await self._process.act(
            Place.LEDGER, lambda: {account: states[account] for account in accounts if account in states}
        )

    async def balances(self, user_ids: Collection[str]) -> dict[str, list[LedgerBalance]]:
        """The accounts of each of the users that has any."""
        return await self._process.act(Place.LEDGER, lambda: self._tables.balances(user_ids))


class Ledger:
    """A ledger process, from its start to its end."""

    def __init__(self, process: Process, server: BusServer, tables: LedgerTables, clock: Clock) -> None:
        self.process = process
        bus: Any = SimulatedBus(server, process)
        self._bus = bus
        store: Any = SimulatedLedgerStore(tables, process)
        self._events = BalanceEvents(bus, store, clock)
        self._handlers = RequestHandlers(store, self._events)
        settlement = Settlement(store, self._events, bus, clock)

        async def settle(trades: list[Any]) -> None:
            await settlement.announce(trades, await settlement.settle(trades))

        self._trades = trade_consumer(bus, settle)
        self._transfers = transfer_consumer(bus, TransferPosting(store, self._events))
        process.start(self._run())

    async def _run(self) -> None:
        stop = asyncio.Event()
        await self._handlers.serve(self._bus)
        await asyncio.gather(self._trades.run(stop), self._transfers.run(stop), self._events.run(stop))
