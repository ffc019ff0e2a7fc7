"""API keys through the REST edge, with real bus and database; several edges side by side."""

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from nacl.signing import SigningKey

from openspot.http.api_keys import uses
from openspot.http.api_keys.changes import ChangeNotToldError
from openspot.http.api_keys.store import Ended
from openspot.kit.settings import Settings
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from tests.support.authenticator import enable_mfa, register
from tests.support.fake_router import FakeRouter
from tests.support.mailbox import mail_to, token_of
from tests.support.ports import free_port
from tests.support.rest_client import PREFIX, Reply, RestClient, running_edge
from tests.support.signed_requests import Signer
from tests.support.waiting import eventually

LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100.25"}
KEY = {"name": "bot", "scopes": ["read", "trade"]}


@pytest.fixture(autouse=True)
async def users(pool: asyncpg.Pool) -> None:
    """The users whose tokens the tests make."""
    for name in ("u1", "u2"):
        await pool.execute(
            "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $1 || '@example.org', 'x', 'user')",
            name,
        )


async def create(edge: RestClient, **fields: Any) -> tuple[dict[str, Any], Signer]:
    reply = await edge("POST", "/api-keys", KEY | fields)
    assert reply.status == 201, reply.body
    return reply.body, Signer(reply.body["id"], reply.body["secret"])


async def ask(edge: RestClient, signer: Signer, method: str, path: str, body: Any = None) -> Reply:
    """A signed request without a token."""
    raw = b"" if body is None else json.dumps(body).encode()
    token, edge.token = edge.token, None
    try:
        return await edge(method, path, raw=raw or None, headers=signer.headers(method, PREFIX + path, raw))
    finally:
        edge.token = token


@pytest.mark.spec("A5-12", "A5-15", "A5-16", "B4.1-80")
async def test_a_created_key_works_within_its_scopes(edge: RestClient, router: FakeRouter) -> None:
    body, signer = await create(edge)
    assert (body["scopes"], body["ipAllowList"], body["algorithm"]) == (["read", "trade"], [], "hmac-sha256")
    placed = await ask(edge, signer, "POST", "/orders", LIMIT)
    assert (placed.status, placed.body["userId"]) == (201, "u1")
    assert (await ask(edge, signer, "GET", "/orders?status=open&limit=5")).status == 200
    refused = await ask(edge, signer, "DELETE", f"/orders/{placed.body['orderId']}")
    assert (refused.status, refused.code) == (403, "INSUFFICIENT_SCOPE")
    # A key changes no keys, whatever its scopes.
    assert (await ask(edge, signer, "POST", "/api-keys", KEY)).status == 403


@pytest.mark.spec("B4.1-81")
async def test_the_list_shows_no_secret_and_only_your_own_keys(edge: RestClient, pool: asyncpg.Pool) -> None:
    body, signer = await create(edge, ipAllowList=["127.0.0.0/8"])
    reply = await edge("GET", "/api-keys")
    assert reply.body == [{name: value for name, value in body.items() if name != "secret"}]
    row = await pool.fetchrow("SELECT * FROM api_keys")
    # A copy of the database gives no secret away.
    assert signer.secret.encode() not in b"".join(value for value in row.values() if isinstance(value, bytes))
    assert signer.secret not in str(row)
    edge.as_user("u2")
    assert (await edge("GET", "/api-keys")).body == []
    for method, path, sent in (("DELETE", "", None), ("POST", "/rotate", {})):
        assert (await edge(method, f"/api-keys/{body['id']}{path}", sent)).status == 404


