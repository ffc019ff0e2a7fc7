"""Every user of the embedded bus tries everything. What its descriptor does not say is refused, or changes nothing.

What is tried and what is allowed follow from the descriptors, so a new service is walked by itself.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

from openspot.contracts import subjects
from openspot.contracts.streams import STREAMS, StreamConsumer
from openspot.kit.description import BusAccess
from openspot.up.bus_users import ACCESSES, API_PREFIX, KEEPER, OPERATOR
from tests.support.embedded_bus import EmbeddedBus
from tests.support.waiting import eventually, stretched

SHORT_LIFE_S = 3600
PREFIXES = ("$JS.API", API_PREFIX)
FORGED = b'{"txHash":"forged","userId":"mallory","asset":"USD","amount":"777777"}'
CONSUMERS = {
    consumer.durable: consumer for accesses in ACCESSES.values() for access in accesses for consumer in access.consumes
}
BUCKETS = {
    bucket.name: name for name, accesses in ACCESSES.items() for access in accesses for bucket in access.writes_buckets
}
"""The buckets, and a user who may write to each."""
STORES = (*(stream.name for stream in STREAMS), *(f"KV_{bucket}" for bucket in BUCKETS))


def concrete(pattern: str) -> str:
    """A subject that fits a pattern."""
    return ".".join("walked" if token in ("*", ">") else token for token in pattern.split("."))


def fits(subject: str, pattern: str) -> bool:
    """Whether a concrete subject fits a pattern."""
    tokens, wanted = subject.split("."), pattern.split(".")
    if wanted[-1] == ">":
        return len(tokens) >= len(wanted) and fits(".".join(tokens[: len(wanted) - 1]), ".".join(wanted[:-1]))
    return len(tokens) == len(wanted) and all(want in ("*", token) for token, want in zip(tokens, wanted, strict=True))


def declared_subjects() -> set[str]:
    """A subject for each that any descriptor names, and for each of a stream."""
    patterns = {subject for stream in STREAMS for subject in stream.subjects}
    for accesses in ACCESSES.values():
        for access in accesses:
            patterns |= {*access.publishes, *access.requests, *access.serves, *access.subscribes}
    return {concrete(pattern) for pattern in patterns}


def requests_about_streams() -> Iterator[str]:
    """Every request of JetStream, without its prefix, for every stream, bucket and consumer."""
    yield from ("INFO", "STREAM.NAMES", "STREAM.LIST", "META.LEADER.STEPDOWN", "SERVER.REMOVE", "ACCOUNT.PURGE.STORE")
    yield from ("ACCOUNT.STREAM.MOVE.STORE.TRADES", "STREAM.CREATE.EVIL", "STREAM.TEMPLATE.CREATE.EVIL")
    for name in STORES:
        for action in ("CREATE", "UPDATE", "DELETE", "PURGE", "INFO", "SNAPSHOT", "RESTORE", "MSG.GET", "MSG.DELETE"):
            yield f"STREAM.{action}.{name}"
        yield from (f"STREAM.LEADER.STEPDOWN.{name}", f"STREAM.PEER.REMOVE.{name}")
        yield from (f"DIRECT.GET.{name}", f"DIRECT.GET.{name}.any.subject")
        yield from (f"CONSUMER.NAMES.{name}", f"CONSUMER.LIST.{name}", f"CONSUMER.CREATE.{name}")
        yield from (f"CONSUMER.CREATE.{name}.evil", f"CONSUMER.CREATE.{name}.evil.any.filter")
        yield f"CONSUMER.DURABLE.CREATE.{name}.evil"
    for durable, consumer in CONSUMERS.items():
        name = f"{consumer.stream.name}.{durable}"
        for action in ("CREATE", "DURABLE.CREATE", "DELETE", "INFO", "MSG.NEXT", "PAUSE", "RESET", "UNPIN"):
            yield f"CONSUMER.{action}.{name}"
        yield f"CONSUMER.LEADER.STEPDOWN.{name}"


def tried() -> list[str]:
    """Every subject that a user tries to publish on."""
    found = {f"{prefix}.{request}" for prefix in PREFIXES for request in requests_about_streams()}
    found |= declared_subjects()
    found |= {f"$KV.{bucket}.walked" for bucket in BUCKETS}
    found |= {f"_INBOX.{name}.walked" for name in ACCESSES} | {"_INBOX.walked"}
    for durable, consumer in CONSUMERS.items():
        found |= {f"deliver.{durable}", f"$JS.ACK.{consumer.stream.name}.{durable}.1.9999.9999.1.0"}
        found |= {f"$JS.FC.{consumer.stream.name}.{durable}.walked"}
    found |= {"$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.USER.INFO", "$SYS.ACCOUNT.STORE.walked"}
    found |= {"$JSC.R.walked", "$JS.EVENT.ADVISORY.walked", "$NRG.AE.walked", "_R_.walked", "_GR_.walked", "walked"}
    return sorted(found)


def may_publish(name: str, subject: str) -> bool:
    """Whether the descriptors say that a user may publish on a subject."""
    patterns = [f"_INBOX.{name}.>"]
    for access in ACCESSES[name]:
        patterns += [*access.publishes, *access.requests]
        patterns += [f"$KV.{bucket.name}.>" for bucket in access.writes_buckets]
        patterns += [f"$JS.ACK.{path_of(consumer)}.>" for consumer in access.consumes]
        patterns += [f"{API_PREFIX}.CONSUMER.INFO.{path_of(one)}" for one in (*access.consumes, *access.inspects)]
        patterns += [f"{API_PREFIX}.STREAM.MSG.GET.KV_{bucket}" for bucket in read_buckets(access)]
        patterns += [f"{API_PREFIX}.STREAM.MSG.GET.{consumer.stream.name}" for consumer in access.inspects]
        served = set(access.serves)
        patterns += [
            f"_INBOX.{caller}.>"
            for caller, others in ACCESSES.items()
            if any(served & set(other.requests) for other in others)
        ]
    return any(fits(subject, pattern) for pattern in patterns)


def may_hear(name: str, subject: str) -> bool:
    """Whether the descriptors say that a user may subscribe to a subject."""
    patterns = [f"_INBOX.{name}.>"]
    for access in ACCESSES[name]:
        patterns += [*access.serves, *access.subscribes]
        patterns += [f"deliver.{consumer.durable}" for consumer in access.consumes]
        patterns += [f"$KV.{bucket}.>" for bucket in read_buckets(access)]
    return name == OPERATOR or any(fits(subject, pattern) for pattern in patterns)


def path_of(consumer: StreamConsumer) -> str:
    return f"{consumer.stream.name}.{consumer.durable}"


def read_buckets(access: BusAccess) -> list[str]:
    return [*access.reads_buckets, *(bucket.name for bucket in access.writes_buckets)]


class User:
    """A connection of one user, which notes what the server refuses."""

    def __init__(self, name: str, client: Client, refusals: list[str]) -> None:
        self.name = name
        self.client = client
        self._refusals = refusals

    async def refused(self, *, since: int = 0) -> list[str]:
        """What was refused. The server deals with what a connection sends in its order."""
        inbox = self.client.new_inbox()
        back = await self.client.subscribe(inbox)
        await self.client.publish(inbox, b"")
        await back.next_msg(stretched(30))
        await back.unsubscribe()
        return self._refusals[since:]

    async def send(self, subject: str, payload: bytes, reply: str = "", headers: dict[str, str] | None = None) -> None:
        await self.client.publish(subject, payload, reply=reply, headers=headers)


@pytest.fixture(scope="module")
def bus(run_folder: Path) -> Iterator[EmbeddedBus]:
    found = EmbeddedBus(run_folder / "bus-walk")
    found.start()
    yield found
    found.stop()


@asynccontextmanager
async def connected(bus: EmbeddedBus, name: str) -> AsyncIterator[User]:
    refusals: list[str] = []

    async def note(error: Exception) -> None:
        refusals.append(str(error))

    client = await nats.connect(
        bus.url(name), error_cb=note, allow_reconnect=False, inbox_prefix=subjects.inbox_of(name)
    )
    try:
        yield User(name, client, refusals)
    finally:
        await client.close()


@asynccontextmanager
async def store(bus: EmbeddedBus) -> AsyncIterator[JetStreamContext]:
    """The streams, as their keeper sees them."""
    client = await nats.connect(bus.url(KEEPER), allow_reconnect=False)
    try:
        yield client.jetstream()
    finally:
        await client.close()


@pytest.mark.parametrize("name", sorted(ACCESSES))
async def test_a_user_publishes_what_its_descriptor_says_and_nothing_else(bus: EmbeddedBus, name: str) -> None:
    attempts = tried()
    async with connected(bus, name) as user:
        for subject in attempts:
            await user.send(subject, b"")
        refusals = await user.refused()
    refused = {refusal.rpartition(' to "')[2].rstrip('"') for refusal in refusals}
    allowed = [subject for subject in attempts if subject.lower() not in refused]
    assert allowed == [subject for subject in attempts if may_publish(name, subject)]


@pytest.mark.parametrize("name", sorted(ACCESSES))
async def test_a_user_hears_what_its_descriptor_says_and_nothing_else(bus: EmbeddedBus, name: str) -> None:
    attempts = sorted(
        {*tried(), *(f"$KV.{bucket}.>" for bucket in BUCKETS), ">", "*", "_INBOX.>", "deliver.>", "$JS.>"}
    )
    allowed = []
    async with connected(bus, name) as user:
        seen = 0
        for subject in attempts:
            subscription = await user.client.subscribe(subject)
            refusals = await user.refused(since=seen)
            seen += len(refusals)
            if not refusals:
                allowed.append(subject)
                await subscription.unsubscribe()
    assert allowed == [subject for subject in attempts if may_hear(name, subject)]


async def kept(jetstream: JetStreamContext) -> dict[str, Any]:
    """Each stream and bucket: how it is configured, its subjects with their counts, and its consumers' progress."""
    found: dict[str, Any] = {}
    for name in STORES:
        info = await jetstream.stream_info(name, subjects_filter=">")
        consumers = {
            consumer.name: (consumer.config.deliver_subject, consumer.ack_floor and consumer.ack_floor.stream_seq)
            for consumer in await jetstream.consumers_info(name)
        }
        is_short = 0 < (info.config.max_age or 0) < SHORT_LIFE_S
        counts = {
            subject: count
            for subject, count in (info.state.subjects or {}).items()
            # What a test before this one wrote there may expire at any moment.
            if not (is_short and subject.endswith(".walked"))
        }
        found[name] = (info.config, counts, consumers)
    return found


