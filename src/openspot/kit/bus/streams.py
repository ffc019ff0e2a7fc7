"""Creates and updates the streams on the server, and reports the progress of their consumers."""

from collections.abc import Sequence
from dataclasses import dataclass

import nats.errors
import nats.js.errors
from nats.js.api import (
    ConsumerConfig,
    PersistMode,
    RePublish,
    RetentionPolicy,
    StorageType,
    StoreCompression,
    StreamConfig,
    StreamInfo,
)

from openspot.contracts.streams import DUPLICATE_WINDOW_S, StreamDefinition
from openspot.kit.backoff import Backoff, retry
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusStreamError
from openspot.kit.log import get_logger
from openspot.kit.tasks import cancellable

log = get_logger("bus")

MADE_AT = "openspot-made-at"
"""The entry of a consumer's metadata that says when it was made: whoever made it again gave it another."""
STREAM_ERRORS = (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError)
_SLOW = (nats.errors.TimeoutError, nats.js.errors.ServiceUnavailableError, TimeoutError)
"""Errors that pass: a cluster answers late while it elects a leader, or when many processes ask at once."""
_ATTEMPTS_MAX = 6


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """The progress of a durable consumer.

    `pending` messages wait to be delivered; `unacknowledged` ones are delivered but not acknowledged.
    `acknowledged_until` is the stream sequence up to which every message is acknowledged. `made_at` is the time at
    which the consumer was made, by its own mark; None if it has none. The server's own time is of no use: since NATS
    2.15 it is that of the server's last start.
    """

    pending: int
    unacknowledged: int
    acknowledged_until: int
    made_at: str | None = None

    @property
    def lag(self) -> int:
        """How many messages are not acknowledged yet, delivered or not."""
        return self.pending + self.unacknowledged


class Streams:
    """The streams of the server behind one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._jetstream = connection.jetstream

    async def ensure(self, definitions: Sequence[StreamDefinition]) -> None:
        """Create the streams, or update existing ones. Raises BusStreamError if the server refuses.

        Does nothing if somebody else makes the streams.
        """
        for definition in definitions if self._connection.makes_streams else ():
            try:
                info = await self._made_in_time(definition)
            except STREAM_ERRORS as error:
                raise BusStreamError(f"stream {definition.name}: {error!r}") from error
            _check_durability(definition, info)
        if not self._connection.settings.nats_synced:
            log.warning(
                "NATS does not show whether it syncs what it acknowledges: if not, a power cut loses two minutes",
                server_setting="jetstream.sync_interval: always",
                confirm_with="OPENSPOT_NATS_SYNCED=true",
            )

    async def _made_in_time(self, definition: StreamDefinition) -> StreamInfo:
        def note(error: Exception) -> None:
            log.warning("a stream is asked for again", stream=definition.name, error=repr(error))

        return await retry(lambda: self._made(definition), _SLOW, Backoff(0.5, 5.0, attempts_max=_ATTEMPTS_MAX), note)

    async def _made(self, definition: StreamDefinition) -> StreamInfo:
        try:
            existing = await cancellable(self._jetstream.stream_info(definition.name))
        except nats.js.errors.NotFoundError:
            return await cancellable(self._jetstream.add_stream(self._configuration(definition, None)))
        return await cancellable(self._jetstream.update_stream(self._configuration(definition, existing)))

    def _configuration(self, definition: StreamDefinition, existing: StreamInfo | None) -> StreamConfig:
        replicas = self._connection.settings.bus_replicas
        if existing is not None:
            # The server never changes this setting of an existing stream.
            persist_mode = existing.config.persist_mode
        else:
            # Without replicas, the server may acknowledge news before they are on disk. With replicas, one of them
            # keeps what another loses. Servers before 2.12 ignore this setting and store news like everything else.
            persist_mode = PersistMode.ASYNC if definition.is_news and replicas == 1 else None
        return StreamConfig(
            name=definition.name,
            subjects=list(definition.subjects),
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            max_age=definition.age_s_max,
            duplicate_window=DUPLICATE_WINDOW_S,
            num_replicas=replicas,
            republish=RePublish(*definition.republish) if definition.republish else None,
            persist_mode=persist_mode,
            # What is not news is synced to disk, and in a batch once (publisher.py). Servers before 2.12 ignore this.
            allow_atomic=True if replicas == 1 and not definition.is_news else None,
            # Messages are JSON of the same few shapes: a block that is full takes less than half of the disk. A killed
            # replica takes back what the others do not have, compresses that block, and then adds plain messages to it
            # (NATS 2.15.1). Nothing can read such a block again.
            compression=StoreCompression.S2 if replicas == 1 else StoreCompression.NONE,
        )

    async def newest(self, stream: str, subject: str) -> int:
        """The stream sequence of the newest message of `subject`, 0 if there is none. Raises BusStreamError."""
        try:
            message = await cancellable(self._jetstream.get_last_msg(stream, subject))
        except nats.js.errors.NotFoundError:
            return 0
        except STREAM_ERRORS as error:
            raise BusStreamError(f"stream {stream}: {error!r}") from error
        return message.seq or 0

    async def consumer(self, stream: str, durable: str) -> ConsumerState | None:
        """The progress of a durable consumer; None if it does not exist. Raises BusStreamError."""
        try:
            info = await cancellable(self._jetstream.consumer_info(stream, durable))
        except nats.js.errors.NotFoundError:
            return None
        except STREAM_ERRORS as error:
            raise BusStreamError(f"consumer {durable}: {error!r}") from error
        until = info.ack_floor.stream_seq if info.ack_floor is not None else 0
        return ConsumerState(info.num_pending or 0, info.num_ack_pending or 0, until, mark_of(info.config))


def mark_of(configuration: ConsumerConfig) -> str | None:
    """When a consumer was made, by its mark. None if it has none: an earlier release made it."""
    return (configuration.metadata or {}).get(MADE_AT)


def _check_durability(definition: StreamDefinition, info: StreamInfo) -> None:
    """Log a warning if the server, as configured, may lose messages in a power cut that must survive it."""
    if definition.is_news:
        return
    if info.config.storage != StorageType.FILE:
        log.warning(
            "stream is not stored on disk: a restart of NATS loses what carries money",
            stream=definition.name,
            server_setting="storage: file",
        )
    if info.config.persist_mode == PersistMode.ASYNC:
        log.warning(
            "stream is acknowledged before it is on disk: a killed NATS loses what carries money",
            stream=definition.name,
            server_setting="persist_mode: default",
        )
