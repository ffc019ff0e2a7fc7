"""Every route with an identifier in its path: the objects of another user are not there.

The routes are taken from the edge itself. A new one fails here until it is said how its object is made, or why it
belongs to nobody.
"""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import CreateWithdrawal, WithdrawalReply
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID
from openspot.http.policy import Access
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.app import PREFIX
from tests.support.authenticator import log_in, register
from tests.support.custody import BITCOIN_ADDRESS, NO_LIMIT_CENTS
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.http_routes import all_routes
from tests.support.in_process_platform import running
from tests.support.money_user import BASIC_INFORMATION
from tests.support.push_service import new_device
from tests.support.rest_client import Reply, RestClient
from tests.support.sample_documents import picture

OWNER_EMAIL = "owner@example.org"
STRANGER_EMAIL = "stranger@example.org"
_serial = itertools.count(1)


@dataclass
class Users:
    """Two users of a running platform. The owner has money, the stranger has none."""

    client: RestClient
    bus: Bus
    owner_id: str
    owner_token: str
    stranger_token: str

    async def as_owner(self, method: str, path: str, body: Any = None) -> Reply:
        """Send a request as the owner."""
        self.client.token = self.owner_token
        return await self.client(method, path, body)

    async def as_stranger(self, method: str, path: str, body: Any = None) -> Reply:
        """Send a request as the stranger."""
        self.client.token = self.stranger_token
        return await self.client(method, path, body)

    async def make(self, path: str, body: Any) -> Any:
        """What the owner's POST creates."""
        reply = await self.as_owner("POST", path, body)
        assert reply.status == 201, (path, reply.body)
        return reply.body


@pytest.fixture
async def users(settings: Settings, bus: Bus) -> AsyncIterator[Users]:
    """An owner and a stranger, with engine, router and custody behind the edge."""
    prices = FakeFairPrices(settings)
    await prices.start()
    # Worth so much over the day that a withdrawal waits for people, and can be cancelled.
    await prices.publish("BTC-USD", "100", day_median="100000")
    settings = settings.model_copy(update={"conversion_standing_s": 0, "rules": "complete"})
    async with running(settings, "engine", "router", "custody", "rest-edge"):
        client, engine = RestClient(settings), EngineClient(settings)
        try:
            stranger_id = await register(client, STRANGER_EMAIL)
            stranger_token = client.token
            owner_id = await register(client, OWNER_EMAIL)
            assert client.token is not None and stranger_token is not None and stranger_id != owner_id
            await engine.fund(owner_id, USD="5000", USDT="100", BTC="10")
            await engine.fund("maker", BTC="10")
            await engine.fund(CONVERSIONS_ACCOUNT_ID, BTC="50")
            placed = await engine.place("sell", "100.00", "10", "maker", order_id=9_000_001)
            assert placed.result_code == "SUCCESS", placed
            yield Users(client, bus, owner_id, client.token, stranger_token)
        finally:
            await client.close()
            await engine.close()
            await prices.stop()


async def order(users: Users) -> str:
    return str((await _placed(users))["orderId"])


async def client_order_id(users: Users) -> str:
    return str((await _placed(users))["clientOrderId"])


async def _placed(users: Users) -> Any:
    return await users.make(
        "/orders",
        {
            "symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "90",
            "clientOrderId": f"mine-{next(_serial)}",
        },
    )  # fmt: skip


async def order_list(users: Users) -> str:
    own = {"symbol": "BTC-USD", "side": "sell", "quantity": "0.1"}
    take_profit = own | {"type": "limit", "price": "105"}
    stop_loss = own | {"type": "stop_limit", "stopPrice": "95", "price": "95"}
    body = {"type": "oco", "orders": [take_profit, stop_loss]}
    return str((await users.make("/orders/lists", body))["listId"])


async def withdrawal(users: Users) -> str:
    """A withdrawal that waits for people: it is worth more than what custody approves by itself."""
    withdrawal_id = f"wd-{next(_serial)}"
    request = CreateWithdrawal(
        withdrawal_id=withdrawal_id,
        user_id=users.owner_id,
        asset="BTC",
        network="bitcoin",
        amount="0.05",
        fee="0.0001",
        address=BITCOIN_ADDRESS,
        tag=None,
        user_limit_cents=NO_LIMIT_CENTS,
    )
    reply = await users.bus.request(subjects.CUSTODY_WITHDRAWALS_CREATE, request, WithdrawalReply, 10)
    assert reply.withdrawal is not None, reply
    return withdrawal_id


