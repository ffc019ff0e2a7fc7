"""Three REST edges side by side, as behind a balancer: whatever one of them learns or does counts at the others."""

import asyncio
import os
import secrets
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import asyncpg
import pytest
import pytest_asyncio

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.fault_run import HEALED_S_MAX, Beside, kept_after_failure
from tests.support.money_user import WAIT_S, assert_every_book_agrees, credit
from tests.support.platforms import child_platform
from tests.support.ports import free_port
from tests.support.rest_client import PREFIX, Reply, RestClient
from tests.support.shared_store import shared_store
from tests.support.signed_requests import Signer
from tests.support.suspension import frozen
from tests.support.waiting import START_S_MAX, eventually, stretched

pytestmark = [pytest.mark.proof, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(stretched(900))]

TOLD_S = 20.0
"""Within moments, and on a machine that is busy too."""
ORDER = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.01", "price": "200"}
REGISTRATIONS_MAX = 5
"""In any minute (`openspot.http.throttle.REGISTRATION_TIERS`)."""


@dataclass
class Edges:
    """The platform, and a client of each of its edges. The first edge is the platform's own."""

    platform: ChildPlatform
    clients: list[RestClient]
    beside: list[Beside]


@dataclass
class User:
    """Who has registered, and the tokens of a login."""

    user_id: str
    credentials: dict[str, str]
    access: str
    refresh: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def edges(request: pytest.FixtureRequest) -> AsyncIterator[Edges]:
    """Three edges with the throttle on, which share its store."""
    with kept_after_failure(request) as folder, shared_store() as store:
        platform = child_platform(folder, {"OPENSPOT_THROTTLE_STORAGE": store})
        beside: list[Beside] = []
        clients: list[RestClient] = []
        try:
            await asyncio.to_thread(platform.start, stretched(START_S_MAX))
            beside = [Beside(platform, SERVICES["rest-edge"], free_port()) for _ in range(2)]
            await asyncio.gather(*(one.child.start() for one in beside))
            await asyncio.gather(*(one.child.await_started() for one in beside))
            settings = platform.settings
            clients = [RestClient(settings)]
            clients += [RestClient(settings.model_copy(update={"rest_port": one.port})) for one in beside]
            yield Edges(platform, clients, beside)
        finally:
            for client in clients:
                await client.close()
            await asyncio.gather(*(one.child.stop() for one in beside))
            await asyncio.to_thread(platform.stop)


async def ask(client: RestClient, token: str | None, method: str, path: str, body: Any = None, **headers: str) -> Reply:
    """Send a request, again while the throttle refuses it or a starved platform does nothing."""
    sent = headers if token is None else headers | {"Authorization": f"Bearer {token}"}

    async def attempt() -> Reply | None:
        reply = await client(method, path, body, headers=sent)
        is_later = reply.status == 503 or (reply.status == 429 and reply.code == "TOO_MANY_REQUESTS")
        return None if is_later else reply

    return await eventually(attempt, WAIT_S, 0.2)


async def log_in(client: RestClient, credentials: dict[str, str]) -> tuple[str, str]:
    """(access token, refresh token)."""
    reply = await ask(client, None, "POST", "/auth/login", credentials)
    assert reply.status == 200, reply.body
    return reply.body["accessToken"], reply.body["refreshToken"]


async def new_user(edges: Edges) -> User:
    """Registered at the first edge, logged in at the second."""
    credentials = {"email": f"{secrets.token_hex(6)}@edges.example", "password": secrets.token_urlsafe(16)}
    registered = await ask(edges.clients[0], None, "POST", "/auth/register", credentials)
    assert registered.status == 201, registered.body
    return User(registered.body["userId"], credentials, *await log_in(edges.clients[1], credentials))


async def statuses(edges: Edges, token: str, path: str = "/users/me/profile") -> list[int]:
    """What each edge says to a request with that token."""
    return [(await ask(client, token, "GET", path)).status for client in edges.clients]


async def refused_by_all(edges: Edges, token: str) -> None:
    """Wait until no edge takes the token."""

    async def refused() -> bool:
        return await statuses(edges, token) == [401, 401, 401]

    await eventually(refused, TOLD_S, 0.1)


async def test_a_session_works_at_every_edge_and_ends_at_every_edge(edges: Edges) -> None:
    user = await new_user(edges)
    assert await statuses(edges, user.access) == [200, 200, 200]
    other, _ = await log_in(edges.clients[2], user.credentials)
    sessions = (await ask(edges.clients[0], user.access, "GET", "/users/me/sessions")).body
    [session] = [entry["sessionId"] for entry in sessions if entry["current"]]
    ended = await ask(edges.clients[2], other, "DELETE", f"/users/me/sessions/{session}")
    assert ended.status == 200, ended.body
    await refused_by_all(edges, user.access)
    assert (await ask(edges.clients[0], None, "POST", "/auth/refresh", {"refreshToken": user.refresh})).status == 401
    assert await statuses(edges, other) == [200, 200, 200]
    assert (await ask(edges.clients[0], other, "POST", "/auth/logout")).status == 200
    await refused_by_all(edges, other)


async def test_a_refresh_token_used_at_two_edges_ends_its_session_everywhere(edges: Edges) -> None:
    user = await new_user(edges)
    used = {"refreshToken": user.refresh}
    first = await ask(edges.clients[0], None, "POST", "/auth/refresh", used)
    assert first.status == 200
    assert (await ask(edges.clients[2], None, "POST", "/auth/refresh", used)).status == 401
    newest = {"refreshToken": first.body["refreshToken"]}
    assert (await ask(edges.clients[1], None, "POST", "/auth/refresh", newest)).status == 401
    for access in (user.access, first.body["accessToken"]):
        await refused_by_all(edges, access)
    _, refresh = await log_in(edges.clients[0], user.credentials)
    at_once = await asyncio.gather(
        *(ask(client, None, "POST", "/auth/refresh", {"refreshToken": refresh}) for client in edges.clients)
    )
    assert Counter(reply.status for reply in at_once) == {200: 1, 401: 2}


