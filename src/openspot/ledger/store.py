"""The ledger's tables: one transaction for each batch, no rules.

There are no deadlocks: every transaction locks the accounts that it changes in one order (house, user, asset) before it
writes their entries. The house's accounts come last, because every batch needs them. A batch changes an account once,
however many of its postings do.

Entries are written with COPY. It has no ON CONFLICT and needs none: a transaction that writes an entry for the second
time fails at the unique key, begins again, and looks up what is written. Trades that the bus delivers again come
together, after a crash. So a batch looks first only if the one before it, or the start of the process, was such a case.

The statements on accounts, entries, locks and waiting events are in `statements.py`.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg

from openspot.contracts.messages import LedgerBalance, LedgerHistoryEntry
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.kit.clock import iso_from_ms
from openspot.kit.database import Connection, Pool
from openspot.ledger.changes import (
    AccountState,
    BatchDecision,
    Change,
    ChangedAccount,
    CreditOrDebit,
    LockOrUnlock,
    accounts_of,
    decide,
)
from openspot.ledger.postings import (
    TRADE_REFERENCE,
    JournalEntry,
    changes_of,
    running_balances,
    settlement_marker,
    sums,
)
from openspot.ledger.statements import (
    change_accounts,
    columns,
    copy_entries,
    find_entries,
    find_locks,
    lock_accounts,
    make_accounts,
    read_accounts,
    unwritten,
    write_accounts,
    write_locks,
    write_outbox,
)

ATTEMPTS_MAX = 5
"""A batch begins again if an account was missing, or if another process wrote the same entry; at most this often."""

_READ_OUTBOX = """
    SELECT outbox_id, user_id, asset, transaction_id FROM ledger_outbox
    WHERE created_at <= now() - $1::double precision * interval '1 second' AND NOT (user_id = ANY ($3::text[]))
    ORDER BY outbox_id LIMIT $2 FOR UPDATE SKIP LOCKED
"""
_DELETE_OUTBOX = "DELETE FROM ledger_outbox WHERE outbox_id = ANY ($1::bigint[])"
_REJECT_TRADES = """
    INSERT INTO ledger_rejected_trades (payload_hash, trade_id, reason, payload)
    SELECT sha256(convert_to(payload, 'UTF8')), trade_id, reason, payload
    FROM unnest($1::text[], $2::text[], $3::text[]) AS rejected (trade_id, reason, payload)
    ON CONFLICT DO NOTHING
"""
# Every trade touches the house's fee accounts, and an index holds each account's entries newest first.
NEWEST_SETTLED = f"""
    SELECT max(substring(newest.reference_id FROM '-([0-9]{{1,18}})$')::bigint)
    FROM ledger_accounts AS account
    CROSS JOIN LATERAL (
        SELECT reference_id FROM ledger_entries
        WHERE user_id = account.user_id AND asset = account.asset AND reference_type = '{TRADE_REFERENCE}'
        ORDER BY entry_id DESC LIMIT 1
    ) AS newest
    WHERE account.user_id = '{FEE_ACCOUNT_ID}'
"""  # noqa: S608  (constant text)
_BALANCES = """
    SELECT user_id, asset, trim_scale(available)::text, trim_scale(locked)::text
    FROM ledger_accounts WHERE user_id = ANY ($1::text[])
    ORDER BY user_id, asset
"""
# The newest entries of each of the user's accounts, merged: each part is a walk along the index. The sum keeps the
# planner from the index of days, which has all accounts.
_HISTORY = """
    SELECT entry.entry_id, entry.transaction_id, account.asset, trim_scale(entry.amount)::text AS amount,
        trim_scale(entry.balance)::text AS balance, entry.entry_type, entry.reference_type, entry.reference_id,
        entry.created_at, floor(extract(epoch FROM entry.created_at) * 1000)::bigint AS created_at_ms
    FROM ledger_accounts AS account
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_entries
        WHERE user_id = account.user_id AND asset = account.asset AND entry_id < $3
            AND ($5::text IS NULL OR entry_type = $5)
            AND ($6::timestamptz IS NULL OR created_at + interval '0' < $6)
        ORDER BY entry_id DESC LIMIT $4
    ) AS entry
    WHERE account.user_id = $1 AND ($2::text IS NULL OR account.asset = $2)
    ORDER BY entry.entry_id DESC LIMIT $4
