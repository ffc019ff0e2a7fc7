"""The keeper makes what the services may not make, makes it again, and says what a bus has lost."""

import asyncio
import json
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import AsyncMock, MagicMock

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed, ExecutedTrade
from openspot.contracts.streams import CUSTODY, ORDERS, RETIRED_CONSUMERS, StreamConsumer
from openspot.kit.bus import Bus, BusError, Consumption, DurableConsumer
from openspot.kit.bus import consumer as consumer_module
from openspot.kit.bus.preparation import consumer_configuration
from openspot.kit.bus.streams import Streams
from openspot.kit.health import Health
from openspot.kit.metrics import BUS_CONSUMER_RESETS
from openspot.kit.settings import Settings
from openspot.positions.descriptor import FILLS
from openspot.router.descriptor import DEPOSIT
from openspot.up import bus_keeper
from openspot.up.bus_keeper import needs_of
from openspot.up.bus_passwords import FILE_NAME, BusPasswordsError, kept_passwords
from openspot.up.bus_tools import BusCommandError, credentials_of, prepare
from openspot.up.bus_users import ACCESSES, KEEPER, STORE, republished
from openspot.up.embedded_nats import EmbeddedNats, adopt_streams, end_leftover
from openspot.up.services import PlatformSettings
from tests.support.embedded_bus import EmbeddedBus
from tests.support.ledger import trade
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

