"""The tables of loans and of their interest.

A function that writes needs the connection of a transaction that has locked the account, or the loan.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from openspot.domain.money import to_amount
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric
from openspot.margin.interest import LoanAccrual, yearly_rate
from openspot.margin.lifecycle import LoanStatus
from openspot.margin.records import MarginLoanRow

_LOAN = (
    "loan_id, account_id, asset, borrowed, principal, rate, segment_start, settled, posted, paid, repaying, status,"
    " created_at, ended_at"
)


async def loans_of(connection: Connection | Pool, account_id: str, *, all_states: bool = False) -> list[MarginLoanRow]:
    """The pending and active loans of an account, oldest first. With `all_states`, its newest hundred loans."""
    if all_states:
        query = f"SELECT {_LOAN} FROM margin_loans WHERE account_id = $1 ORDER BY created_at DESC, loan_id LIMIT 100"  # noqa: S608
    else:
        query = (
            f"SELECT {_LOAN} FROM margin_loans WHERE account_id = $1 AND status IN ('pending', 'active')"  # noqa: S608
            " ORDER BY created_at, loan_id"
        )
    return [_loan_of(row) for row in await connection.fetch(query, account_id)]


async def loans_of_accounts(pool: Pool, account_ids: Iterable[str]) -> dict[str, list[MarginLoanRow]]:
    """The active loans of several accounts, by account."""
    rows = await pool.fetch(
        f"SELECT {_LOAN} FROM margin_loans WHERE account_id = ANY ($1::text[]) AND status = 'active'",  # noqa: S608
        list(account_ids),
    )
    found: dict[str, list[MarginLoanRow]] = {}
    for row in rows:
        found.setdefault(row["account_id"], []).append(_loan_of(row))
    return found


async def open_debts(connection: Connection | Pool, asset: str | None = None) -> dict[str, int]:
    """What all accounts together owe of each asset, or of one: principal and posted interest, at 18 places."""
    rows = await connection.fetch(
        "SELECT asset, sum(principal + posted - paid) AS owed FROM margin_loans"
        " WHERE status IN ('pending', 'active') AND ($1::text IS NULL OR asset = $1) GROUP BY asset",
        asset,
    )
    return {row["asset"]: to_amount(row["owed"]) for row in rows}


async def lock_asset(connection: Connection, asset: str) -> None:
    """Let no other transaction lend this asset until this one ends. The caller has locked its account before."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"margin lends {asset}")


async def loan(connection: Connection, loan_id: str) -> MarginLoanRow | None:
    """One loan, locked until the transaction ends."""
    row = await connection.fetchrow(
        f"SELECT {_LOAN} FROM margin_loans WHERE loan_id = $1 FOR UPDATE",  # noqa: S608
        loan_id,
    )
    return None if row is None else _loan_of(row)


async def add_loan(connection: Connection, new: MarginLoanRow) -> None:
    """Write a new loan."""
    await connection.execute(
        f"INSERT INTO margin_loans ({_LOAN}) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0, NULL, $8, $9, NULL)",  # noqa: S608
        new.loan_id,
        new.account_id,
        new.asset,
        numeric(new.borrowed),
        numeric(new.accrual.principal),
        new.yearly_rate,
        new.accrual.segment_start,
        new.status.value,
        new.created_at,
    )


async def save_loan(connection: Connection, changed: MarginLoanRow) -> None:
    """Write the state of a loan."""
    accrual = changed.accrual
    await connection.execute(
        "UPDATE margin_loans SET principal = $2, segment_start = $3, settled = $4, posted = $5, paid = $6,"
        " repaying = $7, status = $8, ended_at = $9 WHERE loan_id = $1",
        changed.loan_id,
        numeric(accrual.principal),
        accrual.segment_start,
        numeric(accrual.settled),
        numeric(accrual.posted),
        numeric(accrual.paid),
        changed.repaying,
        changed.status.value,
        changed.ended_at,
    )


async def add_interest(connection: Connection, posting_id: str, loan_id: str, amount: int, now_ms: int) -> None:
    """Write a posting of interest. Raises UniqueViolationError if it was written before."""
    await connection.execute(
        "INSERT INTO margin_interest (posting_id, loan_id, amount, posted_at) VALUES ($1, $2, $3, $4)",
        posting_id,
        loan_id,
        numeric(amount),
        datetime_from_ms(now_ms),
    )


async def loans_to_accrue(connection: Connection, after: str, limit: int) -> list[MarginLoanRow]:
    """Lock and return at most `limit` active loans that are not being repaid, by id. Skips those that others lock."""
    rows = await connection.fetch(
        f"SELECT {_LOAN} FROM margin_loans WHERE status = 'active' AND repaying IS NULL AND loan_id > $1"  # noqa: S608
        " ORDER BY loan_id LIMIT $2 FOR UPDATE SKIP LOCKED",
        after,
        limit,
    )
    return [_loan_of(row) for row in rows]


async def post_interest(
    connection: Connection, postings: Sequence[tuple[str, str, str, int, int]], now_ms: int
) -> None:
    """Post interest: (posting id, loan id, account id, amount, posted sum). The transaction has locked the loans."""
    await connection.executemany(
        "INSERT INTO margin_interest (posting_id, loan_id, amount, posted_at) VALUES ($1, $2, $3, $4)",
        [(posting, loan_id, numeric(amount), datetime_from_ms(now_ms)) for posting, loan_id, _, amount, _ in postings],
    )
    await connection.executemany(
        "UPDATE margin_loans SET posted = $2 WHERE loan_id = $1",
        [(loan_id, numeric(posted)) for _, loan_id, _, _, posted in postings],
    )


def _loan_of(row: Any) -> MarginLoanRow:
    accrual = LoanAccrual(
        row["loan_id"],
        to_amount(row["principal"]),
        yearly_rate(row["rate"]),
        row["segment_start"],
        to_amount(row["settled"]),
        to_amount(row["posted"]),
        to_amount(row["paid"]),
    )
    return MarginLoanRow(
        account_id=row["account_id"],
        asset=row["asset"],
        borrowed=to_amount(row["borrowed"]),
        accrual=accrual,
        yearly_rate=row["rate"],
        repaying=row["repaying"],
        status=LoanStatus(row["status"]),
        created_at=row["created_at"],
        ended_at=row["ended_at"],
    )