"""
# Halves the span of ids until one is left: that after the account's last entry before $3. Ids grow with time, and the
# index of an account holds no time. The largest of all accounts is above every entry before $3, and little else.
_FIRST_SINCE = """
    WITH RECURSIVE span AS (
        SELECT asset, 0::bigint AS low, $4::bigint AS high FROM ledger_accounts
        WHERE user_id = $1 AND ($2::text IS NULL OR asset = $2)
        UNION ALL
        SELECT span.asset,
            CASE WHEN entry.created_at < $3 THEN entry.entry_id + 1 ELSE span.low END,
            CASE WHEN entry.created_at < $3 THEN span.high ELSE span.low + (span.high - span.low) / 2 END
        FROM span LEFT JOIN LATERAL (
            SELECT entry_id, created_at FROM ledger_entries
            WHERE user_id = $1 AND asset = span.asset AND entry_id >= span.low + (span.high - span.low) / 2
            ORDER BY entry_id LIMIT 1
        ) AS entry ON true
        WHERE span.low < span.high
    )
    SELECT max(low) FROM span WHERE low >= high
"""
_OUT_OF_ORDER = timedelta(minutes=2)
"""An entry has the time at which its transaction began, and an id of when it was written. They differ by less."""


class PostedEntries(NamedTuple):
    """The ids of the trades or transfers that were written, and the users' accounts after it.

    Those that were written earlier are left out.
    """

    ids: set[str]
    states: dict[AccountKey, AccountState]


class AppliedChanges(NamedTuple):
    """The result of a batch of changes. `outbox_ids` are the ids of its balance changes, in order."""

    decision: BatchDecision
    outbox_ids: list[int]


class RejectedTrade(NamedTuple):
    """A trade or transfer that cannot be posted. `trade_id` is its id, `payload` its message in JSON."""

    trade_id: str
    reason: str
    payload: str


class HistoryPage(NamedTuple):
    """Entries, newest first. `next_before` is the `before` of the next page, None on the last one."""

    entries: list[LedgerHistoryEntry]
    next_before: int | None


class WaitingEvents(NamedTuple):
    """Waiting events by outbox id, in order. Ids that the caller adds to `published` are deleted."""

    changes: dict[int, ChangedAccount]
    published: list[int]


class _AccountsMissingError(Exception):
    """The transaction must begin again after these accounts are made."""

    def __init__(self, accounts: Collection[AccountKey]) -> None:
        super().__init__(f"{len(accounts)} accounts are missing")
        self.accounts = accounts


class _ArchivedError(Exception):
    """The transaction must begin again without these entries: they are in the archive."""

    def __init__(self, entries: Sequence[JournalEntry]) -> None:
        super().__init__(f"{len(entries)} trades are in the archive")
        self.ids = {entry.id for entry in entries}


class LedgerStore:
    """Reads and writes the tables. Every method raises asyncpg's error when the database fails."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._expects_repeats = True

    # Trades and transfers

    async def post(self, entries: Sequence[JournalEntry]) -> PostedEntries:
        """Write the entries that are not written yet, in order. If it raises, nothing is written.

        No two of `entries` have the same id. Raises asyncpg.DataError or IntegrityConstraintViolationError if one of
        them cannot be written.
        """
        for _ in range(ATTEMPTS_MAX - 1):
            try:
                return await self._post_once(entries)
            except asyncpg.UniqueViolationError:
                # It was written before, or another process wrote it at the same time. The next attempt sees that.
                self._expects_repeats = True
            except _ArchivedError as archived:
                entries = [entry for entry in entries if entry.id not in archived.ids]
        return await self._post_once(entries)

    async def _post_once(self, entries: Sequence[JournalEntry]) -> PostedEntries:
        async with self._pool.acquire() as connection, connection.transaction(isolation="read_committed"):
            fresh = await unwritten(connection, entries) if self._expects_repeats else entries
            states = await _write_entries(connection, fresh)
        self._expects_repeats = len(fresh) < len(entries)
        return PostedEntries({entry.id for entry in fresh}, states)

    async def reject(self, trades: Sequence[RejectedTrade]) -> None:
        """Store trades that cannot be settled. A repeat is not stored again."""
        # The trade id may contain characters that a text column refuses.
        rows = [(ascii(trade.trade_id)[1:-1], trade.reason, trade.payload) for trade in trades]
        await self._pool.execute(_REJECT_TRADES, *columns(rows, 3))

    # Credits, debits, locks, unlocks

    async def apply(self, changes: Sequence[Change]) -> AppliedChanges:
        """Apply `changes`, one after the other, in one transaction."""
        for _ in range(ATTEMPTS_MAX - 1):
            try:
                return await self._apply_once(changes)
            except _AccountsMissingError as missing:
                await make_accounts(self._pool, missing.accounts)
            except asyncpg.UniqueViolationError:
                # Another process wrote one of them at the same time. The next attempt sees that.
                continue
        return await self._apply_once(changes)

    async def _apply_once(self, changes: Sequence[Change]) -> AppliedChanges:
        async with self._pool.acquire() as connection, connection.transaction(isolation="read_committed"):
            return await _apply(connection, changes)

    # Outbox

    async def published(self, outbox_ids: Sequence[int]) -> None:
        """Delete events that are published."""
        await self._pool.execute(_DELETE_OUTBOX, outbox_ids)

    async def keep(self, changes: Sequence[ChangedAccount]) -> None:
        """Put unpublished events into the outbox."""
        async with self._pool.acquire() as connection:
            await write_outbox(connection, changes)

    @asynccontextmanager
    async def unpublished(self, age_s: float, limit: int, without: Collection[str]) -> AsyncIterator[WaitingEvents]:
        """Events that have waited for `age_s` seconds, oldest first, with the present state of their accounts.

        Leaves out events of the users in `without` and events that another process is publishing. If the context ends
        with an exception, nothing is deleted.
        """
        # Nearly always nothing waits, and this takes one round trip instead of three.
        if not await self._pool.fetchval("SELECT EXISTS (SELECT FROM ledger_outbox ORDER BY outbox_id LIMIT 1)"):
            yield WaitingEvents({}, [])
            return
        async with self._pool.acquire() as connection, connection.transaction(isolation="read_committed"):
            rows = await connection.fetch(_READ_OUTBOX, age_s, limit, list(without))
            states = (
                await read_accounts(connection, {AccountKey(row["user_id"], row["asset"]) for row in rows})
                if rows
                else {}
            )
            outbox = WaitingEvents(
                {
                    row["outbox_id"]: ChangedAccount(account, states[account], row["transaction_id"])
                    for row in rows
                    for account in [AccountKey(row["user_id"], row["asset"])]
                },
                [],
            )
            yield outbox
            if outbox.published:
                await connection.execute(_DELETE_OUTBOX, outbox.published)

    # Reading

    async def states(self, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
        """The present state of those of `accounts` that exist."""
        if not accounts:
            return {}
        async with self._pool.acquire() as connection:
            return await read_accounts(connection, accounts)

    async def newest_settled(self) -> int:
        """The engine sequence of the newest trade that is settled, 0 before the first."""
        return int(await self._pool.fetchval(NEWEST_SETTLED) or 0)

    async def balances(self, user_ids: Collection[str]) -> dict[str, list[LedgerBalance]]:
        """The accounts of each user that has any, sorted by asset."""
        balances: dict[str, list[LedgerBalance]] = {}
        for user_id, asset, available, locked in await self._pool.fetch(_BALANCES, list(user_ids)):
            balances.setdefault(user_id, []).append(LedgerBalance(asset, available, locked))
        return balances

    async def history(
        self,
        user_id: str,
        asset: str | None,
        before: int | None,
        limit: int,
        entry_type: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> HistoryPage:
        """The newest `limit` entries with ids below `before`, of one type if it is given.

        They were made at `since` or later and before `until`; None bounds nothing.
        """
        first = _ENTRY_ID_MAX if before is None else before
        if until is not None:
            found = await self._pool.fetchval(_FIRST_SINCE, user_id, asset, until + _OUT_OF_ORDER, first)
            first = first if found is None else min(first, found)
        rows = await self._pool.fetch(_HISTORY, user_id, asset, first, limit + 1, entry_type, until)
        entries = [
            LedgerHistoryEntry(
                transaction_id=row["transaction_id"],
                asset=row["asset"],
                amount=row["amount"],
                balance=row["balance"],
                entry_type=row["entry_type"],
                reference_type=row["reference_type"],
                reference_id=row["reference_id"],
                created_at=iso_from_ms(row["created_at_ms"]),
            )
            for row in rows[:limit]
            if since is None or row["created_at"] >= since
        ]
        # Where the last one is much too old, all that follow it are.
        is_last = len(rows) <= limit or (since is not None and rows[limit - 1]["created_at"] < since - _OUT_OF_ORDER)
        return HistoryPage(entries, None if is_last else rows[limit - 1]["entry_id"])


async def apply_with(connection: Connection, changes: Sequence[Change]) -> AppliedChanges:
    """Apply `changes` in the caller's transaction, whatever else is in it. Accounts that are missing are made.

    Their events are in the outbox. Raises asyncpg.UniqueViolationError if another process wrote one of the changes at
    the same time; then nothing of the transaction holds.
    """
    await make_accounts(connection, accounts_of(changes))
    return await _apply(connection, changes)


async def _apply(connection: Connection, changes: Sequence[Change]) -> AppliedChanges:
    credits_and_debits = [change for change in changes if isinstance(change, CreditOrDebit)]
    locks = [change for change in changes if isinstance(change, LockOrUnlock)]
    states = await lock_accounts(connection, accounts_of(changes))
    recorded = await find_entries(connection, credits_and_debits)
    locked_before = await find_locks(connection, locks)
    decision = decide(changes, states, recorded, locked_before)
    missing = decision.states.keys() - states.keys()
    if missing:
        raise _AccountsMissingError(missing)
    assert not any(sums(changes_of(decision.postings)).values()), "every change sums to zero in each asset"
    await copy_entries(connection, decision.postings, decision.balances)
    await write_locks(connection, decision.locks)
    await write_accounts(connection, decision.states)
    outbox_ids = await write_outbox(connection, decision.balance_changes)
    return AppliedChanges(decision, outbox_ids)


def _up_to(floor: str, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Those of `entries` that are trades of the floor's journal, up to its event. Both are named `<epoch>-<event>`."""
    epoch, _, last = floor.rpartition("-")
    archived = []
    for entry in entries:
        of, _, event = entry.id.rpartition("-")
        is_trade = of == epoch and event.isdecimal() and entry.marker == settlement_marker(entry.id)
        if is_trade and int(event) <= int(last):
            archived.append(entry)
    return archived


async def _write_entries(connection: Connection, entries: Sequence[JournalEntry]) -> dict[AccountKey, AccountState]:
    """Write the postings of `entries`, and add their sums to the accounts. Returns the users' accounts after that."""
    postings = [posting for entry in entries for posting in entry.postings]
    house_postings = [posting for entry in entries for posting in entry.house_postings]
    changes, house_changes = changes_of(postings), changes_of(house_postings)
    all_changes = changes | house_changes
    if not all_changes:
        return {}
    assert not any(sums(all_changes).values()), "everything sums to zero in each asset"
    # In lock order: the house's accounts come last.
    in_order = dict(sorted(changes.items())) | dict(sorted(house_changes.items()))
    states, floor = await change_accounts(connection, in_order)
    if floor is not None and (archived := _up_to(floor, entries)):
        raise _ArchivedError(archived)
    totals = {account: states[account].total - amount for account, amount in all_changes.items()}
    postings += house_postings
    await copy_entries(connection, postings, running_balances(postings, totals))
    return {account: states[account] for account in changes}


_ENTRY_ID_MAX = 2**63 - 1
