"""A REST edge with everything behind it, for all tests of this folder."""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from openspot.deposit.deposit import deposit
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import PlatformSettings
from tests.support.background_platform import Background, background
from tests.support.engine_client import OPEN_ORDERS_EXPECTED
from tests.support.ports import free_port, free_ports
from tests.support.rest_client import RestClient

SERVICES = ("engine", "ledger", "router", "market-data", "custody", "rest-edge", "margin", "subscriptions")
DATABASE = "whole_edge"
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
    """By caller: anonymous has none."""
    user_id: str
    engine_url: str
    service_headers: dict[str, str]
    subscriptions_url: str


@pytest.fixture(scope="package")
def whole_edge(run_folder: Path, postgres_server: EmbeddedPostgres) -> Iterator[WholeEdge]:
    """A running edge. `user` is registered and has funds."""
    server = EmbeddedNats(run_folder / "whole-edge-nats", free_port(), configuration=NatsConfiguration(is_synced=False))
    server.start()
    data = run_folder / "whole-edge"
    data.mkdir()
    settings = PlatformSettings(
        database_url=postgres_server.url(DATABASE),
        nats_url=server.url,
        data_dir=data,
        jwt_secret="test-secret-of-at-least-thirty-two-bytes",
        engine_api_key=KEY,
        engine_api_secret=SECRET,
        throttle_enabled=False,
        withdrawal_address_wait_s=0,
        custody_block_s=0.05,
        kyc_webhook_secret=WEBHOOK_SECRET,
        payment_callback_secret=WEBHOOK_SECRET,
        engine_open_orders_expected=OPEN_ORDERS_EXPECTED,
        subscriptions_throttle_enabled=False,
        positions_throttle_enabled=False,
        **free_ports(),
    )
    databases = {DATABASE: "openspot", f"{DATABASE}_subscriptions": "openspot_subscriptions"}
    try:
        for name, template in databases.items():
            statement = f"CREATE DATABASE {name} TEMPLATE {template} OWNER openspot"
            asyncio.run(_administer(postgres_server, statement))
        with background(settings, *SERVICES) as services:
            user_id = services.run(_registered(settings))
            client_tokens = services.run(_tokens(settings, user_id))
            yield WholeEdge(
                services, settings.rest_url, client_tokens, user_id, settings.engine_url, HEADERS,
                settings.subscriptions_url,
            )  # fmt: skip
        for name in databases:
            asyncio.run(_administer(postgres_server, f"DROP DATABASE {name} WITH (FORCE)"))
    finally:
        server.stop()
        shutil.rmtree(server.directory, ignore_errors=True)


async def _administer(server: EmbeddedPostgres, statement: str) -> None:
    connection = await asyncpg.connect(server.administrator_url())
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


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
