"""Requests that mean harm, to every route where they apply: a refusal names the field, and nothing else happens."""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from tests.integration.hostile.payloads import DEPTH
from tests.integration.whole_edge.conftest import WholeEdge
from tests.integration.whole_edge.hostile_client import POSITIVE_NUMBER, HostileClient, Operation, operations, resolved
from tests.support.rest_client import RestClient

ALL = list(operations())


def each(found: list[Operation]) -> pytest.MarkDecorator:
    """A test for each operation; those of operators, a third of all, are for `make proof`."""
    assert found
    parts = [
        pytest.param(operation, id=operation.label, marks=pytest.mark.proof if is_of_operators(operation) else ())
        for operation in found
    ]
    return pytest.mark.parametrize("operation", parts)


def is_of_operators(operation: Operation) -> bool:
    return "/operator/" in operation.label or "/admin/" in operation.label


WITH_BODY = [operation for operation in ALL if operation.body is not None]
WITH_QUERY = [operation for operation in ALL if operation.parameters("query")]
LISTS = [operation for operation in ALL if "cursor" in operation.parameters("query")]
OF_ALL_USERS = ("GET /api/v1/operator/orders", "GET /api/v1/operator/trades")
"""Lists of operators that show everybody's rows, with any cursor."""
WITH_PATH = [operation for operation in ALL if operation.parameters("path")]
WITH_MONEY = [
    operation
    for operation in WITH_BODY
    if any(
        POSITIVE_NUMBER in (pattern := schema.get("pattern", "")) and "-?" not in pattern
        for schema in operation.fields.values()
    )
]

ASSIGNED = ("role", "userId", "isAdmin", "emailVerified", "mfaEnabled", "balance", "operationId", "__proto__")
"""Fields that a careless service would write into its rows."""
SQL = "x'; DROP TABLE users; --"
TEXTS = (SQL, "' OR '1'='1", "\u202egnp.exe", "😀" * 3, "é\u0301\u200b", "${jndi:ldap://x}{{7*7}}%s%n", "x" * 20_000)
BROKEN_TEXTS = (rb'"\ud800"', rb'"a\ude00\ud83d"', b'"\xff\xfe"', b'"\xed\xa0\x80"', b'"a\x00b"')
"""No texts at all: halves of surrogate pairs, no UTF-8, a raw control character."""
JUDGED = ("POST /api/v1/operator/markets/checks",)
"""Operations whose response says what is wrong with a body."""
COMPARED = ("mfaCode",)
"""Texts that are compared with something, if at all, and never kept."""
NUL = r'"a\u0000b"'
NUMBERS = (
    "1e999", "1e-400", "-1e-7", "-0", "0", "-1", "NaN", "Infinity", "-Infinity", "01", "1.", ".5", "0x10", "1_000",
    "9" * 30, '"1e3"', '"-0"', '"0"', '"0.0"', '"+1"', '"01e1"', '"NaN"', '"Infinity"', '"1,000"', '"٣"', '"１"',
    '" 1"', '"1\\n"', '""', "true", "[]", "{}",
)  # fmt: skip
LIMITS = ("0", "-1", "1000000000", "9" * 30, "NaN", "Infinity", "1.5", "1e2", "٣", "0x10", "", "null", "1;2", SQL)
MOMENTS = ("-1", "9" * 30, "253402300800000", "0000-00-00T00:00:00Z", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
           "2026-01-02T03:04:05", "1969-12-31T23:59:59Z", "NaN", "now()", "٣", SQL)  # fmt: skip
FORGED = ("abc", "0", "-1", "=" * 8, "W10", "e30", "bnVsbA", "WyJ4Il0", "\x00", SQL, "x" * 3000)
TRAVERSALS = (
    "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e", "..%5c..%5cwindows", "....%2f%2f", "%252e%252e%252f", "..;", "%00",
    "x%00.json", "%ff", "%c0%ae%c0%ae%c0%af", "~", "%0d%0aSet-Cookie:%20a=b", "*", ">", "%20",
)  # fmt: skip


@pytest.fixture(scope="module")
def client(whole_edge: WholeEdge) -> Iterator[HostileClient]:
    found = HostileClient(whole_edge)
    yield found
    found.close()


