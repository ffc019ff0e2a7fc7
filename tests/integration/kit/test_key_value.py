"""Key-value buckets: typed values, revisions, and a watch that survives."""

import asyncio
import time

import msgspec
import nats
import pytest
from nats.js.kv import KeyValue

from openspot.kit.bus import Bus, Entry, KeyValueBucket, KeyValueError, WrongRevisionError
from openspot.kit.bus import key_value as key_value_module
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.suspension import frozen
from tests.support.waiting import eventually, stretched


class Point(msgspec.Struct, frozen=True):
    x: int
    y: int


@pytest.fixture
def points(bus: Bus) -> KeyValueBucket[Point]:
    return bus.key_value("points", Point)


async def test_a_key_is_created_once_changed_by_its_revision_and_deleted(points: KeyValueBucket[Point]) -> None:
    assert await points.get("a") is None
    first = await points.create("a", Point(1, 2))
    assert await points.get("a") == Entry("a", Point(1, 2), first)
    with pytest.raises(WrongRevisionError):
        await points.create("a", Point(3, 4))
    second = await points.put("a", Point(3, 4), first)
    assert second > first
    with pytest.raises(WrongRevisionError):
        await points.put("a", Point(5, 6), first)
    with pytest.raises(WrongRevisionError):
        await points.delete("a", first)
    third = await points.put("a", Point(7, 8))
    assert await points.get("a") == Entry("a", Point(7, 8), third)
    await points.delete("a", third)
    assert await points.get("a") is None
    assert await points.create("a", Point(9, 9)) > third


async def test_an_expected_revision_of_zero_is_that_of_a_missing_key(points: KeyValueBucket[Point]) -> None:
    revision = await points.put("a", Point(1, 2), 0)
    with pytest.raises(WrongRevisionError):
        await points.put("a", Point(1, 2), 0)
    assert await points.put("a", Point(3, 4), revision) == revision + 1


async def test_an_entry_lives_as_long_as_its_bucket_says(bus: Bus) -> None:
    bucket = bus.key_value("short", bytes, 1.0)
    began = time.monotonic()
    await bucket.put("a", b"x")
    # On a busy machine its second may be over before it is read.
    assert await bucket.get("a") is not None or time.monotonic() - began >= 1

    async def gone() -> bool:
        return await bucket.get("a") is None

    await eventually(gone)
    await bucket.create("a", b"y")


