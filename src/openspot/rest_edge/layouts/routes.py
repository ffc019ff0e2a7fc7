"""The routes of layouts."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.layouts.rules import WidthClass
from openspot.rest_edge.layouts.schemas import ScreenLayout, ScreenLayoutBody
from openspot.rest_edge.layouts.service import LayoutService

WidthPath = Annotated[WidthClass, Path(description="The windows that share the layout")]

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: a layout is of a person's screen, and an API key has none."""


def layout_routes(prefix: str, layouts: LayoutService) -> Router:
    """The routes of `/layouts`, below `prefix`."""
    router = Router(f"{prefix}/layouts", tag="layouts")

    @router.get("", _READ, response=list[ScreenLayout], summary="Your layouts of the trading screen, by width class")
    async def list_layouts(request: Request) -> Response:
        return json_response(await layouts.all_of(caller(request).user_id))

    @router.put(
        "/{width}", _CHANGE, response=ScreenLayout,
        refusals={
            400: "width or body is not valid",
            409: "the layout was changed since you have read it: LAYOUT_CHANGED, with its `version` in `details`",
        },
        summary="Keep a layout of the trading screen",
    )  # fmt: skip
    async def put_layout(request: Request, width: WidthPath, body: ScreenLayoutBody) -> Response:
        return json_response(await layouts.put(caller(request).user_id, width, body))

    return router
