"""Asks for actions of two persons, and decides on them.

The decision, what it does and its entry in the trail are one transaction: the one that the kind's action runs in. The
request is locked in it and checked again, so that of two decisions at once one is refused.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Protocol

import asyncpg

from openspot.domain.ids import short_id
from openspot.http.errors import HttpError
from openspot.http.operator_store import made_together_with
from openspot.http.operators import Operator
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.http.policy import Permission
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.acting import Acting, record, require_permission
from openspot.rest_edge.operators.pending import store
from openspot.rest_edge.operators.pending.rules import (
    ActionKind,
    OperatorRequest,
    RequestStatus,
    person_of,
    require_apart,
    require_decidable,
    require_other_person,
    require_waiting,
)
from openspot.rest_edge.operators.pending.schemas import OperatorRequestResponse

ID_LENGTH = 16


class Approval:
    """The approval of a request by `operator`, for the transaction that does what it asks for.

    Both methods raise HttpError.

    `check` comes first: it locks the request, so that a second decision waits. `write` comes last, since it holds the
    trail for everybody; it checks again.
    """

    def __init__(
        self,
        check: Callable[[Connection], Awaitable[OperatorRequest]],
        write: Callable[[Connection, OperatorRequest], Awaitable[None]],
        operator: Operator,
    ) -> None:
        self.operator = operator
        self._check = check
        self._write = write

    async def check(self, connection: Connection) -> None:
        """Lock the request. 403 or 409 if it must not be approved."""
        await self._check(connection)

    async def write(self, connection: Connection) -> None:
        """Write the decision and its entry in the trail."""
        await self._write(connection, await self._check(connection))


class TwoPersonAction(Protocol):
    """What a kind of request does when it is approved."""

    permission: Permission
    """What whoever decides must be allowed to."""

    async def carry_out(self, request: OperatorRequest, approver: str, approval: Approval) -> None:
        """Do it, with the approval in the same transaction. Raises HttpError; then nothing is done or decided."""


class PendingActions:
    """Requests and the decisions on them. Methods raise HttpError.

    `life` is how long a request waits. For `roles_wait` after a role was given, who gave it and who got it are not two
    persons of one decision.
    """

    def __init__(self, pool: Pool, now: Callable[[], datetime], life: timedelta, roles_wait: timedelta) -> None:
        self._pool = pool
        self._now = now
        self._life = life
        self._roles_wait = roles_wait
        self._actions: Mapping[ActionKind, TwoPersonAction] = {}

    def use(self, actions: Mapping[ActionKind, TwoPersonAction]) -> None:
        """Say what each kind does. The actions themselves ask through this object."""
        self._actions = actions

    async def ask(
        self,
        connection: Connection,
        acting: Acting,
        kind: ActionKind,
        user_id: str,
        detail: dict[str, str],
        *,
        request_id: str | None = None,
        is_single: bool = True,
    ) -> OperatorRequest:
        """Write a request in the caller's transaction, with its entry in the trail.

        403 for an account of one's own. 409 if such a request for the user waits and there may be only one.
        """
        now, operator = self._now(), acting.operator.name
        require_other_person(operator, user_id, await store.linked_with(connection, operator))
        if is_single:
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{kind}:{user_id}")
            waiting = await store.waiting_of(connection, kind, user_id, now)
            if waiting is not None:
                raise HttpError(409, f"request {waiting} waits already", "REQUEST_WAITS", details={"id": waiting})
        request = OperatorRequest(
            request_id or short_id(os.urandom(ID_LENGTH), ID_LENGTH),
            kind,
            user_id,
            detail,
            acting.reason,
            operator,
            now,
            now + self._life,
        )
        await store.add(connection, request)
        await record(
            connection,
            acting,
            f"{kind}.requested",
            kind.subject_kind,
            user_id,
            {},
            {"request": request.request_id} | detail,
        )
        return request

    async def get(self, request_id: str) -> OperatorRequestResponse:
        """One request. 404 if there is none."""
        return described(_found(await store.get(self._pool, request_id)))

    async def page(self, wanted: store.RequestFilter, limit: int, cursor: str | None) -> Page[OperatorRequestResponse]:
        """A page of requests, newest first."""
        rows = await store.page(self._pool, wanted, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.requested_at, row.request_id), described)

    async def approve(self, request_id: str, acting: Acting) -> OperatorRequestResponse:
        """Approve a request and do what it asks for.

        404 for an unknown one; 403 without the permission of its kind, for the person who asked, or whose account it
        is, or who has a role from the person who asked since `roles_wait`, or gave them one; 409 if it is decided or
        has expired, and what the action raises.
        """
        request = _found(await store.get(self._pool, request_id))
        action = self._actions[request.kind]
        require_permission(acting.operator, action.permission)
        await self._require_second_person(self._pool, request, acting.operator.name)

        async def check(connection: Connection) -> OperatorRequest:
            locked = _found(await store.lock(connection, request_id))
            await self._require_second_person(connection, locked, acting.operator.name)
            return locked

        async def write(connection: Connection, locked: OperatorRequest) -> None:
            await self._write(connection, locked, RequestStatus.APPROVED, acting)

        await action.carry_out(request, acting.operator.name, Approval(check, write, acting.operator))
        return await self.get(request_id)

    async def _require_second_person(
        self, connection: Connection | Pool, request: OperatorRequest, operator: str
    ) -> None:
        now = self._now()
        linked = await store.linked_with(connection, operator)
        require_decidable(request, operator, linked, now)
        if self._roles_wait:
            own = linked | {person_of(operator)}
            others = await store.linked_with(connection, request.requested_by) | {person_of(request.requested_by)}
            require_apart(others, await made_together_with(connection, own, now - self._roles_wait))

    async def reject(self, request_id: str, acting: Acting) -> OperatorRequestResponse:
        """End a request without doing anything. Who asked may do it too. 404, 403 without the permission, 409.

        409 also while somebody decides on it: what an approval does may take seconds, and this does not wait for it.
        """
        request = _found(await store.get(self._pool, request_id))
        require_permission(acting.operator, self._actions[request.kind].permission)
        async with self._pool.acquire() as connection, connection.transaction():
            try:
                locked = _found(await store.lock(connection, request_id, waits=False))
            except asyncpg.LockNotAvailableError as error:
                raise HttpError(409, "somebody decides on the request now", "REQUEST_BEING_DECIDED") from error
            require_waiting(locked)
            await self._write(connection, locked, RequestStatus.REJECTED, acting)
        return await self.get(request_id)

    async def _write(
        self, connection: Connection, request: OperatorRequest, status: RequestStatus, acting: Acting
    ) -> None:
        await store.decide(connection, request.request_id, status, acting.operator.name, acting.reason, self._now())
        await record(
            connection, acting, f"{request.kind}.{status}", request.kind.subject_kind, request.user_id,
            {"request": request.request_id, "requestedBy": request.requested_by}, request.detail,
        )  # fmt: skip


def described(request: OperatorRequest) -> OperatorRequestResponse:
    """The request as operators see it."""
    return OperatorRequestResponse(
        id=request.request_id,
        kind=request.kind,
        user_id=request.user_id,
        detail=request.detail,
        reason=request.reason,
        requested_by=request.requested_by,
        requested_at=iso_of(request.requested_at),
        expires_at=iso_of(request.expires_at),
        status=request.status,
        decided_by=request.decided_by,
        decided_at=None if request.decided_at is None else iso_of(request.decided_at),
        decision_reason=request.decision_reason,
    )


def _found(request: OperatorRequest | None) -> OperatorRequest:
    if request is None:
        raise HttpError(404, "there is no such request", "REQUEST_NOT_FOUND")
    return request
