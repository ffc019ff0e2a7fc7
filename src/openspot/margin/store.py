"""The tables of margin accounts, positions and transfers.

A function that writes needs the connection of a transaction that has locked the account.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from openspot.domain.money import to_amount
from openspot.domain.order import Side
from openspot.engine_transfers.model import TransferStatus, decode_movements, encode_movements
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric, rows_changed
from openspot.margin.crossings import RiskBand
from openspot.margin.lifecycle import AccountStatus, MarginPositionStatus
from openspot.margin.records import (
    MarginAccountRow,
    MarginPositionRow,
    MarginTransferRow,
    Purpose,
)

_ACCOUNT = "account_id, user_id, status, zone, warnings"
_POSITION = (
    "position_id, account_id, symbol, side, quantity, leverage, required_margin, own_funds, entry_price, status,"
    " reason, loan_id, closings, close_request, closing_quantity, opened_at, closed_at, closing_refused_at"
)
_TRANSFER = "reference, account_id, purpose, loan_id, asset, amount, movements, at_ms, status, result_code"
LINKED_MAX = 50
"""At most this many accounts of one owner are looked at."""
_OPEN_POSITIONS = "('opening', 'open', 'closing', 'liquidating')"


# Accounts


async def account_of_user(connection: Connection | Pool, user_id: str) -> MarginAccountRow | None:
    """The user's account that is not closed; None if there is none."""
    row = await connection.fetchrow(
        f"SELECT {_ACCOUNT} FROM margin_accounts WHERE user_id = $1 AND status <> 'closed'",  # noqa: S608
        user_id,
    )
    return None if row is None else _account_of(row)


async def lock_account(connection: Connection, account_id: str) -> MarginAccountRow | None:
    """An account, locked until the transaction ends. None if there is none."""
    query = f"SELECT {_ACCOUNT} FROM margin_accounts WHERE account_id = $1 FOR UPDATE"  # noqa: S608
    row = await connection.fetchrow(query, account_id)
    return None if row is None else _account_of(row)


async def count_accounts(connection: Connection, user_id: str) -> int:
    """How many accounts the user has had."""
    return int(await connection.fetchval("SELECT count(*) FROM margin_accounts WHERE user_id = $1", user_id))


async def add_account(connection: Connection, account_id: str, user_id: str, now_ms: int) -> None:
    """Open an account, unless the user has one that is not closed."""
    await connection.execute(
        "INSERT INTO margin_accounts (account_id, user_id, status, zone, changes, created_at)"
        " VALUES ($1, $2, 'active', 'safe', nextval('margin_changes'), $3) ON CONFLICT DO NOTHING",
        account_id,
        user_id,
        datetime_from_ms(now_ms),
    )


async def set_account_status(connection: Connection, account_id: str, status: AccountStatus, now_ms: int) -> None:
    """Change the state of an account."""
    await connection.execute(
        "UPDATE margin_accounts SET status = $2, closed_at = $3, changes = nextval('margin_changes')"
        " WHERE account_id = $1",
        account_id,
        status.value,
        datetime_from_ms(now_ms) if status is AccountStatus.CLOSED else None,
    )


async def touch(connection: Connection, account_id: str) -> None:
    """Make the next scan check an account."""
    await connection.execute(
        "UPDATE margin_accounts SET changes = nextval('margin_changes') WHERE account_id = $1", account_id
    )


async def touch_many(connection: Connection, account_ids: Sequence[str]) -> None:
    """Make the next scan check these accounts. Locks them in the order of their ids."""
    await connection.execute(
        """
        UPDATE margin_accounts SET changes = nextval('margin_changes') WHERE account_id IN (
            SELECT account_id FROM margin_accounts WHERE account_id = ANY ($1::text[])
            ORDER BY account_id FOR UPDATE SKIP LOCKED
        )
        """,
        list(account_ids),
    )


async def set_risk_band(connection: Connection, account_id: str, risk_band: RiskBand, *, warned: bool) -> None:
    """Store the risk band of an account. With `warned`, count a published warning."""
    await connection.execute(
        "UPDATE margin_accounts SET zone = $2, warnings = warnings + $3 WHERE account_id = $1",
        account_id,
        risk_band.value,
        int(warned),
    )


