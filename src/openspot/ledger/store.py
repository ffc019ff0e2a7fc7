"""The ledger's tables: one transaction for each batch, set-based SQL, no rules.

There are no deadlocks: every transaction locks the accounts that it changes in one order (house, user, asset) before it
writes their entries. The house's accounts come last, because every batch needs them. A batch changes an account once,
however many of its postings do.

Entries are written with COPY. It has no ON CONFLICT and needs none: a transaction that writes an entry for the second
time fails at the unique key, begins again, and looks up what is written. Trades that the bus delivers again come
together, after a crash. So a batch looks first only if the one before it, or the start of the process, was such a case.

Numbers travel as text, which PostgreSQL reads as exact decimals.
"""

import io
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from openspot.contracts.messages import LedgerBalance, LedgerHistoryEntry
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.money import amount_to_text
from openspot.kit.clock import iso_from_ms
from openspot.kit.database import Connection, Pool
from openspot.ledger.changes import (
    AccountState,
    BatchDecision,
    Change,
    ChangedAccount,
    CreditOrDebit,
    LockKey,
    LockOrUnlock,
    Recorded,
    accounts_of,
    decide,
)
from openspot.ledger.postings import (
    TRADE_REFERENCE,
    JournalEntry,
    Posting,
    changes_of,
    lock_order,
    running_balances,
    settlement_marker,
    sums,
)

ATTEMPTS_MAX = 5
"""A batch begins again if an account was missing, or if another process wrote the same entry; at most this often."""

# Accounts are given to these statements in lock order.
_LOCK_ACCOUNTS = """
    SELECT account.user_id, account.asset, account.available::text, account.locked::text, account.version
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (user_id, asset, place)
    JOIN ledger_accounts AS account ON account.user_id = wanted.user_id AND account.asset = wanted.asset
    ORDER BY wanted.place
    FOR NO KEY UPDATE OF account
"""
_READ_ACCOUNTS = """
    SELECT account.user_id, account.asset, account.available::text, account.locked::text, account.version
    FROM unnest($1::text[], $2::text[]) AS wanted (user_id, asset)
    JOIN ledger_accounts AS account ON account.user_id = wanted.user_id AND account.asset = wanted.asset
"""
_MAKE_ACCOUNTS = """
    INSERT INTO ledger_accounts (user_id, asset)
    SELECT user_id, asset FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS missing (user_id, asset, place)
    ORDER BY place
    ON CONFLICT DO NOTHING
"""
# Makes, locks and changes accounts in one pass, in the order given. A trade up to the floor of the archive is settled,
# and its entries may have left: the unique key would not refuse it.
_CHANGE_ACCOUNTS = """
    INSERT INTO ledger_accounts AS account (user_id, asset, available, version)
    SELECT user_id, asset, amount::numeric, 1
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS change (user_id, asset, amount, place)
    ORDER BY place
    ON CONFLICT (user_id, asset) DO UPDATE
    SET available = account.available + excluded.available, version = account.version + 1, updated_at = now()
    RETURNING user_id, asset, available::text, locked::text, version,
        (SELECT epoch || '-' || sequence FROM archive_floors WHERE kind = 'entries') AS floor
"""
_WRITE_ACCOUNTS = """
    UPDATE ledger_accounts AS account
    SET available = changed.available::numeric, locked = changed.locked::numeric, version = changed.version,
        updated_at = now()
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
        AS changed (user_id, asset, available, locked, version)
    WHERE account.user_id = changed.user_id AND account.asset = changed.asset
"""
_ENTRY_COLUMNS = (
    "transaction_id",
    "user_id",
    "asset",
    "amount",
    "balance",
    "entry_type",
    "reference_type",
    "reference_id",
)
_FIND_ENTRY_IDS = "SELECT transaction_id FROM ledger_entries WHERE transaction_id = ANY ($1::text[])"
_FIND_ENTRIES = """
    SELECT transaction_id, user_id, asset, amount::text FROM ledger_entries WHERE transaction_id = ANY ($1::text[])
"""
_FIND_LOCKS = """
    SELECT user_id, asset, reference_id, direction, amount::text
    FROM ledger_movements
    WHERE (user_id, asset, reference_id, direction) IN
        (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))
"""
_WRITE_LOCKS = """
    INSERT INTO ledger_movements (user_id, asset, reference_id, direction, amount)
    SELECT user_id, asset, reference_id, direction, amount::numeric
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
        AS movement (user_id, asset, reference_id, direction, amount)
"""
_WRITE_OUTBOX = """
    INSERT INTO ledger_outbox (user_id, asset, transaction_id)
    SELECT user_id, asset, transaction_id
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY
        AS change (user_id, asset, transaction_id, place)
    ORDER BY place
    RETURNING outbox_id
"""
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
# The newest entries of each of the user's accounts, merged: each part is a walk along the index.
_HISTORY = """
    SELECT entry.entry_id, entry.transaction_id, account.asset, trim_scale(entry.amount)::text AS amount,
        trim_scale(entry.balance)::text AS balance, entry.entry_type, entry.reference_type, entry.reference_id,
        floor(extract(epoch FROM entry.created_at) * 1000)::bigint AS created_at_ms
    FROM ledger_accounts AS account
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_entries
        WHERE user_id = account.user_id AND asset = account.asset AND entry_id < $3
            AND ($5::text IS NULL OR entry_type = $5)
        ORDER BY entry_id DESC LIMIT $4
    ) AS entry
    WHERE account.user_id = $1 AND ($2::text IS NULL OR account.asset = $2)
    ORDER BY entry.entry_id DESC LIMIT $4
"""


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
            fresh = await _unwritten(connection, entries) if self._expects_repeats else entries
            states = await _write_entries(connection, fresh)
        self._expects_repeats = len(fresh) < len(entries)
        return PostedEntries({entry.id for entry in fresh}, states)

    async def reject(self, trades: Sequence[RejectedTrade]) -> None:
        """Store trades that cannot be settled. A repeat is not stored again."""
        # The trade id may contain characters that a text column refuses.
        rows = [(ascii(trade.trade_id)[1:-1], trade.reason, trade.payload) for trade in trades]
        await self._pool.execute(_REJECT_TRADES, *_columns(rows, 3))

    # Credits, debits, locks, unlocks

    async def apply(self, changes: Sequence[Change]) -> AppliedChanges:
        """Apply `changes`, one after the other, in one transaction."""
        for _ in range(ATTEMPTS_MAX - 1):
            try:
                return await self._apply_once(changes)
            except _AccountsMissingError as missing:
                await self._make_accounts(missing.accounts)
            except asyncpg.UniqueViolationError:
                # Another process wrote one of them at the same time. The next attempt sees that.
                continue
        return await self._apply_once(changes)

    async def _apply_once(self, changes: Sequence[Change]) -> AppliedChanges:
        async with self._pool.acquire() as connection, connection.transaction(isolation="read_committed"):
            return await _apply(connection, changes)

    async def _make_accounts(self, accounts: Collection[AccountKey]) -> None:
        await self._pool.execute(_MAKE_ACCOUNTS, *_columns(_sorted(accounts), 2))

    # Outbox

    async def published(self, outbox_ids: Sequence[int]) -> None:
        """Delete events that are published."""
        await self._pool.execute(_DELETE_OUTBOX, outbox_ids)

    async def keep(self, changes: Sequence[ChangedAccount]) -> None:
        """Put unpublished events into the outbox."""
        async with self._pool.acquire() as connection:
            await _write_outbox(connection, changes)

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
            states = await _read(connection, {AccountKey(row["user_id"], row["asset"]) for row in rows}) if rows else {}
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
            return await _read(connection, accounts)

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
        self, user_id: str, asset: str | None, before: int | None, limit: int, entry_type: str | None = None
    ) -> HistoryPage:
        """The newest `limit` entries with ids below `before`, of one type if it is given."""
        first = _ENTRY_ID_MAX if before is None else before
        rows = await self._pool.fetch(_HISTORY, user_id, asset, first, limit + 1, entry_type)
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
        ]
        return HistoryPage(entries, rows[limit - 1]["entry_id"] if len(rows) > limit else None)


