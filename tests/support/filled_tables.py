"""One row in every table, all of one user: made from the tables' own columns, so that a new table is filled too."""

import json
from graphlib import TopologicalSorter
from typing import Any

import asyncpg

VALUES: dict[str, Any] = {
    "ARRAY": [],
    "boolean": False,
    "bytea": "\\x00",
    "date": "2999-01-01",
    "jsonb": [],
    "timestamp with time zone": "2999-01-01T00:00:00Z",
}
"""By type; a text holds its column's name, so that rows refer to each other, and every number is 1."""

FINAL_STATES: dict[str, dict[str, Any]] = {
    "archive_batches": {"state": "removed"},
    "adjustments": {"category": "goodwill", "status": "done"},
    "api_keys": {"scopes": ["read"], "algorithm": "hmac-sha256", "sealed_secret": "\\x00"},
    "conversions": {"status": "completed"},
    "custody_deposits": {"confirmed_at": "2026-01-01T00:00:00Z"},
    "custody_withdrawals": {"amount": 2, "wallet": "HOT", "status": "completed", "funds": "taken"},
    "edge_transfers": {"status": "done"},
    "fifo_pending_fills": {"side": "buy"},
    "fifo_transactions": {"kind": "acquisition"},
    "house_flows": {"category": "capital", "status": "done"},
    "house_transfers": {"status": "done"},
    "kyc_profiles": {"status": "approved"},
    "ledger_movements": {"direction": "lock"},
    "listed_network_assets": {"minimum": 2},
    "margin_accounts": {"status": "closed", "zone": "safe"},
    "margin_loans": {"status": "repaid"},
    "margin_positions": {"side": "buy", "status": "closed"},
    "margin_transfers": {"purpose": "in", "status": "done"},
    "transfer_pauses": {"direction": "deposits"},
    # Decided by another than the one who asked.
    "operator_requests": {"kind": "adjustment", "status": "approved", "decided_by": "user:another"},
    "orders": {"side": "buy", "type": "limit", "time_in_force": "gtc", "status": "filled"},
    # No id of a user comes after this one.
    "owner_links": {"second_user_id": "~"},
    "payments": {"status": "complete", "payment_status": "paid", "credited": True},
    "price_alerts": {"source": "last_trade", "direction": "above"},
    "position_trades": {"side": "buy", "source": "fill"},
    "position_transfers": {"kind": "deposit", "status": "completed"},
    "staking_balances": {"type": "flexible", "status": "redeemed"},
    "staking_unstakes": {"status": "paid"},
    "user_locks": {"kind": "login"},
    "trades": {"taker_order_id": "order_id", "maker_order_id": "order_id"},
}
"""What a table's checks want; everything that can be under way is over."""

USER_COLUMNS = {"trades": "buyer_id", "mail_outbox": "email", "owner_links": "first_user_id"} | dict.fromkeys(
    (
        "positions", "position_trades", "position_balances", "position_transfers", "position_snapshots",
        "broker_exceptions",
    ),
    "participant_id",
)  # fmt: skip
"""How a table names its user, where not by `user_id`."""


async def all_tables(pool: asyncpg.Pool) -> set[str]:
    """Every table of the database, without the one that counts migrations."""
    rows = await pool.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {row["tablename"] for row in rows} - {"alembic_version"}


async def fill(pool: asyncpg.Pool, tables: set[str], user: dict[str, str]) -> None:
    """Insert a row into each of `tables`; `user` holds the user's id or address by column name."""
    references: dict[str, set[str]] = {table: set() for table in tables}
    for row in await pool.fetch(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
    ):
        if row[0] in tables and row[1] in tables:
            references[row[0]].add(row[1])
    for table in TopologicalSorter(references).static_order():
        await insert(pool, table, user)


async def insert(pool: asyncpg.Pool, table: str, user: dict[str, str], **fields: Any) -> None:
    """Insert a row of the user, in its final state where `fields` does not say otherwise."""
    columns = await pool.fetch(
        """
        SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'
        AND table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'
        """,
        table,
    )
    row = {name: _value(name, data_type) for name, data_type in columns}
    row |= FINAL_STATES.get(table, {}) | fields
    column = USER_COLUMNS.get(table, "user_id")
    if column in row or table in ("audit_records", "reserve_leaves"):
        row[column] = user[column]
    names = ", ".join(row)
    await pool.execute(
        f"INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_record(NULL::{table}, $1)",
        json.dumps(row),
    )


def _value(name: str, data_type: str) -> Any:
    return name if data_type == "text" else VALUES.get(data_type, 1)
