"""The table `operator_requests`, and the owners who are one person."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from openspot.http.operator_store import accounts_of_owner
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.newest import equal_to, newest_first
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest, RequestStatus, person_of
from openspot.rest_edge.operators.spans import Span

_COLUMNS = """
    request_id, kind, user_id, detail, reason, requested_by, requested_at, expires_at, status, decided_by, decided_at,
    decision_reason
"""


class RequestFilter(NamedTuple):
    """The filter of a list of requests; None filters nothing."""

    status: RequestStatus | None = None
    user_id: str | None = None
    span: Span = Span()


async def add(connection: Connection, request: OperatorRequest) -> None:
    """Write a request that waits."""
    await connection.execute(
        "INSERT INTO operator_requests (request_id, kind, user_id, detail, reason, requested_by, requested_at,"
        " expires_at, status) VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, $8, 'waiting')",
        request.request_id,
        request.kind.value,
        request.user_id,
        msgspec.json.encode(request.detail).decode(),
        request.reason,
        request.requested_by,
        request.requested_at,
        request.expires_at,
    )


async def get(connection: Connection | Pool, request_id: str) -> OperatorRequest | None:
    """The request with this id."""
    return _request(
        await connection.fetchrow(f"SELECT {_COLUMNS} FROM operator_requests WHERE request_id = $1", request_id)  # noqa: S608
    )


async def lock(connection: Connection, request_id: str, *, waits: bool = True) -> OperatorRequest | None:
    """The request with this id, locked until the transaction ends: so two decisions never overlap.

    Raises LockNotAvailableError if another transaction has the lock and `waits` is false.
    """
    query = f"SELECT {_COLUMNS} FROM operator_requests WHERE request_id = $1 FOR UPDATE"  # noqa: S608
    return _request(await connection.fetchrow(query if waits else f"{query} NOWAIT", request_id))


async def waiting_of(connection: Connection, kind: ActionKind, user_id: str, now: datetime) -> str | None:
    """The id of a request of this kind for the user that waits and has not expired."""
    found: str | None = await connection.fetchval(
        "SELECT request_id FROM operator_requests"
        " WHERE user_id = $1 AND kind = $2 AND status = 'waiting' AND expires_at > $3 LIMIT 1",
        user_id,
        kind.value,
        now,
    )
    return found


async def newest_of_kind(
    connection: Connection, kind: ActionKind, status: RequestStatus, limit: int
) -> list[OperatorRequest]:
    """The newest requests of a kind that are in this state, newest first."""
    rows = await connection.fetch(
        f"SELECT {_COLUMNS} FROM operator_requests WHERE kind = $1 AND status = $2"  # noqa: S608
        " ORDER BY requested_at DESC, request_id DESC LIMIT $3",
        kind.value,
        status.value,
        limit,
    )
    return [found for row in rows if (found := _request(row)) is not None]


async def decide(
    connection: Connection, request_id: str, status: RequestStatus, operator: str, reason: str, now: datetime
) -> None:
    """Write the decision on a request that the transaction has locked."""
    await connection.execute(
        "UPDATE operator_requests SET status = $2, decided_by = $3, decision_reason = $4, decided_at = $5"
        " WHERE request_id = $1",
        request_id,
        status.value,
        operator,
        reason,
        now,
    )


async def page(
    pool: Pool, wanted: RequestFilter, limit: int, after: tuple[datetime, str] | None
) -> list[OperatorRequest]:
    """Requests, newest first, behind the position `after`."""
    conditions: list[str] = []
    values: list[Any] = []
    if wanted.status is not None:
        # A constant, so that PostgreSQL uses the partial index.
        conditions.append(f"status = '{wanted.status.value}'")
    conditions += equal_to({"user_id": wanted.user_id}, values)
    conditions += wanted.span.conditions("requested_at", values)
    select = f"SELECT {_COLUMNS} FROM operator_requests"  # noqa: S608
    place = "requested_at", "request_id"
    rows = await newest_first(pool, select, conditions, values, place=place, limit=limit, after=after)
    return [found for row in rows if (found := _request(row)) is not None]


async def linked_with(connection: Connection | Pool, operator: str) -> frozenset[str]:
    """The ids, in small letters, of accounts that belong to the operator's owner, as `openspot owners` linked them."""
    return await accounts_of_owner(connection, person_of(operator))


async def lock_operator(connection: Connection, kind: ActionKind, accounts: Collection[str]) -> None:
    """Let nobody else act alone, in this kind, in the name of one of a person's accounts until the transaction ends."""
    # In one order, so that two persons who share an account never wait for each other.
    for account in sorted(accounts):
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"openspot-{kind}:{account}")


def _request(row: Any) -> OperatorRequest | None:
    if row is None:
        return None
    fields = dict(row) | {
        "kind": ActionKind(row["kind"]),
        "status": RequestStatus(row["status"]),
        "detail": msgspec.json.decode(row["detail"], type=dict[str, str]),
    }
    return OperatorRequest(**fields)
