"""Publishing in batches: what fails holds back itself alone, and the caller hears exactly what was not stored."""

import asyncio
import shutil
from collections.abc import Sequence
from typing import Any

import nats
import pytest
from nats.js.api import StoreCompression, StreamConfig

from openspot.contracts import subjects
from openspot.contracts.streams import BALANCES, CUSTODY, ORDERS, TRADE_SIDES, TRADES, StreamDefinition, stream_of
from openspot.kit.bus import Bus, CircuitOpenError, OutgoingEvent, PublishError
from openspot.kit.bus.publisher import ATOMIC_MIN
from openspot.kit.metrics import BUS_PUBLISH_FAILURES
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

ROUNDS_MAX = 20
NOBODY_KEEPS = "nobody.keeps.this"


def created(user: str, message_id: str) -> OutgoingEvent:
    return OutgoingEvent(subjects.of_user(subjects.ORDERS_CREATED, user), b"{}", message_id)


def trade(message_id: str) -> OutgoingEvent:
    return OutgoingEvent(subjects.TRADES_EXECUTED, b"{}", message_id)


async def stored(bus: Bus, stream: StreamDefinition) -> list[str]:
    """Message ids of a stream, oldest first."""
    jetstream = bus.connection.jetstream
    state = (await jetstream.stream_info(stream.name)).state
    if not state.messages:
        # After a kill that lost everything its first sequence is 0, which no message has.
        return []
    messages = [await jetstream.get_msg(stream.name, number) for number in range(state.first_seq, state.last_seq + 1)]
    return [message.headers["Nats-Msg-Id"] for message in messages]


async def holds(bus: Bus, stream: StreamDefinition, *message_ids: str) -> None:
    """Wait until a stream has these events: those of news are acknowledged before they can be read."""

    async def has_them() -> bool:
        return await stored(bus, stream) == list(message_ids)

    await eventually(has_them)


def test_every_subject_that_is_published_has_its_stream() -> None:
    assert {
        subject: stream_of(subject).name  # type: ignore[union-attr]
        for subject in ("trades.executed", "trades.executed.BTC-USD", "orders.filled.u1", "balances.updated.u1",
                        "custody.deposit.confirmed", "custody.withdrawal.failed", "risk.check.failed",
                        "transfers.executed")
    } == {
        "trades.executed": "TRADES", "trades.executed.BTC-USD": "TRADE_SIDES", "orders.filled.u1": "ORDERS",
        "balances.updated.u1": "BALANCES", "custody.deposit.confirmed": "CUSTODY",
        "custody.withdrawal.failed": "CUSTODY", "risk.check.failed": "RISK", "transfers.executed": "TRANSFERS",
    }  # fmt: skip
    for subject in ("orders.created", "orders.submit", "trades.settled", "trades", "", NOBODY_KEEPS):
        assert stream_of(subject) is None


@pytest.mark.spec("A7-15")
async def test_a_subject_with_an_open_breaker_holds_back_nothing_else_of_its_batch(settings: Settings) -> None:
    bus = await Bus.connect(settings.model_copy(update={"breaker_window_s": 3600.0}), "test")
    await bus.ensure_streams()
    failing = OutgoingEvent(NOBODY_KEEPS, b"{}", "x")
    for _ in range(settings.breaker_failures):
        with pytest.raises(PublishError):
            await bus.publish_many([failing])
    batch = [created("u1", "a"), failing, trade("t1"), OutgoingEvent(NOBODY_KEEPS, b"{}", "y"), created("u2", "b")]
    with pytest.raises(CircuitOpenError, match=f"circuit breaker open for subject: {NOBODY_KEEPS}") as refused:
        await bus.publish_many(batch)
    assert [event.message_id for event in refused.value.unpublished] == ["x", "y"]
    assert await stored(bus, TRADES) == ["t1"]
    await holds(bus, ORDERS, "a", "b")
    await bus.close()


