"""Every durable consumer that a package declares is in the health and in the metrics of its process."""

import json

import aiohttp
import pytest

from openspot.kit.settings import Settings
from openspot.up.services import SERVICES
from tests.support.in_process_platform import running

CONSUMING = {
    name: {consumer.durable for consumer in process.bus.consumes}
    for name, process in SERVICES.items()
    if process.bus is not None and process.bus.consumes
}
STARTED_BEFORE = {"router": ("engine",), "rest-edge": ("engine",)}


def test_the_processes_that_consume_are_known() -> None:
    assert {"ledger", "router", "custody", "positions", "rest-edge"} <= CONSUMING.keys()


@pytest.mark.parametrize("name", sorted(CONSUMING))
async def test_declared_consumers_are_in_the_details_of_ready_and_in_the_metrics(settings: Settings, name: str) -> None:
    base = f"http://{settings.host}:{SERVICES[name].ready_port(settings)}"
    settings = settings.model_copy(update={"follow_fills": True})
    async with running(settings, *STARTED_BEFORE.get(name, ()), name), aiohttp.ClientSession() as client:
        async with client.get(f"{base}/ready") as response:
            details = json.loads(await response.read())["details"]
        async with client.get(f"{base}/metrics") as response:
            metrics = await response.text()
    assert {durable: details.get(durable) for durable in CONSUMING[name]} == {
        durable: {"status": "up"} for durable in CONSUMING[name]
    }
    for durable in CONSUMING[name]:
        assert f'openspot_bus_consumer_stuck{{durable="{durable}"}} 0.0' in metrics
