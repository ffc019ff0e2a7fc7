"""A REST edge with everything behind it, for all tests of this folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from openspot.deposit.deposit import deposit
from openspot.up.services import PlatformSettings
from tests.support.background_platform import Background, background
from tests.support.databases import TestDatabases
from tests.support.fixtures import platform_settings
from tests.support.operator import Operator
from tests.support.own_bus import own_bus
from tests.support.rest_client import RestClient

SERVICES = ("engine", "ledger", "router", "market-data", "custody", "rest-edge", "margin", "subscriptions")
KEY, SECRET = "test-key", "test-api-secret"
HEADERS = {"x-api-key": KEY, "x-api-secret": SECRET, "x-participant-type": "SYSTEM"}
WEBHOOK_SECRET = "webhook-secret-of-at-least-thirty-two-bytes"
FUNDS = {"USD": "1000000", "BTC": "100", "SOL": "10000"}


@dataclass(frozen=True)
class WholeEdge:
    """The edge, the access tokens of its callers, and the database behind it."""

    background: Background
    url: str
    tokens: dict[str, str | None]
    """By caller: anonymous has none, the operator has that of a session with the engine."""
    user_id: str
    engine_url: str
    service_headers: dict[str, str]
    subscriptions_url: str


@pytest.fixture(scope="package")
def whole_edge(
    run_folder: Path, databases: TestDatabases, subscriptions_databases: TestDatabases
) -> Iterator[WholeEdge]:
    """A running edge. `user` is registered and has funds."""
    with (
        own_bus(run_folder) as (server, data),
        databases.lend() as database_url,
        subscriptions_databases.lend() as subscriptions_database_url,
    ):
        changes = {
            "subscriptions_database_url": subscriptions_database_url,
            "withdrawal_address_wait_s": 0,
            "custody_block_s": 0.05,
            "kyc_webhook_secret": WEBHOOK_SECRET,
            "payment_callback_secret": WEBHOOK_SECRET,
            "subscriptions_throttle_enabled": False,
            # They have the most routes.
            "rules": "complete",
        }
        settings = platform_settings(data, database_url, server.url, shared=True).model_copy(update=changes)
        with background(settings, *SERVICES) as services:
            user_id = services.run(_registered(settings))
            client_tokens = services.run(_tokens(settings, user_id))
            operator = Operator(settings)
            client_tokens["operator"] = operator.login.token
            operator.close()
            yield WholeEdge(
                services, settings.rest_url, client_tokens, user_id, settings.engine_url, HEADERS,
                settings.subscriptions_url,
            )  # fmt: skip


async def _registered(settings: PlatformSettings) -> str:
    client = RestClient(settings)
    try:
        reply = await client("POST", "/auth/register", {"email": "user@edge.example", "password": "a long pass phrase"})
        assert reply.status == 201, reply.body
        for asset, amount in FUNDS.items():
            await deposit(settings, reply.body["userId"], asset, amount, f"first-{asset}")
        return str(reply.body["userId"])
    finally:
        await client.close()


async def _tokens(settings: PlatformSettings, user_id: str) -> dict[str, str | None]:
    client = RestClient(settings)
    try:
        # Without a session: no request can end what the others need.
        return {
            "anonymous": None,
            "user": client.as_user(user_id, life_s=86_400),
            "admin": client.as_user("an-admin", "admin", life_s=86_400),
        }
    finally:
        await client.close()
