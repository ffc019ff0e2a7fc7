"""SQL of one reconciliation: the temporary tables, and one query for each comparison.

`reconcile_orders`, `_trades`, `_money`, `_transfers` and `_balances` hold the engine's side. `reconcile_gaps` holds
every ledger entry that one side lacks. A gap's `amount` is its share in the difference between the totals. So the sum
of an account's gaps explains the account's difference.
"""

# ruff: noqa: S608  (the texts are made of constants only)

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, FEE_ACCOUNT_ID, HOUSE_PREFIX
from openspot.ledger.changes import CONTRA_SUFFIX
from openspot.ledger.postings import TRADE_REFERENCE, TRANSFER_REFERENCE
from openspot.ledger.rebuild import ADJUSTMENT_TYPE

TEMPORARY_TABLES = """
    CREATE TEMPORARY TABLE reconcile_orders (
        order_id text, user_id text, symbol text, side text, price numeric, quantity numeric, filled numeric,
        notional numeric, remaining numeric, fee numeric, status text
    );
    CREATE TEMPORARY TABLE reconcile_trades (
        sequence bigint, trade_id text, symbol text, price numeric, quantity numeric, taker_side text,
        taker_order_id text, maker_order_id text, buyer_id text, seller_id text, taker_fee numeric,
        maker_fee numeric, fee_currency text
    );
    CREATE TEMPORARY TABLE reconcile_money (
        sequence bigint, kind text, user_id text, asset text, amount numeric, reference text
    );
    CREATE INDEX ON reconcile_money (reference);
    CREATE TEMPORARY TABLE reconcile_transfers (
        sequence bigint, reference text, place bigint, source text, destination text, asset text, amount numeric,
        kind text
    );
    CREATE INDEX ON reconcile_transfers (reference);
    CREATE TEMPORARY TABLE reconcile_balances (user_id text, asset text, total numeric);
    CREATE TEMPORARY TABLE reconcile_gaps (
        source text, state text, name text, transaction_id text, of_engine boolean, user_id text, asset text,
        amount numeric, sequence bigint
    );
"""
# Rows of events up to these may be in the archive. What ended, or was posted, up to there is not compared row by row.
FLOORS = "SELECT kind, sequence FROM archive_floors WHERE kind IN ('orders', 'trades', 'entries')"
_FLOOR = "(SELECT coalesce(max(sequence), 0) FROM archive_floors WHERE kind = '{kind}')"
_ENTRIES_FLOOR = _FLOOR.format(kind="entries")
_ORDERS_FLOOR = _FLOOR.format(kind="orders")
TRADES_FLOOR = _FLOOR.format(kind="trades")
ANALYZE = "ANALYZE reconcile_orders, reconcile_trades, reconcile_money, reconcile_transfers, reconcile_balances"

