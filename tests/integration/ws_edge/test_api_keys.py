"""Login by API key at the WebSocket edge."""

import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from openspot.http.api_keys.changes import KeyChanges
from openspot.http.api_keys.store import ApiKeyStore
from openspot.http.policy import Scope
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.ws_edge import key_check
from tests.support.signed_requests import KeysInMemory, Signer
from tests.support.websocket_edge import (
    Publish,
    ask,
    nothing_but_a_pong,
    open_client,
    order_event,
    receive,
    running_edge,
)

SECRET = "an-api-key-secret-of-thirty-two-bytes"


@pytest.fixture
async def keyed(settings: Settings) -> AsyncIterator[Settings]:
    """An edge whose secret the test knows."""
    async with running_edge(settings.model_copy(update={"sealing_secret": SECRET})) as edge:
        yield edge


@pytest.fixture
async def keys(pool: asyncpg.Pool) -> Any:
    """Adds keys of user `u1` to the database."""
    await pool.execute("INSERT INTO users (user_id, email, password_hash, role) VALUES ('u1', 'a@b.org', 'x', 'user')")
    made = KeysInMemory(SECRET)

    async def add(*scopes: Scope, networks: tuple[str, ...] = ()) -> Signer:
        signer = made.add(*scopes, networks=networks)
        await ApiKeyStore(pool).add(made.rows[signer.key_id])
        return signer

    return add


def login(signer: Signer, **changes: Any) -> dict[str, Any]:
    headers = signer.headers("GET", "/")
    return {
        "action": "authenticate", "apiKey": headers["x-api-key"], "timestamp": int(headers["x-api-timestamp"]),
        "signature": headers["x-api-signature"],
    } | changes  # fmt: skip


async def gets_the_users_events(client: Any, publish: Publish, order_id: str) -> None:
    """And no notification, which is personal data."""
    await publish("notifications.user.u1", {"id": order_id, "createdAt": 5})
    await publish("orders.created.u1", order_event("u1", order_id))
    assert (await receive(client))["data"]["orderId"] == order_id
    await nothing_but_a_pong(client)


async def test_a_signed_handshake_opens_a_connection_of_the_keys_user(
    keyed: Settings, keys: Any, publish: Publish
) -> None:
    signer = await keys(Scope.READ)
    async with open_client(keyed, "?x=1", additional_headers=signer.headers("GET", "/?x=1")) as client:
        await gets_the_users_events(client, publish, "order1")


async def test_the_action_authenticate_turns_a_connection_into_its_users(
    keyed: Settings, keys: Any, publish: Publish
) -> None:
    signer = await keys(Scope.READ)
    async with open_client(keyed) as client:
        await publish("orders.created.u1", order_event("u1", "before"))
        await nothing_but_a_pong(client)
        assert await ask(client, **login(signer), id=7) == {"type": "authenticated", "userId": "u1", "id": 7}
        await gets_the_users_events(client, publish, "order1")
        assert (await ask(client, **login(signer)))["code"] == "ALREADY_AUTHENTICATED"


async def test_a_wrong_credential_opens_nothing(keyed: Settings, keys: Any) -> None:
    signer, elsewhere = await keys(Scope.READ), await keys(Scope.READ, networks=("203.0.113.0/24",))
    trader = await keys(Scope.TRADE, Scope.CANCEL)
    old = signer.headers("GET", "/", timestamp=int(time.time() * 1000) - 6_000)
    good = signer.headers("GET", "/")
    for headers, status, code in (
        (old, 401, "INVALID_CREDENTIAL"),
        (good | {"x-api-signature": "00" * 32}, 401, "INVALID_CREDENTIAL"),
        (elsewhere.headers("GET", "/"), 401, "INVALID_CREDENTIAL"),
        ({"x-api-key": signer.key_id}, 401, "INVALID_CREDENTIAL"),
        (trader.headers("GET", "/"), 403, "INSUFFICIENT_SCOPE"),
    ):
        with pytest.raises(InvalidStatus) as caught:
            await open_client(keyed, additional_headers=headers)
        body = json.loads(caught.value.response.body)
        assert (caught.value.response.status_code, body["code"]) == (status, code)
    # A signature lives five seconds, and the refusals may have taken longer.
    good = signer.headers("GET", "/")
    async with open_client(keyed, additional_headers=good) as client:
        await nothing_but_a_pong(client)
    with pytest.raises(InvalidStatus):
        await open_client(keyed, additional_headers=good)


