"""Who may ask for what: tokens, the guard, and the shape of every refusal."""

import asyncio
import math
import time
from typing import Any

import aiohttp
import jwt
import pytest

from openspot.http import app
from openspot.http.errors import ErrorBody
from openspot.kit.settings import Settings
from openspot.rest_edge.orders.service import OrderService
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually, stretched

SECRET = "test-secret-of-at-least-thirty-two-bytes"


def token_of(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    payload = {"sub": "u1", "role": "user", "exp": int(time.time()) + 3600} | claims
    return jwt.encode({k: v for k, v in payload.items() if v is not None}, secret, algorithm)


PUBLIC = {
    "POST /api/v1/auth/login", "POST /api/v1/auth/register", "POST /api/v1/auth/refresh", "POST /api/v1/auth/login/mfa",
    "POST /api/v1/auth/forgot-password", "POST /api/v1/auth/reset-password", "POST /api/v1/auth/verify-email",
    "GET /api/v1/downloads/{ticket}", "GET /api/v1/markets", "GET /api/v1/markets/asset-prices",
    "GET /api/v1/markets/tickers", "GET /api/v1/markets/{symbol}", "GET /api/v1/markets/{symbol}/ticker",
    "GET /api/v1/markets/{symbol}/orderbook", "GET /api/v1/markets/{symbol}/trades",
    "GET /api/v1/markets/{symbol}/agg-trades",
    "GET /api/v1/markets/{symbol}/candles", "GET /api/v1/markets/{symbol}/fair-price",
    "GET /api/v1/health", "GET /api/v1/health/live",
    "GET /api/v1/health/ready", "GET /api/v1/metrics",
    "GET /api/v1/conversions/pairs", "GET /api/v1/staking/products", "GET /api/v1/staking/products/{id}",
    "GET /api/v1/payments/routes", "GET /api/v1/payments/routes/{routeId}", "POST /api/v1/payments/callback",
    "GET /api/v1/payments/development/{id}", "GET /api/v1/fees/network/all", "GET /api/v1/fees/payment",
    "GET /api/v1/settings/countries", "GET /api/v1/settings/provinces", "GET /api/v1/settings/sso",
    "GET /api/v1/settings/system", "GET /api/v1/settings/trading", "POST /api/v1/kyc/webhook",
    "GET /api/v1/reserves", "POST /api/v1/push-subscriptions/renewal",
}  # fmt: skip
"""What may be called without a token. Written down once more: a policy that changes by mistake is seen here."""
SIGNED = {"POST /api/v1/kyc/webhook"}
"""Public routes that look at the body's signature first."""


@pytest.mark.proof
@pytest.mark.spec("A5-02", "B4.1-01")
async def test_every_route_that_is_not_public_needs_a_token(edge: RestClient) -> None:
    document = (await edge("GET", "/openapi.json", prefix="")).body
    edge.token = None
    seen = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            seen.add(name := f"{method.upper()} {path}")
            reply = await edge(method.upper(), path.replace("{symbol}", "BTC-USD"), prefix="")
            assert (reply.status == 401) == (name not in PUBLIC or name in SIGNED), name
            assert (operation["security"] == []) == (name in PUBLIC), name
            if name in SIGNED:
                assert reply.code == "SIGNATURE_INVALID"
            elif reply.status == 401:
                assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert seen > PUBLIC


async def test_two_authorization_headers_are_refused(edge: RestClient, settings: Settings) -> None:
    reader, writer = await asyncio.open_connection(settings.host, settings.rest_port)
    for path in ("/api/v1/orders", "/api/v1/markets"):
        bearer = f"Authorization: Bearer {edge.token}\r\n"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{bearer}Authorization: Bearer x\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"}"), stretched(10))
        assert answer.startswith(b"HTTP/1.1 400 "), path
        assert b'"code":"REPEATED_HEADER"' in answer
    writer.close()


BAD_TOKENS = (
    (None, "a bearer token is required or an API key with a signature"),
    ("Bearer", "the Authorization header must be: Bearer <token>"),
    ("Basic dTpw", "the Authorization header must be: Bearer <token>"),
    ("Bearer not.a.token", "the token is not valid"),
    (f"Bearer {token_of(secret='another-secret-of-thirty-two-bytes!!')}", "the token is not valid"),
    (f"Bearer {token_of(secret=SECRET + SECRET, algorithm='HS384')}", "the token is not valid"),
    (f"Bearer {token_of(secret='', algorithm='none')}", "the token is not valid"),
    (f"Bearer {token_of(exp=int(time.time()) - 1)}", "the token has expired"),
    (f"Bearer {token_of(exp=None)}", "the token is not valid"),
    (f"Bearer {token_of(sub=None)}", "the token is not valid"),
    (f"Bearer {token_of(sub='a.b')}", "the claim sub is not a user id"),
    (f"Bearer {token_of(role='root')}", "the claim role is not known"),
    (f"Bearer {token_of(typ='refresh')}", "the token is not an access token"),
    (f"Bearer {token_of(nbf=int(time.time()) + 10**6)}", "the token is not valid yet"),
    (f"Bearer {token_of(nbf='soon')}", "the claim nbf is not a whole number of seconds"),
    (f"Bearer {token_of(exp=10**400)}", "the claim exp is not a whole number of seconds"),
    (f"Bearer {'x' * 5000}", "the token is too long"),
)