# The entries that a trade must have. This shares no code with the ledger's postings on purpose: shared code would share
# its faults.
_POSTINGS = f"""
    SELECT trade.sequence, trade.trade_id, trade.trade_id || ':' || posting.name AS transaction_id,
        posting.user_id, posting.asset, posting.amount,
        CASE WHEN posting.name NOT LIKE '%fee' THEN 'trade'
            WHEN (posting.amount < 0) = starts_with(posting.name, 'house-') AND posting.amount <> 0 THEN 'rebate'
            ELSE 'fee' END AS entry_type
    FROM reconcile_trades AS trade
    CROSS JOIN LATERAL (
        SELECT split_part(trade.symbol, '-', 1) AS base, split_part(trade.symbol, '-', 2) AS quote,
            trade.price * trade.quantity AS notional,
            CASE trade.taker_side WHEN 'buy' THEN trade.taker_fee ELSE trade.maker_fee END AS buyer_fee,
            CASE trade.taker_side WHEN 'buy' THEN trade.maker_fee ELSE trade.taker_fee END AS seller_fee
    ) AS of_trade
    CROSS JOIN LATERAL (VALUES
        ('buyer-quote', trade.buyer_id, of_trade.quote, -of_trade.notional),
        ('buyer-base', trade.buyer_id, of_trade.base, trade.quantity),
        ('seller-base', trade.seller_id, of_trade.base, -trade.quantity),
        ('seller-quote', trade.seller_id, of_trade.quote, of_trade.notional),
        ('buyer-fee', trade.buyer_id, trade.fee_currency, -of_trade.buyer_fee),
        ('seller-fee', trade.seller_id, trade.fee_currency, -of_trade.seller_fee),
        ('house-buyer-fee', '{FEE_ACCOUNT_ID}', trade.fee_currency, of_trade.buyer_fee),
        ('house-seller-fee', '{FEE_ACCOUNT_ID}', trade.fee_currency, of_trade.seller_fee)
    ) AS posting (name, user_id, asset, amount)
"""
_TRANSFER_POSTINGS = """
    SELECT transfer.sequence, transfer.reference, transfer.reference || ':' || place || ':' || posting.name
        AS transaction_id, posting.user_id, transfer.asset, posting.amount, transfer.kind AS entry_type
    FROM reconcile_transfers AS transfer
    CROSS JOIN LATERAL (VALUES
        ('transfer-debit', transfer.source, -transfer.amount),
        ('transfer-credit', transfer.destination, transfer.amount)
    ) AS posting (name, user_id, amount)
"""
_SEQUENCE_OF_TRADE = "substring(reference_id FROM '-([0-9]{1,18})$')::bigint"

