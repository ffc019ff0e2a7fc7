"""Makes the streams, durable consumers and key-value buckets that a set of processes needs.

`openspot up` does this for its services, because whoever may make a consumer or change a stream can have the server
publish on any subject. A process that finds nothing prepared makes what it needs with the same code.
"""

from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, KeyValueConfig

from openspot.contracts.streams import RETIRED_CONSUMERS, StreamConsumer, StreamDefinition
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusStreamError
from openspot.kit.bus.streams import MADE_AT, STREAM_ERRORS, Streams, mark_of
from openspot.kit.tasks import cancellable

UNACKNOWLEDGED_BATCHES_MAX = 4
"""Full batches that may be unacknowledged at the same time, over all processes."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BucketNeed:
    """A bucket whose entries live `life_s` seconds; None: forever."""

    name: str
    life_s: float | None = None


@dataclass(frozen=True, slots=True)
class BusNeeds:
    """What must be on the bus."""

    streams: tuple[StreamDefinition, ...]
    consumers: tuple[StreamConsumer, ...]
    buckets: tuple[BucketNeed, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """When each part of the bus was made, by name. `newly_marked` consumers are older than it says."""

    made_at: dict[str, str]
    newly_marked: frozenset[str]


def stream_of_bucket(bucket: str) -> str:
    """The stream behind a bucket."""
    return f"KV_{bucket}"


def deliveries_of(durable: str) -> str:
    """The subject to which the server delivers the messages of a durable consumer.

    All processes share it. With a subject for each, the loser of a race at start would get no events.
    """
    return f"deliver.{durable}"


def consumer_configuration(consumer: StreamConsumer) -> ConsumerConfig:
    """How the server keeps a durable consumer."""
    return ConsumerConfig(
        durable_name=consumer.durable,
        deliver_group=consumer.durable,
        deliver_subject=deliveries_of(consumer.durable),
        filter_subject=consumer.subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=consumer.acknowledge_wait_s,
        max_deliver=-1,
        # Bounds the queue: the server delivers no more messages while this many are unacknowledged.
        max_ack_pending=consumer.batch_max * UNACKNOWLEDGED_BATCHES_MAX,
    )


async def make_consumer(jetstream: JetStreamContext, consumer: StreamConsumer) -> tuple[str, bool]:
    """Make a durable consumer with a mark, or update it and keep its mark.

    Returns the mark, and whether a consumer that was there has only now got it. Raises errors of the library.
    """
    stream, configuration = consumer.stream.name, consumer_configuration(consumer)
    try:
        known = (await jetstream.consumer_info(stream, consumer.durable)).config
    except nats.js.errors.NotFoundError:
        known = None
    mark = None if known is None else mark_of(known)
    made_at = mark or datetime.now(UTC).isoformat()
    await jetstream.add_consumer(stream, configuration.evolve(metadata={MADE_AT: made_at}))
    return made_at, known is not None and mark is None


def bucket_configuration(name: str, life_s: float | None, replicas: int) -> KeyValueConfig:
    """How the server keeps a bucket."""
    return KeyValueConfig(bucket=name, ttl=life_s, history=1, replicas=replicas)


class Preparation:
    """Makes what is needed, on one connection whose user may do that."""

    def __init__(self, connection: Connection, streams: Streams) -> None:
        self._connection = connection
        self._jetstream = connection.jetstream
        self._streams = streams

    async def prepare(self, needs: BusNeeds) -> Prepared:
        """Make everything, or update it. Raises BusStreamError."""
        await self._streams.ensure(needs.streams)
        for bucket in needs.buckets:
            await _named(f"bucket {bucket.name}", self._make_bucket(bucket))
        made = {
            info.config.name: info.created.isoformat()
            for info in await _named("streams", self._jetstream.streams_info())
            if info.config.name is not None and info.created is not None
        }
        newly_marked = set()
        for consumer in needs.consumers:
            making = make_consumer(self._jetstream, consumer)
            made[consumer.durable], is_newly_marked = await _named(f"consumer {consumer.durable}", making)
            if is_newly_marked:
                newly_marked.add(consumer.durable)
        for stream, durable in RETIRED_CONSUMERS:
            await _named(f"consumer {durable}", self._delete_consumer(stream, durable))
        return Prepared(made, frozenset(newly_marked))

    async def is_prepared(self, needs: BusNeeds) -> bool:
        """Whether everything is there. Raises BusStreamError."""
        found = {info.config.name for info in await _named("streams", self._jetstream.streams_info())}
        needed = {stream.name for stream in needs.streams} | {stream_of_bucket(bucket.name) for bucket in needs.buckets}
        if not needed <= found:
            return False
        for consumer in needs.consumers:
            if await self._streams.consumer(consumer.stream.name, consumer.durable) is None:
                return False
        return True

    async def _delete_consumer(self, stream: str, durable: str) -> None:
        with suppress(nats.js.errors.NotFoundError):
            await self._jetstream.delete_consumer(stream, durable)

    async def _make_bucket(self, bucket: BucketNeed) -> None:
        try:
            await self._jetstream.stream_info(stream_of_bucket(bucket.name))
        except nats.js.errors.NotFoundError:
            replicas = self._connection.settings.bus_replicas
            await self._jetstream.create_key_value(bucket_configuration(bucket.name, bucket.life_s, replicas))


async def _named(what: str, call: Coroutine[Any, Any, Result]) -> Result:
    """Call the library. Turns its errors into BusStreamError, which names the part."""
    try:
        return await cancellable(call)
    except STREAM_ERRORS as error:
        raise BusStreamError(f"{what}: {error!r}") from error