async def test_after_the_window_a_batch_with_several_events_of_the_subject_is_tried(settings: Settings) -> None:
    """One attempt is one batch: its second event must not find the breaker closed by its first."""
    window = {"breaker_window_s": stretched(1.0), "breaker_failures": 2}
    bus = await Bus.connect(settings.model_copy(update=window), "test")
    await bus.ensure_streams()
    batch = [OutgoingEvent(NOBODY_KEEPS, b"{}", f"m{number}") for number in range(3)]
    with pytest.raises(PublishError, match="no stream captures this subject"):
        await bus.publish_many(batch)
    with pytest.raises(CircuitOpenError):
        await bus.publish_many(batch)
    await bus.connection.jetstream.add_stream(StreamConfig(name="LATE", subjects=[NOBODY_KEEPS]))

    async def published() -> bool:
        try:
            await bus.publish_many(batch)
        except CircuitOpenError:
            return False
        return True

    await eventually(published)
    assert (await bus.connection.jetstream.stream_info("LATE")).state.messages == 3
    await bus.close()


async def test_an_event_that_is_too_large_is_the_only_one_that_fails(bus: Bus) -> None:
    huge = OutgoingEvent(subjects.TRADES_EXECUTED, b"x" * 2_000_000, "huge")
    with pytest.raises(PublishError, match="MaxPayload") as refused:
        await bus.publish_many([trade("t1"), huge, trade("t2")])
    assert refused.value.unpublished == (huge,)
    assert await stored(bus, TRADES) == ["t1", "t2"]


async def test_what_the_server_refuses_is_told_with_its_reason(bus: Bus) -> None:
    await bus.connection.jetstream.add_stream(StreamConfig(name="FULL", subjects=["full"], max_msgs=1, discard="new"))
    before = BUS_PUBLISH_FAILURES.labels("full")._value.get()
    await bus.publish_many([OutgoingEvent("full", b"{}", "first")])
    with pytest.raises(PublishError, match=r"full: maximum messages exceeded \(error 10077\)"):
        await bus.publish_many([OutgoingEvent("full", b'{"error": "a word in a payload"}', "second")])
    assert BUS_PUBLISH_FAILURES.labels("full")._value.get() == before + 1


