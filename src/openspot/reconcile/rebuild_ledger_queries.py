"""SQL of the repair of the ledger: what the engine's events post, the entries that differ, and the accounts' figures.

`rebuild_entries` has every entry that the engine's events make. `rebuild_changes` has each entry that must be written
(`write`), changed (`set`) or removed (`remove`), as it must be; `rebuild_accounts` the accounts that may be wrong.
"""

# ruff: noqa: S608  (the texts are made of constants only)

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, RESERVED_SUFFIXES
from openspot.ledger.changes import CONTRA_SUFFIX
from openspot.ledger.rebuild import ENGINE_REFERENCE

ENTRY_COLUMNS = ("transaction_id", "user_id", "asset", "amount", "entry_type", "reference_type", "reference_id")
_CONTENT = ENTRY_COLUMNS[1:]
_LAST_ID = 2**62
"""In a plan, entries that get a new number come after all others."""

TEMPORARY_TABLES = """
    CREATE TEMPORARY TABLE rebuild_entries (
        sequence bigint, place bigint, transaction_id text, user_id text, asset text, amount numeric, entry_type text,
        reference_type text, reference_id text
    );
    CREATE TEMPORARY TABLE rebuild_changes (
        action text, sequence bigint, place bigint, transaction_id text, user_id text, asset text, amount numeric,
        entry_type text, reference_type text, reference_id text, entry_id bigint, kept_user_id text, kept_asset text,
        kept_amount numeric, kept_balance numeric, kept text
    );
    CREATE TEMPORARY TABLE rebuild_accounts (
        user_id text, asset text, total numeric, entries numeric, PRIMARY KEY (user_id, asset)
    );
"""
# The engine can have two movements under one reference; the ledger posts the first.
INDEX_ENTRIES = """
    CREATE TEMPORARY TABLE rebuild_unique ON COMMIT PRESERVE ROWS AS
        SELECT DISTINCT ON (transaction_id) * FROM rebuild_entries ORDER BY transaction_id, sequence, place;
    DROP TABLE rebuild_entries;
    ALTER TABLE rebuild_unique RENAME TO rebuild_entries;
    CREATE UNIQUE INDEX ON rebuild_entries (transaction_id);
    ANALYZE rebuild_entries
"""
# An adjustment at the engine alone has entries only if operators booked it, and they still have one of the two.
FORGET_UNBOOKED = f"""
    DELETE FROM rebuild_entries AS made WHERE reference_type = '{ENGINE_REFERENCE}' AND NOT EXISTS (
        SELECT FROM ledger_entries AS entry
        WHERE entry.transaction_id IN (made.reference_id, made.reference_id || '{CONTRA_SUFFIX}')
    )
"""
ADD_LATE_ENTRIES = f"""
    INSERT INTO rebuild_entries (sequence, place, {", ".join(ENTRY_COLUMNS)})
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[],
        $8::text[], $9::text[])
    ON CONFLICT DO NOTHING
"""
_AS_TEXT = """concat_ws(' ', {0}.user_id, {0}.asset, trim_scale({0}.amount), {0}.entry_type, {0}.reference_type,
    {0}.reference_id)"""
