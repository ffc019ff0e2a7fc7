"""The routes of notifications: `/users/me/notifications` and `/settings/notifications` (fact B4.1-77)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.http.paging import SerialNumber
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import body_of, json_response, page_response
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.schemas import (
    NotificationPreferenceBody,
    NotificationPreferenceResponse,
    NotificationResponse,
)
from openspot.rest_edge.notifications.service import NotificationServices
from openspot.rest_edge.notifications.store import NotificationStore

EventPath = Annotated[NotificationEvent, Path(description="The kind of event")]

_READ = Policy(Access.USER)
"""There is no scope: API keys have no access to personal data."""
_READ_PREFERENCES = Policy(Access.USER, Scope.READ)
_CHANGE_PREFERENCES = Policy(Access.USER, audit=True)


def notification_routes(prefix: str, notifications: NotificationServices) -> list[Router]:
    """`/users/me/notifications` and `/settings/notifications`, below `prefix`."""
    return [_list_routes(prefix, notifications.store), _preference_routes(prefix, notifications.preferences)]


def _list_routes(prefix: str, store: NotificationStore) -> Router:
    """The routes of `/users/me/notifications`, below `prefix`."""
    router = Router(f"{prefix}/users/me/notifications", tag="users")

    @router.get(
        "", _READ, response=list[NotificationResponse], headers=NEXT_CURSOR_HEADER,
        summary="What you were told on the screen in the last two weeks, newest first",
    )  # fmt: skip
    async def list_notifications(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = None if cursor is None else decode_cursor(cursor, tuple[SerialNumber])[0]
        found = await store.page(caller(request).user_id, limit + 1, before)
        notifications = [
            {
                "id": row.notification_id,
                "kind": row.kind,
                "title": row.title,
                "text": row.text,
                "createdAt": iso_of(row.created_at),
            }
            for row in found[:limit]
        ]
        return page_response(notifications, encode_cursor([found[limit - 1].number]) if len(found) > limit else None)

    return router


def _preference_routes(prefix: str, preferences: NotificationPreferenceService) -> Router:
    """The routes of `/settings/notifications`, below `prefix`."""
    router = Router(f"{prefix}/settings/notifications", tag="settings")

    @router.get(
        "",
        _READ_PREFERENCES,
        response=list[NotificationPreferenceResponse],
        summary="Which messages you want, by event",
    )
    async def list_notification_settings(request: Request) -> Response:
        return json_response([body_of(row) for row in await preferences.settings_of(caller(request).user_id)])

    @router.put(
        "/{event}", _CHANGE_PREFERENCES, response=NotificationPreferenceResponse,
        refusals={400: "the event or the body is not valid", 409: "mail of this event cannot be turned off"},
        summary="Set which messages you want of an event",
    )  # fmt: skip
    async def set_notification(request: Request, event: EventPath, body: NotificationPreferenceBody) -> Response:
        return json_response(body_of(await preferences.change(caller(request).user_id, event, body)))

    return router