async def withdrawal_address(users: Users) -> str:
    body = {"label": "mine", "asset": "BTC", "network": "bitcoin", "address": BITCOIN_ADDRESS}
    return str((await users.make("/users/me/withdrawal-addresses", body))["id"])


async def document(users: Users) -> str:
    """A document for a check that is open."""
    await users.as_owner("POST", "/kyc/basic-info", BASIC_INFORMATION)
    await users.as_owner("POST", "/kyc/start", {"level": "verified"})
    headers = {"Content-Type": "image/png"}
    reply = await users.client("POST", "/kyc/documents?kind=selfie", raw=picture("PNG"), headers=headers)
    assert reply.status == 201, reply.body
    return str(reply.body["id"])


async def session(users: Users) -> str:
    """A second session of the owner."""
    logged_in = await log_in(users.client, OWNER_EMAIL)
    assert logged_in.status == 200, logged_in.body
    listed = (await users.as_owner("GET", "/users/me/sessions")).body
    return next(str(row["sessionId"]) for row in listed if not row["current"])


async def api_key(users: Users) -> str:
    return str((await users.make("/api-keys", {"name": "bot", "scopes": ["read"]}))["id"])


async def price_alert(users: Users) -> str:
    return str((await users.make("/alerts", {"symbol": "BTC-USD", "direction": "above", "price": "900"}))["id"])


async def device(users: Users) -> str:
    return str((await users.make("/push-subscriptions", new_device()))["id"])


async def quote(users: Users) -> str:
    wanted = {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "100"}
    return str((await users.make("/conversions/quote", wanted))["quoteId"])


async def conversion(users: Users) -> str:
    return str((await users.make("/conversions", {"quoteId": await quote(users)}))["id"])


async def stake(users: Users) -> str:
    return str((await users.make("/staking/stake", {"productId": "usdt-flexible", "amount": "20"}))["id"])


async def payment(users: Users) -> str:
    wanted = {"routeId": "development-usd", "amount": "100", "currency": "USD"}
    return str((await users.make("/payments/session", wanted))["id"])


@dataclass(frozen=True)
class Owned:
    """How the owner's object is made, and with which body the route is asked. `{id}` in `body` is the object's id."""

    make: Callable[[Users], Awaitable[str]]
    body: dict[str, Any] | None = None


BY_PATH = {
    "GET /orders/lists/{listId}": Owned(order_list),
    "DELETE /orders/lists/{listId}": Owned(order_list),
    "GET /orders/client/{clientOrderId}": Owned(client_order_id),
    "GET /orders/{orderId}": Owned(order),
    "DELETE /orders/{orderId}": Owned(order),
    "PATCH /orders/{orderId}": Owned(order, {"price": "91"}),
    "POST /orders/{orderId}/replace": Owned(
        order, {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "91"}
    ),
    "PATCH /orders/client/{clientOrderId}": Owned(client_order_id, {"price": "91"}),
    "DELETE /orders/client/{clientOrderId}": Owned(client_order_id),
    "GET /accounts/withdrawals/{withdrawalId}": Owned(withdrawal),
    "DELETE /accounts/withdrawals/{withdrawalId}": Owned(withdrawal),
    "DELETE /users/me/withdrawal-addresses/{addressId}": Owned(withdrawal_address),
    "DELETE /users/me/sessions/{sessionId}": Owned(session),
    "DELETE /kyc/documents/{documentId}": Owned(document),
    "DELETE /api-keys/{id}": Owned(api_key),
    "POST /api-keys/{id}/rotate": Owned(api_key, {}),
    "PATCH /alerts/{alertId}": Owned(price_alert, {"price": "901"}),
    "DELETE /alerts/{alertId}": Owned(price_alert),
    "POST /push-subscriptions/{subscriptionId}/test": Owned(device),
    "DELETE /push-subscriptions/{subscriptionId}": Owned(device),
    "GET /conversions/{id}": Owned(conversion),
    "GET /staking/balances/{id}": Owned(stake),
    "GET /payments/{id}": Owned(payment),
}
BY_BODY = {
    "POST /conversions": Owned(quote, {"quoteId": "{id}"}),
    "POST /staking/unstake": Owned(stake, {"balanceId": "{id}"}),
}
MADE_BY_THE_OWNER = {
    "/orders": order,
    "/orders/lists": order_list,
    "/accounts/withdrawals": withdrawal,
    "/users/me/withdrawal-addresses": withdrawal_address,
    "/api-keys": api_key,
    "/alerts": price_alert,
    "/push-subscriptions": device,
    "/conversions": conversion,
    "/staking/balances": stake,
    "/payments": payment,
}
"""What lists hold, by the path of the list."""
OF_THE_CALLER = {
    "GET /accounts/balances/{asset}",
    "PUT /settings/notifications/{event}",
    "PATCH /watchlists/{watchlistName}",
    "PUT /watchlists/{watchlistName}/name",
    "DELETE /watchlists/{watchlistName}",
    "GET /drawings/{symbol}",
    "PATCH /drawings/{symbol}",
    "PUT /layouts/{width}",
    "GET /reserves/{proofId}/own",
}
"""The path names what all users have alike, such as an asset or a market, and the caller's own entry is used."""
PUBLIC = {
    "GET /markets/{symbol}",
    "GET /markets/{symbol}/ticker",
    "GET /markets/{symbol}/orderbook",
    "GET /markets/{symbol}/trades",
    "GET /markets/{symbol}/agg-trades",
    "GET /markets/{symbol}/candles",
    "GET /markets/{symbol}/fair-price",
    "GET /staking/products/{id}",
    "GET /payments/routes/{routeId}",
    # The provider's own page: whoever pays sees currency and amount, and nothing of the user.
    "GET /payments/development/{id}",
    # The ticket is the credential: 256 random bits, for one use within a minute.
    "GET /downloads/{ticket}",
}


