"""A request that fails says whether it may have been handled all the same."""

import asyncio

import nats
import pytest
from nats.aio.msg import Msg

from openspot.contracts.messages import LedgerLock, LedgerLockReply
from openspot.kit.bus import Bus, BusyError, HandlerFailedError, MalformedRequestError, NoAnswerError, NotSentError
from openspot.kit.bus import provider as bus_provider
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.waiting import eventually, stretched, subscribed

SUBJECT = "ledger.lock.outcome"
LOCK = LedgerLock("u1", "BTC", "1", "r1")


async def test_without_a_connection_nothing_is_sent(settings: Settings, nats_server: EmbeddedNats) -> None:
    bus = await Bus.connect(settings, "test")
    nats_server.kill()
    await eventually(lambda: not bus.is_connected)
    with pytest.raises(NotSentError, match="not connected") as failed:
        await bus.request(SUBJECT, LOCK, LedgerLockReply)
    assert not failed.value.may_have_happened
    await bus.close()


async def test_a_request_that_is_too_large_is_not_sent(bus: Bus) -> None:
    with pytest.raises(NotSentError, match="maximum payload"):
        await bus.request(SUBJECT, LedgerLock("u1", "BTC", "1", "r" * 2_000_000), LedgerLockReply)


async def test_a_provider_that_stays_silent_may_have_handled_the_request(bus: Bus) -> None:
    handled = asyncio.Event()

    async def silent(_: LedgerLock) -> LedgerLockReply:
        handled.set()
        await asyncio.Event().wait()
        raise AssertionError

    await bus.serve(SUBJECT, "q", LedgerLock, silent, LedgerLockReply.refused)
    await bus.check()
    with pytest.raises(NoAnswerError, match=r"within 0\.2 s") as failed:
        await bus.request(SUBJECT, LOCK, LedgerLockReply, timeout_s=0.2)
    assert failed.value.may_have_happened
    # It may reach its provider after nobody waits for it any more.
    await asyncio.wait_for(handled.wait(), stretched(30))


async def test_a_provider_with_too_much_to_do_did_not_handle_the_request(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_provider, "REQUESTS_MAX", 1)
    handled: list[str] = []
    go = asyncio.Event()

    async def slow(request: LedgerLock) -> LedgerLockReply:
        handled.append(request.user_id)
        await go.wait()
        return LedgerLockReply(True)

    await bus.serve(SUBJECT, "q", LedgerLock, slow, LedgerLockReply.refused)
    await bus.check()
    first = asyncio.create_task(bus.request(SUBJECT, LOCK, LedgerLockReply))
    await eventually(lambda: handled == ["u1"])
    with pytest.raises(BusyError, match="too many requests are waiting") as failed:
        await bus.request(SUBJECT, LedgerLock("u2", "BTC", "1", "r"), LedgerLockReply)
    assert not failed.value.may_have_happened
    go.set()
    assert (await first).success
    assert handled == ["u1"]


@pytest.mark.parametrize(
    ("payload", "headers", "expected"),
    [
        (b"{", None, NoAnswerError),
        (b"", None, NoAnswerError),
        (b'{"success": "yes"}', None, NoAnswerError),
        (b'{"success": true}', {"Nats-Service-Error-Code": "503"}, BusyError),
        (b"{", {"Nats-Service-Error-Code": "400", "Nats-Service-Error": "no JSON"}, MalformedRequestError),
        (b"", {"Nats-Service-Error-Code": "500", "Nats-Service-Error": "broken"}, HandlerFailedError),
        (b"", {"Nats-Service-Error-Code": "418"}, HandlerFailedError),
    ],
)
async def test_the_headers_of_a_foreign_provider_count_and_its_unreadable_reply_is_none(
    bus: Bus, nats_url: str, payload: bytes, headers: dict[str, str] | None, expected: type[Exception]
) -> None:
    provider = await nats.connect(nats_url)

    async def answer(message: Msg) -> None:
        await provider.publish(message.reply, payload, headers=headers)

    await provider.subscribe(SUBJECT, cb=answer)
    await subscribed(provider)
    with pytest.raises(expected):
        await bus.request(SUBJECT, LOCK, LedgerLockReply)
    await provider.close()


async def test_replies_go_to_those_who_asked_and_a_late_one_to_nobody(bus: Bus) -> None:
    gates = {str(number): asyncio.Event() for number in range(3)}
    asked: list[str] = []

    async def answer(request: LedgerLock) -> LedgerLockReply:
        asked.append(request.user_id)
        await gates[request.user_id].wait()
        return LedgerLockReply(False, error=request.user_id)

    await bus.serve(SUBJECT, "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    asking = [
        asyncio.create_task(bus.request(SUBJECT, LedgerLock(user, "B", "1", "r"), LedgerLockReply)) for user in gates
    ]
    # A request that is cancelled before it was sent has no reply that could come late.
    await eventually(lambda: sorted(asked) == ["0", "1", "2"])
    asking[0].cancel()
    for user in ("2", "0", "1"):
        gates[user].set()
    assert [(await task).error for task in asking[1:]] == ["1", "2"]
    with pytest.raises(asyncio.CancelledError):
        await asking[0]
    await bus.check()
    assert not bus.connection.inbox._waiting


async def test_a_provider_that_stops_serving_takes_no_more_and_keeps_its_connection(bus: Bus) -> None:
    async def answer(_: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(True)

    await bus.serve(SUBJECT, "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    assert (await bus.request(SUBJECT, LOCK, LedgerLockReply)).success
    await bus.stop_serving()
    with pytest.raises(NotSentError, match="no provider"):
        await bus.request(SUBJECT, LOCK, LedgerLockReply)