@pytest.mark.spec("A5-01", "A5-03", "A5-04")
async def test_a_token_that_proves_nothing_is_refused(edge: RestClient) -> None:
    edge.token = None
    for header, reason in BAD_TOKENS:
        reply = await edge("GET", "/orders", headers={"Authorization": header} if header is not None else {})
        assert (reply.status, reply.code, reply.message) == (401, "UNAUTHENTICATED", reason), header


@pytest.mark.spec("A5-01", "A5-05")
async def test_the_secret_of_the_environment_signs(edge: RestClient, settings: Settings) -> None:
    assert settings.jwt_secret == SECRET
    reply = await edge("GET", "/orders", headers={"Authorization": f"bearer {token_of()}"})
    assert reply.status == 200


async def test_a_token_that_was_good_is_refused_from_its_expiry_on(edge: RestClient) -> None:
    edge.as_user("u1", life_s=math.ceil(stretched(2)))
    assert (await edge("GET", "/orders")).status == 200
    expires = jwt.decode(edge.token or "", options={"verify_signature": False})["exp"]
    while time.time() < expires:
        status = (await edge("GET", "/orders")).status
        assert status == 200 or time.time() >= expires
    assert (await edge("GET", "/orders")).message == "the token has expired"


REFUSALS = (
    ("GET", "/orders", 404, "ROUTE_NOT_FOUND"),
    ("GET", "/api/v1/nothing", 404, "ROUTE_NOT_FOUND"),
    ("GET", "/api/v1/orders/a/b", 404, "ROUTE_NOT_FOUND"),
    ("GET", "/api/v1/orders/", 404, "ROUTE_NOT_FOUND"),
    ("GET", "/", 404, "ROUTE_NOT_FOUND"),
    ("PUT", "/api/v1/orders", 405, "METHOD_NOT_ALLOWED"),
    ("POST", "/api/v1/markets", 405, "METHOD_NOT_ALLOWED"),
    ("DELETE", "/api/v1/markets/BTC-USD", 405, "METHOD_NOT_ALLOWED"),
    ("PATCH", "/api/v1/markets/BTC-USD/ticker", 405, "METHOD_NOT_ALLOWED"),
    ("OPTIONS", "/api/v1/orders", 405, "METHOD_NOT_ALLOWED"),
    ("GET", "/api/v1/auth/login", 405, "METHOD_NOT_ALLOWED"),
    ("GET", "/api/v1/markets/btc", 400, "VALIDATION_FAILED"),
    ("GET", "/api/v1/markets/BTC-USD", 503, "SERVICE_UNAVAILABLE"),
    ("GET", "/api/v1/orders/" + "x" * 65, 400, "VALIDATION_FAILED"),
    ("GET", "/api/v1/orders/%00", 400, "VALIDATION_FAILED"),
    ("GET", "/api/v1/orders?clientOrderId=%00", 400, "VALIDATION_FAILED"),
    ("GET", "/api/v1/orders/%FF", 400, "VALIDATION_FAILED"),
    ("POST", "/api/v1/%00%FF", 404, "ROUTE_NOT_FOUND"),
)


@pytest.mark.spec("A7-19", "A9-01", "B4.1-21")
async def test_every_refusal_has_the_error_shape(own_edge: RestClient) -> None:
    for method, path, status, code in REFUSALS:
        reply = await own_edge(method, path, prefix="")
        assert (reply.status, reply.code) == (status, code), (method, path, reply.body)
        error = ErrorBody.model_validate(reply.body)
        assert error.status_code == status
        assert error.request_id == reply.headers["X-Request-Id"]
        assert ("Allow" in reply.headers) == (status == 405)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/orders", "DELETE, GET, HEAD, POST"),
        ("/orders/history", "DELETE, GET, HEAD"),
        ("/orders/estimate", "DELETE, GET, HEAD, POST"),
        ("/orders/abc", "DELETE, GET, HEAD"),
        ("/auth/login", "POST"),
        ("/markets/BTC-USD", "GET, HEAD"),
    ],
)
async def test_a_refused_method_is_told_every_method_of_the_path(edge: RestClient, path: str, allowed: str) -> None:
    reply = await edge("PATCH", path)
    assert (reply.status, reply.headers["Allow"]) == (405, allowed)


