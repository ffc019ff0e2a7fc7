"""A NATS server that stands still for a while, instead of going away: connections stay, answers do not come."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psutil
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerLock, LedgerLockReply
from openspot.contracts.streams import BALANCES
from openspot.kit.bus import Bus, BusUnavailableError, OutgoingEvent, PublishError
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.ws_edge.feed import Feed
from openspot.ws_edge.hub import Hub
from tests.support.waiting import eventually

LOCK = LedgerLock("u1", "BTC", "1", "r1")


@asynccontextmanager
async def standing_still(server: EmbeddedNats) -> AsyncIterator[None]:
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    process.suspend()
    try:
        await eventually(lambda: process.status() == psutil.STATUS_STOPPED)
        yield
    finally:
        process.resume()


async def answers(connection: Bus | Feed) -> bool:
    try:
        await connection.check()
    except BusUnavailableError:
        return False
    return True


async def test_a_connection_that_was_checked_while_the_server_stood_still_hears_again(
    bus: Bus, settings: Settings, nats_server: EmbeddedNats
) -> None:
    async def provide(_: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(True)

    provider = await Bus.connect(settings, "provider")
    await provider.serve(subjects.LEDGER_LOCK, "q", LedgerLock, provide, LedgerLockReply.refused)
    await provider.check()
    async with standing_still(nats_server):
        for connection in (bus, provider):
            with pytest.raises(BusUnavailableError):
                await connection.check()
    await eventually(lambda: answers(bus))
    await eventually(lambda: answers(provider))
    assert (await bus.request(subjects.LEDGER_LOCK, LOCK, LedgerLockReply)).success
    await provider.close()


async def test_a_feed_that_was_checked_while_the_server_stood_still_hears_again(
    bus: Bus, settings: Settings, nats_server: EmbeddedNats
) -> None:
    feed = Feed(settings, Hub(lambda: 0), lambda _: None, lambda _: None)
    await feed.start()
    assert await answers(feed)
    async with standing_still(nats_server):
        with pytest.raises(BusUnavailableError):
            await feed.check()
    await eventually(lambda: answers(feed))
    assert not await feed.session_has_ended("some-session")
    await feed.close()


async def test_an_event_that_was_lost_with_its_connection_is_noticed(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a batch the first and the last are acknowledged: between them the connection was another one."""
    client, inbox = bus.connection.client, bus.connection.inbox
    publish = client.publish

    async def publish_or_lose(subject: str, payload: bytes, **options: Any) -> None:
        if (options.get("headers") or {}).get("Nats-Msg-Id") != "m2":
            await publish(subject, payload, **options)
            return
        await eventually(lambda: all(waiter.done() for waiter in inbox._waiting.values()))
        # It was written to a socket, and with the socket it is gone.
        await client.force_reconnect()
        await eventually(lambda: bus.is_connected)

    subject = subjects.of_user(subjects.BALANCES_UPDATED, "u1")
    batch = [OutgoingEvent(subject, b"{}", f"m{number}") for number in (1, 2, 3)]
    with monkeypatch.context() as patch:
        patch.setattr(client, "publish", publish_or_lose)
        with pytest.raises(PublishError, match="not surely stored") as failed:
            await bus.publish_many(batch)
    assert [event.message_id for event in failed.value.unpublished] == ["m2"]
    await bus.publish_many(failed.value.unpublished)
    info = await bus.connection.jetstream.stream_info(BALANCES.name)
    assert info.state.messages == 3
