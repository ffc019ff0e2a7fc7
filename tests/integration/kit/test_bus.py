"""The bus against a real NATS server."""

import asyncio

import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated, LedgerLock, LedgerLockReply
from openspot.contracts.refusals import RefusalCode
from openspot.contracts.streams import BALANCES
from openspot.kit.bus import (
    Bus,
    CircuitOpenError,
    Consumption,
    HandlerFailedError,
    MalformedRequestError,
    NotSentError,
    PublishError,
    encode,
)
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.settings import Settings
from tests.support.waiting import eventually, stretched

LOCK = LedgerLock("u1", "BTC", "1", "r1")


def balance(number: int) -> BalanceUpdated:
    return BalanceUpdated("u1", "BTC", str(number), "0", f"t{number}", number)


def consumption(subject: str, durable: str) -> Consumption[BalanceUpdated]:
    return Consumption(BALANCES, subject, durable, BalanceUpdated, batch_max=50)


def malformed_count(subject: str) -> float:
    return BUS_MALFORMED.labels(subject)._value.get()


async def test_a_request_is_answered_by_exactly_one_of_two_providers(bus: Bus, settings: Settings) -> None:
    other = await Bus.connect(settings, "other")
    answered: list[str] = []

    def provider(name: str):
        async def answer(request: LedgerLock) -> LedgerLockReply:
            answered.append(name)
            return LedgerLockReply(True)

        return answer

    await bus.serve(subjects.LEDGER_LOCK, "q", LedgerLock, provider("a"), LedgerLockReply.refused)
    await other.serve(subjects.LEDGER_LOCK, "q", LedgerLock, provider("b"), LedgerLockReply.refused)
    await bus.check()
    await other.check()
    replies = [await bus.request(subjects.LEDGER_LOCK, LOCK, LedgerLockReply) for _ in range(40)]
    assert all(reply.success for reply in replies)
    assert len(answered) == 40
    assert set(answered) == {"a", "b"}
    await other.close()


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"userId": 5}', b"\xff\xfe", b"[" * 100_000])
async def test_a_malformed_request_is_refused_counted_and_the_provider_goes_on(
    bus: Bus, nats_url: str, payload: bytes
) -> None:
    async def answer(request: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(True)

    await bus.serve("ledger.lock.malformed", "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    before = malformed_count("ledger.lock.malformed")
    client = await nats.connect(nats_url)
    reply = await client.request("ledger.lock.malformed", payload, timeout=stretched(5))
    await client.close()
    assert b'"success":false' in reply.data
    assert b"malformed request" in reply.data
    assert reply.headers["Nats-Service-Error-Code"] == "400"
    assert malformed_count("ledger.lock.malformed") == before + 1
    assert (await bus.request("ledger.lock.malformed", LOCK, LedgerLockReply)).success


async def test_a_request_that_its_provider_cannot_read_is_told_apart_from_a_refusal(bus: Bus) -> None:
    async def answer(request: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(True)

    await bus.serve("ledger.lock.other", "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    with pytest.raises(MalformedRequestError, match="malformed request: Object missing required field") as refused:
        await bus.request("ledger.lock.other", LedgerLockReply(True), LedgerLockReply)
    assert not refused.value.may_have_happened


async def test_a_failing_handler_is_told_apart_from_a_refusal_and_the_provider_goes_on(bus: Bus, nats_url: str) -> None:
    async def answer(request: LedgerLock) -> LedgerLockReply:
        if request.user_id == "u1":
            raise RuntimeError("broken")
        return LedgerLockReply(True)

    await bus.serve(subjects.LEDGER_LOCK, "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    with pytest.raises(HandlerFailedError, match="internal error") as failed:
        await bus.request(subjects.LEDGER_LOCK, LOCK, LedgerLockReply)
    assert failed.value.may_have_happened
    assert (await bus.request(subjects.LEDGER_LOCK, LedgerLock("u2", "BTC", "1", "r"), LedgerLockReply)).success
    # A caller that reads no headers gets the provider's own refusal.
    stranger = await nats.connect(nats_url)
    request = b'{"userId":"u1","asset":"BTC","amount":"1","referenceId":"r"}'
    reply = await stranger.request(subjects.LEDGER_LOCK, request, timeout=stretched(5))
    await stranger.close()
    assert reply.data == b'{"success":false,"error":"internal error","code":"FAILED"}'
    assert reply.headers == {"Nats-Service-Error-Code": "500", "Nats-Service-Error": "internal error"}


async def test_a_refusal_of_the_provider_itself_is_a_reply(bus: Bus) -> None:
    async def answer(request: LedgerLock) -> LedgerLockReply:
        return LedgerLockReply(False, error="insufficient balance", code=RefusalCode.INSUFFICIENT_BALANCE)

    await bus.serve(subjects.LEDGER_LOCK, "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    reply = await bus.request(subjects.LEDGER_LOCK, LOCK, LedgerLockReply)
    assert (reply.success, reply.code) == (False, RefusalCode.INSUFFICIENT_BALANCE)


async def test_a_request_without_provider_fails_at_once(bus: Bus) -> None:
    with pytest.raises(NotSentError, match=r"no provider of ledger\.lock"):
        await asyncio.wait_for(bus.request(subjects.LEDGER_LOCK, LOCK, LedgerLockReply, timeout_s=60), stretched(15))


async def consume_twenty(bus: Bus, durable: str, failures: int) -> list[str]:
    """Publish twenty events, one of them twice, and consume them. Returns what was taken, in its order."""
    subject = subjects.of_user(subjects.BALANCES_UPDATED, "u1")
    seen: list[str] = []
    stop = asyncio.Event()
    failing = iter([True] * failures)

    async def take(events: list[BalanceUpdated]) -> None:
        if next(failing, False):
            raise RuntimeError("this batch fails")
        seen.extend(event.available for event in events)
        if len(seen) >= 20:
            stop.set()

    for number in range(20):
        await bus.publish(subject, balance(number), f"m{number}")
    await bus.publish(subject, balance(3), "m3")
    async with asyncio.timeout(stretched(60)):
        await bus.consume(consumption("balances.updated.*", durable), take, stop)
    assert next(failing, None) is None
    return seen


async def test_events_are_consumed_in_order_once(bus: Bus) -> None:
    assert await consume_twenty(bus, "in-order", failures=0) == [str(number) for number in range(20)]


async def test_a_batch_that_failed_comes_again_and_its_events_count_once(bus: Bus) -> None:
    # How many events the first batch has is chance: those after it may be handed over before it comes again.
    assert sorted(await consume_twenty(bus, "failing", failures=1), key=int) == [str(number) for number in range(20)]


async def test_two_that_begin_to_consume_at_the_same_moment_share_the_events(bus: Bus, settings: Settings) -> None:
    subject = subjects.of_user(subjects.BALANCES_UPDATED, "shared")
    other = await Bus.connect(settings, "other")
    stop = asyncio.Event()
    seen: dict[Bus, list[str]] = {bus: [], other: []}

    async def consume(consumer: Bus) -> None:
        async def take(events: list[BalanceUpdated]) -> None:
            seen[consumer] += [event.available for event in events]

        await consumer.consume(consumption(subject, "shared"), take, stop)

    consuming = [asyncio.create_task(consume(consumer)) for consumer in seen]
    published = 0

    async def both_have_some() -> bool:
        nonlocal published
        await bus.publish(subject, balance(published), f"m{published}")
        published += 1
        return all(seen.values())

    await eventually(both_have_some)
    await eventually(lambda: sum(map(len, seen.values())) == published)
    stop.set()
    await asyncio.gather(*consuming)
    assert sorted(map(int, seen[bus] + seen[other])) == list(range(published))
    await other.close()


async def test_a_malformed_event_is_dropped_counted_and_the_rest_is_consumed(bus: Bus, nats_url: str) -> None:
    subject = subjects.of_user(subjects.BALANCES_UPDATED, "broken")
    before = malformed_count(subject)
    client = await nats.connect(nats_url)
    for payload in (b"{", b'{"userId": 1}', b"null"):
        await client.jetstream().publish(subject, payload)
    await client.close()
    await bus.publish(subject, balance(7), "good")
    stop = asyncio.Event()
    seen: list[str] = []

    async def take(events: list[BalanceUpdated]) -> None:
        seen.extend(event.available for event in events)
        stop.set()

    await asyncio.wait_for(bus.consume(consumption(subject, "test"), take, stop), stretched(60))
    assert seen == ["7"]
    assert malformed_count(subject) == before + 3


@pytest.mark.spec("A7-14", "A7-15", "A8-14")
async def test_the_breaker_opens_after_five_failures_for_that_subject_only(settings: Settings) -> None:
    bus = await Bus.connect(settings.model_copy(update={"request_timeout_s": 0.05}), "test")
    await bus.ensure_streams()
    for number in range(5):
        with pytest.raises(PublishError):
            await bus.publish("nobody.keeps.this", balance(1), f"m{number}")
    with pytest.raises(CircuitOpenError, match=r"^circuit breaker open for subject: nobody\.keeps\.this$"):
        await bus.publish("nobody.keeps.this", balance(1), "m6")
    await bus.publish(subjects.of_user(subjects.BALANCES_UPDATED, "u1"), balance(1), "m7")
    await bus.close()


async def test_a_provider_replies_to_inboxes_and_nowhere_else(bus: Bus, nats_url: str) -> None:
    """A caller could otherwise have the provider publish an event that only the provider may publish."""
    handled: list[str] = []

    async def answer(request: LedgerLock) -> LedgerLockReply:
        handled.append(request.reference_id)
        return LedgerLockReply(True)

    await bus.serve(subjects.LEDGER_LOCK, "q", LedgerLock, answer, LedgerLockReply.refused)
    await bus.check()
    client = await nats.connect(nats_url)
    elsewhere = await client.subscribe("custody.deposit.confirmed")
    await client.publish(subjects.LEDGER_LOCK, encode(LOCK), reply="custody.deposit.confirmed")
    # A second request comes back after the first, so a reply to the first would be there.
    await client.request(subjects.LEDGER_LOCK, encode(LOCK), timeout=stretched(5))
    await client.flush()
    assert len(handled) == 2
    assert elsewhere.pending_msgs == 0
    await client.close()


async def test_the_subject_of_a_reply_does_not_tell_that_of_the_next(bus: Bus) -> None:
    inbox = bus.connection.inbox
    first, second = (inbox.expect()[0].rpartition(".")[2] for _ in range(2))
    assert (first.partition("-")[0], second.partition("-")[0]) == ("1", "2")
    tokens = [subject.partition("-")[2] for subject in (first, second)]
    assert all(len(token) == 16 for token in tokens)
    assert tokens[0] != tokens[1]