DEPOSIT_EVENT = DepositConfirmed("tx-1", "u1", "USD", "5")


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[EmbeddedBus]:
    found = EmbeddedBus(tmp_path / "bus")
    found.start()
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, and begin again soon."""
    monkeypatch.setattr(consumer_module, "LAG_INTERVAL_S", 0.1)
    monkeypatch.setattr(consumer_module, "RESTART_PAUSE_S_MAX", 0.2)
    monkeypatch.setattr(bus_keeper, "LOOK_S", 0.2)
    monkeypatch.setattr(bus_keeper, "RETRY_S", 0.2)


def test_every_bucket_that_is_read_is_made_and_every_consumer_reads_its_own_stream() -> None:
    needs = needs_of(PlatformSettings(follow_fills=True))
    read = {bucket for accesses in ACCESSES.values() for access in accesses for bucket in access.reads_buckets}
    assert read <= {bucket.name for bucket in needs.buckets}
    for consumer in needs.consumers:
        assert consumer.subject in consumer.stream.subjects or consumer.stream is CUSTODY
    assert FILLS in needs.consumers
    assert FILLS in needs_of(PlatformSettings(rules="complete")).consumers
    assert FILLS not in needs_of(PlatformSettings(rules="complete", follow_fills=False)).consumers
    assert FILLS not in needs_of(PlatformSettings()).consumers


async def test_a_consumer_of_an_earlier_release_is_taken_away(bus: EmbeddedBus) -> None:
    (stream, durable), *_ = RETIRED_CONSUMERS
    keeper = await Bus.connect(Settings(nats_url=bus.url(KEEPER), nats_synced=True), "keeper")
    try:
        left = StreamConsumer(ORDERS, "orders.filled.*", durable, 10)
        streams = Streams(keeper.connection)
        await keeper.connection.jetstream.add_consumer(stream, consumer_configuration(left))
        assert await streams.consumer(stream, durable) is not None
        await keeper.prepare(needs_of(PlatformSettings()))
        assert await streams.consumer(stream, durable) is None
        # There is nothing to take away the next time.
        await keeper.prepare(needs_of(PlatformSettings()))
    finally:
        await keeper.close()


def test_entries_live_as_long_as_the_settings_say() -> None:
    needs = needs_of(PlatformSettings(translator_lease_s=7.0, access_token_s=100))
    assert {bucket.name: bucket.life_s for bucket in needs.buckets} == {
        "router-lease": 7.0,
        "router-position": None,
        "router-withdrawals": 30 * 86_400,
        "market-data-lease": PlatformSettings().market_data_lease_s,
        "margin-lease": PlatformSettings().margin_lease_s,
        "sessions-revoked": 160,
        "api-keys-changed": 3600.0,
        "users-deleted": None,
    }


def test_the_subjects_that_the_server_repeats_follow_from_the_stream() -> None:
    needs = needs_of(PlatformSettings())
    assert {stream.name: list(republished(stream)) for stream in needs.streams if stream.republish} == {
        "ORDERS": [
            "orders.created",
            "orders.updated",
            "orders.rejected",
            "orders.cancelled",
            "orders.filled",
            "orders.incomplete",
        ]
    }


async def test_a_service_uses_its_streams_consumers_and_buckets_without_making_any(bus: EmbeddedBus) -> None:
    custody = await Bus.connect(bus.settings("custody"), "custody")
    router = await Bus.connect(bus.settings("router"), "router")
    taken: list[str] = []
    stop = asyncio.Event()

    async def take(events: list[DepositConfirmed]) -> None:
        taken.extend(event.tx_hash for event in events)

    consumer = DurableConsumer(router, Consumption.of(DEPOSIT, DepositConfirmed), take)
    consuming = asyncio.create_task(consumer.run(stop))
    await custody.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, DEPOSIT_EVENT, "m1")
    await eventually(lambda: taken == ["tx-1"])

    async def acknowledged() -> bool:
        state = await router.consumer_state(CUSTODY.name, DEPOSIT.durable)
        return state is not None and state.acknowledged_until == 1

    await eventually(acknowledged)
    position = router.key_value("router-position", int)
    revision = await position.create("newest", 5)
    assert await position.put("newest", 6, revision) == revision + 1
    found = await position.get("newest")
    assert found is not None
    assert found.value == 6
    stop.set()
    await consuming
    await router.close()
    await custody.close()


async def test_a_change_of_a_bucket_reaches_its_readers(bus: EmbeddedBus) -> None:
    edge = await Bus.connect(bus.settings("rest-edge"), "rest-edge")
    reader = await Bus.connect(bus.settings("ws-edge"), "ws-edge")
    seen: list[tuple[str, bytes | None]] = []
    ended = edge.key_value(subjects.SESSIONS_REVOKED_BUCKET, bytes)
    await ended.put("before", b"")
    watching = asyncio.create_task(
        reader.key_value(subjects.SESSIONS_REVOKED_BUCKET, bytes).watch(
            lambda entry: seen.append((entry.key, entry.value))
        )
    )
    await eventually(lambda: seen == [("before", b"")])
    await ended.put("after", b"x")
    await eventually(lambda: seen[1:] == [("after", b"x")])
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await reader.close()
    await edge.close()


def resets(durable: str) -> float:
    return float(BUS_CONSUMER_RESETS.labels(durable)._value.get())


async def test_after_a_bus_lost_its_disk_everything_is_made_again_and_the_consumers_say_so(
    bus: EmbeddedBus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = asyncio.Event()
    keeper = bus.keeper(tmp_path)
    assert await keeper.open() == []
    keeping = asyncio.create_task(keeper.run(stop))
    impatient_router = bus.settings("router").model_copy(update={"request_timeout_s": 0.5})
    router = await Bus.connect(impatient_router, "router")
    positions = await Bus.connect(bus.settings("positions"), "positions")
    taken: list[str] = []
    before = resets(FILLS.durable)

    async def take(events: list[ExecutedTrade]) -> None:
        taken.extend(event.id for event in events)

    consumer = DurableConsumer(positions, Consumption.of(FILLS, ExecutedTrade), take)
    consuming = asyncio.create_task(consumer.run(stop))

    async def health() -> dict[str, str]:
        found = Health()
        found.add_all_of(positions.consumer_checks)
        _, body = await found.report(vital_only=False)
        shown: dict[str, str] = body["details"][FILLS.durable]
        return shown

    async def published(number: int) -> bool:
        event = trade(number)
        try:
            await router.publish(subjects.TRADES_EXECUTED, event, event.id)
        except BusError:
            return False
        return True

    await eventually(lambda: published(1))
    await eventually(lambda: taken == ["epoch-1"])

    # Its progress as it last saw it is what it can tell of later.
    await eventually(lambda: consumer._acknowledged_until == 1)
    assert (await health())["status"] == "up"
    bus.server.kill()
    shutil.rmtree(bus.server.directory / "jetstream")
    bus.server.start()
    await eventually(lambda: published(2), 30)
    await eventually(lambda: taken == ["epoch-1", "epoch-2"], 30)
    await eventually(lambda: resets(FILLS.durable) == before + 1)
    shown = await health()
    assert shown["status"] == "degraded"
    assert shown["message"].startswith("the bus lost its place after event 1 of TRADES: events may never arrive")
    logged: list[str] = []

    def is_logged(message: str) -> bool:
        logged.append(capsys.readouterr().out)
        return message in "".join(logged)

    assert is_logged("the bus came back without this consumer: events may be missing")
    # The keeper tells it after the last stream, and events pass through the first ones before.
    await eventually(lambda: is_logged("the bus had lost streams, which were made again"), 30)
    stop.set()
    await asyncio.gather(keeping, consuming)
    await keeper.close()
    # A start after the loss of the disk tells it too, and the next one does not.
    bus.server.stop()
    shutil.rmtree(bus.server.directory / "jetstream")
    bus.server.start()
    for expected in (True, False):
        again = bus.keeper(tmp_path)
        lost = await again.open()
        assert ("TRADES" in lost and FILLS.durable in lost) is expected
        await again.close()
    await router.close()
    await positions.close()


async def test_a_bus_that_was_only_restarted_has_lost_nothing(bus: EmbeddedBus, tmp_path: Path) -> None:
    positions = await Bus.connect(bus.settings("positions"), "positions")
    before, stop = resets(FILLS.durable), asyncio.Event()
    consumer = DurableConsumer(positions, Consumption.of(FILLS, ExecutedTrade), AsyncMock())
    consuming = asyncio.create_task(consumer.run(stop))
    await eventually(lambda: consumer._made_at)
    looks = MagicMock(wraps=consumer._note_state)
    consumer._note_state = looks  # type: ignore[method-assign]
    for _ in range(2):
        keeper = bus.keeper(tmp_path)
        assert await keeper.open() == []
        await keeper.close()
        bus.server.kill()
        bus.server.start()
        seen = looks.call_count
        await eventually(lambda seen=seen: looks.call_count > seen, 30)
    assert resets(FILLS.durable) == before
    stop.set()
    await consuming
    await positions.close()


async def test_consumers_of_an_earlier_release_are_marked_and_not_lost(bus: EmbeddedBus, tmp_path: Path) -> None:
    keeper = await Bus.connect(Settings(nats_url=bus.url(KEEPER), nats_synced=True), "keeper")
    await keeper.connection.jetstream.delete_consumer(FILLS.stream.name, FILLS.durable)
    await keeper.connection.jetstream.add_consumer(FILLS.stream.name, consumer_configuration(FILLS))
    await keeper.close()
    (tmp_path / "bus-made.json").write_text(json.dumps({FILLS.durable: "2026-01-01T00:00:00+00:00"}))
    for _ in range(2):
        again = bus.keeper(tmp_path)
        assert await again.open() == []
        await again.close()


def test_a_server_that_a_killed_start_left_behind_is_ended(tmp_path: Path) -> None:
    left, other = EmbeddedNats(tmp_path / "bus", free_port()), EmbeddedNats(tmp_path / "other", free_port())
    left.start()
    other.start()
    try:
        assert end_leftover(left.directory)
        assert left.process is not None
        assert left.process.wait(stretched(10)) is not None
        assert not end_leftover(left.directory)
        # Another process has got its number since.
        assert other.process is not None
        (left.directory / "nats.pid").write_text(str(other.process.pid))
        assert not end_leftover(left.directory)
        assert other.process.poll() is None
    finally:
        other.stop()
        left.kill()


def test_streams_of_a_server_without_accounts_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "bus"
    earlier = EmbeddedNats(folder, free_port())
    earlier.start()

    async def fill() -> None:
        old = await Bus.connect(Settings(nats_url=earlier.url, nats_synced=True), "old")
        await old.ensure_streams()
        await old.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, DEPOSIT_EVENT, "m1")
        await old.close()

    asyncio.run(fill())
    earlier.stop()
    adopt_streams(folder, STORE)
    now = EmbeddedBus(folder)
    now.start()

    async def newest() -> int:
        keeper = await Bus.connect(Settings(nats_url=now.url(KEEPER), nats_synced=True), "keeper")
        try:
            return await keeper.newest(CUSTODY.name, subjects.CUSTODY_DEPOSIT_CONFIRMED)
        finally:
            await keeper.close()

    assert asyncio.run(newest()) == 1
    now.stop()
    adopt_streams(folder, STORE)


def test_passwords_stay_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    first = kept_passwords(tmp_path)
    assert first.keys() == {*ACCESSES, KEEPER}
    assert len(set(first.values())) == len(first)
    assert kept_passwords(tmp_path) == first
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    (tmp_path / FILE_NAME).write_text('{"venue": "kept"}')
    second = kept_passwords(tmp_path)
    assert second["venue"] == "kept"
    assert second.keys() == first.keys()
    (tmp_path / FILE_NAME).write_text("{")
    with pytest.raises(BusPasswordsError, match="is damaged"):
        kept_passwords(tmp_path)


def test_credentials_are_those_of_a_running_platform(tmp_path: Path) -> None:
    settings = PlatformSettings(data_dir=tmp_path)
    with pytest.raises(BusCommandError, match="'engine' does not use the bus; one of: custody, demo, "):
        credentials_of("engine", settings)
    with pytest.raises(BusCommandError, match="start `openspot up` first"):
        credentials_of("venue", settings)


def test_a_given_bus_is_prepared_for_services_that_may_make_nothing(tmp_path: Path) -> None:
    with pytest.raises(BusCommandError, match="set NATS_URL"):
        prepare(PlatformSettings())
    server = EmbeddedNats(tmp_path / "given", free_port())
    server.start()
    try:
        told = prepare(PlatformSettings(nats_url=server.url, nats_synced=True))
        needs = needs_of(PlatformSettings())
        assert told.startswith(
            f"{len(needs.streams)} streams, {len(needs.consumers)} consumers and 8 buckets are there."
        )

        async def state() -> object:
            settings = Settings(nats_url=server.url, nats_synced=True, nats_api_prefix="$JS.API")
            bus = await Bus.connect(settings, "router")
            try:
                await bus.ensure_streams()
                return await bus.consumer_state(CUSTODY.name, DEPOSIT.durable)
            finally:
                await bus.close()

        assert asyncio.run(state()) is not None
    finally:
        server.stop()
