"""What NATS has acknowledged survives a power cut if it syncs before it acknowledges, and does not otherwise."""

from pathlib import Path

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.contracts.streams import CUSTODY, TRADES
from openspot.kit.bus import Bus, BusStreamError
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import PlatformSettings
from tests.support.ledger import trade
from tests.support.ports import free_port
from tests.support.power_cut import after_power_cut

EVENTS = 100
LENGTH = 300_000
"""So long a text makes a stream fill several blocks, which the server compresses."""


async def publish_all(settings: Settings) -> None:
    """Publish events that carry money, and write a key after each. Returns when all are acknowledged."""
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    positions = bus.key_value("positions", int)
    for number in range(1, EVENTS + 1):
        event = DepositConfirmed(f"{number:0{LENGTH}}", "ann", "USD", "1")
        await bus.publish(subjects.TRADES_EXECUTED, trade(number), f"trade-{number}")
        await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{number}")
        await positions.put("newest", number)
    await bus.close()


async def survivors(settings: Settings) -> tuple[int, int, int]:
    """(trades, deposits, newest key) that are left."""
    bus = await Bus.connect(settings, "test")
    try:
        trades = await bus.newest(TRADES.name, subjects.TRADES_EXECUTED)
        deposits = await bus.newest(CUSTODY.name, subjects.CUSTODY_DEPOSIT_CONFIRMED)
        entry = await bus.key_value("positions", int).get("newest")
        return trades, deposits, 0 if entry is None or entry.value is None else entry.value
    except BusStreamError:
        return 0, 0, 0
    finally:
        await bus.close()


@pytest.mark.parametrize("is_synced", [True, False])
async def test_a_power_cut_loses_acknowledged_events_only_without_sync(disk_folder: Path, is_synced: bool) -> None:
    configuration = NatsConfiguration() if is_synced else NatsConfiguration(is_synced=False)
    server = EmbeddedNats(disk_folder / "before", free_port(), configuration=configuration)
    server.start()
    settings = PlatformSettings(nats_url=server.url, data_dir=disk_folder)
    await publish_all(settings)
    server = after_power_cut(server, disk_folder / "after")
    server.start()
    try:
        left = await survivors(settings)
        if is_synced:
            assert left == (EVENTS, EVENTS, EVENTS)
        else:
            # The control of this test: it sees a loss where there is one.
            assert max(left) < EVENTS
    finally:
        server.stop()
