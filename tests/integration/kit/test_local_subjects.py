"""Services that share a process ask each other without the bus, and are told the same as over it."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import msgspec
import nats
import pytest
from nats.aio.msg import Msg

from openspot.contracts.messages import LedgerLock, LedgerLockReply
from openspot.kit.bus import (
    Bus,
    BusyError,
    HandlerFailedError,
    LocalSubjects,
    MalformedRequestError,
    NoAnswerError,
    NotSentError,
    RequestFailedError,
    encode,
)
from openspot.kit.bus import provider as bus_provider
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.waiting import eventually, stretched, subscribed

SUBJECT = "ledger.lock.local"
LOCK = LedgerLock("u1", "BTC", "1", "r1")
Handler = Callable[[LedgerLock], Awaitable[LedgerLockReply]]


@dataclass
class Two:
    """Two services in one process, each with its own connection, and what a stranger on the bus overhears."""

    caller: Bus
    provider: Bus
    stranger: nats.NATS
    overheard: list[bytes] = field(default_factory=list)

    async def serve(self, handler: Handler) -> None:
        await self.provider.serve(SUBJECT, "q", LedgerLock, handler, LedgerLockReply.refused)
        await self.provider.check()

    async def ask(self, request: msgspec.Struct = LOCK, timeout_s: float | None = None) -> LedgerLockReply:
        return await self.caller.request(SUBJECT, request, LedgerLockReply, timeout_s)

    async def settled(self) -> None:
        """Whatever was published before this call has been overheard."""
        await subscribed(self.stranger)


@pytest.fixture
async def two(settings: Settings, nats_url: str) -> AsyncIterator[Two]:
    local = LocalSubjects()
    caller = await Bus.connect(settings, "caller", local=local)
    provider = await Bus.connect(settings, "provider", local=local)
    found = Two(caller, provider, await nats.connect(nats_url))

    async def overhear(message: Msg) -> None:
        found.overheard.append(message.data)

    await found.stranger.subscribe(SUBJECT, cb=overhear)
    await found.settled()
    yield found
    await caller.close()
    await provider.close()
    await found.stranger.close()


async def granted(request: LedgerLock) -> LedgerLockReply:
    return LedgerLockReply(True, error=request.user_id)


async def failing(_: LedgerLock) -> LedgerLockReply:
    raise RuntimeError("broken")


async def test_a_request_is_handled_without_a_message_on_the_bus(two: Two) -> None:
    await two.serve(granted)
    reply = await two.ask()
    assert (reply.success, reply.error) == (True, "u1")
    await two.settled()
    assert two.overheard == []


async def test_a_stranger_on_the_bus_is_served_as_well(two: Two) -> None:
    await two.serve(granted)
    answer = await two.stranger.request(SUBJECT, encode(LOCK))
    assert msgspec.json.decode(answer.data, type=LedgerLockReply).success
    assert two.overheard == [encode(LOCK)]


async def test_services_that_were_not_put_together_ask_over_the_bus(two: Two, settings: Settings) -> None:
    await two.serve(granted)
    apart = await Bus.connect(settings, "apart")
    assert (await apart.request(SUBJECT, LOCK, LedgerLockReply)).success
    await apart.close()
    await two.settled()
    assert two.overheard == [encode(LOCK)]


@pytest.mark.parametrize(
    "request_",
    [LedgerLock("u1", "BTC", 1, "r1"), LedgerLock(None, "BTC", "1", "r1")],  # type: ignore[arg-type]
)
async def test_what_the_decoder_would_refuse_does_not_reach_the_handler(two: Two, request_: LedgerLock) -> None:
    handled: list[LedgerLock] = []

    async def note(request: LedgerLock) -> LedgerLockReply:
        handled.append(request)
        return LedgerLockReply(True)

    await two.serve(note)
    with pytest.raises(MalformedRequestError, match="malformed request: Expected `str`") as failed:
        await two.ask(request_)
    assert not failed.value.may_have_happened
    assert handled == []


async def test_neither_side_gets_an_object_of_the_other(two: Two) -> None:
    seen: list[object] = []
    reply = LedgerLockReply(True)

    async def note(request: LedgerLock) -> LedgerLockReply:
        seen.append(request)
        return reply

    await two.serve(note)
    found = await two.ask()
    assert (seen, found) == ([LOCK], reply)
    assert seen[0] is not LOCK
    assert found is not reply


async def test_a_handler_that_raises_has_failed_and_the_next_request_is_handled(two: Two) -> None:
    await two.serve(failing)
    for _ in range(2):
        with pytest.raises(HandlerFailedError, match="internal error") as failed:
            await two.ask()
        assert failed.value.may_have_happened


async def test_a_handler_goes_on_when_its_caller_has_given_up(two: Two) -> None:
    go, done, was_cancelled = asyncio.Event(), asyncio.Event(), False

    async def slow(_: LedgerLock) -> LedgerLockReply:
        nonlocal was_cancelled
        try:
            await go.wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise
        done.set()
        return LedgerLockReply(True)

    await two.serve(slow)
    with pytest.raises(NoAnswerError, match=r"within 0\.1 s") as failed:
        await two.ask(timeout_s=0.1)
    assert failed.value.may_have_happened
    leaving = asyncio.create_task(two.ask())
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    go.set()
    await asyncio.wait_for(done.wait(), stretched(10))
    assert not was_cancelled


async def test_requests_from_here_and_from_the_bus_share_one_bound(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_provider, "REQUESTS_MAX", 2)
    handled: list[str] = []
    go = asyncio.Event()

    async def slow(request: LedgerLock) -> LedgerLockReply:
        handled.append(request.user_id)
        await go.wait()
        return LedgerLockReply(True)

    await two.serve(slow)
    here = asyncio.create_task(two.ask(LedgerLock("here", "BTC", "1", "r1")))
    there = asyncio.create_task(
        two.stranger.request(SUBJECT, encode(LedgerLock("there", "BTC", "1", "r")), timeout=stretched(30))
    )
    await eventually(lambda: sorted(handled) == ["here", "there"])
    with pytest.raises(BusyError, match="too many requests are waiting") as failed:
        await two.ask()
    assert not failed.value.may_have_happened
    assert b"too many requests" in (await two.stranger.request(SUBJECT, encode(LOCK))).data
    go.set()
    assert (await here).success
    assert (await there).data == encode(LedgerLockReply(True))
    assert len(handled) == 2


async def test_who_has_stopped_serving_is_asked_no_more_and_another_on_the_bus_is(two: Two, settings: Settings) -> None:
    await two.serve(granted)
    await two.provider.stop_serving()
    # The stranger subscribes to the subject, so it would be asked in vain.
    await two.stranger.drain()
    with pytest.raises(NotSentError, match="no provider"):
        await two.ask()
    other = await Bus.connect(settings, "other")
    await other.serve(SUBJECT, "q", LedgerLock, granted, LedgerLockReply.refused)
    await other.check()
    assert (await two.ask()).success
    await other.close()


async def test_without_the_bus_nothing_is_asked_here_either(settings: Settings, nats_server: EmbeddedNats) -> None:
    handled: list[LedgerLock] = []

    async def note(request: LedgerLock) -> LedgerLockReply:
        handled.append(request)
        return LedgerLockReply(True)

    local = LocalSubjects()
    caller = await Bus.connect(settings, "caller", local=local)
    provider = await Bus.connect(settings, "provider", local=local)
    await provider.serve(SUBJECT, "q", LedgerLock, note, LedgerLockReply.refused)
    nats_server.kill()
    await eventually(lambda: not caller.is_connected and not provider.is_connected)
    with pytest.raises(NotSentError, match="not connected"):
        await caller.request(SUBJECT, LOCK, LedgerLockReply)
    assert handled == []
    nats_server.start()
    await eventually(lambda: caller.is_connected and provider.is_connected, 30)
    assert (await caller.request(SUBJECT, LOCK, LedgerLockReply)).success
    await caller.close()
    await provider.close()


@pytest.mark.parametrize("loser", ["caller", "provider"])
async def test_both_sides_need_their_connection(two: Two, loser: str) -> None:
    handled: list[LedgerLock] = []

    async def note(request: LedgerLock) -> LedgerLockReply:
        handled.append(request)
        return LedgerLockReply(True)

    await two.serve(note)
    lost: Bus = getattr(two, loser)
    await lost.connection.client.close()
    # Over the bus, the server may not have noticed yet that the provider is gone.
    with pytest.raises(RequestFailedError):
        await two.ask(timeout_s=0.2)
    assert handled == []


async def test_a_handler_runs_in_the_context_of_its_service(two: Two) -> None:
    service = contextvars.ContextVar("service", default="")
    service.set("provider")

    async def tell(_: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(True, error=service.get())

    await two.serve(tell)
    service.set("caller")
    assert (await two.ask()).error == "provider"


async def test_a_subject_has_one_provider_in_a_process(two: Two) -> None:
    await two.serve(granted)
    with pytest.raises(ValueError, match=SUBJECT):
        await two.caller.serve(SUBJECT, "q", LedgerLock, granted, LedgerLockReply.refused)