async def test_an_ed25519_key_signs_without_a_secret_at_the_edge(edge: RestClient, router: FakeRouter) -> None:
    import base64

    private = SigningKey.generate()
    public = base64.b64encode(bytes(private.verify_key)).decode()
    body, signer = await create(edge, algorithm="ed25519", publicKey=public)
    assert (body["secret"], body["publicKey"]) == (None, public)
    signer = replace(signer, secret=private)
    assert (await ask(edge, signer, "POST", "/orders", LIMIT)).status == 201
    other = SigningKey.generate()
    assert (await edge("POST", f"/api-keys/{body['id']}/rotate", {})).message == [
        "publicKey is required for the algorithm ed25519"
    ]
    rotated = {"publicKey": base64.b64encode(bytes(other.verify_key)).decode()}
    assert (await edge("POST", f"/api-keys/{body['id']}/rotate", rotated)).status == 200
    assert (await ask(edge, signer, "GET", "/orders")).status == 401
    assert (await ask(edge, replace(signer, secret=other), "GET", "/orders")).status == 200


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scopes": ["withdraw"]}, "ipAllowList is required for the scope withdraw"),
        ({"scopes": ["withdraw"], "ipAllowList": ["0.0.0.0/1", "128.0.0.0/1"]}, "at least /16"),
        ({"scopes": []}, "scopes must have at least 1 entries"),
        ({"scopes": ["admin"]}, "scopes.0 must be one of"),
        ({"ipAllowList": ["203.0.113.1/24"]}, "ipAllowList.0 must be an address or a network"),
        ({"algorithm": "ed25519"}, "publicKey is required"),
        ({"publicKey": "AAAA"}, "publicKey is not an Ed25519 public key"),
        ({"name": ""}, "name must be at least 1 characters long"),
        ({"userId": "u2"}, "property userId should not exist"),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(edge: RestClient, fields: dict[str, Any], message: str) -> None:
    reply = await edge("POST", "/api-keys", KEY | fields)
    assert reply.status == 400
    assert message in str(reply.message)


