"""The table `house_flows`: money of the house that came from outside or went there."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.pending.rules import ActionKind
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury.rules import FlowCategory

_COLUMNS = """
    flow_id, account, asset, amount, category, reference, reason, value_cents, requested_by, approved_by, status,
    result_code, created_at, decided_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseFlow:
    """A row. `amount` is what came in; below 0 what went out. Made by one person alone, `approved_by` is None."""

    flow_id: str
    account: str
    asset: str
    amount: Decimal
    category: FlowCategory
    reference: str
    reason: str
    value_cents: int | None
    requested_by: str
    approved_by: str | None
    created_at: datetime
    status: str = "pending"
    result_code: str | None = None
    decided_at: datetime | None = None


class FlowFilter(NamedTuple):
    """The filter of a list; None filters nothing."""

    account: str | None = None
    category: str | None = None
    span: Span = Span()


class KnownReference(NamedTuple):
    """What has an external reference already: its id, and what it is in words."""

    id: str
    text: str


async def lock_reference(connection: Connection, reference: str) -> None:
    """Let nobody else record something under this reference until the transaction ends."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"openspot-house-flow:{reference.lower()}"
    )


async def known(
    connection: Connection, reference: str, now: datetime, *, except_request: str = ""
) -> KnownReference | None:
    """What has this reference already, in capital or small letters: a flow, a request that waits, or a deposit."""
    flow = await connection.fetchrow(
        "SELECT flow_id, account, asset, amount FROM house_flows"
        " WHERE lower(reference) = lower($1) AND status <> 'refused'",
        reference,
    )
    if flow is not None:
        return KnownReference(flow["flow_id"], f"{flow['amount']:f} {flow['asset']} of {flow['account']}")
    waiting = await connection.fetchrow(
        "SELECT request_id, user_id FROM operator_requests WHERE status = 'waiting' AND kind = $2"
        " AND lower(detail ->> 'reference') = lower($1) AND expires_at > $3 AND request_id <> $4 LIMIT 1",
        reference,
        ActionKind.HOUSE_FLOW.value,
        now,
        except_request,
    )
    if waiting is not None:
        return KnownReference(waiting["request_id"], f"a request for {waiting['user_id']} that waits")
    entry = await connection.fetchrow(
        "SELECT user_id, asset, amount FROM ledger_entries WHERE transaction_id = $1", reference
    )
    if entry is None:
        return None
    return KnownReference(reference, f"{entry['amount'].normalize():f} {entry['asset']} of {entry['user_id']}")


async def add(connection: Connection, row: HouseFlow) -> None:
    """Write a flow that is begun in the same transaction."""
    await connection.execute(
        """
        INSERT INTO house_flows (flow_id, account, asset, amount, category, reference, reason, value_cents,
            requested_by, approved_by, status, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11)
        """,
        row.flow_id, row.account, row.asset, row.amount, row.category.value, row.reference, row.reason,
        row.value_cents, row.requested_by, row.approved_by, row.created_at,
    )  # fmt: skip


async def decide(connection: Connection, flow_id: str, status: str, code: str | None, now: datetime) -> None:
    """Write what became of a flow."""
    await connection.execute(
        "UPDATE house_flows SET status = $2, result_code = $3, decided_at = $4 WHERE flow_id = $1",
        flow_id,
        status,
        code,
        now,
    )


async def get(pool: Pool, flow_id: str) -> HouseFlow | None:
    """The flow with this id."""
    row = await pool.fetchrow(f"SELECT {_COLUMNS} FROM house_flows WHERE flow_id = $1", flow_id)  # noqa: S608
    return None if row is None else _flow(row)


async def page(pool: Pool, wanted: FlowFilter, limit: int, after: tuple[datetime, str] | None) -> list[HouseFlow]:
    """Flows, newest first, behind the position `after`."""
    conditions = ["true"]
    values: list[Any] = []
    for column in ("account", "category"):
        value = getattr(wanted, column)
        if value is not None:
            values.append(value)
            conditions.append(f"{column} = ${len(values)}")
    conditions += wanted.span.conditions("created_at", values)
    if after is not None:
        values += list(after)
        conditions.append(f"(created_at, flow_id) < (${len(values) - 1}, ${len(values)})")
    values.append(limit)
    rows = await pool.fetch(
        f"SELECT {_COLUMNS} FROM house_flows WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY created_at DESC, flow_id DESC LIMIT ${len(values)}",
        *values,
    )
    return [_flow(row) for row in rows]


async def sum_alone(connection: Connection, accounts: Collection[str], since: datetime) -> int:
    """US cents that a person, with all of these accounts, has recorded without another since then.

    What was refused moved nothing.
    """
    return int(
        await connection.fetchval(
            "SELECT coalesce(sum(value_cents), 0)::bigint FROM house_flows WHERE approved_by IS NULL AND"
            " created_at > $2 AND status <> 'refused' AND lower(split_part(requested_by, ':', 2)) = ANY($1::text[])",
            [*accounts],
            since,
        )
    )


def _flow(row: Any) -> HouseFlow:
    return HouseFlow(**dict(row) | {"category": FlowCategory(row["category"])})
