"""The tables `house_transfers` and `house_levels`, and what the treasury reads of the ledger."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, Self

from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES
from openspot.domain.transfer import Movement
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.moves.table import MoveTable
from openspot.rest_edge.operators.pending.rules import OperatorRequest
from openspot.rest_edge.operators.spans import Span


@dataclass(frozen=True, slots=True)
class HouseTransfer:
    """What a move is as a transfer between two accounts of the house."""

    source: str
    destination: str

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """From a row of the table."""
        return cls(row["source"], row["destination"])

    @classmethod
    def of_request(cls, request: OperatorRequest) -> Self:
        """From a request for a transfer."""
        return cls(request.detail["from"], request.detail["to"])

    @property
    def subject(self) -> str:
        """The account that gives."""
        return self.source

    def detail(self) -> dict[str, str]:
        """What request and trail keep."""
        return {"from": self.source, "to": self.destination}

    def movement(self, asset: str, amount: Decimal) -> Movement:
        """From the one account to the other."""
        return Movement(self.source, self.destination, asset, amount)


TRANSFERS = MoveTable(HouseTransfer, table="house_transfers", key="transfer_id")


class HouseTransferFilter(NamedTuple):
    """The filter of a list; None filters nothing. `account` is on one of the two sides."""

    account: str | None = None
    span: Span = Span()

    def conditions(self, values: list[Any]) -> list[str]:
        """The conditions of SQL. Their values are added to `values`, which are numbered from 1."""
        found = []
        if self.account is not None:
            values.append(self.account)
            found.append(f"${len(values)} IN (source, destination)")
        return found + self.span.conditions("created_at", values)


class HouseLevel(NamedTuple):
    """The level that an account should have of an asset."""

    account: str
    asset: str
    level: Decimal


class LedgerBalance(NamedTuple):
    """What the ledger has of an asset in an account of the house."""

    account: str
    asset: str
    total: Decimal


class HouseEntry(NamedTuple):
    """An entry of a house account that no trade made."""

    entry_id: int
    transaction_id: str
    asset: str
    amount: Decimal
    balance: Decimal
    entry_type: str
    reference_id: str
    created_at: datetime


async def levels(pool: Pool) -> list[HouseLevel]:
    """Every level."""
    rows = await pool.fetch("SELECT account, asset, level FROM house_levels ORDER BY account, asset")
    return [HouseLevel(*row) for row in rows]


async def lock_level(connection: Connection, account: str, asset: str) -> Decimal | None:
    """The present level, locked until the transaction ends; None without one."""
    # An advisory lock, because there may be no row yet.
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"openspot-house-level:{account} {asset}"
    )
    found: Decimal | None = await connection.fetchval(
        "SELECT level FROM house_levels WHERE account = $1 AND asset = $2", account, asset
    )
    return found


async def set_level(
    connection: Connection, account: str, asset: str, level: Decimal | None, operator: str, now: datetime
) -> None:
    """Write the level; None removes it."""
    if level is None:
        await connection.execute("DELETE FROM house_levels WHERE account = $1 AND asset = $2", account, asset)
        return
    await connection.execute(
        "INSERT INTO house_levels (account, asset, level, set_by, set_at) VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT (account, asset) DO UPDATE SET level = $3, set_by = $4, set_at = $5",
        account, asset, level, operator, now,
    )  # fmt: skip


async def ledger_balances(pool: Pool) -> list[LedgerBalance]:
    """What the ledger has in every account of the house."""
    rows = await pool.fetch(
        "SELECT user_id, asset, available + locked AS total FROM ledger_accounts WHERE user_id = ANY($1)"
        " ORDER BY user_id, asset",
        list(HOUSE_ACCOUNT_PURPOSES),
    )
    return [LedgerBalance(*row) for row in rows]


async def entries(pool: Pool, account: str, span: Span, limit: int, before: int) -> list[HouseEntry]:
    """Entries of an account in a span that no trade made, with ids below `before`, newest first.

    Entries of one transaction have the same time. Only their ids say in which order the balance changed.
    """
    values: list[Any] = [account, limit, before]
    narrowed = "".join(f" AND {condition}" for condition in span.conditions("created_at", values))
    # Constants, so that PostgreSQL uses the partial index.
    rows = await pool.fetch(
        "SELECT entry_id, transaction_id, asset, amount, balance, entry_type, reference_id, created_at"  # noqa: S608
        " FROM ledger_entries WHERE user_id = $1 AND starts_with(user_id, 'house:') AND reference_type <> 'trade'"
        f" AND entry_id < $3{narrowed} ORDER BY entry_id DESC LIMIT $2",
        *values,
    )
    return [HouseEntry(*row) for row in rows]
