"""exchange.v1.AdminService put together: one implementation, its transports, and the guard of /api/v1/admin."""

import asyncio

import grpc
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from openspot.engine.admin.authority import Authority
from openspot.engine.admin.connect_transport import PATH, admin_application
from openspot.engine.admin.dispatch import Dispatch
from openspot.engine.admin.errors import AdminError
from openspot.engine.admin.grpc_transport import add_admin_service
from openspot.engine.admin.handlers import Handlers
from openspot.engine.admin.volume_charging import VolumeCharging
from openspot.engine.engine import Engine
from openspot.engine.http_api import Handler, ServiceKeys, error_response

_CONSOLE_HEADERS = (
    "Authorization",
    "Content-Type",
    "Connect-Protocol-Version",
    "Connect-Timeout-Ms",
    "X-Grpc-Web",
    "X-User-Agent",
    "Grpc-Timeout",
)
_GRPC_WEB_HEADERS = ("Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin")


class AdminService:
    """The administration of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._keys = ServiceKeys(engine.settings)
        self._authority = Authority(engine)
        self._dispatch = Dispatch(self._authority, Handlers(engine, self._authority))
        self._charging = VolumeCharging(engine)
        self._charging_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """See to the first administrator, and begin to charge by volume where that is chosen.

        Raises ValueError for a bad OPENSPOT_ADMIN_ID or OPENSPOT_ADMIN_PASSWORD, EngineStoppedError.
        """
        await self._authority.ensure_first_administrator()
        self._charging_task = asyncio.create_task(self._charging.run())

    async def close(self) -> None:
        """End what was begun."""
        self._authority.passwords.close()
        if self._charging_task is not None:
            self._charging_task.cancel()
            await asyncio.gather(self._charging_task, return_exceptions=True)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Let a gRPC server answer the methods."""
        add_admin_service(self._dispatch, server)

    def routes(self) -> list[BaseRoute]:
        """The methods over HTTP."""
        return [Route(f"{PATH}/{{method}}", admin_application(self._dispatch))]

    def guard(self, handler: Handler) -> Handler:
        """`handler` for services, by their headers, and for administrators, by their token; others get 401 or 403."""

        async def guarded(request: Request) -> Response:
            authorization = request.headers.get("authorization", "")
            fault = self._keys.fault(request.headers)
            if fault and authorization:
                try:
                    self._authority.administrator(authorization)
                except AdminError as error:
                    status = 403 if error.status is grpc.StatusCode.PERMISSION_DENIED else 401
                    return error_response(status, str(error), error.status.name)
            elif fault:
                return error_response(401, fault, "UNAUTHORIZED")
            return await handler(request)

        return guarded


def for_console(application: ASGIApp, origins: str) -> ASGIApp:
    """`application` for pages of these origins (with commas) too; without any, as it is."""
    allowed = [origin.strip() for origin in origins.split(",") if origin.strip()]
    if not allowed:
        return application
    return CORSMiddleware(
        application,
        allow_origins=allowed,
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=_CONSOLE_HEADERS,
        expose_headers=_GRPC_WEB_HEADERS,
    )
