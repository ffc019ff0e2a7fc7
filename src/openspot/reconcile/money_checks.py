"""What the services wrote about money, compared with the engine: SQL, one query for each kind of row.

Each query gives (name, field, engine, mirror) of every row that differs, from the session's snapshot. The engine's side
is in the temporary tables of `queries`. `reconcile_scope` has one row: `mark`, the engine's newest event when the
comparison began; `is_complete`, whether the engine has all its events; `settled` and `counted`, whether ledger and
position service have processed everything up to the mark.

A row is written before its transfer is sent, and decided after the engine has answered. So a decided row needs its
transfer, a transfer up to the mark needs its row, and a row that is pending may or may not have one.
"""

# ruff: noqa: S608  (the texts are made of constants only)

from typing import NamedTuple

from openspot.domain.ids import (
    ADJUSTMENTS_ACCOUNT_ID,
    FEE_ACCOUNT_ID,
    INTEREST_ACCOUNT_ID,
    LENDING_ACCOUNT_ID,
    PAYMENTS_ACCOUNT_ID,
    STAKING_ACCOUNT_ID,
)
from openspot.reconcile.position_queries import (
    COUNT_DIFFERS,
    FIFO_FILLS_DIFFER,
    FIFO_RESULTS_DIFFER,
    POSITION_BALANCES_DIFFER,
    POSITION_TRADES_DIFFER,
    POSITIONS_DIFFER,
)
from openspot.reconcile.queries import TRADES_FLOOR


class TransferTable(NamedTuple):
    """A service's table of transfers, and how its references begin.

    If the service has a database of its own, `database` names the settings property with its address. A reference
    that begins with `outside` is no transfer at the engine; another comparison has its row.
    """

    table: str
    prefixes: tuple[str, ...]
    database: str = ""
    outside: str = ""

    @property
    def rows(self) -> str:
        """The table that the comparison reads."""
        return f"reconcile_{self.table}" if self.database else self.table

    @property
    def copied(self) -> "CopiedTable":
        """The table, to be copied from the service's own database."""
        columns = {"reference": "text", "status": "text", "movements": "jsonb", "created_at": "timestamptz"}
        return CopiedTable(self.table, self.database, columns)


class CopiedTable(NamedTuple):
    """A table of a service's own database. Its `columns` are copied before the engine's balances are read."""

    table: str
    database: str
    columns: dict[str, str]

    @property
    def rows(self) -> str:
        """The temporary table that the comparison reads."""
        return f"reconcile_{self.table}"


TRANSFER_TABLES = (
    TransferTable(
        "edge_transfers",
        ("conversion:", "stake:", "unstake:", "staking-reward:", "payment:", "adjustment:", "treasury:"),
        outside="house-flow:",
    ),
    TransferTable("margin_transfers", ("margin:",)),
    TransferTable("subscription_transfers", ("subscription:", "refund:"), "subscriptions_database"),
)
"""A new table of transfers is a line here."""
SUBSCRIPTION_PAYMENTS = CopiedTable(
    "subscription_payments",
    "subscriptions_database",
    {
        "payment_id": "text",
        "user_id": "text",
        "amount": "numeric",
        "status": "text",
        "created_at": "timestamptz",
    },
)
COPIED_TABLES = (*(each.copied for each in TRANSFER_TABLES if each.database), SUBSCRIPTION_PAYMENTS)
"""Tables of services with a database of their own."""


class MoneyCheck(NamedTuple):
    """A comparison: the kind of its differences, the tables that it compares, its query, and who mends a difference."""

    kind: str
    tables: tuple[str, ...]
    query: str
    repair: str

    @property
    def cause(self) -> str:
        """What a difference is shown with: who mends it."""
        return f"mended by: {self.repair}"


DECISION = "an operator decides: what the engine did stands"
"""A row of which the engine has only the amounts cannot be made again from them."""
CUSTODY_REPAIR = "custody publishes it again; until then an operator decides"

