"""AdminService over HTTP only: Connect JSON, gRPC-Web, content types and origins (facts B4.4-33, B4.4-34)."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.contracts.gen.exchange.v1.admin_connect import AdminServiceClient
from openspot.kit.settings import Settings
from tests.support.admin_client import PATH, AdminClient
from tests.support.engine_client import EngineClient, engine_settings, running_engine

CONSOLE = "http://127.0.0.1:3000"


@pytest.fixture
async def admin(engine: EngineClient) -> AdminClient:
    return await AdminClient(engine, "connect").login()


@pytest.mark.spec("B4.4-33", "B4.4-34", "B4.4-35")
async def test_the_consoles_calls_are_plain_json(engine: EngineClient) -> None:
    plain = {"Content-Type": "application/json", "Accept": "application/json"}
    body = json.dumps({"participantId": "admin", "password": "first-password"})
    async with engine.http.post(f"{engine.url}{PATH}/Login", data=body, headers=plain) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        session = await response.json()
    headers = plain | {"Authorization": f"Bearer {session['token']}"}
    async with engine.http.post(f"{engine.url}{PATH}/ListParticipants", data="{}", headers=headers) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        answer = await response.json()
    assert [row["participantId"] for row in answer["participants"]] == ["house:fees", "admin"]
    async with engine.http.post(f"{engine.url}{PATH}/ListParticipants", data="{}", headers=plain) as response:
        assert response.status == 401
        assert (await response.json())["code"] == "unauthenticated"


@pytest.mark.spec("B4.4-32")
async def test_every_method_of_the_document_and_its_additions_are_served(admin: AdminClient) -> None:
    methods = [
        *("Login", "ValidateToken", "GetExchangeStats", "ListParticipants", "GetParticipant", "CreateParticipant"),
        *("ActivateParticipant", "DeactivateParticipant", "UpdateStpMode", "ListOrders", "CancelOrderAdmin"),
        *("ListTrades", "ListBalances", "AdjustBalance", "ListRiskMetrics", "ListSymbols"),
    ]
    assert len(methods) == 16
    # These two are not in Document B. After the second there is no session.
    methods += ["SetMarketPhase", "Logout"]
    for method in methods:
        assert (await admin.post(method, {}))[0] == 200, method
    assert {method.name for method in pb.DESCRIPTOR.services_by_name["AdminService"].methods} == set(methods)
    for method in ("NoSuchMethod", "login", ""):
        assert (await admin.post(method, {}))[0] == 404, method


_CONTENT_TYPES = (
    ("application/json; charset=utf-8", 200),
    ("Application/JSON", 200),
    ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415),
    ("application/xml", 415),
    ("application/connect+json", 415),
    ("application/grpc", 415),  # its trailers need HTTP/2: port 9090
    ("application/grpc+proto", 415),
    ("application/grpc-web-text", 415),
    ("json", 415),
    ("", 415),
)


@pytest.mark.spec("A7-16")
async def test_other_content_types_get_415(admin: AdminClient) -> None:
    for content_type, status in _CONTENT_TYPES:
        answered, body = await admin.post("ListSymbols", {}, {"Content-Type": content_type})
        assert answered == status, (content_type, body)
        if status == 415:
            assert body["message"].startswith("Content-Type must be one of application/json")


_UNREADABLE = (
    (b"", "the body is not a JSON object"),
    (b"[]", "the body is not a JSON object"),
    (b"null", "the body is not a JSON object"),
    (b'"text"', "the body is not a JSON object"),
    (b"{", "the body is not a JSON object"),
    (b"\xff\xfe", "the body is not a JSON object"),
    (b'{"limit": 1}{"limit": 1}', "the body is not a JSON object"),
    (b'{"limit": 1, "limit": 2}', "the body is not a JSON object: a property is given twice"),
    (b'{"participantId": "a", "participant_id": "b"}', "participantId is given under both of its names"),
    (b'{"limit": NaN}', "the body is not a JSON object: NaN is no number"),
    (b"[" * 60_000, "the body is not a JSON object"),
    (b'{"participantID": "alice"}', "property participantID should not exist"),
    (b'{"password": "x"}', "property password should not exist"),
    (b'{"participantId": true}', "participantId must be a text"),
    (b'{"participantId": ["alice"]}', "participantId must be a text"),
    (b'{"participantId": {"a": 1}}', "participantId must be a text"),
    (b'{"participantId": "\\ud800"}', "participantId must be a text without half of a surrogate pair"),
    (b'{"limit": -1}', "limit must be a whole number"),
    (b'{"limit": 1.5}', "limit must be a whole number"),
    (b'{"limit": "ten"}', "limit must be a whole number"),
    (b'{"limit": "\xc2\xb2"}', "limit must be a whole number"),
    (b'{"limit": 4294967296}', "limit must be a whole number"),
    (b'{"limit": 1e999999}', "limit must be a whole number"),
    (b'{"limit": ' + b"9" * 10_000 + b"}", "limit must be a whole number"),
    (b'{"limit": true}', "limit must be a whole number"),
)


async def test_an_invalid_body_is_refused_with_the_name_of_its_field(admin: AdminClient) -> None:
    for body, message in _UNREADABLE:
        status, answer = await admin.post("ListOrders", body)
        assert (status, answer["code"]) == (400, "invalid_argument"), body[:100]
        assert answer["message"].startswith(message), body[:100]


async def test_both_spellings_of_a_field_null_and_numbers_are_accepted(admin: AdminClient) -> None:
    for body in ({"limit": 5, "offset": "0"}, {"participant_id": "alice"}, {"participantId": None, "limit": None}):
        assert (await admin.post("ListOrders", body))[0] == 200, body
    # A number is read exactly as written, never as a float.
    numbers = b'{"participantId": 7, "currency": "USD", "amount": 0.100000000000000001, "type": "DEPOSIT"}'
    assert (await admin.post("AdjustBalance", numbers))[1]["success"]
    (row,) = (await admin.post("ListBalances", {}))[1]["balances"]
    assert (row["participantId"], row["total"]) == ("7", "0.100000000000000001")


async def test_other_methods_long_bodies_and_bad_headers_are_refused(admin: AdminClient) -> None:
    engine = admin.engine
    async with engine.http.get(f"{engine.url}{PATH}/ListSymbols") as response:
        assert response.status == 405
    status, answer = await admin.post("ListOrders", b'{"participantId": "' + b"a" * 70_000 + b'"}')
    assert (status, answer["code"]) == (429, "resource_exhausted")
    bomb = gzip.compress(b" " * 10_000_000)
    status, answer = await admin.post("ListOrders", bomb, {"Content-Encoding": "gzip"})
    assert (status, answer["code"]) == (429, "resource_exhausted")
    status, answer = await admin.post("ListOrders", b"not gzip", {"Content-Encoding": "gzip"})
    assert (status, answer["code"]) == (400, "invalid_argument")
    status, _ = await admin.post("ListOrders", gzip.compress(b"{}"), {"Content-Encoding": "gzip"})
    assert status == 200
    assert (await _raw(engine, b"x-name: \xff\xfe")).startswith(b"HTTP/1.1 400")
    # The engine still works.
    assert (await admin.post("ListSymbols", {}))[0] == 200


async def _raw(engine: EngineClient, header: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(engine.settings.host, engine.settings.engine_http_port)
    writer.write(
        f"POST {PATH}/ListSymbols HTTP/1.1\r\nHost: engine\r\nContent-Type: application/json\r\n".encode()
        + b"Content-Length: 2\r\nConnection: close\r\n"
        + header
        + b"\r\n\r\n{}"
    )
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("junk", [b"\xff", b"\x0a\x80", b"\x0a\x02\xff\xfe", b"\x08" + b"\xff" * 20])
async def test_junk_instead_of_a_message_is_an_invalid_argument(
    admin: AdminClient, junk: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = admin.engine
    headers = {"Content-Type": "application/proto"}
    async with engine.http.post(f"{engine.url}{PATH}/Login", data=junk, headers=headers) as response:
        assert (response.status, (await response.json())["code"]) == (400, "invalid_argument")
    calls = [("/exchange.v1.AdminService/Login", junk), ("/exchange.v1.OrderService/PlaceOrder", b"\xff")]
    for method, request in calls:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await engine.channel.unary_unary(method)(request)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "Traceback" not in capsys.readouterr().err
    assert (await admin.post("ListSymbols", {}))[0] == 200


# gRPC-Web


@pytest.fixture
async def web(engine: EngineClient) -> AsyncIterator[AdminServiceClient]:
    async with AdminServiceClient(engine.url, protocol=ProtocolType.GRPC_WEB) as client:
        yield client


@pytest.mark.spec("B4.4-33")
async def test_grpc_web_is_served_on_the_same_port(web: AdminServiceClient) -> None:
    session = await web.login(pb.LoginRequest(participant_id="admin", password="first-password"))
    headers = {"authorization": f"Bearer {session.token}"}
    symbols = await web.list_symbols(pb.ListSymbolsRequest(), headers=headers)
    assert len(symbols.symbols) == 12
    refused = await web.get_participant(pb.GetParticipantRequest(participant_id="nobody"), headers=headers)
    assert (refused.success, refused.error) == (False, "participantId: there is no nobody")
    with pytest.raises(ConnectError) as caught:
        await web.list_orders(pb.ListOrdersRequest(limit=5000), headers=headers)
    assert (caught.value.code, caught.value.message) == (Code.INVALID_ARGUMENT, "limit must be at most 1000")
    with pytest.raises(ConnectError) as caught:
        await web.list_symbols(pb.ListSymbolsRequest())
    assert caught.value.code is Code.UNAUTHENTICATED


# Origins


async def _preflight(engine: EngineClient, path: str, origin: str, headers: str) -> tuple[int, Any]:
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": headers,
    }
    async with engine.http.options(engine.url + path, headers=asked) as response:
        return response.status, response.headers


@pytest.mark.parametrize("path", [f"{PATH}/Login", "/api/v1/admin/symbols"])
async def test_only_pages_of_the_console_may_call(engine: EngineClient, path: str) -> None:
    wanted = "authorization, content-type, connect-protocol-version, connect-timeout-ms, x-grpc-web, x-user-agent"
    for origin in (CONSOLE, "http://localhost:3000"):
        status, headers = await _preflight(engine, path, origin, wanted)
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, origin)
        assert "POST" in headers["Access-Control-Allow-Methods"]
        allowed = headers["Access-Control-Allow-Headers"].lower()
        assert not [name for name in wanted.split(", ") if name not in allowed]
        assert "Access-Control-Allow-Credentials" not in headers
    for origin in ("http://evil.example", "http://127.0.0.1:3001", "https://127.0.0.1:3000", "null"):
        status, headers = await _preflight(engine, path, origin, wanted)
        assert status == 400
        assert "Access-Control-Allow-Origin" not in headers


async def test_responses_allow_only_the_origin_of_the_console(admin: AdminClient) -> None:
    engine = admin.engine
    for origin, expected in ((CONSOLE, CONSOLE), ("http://evil.example", None)):
        for path, status in ((f"{PATH}/ListSymbols", 200), (f"{PATH}/NoSuch", 404)):
            async with engine.http.post(
                engine.url + path,
                data="{}",
                headers={
                    "Origin": origin,
                    "Content-Type": "application/json",
                    "Authorization": f"Bearer {admin.token}",
                },
            ) as response:
                assert response.status == status
                assert response.headers.get("Access-Control-Allow-Origin") == expected
                if expected:
                    assert "grpc-status" in response.headers["Access-Control-Expose-Headers"].lower()


async def test_the_origins_are_a_setting(settings: Settings) -> None:
    chosen = settings.model_copy(update={"console_origins": "https://console.example, https://other.example"})
    async with running_engine(chosen) as engine:
        assert (await _preflight(engine, f"{PATH}/Login", "https://other.example", "content-type"))[0] == 200
        assert (await _preflight(engine, f"{PATH}/Login", CONSOLE, "content-type"))[0] == 400
    none = engine_settings(settings.data_dir / "none", console_origins="", admin_password="first-password")
    async with running_engine(none) as engine:
        status, headers = await _preflight(engine, f"{PATH}/Login", CONSOLE, "content-type")
        assert status == 405
        assert "Access-Control-Allow-Origin" not in headers