async def test_wrong_passwords_count_together(edges: Edges) -> None:
    user = await new_user(edges)
    wrong = user.credentials | {"password": "not the right one"}
    found = [await ask(edges.clients[number % 3], None, "POST", "/auth/login", wrong) for number in range(6)]
    assert [reply.status for reply in found] == [401] * 5 + [429]
    for client in edges.clients:
        refused = await ask(client, None, "POST", "/auth/login", user.credentials)
        assert (refused.status, refused.code) == (429, "TOO_MANY_LOGINS")


async def test_an_api_key_signs_once_for_all_edges_and_ends_at_all(edges: Edges) -> None:
    user = await new_user(edges)
    created = await ask(edges.clients[0], user.access, "POST", "/api-keys", {"name": "robot", "scopes": ["read"]})
    assert created.status == 201, created.body
    signer = Signer(created.body["id"], created.body["secret"])

    async def signed(client: RestClient, headers: dict[str, str]) -> int:
        return (await client("GET", "/orders", headers=headers)).status

    async def one_passes() -> bool:
        headers = signer.headers("GET", f"{PREFIX}/orders")
        outcomes = Counter(await asyncio.gather(*(signed(client, headers) for client in edges.clients)))
        # A signature ages in seconds, so a machine that stands still may see none pass. More than one never may.
        assert outcomes[200] <= 1, outcomes
        return outcomes == {200: 1, 401: 2}

    await eventually(one_passes, WAIT_S, 0.5)
    assert (await ask(edges.clients[1], user.access, "DELETE", f"/api-keys/{signer.key_id}")).status == 200

    async def is_refused(client: RestClient) -> bool:
        return await signed(client, signer.headers("GET", f"{PREFIX}/orders")) == 401

    for client in edges.clients:
        await eventually(lambda client=client: is_refused(client), TOLD_S, 0.2)


async def fund(edges: Edges, user: User) -> None:
    """Give the user dollars, and wait until the engine has them."""
    await credit(edges.platform, user.user_id, "USD", "1000")

    async def funded() -> bool:
        reply = await ask(edges.clients[0], user.access, "GET", "/accounts/balances/USD")
        return reply.status == 200 and reply.body["available"] == "1000"

    await eventually(funded, WAIT_S, 0.2)


async def orders_of(edges: Edges, user: User) -> list[str]:
    """The ids of the user's orders, the newest first."""
    return [order["orderId"] for order in (await ask(edges.clients[0], user.access, "GET", "/orders")).body]


async def placed(client: RestClient, user: User, key: str) -> str:
    """Place the order under `key`, again until the edge says that it stands. Returns its id."""

    async def attempt() -> str | None:
        try:
            reply = await ask(client, user.access, "POST", "/orders", ORDER, **{"Idempotency-Key": key})
        except (aiohttp.ClientError, TimeoutError):
            return None
        if reply.status == 201:
            return str(reply.body["orderId"])
        assert (reply.status, reply.code) == (409, "IDEMPOTENCY_KEY_IN_USE") or reply.status >= 500, reply.body
        return None

    return await eventually(attempt, HEALED_S_MAX, 0.2)


@asynccontextmanager
async def rows(edges: Edges) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(edges.platform.settings.database_url)
    try:
        yield connection
    finally:
        await connection.close()


async def test_a_key_at_three_edges_is_one_order_even_if_the_edge_that_places_it_is_killed(edges: Edges) -> None:
    user = await new_user(edges)
    await fund(edges, user)
    ids = await asyncio.gather(*(placed(client, user, "at-once") for client in edges.clients))
    assert len(set(ids)) == 1
    assert await orders_of(edges, user) == [ids[0]]

    victim = edges.beside[0].child
    async with rows(edges) as connection:

        async def is_claimed() -> bool:
            query = "SELECT count(*) FROM idempotency_keys WHERE user_id = $1 AND key = 'killed' AND status IS NULL"
            return bool(await connection.fetchval(query, user.user_id))

        # The order goes as far as the engine, which stands still; meanwhile the edge dies.
        with frozen(edges.platform.pid("engine")):
            under_way = asyncio.create_task(
                edges.clients[1]("POST", "/orders", ORDER, headers={
                    "Authorization": f"Bearer {user.access}", "Idempotency-Key": "killed",
                })
            )  # fmt: skip
            await eventually(is_claimed, WAIT_S)
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
            with pytest.raises(aiohttp.ClientError):
                await under_way
    ids = await asyncio.gather(*(placed(client, user, "killed") for client in edges.clients))
    assert len(set(ids)) == 1
    orders = await orders_of(edges, user)
    assert (len(orders), ids[0] in orders) == (2, True)
    await assert_every_book_agrees(edges.platform)


async def test_the_throttle_counts_over_all_edges(edges: Edges) -> None:
    # An empty registration is refused, and counts. Those of the other tests count too, if they are not a minute old.
    found = [await edges.clients[number % 3]("POST", "/auth/register", raw=b"{}") for number in range(12)]
    assert Counter(reply.status for reply in found)[400] <= REGISTRATIONS_MAX
    assert [reply.status for reply in found[-3:]] == [429, 429, 429]
    assert found[-1].code == "TOO_MANY_REQUESTS"