SCOPE = """
    CREATE TEMPORARY TABLE reconcile_scope (mark bigint, is_complete boolean, settled boolean, counted boolean)
"""
# The movements that the engine knows and those that the row was written with, each as one text.
_MOVED = """
    SELECT reference, max(sequence) AS sequence, string_agg(
        concat_ws(' ', source, destination, trim_scale(amount), asset), ', ' ORDER BY place
    ) AS text
    FROM reconcile_transfers WHERE reference ^@ ANY (ARRAY[{prefixes}]) GROUP BY reference
"""
_OF_ROWS = """
    SELECT reference, status, string_agg(
        concat_ws(' ', each ->> 0, each ->> 1, trim_scale((each ->> 3)::numeric), each ->> 2), ', ' ORDER BY place
    ) AS text
    FROM {table} CROSS JOIN LATERAL jsonb_array_elements(movements) WITH ORDINALITY AS listed (each, place)
    WHERE {condition} GROUP BY reference, status
"""


def _transfers(table: TransferTable) -> str:
    moved = _MOVED.format(prefixes=", ".join(f"'{prefix}'" for prefix in table.prefixes))
    condition = f"NOT starts_with(reference, '{table.outside}')" if table.outside else "true"
    of_rows = _OF_ROWS.format(table=table.rows, condition=condition)
    return f"""
        SELECT reference AS name, 'movements' AS field, coalesce(moved.text, 'missing') AS engine,
            coalesce(kept.status || ': ' || kept.text, 'missing') AS mirror
        FROM ({moved}) AS moved FULL JOIN ({of_rows}) AS kept USING (reference)
        CROSS JOIN reconcile_scope AS scope
        WHERE (moved.reference IS NULL AND kept.status = 'done' AND scope.is_complete)
            OR (kept.reference IS NULL AND moved.sequence <= scope.mark)
            OR (moved.sequence <= scope.mark AND kept.status = 'refused')
            OR moved.text <> kept.text
    """


def transfer_check(table: TransferTable) -> MoneyCheck:
    """The comparison of a table of transfers with the engine's transfers, by reference."""
    # A service's own database is no table that reconcile's role reads in the platform's.
    return MoneyCheck("transfer", () if table.database else (table.table,), _transfers(table), DECISION)


def _sum(reference: str, condition: str) -> str:
    """The sum of a transfer's movements that satisfy `condition`, up to the mark; null if there is none."""
    return f"""(
        SELECT sum(moved.amount) FROM reconcile_transfers AS moved
        WHERE moved.reference = {reference} AND moved.sequence <= scope.mark AND {condition}
    )"""


def _one_sum(name: str, rows: str, reference: str, condition: str, amount: str, needs: str, forbids: str) -> str:
    """Compares the amount of each row with its transfer: rows that `needs` one must have it, `forbids` must not."""
    # A row that is decided after the mark may have a transfer after it.
    any_moved = f"EXISTS (SELECT FROM reconcile_transfers AS late WHERE late.reference = {reference})"
    return f"""
        SELECT {name} AS name, 'amount' AS field, coalesce(trim_scale(moved)::text, 'missing') AS engine,
            concat_ws(' ', status, trim_scale({amount})) AS mirror
        FROM (
            SELECT kept.*, {_sum(reference, condition)} AS moved, {any_moved} AS is_moved
            FROM {rows} AS kept CROSS JOIN reconcile_scope AS scope
        ) AS kept CROSS JOIN reconcile_scope AS scope
        WHERE scope.is_complete AND (
            (NOT is_moved AND {needs}) OR (moved IS NOT NULL AND (moved <> {amount} OR {forbids}))
        )
    """


