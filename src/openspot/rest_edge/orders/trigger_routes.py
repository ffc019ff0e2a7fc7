"""The route of the present triggers of orders, which only the complete rules have."""

import re
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import OrderTrigger
from openspot.http.context import caller
from openspot.http.errors import validation_error
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.orders.routes import READ
from openspot.rest_edge.orders.schemas import ORDER_ID_PATTERN
from openspot.rest_edge.orders.triggers import OrderTriggers

_IDS_MAX = 20

OrderIdsQuery = Annotated[
    str, Query(alias="orderIds", max_length=2000, description="1 to 20 ids with commas between them")
]


def trigger_routes(prefix: str, triggers: OrderTriggers) -> Router:
    """The route below `prefix`/orders."""
    router = Router(f"{prefix}/orders", tag="orders")

    @router.get(
        "/triggers", READ, response=list[OrderTrigger],
        refusals={400: "`orderIds` are not 1 to 20 ids", 503: "the order router or the engine does not respond"},
        summary="The prices that fire orders of yours now; those that wait for no price are left out",
    )  # fmt: skip
    async def list_triggers(request: Request, order_ids: OrderIdsQuery) -> Response:
        wanted = order_ids.split(",")
        if len(wanted) > _IDS_MAX:
            raise validation_error([f"orderIds must have at most {_IDS_MAX} entries"])
        if not all(re.fullmatch(ORDER_ID_PATTERN, order_id) for order_id in wanted):
            raise validation_error(["orderIds must be order ids with commas between them"])
        return json_response(await triggers.of(caller(request).user_id, wanted))

    return router
