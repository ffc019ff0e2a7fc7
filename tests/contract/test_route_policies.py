"""Every HTTP route of every service, walked: what its policy says holds, and no status comes that is not documented."""

from typing import Any

import pytest
from starlette.responses import Response

from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.app import make_http_app
from openspot.http.audit import LogAudit
from openspot.http.authentication import ServiceKeys, UserTokens
from openspot.http.policy import Access, Policy, Scope, ThrottleClass
from openspot.http.routing import BodyKind, Route, Router, RouteTable
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from openspot.positions import app as positions
from openspot.rest_edge.app import EdgeServices, make_app
from openspot.rest_edge.common.payload_digest import payload_digest
from openspot.rest_edge.funds.kyc.service import KycService
from openspot.rest_edge.identity.service import KeyServices
from openspot.subscriptions import app as subscriptions
from openspot.up.services import PlatformSettings
from tests.support.asgi import ask
from tests.support.edge_operators import ENGINE_TOKEN, without_operators
from tests.support.http_routes import all_routes, documents, routers

NOT_AUDITED = {
    "POST /api/v1/orders/estimate",
    "POST /api/v1/admin/listings/checks",
    "POST /api/v1/operator/markets/checks",
    "POST /api/v1/operator/downloads",
    "POST /tries",
}
"""They change nothing. An export by a link stands in the trail, and so does a try of an alert, in that of the edge."""
UNLIMITED_ONLY = {
    "POST /api/v1/auth/logout",
    "POST /api/v1/api-keys",
    "DELETE /api/v1/api-keys/{id}",
    "POST /api/v1/api-keys/{id}/rotate",
    "PUT /api/v1/settings/notifications/{event}",
    "POST /api/v1/users/me/withdrawal-addresses",
    "DELETE /api/v1/users/me/withdrawal-addresses/{addressId}",
    "POST /api/v1/kyc/basic-info",
    "POST /api/v1/kyc/start",
    "POST /api/pms/positions/{participantId}/{symbol}/close",
    "POST /api/pms/transfers/deposit",
    "POST /api/pms/transfers/withdrawal",
    "POST /api/pms/transfers/{id}/cancel",
    "POST /api/pms/fifo/transactions",
    "POST /api/pms/fifo/transactions/import",
}
"""No API key may end a session, change keys, turn messages off, choose where money goes, or speak for the person. The
position service takes no API keys at all."""
WITHDRAWING = {
    "POST /api/v1/accounts/withdraw/crypto",
    "POST /api/v1/accounts/withdraw/fiat",
    "DELETE /api/v1/accounts/withdrawals/{withdrawalId}",
}
CANCELLING = {"POST /api/v1/orders/cancel-all-after"}
"""What cancels without being a DELETE."""
SAVED_ADDRESSES = "GET /api/v1/users/me/withdrawal-addresses"
PERSONAL = ("/api/v1/users/me", "/api/v1/kyc/documents", "/api/v1/push-subscriptions", "/api/v1/layouts")
"""Passwords, sessions, their devices and screens, and personal data: no API key may see or change them, but it may list
the saved addresses."""


ALL = [pytest.param(route, id=f"{service}: {route.method} {route.path}") for service, route in all_routes()]


@pytest.mark.parametrize("route", ALL)
def test_what_changes_something_is_audited(route: Route) -> None:
    name = f"{route.method} {route.path}"
    changes = route.method != "GET" and route.policy.access is not Access.DELEGATED
    assert route.policy.audit == (changes and name not in NOT_AUDITED)


@pytest.mark.parametrize("route", ALL)
def test_a_users_route_names_the_scope_that_a_key_needs(route: Route) -> None:
    if not route.policy.access & Access.USER:
        return
    wanted = {
        "GET": {Scope.READ},
        "DELETE": {Scope.CANCEL},
        "POST": {Scope.TRADE, Scope.READ},
        "PATCH": {Scope.TRADE},
        "PUT": {Scope.TRADE},
    }.get(route.method, set())
    name = f"{route.method} {route.path}"
    if name in UNLIMITED_ONLY or (route.path.startswith(PERSONAL) and name != SAVED_ADDRESSES):
        assert route.policy.scope is None
    elif name in WITHDRAWING:
        assert route.policy.scope is Scope.WITHDRAW
    elif name in CANCELLING:
        assert route.policy.scope is Scope.CANCEL
    else:
        assert route.policy.scope in wanted


def test_only_health_and_delegated_routes_are_exempt_from_the_throttle() -> None:
    exempt = {route.path for _, route in all_routes() if route.policy.throttle is ThrottleClass.EXEMPT}
    assert all(path.rpartition("/")[2] in ("health", "live", "ready", "metrics", "{method}") for path in exempt), exempt


def test_no_route_hides_another() -> None:
    for service, known in routers().items():
        table = RouteTable([route for router in known for route in router.routes])
        for router in known:
            for route in router.routes:
                found, _ = table.find(route.method, route.path.replace("{", "x").replace("}", "x"))
                assert found is route, f"{service}: {route.method} {route.path}"


def test_two_routes_of_one_method_and_path_are_refused() -> None:
    [first, *_] = [route for _, route in all_routes()]
    with pytest.raises(ValueError, match="declared twice"):
        RouteTable([first, first])


# The edge, without anything behind it


SECRET = "test-secret-of-at-least-thirty-two-bytes"


class Broken:
    """A service that fails whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("nothing is behind the routes")


class Parts:
    """A group of services, each of them broken but those that are given."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        return Broken()


