"""Every route of the REST edge, called with every kind of credential; the outcomes stand in `route_access.txt`.

The table is for people to check: it says what each caller gets. `ok` means that the request passes the guard. The
routes of operators have a table of their own, `operator_access.txt`, with a column for each role.
"""

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.audit import AuditRecord
from openspot.http.authentication import RevokedSessions, UserTokens
from openspot.http.errors import HttpError
from openspot.http.operator_store import OperatorStanding
from openspot.http.operators import OperatorRole
from openspot.http.policy import Scope
from openspot.http.routing import BodyKind, Route
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.app import EdgeServices, make_app
from openspot.rest_edge.identity.service import KeyServices
from openspot.up.services import PlatformSettings
from tests.support.asgi import ask
from tests.support.edge_operators import ENGINE_TOKEN, without_operators
from tests.support.http_routes import all_routes
from tests.support.signed_requests import KeysInMemory

TABLE = Path(__file__).with_name("route_access.txt")
SECRET = "test-secret-of-at-least-thirty-two-bytes"
COLUMNS = ("anonymous", "bad token", "user", "admin", *Scope, "bad key")
OPERATOR_TABLE = TABLE.with_name("operator_access.txt")
OPERATOR_COLUMNS = ("anonymous", "bad token", "user", "admin", "API key", "engine", *OperatorRole)


class Broken:
    """A service that fails whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise HttpError(503, "nothing is behind the routes")


class Parts:
    """A group of services, each of them broken."""

    def __getattr__(self, name: str) -> Any:
        return Broken()


class NoAudit:
    """Keeps no records."""

    async def reserve(self) -> bool:
        return True

    def record(self, record: AuditRecord) -> None:
        pass


class Caller:
    """Calls routes of an edge without anything behind it, with every kind of credential."""

    def __init__(self) -> None:
        self.keys = KeysInMemory()
        checker = self.keys.checker()
        revoked = RevokedSessions()
        revoked.add("ended", 2**33)
        broken: Any = Broken()
        given: dict[str, Any] = {name: Broken() for name in EdgeServices.__dataclass_fields__}
        given |= {
            "health": Health(), "tokens": UserTokens(SECRET, revoked), "throttles": {}, "audit": NoAudit(),
            "users": Parts(), "notifications": Parts(), "funds": Parts(), "products": Parts(),
            "keys": KeyServices(broken, ApiKeys(checker)), "idempotency": None,
            "operators": without_operators(broken, self.standing),
        }  # fmt: skip
        self.edge = make_app(PlatformSettings(rules="complete"), EdgeServices(**given))
        self.signers = {scope: self.keys.add(scope) for scope in Scope}
        self.everything = self.keys.add(*Scope)
        self.elsewhere = self.keys.add(*Scope, networks=("203.0.113.0/24",))
        self.revoked = self.keys.add(*Scope)
        del self.keys.rows[self.revoked.key_id]

    async def standing(self, user_id: str, session_id: str) -> OperatorStanding:
        """The user named like a role has it; nobody else is an operator."""
        roles = frozenset(role for role in OperatorRole if role == user_id)
        return OperatorStanding(roles, had_second_factor=True, has_ended=session_id == "ended")

    async def outcomes(self, route: Route) -> dict[str, str]:
        """What each kind of caller gets, by column."""
        path = re.sub(r"\{[^}]*\}", "x" * 24, route.path).replace("/markets/" + "x" * 24, "/markets/BTC-USD")
        body = b"{}" if route.body is BodyKind.JSON else b""

        async def status(headers: dict[str, str], body: bytes = body) -> str:
            content_type = {"content-type": "application/json"} if body else {}
            reply = await ask(self.edge, route.method, path, body, headers | content_type)
            return str(reply.status) if reply.status in (401, 403) else "ok"

        found = {"anonymous": await status({}), "user": await status(token()), "admin": await status(token("admin"))}
        bad_tokens = (token(life_s=-1), token(session_id="ended"), token(secret="x" * 40))
        found["bad token"] = one([await status(headers) for headers in bad_tokens])
        if route.policy.permission is not None:
            for operator_role in OperatorRole:
                found[operator_role] = await status(token(user_id=operator_role))
            found["engine"] = await status({"authorization": f"Bearer {ENGINE_TOKEN}"})
            found["API key"] = await status(self.everything.headers(route.method, path, body))
            return found
        for scope, signer in self.signers.items():
            found[scope] = await status(signer.headers(route.method, path, body))
        found["bad key"] = one([await status(*bad) for bad in self.bad_keys(route.method, path, body)])
        return found

    def bad_keys(self, method: str, path: str, body: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
        """Requests of keys with every scope, each with one fault."""
        signer, now_ms = self.everything, int(time.time() * 1000)
        good = signer.headers(method, path, body, now_ms - 1)
        yield self.revoked.headers(method, path, body), body
        yield self.elsewhere.headers(method, path, body), body
        yield signer.headers(method, path, body, now_ms - 5_500), body
        yield signer.headers(method, path, body, now_ms + 60_000), body
        yield signer.headers("PUT" if method == "PATCH" else "PATCH", path, body), body
        yield signer.headers(method, path + "?limit=1", body), body
        yield signer.headers(method, path, body + b" "), body
        yield good | {"x-api-timestamp": str(now_ms)}, body
        yield good | {"x-api-signature": "00" * 32}, body
        yield {name: value for name, value in good.items() if name != "x-api-signature"}, body
        yield signer.headers(method, path, body) | {"x-api-key": "A" * 24}, body
        yield good | {"x-api-key": self.signers[Scope.READ].key_id}, body

    async def repeated(self, route: Route) -> tuple[int, int]:
        """Statuses of one signed request, sent twice."""
        path = re.sub(r"\{[^}]*\}", "x" * 24, route.path)
        body = b"{}" if route.body is BodyKind.JSON else b""
        headers = self.everything.headers(route.method, path, body) | {"content-type": "application/json"}
        first, second = [await ask(self.edge, route.method, path, body, headers) for _ in range(2)]
        return first.status, second.status


def token(
    role: str = "user", life_s: int = 60, session_id: str = "", secret: str = SECRET, user_id: str = "u1"
) -> dict[str, str]:
    """The headers of a user's request."""
    claims = Claims(user_id, role, int(time.time()) + life_s, session_id=session_id)
    return {"authorization": f"Bearer {sign(claims, secret, 1)}"}