async def test_a_key_that_expires_while_it_is_created_counts_as_existing(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = bus.key_value("short", bytes, 60.0)
    revision = await bucket.create("a", b"x")
    look = KeyValue._get

    async def expire_first(self: KeyValue, *arguments: object, **options: object) -> object:
        await self._js.purge_stream("KV_short")
        return await look(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(KeyValue, "_get", expire_first)
    with pytest.raises(WrongRevisionError, match="a has only just expired"):
        await bucket.create("a", b"y")
    monkeypatch.undo()
    assert await bucket.create("a", b"y") > revision


async def test_a_value_that_cannot_be_read_is_an_error_and_a_key_that_cannot_exist_is_missing(
    bus: Bus, points: KeyValueBucket[Point]
) -> None:
    await bus.key_value("points", bytes).put("bad", b"{")
    with pytest.raises(KeyValueError, match="the value of bad cannot be read"):
        await points.get("bad")
    assert await points.get("no such key!") is None
    with pytest.raises(KeyValueError, match="no key can have this name"):
        await points.put("no such key!", Point(1, 2))


async def test_without_a_connection_nothing_is_read_or_written(settings: Settings, nats_server: EmbeddedNats) -> None:
    bus = await Bus.connect(settings, "test")
    bucket = bus.key_value("points", Point)
    await bucket.create("a", Point(1, 2))
    nats_server.kill()
    await eventually(lambda: not bus.is_connected)
    for call in (bucket.get("a"), bucket.put("a", Point(1, 1)), bucket.create("b", Point(1, 1)), bucket.delete("a")):
        with pytest.raises(KeyValueError, match="not connected"):
            await call
    nats_server.start()
    await eventually(lambda: bus.is_connected)
    assert (await bucket.get("a")) == Entry("a", Point(1, 2), 1)
    await bus.close()


async def test_a_bucket_that_the_server_has_lost_is_made_again(bus: Bus, points: KeyValueBucket[Point]) -> None:
    await points.create("a", Point(1, 2))
    await bus.connection.jetstream.delete_key_value("points")
    with pytest.raises(KeyValueError):
        await points.put("a", Point(3, 4))
    await points.put("a", Point(5, 6))
    assert (await points.get("a")) == Entry("a", Point(5, 6), 1)


class Watcher:
    """A running watch, and what it has handed over."""

    def __init__(self, bucket: KeyValueBucket[Point]) -> None:
        self.entries: list[Entry[Point]] = []
        self.caught_up = 0
        self.task = asyncio.create_task(bucket.watch(self.entries.append, self._note))

    def _note(self) -> None:
        self.caught_up += 1

    @property
    def values(self) -> list[tuple[str, Point | None]]:
        return [(entry.key, entry.value) for entry in self.entries]


async def test_a_watch_hands_over_what_is_there_then_says_so_then_every_change(points: KeyValueBucket[Point]) -> None:
    await points.put("a", Point(1, 1))
    await points.put("a", Point(2, 2))
    await points.put("b", Point(3, 3))
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    assert watcher.values == [("a", Point(2, 2)), ("b", Point(3, 3))]
    await points.put("c", Point(4, 4))
    await points.delete("a")
    await eventually(lambda: len(watcher.entries) == 4)
    assert watcher.values[2:] == [("c", Point(4, 4)), ("a", None)]
    assert watcher.caught_up == 1
    assert all(entry.created_ms > 1_600_000_000_000 for entry in watcher.entries)
    await end_tasks(watcher.task)


async def test_a_watch_of_an_empty_bucket_is_current_at_once(points: KeyValueBucket[Point]) -> None:
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    assert watcher.entries == []
    await end_tasks(watcher.task)


async def test_an_entry_that_cannot_be_read_is_left_out_of_a_watch(bus: Bus, points: KeyValueBucket[Point]) -> None:
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    await bus.key_value("points", bytes).put("bad", b"{")
    await points.put("good", Point(1, 1))
    await eventually(lambda: watcher.entries)
    assert watcher.values == [("good", Point(1, 1))]
    await end_tasks(watcher.task)


async def test_a_watch_goes_on_after_the_server_was_killed(
    settings: Settings, nats_server: EmbeddedNats, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not by chance: the reconnect itself makes it look.
    monkeypatch.setattr(key_value_module, "LOOK_S_MAX", 3600)
    points = bus.key_value("points", Point)
    watcher = Watcher(points)
    await points.put("a", Point(1, 1))
    # A watch that the kill meets before it has read everything has not caught up once.
    await eventually(lambda: watcher.caught_up and watcher.values == [("a", Point(1, 1))])
    caught_up = watcher.caught_up
    nats_server.kill()
    nats_server.start()
    # Another process writes before the watching one is back.
    client = await nats.connect(settings.nats_url)
    await (await client.jetstream().key_value("points")).put("b", b'{"x":2,"y":2}')
    await client.close()
    await eventually(lambda: len(watcher.entries) == 2)
    assert watcher.values == [("a", Point(1, 1)), ("b", Point(2, 2))]
    await eventually(lambda: watcher.caught_up > caught_up)
    await points.put("c", Point(3, 3))
    await eventually(lambda: watcher.values[-1] == ("c", Point(3, 3)))
    await end_tasks(watcher.task)


@pytest.mark.parametrize(
    ("least_s", "longest_s"),
    [(0.2, 0.2), (key_value_module.LOOK_S_MIN, 3600)],
    ids=["at its regular look", "soon after it began"],
)
async def test_a_watch_sees_a_change_of_which_it_was_not_told(
    bus: Bus, monkeypatch: pytest.MonkeyPatch, least_s: float, longest_s: float
) -> None:
    monkeypatch.setattr(key_value_module, "LOOK_S_MIN", least_s)
    monkeypatch.setattr(key_value_module, "LOOK_S_MAX", longest_s)

    async def hear_nothing(self: object, _: object) -> None:
        """The hint is lost, or came before the subscription."""

    monkeypatch.setattr(key_value_module._Watch, "_note_hint", hear_nothing)
    points = bus.key_value("points", Point)
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    await points.put("a", Point(1, 1))
    await eventually(lambda: watcher.values == [("a", Point(1, 1))])
    await end_tasks(watcher.task)


async def test_a_watch_begins_again_in_a_bucket_that_counts_from_one_again(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_value_module, "LOOK_S_MAX", 0.1)
    points = bus.key_value("points", Point)
    watcher = Watcher(points)
    for number in range(5):
        await points.put("a", Point(number, number))
    await eventually(lambda: watcher.values[-1:] == [("a", Point(4, 4))])
    await bus.connection.jetstream.delete_key_value("points")
    await bus.key_value("points", Point).put("b", Point(9, 9))
    await eventually(lambda: watcher.values[-1:] == [("b", Point(9, 9))])
    await end_tasks(watcher.task)


async def test_a_watch_makes_no_consumer(bus: Bus, points: KeyValueBucket[Point]) -> None:
    await points.put("a", Point(1, 1))
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    assert await bus.connection.jetstream.consumers_info("KV_points") == []
    await end_tasks(watcher.task)


async def test_a_server_that_stands_still_ends_no_watch(settings: Settings, nats_server: EmbeddedNats) -> None:
    bus = await Bus.connect(settings, "test")
    points = bus.key_value("points", Point)
    watcher = Watcher(points)
    await eventually(lambda: watcher.caught_up)
    assert nats_server.process is not None
    with frozen(nats_server.process.pid), pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await points.put("a", Point(1, 1))
    await points.put("b", Point(2, 2))
    await eventually(lambda: ("b", Point(2, 2)) in watcher.values)
    await end_tasks(watcher.task)
    await bus.close()


async def test_a_watch_that_is_cancelled_in_its_first_moments_ends_at_once(bus: Bus) -> None:
    """The client library loses a cancellation that meets an answer; ours must not depend on the moment."""
    points = bus.key_value("points", Point)
    await points.put("a", Point(1, 1))
    loop = asyncio.get_running_loop()
    for turns in range(60):
        watcher = Watcher(points)
        for _ in range(turns):
            await asyncio.sleep(0)
        began = loop.time()
        await end_tasks(watcher.task)
        assert loop.time() - began < stretched(1), f"cancelled after {turns} turns of the loop"