_NEEDED = ", ".join(
    f"CASE WHEN made.transaction_id IS NULL THEN entry.{name} ELSE made.{name} END" for name in _CONTENT
)
FIND_CHANGES = f"""
    INSERT INTO rebuild_changes (action, sequence, place, {", ".join(ENTRY_COLUMNS)}, entry_id, kept_user_id,
        kept_asset, kept_amount, kept_balance, kept)
    SELECT CASE WHEN entry.transaction_id IS NULL THEN 'write' WHEN made.transaction_id IS NULL THEN 'remove'
            ELSE 'set' END,
        made.sequence, made.place, coalesce(made.transaction_id, entry.transaction_id),
        {_NEEDED},
        entry.entry_id, entry.user_id, entry.asset, entry.amount, entry.balance,
        CASE WHEN entry.transaction_id IS NOT NULL THEN {_AS_TEXT.format("entry")} END
    FROM rebuild_entries AS made FULL JOIN ledger_entries AS entry ON entry.transaction_id = made.transaction_id
    WHERE ({", ".join(f"made.{name}" for name in _CONTENT)})
        IS DISTINCT FROM ({", ".join(f"entry.{name}" for name in _CONTENT)})
"""
# One pass over the entries gives the sums and shows whether each entry has the balance that follows from those before.
_SUMMED = """
    SELECT user_id, asset, sum(amount) AS total, count(*) AS entries,
        count(*) FILTER (WHERE balance <> running) AS off
    FROM (
        SELECT user_id, asset, amount, balance,
            sum(amount) OVER (PARTITION BY user_id, asset ORDER BY entry_id ROWS UNBOUNDED PRECEDING) AS running
        FROM {entries} AS entry
        {where}
    ) AS numbered GROUP BY user_id, asset
"""
_LOCKED = """
    SELECT user_id, asset, sum(CASE direction WHEN 'lock' THEN amount ELSE -amount END) AS amount,
        count(*) AS movements
    FROM ledger_movements {where} GROUP BY user_id, asset
"""
FIND_ACCOUNTS = f"""
    INSERT INTO rebuild_accounts (user_id, asset, total, entries)
    SELECT user_id, asset, account.available + account.locked, coalesce(summed.total, 0)
    FROM ledger_accounts AS account
    FULL JOIN ({_SUMMED.format(entries="ledger_entries", where="")}) AS summed USING (user_id, asset)
    FULL JOIN ({_LOCKED.format(where="")}) AS locked USING (user_id, asset)
    WHERE account.available + account.locked IS DISTINCT FROM coalesce(summed.total, 0)
        OR account.locked IS DISTINCT FROM coalesce(locked.amount, 0)
        OR summed.off > 0
"""
# What the ledger has posted between the snapshot and the newest event that was read is right.
EXPLAIN_LATE_ENTRIES = f"""
    DELETE FROM rebuild_changes AS change USING rebuild_entries AS made
    WHERE change.action = 'remove' AND made.transaction_id = change.transaction_id
        AND ({", ".join(f"made.{name}" for name in _CONTENT)}) = ({", ".join(f"change.{name}" for name in _CONTENT)})
"""
ACCOUNTS_OF_CHANGES = """
    INSERT INTO rebuild_accounts (user_id, asset)
    SELECT user_id, asset FROM rebuild_changes UNION
    SELECT kept_user_id, kept_asset FROM rebuild_changes WHERE kept_user_id IS NOT NULL
    ON CONFLICT DO NOTHING
"""
# Entries that only the ledger can have written: a credit or debit that no event stands for, and its other side.
_BASE = f"regexp_replace(change.transaction_id, '{CONTRA_SUFFIX}$', '')"
_OF_EVENTS = " OR ".join(
    f"change.transaction_id LIKE '%{suffix}'" for suffix in RESERVED_SUFFIXES if suffix != CONTRA_SUFFIX
)
_PAIRS = f"""
    FROM rebuild_changes AS change JOIN rebuild_changes AS contra
        ON contra.transaction_id = change.transaction_id || '{CONTRA_SUFFIX}' AND contra.asset = change.asset
        AND contra.amount = -change.amount AND contra.user_id = '{EXTERNAL_ACCOUNT_ID}'
    WHERE change.action = 'remove' AND contra.action = 'remove'
"""
WHOLE_PAIRS = f"SELECT change.transaction_id AS name, change.amount {_PAIRS} ORDER BY change.transaction_id LIMIT $1"
KEEP_WHOLE_PAIRS = f"""
    DELETE FROM rebuild_changes WHERE transaction_id IN (
        SELECT unnest(ARRAY[change.transaction_id, contra.transaction_id]) {_PAIRS}
    )
"""
LEDGERS_OWN = f"""
    SELECT {_BASE} AS name, change.transaction_id <> {_BASE} AS is_contra, change.transaction_id, change.user_id,
        change.asset, change.amount, change.entry_type, change.reference_type, change.reference_id, change.entry_id,
        change.kept_balance, coalesce(account.total = account.entries, true) AS fits
    FROM rebuild_changes AS change LEFT JOIN rebuild_accounts AS account USING (user_id, asset)
    WHERE change.action = 'remove' AND NOT ({_OF_EVENTS})
    ORDER BY name, is_contra LIMIT $1
"""
ACCOUNTS_WITH_EXCESS = f"""
    SELECT user_id FROM rebuild_accounts WHERE asset = $1 AND total - entries = $2
    AND user_id <> '{EXTERNAL_ACCOUNT_ID}' LIMIT 2
"""
KEEP_ENTRY = "DELETE FROM rebuild_changes WHERE transaction_id = $1"
SET_INSTEAD = "UPDATE rebuild_changes SET action = 'set', amount = $2 WHERE transaction_id = $1"
WRITE_ALSO = f"""
    INSERT INTO rebuild_changes (action, sequence, place, {", ".join(ENTRY_COLUMNS)})
    VALUES ('write', 0, 0, $1, $2, $3, $4, $5, $6, $7)
"""

