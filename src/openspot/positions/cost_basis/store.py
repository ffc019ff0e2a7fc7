"""The tables of FIFO transactions and of the results that are computed from them."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NamedTuple

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric
from openspot.positions.amounts import amount_of
from openspot.positions.fifo import Disposal, FifoHolding
from openspot.positions.fifo_transaction import (
    FifoTransaction,
    OrderKey,
    TransactionKind,
    order_key,
    sequence_in_sql,
)
from openspot.positions.import_rules import AcceptedTransaction

_TRANSACTION_COLUMNS = (
    "user_id", "external_id", "executed_ms", "kind", "account", "asset", "quantity", "value", "fee", "fee_asset",
    "fee_quantity", "destination", "fingerprint",
)  # fmt: skip
_DISPOSAL_COLUMNS = (
    "user_id", "disposed_ms", "disposal_id", "part", "account", "asset", "reason", "quantity", "proceeds", "cost",
    "acquired_ms", "acquisition_id",
)  # fmt: skip
_LOT_COLUMNS = ("user_id", "asset", "account", "acquired_ms", "acquisition_id", "quantity", "cost")
_DISPOSAL_SEQUENCE = sequence_in_sql("disposal_id")
EXPORT_PAGE = 1000
LONG_STATEMENT_S = 600.0
"""Timeout of statements that may change every row of a user."""


class BookCheckpoint(NamedTuple):
    """A saved book. `key` is that of the last transaction that the state includes, the last one of its millisecond."""

    key: OrderKey
    state: str


async def lock_owner(connection: Connection, user_id: str) -> int | None:
    """Lock a user's FIFO data. Returns the millisecond from which results must be computed again.

    None if all are current.
    """
    await connection.execute("INSERT INTO fifo_owners (user_id) VALUES ($1) ON CONFLICT DO NOTHING", user_id)
    row = await connection.fetchrow("SELECT dirty_ms FROM fifo_owners WHERE user_id = $1 FOR UPDATE", user_id)
    assert row is not None, "the row was made above"
    dirty_ms: int | None = row["dirty_ms"]
    return dirty_ms


async def transaction_count(connection: Connection, user_id: str) -> int:
    """How many transactions a locked owner has."""
    count: int = await connection.fetchval("SELECT transaction_count FROM fifo_owners WHERE user_id = $1", user_id)
    return count


async def fingerprints(connection: Connection, user_id: str, external_ids: Sequence[str]) -> dict[str, str]:
    """The fingerprints of the stored transactions with these external ids."""
    rows = await connection.fetch(
        "SELECT external_id, fingerprint FROM fifo_transactions WHERE user_id = $1 AND external_id = ANY($2::text[])",
        user_id, external_ids,
    )  # fmt: skip
    return {row["external_id"]: row["fingerprint"] for row in rows}


async def add_transactions(connection: Connection, user_id: str, accepted: Sequence[AcceptedTransaction]) -> None:
    """Store transactions of a locked owner, and note the key from which results must be computed again."""
    if not accepted:
        return
    await connection.copy_records_to_table(
        "fifo_transactions",
        records=[_transaction_row(user_id, item.transaction, item.fingerprint) for item in accepted],
        columns=_TRANSACTION_COLUMNS,
    )
    executed_ms, _, external_id = min(item.transaction.order_key for item in accepted)
    await connection.execute(
        """
        UPDATE fifo_owners SET transaction_count = transaction_count + $4,
            dirty_ms = CASE WHEN dirty_ms IS NULL OR (dirty_ms, dirty_id) > ($2, $3) THEN $2 ELSE dirty_ms END,
            dirty_id = CASE WHEN dirty_ms IS NULL OR (dirty_ms, dirty_id) > ($2, $3) THEN $3 ELSE dirty_id END
        WHERE user_id = $1
        """,
        user_id, executed_ms, external_id, len(accepted),
    )  # fmt: skip


async def state_before(connection: Connection, user_id: str, executed_ms: int) -> str | None:
    """The state of the newest saved book before a millisecond."""
    state: str | None = await connection.fetchval(
        "SELECT state FROM fifo_checkpoints WHERE user_id = $1 AND executed_ms < $2"
        " ORDER BY executed_ms DESC, external_id DESC LIMIT 1",
        user_id,
        executed_ms,
    )
    return state


async def forget_results_after(connection: Connection, user_id: str, executed_ms: int) -> None:
    """Delete the results of transactions after a millisecond, and all lots."""
    for statement in (
        "DELETE FROM fifo_checkpoints WHERE user_id = $1 AND executed_ms > $2",
        "DELETE FROM fifo_disposals WHERE user_id = $1 AND disposed_ms > $2",
    ):
        await connection.execute(statement, user_id, executed_ms, timeout=LONG_STATEMENT_S)
    await connection.execute("DELETE FROM fifo_lots WHERE user_id = $1", user_id, timeout=LONG_STATEMENT_S)


async def transactions_after(
    connection: Connection, user_id: str, executed_ms: int, limit: int
) -> list[tuple[FifoTransaction, str | None]]:
    """The first `limit` transactions after a millisecond, in their order, each with its noted shortfall.

    A millisecond is never divided, so there may be more: the database does not know the order within it.
    """
    rows = await connection.fetch(
        """
        SELECT * FROM fifo_transactions WHERE user_id = $1 AND executed_ms > $2
        ORDER BY executed_ms FETCH FIRST ($3::integer) ROWS WITH TIES
        """,
        user_id, executed_ms, limit,
    )  # fmt: skip
    found = [(_transaction_of(row), row["shortfall"]) for row in rows]
    return sorted(found, key=lambda each: each[0].order_key)


async def note_shortfalls(connection: Connection, user_id: str, changes: Iterable[tuple[str, str | None]]) -> None:
    """Note the shortfall of each transaction (by external id), or None if it is covered."""
    await connection.executemany(
        "UPDATE fifo_transactions SET shortfall = $3 WHERE user_id = $1 AND external_id = $2",
        [(user_id, external_id, reason) for external_id, reason in changes],
    )


async def add_disposals(connection: Connection, user_id: str, disposals: Sequence[Disposal]) -> None:
    """Store disposals. Those of one transaction must follow one another."""
    rows, part, before = [], 0, ""
    for disposal in disposals:
        part = part + 1 if disposal.disposal_id == before else 0
        before = disposal.disposal_id
        rows.append(
            (
                user_id, disposal.disposed_at, disposal.disposal_id, part, disposal.account, disposal.asset,
                disposal.reason.value, numeric(disposal.quantity), numeric(disposal.proceeds), numeric(disposal.cost),
                disposal.acquired_at, disposal.acquisition_id,
            )
        )  # fmt: skip
    await connection.copy_records_to_table("fifo_disposals", records=rows, columns=_DISPOSAL_COLUMNS)


async def add_checkpoint(connection: Connection, user_id: str, checkpoint: BookCheckpoint, *, is_newest: bool) -> None:
    """Save a book. With `is_newest` it replaces the newest one of the last computation."""
    if is_newest:
        await connection.execute("DELETE FROM fifo_checkpoints WHERE user_id = $1 AND is_newest", user_id)
    await connection.execute(
        """
        INSERT INTO fifo_checkpoints (user_id, executed_ms, external_id, is_newest, state) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
        """,
        user_id, checkpoint.key[0], checkpoint.key[2], is_newest, checkpoint.state,
    )  # fmt: skip


async def finish(connection: Connection, user_id: str, holdings: Sequence[FifoHolding]) -> None:
    """Store the open lots, and note that all results are current."""
    await connection.copy_records_to_table(
        "fifo_lots",
        records=[
            (
                user_id, holding.asset, holding.account, lot.acquired_at, lot.acquisition_id, numeric(lot.quantity),
                numeric(lot.cost),
            )
            for holding in holdings
            for lot in holding.lots
        ],
        columns=_LOT_COLUMNS,
        timeout=LONG_STATEMENT_S,
    )  # fmt: skip
    await connection.execute("UPDATE fifo_owners SET dirty_ms = NULL, dirty_id = NULL WHERE user_id = $1", user_id)


class CostBasisStore:
    """Reads results."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def is_dirty(self, user_id: str) -> bool:
        """Whether results have to be computed again."""
        return bool(
            await self._pool.fetchval("SELECT dirty_ms IS NOT NULL FROM fifo_owners WHERE user_id = $1", user_id)
        )

    async def knows_user(self, user_id: str) -> bool:
        """Whether the platform has this user."""
        return bool(await self._pool.fetchval("SELECT true FROM users WHERE user_id = $1", user_id))

    async def owners(self, user_id: str | None, after: str, limit: int) -> Sequence[Any]:
        """Users with FIFO data, by id."""
        return await self._pool.fetch(
            """
            SELECT user_id,
                (SELECT count(*) FROM fifo_transactions AS own WHERE own.user_id = owners.user_id) AS transactions
            FROM fifo_owners AS owners
            WHERE user_id > $1 AND ($2::text IS NULL OR user_id = $2)
                AND EXISTS (SELECT FROM fifo_transactions AS own WHERE own.user_id = owners.user_id)
            ORDER BY user_id LIMIT $3
            """,
            after, user_id, limit,
        )  # fmt: skip

    async def assets(self, user_id: str) -> list[str]:
        """The assets of a user's transactions."""
        rows = await self._pool.fetch(
            """
            SELECT asset FROM fifo_transactions WHERE user_id = $1
            UNION SELECT fee_asset FROM fifo_transactions WHERE user_id = $1 AND fee_asset IS NOT NULL ORDER BY 1
            """,
            user_id,
        )
        return [row["asset"] for row in rows]

    async def holdings(self, user_id: str) -> Sequence[Any]:
        """The quantity and the cost of each account's holding of each asset."""
        return await self._pool.fetch(
            """
            SELECT account, asset, sum(quantity) AS quantity, sum(cost) AS cost, count(*) AS lots
            FROM fifo_lots WHERE user_id = $1 GROUP BY asset, account ORDER BY asset, account
            """,
            user_id,
        )

    async def lots(self, user_id: str, asset: str, limit: int) -> Sequence[Any]:
        """Open lots of one asset, oldest first: in the order in which they are consumed, that of `order_key`."""
        # Only lots that may be shown have their ids read: an owner may have many more.
        return await self._pool.fetch(
            f"""
            WITH oldest AS (
                SELECT * FROM fifo_lots WHERE user_id = $1 AND asset = $2
                ORDER BY acquired_ms FETCH FIRST ($3::integer) ROWS WITH TIES
            )
            SELECT * FROM oldest
            ORDER BY acquired_ms, {sequence_in_sql("acquisition_id")}, acquisition_id, account LIMIT $3
            """,  # noqa: S608
            user_id, asset, limit,
        )  # fmt: skip

    async def disposals(self, user_id: str, asset: str, before: tuple[int, str, int], limit: int) -> Sequence[Any]:
        """Disposals of one asset before the key `before` (milliseconds, id, part), newest first."""
        return await self._pool.fetch(
            f"""
            SELECT * FROM fifo_disposals
            WHERE user_id = $1 AND asset = $2
                AND (disposed_ms, {_DISPOSAL_SEQUENCE}, disposal_id, part) < ($3, $4, $5, $6)
            ORDER BY disposed_ms DESC, {_DISPOSAL_SEQUENCE} DESC, disposal_id DESC, part DESC LIMIT $7
            """,  # noqa: S608
            user_id, asset, *order_key(before[0], before[1]), before[2], limit,
        )  # fmt: skip

    async def disposals_between(self, user_id: str, since: int, until: int) -> AsyncIterator[Sequence[Any]]:
        """Disposals from `since` and before `until` (milliseconds), oldest first, page by page."""
        place = (*order_key(since, ""), -1)
        while True:
            rows = await self._pool.fetch(
                f"""
                SELECT * FROM fifo_disposals
                WHERE user_id = $1 AND disposed_ms < $6
                    AND (disposed_ms, {_DISPOSAL_SEQUENCE}, disposal_id, part) > ($2, $3, $4, $5)
                ORDER BY disposed_ms, {_DISPOSAL_SEQUENCE}, disposal_id, part LIMIT $7
                """,  # noqa: S608
                user_id, *place, until, EXPORT_PAGE,
            )  # fmt: skip
            if not rows:
                return
            yield rows
            place = (*order_key(rows[-1]["disposed_ms"], rows[-1]["disposal_id"]), rows[-1]["part"])

    async def daily_gains(self, user_id: str) -> Sequence[Any]:
        """Sums over the disposals of each asset on each UTC day."""
        return await self._pool.fetch(
            """
            SELECT disposed_ms / 86400000 * 86400000 AS day_ms, asset, count(*) AS disposals,
                sum(quantity) AS quantity, sum(proceeds) AS proceeds, sum(cost) AS cost
            FROM fifo_disposals WHERE user_id = $1 GROUP BY 1, 2 ORDER BY 1, 2
            """,
            user_id,
        )

    async def shortfalls(self, user_id: str, limit: int) -> tuple[int, Sequence[Any]]:
        """The number of transactions that are not covered, and the first `limit` of them in their order."""
        rows = await self._pool.fetch(
            f"""
            SELECT external_id, executed_ms, shortfall, count(*) OVER () AS total FROM fifo_transactions
            WHERE user_id = $1 AND shortfall IS NOT NULL
            ORDER BY executed_ms, {sequence_in_sql("external_id")}, external_id LIMIT $2
            """,  # noqa: S608
            user_id, limit,
        )  # fmt: skip
        return (rows[0]["total"] if rows else 0), rows

    async def counts(self, user_id: str) -> tuple[int, int]:
        """The number of transactions, and the number of fills that wait for a value."""
        row = await self._pool.fetchrow(
            """
            SELECT (SELECT count(*) FROM fifo_transactions WHERE user_id = $1) AS transactions,
                (SELECT count(*) FROM fifo_pending_fills WHERE user_id = $1) AS unvalued
            """,
            user_id,
        )
        assert row is not None, "counts always give a row"
        return row["transactions"], row["unvalued"]


def _transaction_row(user_id: str, transaction: FifoTransaction, fingerprint: str) -> tuple[Any, ...]:
    return (
        user_id, transaction.external_id, transaction.timestamp, transaction.kind.value, transaction.account,
        transaction.asset, numeric(transaction.quantity), numeric(transaction.value), numeric(transaction.fee),
        transaction.fee_asset, numeric(transaction.fee_quantity), transaction.destination, fingerprint,
    )  # fmt: skip


def _transaction_of(row: Any) -> FifoTransaction:
    return FifoTransaction(
        external_id=row["external_id"],
        timestamp=row["executed_ms"],
        kind=TransactionKind(row["kind"]),
        account=row["account"],
        asset=row["asset"],
        quantity=amount_of(row["quantity"]),
        value=amount_of(row["value"]),
        fee=amount_of(row["fee"]),
        fee_asset=row["fee_asset"],
        fee_quantity=amount_of(row["fee_quantity"]),
        destination=row["destination"],
    )
