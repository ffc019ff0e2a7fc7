"""Statements on the ledger's tables: set-based SQL, which runs in the transactions of `store.py`.

Numbers travel as text, which PostgreSQL reads as exact decimals.
"""

import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from openspot.domain.accounts import AccountKey
from openspot.domain.money import amount_to_text
from openspot.kit.database import Connection, Pool
from openspot.ledger.changes import AccountState, ChangedAccount, CreditOrDebit, LockKey, LockOrUnlock, Recorded
from openspot.ledger.postings import JournalEntry, Posting, lock_order

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
_STATE_COLUMNS = 5
_ZERO = "0.000000000000000000"


async def lock_accounts(connection: Connection, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
    """Those of `accounts` that exist, locked in their order until the transaction ends."""
    return _states(await connection.fetch(_LOCK_ACCOUNTS, *columns(_sorted(accounts), 2)))


async def read_accounts(connection: Connection, accounts: Collection[AccountKey]) -> dict[AccountKey, AccountState]:
    """Those of `accounts` that exist."""
    return _states(await connection.fetch(_READ_ACCOUNTS, *columns(accounts, 2)))


async def make_accounts(connection: Connection | Pool, accounts: Iterable[AccountKey]) -> None:
    """Make those of `accounts` that are missing."""
    await connection.execute(_MAKE_ACCOUNTS, *columns(_sorted(accounts), 2))


async def change_accounts(
    connection: Connection, changes: Mapping[AccountKey, int]
) -> tuple[dict[AccountKey, AccountState], str | None]:
    """Add to available balances, of accounts in lock order, and make what is missing.

    Returns the accounts after that, and the newest trade whose entries are in the archive: `<epoch>-<event>`, or None.
    """
    amounts = [f"{amount}e-18" for amount in changes.values()]
    rows = await connection.fetch(_CHANGE_ACCOUNTS, *columns(changes, 2), amounts)
    return _states(tuple(row)[:_STATE_COLUMNS] for row in rows), rows[0]["floor"]


async def write_accounts(connection: Connection, states: Mapping[AccountKey, AccountState]) -> None:
    """Write the state of accounts that the transaction has locked."""
    if not states:
        return
    rows = [
        (account.user_id, account.asset, f"{state.available}e-18", f"{state.locked}e-18", state.version)
        for account, state in states.items()
    ]
    await connection.execute(_WRITE_ACCOUNTS, *columns(rows, 5))


async def unwritten(connection: Connection, entries: Sequence[JournalEntry]) -> Sequence[JournalEntry]:
    """Those of `entries` that are not written, in their order."""
    rows = await connection.fetch(_FIND_ENTRY_IDS, [entry.marker for entry in entries])
    written = {row[0] for row in rows}
    return [entry for entry in entries if entry.marker not in written]


async def find_entries(connection: Connection, changes: Sequence[CreditOrDebit]) -> dict[str, Recorded]:
    """The entries of credits and debits that were written before, by transaction id."""
    if not changes:
        return {}
    rows = await connection.fetch(_FIND_ENTRIES, [change.transaction_id for change in changes])
    return {
        transaction_id: Recorded(user_id, asset, _amount(amount)) for transaction_id, user_id, asset, amount in rows
    }


async def copy_entries(connection: Connection, postings: Sequence[Posting], balances: Sequence[int]) -> None:
    """Write postings with the balances of their accounts after each. Raises asyncpg.UniqueViolationError."""
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


async def find_locks(connection: Connection, locks: Sequence[LockOrUnlock]) -> dict[LockKey, int]:
    """The locks and unlocks that were written before: their amounts, an unlock's below 0."""
    if not locks:
        return {}
    rows = await connection.fetch(_FIND_LOCKS, *columns([lock.key for lock in locks], 4))
    return {LockKey(*key): _amount(amount) if key[3] == "lock" else -_amount(amount) for *key, amount in rows}


async def write_locks(connection: Connection, locks: Sequence[LockOrUnlock]) -> None:
    """Write locks and unlocks. Raises asyncpg.UniqueViolationError if one was written before."""
    if not locks:
        return
    rows = [(*lock.key, amount_to_text(abs(lock.amount))) for lock in locks]
    await connection.execute(_WRITE_LOCKS, *columns(rows, 5))


async def write_outbox(connection: Connection, changes: Sequence[ChangedAccount]) -> list[int]:
    """Write the events of changed accounts. Returns their ids, in order."""
    if not changes:
        return []
    rows = [(*change.account, change.transaction_id) for change in changes]
    return [row[0] for row in await connection.fetch(_WRITE_OUTBOX, *columns(rows, 3))]


def columns(rows: Iterable[Sequence[object]], width: int) -> list[list[object]]:
    """Rows as columns, each of them an argument of a statement; `width` empty ones without a row."""
    found = [list(column) for column in zip(*rows, strict=True)]
    return found or [[] for _ in range(width)]


def _states(rows: Iterable[Iterable[Any]]) -> dict[AccountKey, AccountState]:
    return {
        AccountKey(user_id, asset): AccountState(_amount(available), 0 if locked == _ZERO else _amount(locked), version)
        for user_id, asset, available, locked, version in rows
    }


def _sorted(accounts: Iterable[AccountKey]) -> list[AccountKey]:
    return sorted(accounts, key=lock_order)


def _amount(text: str) -> int:
    """The integer at 18 places for the text of a numeric(38, 18) column, which always has all 18 places."""
    return int(text.replace(".", ""))
