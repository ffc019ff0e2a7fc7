"""Writes to a bucket while the bus is away: refused now, and written when it is back."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from openspot.http.api_keys.changes import ChangeNotToldError, KeyChanges
from openspot.http.api_keys.store import Ended
from openspot.kit.bus import Bus, KeptWrites, KeyValueBucket, KeyValueError
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.waiting import eventually, hasty


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A write soon gives up waiting for a bus that has just been killed."""
    return hasty(settings)


@pytest.fixture
def numbers(bus: Bus) -> KeyValueBucket[int]:
    return bus.key_value("numbers", int)


async def value_of(bucket: KeyValueBucket[int], key: str) -> int | None:
    try:
        entry = await bucket.get(key)
    except KeyValueError:
        return None
    return entry.value if entry is not None else None


async def test_of_the_writes_that_the_bus_missed_it_gets_the_newest_of_each_key(
    numbers: KeyValueBucket[int], nats_server: EmbeddedNats
) -> None:
    writes = KeptWrites(numbers, 3600.0)
    repeating = asyncio.create_task(writes.run())
    await writes.put("a", 1)
    nats_server.kill()
    for key, value in (("a", 2), ("a", 3), ("b", 4)):
        with pytest.raises(KeyValueError):
            await writes.put(key, value)
    nats_server.start()

    async def written() -> bool:
        return (await value_of(numbers, "a"), await value_of(numbers, "b")) == (3, 4)

    await eventually(written, 60)
    await end_tasks(repeating)


async def test_a_write_whose_entry_would_have_expired_is_given_up(
    numbers: KeyValueBucket[int], nats_server: EmbeddedNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    put = numbers.put

    async def noted_put(key: str, value: int, expected_revision: int | None = None) -> int:
        tried.append(key)
        return await put(key, value, expected_revision)

    monkeypatch.setattr(numbers, "put", noted_put)
    nats_server.kill()
    for life_s in (0.0, 3600.0):
        writes = KeptWrites(numbers, life_s)
        with pytest.raises(KeyValueError):
            await writes.put(f"life of {life_s:g} s", 1)
        repeating = asyncio.create_task(writes.run())
        # The first attempt of `run` needs no time: the bucket refuses at once without a connection.
        for _ in range(10):
            await asyncio.sleep(0)
        await end_tasks(repeating)
    assert tried == ["life of 0 s", "life of 3600 s", "life of 3600 s"]


@pytest.fixture
async def other_bus(settings: Settings) -> AsyncIterator[Bus]:
    bus = await Bus.connect(settings, "other")
    yield bus
    await bus.close()


@pytest.mark.spec("A5-13")
async def test_a_key_that_was_revoked_while_the_bus_was_away_ends_in_other_processes_later(
    bus: Bus, other_bus: Bus, nats_server: EmbeddedNats
) -> None:
    heard: list[Ended] = []
    here, there = KeyChanges(bus, lambda _: None), KeyChanges(other_bus, heard.append)
    here.start()
    there.start()
    await here.tell(Ended("known", 1))
    await eventually(lambda: Ended("known", 1) in heard, 60)
    nats_server.kill()
    with pytest.raises(ChangeNotToldError):
        await here.tell(Ended("revoked", 2))
    nats_server.start()
    await eventually(lambda: Ended("revoked", 2) in heard, 60)
    await here.stop()
    await there.stop()