_CONVERSION = "'conversion:' || conversion_id"
_CONVERSIONS = f"""
    SELECT conversion_id AS name, 'movements' AS field,
        CASE WHEN sequence IS NULL THEN 'missing' ELSE concat_ws(' ', 'pays', trim_scale(paid), from_asset, 'gets',
            trim_scale(got), to_asset, 'spread', trim_scale(coalesce(spread, 0))) END AS engine,
        concat_ws(' ', status, 'pays', trim_scale(from_amount), from_asset, 'gets', trim_scale(to_amount), to_asset,
            'spread', trim_scale(spread_amount)) AS mirror
    FROM (
        SELECT kept.*,
            (SELECT max(sequence) FROM reconcile_transfers WHERE reference = {_CONVERSION}) AS sequence,
            {_sum(_CONVERSION, "source = user_id AND moved.asset = from_asset")} AS paid,
            {_sum(_CONVERSION, "destination = user_id AND moved.asset = to_asset")} AS got,
            {_sum(_CONVERSION, f"destination = '{FEE_ACCOUNT_ID}'")} AS spread
        FROM conversions AS kept CROSS JOIN reconcile_scope AS scope
    ) AS kept CROSS JOIN reconcile_scope AS scope
    WHERE scope.is_complete AND (
        (sequence IS NULL AND status = 'completed')
        OR (sequence <= scope.mark AND (
            status = 'failed'
            OR (coalesce(paid, 0), coalesce(got, 0), coalesce(spread, 0)) <> (from_amount, to_amount, spread_amount)
        ))
    )
"""
# An unstake takes all accrued rewards along, or forfeits them.
_STAKE_SUMS = """
    SELECT name, field, trim_scale(needed)::text AS engine, trim_scale(kept)::text AS mirror
    FROM staking_balances AS stake
    LEFT JOIN (
        SELECT balance_id, sum(amount) AS amount, sum(reward) AS reward FROM staking_unstakes GROUP BY balance_id
    ) AS taken USING (balance_id)
    LEFT JOIN (SELECT balance_id, sum(reward) AS reward FROM staking_accruals GROUP BY balance_id) AS earned
        USING (balance_id)
    LEFT JOIN (
        SELECT balance_id, sum(amount) FILTER (WHERE type = 'reward') AS reward,
            sum(amount) FILTER (WHERE type = 'unstake') AS unstaked,
            sum(amount) FILTER (WHERE type = 'reward_forfeited') AS forfeited
        FROM staking_events GROUP BY balance_id
    ) AS told USING (balance_id)
    CROSS JOIN LATERAL (VALUES
        ('amount less what is taken back', stake.staked - coalesce(taken.amount, 0), stake.amount),
        ('rewards that are accrued',
            coalesce(earned.reward, 0) - coalesce(taken.reward, 0) - coalesce(told.forfeited, 0), stake.accrued),
        ('rewards in the history', coalesce(earned.reward, 0), coalesce(told.reward, 0)),
        ('taken back in the history', coalesce(taken.amount, 0), coalesce(told.unstaked, 0))
    ) AS compared (field, needed, kept)
    CROSS JOIN LATERAL (VALUES (balance_id)) AS named (name)
    WHERE needed <> kept
"""
# What lies in the house's account at the mark is what all stakes together must have there.
_STAKED = f"""
    WITH owed AS (
        SELECT asset, staked AS amount FROM staking_balances AS stake CROSS JOIN reconcile_scope AS scope
        WHERE EXISTS (SELECT FROM reconcile_transfers AS moved
            WHERE moved.reference = 'stake:' || balance_id AND moved.sequence <= scope.mark)
        UNION ALL
        SELECT asset, -amount FROM staking_unstakes AS unstake CROSS JOIN reconcile_scope AS scope
        WHERE EXISTS (SELECT FROM reconcile_transfers AS moved
            WHERE moved.reference = 'unstake:' || unstake_id AND moved.sequence <= scope.mark)
    ), held AS (
        SELECT asset, total AS amount FROM reconcile_balances WHERE user_id = '{STAKING_ACCOUNT_ID}'
        UNION ALL
        SELECT asset, CASE source WHEN '{STAKING_ACCOUNT_ID}' THEN amount ELSE -amount END
        FROM reconcile_transfers CROSS JOIN reconcile_scope AS scope
        WHERE sequence > scope.mark AND '{STAKING_ACCOUNT_ID}' IN (source, destination)
    )
    SELECT '{STAKING_ACCOUNT_ID} ' || asset AS name, 'total' AS field, trim_scale(held.amount)::text AS engine,
        trim_scale(owed.amount)::text AS mirror
    FROM (SELECT asset, sum(amount) AS amount FROM owed GROUP BY asset) AS owed
    JOIN (SELECT asset, sum(amount) AS amount FROM held GROUP BY asset) AS held USING (asset)
    CROSS JOIN reconcile_scope AS scope
    WHERE scope.is_complete AND owed.amount <> held.amount
"""
_ADJUSTMENT = "'adjustment:' || adjustment_id"
# What the user got, below 0 what the user gave; both directions are between the user and one account of the house.
_ADJUSTMENTS = f"""
    SELECT adjustment_id AS name, 'amount' AS field,
        coalesce(trim_scale(got)::text || ' ' || got_asset, 'missing') AS engine,
        concat_ws(' ', status, trim_scale(amount), asset) AS mirror
    FROM (
        SELECT kept.*, moved.sequence, moved.got, moved.got_asset
        FROM adjustments AS kept
        LEFT JOIN LATERAL (
            SELECT max(sequence) AS sequence, max(each.asset) AS got_asset, sum(CASE
                WHEN (source, destination) = ('{ADJUSTMENTS_ACCOUNT_ID}', kept.user_id) THEN each.amount
                WHEN (source, destination) = (kept.user_id, '{ADJUSTMENTS_ACCOUNT_ID}') THEN -each.amount
            END) AS got
            FROM reconcile_transfers AS each WHERE reference = {_ADJUSTMENT}
        ) AS moved ON true
    ) AS kept CROSS JOIN reconcile_scope AS scope
    WHERE scope.is_complete AND (
        (sequence IS NULL AND status = 'done')
        OR (sequence <= scope.mark AND (status = 'refused' OR (got, got_asset) IS DISTINCT FROM (amount, asset)))
    )
"""
_HOUSE_TRANSFER = "'treasury:' || transfer_id"
_HOUSE_TRANSFERS = f"""
    SELECT transfer_id AS name, 'movement' AS field, coalesce(moved, 'missing') AS engine,
        concat_ws(' ', status || ':', source, destination, trim_scale(amount), asset) AS mirror
    FROM (
        SELECT kept.*, done.sequence, done.moved
        FROM house_transfers AS kept
        LEFT JOIN LATERAL (
            SELECT max(sequence) AS sequence, string_agg(
                concat_ws(' ', each.source, each.destination, trim_scale(each.amount), each.asset), ', ' ORDER BY place
            ) AS moved
            FROM reconcile_transfers AS each WHERE reference = {_HOUSE_TRANSFER}
        ) AS done ON true
    ) AS kept CROSS JOIN reconcile_scope AS scope
    WHERE scope.is_complete AND (
        (sequence IS NULL AND status = 'done')
        OR (sequence <= scope.mark AND (
            status = 'refused' OR moved <> concat_ws(' ', source, destination, trim_scale(amount), asset)
        ))
    )
"""
# What came in is a deposit at the engine, what went out a completed withdrawal. The row is decided when the event is on
# its way, so a row that is done has its money when the mirrors are settled.
_HOUSE_FLOWS = """
    SELECT flow_id AS name, 'amount' AS field,
        coalesce(moved.user_id || ' ' || moved.asset || ' ' || trim_scale(moved.amount), 'missing') AS engine,
        concat_ws(' ', status || ':', kept.account, kept.asset, trim_scale(kept.amount)) AS mirror
    FROM house_flows AS kept CROSS JOIN reconcile_scope AS scope
    LEFT JOIN (SELECT * FROM reconcile_money WHERE kind IN ('DEPOSIT', 'COMMIT')) AS moved
        ON moved.reference = 'house-flow:' || flow_id
    WHERE scope.is_complete AND (
        (moved.reference IS NULL AND status = 'done' AND scope.settled)
        OR (moved.sequence <= scope.mark AND status = 'refused')
        OR (moved.user_id, moved.asset, moved.amount) <> (kept.account, kept.asset, kept.amount)
    )
"""
# A loan with a transfer whose outcome is not written yet is compared later.
_LOANS = f"""
    SELECT loan_id AS name, field, trim_scale(needed)::text AS engine, trim_scale(kept)::text AS mirror
    FROM margin_loans AS loan CROSS JOIN reconcile_scope AS scope
    LEFT JOIN LATERAL (
        SELECT sum(amount) FILTER (WHERE source = '{LENDING_ACCOUNT_ID}') AS borrowed,
            sum(amount) FILTER (WHERE destination = '{LENDING_ACCOUNT_ID}') AS returned,
            sum(amount) FILTER (WHERE destination = '{INTEREST_ACCOUNT_ID}') AS interest
        FROM reconcile_transfers AS moved
        WHERE moved.reference IN (SELECT reference FROM margin_transfers AS sent WHERE sent.loan_id = loan.loan_id)
    ) AS moved ON true
    CROSS JOIN LATERAL (VALUES
        ('borrowed', coalesce(moved.borrowed, 0), loan.borrowed),
        ('principal', coalesce(moved.borrowed, 0) - coalesce(moved.returned, 0), loan.principal),
        ('interest that is paid', coalesce(moved.interest, 0), loan.paid),
        ('interest that is posted',
            (SELECT coalesce(sum(amount), 0) FROM margin_interest AS posting WHERE posting.loan_id = loan.loan_id),
            loan.posted)
    ) AS compared (field, needed, kept)
    WHERE scope.is_complete AND loan.status IN ('active', 'repaid', 'written_off') AND needed <> kept
        AND NOT EXISTS (SELECT FROM margin_transfers AS sent
            WHERE sent.loan_id = loan.loan_id AND sent.status = 'pending')
"""


