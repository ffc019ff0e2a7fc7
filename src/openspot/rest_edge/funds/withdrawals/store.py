"""Reads custody's deposits and withdrawals, and the deposits that only the ledger knows."""

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.coin_networks.pauses import Direction, is_paused_sql
from openspot.contracts.messages import WithdrawalRecord
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool, text_of
from openspot.rest_edge.funds.withdrawals.schemas import Deposit

_COLUMNS = """
    withdrawal_id, client_withdrawal_id, asset, network, amount, fee, net_amount, address, tag, status, reason, tx_hash,
    confirmations, required_confirmations, wallet, created_at, updated_at
"""

# Custody knows what a chain brought, the ledger alone what came by bank or was booked by the operator: an entry has the
# reference of its deposit.
_DEPOSITS = f"""
    (
        SELECT tx_hash, asset, network, address, amount, required_confirmations, created_at, confirmed_at,
            {is_paused_sql(Direction.DEPOSITS, "deposit")} AS is_paused
        FROM custody_deposits AS deposit
        WHERE user_id = $1 AND ($2::text IS NULL OR asset = $2)
            AND (created_at, tx_hash) < (coalesce($3::timestamptz, 'infinity'), coalesce($4::text, ''))
        ORDER BY created_at DESC, tx_hash DESC LIMIT $5
    ) UNION ALL (
        SELECT transaction_id, asset, coalesce($6::jsonb ->> asset, ''), '', amount, 0, created_at, created_at,
            false
        FROM ledger_entries
        WHERE user_id = $1 AND ($2::text IS NULL OR asset = $2)
            AND entry_type = 'deposit' AND reference_type = 'custody'
            AND (created_at, transaction_id) < (coalesce($3::timestamptz, 'infinity'), coalesce($4::text, ''))
            AND NOT EXISTS (SELECT FROM custody_deposits WHERE tx_hash = transaction_id)
        ORDER BY created_at DESC, transaction_id DESC LIMIT $5
    )
    ORDER BY created_at DESC, tx_hash DESC LIMIT $5
"""  # noqa: S608  (constant text)


class WithdrawalPosition(NamedTuple):
    """A position in the list, newest first: the page begins after this withdrawal."""

    created_at: datetime
    withdrawal_id: str


class WithdrawalFilter(NamedTuple):
    """The filter of a list of withdrawals. A field that is None or empty filters nothing."""

    asset: str | None = None
    status: str | None = None


class DepositPosition(NamedTuple):
    """A position in the list of deposits, newest first: the page begins after this deposit."""

    created_at: datetime
    tx_hash: str


class WithdrawalStore:
    """Reads deposits and withdrawals of users. `banks` has the network of each asset that comes by bank."""

    def __init__(self, pool: Pool, banks: Mapping[str, str]) -> None:
        self._pool = pool
        self._banks = json.dumps(dict(banks))

    async def get(self, user_id: str, withdrawal_id: str) -> WithdrawalRecord | None:
        """The user's withdrawal with this id, None if there is none."""
        row = await self._pool.fetchrow(
            f"SELECT {_COLUMNS} FROM custody_withdrawals WHERE user_id = $1 AND withdrawal_id = $2",  # noqa: S608
            user_id,
            withdrawal_id,
        )
        return None if row is None else _record(row)

    async def page(
        self, user_id: str, wanted: WithdrawalFilter, limit: int, after: WithdrawalPosition | None
    ) -> tuple[list[WithdrawalRecord], WithdrawalPosition | None]:
        """A page of the user's withdrawals, newest first, and the position of the next page, None if there is none."""
        rows = await self._pool.fetch(
            f"""
            SELECT {_COLUMNS} FROM custody_withdrawals
            WHERE user_id = $1 AND ($2::text IS NULL OR asset = $2) AND ($3::text IS NULL OR status = $3)
                AND ($4::timestamptz IS NULL OR (created_at, withdrawal_id) < ($4, $5::text))
            ORDER BY created_at DESC, withdrawal_id DESC LIMIT $6
            """,  # noqa: S608
            user_id, wanted.asset, wanted.status, after.created_at if after else None,
            after.withdrawal_id if after else None, limit + 1,
        )  # fmt: skip
        page = rows[:limit]
        more = len(rows) > limit
        position = WithdrawalPosition(page[-1]["created_at"], page[-1]["withdrawal_id"]) if more else None
        return [_record(row) for row in page], position

    async def deposits(
        self, user_id: str, asset: str | None, limit: int, after: DepositPosition | None
    ) -> tuple[list[Deposit], DepositPosition | None]:
        """A page of the user's deposits, newest first, and the position of the next page, None if there is none."""
        rows = await self._pool.fetch(
            _DEPOSITS, user_id, asset, after.created_at if after else None, after.tx_hash if after else None, limit + 1,
            self._banks,
        )  # fmt: skip
        page = rows[:limit]
        position = DepositPosition(page[-1]["created_at"], page[-1]["tx_hash"]) if len(rows) > limit else None
        return [_deposit(row) for row in page], position


def _deposit(row: Any) -> Deposit:
    confirmed_at: datetime | None = row["confirmed_at"]
    return Deposit(
        tx_hash=row["tx_hash"],
        asset=row["asset"],
        network=row["network"],
        address=row["address"],
        amount=text_of(row["amount"]),
        status="confirmed" if confirmed_at is not None else "waiting" if row["is_paused"] else "pending",
        required_confirmations=row["required_confirmations"],
        created_at=iso_of(row["created_at"]),
        confirmed_at=None if confirmed_at is None else iso_of(confirmed_at),
    )


def _record(row: Any) -> WithdrawalRecord:
    fields = dict(row)
    fields["id"] = fields.pop("withdrawal_id")
    for name, value in fields.items():
        if isinstance(value, Decimal):
            fields[name] = text_of(value)
        elif isinstance(value, datetime):
            fields[name] = iso_of(value)
    return WithdrawalRecord(**fields)
