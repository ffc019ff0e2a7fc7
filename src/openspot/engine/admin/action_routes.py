"""The route by which the REST edge follows what operators did at the engine."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from openspot.contracts.engine_actions import EngineActions
from openspot.engine.admin.action_feed import ActionFeed
from openspot.engine.engine import Engine
from openspot.engine.transport.http_app import PREFIX
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router

ACTIONS_MAX = 200
_SERVICE = Policy(Access.SERVICE)


def action_router(engine: Engine) -> Router:
    """The route of actions."""
    router = Router(f"{PREFIX}/admin/actions", tag="administration")
    feed = ActionFeed(engine)

    @router.get(
        "", _SERVICE, response=EngineActions, refusals={},
        summary="What operators did, as the journal notes it; nothing for the reader of another journal",
    )  # fmt: skip
    async def list_actions(
        epoch: Annotated[str, Query(max_length=64, description="The journal that the reader follows")] = "",
        after: Annotated[int, Query(ge=0, le=2**53 - 1, description="The last command that the reader has seen")] = 0,
        limit: Annotated[int, Query(ge=1, le=ACTIONS_MAX, description="How many actions at most")] = ACTIONS_MAX,
    ) -> Response:
        return json_response(await feed.page(epoch, after, limit))

    return router
