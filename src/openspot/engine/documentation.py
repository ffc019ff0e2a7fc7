"""The engine's routes and their OpenAPI document, for the generated pages."""

from collections.abc import Callable
from functools import partial
from typing import Any

from openspot.engine.admin.action_routes import action_router
from openspot.engine.admin.listing_routes import admin_routers
from openspot.engine.admin.market_listing_routes import market_listing_routers
from openspot.engine.admin.participant_routes import participant_router
from openspot.engine.admin.service import AdminTokens, admin_service_router
from openspot.engine.transport.http_app import engine_document, engine_routers
from openspot.http.authentication import ServiceKeys
from openspot.http.routing import Router


def documented(stand_in: Any) -> tuple[list[Router], Callable[[], dict[str, Any]]]:
    """The routers, and the function that makes the OpenAPI document.

    `stand_in` takes the place of what routes need only when they are called.
    """
    routers = engine_routers(
        stand_in,
        [
            *admin_routers(stand_in),
            *market_listing_routers(stand_in),
            action_router(stand_in),
            admin_service_router(stand_in),
            participant_router(stand_in, stand_in, stand_in),
        ],
    )
    return routers, partial(engine_document, routers, [ServiceKeys("unused", "unused"), AdminTokens(stand_in)])