def _custody(rows: str, name: str, kind: str, amount: str, is_done: str) -> str:
    return f"""
        SELECT {name} AS name, 'amount' AS field,
            coalesce(moved.user_id || ' ' || moved.asset || ' ' || trim_scale(moved.amount), 'missing') AS engine,
            concat_ws(' ', kept.user_id, kept.asset, trim_scale({amount})) AS mirror
        FROM {rows} AS kept CROSS JOIN reconcile_scope AS scope
        LEFT JOIN (SELECT * FROM reconcile_money WHERE kind = '{kind}') AS moved ON moved.reference = kept.{name}
        WHERE scope.is_complete AND (
            (moved.reference IS NULL AND {is_done} AND scope.settled)
            OR (moved.user_id, moved.asset, moved.amount) <> (kept.user_id, kept.asset, {amount})
        )
    """


# Before charges moved money, payments had no transfers; so only those since the first transfer need one.
_SUBSCRIPTION_PAYMENTS = f"""
    SELECT coalesce(payment_id, substr(sent.reference, length('subscription:') + 1)) AS name, 'amount' AS field,
        coalesce(trim_scale({_sum("'subscription:' || payment_id", "source = user_id")})::text,
            CASE WHEN payment_id IS NULL THEN 'paid' ELSE 'missing' END) AS engine,
        coalesce(concat_ws(' ', kept.status, trim_scale(amount)), 'missing') AS mirror
    FROM reconcile_subscription_payments AS kept
    FULL JOIN (
        SELECT * FROM reconcile_subscription_transfers WHERE status = 'done' AND reference ^@ 'subscription:'
    ) AS sent ON sent.reference = 'subscription:' || payment_id
    CROSS JOIN reconcile_scope AS scope
    WHERE scope.is_complete AND (
        (payment_id IS NULL)
        OR (kept.status = 'failed' AND sent.reference IS NOT NULL)
        OR (kept.status = 'completed' AND amount > 0 AND NOT EXISTS (
                SELECT FROM reconcile_transfers AS moved WHERE moved.reference = 'subscription:' || payment_id
            ) AND kept.created_at >= (
            SELECT min(created_at) FROM reconcile_subscription_transfers WHERE reference ^@ 'subscription:'))
        OR (kept.status = 'completed' AND {_sum("'subscription:' || payment_id", "source = user_id")} <> amount)
    )
"""
# Market data follows the same events, and says how far it has come.
_MARKET_TRADES = f"""
    SELECT coalesce(made.trade_id, kept.trade_id) AS name, 'trade' AS field,
        CASE WHEN made.trade_id IS NULL THEN 'missing'
            ELSE concat_ws(' ', made.symbol, trim_scale(made.price), trim_scale(made.quantity), made.taker_side)
        END AS engine,
        CASE WHEN kept.trade_id IS NULL THEN 'missing'
            ELSE concat_ws(' ', kept.symbol, trim_scale(kept.price), trim_scale(kept.quantity), kept.taker_side)
        END AS mirror
    FROM trades AS made FULL JOIN market_trades AS kept ON kept.trade_id = made.trade_id
    WHERE (made.symbol, made.price, made.quantity, made.taker_side)
        IS DISTINCT FROM (kept.symbol, kept.price, kept.quantity, kept.taker_side)
        AND coalesce(made.sequence, kept.sequence) > {TRADES_FLOOR}
        AND coalesce(made.sequence, kept.sequence)
            <= least(
                (SELECT coalesce(max(sequence), 0) FROM market_data_checkpoints),
                (SELECT coalesce(min(sequence), 0) FROM engine_cursors WHERE is_current)
            )
"""