# Operators may book an adjustment afterwards. One of the two entries shows that they have.
_IS_BOOKED = f"""kind = 'ADJUST' AND EXISTS (
    SELECT FROM ledger_entries AS booked
    WHERE booked.transaction_id IN (reconcile_money.reference, reconcile_money.reference || '{CONTRA_SUFFIX}')
)"""
# What the engine moved, with the entry that must mirror it. An operator's adjustment has none by itself (fact A1.5-12).
FIND_GAPS = f"""
    WITH pair AS (
        SELECT 'trade' AS source, coalesce(posting.trade_id, entry.reference_id) AS name,
            coalesce(posting.transaction_id, entry.transaction_id) AS transaction_id, posting.sequence,
            posting.user_id, posting.asset, posting.amount, entry.user_id AS entry_user_id, entry.asset AS entry_asset,
            entry.amount AS entry_amount
        FROM (SELECT * FROM ({_POSTINGS}) AS made WHERE sequence > {_ENTRIES_FLOOR}) AS posting
        FULL JOIN (
            SELECT * FROM ledger_entries
            WHERE reference_type = '{TRADE_REFERENCE}' AND ($1::bigint = 1 OR {_SEQUENCE_OF_TRADE} >= $1)
                AND ({_ENTRIES_FLOOR} = 0 OR coalesce({_SEQUENCE_OF_TRADE} > {_ENTRIES_FLOOR}, true))
        ) AS entry ON entry.transaction_id = posting.transaction_id
        WHERE (posting.user_id, posting.asset, posting.amount, posting.entry_type, posting.trade_id)
            IS DISTINCT FROM (entry.user_id, entry.asset, entry.amount, entry.entry_type, entry.reference_id)
        UNION ALL
        SELECT 'money', coalesce(money.reference, entry.transaction_id),
            coalesce(money.reference, entry.transaction_id), money.sequence,
            money.user_id, money.asset, money.amount, entry.user_id, entry.asset, entry.amount
        FROM (
            SELECT *, CASE kind WHEN 'DEPOSIT' THEN 'deposit' WHEN 'COMMIT' THEN 'withdrawal'
                WHEN 'ADJUST' THEN '{ADJUSTMENT_TYPE}' END AS entry_type
            FROM reconcile_money WHERE reference <> '' AND (kind <> 'ADJUST' OR {_IS_BOOKED})
        ) AS money
        FULL JOIN (
            SELECT * FROM ledger_entries
            WHERE reference_type NOT IN ('{TRADE_REFERENCE}', '{TRANSFER_REFERENCE}')
                AND NOT transaction_id LIKE '%{CONTRA_SUFFIX}'
        ) AS entry ON entry.transaction_id = money.reference
        WHERE (
                (money.user_id, money.asset, money.amount) IS DISTINCT FROM (entry.user_id, entry.asset, entry.amount)
                OR (money.entry_type, money.reference) <> (entry.entry_type, entry.reference_id)
            )
            AND ($1::bigint = 1 OR money.reference IS NOT NULL)
        UNION ALL
        SELECT 'transfer', coalesce(posting.reference, entry.reference_id),
            coalesce(posting.transaction_id, entry.transaction_id), posting.sequence,
            posting.user_id, posting.asset, posting.amount, entry.user_id, entry.asset, entry.amount
        FROM ({_TRANSFER_POSTINGS}) AS posting
        FULL JOIN (SELECT * FROM ledger_entries WHERE reference_type = '{TRANSFER_REFERENCE}') AS entry
            ON entry.transaction_id = posting.transaction_id
        WHERE (posting.user_id, posting.asset, posting.amount, posting.entry_type, posting.reference)
            IS DISTINCT FROM (entry.user_id, entry.asset, entry.amount, entry.entry_type, entry.reference_id)
            AND ($1::bigint = 1 OR posting.reference IS NOT NULL)
    ), judged AS (
        SELECT *, CASE WHEN entry_user_id IS NULL THEN 'missing' WHEN user_id IS NULL THEN 'extra'
            ELSE 'altered' END AS state
        FROM pair
    )
    INSERT INTO reconcile_gaps (source, state, name, transaction_id, of_engine, user_id, asset, amount, sequence)
    SELECT source, state, name, transaction_id, true, user_id, asset, amount, sequence
    FROM judged WHERE user_id IS NOT NULL
    UNION ALL
    SELECT source, state, name, transaction_id, false, entry_user_id, entry_asset, -entry_amount, sequence
    FROM judged WHERE entry_user_id IS NOT NULL
    UNION ALL
    SELECT 'engine', CASE kind WHEN 'ADJUST' THEN 'adjusted' ELSE 'unreferenced' END, kind, NULL, true,
        user_id, asset, amount, sequence
    FROM reconcile_money WHERE reference = '' OR (kind = 'ADJUST' AND NOT ({_IS_BOOKED}))
"""
ENTRY_GAPS = """
    WITH entry AS (
        SELECT source, state, name, transaction_id, max(sequence) AS sequence,
            max(concat_ws(' ', user_id, asset, trim_scale(amount))) FILTER (WHERE of_engine) AS engine,
            max(concat_ws(' ', user_id, asset, trim_scale(-amount))) FILTER (WHERE NOT of_engine) AS mirror
        FROM reconcile_gaps
        WHERE source <> 'engine' AND NOT (state = 'missing' AND sequence > $1::bigint)
        GROUP BY source, state, name, transaction_id
    )
    SELECT source, state, name, count(*) AS entries, min(transaction_id) AS transaction_id, min(engine) AS engine,
        min(mirror) AS mirror, (SELECT min(reason) FROM ledger_rejected_trades WHERE trade_id = name) AS refusal,
        count(*) OVER () AS found
    FROM entry GROUP BY source, state, name ORDER BY max(sequence) NULLS FIRST, name, state LIMIT $2
"""
BALANCE_GAPS = f"""
    WITH gap AS (
        SELECT user_id, asset,
            coalesce(sum(amount) FILTER (WHERE state = 'adjusted'), 0) AS adjusted,
            coalesce(sum(amount) FILTER (WHERE state = 'unreferenced'), 0) AS unreferenced,
            coalesce(sum(amount) FILTER (WHERE state = 'missing' AND sequence > $1::bigint), 0) AS in_flight,
            coalesce(sum(amount) FILTER (WHERE state = 'missing' AND sequence <= $1::bigint), 0) AS missing,
            coalesce(sum(amount) FILTER (WHERE state IN ('extra', 'altered')), 0) AS other
        FROM reconcile_gaps GROUP BY user_id, asset
    ), ledger AS (
        SELECT user_id, asset, available + locked AS total FROM ledger_accounts
        WHERE user_id <> '{EXTERNAL_ACCOUNT_ID}'
    )
    SELECT user_id, asset, coalesce(engine.total, 0) AS engine, coalesce(ledger.total, 0) AS ledger,
        coalesce(adjusted, 0) AS adjusted, coalesce(unreferenced, 0) AS unreferenced,
        coalesce(in_flight, 0) AS in_flight, coalesce(missing, 0) AS missing, coalesce(other, 0) AS other,
        count(*) OVER () AS found
    FROM reconcile_balances AS engine
    FULL JOIN ledger USING (user_id, asset)
    LEFT JOIN gap USING (user_id, asset)
    WHERE coalesce(engine.total, 0) - coalesce(ledger.total, 0) <> coalesce(in_flight, 0)
    ORDER BY user_id, asset LIMIT $2
"""
ORDER_FIELDS = (
    "order_id", "user_id", "symbol", "side", "price", "quantity", "filled", "notional", "remaining", "fee", "status",
)  # fmt: skip
_ORDER_ROW = (
    "order_id", "user_id", "symbol", "side", "price", "quantity", "filled_quantity", "filled_notional",
    "remaining_quantity", "fee", "status",
)  # fmt: skip
_COMPARED = [name for name in ORDER_FIELDS if name != "price"]
ORDER_PAIRS = f"""
    SELECT {", ".join(f"engine.{name}" for name in ORDER_FIELDS)},
        {", ".join(f"row_.{name} AS row_{name}" for name in _ORDER_ROW)}, count(*) OVER () AS found
    FROM reconcile_orders AS engine FULL JOIN orders AS row_ ON row_.order_id = engine.order_id
    WHERE (engine.order_id IS NULL AND row_.status <> 'rejected' AND $1::boolean
            AND (row_.last_sequence > {_ORDERS_FLOOR} OR row_.status NOT IN ('filled', 'cancelled')))
        OR (engine.order_id IS NOT NULL AND (
            ({", ".join(f"engine.{name}" for name in _COMPARED)})
                IS DISTINCT FROM ({", ".join(f"row_.{name}" for name in _ORDER_ROW if name != "price")})
            OR (engine.price IS NOT NULL AND engine.price IS DISTINCT FROM row_.price)))
    ORDER BY coalesce(engine.order_id, row_.order_id) LIMIT $2
"""
TRADE_FIELDS = (
    "trade_id", "symbol", "price", "quantity", "taker_side", "taker_order_id", "maker_order_id", "buyer_id",
    "seller_id", "taker_fee", "maker_fee", "fee_currency",
)  # fmt: skip
TRADE_PAIRS = f"""
    SELECT {", ".join(f"engine.{name}" for name in TRADE_FIELDS)},
        {", ".join(f"row_.{name} AS row_{name}" for name in TRADE_FIELDS)}, count(*) OVER () AS found
    FROM (
        SELECT * FROM reconcile_trades
        WHERE (sequence <= $1::bigint OR trade_id = ANY ($4::text[])) AND sequence > {TRADES_FLOOR}
    ) AS engine
    FULL JOIN (SELECT * FROM trades WHERE sequence >= $2 AND sequence > {TRADES_FLOOR}) AS row_
        ON row_.trade_id = engine.trade_id
    WHERE ({", ".join(f"engine.{name}" for name in TRADE_FIELDS)})
        IS DISTINCT FROM ({", ".join(f"row_.{name}" for name in TRADE_FIELDS)})
    ORDER BY coalesce(engine.trade_id, row_.trade_id) LIMIT $3
"""
# An account's own total, the sum of its entries and the running balance of each entry must agree, and what is locked
# must be the sum of its locks less its unlocks. One pass over the entries gives both figures. What an account carries
# on from entries in the archive counts for its sum, and for the running balances of entries that are newer than those.
IMBALANCES = """
    SELECT user_id, asset, account.available + account.locked AS total, coalesce(summed.amount, 0) AS entries,
        coalesce(summed.newest, 0) AS newest, coalesce(summed.off, 0) AS off, coalesce(account.locked, 0) AS locked,
        coalesce(moved.amount, 0) AS by_locks, count(*) OVER () AS found
    FROM ledger_accounts AS account
    FULL JOIN (
        SELECT user_id, asset, coalesce(entries.amount, 0) + coalesce(carried.amount, 0) AS amount, off, newest
        FROM (
            SELECT user_id, asset, sum(amount) AS amount, max(balance) FILTER (WHERE is_newest) AS newest,
                count(*) FILTER (WHERE entry_id > carried_until AND balance <> carried + running) AS off
            FROM (
                SELECT user_id, asset, entry.entry_id, entry.amount, balance, coalesce(carried.amount, 0) AS carried,
                    coalesce(carried.entry_id, 0) AS carried_until, sum(entry.amount) OVER (
                        PARTITION BY user_id, asset ORDER BY entry.entry_id ROWS UNBOUNDED PRECEDING
                    ) AS running,
                    lead(entry.entry_id) OVER (PARTITION BY user_id, asset ORDER BY entry.entry_id) IS NULL AS is_newest
                FROM ledger_entries AS entry LEFT JOIN ledger_carried AS carried USING (user_id, asset)
            ) AS numbered GROUP BY user_id, asset
        ) AS entries
        FULL JOIN ledger_carried AS carried USING (user_id, asset)
    ) AS summed USING (user_id, asset)
    FULL JOIN (
        SELECT user_id, asset, sum(CASE direction WHEN 'lock' THEN amount ELSE -amount END) AS amount
        FROM ledger_movements GROUP BY user_id, asset
    ) AS moved USING (user_id, asset)
    WHERE account.available + account.locked IS DISTINCT FROM coalesce(summed.amount, 0)
        OR account.locked IS DISTINCT FROM coalesce(moved.amount, 0)
        OR summed.off > 0
    ORDER BY user_id, asset LIMIT $1
"""
UNEVEN_ASSETS = """
    SELECT asset, sum(available + locked) AS total FROM ledger_accounts
    GROUP BY asset HAVING sum(available + locked) <> 0 ORDER BY asset
"""
# The engine's balances minus the sums of its events.
UNSUMMED = f"""
    WITH moved AS (
        SELECT user_id, asset, amount FROM ({_POSTINGS}) AS posting
        UNION ALL SELECT user_id, asset, amount FROM reconcile_money
        UNION ALL SELECT user_id, asset, amount FROM ({_TRANSFER_POSTINGS}) AS transfer_posting
    ), summed AS (SELECT user_id, asset, sum(amount) AS total FROM moved GROUP BY user_id, asset)
    SELECT user_id, asset, coalesce(balance.total, 0) - coalesce(summed.total, 0) AS rest
    FROM reconcile_balances AS balance FULL JOIN summed USING (user_id, asset)
    WHERE coalesce(balance.total, 0) <> coalesce(summed.total, 0)
"""
HOUSE_BALANCES = f"""
    SELECT user_id, asset, engine.total AS engine, ledger.total AS ledger
    FROM (SELECT * FROM reconcile_balances WHERE starts_with(user_id, '{HOUSE_PREFIX}')) AS engine
    FULL JOIN (
        SELECT user_id, asset, available + locked AS total FROM ledger_accounts
        WHERE starts_with(user_id, '{HOUSE_PREFIX}')
    ) AS ledger USING (user_id, asset)
    WHERE coalesce(engine.total, 0) <> 0 OR coalesce(ledger.total, 0) <> 0
    ORDER BY user_id, asset
"""
COUNTS = f"""
    SELECT (SELECT count(*) FROM reconcile_orders) AS orders,
        (SELECT count(*) FROM reconcile_trades) AS trades,
        (SELECT count(*) FROM reconcile_money WHERE kind = 'ADJUST') AS adjustments,
        (SELECT count(*) FROM reconcile_gaps WHERE state = 'adjusted') AS unbooked,
        (SELECT count(*) FROM ledger_entries) AS entries,
        (SELECT count(*) FROM ledger_accounts WHERE user_id <> '{EXTERNAL_ACCOUNT_ID}') AS accounts
"""