# Places of missing entries
MISSING = """
    SELECT transaction_id, user_id, asset, amount, reference_id, reference_type FROM rebuild_changes
    WHERE action = 'write' AND entry_id IS NULL ORDER BY sequence, place LIMIT $1
"""
# Between which entries of an account the running balance jumps, and by how much.
JUMPS = """
    SELECT before, entry_id AS after, balance - amount - balance_before AS jump
    FROM (
        SELECT entry_id, amount, balance, coalesce(lag(entry_id) OVER series, 0) AS before,
            coalesce(lag(balance) OVER series, 0) AS balance_before
        FROM ledger_entries WHERE user_id = $1 AND asset = $2
        WINDOW series AS (ORDER BY entry_id)
    ) AS entry
    WHERE balance - amount <> balance_before ORDER BY entry_id LIMIT 100
"""
PLACES = "SELECT transaction_id, entry_id FROM ledger_entries WHERE transaction_id = ANY ($1::text[])"
TAKEN_IDS = "SELECT entry_id FROM ledger_entries WHERE entry_id > $1 AND entry_id < $2 ORDER BY entry_id LIMIT 10000"
SET_PLACE = "UPDATE rebuild_changes SET entry_id = $2 WHERE transaction_id = $1"

# Changing
CHANGES = f"""
    SELECT action, transaction_id, {_AS_TEXT.format("change")} AS made, kept FROM rebuild_changes AS change
    ORDER BY action, sequence, place, transaction_id
"""
REMOVE = """
    DELETE FROM ledger_entries
    WHERE transaction_id IN (SELECT transaction_id FROM rebuild_changes WHERE action = 'remove')
"""
SET = f"""
    UPDATE ledger_entries AS entry SET {", ".join(f"{name} = change.{name}" for name in _CONTENT)}
    FROM rebuild_changes AS change
    WHERE change.action = 'set' AND entry.transaction_id = change.transaction_id
"""
# The running balances follow with the accounts.
_INSERT = f"""
    INSERT INTO ledger_entries ({{columns}}{", ".join(ENTRY_COLUMNS)}, balance)
    {{overriding}} SELECT {{columns}}{", ".join(ENTRY_COLUMNS)}, 0 FROM rebuild_changes
    WHERE action = 'write' AND entry_id IS {{known}} ORDER BY sequence, place
    ON CONFLICT (transaction_id) DO NOTHING
"""
WRITE_IN_PLACE = _INSERT.format(columns="entry_id, ", overriding="OVERRIDING SYSTEM VALUE", known="NOT NULL")
WRITE_AT_THE_END = _INSERT.format(columns="", overriding="", known="NULL")