async def test_head_is_answered_as_get_without_a_body(edge: RestClient, engine: FakeEngineHttp) -> None:
    for path in ("/markets", "/orders", "/health"):
        get, head = await edge("GET", path), await edge("HEAD", path)
        assert (head.status, head.headers["Content-Length"]) == (get.status, get.headers["Content-Length"])
        assert not head.body
    edge.token = None
    assert (await edge("HEAD", "/orders")).status == 401


CONTENT_TYPES = (
    ("application/json", 201),
    ("application/json; charset=utf-8", 201),
    ("Application/JSON", 201),
    ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415),
    ("multipart/form-data; boundary=x", 415),
    ("", 415),
)


async def test_only_json_is_taken(edge: RestClient, router: FakeRouter) -> None:
    body = b'{"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "1"}'
    for content_type, status in CONTENT_TYPES:
        reply = await edge("POST", "/orders", raw=body, headers={"Content-Type": content_type})
        assert reply.status == status, content_type
        if status == 415:
            ErrorBody.model_validate(reply.body)


async def test_a_body_above_the_limit_is_refused(edge: RestClient) -> None:
    for size in (65_537, 200_000, 1_000_000):
        reply = await edge("POST", "/orders", raw=b" " * size)
        assert (reply.status, reply.code) == (413, "PAYLOAD_TOO_LARGE")
        assert reply.message == "the body must be at most 65536 bytes long"


async def test_a_chunked_body_above_the_limit_is_refused(edge: RestClient, settings: Settings) -> None:
    async def chunks() -> Any:
        for _ in range(8):
            yield b" " * 10_000

    headers = {"Authorization": f"Bearer {edge.token}", "Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{settings.rest_url}/api/v1/orders", data=chunks(), headers=headers) as response,
    ):
        assert response.status == 413
        assert (await response.json())["code"] == "PAYLOAD_TOO_LARGE"


async def test_a_body_that_does_not_arrive_is_not_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_S_MAX", 0.2)
    async with running_edge(settings) as edge:
        token = edge.as_user("u1")
        reader, writer = await asyncio.open_connection(settings.host, settings.rest_port)
        head = f"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{{".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"}"), stretched(10))
        writer.close()
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"BODY_TIMEOUT"' in answer


async def test_a_fault_of_the_edge_shows_nothing_of_itself(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, router: FakeRouter
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("secret detail")

    for name in ("place", "list_of"):
        monkeypatch.setattr(OrderService, name, broken)
    body = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "1"}
    async with running_edge(settings) as edge:
        edge.as_user("u1")
        for reply in (await edge("GET", "/orders"), await edge("POST", "/orders", body)):
            assert (reply.status, reply.code, reply.message) == (500, "INTERNAL_ERROR", "internal error")
            assert "secret detail" not in str(reply.body)
            ErrorBody.model_validate(reply.body)


async def test_answers_carry_security_headers_and_no_cors(edge: RestClient, engine: FakeEngineHttp) -> None:
    for path in ("/markets", "/nothing"):
        headers = (await edge("GET", path, headers={"Origin": "http://evil.example"})).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers
        assert "Server" not in headers


async def test_cors_is_for_the_origins_that_are_set(settings: Settings) -> None:
    origins = {"cors_origins": "http://good.example, http://also.example"}
    async with running_edge(settings.model_copy(update=origins)) as edge:
        good = await edge("GET", "/orders", headers={"Origin": "http://good.example"})
        assert good.status == 401
        assert good.headers["Access-Control-Allow-Origin"] == "http://good.example"
        evil = await edge("GET", "/nothing", headers={"Origin": "http://evil.example"})
        assert "Access-Control-Allow-Origin" not in evil.headers


async def test_a_client_address_is_not_taken_from_a_header_unless_its_proxy_is_trusted(
    settings: Settings, pool: Any
) -> None:
    for trusted, expected in (("", "127.0.0.1"), ("127.0.0.1", "203.0.113.9")):
        await pool.execute("DELETE FROM audit_records")
        async with running_edge(settings.model_copy(update={"trusted_proxies": trusted})) as edge:
            await edge("POST", "/auth/logout", headers={"X-Forwarded-For": "203.0.113.9"})
            address = await eventually(lambda: pool.fetchval("SELECT address FROM audit_records"))
        assert address == expected


async def test_too_many_requests_at_a_time_are_refused(settings: Settings, router: FakeRouter) -> None:
    body = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "1"}
    # The two that are under way wait for as long as it takes to refuse the others.
    changed = {"rest_requests_max": 2, "request_timeout_s": stretched(1.0)}
    async with running_edge(settings.model_copy(update=changed)) as edge:
        edge.as_user("u1")
        router.silent = True
        replies = await asyncio.gather(*(edge("POST", "/orders", body) for _ in range(6)))
        assert sorted(reply.status for reply in replies) == [503, 503, 503, 503, 504, 504]
        assert {reply.code for reply in replies if reply.status == 503} == {"OVERLOADED"}