def one(values: list[str]) -> str:
    """The value that all are."""
    assert len(set(values)) == 1, values
    return values[0]


def line(route: Route, outcomes: dict[str, str], columns: Sequence[str] = COLUMNS) -> str:
    """The row of a route."""
    return line_of(f"{route.method} {route.path.removeprefix('/api/v1')}", {name: outcomes[name] for name in columns})


def line_of(name: str, values: dict[str, str]) -> str:
    """A row, with columns that are wide enough for their heads."""
    return f"{name:<52}" + "".join(f"{value:>{max(11, len(column) + 2)}}" for column, value in values.items())


@pytest.mark.spec("A5-02", "A5-15", "B4.1-01", "B4.1-38", "A5-17")
async def test_every_caller_gets_what_the_table_says() -> None:
    caller = Caller()
    head = f"{'route':<52}" + "".join(f"{column:>11}" for column in COLUMNS)
    rows = [line(route, await caller.outcomes(route)) for route in routes(of_operators=False)]
    assert TABLE.read_text("utf-8").splitlines() == [head, *rows]


async def test_every_operator_gets_what_the_table_says() -> None:
    caller = Caller()
    head = line_of("route", {column: column for column in OPERATOR_COLUMNS})
    found = [(route, await caller.outcomes(route)) for route in routes(of_operators=True)]
    assert OPERATOR_TABLE.read_text("utf-8").splitlines() == [
        head, *(line(route, outcomes, OPERATOR_COLUMNS) for route, outcomes in found),
    ]  # fmt: skip


def routes(*, of_operators: bool) -> list[Route]:
    """The edge's routes for operators, or all others."""
    return [
        route
        for service, route in all_routes()
        if service == "rest-edge" and (route.policy.permission is not None) == of_operators
    ]


async def test_a_signed_request_is_taken_once_on_every_route() -> None:
    caller = Caller()
    for route in routes(of_operators=False):
        if not route.policy.is_open:
            first, second = await caller.repeated(route)
            assert second == 401, f"{route.method} {route.path}"
            assert first != 401, f"{route.method} {route.path}"
