"""The route of the activity log: `/users/me/activity` (fact B4.1-45)."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.http.paging import SerialNumber
from openspot.http.policy import Access, Policy
from openspot.http.responses import page_response
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.identity.activity.log import ActivityLog
from openspot.rest_edge.identity.activity.schemas import ActivityResponse

_READ = Policy(Access.USER)
"""There is no scope: API keys have no access to personal data."""


def activity_routes(prefix: str, log: ActivityLog) -> Router:
    """The routes of `/users/me/activity`, below `prefix`."""
    router = Router(f"{prefix}/users/me/activity", tag="users")

    @router.get(
        "", _READ, response=list[ActivityResponse], headers=NEXT_CURSOR_HEADER,
        summary="What happened to your account, newest first",
    )  # fmt: skip
    async def list_activity(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = None if cursor is None else decode_cursor(cursor, tuple[SerialNumber])[0]
        found = await log.page(caller(request).user_id, limit + 1, before)
        entries = [
            {
                "id": str(entry.activity_id),
                "kind": entry.kind,
                "address": entry.address,
                "userAgent": entry.user_agent,
                "createdAt": iso_of(entry.created_at),
            }
            for entry in found[:limit]
        ]
        return page_response(entries, encode_cursor([found[limit - 1].activity_id]) if len(found) > limit else None)

    return router
