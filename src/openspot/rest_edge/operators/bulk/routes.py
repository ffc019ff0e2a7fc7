"""The routes of `/operator/bulk`: one action for up to a hundred users, as a dry run or in earnest.

A dry run needs the permission of the action itself, and leaves no entry. The permission is looked at before every row:
whoever loses the role, or the session, in the middle does no row more.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from openspot.engine_client.operators import OperatorSessions
from openspot.http.context import context_of, operation_of
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import Acting, acting
from openspot.rest_edge.operators.bulk.decisions import BulkDecisions
from openspot.rest_edge.operators.bulk.schemas import (
    BulkBody,
    BulkDecisionBody,
    BulkDecisionResponse,
    BulkOrdersBody,
    BulkResponse,
)
from openspot.rest_edge.operators.bulk.service import Act, BulkActions
from openspot.rest_edge.operators.users.service import OperatedUsers
from openspot.rest_edge.operators.users.store import LockKind
from openspot.rest_edge.operators.verification.service import Verifications

_BAD = {400: "the body is not valid"}


def _bulk(permission: Permission) -> Policy:
    return Policy(Access.OPERATOR, permission=permission, audit=True, idempotency=True)


def bulk_routes(
    prefix: str, bulk: BulkActions, users: OperatedUsers, verifications: Verifications, sessions: OperatorSessions
) -> Router:
    """The routes, below `prefix`. `sessions` says at each row whether the operator still may do it."""
    router = Router(f"{prefix}/operator/bulk", tag="operator")

    async def run(
        request: Request, body: BulkBody, permission: Permission, act: Act, *, resumes: bool = False
    ) -> BulkResponse:
        async def require() -> None:
            await sessions.require(context_of(request), permission)

        operation = operation_of(context_of(request))
        who = acting(request, body.reason, is_rehearsal=body.dry_run)
        return await bulk.run(body.user_ids, who, operation, act, require, resumes=resumes)

    for name, permission, kind, does_lock in (
        ("lock-login", Permission.USERS_LOCK_LOGIN, LockKind.LOGIN, True),
        ("unlock-login", Permission.USERS_LOCK_LOGIN, LockKind.LOGIN, False),
        ("lock-withdrawals", Permission.USERS_LOCK_WITHDRAWALS, LockKind.WITHDRAWALS, True),
        ("unlock-withdrawals", Permission.USERS_LOCK_WITHDRAWALS, LockKind.WITHDRAWALS, False),
    ):
        _lock_route(router, run, users, name, permission, kind, does_lock=does_lock)

    @router.post(
        "/end-sessions", _bulk(Permission.SESSIONS_END_ANY), response=BulkResponse, refusals=_BAD,
        summary="End all sessions of several users",
    )  # fmt: skip
    async def end_sessions_of_users(request: Request, body: BulkBody) -> Response:
        return respond(await run(request, body, Permission.SESSIONS_END_ANY, users.end_sessions))

    @router.post(
        "/cancel-orders", _bulk(Permission.ORDERS_CANCEL_ALL), response=BulkResponse, refusals=_BAD,
        summary="Cancel the open orders of several users, on one market or on all",
    )  # fmt: skip
    async def cancel_orders_of_users(request: Request, body: BulkOrdersBody) -> Response:
        async def cancel(user_id: str, one: Acting) -> None:
            await bulk.cancel_orders(user_id, body.symbol, one)

        return respond(await run(request, body, Permission.ORDERS_CANCEL_ALL, cancel, resumes=True))

    @router.post(
        "/decide-verifications", _bulk(Permission.KYC_DECIDE), response=BulkDecisionResponse, refusals=_BAD,
        summary="Decide on the verifications of several users, as they were in the dry run",
    )  # fmt: skip
    async def decide_verifications_of_users(request: Request, body: BulkDecisionBody) -> Response:
        decisions = BulkDecisions(verifications, body)
        return respond(decisions.described(await run(request, body, Permission.KYC_DECIDE, decisions.decide)))

    return router


def _lock_route(
    router: Router,
    run: Callable[[Request, BulkBody, Permission, Act], Awaitable[BulkResponse]],
    users: OperatedUsers,
    name: str,
    permission: Permission,
    kind: LockKind,
    *,
    does_lock: bool,
) -> None:
    """Lock or unlock one thing of several users."""

    @router.post(
        f"/{name}", _bulk(permission), response=BulkResponse, refusals=_BAD, name=f"{name.replace('-', '_')}_of_users",
        summary=f"{'Lock' if does_lock else 'Unlock'} the {kind} of several users",
    )  # fmt: skip
    async def change(request: Request, body: BulkBody) -> Response:
        async def act(user_id: str, one: Acting) -> None:
            await (users.lock(user_id, kind, one) if does_lock else users.unlock(user_id, kind, one))

        return respond(await run(request, body, permission, act))