def objects_within(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a body, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_within(inner)


@each(WITH_BODY)
def test_fields_that_are_not_the_callers_are_refused_by_name(client: HostileClient, operation: Operation) -> None:
    for name in ASSIGNED:
        if name in operation.fields:
            continue
        for number in range(len(list(objects_within(operation.example)))):
            body = operation.example
            list(objects_within(body))[number][name] = "admin"
            answer = client(operation, body)
            if operation.label == "POST /api/v1/orders/batch" and number > 0:
                refused = answer.body[number - 1]
                assert (refused["status"], refused["order"]) == (400, None)
                assert f"property {name} should not exist" in refused["error"]["message"]
                continue
            assert answer.status == 400, (name, answer)
            assert any(re.match(rf"property ([\w.]+\.)?{name} should not exist", text) for text in answer.messages)


@each(WITH_BODY)
def test_hostile_texts_are_taken_as_texts_or_refused(client: HostileClient, operation: Operation) -> None:
    for field, schema in operation.fields.items():
        if schema.get("type") != "string":
            continue
        for text in TEXTS:
            client(operation, operation.example | {field: text})
        marked = json.dumps(operation.example | {field: "@"}).encode()
        for raw in BROKEN_TEXTS:
            answer = client(operation, marked.replace(b'"@"', raw))
            assert (answer.status, answer.body["code"]) == (400, "MALFORMED_JSON"), (field, raw)
        # PostgreSQL has no NUL in texts.
        answer = client(operation, marked.replace(b'"@"', NUL.encode()))
        assert answer.status >= 400 or field in COMPARED or operation.label in JUDGED, (field, answer)


@each(WITH_MONEY)
def test_a_number_that_is_no_amount_is_refused_by_name(client: HostileClient, operation: Operation) -> None:
    for field, schema in operation.fields.items():
        if POSITIVE_NUMBER not in schema.get("pattern", ""):
            continue
        marked = json.dumps(operation.example | {field: "@"})
        for number in NUMBERS:
            answer = client(operation, marked.replace('"@"', number).encode())
            assert answer.status == 400, (field, number, answer)
            is_json = answer.body["code"] != "MALFORMED_JSON"
            assert not is_json or any(field in text for text in answer.messages), (field, number, answer.messages)


@each(WITH_BODY)
def test_a_body_nested_ten_thousand_levels_deep_is_refused(client: HostileClient, operation: Operation) -> None:
    field = next(iter(operation.fields))
    for deep in (b"[" * DEPTH + b"]" * DEPTH, b'{"a":' * (DEPTH // 2) + b"1" + b"}" * (DEPTH // 2)):
        answer = client(operation, b'{"%s": %s}' % (field.encode(), deep))
        assert answer.status == 400, answer
        assert client(operation, deep).status == 400


# A route with a fast path, and a webhook. test_route_policies.py checks the bound itself on every route.
@each([operation for operation in WITH_BODY if operation.path in ("/api/v1/orders", "/api/v1/kyc/webhook")])
def test_a_body_of_two_megabytes_is_refused(client: HostileClient, operation: Operation) -> None:
    token = f"Authorization: Bearer {client.token}\r\nContent-Type: application/json\r\n"
    head = f"{operation.method} {operation.target} HTTP/1.1\r\nHost: x\r\n{token}"
    # Half of it is sent: the refusal does not wait for the rest.
    response = client.raw(f"{head}Content-Length: 2097152\r\nConnection: close\r\n\r\n".encode() + b" " * 1_100_000)
    assert response.startswith(b"HTTP/1.1 413 "), response[:300]


@each(WITH_QUERY)
def test_hostile_values_in_the_query_are_refused_or_find_nothing(client: HostileClient, operation: Operation) -> None:
    for name in operation.parameters("query"):
        for text in (*TEXTS, "\x00", "a\r\nSet-Cookie: b=c"):
            answer = client(operation, query=f"{name}={quote(text, safe='')}")
            assert "Set-Cookie" not in answer.headers
        client(operation, query=f"{name}=%ff%fe&{name}=%ed%a0%80")


@each([operation for operation in ALL if "limit" in operation.parameters("query")])
def test_a_page_size_out_of_bounds_is_refused_by_name(client: HostileClient, operation: Operation) -> None:
    for limit in LIMITS:
        answer = client(operation, query=f"limit={quote(limit, safe='')}")
        assert answer.status == 400, (limit, answer)
        assert any(text.startswith("limit ") for text in answer.messages), (limit, answer.messages)


@each([operation for operation in ALL if "from" in operation.parameters("query")])
def test_a_time_out_of_range_is_refused_by_name(client: HostileClient, operation: Operation) -> None:
    for name in ("from", "to"):
        for moment in MOMENTS:
            answer = client(operation, query=f"{name}={quote(moment, safe='')}")
            assert answer.status == 400, (name, moment, answer)
            assert any(text.startswith(f"{name} ") for text in answer.messages), (moment, answer.messages)


@each(LISTS)
def test_a_forged_cursor_is_refused(client: HostileClient, operation: Operation) -> None:
    for cursor in FORGED:
        answer = client(operation, query=f"cursor={quote(cursor, safe='')}")
        if answer.status == 200 and cursor.isdigit():
            # A list of numbered entries: before this number there are none.
            assert answer.body == [], (cursor, answer)
            continue
        assert (answer.status, len(answer.messages)) == (400, 1), (cursor, answer)
        assert answer.messages[0].startswith("cursor "), answer.messages


def test_a_cursor_of_another_user_or_list_shows_nothing_of_theirs(client: HostileClient, whole_edge: WholeEdge) -> None:
    async def others_cursor() -> str:
        other = RestClient(whole_edge.background.settings)
        try:
            other.as_user("somebody-else")
            for _ in range(3):
                await other("PATCH", "/users/me/profile", {"displayName": "x"})
            rows = await asyncpg.connect(whole_edge.background.settings.database_url)
            try:
                await rows.executemany(
                    "INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, quantity, status, "
                    "filled_quantity, remaining_quantity, fee, fee_currency, price, created_at, updated_at) "
                    "SELECT $1, 'somebody-else', symbol, side, type, time_in_force, quantity, status, filled_quantity, "
                    "remaining_quantity, fee, fee_currency, price, created_at, updated_at FROM orders LIMIT 1",
                    [("other-1",), ("other-2",)],
                )
            finally:
                await rows.close()
            reply = await other("GET", "/orders?limit=1")
            assert len(reply.body) == 1
            return str(reply.headers["X-Next-Cursor"])
        finally:
            await other.close()

    [place] = [operation for operation in ALL if operation.label == "POST /api/v1/orders"]
    for _ in range(2):
        order = place.example | {"price": "10", "quantity": "1", "clientOrderId": secrets.token_hex(8)}
        assert client(place, order).status == 201
    cursor = whole_edge.background.run(others_cursor())
    for operation in LISTS:
        answer = client(operation, query=f"cursor={cursor}")
        assert answer.status in (200, 400), answer
        if operation.label in OF_ALL_USERS:
            continue
        assert "somebody-else" not in json.dumps(answer.body)
        assert "other-" not in json.dumps(answer.body)


@each(WITH_PATH)
def test_a_path_that_climbs_finds_nothing(client: HostileClient, operation: Operation) -> None:
    for name in operation.parameters("path"):
        for text in TRAVERSALS:
            target = Operation(operation.method, operation.path.replace(f"{{{name}}}", text), {}).target
            body = operation.example if operation.body is not None else None
            answer = client(operation, body, target=target)
            assert answer.status in (400, 404), (text, answer)
            assert "Set-Cookie" not in answer.headers


BAD_HEADS = (
    b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    b"Authorization: Bearer a\nX-Injected: yes\r\n\tfolded\r\n",
    b"Authorization: Bearer \x00\r\n",
    b"Authorization: Bearer \xff\xfe\xe2\x80\xae\r\n",
    b"Authorization: Bearer " + b"x" * 60_000 + b"\r\n",
    b"Authorization: Bearer " + b"x" * 70_000 + b"\r\n",
    b"Authorization : Bearer a\r\n",
    b"Authorization: Bearer a\r\nX-Api-Key: a\r\nX-Api-Key: b\r\n",
    b"X-Api-Key: \xff\r\nX-Api-Timestamp: \xd9\xa3\r\nX-Api-Signature: \xff\r\n",
    b"X-Api-Key: " + b"A" * 24 + b"\r\nX-Api-Timestamp: 1e999\r\nX-Api-Signature: " + b"0" * 60_000 + b"\r\n",
    b"Content-Length: 1\r\nContent-Length: 2\r\n",
    b"Content-Length: -1\r\n",
    b"Content-Length: " + b"9" * 30 + b"\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    b"Transfer-Encoding: identity, chunked, x\r\n",
    b"Bad Name: x\r\n",
)


@each([operation for operation in ALL if operation.described["security"] and not operation.parameters("path")])
def test_headers_that_mean_harm_are_refused_and_not_sent_back(client: HostileClient, operation: Operation) -> None:
    for head in BAD_HEADS:
        request = f"{operation.method} {operation.target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode()
        response = client.raw(request + head + b"\r\n")
        assert re.match(rb"HTTP/1\.1 4\d\d ", response), (head[:80], response[:300])
        received, _, content = response.partition(b"\r\n\r\n")
        assert b"injected" not in received.lower()
        assert json.loads(content)["statusCode"] == int(response[9:12]), (head[:80], response[:300])


def test_a_key_of_other_characters_is_refused(client: HostileClient) -> None:
    body = b'{"symbol":"BTC-USD"}'
    for key in (b"\xff", b"a b", b"x" * 256, "ключ".encode(), b'"\xc3\xa9"'):
        head = (
            f"POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {client.token}\r\n"
        )
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        response = client.raw(head.encode() + b"Idempotency-Key: " + key + b"\r\n\r\n" + body)
        assert b"Idempotency-Key must be 1 to 255 visible ASCII characters" in response, (key, response[:300])


def test_after_all_this_the_user_and_the_tables_are_what_they_were(whole_edge: WholeEdge) -> None:
    async def look() -> tuple[str, int]:
        rows = await asyncpg.connect(whole_edge.background.settings.database_url)
        try:
            role = await rows.fetchval("SELECT role FROM users WHERE user_id = $1", whole_edge.user_id)
            return str(role), await rows.fetchval("SELECT count(*) FROM users WHERE role <> 'user'")
        finally:
            await rows.close()

    assert whole_edge.background.run(look()) == ("user", 0)


def test_no_example_is_forgotten() -> None:
    assert len(WITH_BODY) > 30
    assert all(resolved(operation.body or {})["examples"] for operation in WITH_BODY)