MARKET_DATA_REPAIR = "stop market data, empty its three tables, start it: it counts the trade rows again"
POSITIONS_REPAIR = "`openspot positions rebuild`"
CHECKS = (
    *map(transfer_check, TRANSFER_TABLES),
    MoneyCheck("conversion", ("conversions",), _CONVERSIONS, DECISION),
    MoneyCheck(
        "stake",
        ("staking_balances",),
        _one_sum(
            "balance_id",
            "staking_balances",
            "'stake:' || balance_id",
            f"destination = '{STAKING_ACCOUNT_ID}' AND source = user_id",
            "staked",
            "status IN ('active', 'unbonding', 'redeemed')",
            "status = 'failed'",
        ),
        DECISION,
    ),
    MoneyCheck(
        "unstake",
        ("staking_unstakes",),
        _one_sum(
            "unstake_id",
            "staking_unstakes",
            "'unstake:' || unstake_id",
            f"source = '{STAKING_ACCOUNT_ID}' AND destination = user_id",
            "amount",
            "principal_paid",
            "status = 'unbonding'",
        ),
        DECISION,
    ),
    MoneyCheck(
        "staking reward",
        ("staking_unstakes",),
        _one_sum(
            "unstake_id",
            "staking_unstakes",
            "'staking-reward:' || unstake_id",
            "destination = user_id",
            "reward",
            "reward_paid AND reward > 0",
            "status = 'unbonding'",
        ),
        DECISION,
    ),
    MoneyCheck("stake rows", ("staking_balances", "staking_accruals", "staking_events"), _STAKE_SUMS, DECISION),
    MoneyCheck("staked", ("staking_balances", "staking_unstakes"), _STAKED, DECISION),
    MoneyCheck("adjustment", ("adjustments",), _ADJUSTMENTS, DECISION),
    MoneyCheck("house transfer", ("house_transfers",), _HOUSE_TRANSFERS, DECISION),
    MoneyCheck("house flow", ("house_flows",), _HOUSE_FLOWS, DECISION),
    MoneyCheck(
        "payment",
        ("payments",),
        _one_sum(
            "payment_id",
            "payments",
            "'payment:' || payment_id",
            f"source = '{PAYMENTS_ACCOUNT_ID}' AND destination = user_id",
            "(amount - fee)",
            "credited",
            "payment_status <> 'paid'",
        ),
        DECISION,
    ),
    MoneyCheck("subscription payment", (), _SUBSCRIPTION_PAYMENTS, DECISION),
    MoneyCheck("loan", ("margin_loans", "margin_interest"), _LOANS, DECISION),
    MoneyCheck(
        "deposit",
        ("custody_deposits",),
        _custody("custody_deposits", "tx_hash", "DEPOSIT", "kept.amount", "kept.confirmed_at IS NOT NULL"),
        CUSTODY_REPAIR,
    ),
    MoneyCheck(
        "withdrawal",
        ("custody_withdrawals",),
        _custody("custody_withdrawals", "withdrawal_id", "COMMIT", "(-kept.amount)", "kept.funds = 'taken'"),
        CUSTODY_REPAIR,
    ),
    MoneyCheck(
        "position trade", ("position_trades", "position_refused_trades"), POSITION_TRADES_DIFFER, POSITIONS_REPAIR
    ),
    MoneyCheck("positions", ("position_checkpoints",), COUNT_DIFFERS, POSITIONS_REPAIR),
    MoneyCheck("position", ("positions",), POSITIONS_DIFFER, POSITIONS_REPAIR),
    MoneyCheck(
        "position balance", ("position_balances", "position_transfers"), POSITION_BALANCES_DIFFER, POSITIONS_REPAIR
    ),
    MoneyCheck("fill", ("fifo_transactions", "fifo_pending_fills"), FIFO_FILLS_DIFFER, POSITIONS_REPAIR),
    MoneyCheck("FIFO", ("fifo_lots", "fifo_disposals", "fifo_owners"), FIFO_RESULTS_DIFFER, POSITIONS_REPAIR),
    MoneyCheck("market trade", ("market_trades",), _MARKET_TRADES, MARKET_DATA_REPAIR),
)
"""Every comparison of a service's own rows, in the order of the report."""

ALSO_READ = ("market_data_checkpoints",)
"""A table that shows how far a service has come."""


def tables_compared() -> tuple[str, ...]:
    """Every table that a check compares or needs."""
    named = dict.fromkeys(table for check in CHECKS for table in check.tables)
    return (*named, *(table for table in ALSO_READ if table not in named))


def listed(check: MoneyCheck) -> str:
    """The query of a check with at most $1 differences, and how many there are in all."""
    return f"""
        SELECT name, field, engine, mirror, count(*) OVER () AS found FROM ({check.query}) AS difference
        ORDER BY name, field LIMIT $1
    """