async def accounts_of_same_owner(connection: Connection | Pool, user_id: str) -> list[str]:
    """The open accounts of the users whom an operator has linked with this one, directly or through others."""
    rows = await connection.fetch(
        """
        WITH RECURSIVE links (one, other) AS (
            SELECT first_user_id, second_user_id FROM owner_links WHERE ended_at IS NULL
            UNION ALL SELECT second_user_id, first_user_id FROM owner_links WHERE ended_at IS NULL
        ), owner (user_id) AS (
            SELECT $1::text UNION SELECT links.other FROM links JOIN owner ON links.one = owner.user_id
        )
        SELECT account_id FROM margin_accounts JOIN owner USING (user_id)
        WHERE status <> 'closed' AND user_id <> $1 ORDER BY account_id LIMIT $2
        """,
        user_id,
        LINKED_MAX,
    )
    return [row["account_id"] for row in rows]


async def changed_accounts(pool: Pool, after: int, limit: int) -> list[tuple[str, int]]:
    """At most `limit` accounts with a change number above `after`, with these numbers, in their order."""
    rows = await pool.fetch(
        "SELECT account_id, changes FROM margin_accounts WHERE changes > $1 ORDER BY changes LIMIT $2", after, limit
    )
    return [(row["account_id"], row["changes"]) for row in rows]


async def accounts_by_id(pool: Pool, account_ids: Iterable[str]) -> dict[str, MarginAccountRow]:
    """Accounts by id."""
    rows = await pool.fetch(
        f"SELECT {_ACCOUNT} FROM margin_accounts WHERE account_id = ANY ($1::text[])",  # noqa: S608
        list(account_ids),
    )
    return {row["account_id"]: _account_of(row) for row in rows}


async def accounts_with_work(pool: Pool, now_ms: int, limit: int) -> list[str]:
    """Accounts that have a transfer, an order or a liquidation under way."""
    rows = await pool.fetch(
        """
        SELECT account_id FROM margin_transfers WHERE status = 'pending'
        UNION SELECT account_id FROM margin_positions WHERE status IN ('opening', 'closing')
        UNION SELECT account_id FROM margin_liquidations WHERE step IS NOT NULL AND next_at <= $1
        ORDER BY account_id LIMIT $2
        """,
        datetime_from_ms(now_ms),
        limit,
    )
    return [row["account_id"] for row in rows]


# Positions


async def positions_of(
    connection: Connection | Pool, account_id: str, *, all_states: bool = False
) -> list[MarginPositionRow]:
    """The positions of an account that have not ended, oldest first. With `all_states`, its newest hundred."""
    if all_states:
        query = (
            f"SELECT {_POSITION} FROM margin_positions WHERE account_id = $1"  # noqa: S608
            " ORDER BY opened_at DESC, position_id LIMIT 100"
        )
    else:
        query = (
            f"SELECT {_POSITION} FROM margin_positions WHERE account_id = $1 AND status IN {_OPEN_POSITIONS}"  # noqa: S608
            " ORDER BY opened_at, position_id"
        )
    return [_position_of(row) for row in await connection.fetch(query, account_id)]


async def position(connection: Connection, position_id: str) -> MarginPositionRow | None:
    """One position."""
    row = await connection.fetchrow(
        f"SELECT {_POSITION} FROM margin_positions WHERE position_id = $1",  # noqa: S608
        position_id,
    )
    return None if row is None else _position_of(row)


async def add_position(connection: Connection, new: MarginPositionRow) -> None:
    """Write a new position."""
    await connection.execute(
        f"INSERT INTO margin_positions ({_POSITION})"  # noqa: S608
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, NULL, $10, 0, NULL, NULL, $11, NULL, NULL)",
        new.position_id,
        new.account_id,
        new.symbol,
        new.side.name.lower(),
        numeric(new.quantity),
        new.leverage,
        numeric(new.required_margin),
        numeric(new.own_funds),
        new.status.value,
        new.loan_id,
        new.opened_at,
    )


async def save_position(connection: Connection, changed: MarginPositionRow) -> None:
    """Write the state of a position."""
    await connection.execute(
        "UPDATE margin_positions SET quantity = $2, required_margin = $3, entry_price = $4, status = $5, reason = $6,"
        " closings = $7, close_request = $8, closing_quantity = $9, closed_at = $10, closing_refused_at = $11"
        " WHERE position_id = $1",
        changed.position_id,
        numeric(changed.quantity),
        numeric(changed.required_margin),
        changed.entry_price,
        changed.status.value,
        changed.reason,
        changed.closings,
        changed.close_request,
        None if changed.closing_quantity is None else numeric(changed.closing_quantity),
        changed.closed_at,
        changed.closing_refused_at,
    )


async def add_reduction(connection: Connection, account_id: str, request_id: str, requested_at: datetime) -> bool:
    """Note a reduce-only request, or the order of a part that is closed. Returns False if it was noted before."""
    tag = await connection.execute(
        "INSERT INTO margin_reductions (account_id, request_id, requested_at) VALUES ($1, $2, $3)"
        " ON CONFLICT DO NOTHING",
        account_id,
        request_id,
        requested_at,
    )
    return rows_changed(tag) == 1