async def apply_with(connection: Connection, changes: Sequence[Change]) -> AppliedChanges:
    """Apply `changes` in the caller's transaction, whatever else is in it. Accounts that are missing are made.

    Their events are in the outbox. Raises asyncpg.UniqueViolationError if another process wrote one of the changes at
    the same time; then nothing of the transaction holds.
    """
    await connection.execute(_MAKE_ACCOUNTS, *_columns(_sorted(accounts_of(changes)), 2))
    return await _apply(connection, changes)


async def _apply(connection: Connection, changes: Sequence[Change]) -> AppliedChanges:
    credits_and_debits = [change for change in changes if isinstance(change, CreditOrDebit)]
    locks = [change for change in changes if isinstance(change, LockOrUnlock)]
    states = await _lock(connection, accounts_of(changes))
    recorded = await _find_entries(connection, credits_and_debits)
    locked_before = await _find_locks(connection, locks)
    decision = decide(changes, states, recorded, locked_before)
    missing = decision.states.keys() - states.keys()
    if missing:
        raise _AccountsMissingError(missing)
    assert not any(sums(changes_of(decision.postings)).values()), "every change sums to zero in each asset"
    await _copy_entries(connection, decision.postings, decision.balances)
    await _write_locks(connection, decision.locks)
    await _write_accounts(connection, decision.states)
    outbox_ids = await _write_outbox(connection, decision.balance_changes)
    return AppliedChanges(decision, outbox_ids)