ACCOUNTS = "SELECT user_id, asset FROM rebuild_accounts"
MAKE_ACCOUNTS = """
    INSERT INTO ledger_accounts (user_id, asset, version)
    SELECT user_id, asset, 0 FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (user_id, asset, place)
    WHERE EXISTS (SELECT FROM ledger_entries AS entry
            WHERE entry.user_id = wanted.user_id AND entry.asset = wanted.asset AND NOT EXISTS (
                SELECT FROM rebuild_changes AS change WHERE change.transaction_id = entry.transaction_id))
        OR EXISTS (SELECT FROM ledger_movements AS moved
            WHERE moved.user_id = wanted.user_id AND moved.asset = wanted.asset)
        OR EXISTS (SELECT FROM rebuild_changes AS change
            WHERE change.action <> 'remove' AND change.user_id = wanted.user_id AND change.asset = wanted.asset)
    ORDER BY place
    ON CONFLICT DO NOTHING
    RETURNING user_id, asset
"""
LOCK_ACCOUNTS = """
    SELECT FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (user_id, asset, place)
    JOIN ledger_accounts AS account ON account.user_id = wanted.user_id AND account.asset = wanted.asset
    ORDER BY wanted.place
    FOR UPDATE OF account
"""
_WANTED = "WHERE (user_id, asset) IN (SELECT * FROM unnest($1::text[], $2::text[]))"
# Each account as it is, and as its entries and its locks say.
FIGURES = f"""
    SELECT user_id, asset, account.available, account.locked, coalesce(summed.total, 0) AS total,
        coalesce(summed.off, 0) AS off, coalesce(locked.amount, 0) AS by_locks,
        coalesce(summed.entries, 0) + coalesce(locked.movements, 0) AS changes
    FROM (SELECT * FROM ledger_accounts {_WANTED}) AS account
    FULL JOIN ({_SUMMED.format(entries="{entries}", where=_WANTED)}) AS summed USING (user_id, asset)
    FULL JOIN ({_LOCKED.format(where=_WANTED)}) AS locked USING (user_id, asset)
    ORDER BY user_id, asset
"""
PRESENT_ENTRIES = "ledger_entries"
PLANNED_ENTRIES = f"""(
    SELECT entry_id, user_id, asset, amount, balance FROM ledger_entries AS present
    WHERE NOT EXISTS (SELECT FROM rebuild_changes AS change WHERE change.transaction_id = present.transaction_id)
    UNION ALL
    SELECT coalesce(entry_id, {_LAST_ID} + row_number() OVER (ORDER BY sequence, place)), user_id, asset, amount,
        coalesce(kept_balance, 0)
    FROM rebuild_changes WHERE action <> 'remove'
)"""
SET_BALANCES = """
    UPDATE ledger_entries AS entry SET balance = right_.balance
    FROM (
        SELECT transaction_id,
            sum(amount) OVER (PARTITION BY user_id, asset ORDER BY entry_id ROWS UNBOUNDED PRECEDING) AS balance
        FROM ledger_entries WHERE user_id = $1 AND asset = $2
    ) AS right_
    WHERE entry.transaction_id = right_.transaction_id AND entry.balance <> right_.balance
"""
SET_ACCOUNT = """
    UPDATE ledger_accounts SET available = $3, locked = $4, version = greatest(version, $5) + 1, updated_at = now()
    WHERE user_id = $1 AND asset = $2
"""
REMOVE_ACCOUNT = "DELETE FROM ledger_accounts WHERE user_id = $1 AND asset = $2"
ANNOUNCE = "INSERT INTO ledger_outbox (user_id, asset, transaction_id) VALUES ($1, $2, $3)"
WRITE_LOCK = """
    INSERT INTO ledger_movements (user_id, asset, reference_id, direction, amount) VALUES ($1, $2, $3, $4, $5)
"""
# A copy of a lock has the time of its original, and was written by a later transaction.
COPIED_LOCKS = """
    SELECT copy.reference_id FROM ledger_movements AS copy
    JOIN ledger_movements AS original USING (user_id, asset, direction, amount, created_at)
    WHERE user_id = $1 AND asset = $2 AND direction = $3 AND amount = $4
        AND age(copy.xmin) < age(original.xmin) LIMIT 2
"""
REMOVE_LOCK = """
    DELETE FROM ledger_movements WHERE user_id = $1 AND asset = $2 AND direction = $3 AND reference_id = $4
"""
FORGET_ANNOUNCEMENTS = "DELETE FROM ledger_outbox WHERE user_id = $1 AND asset = $2"
