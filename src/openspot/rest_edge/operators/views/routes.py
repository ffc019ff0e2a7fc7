"""The routes of `/operator/views`: each operator's own. They change what one operator sees, so they take no reason."""

import os
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.ids import ORDER_ID_LENGTH, short_id
from openspot.http.context import operator
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, respond
from openspot.http.routing import Router
from openspot.kit.clock import iso_of, utc_now
from openspot.kit.database import Pool
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.operators.views import store
from openspot.rest_edge.operators.views.schemas import ViewBody, ViewResponse
from openspot.rest_edge.operators.views.store import VIEWS_MAX, TooManyViewsError, View

ViewPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9]{1,40}$", description="Id of the view")]
_READ = Policy(Access.OPERATOR, permission=Permission.CONSOLE_USE)
_SAVE = Policy(Access.OPERATOR, permission=Permission.CONSOLE_USE, audit=True)


def view_routes(prefix: str, pool: Pool) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator/views", tag="operator")

    @router.get("", _READ, response=list[ViewResponse], summary="Your views, by page and name")
    async def list_views(request: Request) -> Response:
        views = await store.views_of(pool, operator(request).name)
        return json_response([_described(view).model_dump(by_alias=True) for view in views])

    @router.post(
        "", _SAVE, response=ViewResponse, status=201,
        refusals={400: "the body is not valid", 409: f"you have {VIEWS_MAX} views: TOO_MANY_VIEWS"},
        summary="Save the filters of a page under a name; a view of that name gets the new ones",
    )  # fmt: skip
    async def save_view(request: Request, body: ViewBody) -> Response:
        view = View(short_id(os.urandom(ORDER_ID_LENGTH)), body.page, body.name, body.query, utc_now())
        async with pool.acquire() as connection, connection.transaction():
            try:
                saved = await store.save(connection, operator(request).name, view)
            except TooManyViewsError as error:
                message = f"you have {VIEWS_MAX} views: remove one"
                raise HttpError(409, message, "TOO_MANY_VIEWS") from error
        return respond(_described(saved), 201)

    @router.delete(
        "/{id}", _SAVE, response=DoneResponse, refusals={404: "you have no such view: VIEW_NOT_FOUND"},
        summary="Remove a view of yours",
    )  # fmt: skip
    async def remove_view(request: Request, view_id: ViewPath) -> Response:
        if not await store.remove(pool, operator(request).name, view_id):
            raise HttpError(404, "you have no such view", "VIEW_NOT_FOUND")
        return json_response({"success": True})

    return router


def _described(view: View) -> ViewResponse:
    return ViewResponse(
        id=view.view_id, page=view.page, name=view.name, query=view.query, saved_at=iso_of(view.saved_at)
    )
