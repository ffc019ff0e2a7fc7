"""The position and the margin service tell that the bus is gone, and that it is back."""

import json

import aiohttp
import asyncpg
import pytest

from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.services import SERVICES
from tests.support.in_process_platform import running
from tests.support.waiting import eventually

USED = ("engine", "router", "ledger", "market-data")


@pytest.mark.spec("A1.1-45", "A1.1-46", "A1.1-47", "A1.1-50", "A1.1-52")
@pytest.mark.parametrize("name", ["positions", "margin"])
async def test_without_the_bus_it_is_neither_healthy_nor_ready(
    settings: Settings, pool: asyncpg.Pool, nats_server: EmbeddedNats, name: str
) -> None:
    base = f"http://{settings.host}:{SERVICES[name].ready_port(settings)}"
    async with running(settings, *USED, name), aiohttp.ClientSession() as client:

        async def status(path: str) -> tuple[int, dict[str, object]]:
            async with client.get(f"{base}{path}") as response:
                return response.status, json.loads(await response.read())

        async def is_there() -> bool:
            return [(await status(path))[0] for path in ("/health", "/ready")] == [200, 200]

        await eventually(is_there)
        nats_server.kill()
        for path in ("/health", "/ready"):
            code, body = await status(path)
            assert code == 503
            assert "bus" in str(body["error"])
        nats_server.start()
        await eventually(is_there, 60)