def test_every_route_with_an_identifier_in_its_path_is_listed() -> None:
    found = {
        f"{route.method} {route.path.removeprefix(PREFIX)}": route.policy.access
        for service, route in all_routes()
        if service == "rest-edge" and "{" in route.path
    }
    public = {name for name, access in found.items() if access is Access.PUBLIC}
    assert public == PUBLIC
    # A route of administrators names users of others; contract/route_access.txt says that no user may call it.
    of_administrators = {name for name, access in found.items() if access in (Access.ADMIN, Access.OPERATOR)}
    assert found.keys() - public - of_administrators == BY_PATH.keys() | OF_THE_CALLER


def request_of(route: str, owned: Owned, object_id: str) -> tuple[str, str, Any]:
    """Method, path and body that name the object."""
    method, _, path = route.partition(" ")
    before, braced, after = path.partition("{")
    path = f"{before}{object_id}{after.partition('}')[2]}" if braced else path
    body = owned.body and {name: value.replace("{id}", object_id) for name, value in owned.body.items()}
    return method, path, body if owned.body is not None else None


def told(reply: Reply, object_id: str) -> tuple[int, str, str]:
    """What a client learns from a refusal, without the id that it sent itself."""
    return reply.status, reply.code, str(reply.message).replace(object_id, "{id}")


@pytest.mark.spec("A1.4-01", "B4.1-57", "B4.1-74")
async def test_an_object_of_another_user_is_not_found_as_if_it_did_not_exist(users: Users) -> None:
    for route, owned in (BY_PATH | BY_BODY).items():
        object_id = await owned.make(users)
        unknown_id = object_id[:-1] + ("B" if object_id.endswith("A") else "A")
        refused = await users.as_stranger(*request_of(route, owned, object_id))
        assert refused.status == 404, (route, refused.body)
        unknown = await users.as_stranger(*request_of(route, owned, unknown_id))
        assert told(refused, object_id) == told(unknown, unknown_id), route
        # The object was there, and the stranger's request has not changed it.
        taken = await users.as_owner(*request_of(route, owned, object_id))
        assert taken.status in (200, 201, 202), (route, taken.body)


@pytest.mark.spec("B4.1-05", "B4.1-73")
async def test_balances_settings_and_lists_are_the_callers_own(users: Users) -> None:
    assert (await users.as_owner("GET", "/accounts/balances/USD")).body["total"] == "5000"
    assert (await users.as_stranger("GET", "/accounts/balances/USD")).body["total"] == "0"

    before = (await users.as_owner("GET", "/settings/notifications")).body
    path, body = "/settings/notifications/deposit_credited", {"email": False, "websocket": False}
    assert (await users.as_stranger("PUT", path, body)).status == 200
    assert (await users.as_stranger("GET", "/settings/notifications")).body != before
    assert (await users.as_owner("GET", "/settings/notifications")).body == before

    for path, make in MADE_BY_THE_OWNER.items():
        await make(users)
        assert len((await users.as_owner("GET", path)).body) == 1, path
        assert (await users.as_stranger("GET", path)).body == [], path
