"""Whether the bus answers does not depend on who else listens to it."""

import asyncio

import nats
import pytest

from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.suspension import frozen
from tests.support.waiting import subscribed


async def test_the_bus_is_there_for_a_service_while_somebody_listens_to_everything(bus: Bus, nats_url: str) -> None:
    listener = await nats.connect(nats_url)
    await listener.subscribe(">")
    await subscribed(listener)
    await bus.check()
    await listener.close()


async def test_checks_leave_no_subscription_behind(bus: Bus) -> None:
    before = bus.connection.client._subs.copy()
    for _ in range(20):
        await bus.check()
    await asyncio.gather(*(bus.check() for _ in range(20)))
    assert bus.connection.client._subs == before


async def test_a_server_that_is_gone_or_silent_fails_the_check_and_its_return_passes_it(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    bus = await Bus.connect(settings, "test")
    before = set(bus.connection.client._subs)
    assert nats_server.process is not None
    with frozen(nats_server.process.pid), pytest.raises(BusUnavailableError):
        await bus.check()
    await bus.check()
    assert set(bus.connection.client._subs) == before
    await bus.close()
    with pytest.raises(BusUnavailableError):
        await bus.check()