async def test_wrong_messages_end_the_connection_after_some(keyed: Settings, keys: Any) -> None:
    signer = await keys(Scope.READ)
    async with open_client(keyed) as client:
        assert (await ask(client, action="authenticate"))["code"] == "INVALID_CREDENTIAL"
        for _ in range(5):
            assert (await ask(client, **login(signer, signature="00" * 32)))["code"] == "INVALID_CREDENTIAL"
        with pytest.raises(ConnectionClosed):
            await receive(client)
        assert client.close_code == 1008


@pytest.mark.spec("A5-13")
async def test_a_revoked_key_ends_its_connections_and_no_others(
    keyed: Settings, keys: Any, bus: Bus, pool: asyncpg.Pool
) -> None:
    revoked, kept = await keys(Scope.READ), await keys(Scope.READ)
    changes = KeyChanges(bus, lambda _: None)
    async with (
        open_client(keyed, additional_headers=revoked.headers("GET", "/")) as by_header,
        open_client(keyed) as by_message,
        open_client(keyed, additional_headers=kept.headers("GET", "/")) as other,
    ):
        # Signed another time than the first, or it would be a repetition.
        stamp = revoked.headers("GET", "/", timestamp=int(time.time() * 1000) + 1)
        message = {"apiKey": revoked.key_id, "timestamp": stamp["x-api-timestamp"]}
        reply = await ask(by_message, action="authenticate", signature=stamp["x-api-signature"], **message)
        assert reply["type"] == "authenticated"
        ended = await ApiKeyStore(pool).revoke("u1", revoked.key_id, datetime.now(UTC))
        assert ended is not None
        await changes.tell(ended)
        for client in (by_header, by_message):
            with pytest.raises(ConnectionClosed):
                await receive(client)
            assert client.close_code == 4401
        await nothing_but_a_pong(other)
        with pytest.raises(InvalidStatus):
            await open_client(keyed, additional_headers=revoked.headers("GET", "/"))


async def test_a_key_whose_end_nobody_lived_to_tell_of_ends_its_connections_and_no_others(
    settings: Settings, keys: Any, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_check, "INTERVAL_S", 0.05)
    revoked, rotated, kept = [await keys(Scope.READ) for _ in range(3)]
    async with (
        running_edge(settings.model_copy(update={"sealing_secret": SECRET})) as keyed,
        open_client(keyed, additional_headers=revoked.headers("GET", "/")) as of_revoked,
        open_client(keyed, additional_headers=rotated.headers("GET", "/")) as of_rotated,
        open_client(keyed, additional_headers=kept.headers("GET", "/")) as other,
        open_client(keyed) as anonymous,
    ):
        await ApiKeyStore(pool).revoke("u1", revoked.key_id, datetime.now(UTC))
        await ApiKeyStore(pool).rotate("u1", rotated.key_id, b"another", None, datetime.now(UTC))
        for client in (of_revoked, of_rotated):
            with pytest.raises(ConnectionClosed):
                await receive(client)
            assert client.close_code == 4401
        for client in (other, anonymous):
            await nothing_but_a_pong(client)
        # The lock of a login lets its keys rest.
        await pool.execute(
            "INSERT INTO user_locks (user_id, kind, reason, locked_by, locked_at)"
            " VALUES ('u1', 'login', 'why', 'user:ada', now())"
        )
        with pytest.raises(ConnectionClosed):
            await receive(other)