async def has_reduction(connection: Connection, account_id: str, request_id: str) -> bool:
    """Whether `add_reduction` has noted it. The router's row of the order comes later than its reply."""
    query = "SELECT EXISTS (SELECT FROM margin_reductions WHERE account_id = $1 AND request_id = $2)"
    return bool(await connection.fetchval(query, account_id, request_id))


# Transfers


async def add_transfer(connection: Connection, new: MarginTransferRow) -> None:
    """Write a transfer before it is sent."""
    await connection.execute(
        "INSERT INTO margin_transfers (reference, account_id, purpose, loan_id, asset, amount, movements, at_ms,"
        " status) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, 'pending')",
        new.reference,
        new.account_id,
        new.purpose.value,
        new.loan_id,
        new.asset,
        numeric(new.amount),
        encode_movements(new.movements),
        new.at_ms,
    )


async def transfer(connection: Connection, reference: str) -> MarginTransferRow | None:
    """One transfer."""
    row = await connection.fetchrow(
        f"SELECT {_TRANSFER} FROM margin_transfers WHERE reference = $1",  # noqa: S608
        reference,
    )
    return None if row is None else _transfer_of(row)


async def pending_transfers(connection: Connection, account_id: str) -> list[MarginTransferRow]:
    """The transfers of an account that are not decided, oldest first."""
    rows = await connection.fetch(
        f"SELECT {_TRANSFER} FROM margin_transfers WHERE account_id = $1 AND status = 'pending' ORDER BY number",  # noqa: S608
        account_id,
    )
    return [_transfer_of(row) for row in rows]


async def decide_transfer(connection: Connection, reference: str, status: TransferStatus, code: str) -> None:
    """Write the engine's decision. With status `pending`, `code` says why the transfer is still owed."""
    await connection.execute(
        "UPDATE margin_transfers SET status = $2, result_code = $3 WHERE reference = $1 AND status = 'pending'",
        reference,
        status.value,
        code,
    )


async def count_transfers(connection: Connection, loan_id: str) -> int:
    """How many transfers a loan has had."""
    return int(await connection.fetchval("SELECT count(*) FROM margin_transfers WHERE loan_id = $1", loan_id))


async def uncovered_losses(pool: Pool) -> int:
    """How many losses the insurance account could not pay so far."""
    query = "SELECT count(*) FROM margin_transfers WHERE status = 'pending' AND purpose = 'loss' AND result_code <> ''"
    return int(await pool.fetchval(query))


# Orders


async def open_orders(connection: Connection, account_id: str, limit: int) -> list[tuple[str, str]]:
    """The open orders of an account in the order router's rows: (order id, symbol)."""
    rows = await connection.fetch(
        "SELECT order_id, symbol FROM orders WHERE user_id = $1"
        " AND status IN ('pending', 'open', 'partially_filled') ORDER BY created_at DESC, order_id DESC LIMIT $2",
        account_id,
        limit,
    )
    return [(row["order_id"], row["symbol"]) for row in rows]


def _account_of(row: Any) -> MarginAccountRow:
    return MarginAccountRow(
        row["account_id"], row["user_id"], AccountStatus(row["status"]), RiskBand(row["zone"]), row["warnings"]
    )


def _position_of(row: Any) -> MarginPositionRow:
    return MarginPositionRow(
        position_id=row["position_id"],
        account_id=row["account_id"],
        symbol=row["symbol"],
        side=Side[row["side"].upper()],
        quantity=to_amount(row["quantity"]),
        leverage=row["leverage"],
        required_margin=to_amount(row["required_margin"]),
        own_funds=to_amount(row["own_funds"]),
        entry_price=row["entry_price"],
        status=MarginPositionStatus(row["status"]),
        reason=row["reason"],
        loan_id=row["loan_id"],
        closings=row["closings"],
        close_request=row["close_request"],
        closing_quantity=None if row["closing_quantity"] is None else to_amount(row["closing_quantity"]),
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
        closing_refused_at=row["closing_refused_at"],
    )


def _transfer_of(row: Any) -> MarginTransferRow:
    return MarginTransferRow(
        reference=row["reference"],
        account_id=row["account_id"],
        purpose=Purpose(row["purpose"]),
        loan_id=row["loan_id"],
        asset=row["asset"],
        amount=to_amount(row["amount"]),
        movements=decode_movements(row["movements"]),
        at_ms=row["at_ms"],
        status=TransferStatus(row["status"]),
        result_code=row["result_code"],
    )
