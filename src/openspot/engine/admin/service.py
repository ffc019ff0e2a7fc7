"""Wires exchange.v1.AdminService: one implementation, its transports, and token authentication for the HTTP routes."""

import asyncio
from typing import Any

import grpc
from starlette.types import ASGIApp

from openspot.engine.admin.authority import ADMINISTRATORS, Authority
from openspot.engine.admin.connect_transport import PATH, admin_application
from openspot.engine.admin.dispatch import Dispatch
from openspot.engine.admin.errors import AdminError
from openspot.engine.admin.grpc_transport import add_admin_service
from openspot.engine.admin.handlers import Handlers
from openspot.engine.admin.participant_routes import participant_router
from openspot.engine.admin.volume_charging import VolumeCharging
from openspot.engine.engine import Engine
from openspot.engine.settings import EngineSettings
from openspot.engine_client.operator_headers import REASON_HEADER
from openspot.http.app import with_cors
from openspot.http.authentication import Authenticator, CredentialsError, ServiceKeys
from openspot.http.context import Identity, RequestContext
from openspot.http.policy import NOBODY, Access, Policy, ThrottleClass
from openspot.http.routing import Router
from openspot.kit.tasks import end_tasks

_CONSOLE_HEADERS = (
    "Authorization",
    "Content-Type",
    "Connect-Protocol-Version",
    "Connect-Timeout-Ms",
    "X-Grpc-Web",
    "X-User-Agent",
    "Grpc-Timeout",
    REASON_HEADER,
)
_GRPC_WEB_HEADERS = ("Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin")
_ADMIN_SERVICE = Policy(Access.DELEGATED, throttle=ThrottleClass.EXEMPT)


class AdminTokens:
    """Authenticates the tokens of AdminService sessions. Only those of administrators grant access."""

    name = "adminToken"
    scheme: dict[str, Any] = {"type": "http", "scheme": "bearer", "description": "a token of AdminService's Login"}  # noqa: RUF012
    grants: tuple[Access, ...] = (Access.ADMIN, NOBODY)
    limited = False
    missing = "a bearer token of Login is required"

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def identify(self, context: RequestContext) -> Identity | None:
        """The participant whose token the request carries, or None without a token. Raises CredentialsError."""
        if context.authorization is None:
            return None
        try:
            session = self._authority.bearer(context.authorization.decode("latin-1"))
        except AdminError as error:
            raise CredentialsError(str(error)) from error
        access = Access.ADMIN if session.profile.type in ADMINISTRATORS else NOBODY
        return Identity(session.participant_id, access, expires_at=session.expires_ms / 1000)


class AdminService:
    """AdminService of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._authority = Authority(engine)
        self._engine = engine
        self._handlers = Handlers(engine, self._authority)
        self._dispatch = Dispatch(self._authority, self._handlers)
        self._charging = VolumeCharging(engine)
        self._charging_task: asyncio.Task[None] | None = None
        self.authenticators = engine_authenticators(engine.settings, self._authority)
        """Authenticators for the engine's HTTP routes: services and administrators."""

    async def start(self) -> None:
        """Create the first administrator if there is none, and start charging by volume tier if configured.

        Raises ValueError for an invalid OPENSPOT_ADMIN_ID or OPENSPOT_ADMIN_PASSWORD, EngineStoppedError.
        """
        await self._authority.ensure_first_administrator()
        self._charging_task = asyncio.create_task(self._charging.run())

    async def close(self) -> None:
        """Stop the hashing threads and the volume task."""
        self._authority.close()
        if self._charging_task is not None:
            await end_tasks(self._charging_task)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Add the service to a gRPC server."""
        add_admin_service(self._dispatch, server)

    def routers(self) -> list[Router]:
        """The routes of the service over HTTP, and those by which services look over participants."""
        looked_over = participant_router(self._engine, self._handlers.changes, self._handlers.reports)
        return [admin_service_router(self._dispatch), looked_over]


def admin_service_router(dispatch: Dispatch) -> Router:
    """AdminService over Connect JSON and gRPC-Web. Dispatch checks the access, not the HTTP layer."""
    router = Router()
    router.delegate("POST", f"{PATH}/{{method}}", _ADMIN_SERVICE, admin_application(dispatch))
    return router


def engine_authenticators(settings: EngineSettings, authority: Authority) -> tuple[Authenticator, ...]:
    """The authenticators for the engine's HTTP routes."""
    return ServiceKeys(settings.engine_api_key, settings.engine_api_secret), AdminTokens(authority)


def for_console(application: ASGIApp, origins: str) -> ASGIApp:
    """Allow pages of `origins`, separated by commas, to call `application`."""
    return with_cors(application, origins, headers=_CONSOLE_HEADERS, exposed=_GRPC_WEB_HEADERS)