def victims() -> list[str]:
    """Where a user would have the server send its replies."""
    found = {concrete(subject) for stream in STREAMS for subject in stream.subjects}
    found |= {f"$KV.{bucket}.victim" for bucket in BUCKETS}
    for prefix in PREFIXES:
        found |= {f"{prefix}.STREAM.{action}.{name}" for action in ("DELETE", "PURGE") for name in STORES}
    found |= {f"$JS.ACK.{path_of(one)}.1.1.1.1.0" for one in CONSUMERS.values()}
    return sorted(found)


def answered(access: BusAccess) -> Iterator[tuple[str, bytes]]:
    """One message of each kind to which the server replies: a publication, a write, and the two requests."""
    captured = [subject for subject in access.publishes if any(fits(concrete(subject), one) for one in of_streams())]
    yield from ((concrete(subject), FORGED) for subject in captured[:1])
    yield from ((f"$KV.{bucket.name}.walked", FORGED) for bucket in access.writes_buckets[:1])
    for bucket in read_buckets(access)[:1]:
        asked = json.dumps({"last_by_subj": f"$KV.{bucket}.walked"}).encode()
        yield f"{API_PREFIX}.STREAM.MSG.GET.KV_{bucket}", asked
    yield from ((f"{API_PREFIX}.CONSUMER.INFO.{path_of(consumer)}", b"") for consumer in access.consumes[:1])


