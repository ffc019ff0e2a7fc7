"""The client's ways to prove who it is, against the real edges: a second factor, and signatures of an API key."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from openspot.client import ApiError, Ed25519Key, HmacKey, MfaRequiredError, OpenSpotClient, Push
from openspot.client.signing import RequestSigner
from openspot.contracts import subjects
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.authenticator import PASSWORD, Authenticator, enable_mfa, register
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import stretched
from tests.support.websocket_edge import Publish, order_event

EMAIL = "ada@example.org"


@pytest.fixture
async def owner(edge: Settings, bus: Bus) -> AsyncIterator[RestClient]:
    """Both edges, an order router of this process, and a user who is logged in."""
    await FakeRouter(bus).start()
    async with running_edge(edge) as client:
        await register(client, EMAIL)
        yield client


async def make_key(owner: RestClient, *scopes: str, **fields: Any) -> dict[str, Any]:
    reply = await owner("POST", "/api-keys", {"name": "robot", "scopes": list(scopes)} | fields)
    assert reply.status == 201, reply.body
    return dict(reply.body)


def client_of(owner: RestClient, api_key: RequestSigner | None = None) -> OpenSpotClient:
    return OpenSpotClient(owner.settings.rest_url, owner.settings.ws_url, api_key=api_key)


async def test_a_login_with_mfa_takes_two_steps(owner: RestClient) -> None:
    app: Authenticator = await enable_mfa(owner)
    async with client_of(owner) as client:
        with pytest.raises(MfaRequiredError) as caught:
            await client.login(EMAIL, PASSWORD)
        challenge = caught.value.challenge
        assert challenge.methods == ["totp", "recovery_code"]
        with pytest.raises(ApiError) as refused:
            await client.orders()
        assert refused.value.status == 401
        with pytest.raises(ApiError) as refused:
            await client.login_mfa(challenge, app.wrong_code())
        assert (refused.value.status, refused.value.code) == (400, "MFA_CODE_INVALID")
        session = await client.login_mfa(challenge, app.code())
        assert session.access_token and (await client.orders()) is not None
        with pytest.raises(ApiError) as refused:
            await client.login_mfa(challenge, app.recovery_codes[0])
        assert refused.value.code == "MFA_CHALLENGE_INVALID"


async def signer_of(owner: RestClient, algorithm: str, *scopes: str) -> RequestSigner:
    if algorithm == "hmac-sha256":
        made = await make_key(owner, *scopes)
        return HmacKey(made["id"], made["secret"])
    private = Ed25519PrivateKey.generate()
    public = base64.b64encode(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    made = await make_key(owner, *scopes, algorithm=algorithm, publicKey=public)
    return Ed25519Key(made["id"], private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


@pytest.mark.parametrize("algorithm", ["hmac-sha256", "ed25519"])
async def test_a_key_signs_requests_and_streams(owner: RestClient, publish: Publish, algorithm: str) -> None:
    signer = await signer_of(owner, algorithm, "read", "trade")
    async with client_of(owner, signer) as client, client.stream() as stream:
        order = await client.place_order("BTC-USD", "buy", quantity="0.5", price="100.25")
        assert order.symbol == "BTC-USD"
        # A query whose values must be encoded, and equal requests at once.
        pages = await asyncio.gather(*(client.orders(client_order_id="a:b/c", limit=5) for _ in range(5)))
        assert all(page.next_cursor is None for page in pages)
        with pytest.raises(ApiError) as refused:
            await client.cancel_order(order.order_id)
        assert (refused.value.status, refused.value.code) == (403, "INSUFFICIENT_SCOPE")
        await publish(subjects.of_user(subjects.ORDERS_CREATED, order.user_id), order_event(order.user_id))
        pushed = await asyncio.wait_for(anext(aiter(stream)), stretched(30))
        assert isinstance(pushed, Push) and pushed.data["orderId"] == "order1"


async def test_a_wrong_or_weak_key_is_an_api_error(owner: RestClient) -> None:
    right = await make_key(owner, "trade")
    async with client_of(owner, HmacKey(right["id"], "another secret")) as client:
        for ask in (client.orders, client.stream().__aenter__):
            with pytest.raises(ApiError) as refused:
                await ask()
            assert refused.value.status == 401
    async with client_of(owner, HmacKey(right["id"], right["secret"])) as client:
        for ask in (client.orders, client.stream().__aenter__):
            with pytest.raises(ApiError) as refused:
                await ask()
            assert (refused.value.status, refused.value.code) == (403, "INSUFFICIENT_SCOPE")
