"""A program trades with an API key on a real platform: signed orders, safe repetitions, events by WebSocket."""

import asyncio
import base64
import json
import secrets
from decimal import Decimal
from typing import Any

import aiohttp
import pytest
from nacl.signing import SigningKey
from websockets.asyncio.client import ClientConnection, connect

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus
from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import log_in
from tests.support.rest_client import PREFIX, Reply, RestClient
from tests.support.signed_requests import Signer
from tests.support.waiting import eventually, stretched, unstarved

CREDENTIALS = {"email": f"{secrets.token_hex(6)}@robot.example", "password": "a long pass phrase"}
ORDER = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.01", "price": "240"}


async def ask(client: RestClient, signer: Signer, method: str, path: str, body: Any = None, **headers: str) -> Reply:
    raw = b"" if body is None else json.dumps(body).encode()
    token, client.token = client.token, None
    try:
        signed = signer.headers(method, PREFIX + path, raw)
        return await client(method, path, raw=raw or None, headers=signed | headers)
    finally:
        client.token = token


async def served(client: RestClient, method: str, path: str, body: Any = None) -> Any:
    """The body of a reply to the user's session, with which the platform has done something."""
    reply = await unstarved(lambda: client(method, path, body))
    assert reply.status in (200, 201), reply.body
    return reply.body


async def next_order_event(events: ClientConnection) -> dict[str, Any]:
    """The next push of the channel `orders`; balances are pushed beside it."""
    async with asyncio.timeout(stretched(20)):
        while (pushed := json.loads(await events.recv()))["channel"] != "orders":
            pass
        return pushed


@pytest.mark.spec("A5-12", "A5-13", "A5-14")
async def test_a_program_trades_with_a_key(platform: ChildPlatform) -> None:
    settings = platform.settings
    client = RestClient(settings)
    bus = await Bus.connect(settings, "test")
    try:
        user_id = (await served(client, "POST", "/auth/register", CREDENTIALS))["userId"]
        client.token = await log_in(client, CREDENTIALS)
        event = DepositConfirmed(f"0x{user_id}", user_id, "USD", "1000")
        await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, event.tx_hash)

        async def funded() -> bool:
            balances = await served(client, "GET", "/accounts/balances")
            return any(Decimal(balance["available"]) == 1000 for balance in balances)

        await eventually(funded, 30)
        created = await served(client, "POST", "/api-keys", {"name": "robot", "scopes": ["read", "trade", "cancel"]})
        signer = Signer(created["id"], created["secret"])
        async with connect(settings.ws_url + "/", additional_headers=signer.headers("GET", "/")) as events:
            key = {"Idempotency-Key": "first"}
            placed = [await ask(client, signer, "POST", "/orders", ORDER, **key) for _ in range(2)]
            assert [reply.status for reply in placed] == [201, 201]
            assert (placed[1].headers["Idempotency-Hit"], placed[1].body) == ("true", placed[0].body)
            order_id = placed[0].body["orderId"]
            pushed = await next_order_event(events)
            assert (pushed["event"], pushed["data"]["orderId"]) == ("order.created", order_id)
            batch = await ask(client, signer, "POST", "/orders/batch", {"orders": [ORDER, ORDER | {"price": "0"}]})
            assert [entry["status"] for entry in batch.body] == [201, 400]
            assert len((await ask(client, signer, "GET", "/orders?status=open")).body) == 2
            cancelled = await ask(client, signer, "DELETE", "/orders")
            assert order_id in cancelled.body["cancelled"]
            rotated = await served(client, "POST", f"/api-keys/{signer.key_id}/rotate", {})
            await asyncio.wait_for(events.wait_closed(), stretched(20))
        assert (await ask(client, signer, "GET", "/orders")).status == 401
        signer = Signer(signer.key_id, rotated["secret"])
        assert (await ask(client, signer, "GET", "/orders")).status == 200
        await served(client, "DELETE", f"/api-keys/{signer.key_id}")
        assert (await ask(client, signer, "GET", "/orders")).status == 401
        private = SigningKey.generate()
        public = {"publicKey": base64.b64encode(bytes(private.verify_key)).decode()}
        wanted = {"name": "Ed25519", "scopes": ["read"], "algorithm": "ed25519"} | public
        signer = Signer((await served(client, "POST", "/api-keys", wanted))["id"], private)
        assert (await ask(client, signer, "GET", "/orders?limit=1")).status == 200
        async with aiohttp.ClientSession(settings.rest_url) as session:
            candles = await session.get(f"{PREFIX}/markets/BTC-USD/candles?interval=1h")
            assert candles.status == 200
    finally:
        await bus.close()
        await client.close()