@pytest.fixture(scope="module")
def edge() -> Any:
    return edge_with(PlatformSettings(body_bytes_max=1024, rules="complete"))


def edge_with(settings: Any) -> Any:
    nothing: Any = Broken()
    groups: Any = Parts()
    funds: Any = Parts(kyc=KycService(nothing, None, SECRET, (0, 0, 0), lambda: 0), fees=groups)
    services = EdgeServices(
        users=groups, keys=KeyServices(nothing, ApiKeys(nothing)), notifications=groups, products=groups,
        orders=nothing, cancel_timers=nothing, order_lists=nothing, order_triggers=nothing, markets=nothing,
        margin=nothing, alerts=nothing, watchlists=nothing, drawings=nothing, layouts=nothing, devices=nothing,
        system=nothing, trading=nothing, people=groups, operators=without_operators(nothing),
        health=Health(), funds=funds,
        tokens=UserTokens(SECRET), throttles={}, audit=LogAudit(), idempotency=nothing,
    )  # fmt: skip
    return make_app(settings, services)


def position_service_with(settings: Any) -> Any:
    nothing: Any = Broken()
    parts: Any = Parts()
    services = positions.Services(
        parts, parts, parts, parts, parts, Health(), UserTokens(SECRET), {}, LogAudit(), idempotency=nothing
    )
    return positions.make_app(settings, services)


def subscription_service_with(settings: Any) -> Any:
    nothing: Any = Broken()
    return subscriptions.make_app(
        settings,
        subscriptions.SubscriptionServices(nothing, Health(), UserTokens(SECRET), {}, LogAudit(), idempotency=nothing),
    )


@pytest.mark.parametrize(
    ("service_with", "path"),
    [
        (edge_with, "/api/v1/orders"),
        (position_service_with, "/api/pms/positions"),
        (subscription_service_with, "/api/subscription"),
    ],
)
async def test_pages_of_allowed_origins_may_repeat_requests_safely(service_with: Any, path: str) -> None:
    credential = {"engine_api_key": "key", "engine_api_secret": "secret"}
    app = service_with(PlatformSettings(cors_origins="http://good.example", **credential))
    headers = {
        "origin": "http://good.example", "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, idempotency-key",
    }  # fmt: skip
    assert (await ask(app, "OPTIONS", path, headers=headers)).status == 200
    shown = await ask(app, "GET", path, headers={"origin": "http://good.example"})
    assert shown.header("access-control-allow-origin") == "http://good.example"
    assert "Idempotency-Hit" in (shown.header("access-control-expose-headers") or "")
    stranger = await ask(app, "GET", path, headers={"origin": "http://bad.example"})
    assert stranger.header("access-control-allow-origin") is None


BAD_BODIES = (
    (b"{", "application/json", 400),
    (b"[]", "application/json", 400),
    (b'{"a": 1, "a": 1}', "application/json", 400),
    (b'{"noSuchProperty": 1}', "application/json", 400),
    (b"{}", "text/plain", 415),
    (b" " * 2000, "application/json", 413),
)


@pytest.mark.parametrize("route", [case for case in ALL if case.id.startswith("rest-edge")])
async def test_every_refusal_of_the_pipeline_is_documented(edge: Any, route: Route) -> None:
    document = documents()["rest-edge"]
    documented = set(document["paths"][route.path][route.method.lower()]["responses"])
    path = route.path.replace("{", "").replace("}", "").replace("symbol", "BTC-USD").replace("asset", "BTC")
    path = path.replace("/notifications/event", "/notifications/order_filled")
    role = "user" if route.policy.is_open or route.policy.access & Access.USER else "admin"
    token = ENGINE_TOKEN if route.policy.permission else sign(Claims("u1", role, 2**33), SECRET, 1)
    bearer = {"authorization": f"Bearer {token}"}
    seen = {(await ask(edge, route.method, path)).status}
    if not route.policy.is_open:
        assert seen == {401}
    for body, content_type, status in BAD_BODIES:
        # The webhook of verification looks at the signature before the body.
        signed = bearer | {"x-payload-digest": payload_digest(SECRET, body)}
        reply = await ask(edge, route.method, path, body, signed | {"content-type": content_type})
        if route.body is BodyKind.JSON:
            assert reply.status == status, body
            assert reply.json["statusCode"] == status
        seen.add(reply.status)
    for query in ("limit=0", "limit=x", "cursor=%00", "depth=0", "symbol=btc", "status=x", "orderIds=%20"):
        seen.add((await ask(edge, route.method, path, headers=bearer, query=query)).status)
    repeated = [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")]
    seen.add((await ask(edge, route.method, path, raw_headers=repeated)).status)
    # 500 is the service behind, which is broken here.
    assert {str(status) for status in seen} - {"500"} <= documented


async def test_an_administrators_route_refuses_users_and_services(edge: Any) -> None:
    router = Router()

    @router.get("/secret", Policy(Access.ADMIN), summary="For administrators")
    async def secret() -> Response:
        return Response(b"secret")

    kinds = [UserTokens(SECRET), ServiceKeys("key", "secret")]
    app = make_http_app([router], title="Test", health=Health(), authenticators=kinds)
    keys = {"x-api-key": "key", "x-api-secret": "secret", "x-participant-type": "SYSTEM"}
    for role, status in (("user", 403), ("admin", 200)):
        token = sign(Claims("u1", role, 2**33), SECRET, 1)
        assert (await ask(app, "GET", "/secret", headers={"authorization": f"Bearer {token}"})).status == status
    assert (await ask(app, "GET", "/secret", headers=keys)).status == 403
    assert (await ask(app, "GET", "/secret")).status == 401
