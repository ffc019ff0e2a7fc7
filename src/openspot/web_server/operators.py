"""Who may use the web server's own routes: operators of either kind, with the permission of the route.

The engine says whose its tokens are, the REST edge those of users. The address of the operator is checked here, where
it is known.
"""

import time
from collections import OrderedDict
from http import HTTPStatus
from typing import NamedTuple

import aiohttp
import msgspec
from starlette.requests import Request

from openspot.engine_client.administrators import EngineSessions, EngineSilentError
from openspot.engine_client.operators import names_the_engine
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.operators import Operator, OperatorRole, engine_operator
from openspot.http.policy import Permission
from openspot.web_server.bounded_body import whole_body

TRUSTED_S = 900.0
"""While engine or edge is silent, a session that it confirmed this recently may still read the health page."""
TOKENS_MAX = 1000
NOT_LOGGED_IN = "log in as an operator, or as a participant of type SUPER_ADMIN or SYSTEM"


class SilentError(Exception):
    """Nobody says whose session it is: the engine, or the REST edge, does not reply."""


class Refused(NamedTuple):
    """Why somebody may not use a route."""

    status: HTTPStatus
    message: str


class _Session(msgspec.Struct, rename="camel"):
    operator: str
    roles: frozenset[str]
    permissions: frozenset[str]


class _Refusal(msgspec.Struct):
    message: str = ""


class UserSessions:
    """Asks the REST edge whose the tokens of users are."""

    def __init__(self, client: aiohttp.ClientSession, rest_url: str, timeout_s: float) -> None:
        """The edge counts as silent after `timeout_s`."""
        self._client = client
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._url = f"{rest_url}/api/v1/operator/session"

    async def find(self, token: str, address: str) -> Operator | Refused:
        """The operator whose token it is, who calls from `address`. Raises SilentError."""
        headers = {"authorization": f"Bearer {token}", "x-forwarded-for": address}
        try:
            async with self._client.get(
                self._url, headers=headers, timeout=self._timeout, allow_redirects=False
            ) as response:
                content = await whole_body(response)
                if response.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                    return Refused(HTTPStatus(response.status), msgspec.json.decode(content, type=_Refusal).message)
                response.raise_for_status()
                found = msgspec.json.decode(content, type=_Session)
        except (aiohttp.ClientError, TimeoutError, ValueError, msgspec.MsgspecError) as error:
            raise SilentError("the REST edge does not respond") from error
        known_roles, known = frozenset(OperatorRole), frozenset(Permission)
        return Operator(
            found.operator,
            frozenset(OperatorRole(role) for role in found.roles & known_roles),
            frozenset(Permission(permission) for permission in found.permissions & known),
        )


class Operators:
    """Checks the tokens of operators."""

    def __init__(self, engine: EngineSessions, users: UserSessions, networks: AllowedNetworks) -> None:
        """Operators may call from `networks` alone."""
        self._engine = engine
        self._users = users
        self._networks = networks
        self._known: OrderedDict[tuple[str, Permission], float] = OrderedDict()

    async def may_look(self, request: Request, permission: Permission) -> Refused | None:
        """Why the caller may not read what needs the permission; None if it may."""
        token, now = _token(request), time.monotonic()
        try:
            found = await self.acting(request, permission)
        except SilentError as error:
            if now - self._known.get((token, permission), -TRUSTED_S) < TRUSTED_S:
                return None
            return Refused(HTTPStatus.UNAUTHORIZED, f"{NOT_LOGGED_IN} ({error})")
        self._known.pop((token, permission), None)
        if isinstance(found, Refused):
            return found
        self._known[token, permission] = now
        if len(self._known) > TOKENS_MAX:
            self._known.popitem(last=False)
        return None

    async def acting(self, request: Request, permission: Permission) -> Operator | Refused:
        """The operator who calls, if it has the permission. Raises SilentError."""
        token, address = _token(request), address_of(request)
        found = await (self._of_engine(token) if names_the_engine(token) else self._of_user(token, address))
        if isinstance(found, Refused):
            return found
        if not self._networks.admit(address):
            return Refused(HTTPStatus.FORBIDDEN, f"operators may not call from {address}")
        if permission not in found.permissions:
            return Refused(HTTPStatus.FORBIDDEN, f"this needs the permission {permission}")
        return found

    async def _of_engine(self, token: str) -> Operator | Refused:
        try:
            session = await self._engine.find(token)
        except EngineSilentError as error:
            raise SilentError(str(error)) from error
        if session is None or not session.is_administrator:
            return Refused(HTTPStatus.UNAUTHORIZED, NOT_LOGGED_IN)
        return engine_operator(session.participant_id)

    async def _of_user(self, token: str, address: str) -> Operator | Refused:
        return await self._users.find(token, address) if token else Refused(HTTPStatus.UNAUTHORIZED, NOT_LOGGED_IN)


def address_of(request: Request) -> str:
    """The address that the request came from; empty if nobody knows it."""
    return request.client.host if request.client else ""


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""