def of_streams() -> list[str]:
    return [subject for stream in STREAMS for subject in stream.subjects]


@pytest.mark.parametrize("name", sorted(ACCESSES))
async def test_no_reply_of_the_server_lands_in_a_stream_a_bucket_or_a_request_of_another(
    bus: EmbeddedBus, name: str
) -> None:
    async with store(bus) as jetstream, connected(bus, name) as user:
        before = await kept(jetstream)
        for access in ACCESSES[name]:
            for subject, payload in answered(access):
                for victim in victims():
                    await user.send(subject, payload, victim)
        await user.refused()
        after = await kept(jetstream)
    for store_name, (configuration, counts, consumers) in before.items():
        configuration_now, counts_now, consumers_now = after[store_name]
        assert configuration_now == configuration
        assert consumers_now == consumers
        changed = {subject for subject in {**counts, **counts_now} if counts.get(subject) != counts_now.get(subject)}
        assert [subject for subject in changed if not may_publish(name, subject)] == [], store_name


HEADERS = (
    {"Nats-Rollup": "all"},
    {"Nats-Rollup": "sub"},
    # Outlives the tests: they compare what is kept, and it would expire in the middle of a later one.
    {"Nats-TTL": "1h"},
    {"Nats-Batch-Id": "walked", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"},
    {"Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": subjects.CUSTODY_DEPOSIT_CONFIRMED},
    {"Nats-Trace-Dest": subjects.CUSTODY_DEPOSIT_CONFIRMED},
)
"""Headers with which a publication has the server do more than store it."""


@pytest.mark.parametrize("name", sorted(ACCESSES))
async def test_no_header_of_a_publication_removes_or_adds_messages_of_others(bus: EmbeddedBus, name: str) -> None:
    async with store(bus) as jetstream, connected(bus, name) as user:
        for stream in STREAMS:
            await jetstream.publish(concrete(stream.subjects[0]), b"{}")
        before = await kept(jetstream)
        for access in ACCESSES[name]:
            own = [concrete(subject) for subject in access.publishes]
            for subject in (*own, *(f"$KV.{bucket.name}.walked" for bucket in access.writes_buckets)):
                for headers in HEADERS:
                    await user.send(subject, FORGED, headers=headers)
        await user.refused()
        after = await kept(jetstream)
    for store_name, (configuration, counts, _) in before.items():
        configuration_now, counts_now, _ = after[store_name]
        assert configuration_now == configuration
        for subject in {**counts, **counts_now}:
            if not may_publish(name, subject):
                assert counts_now.get(subject) == counts.get(subject), subject
            elif not store_name.startswith("KV_"):
                assert counts_now[subject] >= counts.get(subject, 0), subject


async def delivered(bus: EmbeddedBus, durable: str, count: int) -> tuple[str, list[str]]:
    """Publish events that a consumer takes, and return its user and the subjects that acknowledge them."""
    consumer = CONSUMERS[durable]
    name = next(user for user, found in ACCESSES.items() if any(consumer in access.consumes for access in found))
    acknowledgements: list[str] = []

    async def note(message: Msg) -> None:
        acknowledgements.append(message.reply)

    async with connected(bus, name) as user, store(bus) as jetstream:
        subscription: Subscription = await user.client.subscribe(f"deliver.{durable}", queue=durable, cb=note)
        await user.refused()
        for _ in range(count):
            await jetstream.publish(concrete(consumer.subject), b"{}")
        await eventually(lambda: len(acknowledgements) >= count)
        await subscription.unsubscribe()
    return name, acknowledgements


@pytest.mark.parametrize("durable", sorted(CONSUMERS))
async def test_an_acknowledgement_has_the_server_delete_and_purge_nothing(bus: EmbeddedBus, durable: str) -> None:
    actions = [f"$JS.API.STREAM.{action}.{name}" for action in ("DELETE", "PURGE") for name in STORES[:5]]
    name, acknowledgements = await delivered(bus, durable, len(actions))
    async with store(bus) as jetstream, connected(bus, name) as user:
        before = await kept(jetstream)
        for acknowledgement, action in zip(acknowledgements, actions, strict=False):
            await user.send(acknowledgement, b"+ACK", action)
        await user.refused()
        after = await kept(jetstream)
    assert {name: counts for name, (_, counts, _) in after.items()} == {
        name: counts for name, (_, counts, _) in before.items()
    }


@asynccontextmanager
async def heard(bus: EmbeddedBus, name: str, subject: str, queue: str = "") -> AsyncIterator[list[bytes]]:
    """What a user hears on a subject."""
    found: list[bytes] = []

    async def note(message: Msg) -> None:
        found.append(message.data)

    async with connected(bus, name) as user:
        await user.client.subscribe(subject, queue=queue, cb=note)
        await user.refused()
        yield found
        await user.refused()


SPELLINGS = ("CONSUMER.CREATE.{stream}", "CONSUMER.CREATE.{stream}.evil", "CONSUMER.DURABLE.CREATE.{stream}.evil")


@pytest.mark.parametrize(
    ("victim", "subject", "queue"),
    [
        ("router", "deliver.router-deposit", "router-deposit"),
        ("custody", subjects.CUSTODY_WITHDRAWALS_CREATE, subjects.CUSTODY_QUEUE),
    ],
)
async def test_market_data_has_the_server_deliver_no_deposit_and_no_withdrawal(
    bus: EmbeddedBus, victim: str, subject: str, queue: str
) -> None:
    bucket = next(bucket for bucket, owner in BUCKETS.items() if owner == "market-data")
    stream, forgery = f"KV_{bucket}", FORGED.replace(b"777777", b"888888")
    async with heard(bus, victim, subject, queue) as found, connected(bus, "market-data") as user:
        await user.client.request(f"$KV.{bucket}.forged", forgery, timeout=stretched(10))
        for prefix in PREFIXES:
            for spelling in SPELLINGS:
                configuration = {"name": "evil", "deliver_subject": subject, "ack_policy": "none"}
                if "DURABLE" in spelling:
                    configuration["durable_name"] = "evil"
                elif "evil" not in spelling:
                    del configuration["name"]
                asked = json.dumps({"stream_name": stream, "config": configuration}).encode()
                await user.send(f"{prefix}.{spelling.format(stream=stream)}", asked, user.client.new_inbox())
            for request in ("STREAM.MSG.GET", "DIRECT.GET"):
                asked = json.dumps({"last_by_subj": f"$KV.{bucket}.forged"}).encode()
                await user.send(f"{prefix}.{request}.{stream}", asked, subject)
            await user.send(f"{prefix}.DIRECT.GET.{stream}.$KV.{bucket}.forged", b"", subject)
            changes = {"name": stream, "subjects": [f"$KV.{bucket}.>"], "republish": {"src": ">", "dest": subject}}
            await user.send(f"{prefix}.STREAM.UPDATE.{stream}", json.dumps(changes).encode(), user.client.new_inbox())
        for headers in (
            {"Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": subject},
            {"Nats-Trace-Dest": subject},
        ):
            await user.send(f"$KV.{bucket}.forged", forgery, headers=headers)
        await user.refused()
        # Whatever the server would have delivered comes before the second round.
        await user.client.request(f"$KV.{bucket}.forged", forgery, timeout=stretched(10))
        await user.refused()
    assert [payload for payload in found if b"888888" in payload] == []