@pytest.mark.spec("A5-13", "A5-14", "B4.1-82", "B4.1-83")
async def test_rotation_and_revocation_hold_at_every_edge_at_once(edge: RestClient, settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        edges = [edge]
        for _ in range(2):
            other = settings.model_copy(update={"rest_port": free_port()})
            edges.append(await stack.enter_async_context(running_edge(other)))
        body, old = await create(edge)

        async def statuses(signer: Signer) -> list[int]:
            return [(await ask(each, signer, "GET", f"/orders?limit={n}")).status for n, each in enumerate(edges, 1)]

        assert await statuses(old) == [200, 200, 200]
        rotated = await edge("POST", f"/api-keys/{body['id']}/rotate", {})
        new = Signer(body["id"], rotated.body["secret"])

        async def refused(signer: Signer) -> bool:
            return await statuses(signer) == [401, 401, 401]

        # Far sooner than the edges would read the key again.
        await eventually(lambda: refused(old), 5)
        assert await statuses(new) == [200, 200, 200]
        assert (await edge("DELETE", f"/api-keys/{body['id']}")).body == {"id": body["id"], "revoked": True}
        await eventually(lambda: refused(new), 5)
        assert (await edge("DELETE", f"/api-keys/{body['id']}")).status == 200
        assert (await edge("GET", "/api-keys")).body == []


async def test_the_owner_is_told_of_every_change_of_a_key_once(edge: RestClient, pool: asyncpg.Pool) -> None:
    body, _ = await create(edge)
    await edge("POST", f"/api-keys/{body['id']}/rotate", {})
    for _ in range(2):
        assert (await edge("DELETE", f"/api-keys/{body['id']}")).status == 200
    activity = (await edge("GET", "/users/me/activity")).body
    assert [entry["kind"] for entry in activity] == ["api_key_revoked", "api_key_rotated", "api_key_created"]
    rows = await pool.fetch("SELECT kind, text FROM notifications ORDER BY taken_at")
    assert {row["kind"] for row in rows} == {"api_key.changed"}
    assert [row["text"].partition("\n")[0] for row in rows] == [
        "An API key was made.", "An API key got a new secret.", "An API key was revoked.",
    ]  # fmt: skip


async def test_a_session_that_was_ended_makes_no_key_even_before_the_bus_tells_of_it(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    await register(edge, "ada@example.org")
    assert (await edge("POST", "/api-keys", KEY)).status == 201
    await pool.execute("UPDATE refresh_tokens SET revoked_at = now()")
    refused = await edge("POST", "/api-keys", KEY)
    assert (refused.status, refused.message) == (401, "the session has ended")
    assert await pool.fetchval("SELECT count(*) FROM api_keys") == 1


async def test_a_key_that_cannot_be_announced_keeps_no_other_from_being_announced() -> None:
    told: list[str] = []

    class Changes:
        """A bus that does not take the first key."""

        async def tell(self, ended: Ended) -> None:
            told.append(ended.key_id)
            if len(told) == 1:
                raise ChangeNotToldError("the bus does not respond")

    any_: Any = None
    changes: Any = Changes()
    keys = ApiKeyService(any_, any_, changes, any_, any_, any_, lambda: 0)
    await keys.announce([Ended("k1", 2), Ended("k2", 2)])
    assert told == ["k1", "k2"]


async def test_a_user_has_a_bounded_number_of_keys(edge: RestClient) -> None:
    replies = await asyncio.gather(*(edge("POST", "/api-keys", KEY) for _ in range(34)))
    assert sorted(reply.status for reply in replies) == [201] * 30 + [409] * 4


async def test_the_last_use_is_recorded_a_while_later(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "WRITE_INTERVAL_S", 0.05)
    async with running_edge(settings) as edge:
        edge.as_user("u1")
        body, signer = await create(edge)
        assert body["lastUsedAt"] is None
        await ask(edge, signer, "GET", "/orders")

        async def recorded() -> Any:
            return (await edge("GET", "/api-keys")).body[0]["lastUsedAt"]

        await eventually(recorded)


async def test_making_a_secret_needs_the_second_factor(edge: RestClient) -> None:
    edge.token = None
    await register(edge, "ada@example.org")
    app = await enable_mfa(edge)
    refused = await edge("POST", "/api-keys", KEY)
    assert (refused.status, refused.code) == (401, "MFA_REQUIRED")
    refused = await edge("POST", "/api-keys", KEY | {"mfaCode": app.wrong_code()})
    assert (refused.status, refused.code) == (400, "MFA_CODE_INVALID")
    assert (await edge("GET", "/api-keys")).body == []
    code = app.code()
    body, signer = await create(edge, mfaCode=code)
    # A code works once, for whatever it is.
    for used in ({}, {"mfaCode": code}):
        assert (await edge("POST", f"/api-keys/{body['id']}/rotate", used)).status in (400, 401)
    assert (await ask(edge, signer, "GET", "/orders")).status == 200
    rotated = await edge("POST", f"/api-keys/{body['id']}/rotate", {"mfaCode": app.recovery_codes[0]})
    assert rotated.status == 200
    # Ending a key makes nothing less safe.
    assert (await edge("DELETE", f"/api-keys/{body['id']}")).status == 200


@pytest.mark.parametrize("locked", ["pair", "account"])
async def test_a_reset_of_the_password_leaves_keys_alone_unless_the_account_was_locked(
    edge: RestClient, settings: Settings, pool: asyncpg.Pool, router: FakeRouter, locked: str
) -> None:
    """An account that is locked, from one network or from all unknown ones, is under attack.

    A forgotten password says nothing about keys.
    """
    edge.token = None
    user_id = await register(edge, "ada@example.org")
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", user_id)
    _, signer = await create(edge)

    async def reset(number: int) -> None:
        # Mails with tokens come at most every two minutes.
        await pool.execute("DELETE FROM mail_tokens")
        await edge("POST", "/auth/forgot-password", {"email": "ada@example.org"})
        token = token_of(await mail_to(settings.data_dir, "ada@example.org", "Reset your password", number))
        body = {"token": token, "newPassword": "an entirely new pass phrase"}
        assert (await edge("POST", "/auth/reset-password", body)).status == 200

    await edge("POST", "/auth/login", {"email": "ada@example.org", "password": "a wrong password"})
    await reset(1)
    assert (await ask(edge, signer, "GET", "/orders")).status == 200
    # A login from an unknown network counts under both keys.
    await pool.execute("DELETE FROM user_networks")
    await edge("POST", "/auth/login", {"email": "ada@example.org", "password": "a wrong password"})
    changed = await pool.execute("UPDATE login_attempts SET attempts = 100 WHERE starts_with(key, $1)", f"{locked}:")
    assert changed == "UPDATE 1"
    await reset(2)
    assert (await ask(edge, signer, "GET", "/orders")).status == 401
    edge.as_user(user_id)
    assert (await edge("GET", "/api-keys")).body == []