async def test_the_server_acknowledges_each_event_that_carries_money_and_two_of_each_stream_of_news(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    client = bus.connection.client
    publish = client.publish

    async def note(subject: str, payload: bytes, **options: Any) -> None:
        if options.get("reply") and options.get("headers"):
            asked.append(options["headers"]["Nats-Msg-Id"])
        await publish(subject, payload, **options)

    monkeypatch.setattr(client, "publish", note)
    sides = [OutgoingEvent(f"{subjects.TRADES_EXECUTED}.BTC-USD", b"{}", f"side{number}") for number in range(4)]
    orders = [created("u1", f"order{number}") for number in range(3)]
    trades = [trade(f"trade{number}") for number in range(3)]
    await bus.publish_many([*orders, sides[0], trades[0], *sides[1:3], *trades[1:], sides[3], created("u2", "other")])
    assert asked == ["order0", "side0", "trade0", "trade1", "trade2", "side3", "other"]
    assert await stored(bus, TRADE_SIDES) == ["side0", "side1", "side2", "side3"]


async def test_events_without_acknowledgement_of_their_own_are_doubtful_if_a_neighbour_failed(bus: Bus) -> None:
    """The stream takes one message: the first of the batch is stored, the last is refused."""
    jetstream = bus.connection.jetstream
    await jetstream.delete_stream(BALANCES.name)
    await jetstream.add_stream(StreamConfig(name="SMALL", subjects=["balances.updated.*"], max_msgs=1, discard="new"))
    subject = subjects.of_user(subjects.BALANCES_UPDATED, "u1")
    batch = [OutgoingEvent(subject, b"{}", f"m{number}") for number in range(4)]
    with pytest.raises(PublishError) as refused:
        await bus.publish_many([*batch, trade("t1")])
    assert [event.message_id for event in refused.value.unpublished] == ["m1", "m2", "m3"]
    assert await stored(bus, TRADES) == ["t1"]


async def test_without_a_connection_nothing_is_published_and_no_breaker_counts_it(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    nats_server.kill()
    await eventually(lambda: not bus.is_connected)
    for _ in range(settings.breaker_failures + 1):
        with pytest.raises(PublishError, match="not connected") as failed:
            await bus.publish_many([trade("t1")])
        assert not isinstance(failed.value, CircuitOpenError)
    nats_server.start()
    await eventually(lambda: bus.is_connected)
    await bus.publish_many(failed.value.unpublished)
    assert await stored(bus, TRADES) == ["t1"]
    await bus.close()


async def test_a_killed_server_loses_no_news_while_their_publisher_lives(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    """A stream of news is acknowledged before it is written: a kill loses its end, and the publisher repeats it."""
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    ids: list[str] = []
    for _ in range(ROUNDS_MAX):
        for _ in range(60):
            ids.append(f"m{len(ids)}")
            await bus.publish_many([created("u1", ids[-1])])
        nats_server.kill()
        kept = await kept_on_disk(nats_server)
        nats_server.start()
        await eventually(lambda: bus.is_connected)

        await holds(bus, ORDERS, *ids)
        if kept < len(ids):
            break
    else:
        pytest.fail(f"in {ROUNDS_MAX} kills nothing was lost: nothing is proved")
    await bus.publish_many([created("u1", "last")])
    await holds(bus, ORDERS, *ids, "last")
    await bus.close()


async def kept_on_disk(killed: EmbeddedNats) -> int:
    """How many order events a server finds that starts on a copy of a killed one's store."""
    copy = killed.directory.with_name(f"{killed.directory.name}-copy")
    shutil.copytree(killed.directory, copy)
    other = EmbeddedNats(copy, free_port())
    other.start()
    try:
        client = await nats.connect(other.url)
        state = (await client.jetstream().stream_info(ORDERS.name)).state
        await client.close()
    finally:
        other.stop()
        shutil.rmtree(copy)
    return int(state.messages)


def note_headers(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The headers of every event that is sent from now on. Those that ask for an acknowledgement also name `reply`."""
    sent: list[dict[str, str]] = []
    client = bus.connection.client
    publish = client.publish

    async def note(subject: str, payload: bytes, **options: Any) -> None:
        if options.get("headers"):
            sent.append(options["headers"] | ({"reply": options["reply"]} if options.get("reply") else {}))
        await publish(subject, payload, **options)

    monkeypatch.setattr(client, "publish", note)
    return sent


async def test_many_events_that_carry_money_are_one_batch_with_one_acknowledgement(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = note_headers(bus, monkeypatch)
    trades = [trade(f"t{number}") for number in range(ATOMIC_MIN)]
    await bus.publish_many([created("u1", "a"), *trades, created("u1", "b")])
    assert await stored(bus, TRADES) == [event.message_id for event in trades]
    await holds(bus, ORDERS, "a", "b")
    assert [headers["Nats-Msg-Id"] for headers in sent if "reply" in headers] == ["a", f"t{ATOMIC_MIN - 1}", "b"]
    assert len({headers["Nats-Batch-Id"] for headers in sent[1:-1]}) == 1


async def test_a_batch_with_events_that_are_stored_already_stores_each_of_the_others_once(bus: Bus) -> None:
    trades = [trade(f"t{number}") for number in range(2 * ATOMIC_MIN)]
    await bus.publish_many(trades[:ATOMIC_MIN])
    await bus.publish_many(trades)
    await bus.publish_many(trades)
    assert await stored(bus, TRADES) == [event.message_id for event in trades]


@pytest.mark.parametrize("place", [0, ATOMIC_MIN // 2, ATOMIC_MIN])
async def test_an_event_that_is_too_large_is_the_only_one_of_its_batch_that_fails(bus: Bus, place: int) -> None:
    batch = [trade(f"t{number}") for number in range(ATOMIC_MIN)]
    expected = [event.message_id for event in batch]
    huge = OutgoingEvent(subjects.TRADES_EXECUTED, b"x" * 2_000_000, "huge")
    batch.insert(place, huge)
    with pytest.raises(PublishError, match="MaxPayload") as refused:
        await bus.publish_many(batch)
    assert refused.value.unpublished == (huge,)
    assert await stored(bus, TRADES) == expected


async def test_a_stream_that_takes_no_batches_gets_its_events_singly(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    jetstream = bus.connection.jetstream
    await jetstream.delete_stream(TRADES.name)
    await jetstream.add_stream(StreamConfig(name=TRADES.name, subjects=list(TRADES.subjects)))
    sent = note_headers(bus, monkeypatch)
    trades = [trade(f"t{number}") for number in range(2 * ATOMIC_MIN)]
    await bus.publish_many(trades[:ATOMIC_MIN])
    assert len(sent) == 2 * ATOMIC_MIN
    await bus.publish_many(trades[ATOMIC_MIN:])
    assert len(sent) == 3 * ATOMIC_MIN, "the second time nothing is tried in vain"
    assert await stored(bus, TRADES) == [event.message_id for event in trades]


async def test_a_stream_of_an_earlier_version_takes_batches_after_an_update(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    jetstream = bus.connection.jetstream
    await jetstream.delete_stream(TRADES.name)
    await jetstream.add_stream(StreamConfig(name=TRADES.name, subjects=list(TRADES.subjects)))
    await bus.ensure_streams()
    sent = note_headers(bus, monkeypatch)
    await bus.publish_many([trade(f"t{number}") for number in range(ATOMIC_MIN)])
    assert len(sent) == ATOMIC_MIN


async def test_a_server_that_is_killed_among_batches_has_each_event_once_and_in_order(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    bus = await Bus.connect(settings.model_copy(update={"breaker_failures": 1000}), "test")
    await bus.ensure_streams()
    ids: list[str] = []
    goes_on = True

    async def publish() -> None:
        while goes_on:
            left: Sequence[OutgoingEvent] = [trade(f"t{len(ids) + number}") for number in range(ATOMIC_MIN)]
            ids.extend(event.message_id for event in left)
            while left:
                try:
                    await bus.publish_many(left)
                    left = ()
                except PublishError as error:
                    left = error.unpublished
                    await eventually(lambda: bus.is_connected)

    publishing = asyncio.create_task(publish())
    for kill in range(1, 4):
        await eventually(lambda kill=kill: len(ids) >= 5 * ATOMIC_MIN * kill)
        nats_server.kill()
        nats_server.start()
        # The client may not have noticed yet. A batch that begins now is acknowledged by the new connection.
        begun = len(ids)
        await eventually(lambda begun=begun: len(ids) >= begun + 2 * ATOMIC_MIN)
    goes_on = False
    await publishing
    assert await stored(bus, TRADES) == ids
    await bus.close()


async def test_many_callers_publish_at_the_same_time(bus: Bus) -> None:
    async def publish(number: int) -> None:
        await bus.publish_many([trade(f"{number}-{place}") for place in range(10)])

    await asyncio.gather(*(publish(number) for number in range(20)))
    kept = await stored(bus, TRADES)
    assert len(kept) == 200
    for number in range(20):
        own = [message_id for message_id in kept if message_id.startswith(f"{number}-")]
        assert own == [f"{number}-{place}" for place in range(10)]


async def test_events_of_one_key_do_not_overtake_one_that_a_breaker_holds_back(settings: Settings) -> None:
    bus = await Bus.connect(settings.model_copy(update={"breaker_window_s": 3600.0}), "test")
    await bus.ensure_streams()
    failing = OutgoingEvent(NOBODY_KEEPS, b"{}", "x", key="ann")
    for _ in range(settings.breaker_failures):
        with pytest.raises(PublishError):
            await bus.publish_many([failing])
    filled = OutgoingEvent(subjects.of_user(subjects.ORDERS_FILLED, "ann"), b"{}", "filled", key="ann")
    before = OutgoingEvent(subjects.of_user(subjects.ORDERS_FILLED, "ann"), b"{}", "before", key="ann")
    with pytest.raises(CircuitOpenError) as refused:
        await bus.publish_many([before, failing, filled, created("bob", "bob")])
    assert refused.value.unpublished == (failing, filled)
    await holds(bus, ORDERS, "before", "bob")
    await bus.close()


async def test_a_stream_of_an_earlier_version_keeps_its_messages_and_is_compressed_from_the_next_start_on(
    nats_server: EmbeddedNats, bus: Bus
) -> None:
    length, count = 300_000, 100
    text = b"0" * length
    jetstream = bus.connection.jetstream
    await jetstream.delete_stream(CUSTODY.name)
    plain = StreamConfig(name=CUSTODY.name, subjects=list(CUSTODY.subjects), max_age=CUSTODY.age_s_max)
    await jetstream.add_stream(plain)
    await jetstream.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, b"first" + text)
    await bus.ensure_streams()
    nats_server.stop()
    nats_server.start()
    client = await nats.connect(nats_server.url)
    jetstream = client.jetstream(timeout=stretched(30))
    for _ in range(count):
        await jetstream.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, text)
    info = await jetstream.stream_info(CUSTODY.name)
    assert info.config.compression == StoreCompression.S2
    assert (info.state.first_seq, info.state.last_seq) == (1, count + 1)
    assert (await jetstream.get_msg(CUSTODY.name, 1)).data == b"first" + text
    await client.close()
    blocks = nats_server.directory.rglob(f"{CUSTODY.name}/msgs/*.blk")
    assert sum(path.stat().st_size for path in blocks) < count * length / 2