async def _lock(connection: Connection, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
    return _states(await connection.fetch(_LOCK_ACCOUNTS, *_columns(_sorted(accounts), 2)))


async def _read(connection: Connection, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
    return _states(await connection.fetch(_READ_ACCOUNTS, *_columns(accounts, 2)))


def _sorted(accounts: Iterable[AccountKey]) -> list[AccountKey]:
    return sorted(accounts, key=lock_order)


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


def _states(rows: Iterable[Iterable[Any]]) -> dict[AccountKey, AccountState]:
    return {
        AccountKey(user_id, asset): AccountState(_amount(available), 0 if locked == _ZERO else _amount(locked), version)
        for user_id, asset, available, locked, version in rows
    }


async def _unwritten(connection: Connection, entries: Sequence[JournalEntry]) -> Sequence[JournalEntry]:
    rows = await connection.fetch(_FIND_ENTRY_IDS, [entry.marker for entry in entries])
    written = {row[0] for row in rows}
    return [entry for entry in entries if entry.marker not in written]


async def _write_entries(connection: Connection, entries: Sequence[JournalEntry]) -> dict[AccountKey, AccountState]:
    """Write the postings of `entries`, and add their sums to the accounts. Returns the users' accounts after that."""
    postings = [posting for entry in entries for posting in entry.postings]
    house_postings = [posting for entry in entries for posting in entry.house_postings]
    changes, house_changes = changes_of(postings), changes_of(house_postings)
    all_changes = changes | house_changes
    if not all_changes:
        return {}
    assert not any(sums(all_changes).values()), "everything sums to zero in each asset"
    accounts = [*sorted(changes), *sorted(house_changes)]  # in lock order
    amounts = [f"{all_changes[account]}e-18" for account in accounts]
    rows = await connection.fetch(_CHANGE_ACCOUNTS, *_columns(accounts, 2), amounts)
    if (floor := rows[0]["floor"]) is not None and (archived := _up_to(floor, entries)):
        raise _ArchivedError(archived)
    states = _states(tuple(row)[:_STATE_COLUMNS] for row in rows)
    totals = {account: states[account].total - amount for account, amount in all_changes.items()}
    postings += house_postings
    await _copy_entries(connection, postings, running_balances(postings, totals))
    return {account: states[account] for account in changes}


async def _copy_entries(connection: Connection, postings: Sequence[Posting], balances: Sequence[int]) -> None:
    if not postings:
        return
    # No field contains a tab, a line end or a backslash: the checks of requests and trades refuse them.
    text = "".join(
        [
            f"{transaction_id}\t{user_id}\t{asset}\t{amount}e-18\t{balance}e-18"
            f"\t{entry_type}\t{reference_type}\t{reference_id}\n"
            for (transaction_id, (user_id, asset), amount, entry_type, reference_type, reference_id), balance in zip(
                postings, balances, strict=True
            )
        ]
    )
    await connection.copy_to_table("ledger_entries", source=io.BytesIO(text.encode()), columns=_ENTRY_COLUMNS)


async def _write_accounts(connection: Connection, states: Mapping[AccountKey, AccountState]) -> None:
    if not states:
        return
    rows = [
        (account.user_id, account.asset, f"{state.available}e-18", f"{state.locked}e-18", state.version)
        for account, state in states.items()
    ]
    await connection.execute(_WRITE_ACCOUNTS, *_columns(rows, 5))


async def _find_entries(connection: Connection, changes: Sequence[CreditOrDebit]) -> dict[str, Recorded]:
    if not changes:
        return {}
    rows = await connection.fetch(_FIND_ENTRIES, [change.transaction_id for change in changes])
    return {
        transaction_id: Recorded(user_id, asset, _amount(amount)) for transaction_id, user_id, asset, amount in rows
    }


async def _find_locks(connection: Connection, locks: Sequence[LockOrUnlock]) -> dict[LockKey, int]:
    if not locks:
        return {}
    rows = await connection.fetch(_FIND_LOCKS, *_columns([lock.key for lock in locks], 4))
    return {LockKey(*key): _amount(amount) if key[3] == "lock" else -_amount(amount) for *key, amount in rows}


async def _write_locks(connection: Connection, locks: Sequence[LockOrUnlock]) -> None:
    if not locks:
        return
    rows = [(*lock.key, amount_to_text(abs(lock.amount))) for lock in locks]
    await connection.execute(_WRITE_LOCKS, *_columns(rows, 5))


async def _write_outbox(connection: Connection, changes: Sequence[ChangedAccount]) -> list[int]:
    if not changes:
        return []
    rows = [(*change.account, change.transaction_id) for change in changes]
    return [row[0] for row in await connection.fetch(_WRITE_OUTBOX, *_columns(rows, 3))]


_ENTRY_ID_MAX = 2**63 - 1
_STATE_COLUMNS = 5
_ZERO = "0.000000000000000000"


def _amount(text: str) -> int:
    """The integer at 18 places for the text of a numeric(38, 18) column, which always has all 18 places."""
    return int(text.replace(".", ""))


def _columns(rows: Iterable[Sequence[object]], width: int) -> list[list[object]]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns or [[] for _ in range(width)]
