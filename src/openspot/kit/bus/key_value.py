"""Key-value buckets of the bus, with typed values and revisions."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, KeyValueConfig
from nats.js.kv import KeyValue

from openspot.kit.backoff import Backoff
from openspot.kit.bus.codec import UNREADABLE, decoder_of, encode, note_malformed
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import KeyValueError, WrongRevisionError
from openspot.kit.bus.inbox import status_of
from openspot.kit.log import get_logger
from openspot.kit.tasks import cancellable

log = get_logger("bus")

HEARTBEAT_S = 5.0
"""How often the server sends a heartbeat for a watched bucket without changes."""
SILENCE_S_MAX = 12.5
"""A watch starts again if it receives nothing for this many seconds."""
_POLL_INTERVAL_S = 0.5
_RETRY_S, _RETRY_S_MAX = 0.2, 5.0
_LIFE_WITHOUT_WATCHER_S = 60.0
_HEARTBEAT_STATUS = "100"
_LAST_DELIVERED = "Nats-Last-Consumer"
_OPERATION, _MARKER = "KV-Operation", "Nats-Marker-Reason"
_DELETED = frozenset({"DEL", "PURGE"})

# The stream behind a bucket is gone, so the bucket must be created again.
_GONE = (nats.js.errors.NoStreamResponseError, nats.js.errors.BucketNotFoundError)
_ERRORS = (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError)
_WRONG_SEQUENCE = frozenset({10071, 10164})
"""The server's error codes for a key that is not at the expected revision."""

Value = TypeVar("Value")
Result = TypeVar("Result")


class _InvalidKeyError(KeyValueError):
    """No key can have this name."""


class Entry(msgspec.Struct, Generic[Value], frozen=True):
    """The state of a key. `value` is None for a deleted key, which only a watch shows.

    `revision` grows with every write to the bucket. `created_ms` is the time of the write in milliseconds since 1970,
    or 0 if the server does not send it.
    """

    key: str
    value: Value | None
    revision: int
    created_ms: int = 0


class KeyValueBucket(Generic[Value]):
    """A bucket whose values are JSON of one type, or raw bytes. The first use creates it if it is missing.

    Every method except `watch` raises KeyValueError if the bucket cannot be reached. A write may have happened anyway.
    """

    def __init__(self, connection: Connection, name: str, value_type: type[Value], life_s: float | None) -> None:
        self._connection = connection
        self._name = name
        self._value_type = value_type
        self._life_s = life_s
        self._opened: KeyValue | None = None

    async def get(self, key: str) -> Entry[Value] | None:
        """The entry of `key`; None if there is none. Raises KeyValueError, also for a value that cannot be read."""
        try:
            entry = await self._call(lambda bucket: bucket.get(key))
        except (nats.js.errors.KeyNotFoundError, _InvalidKeyError):
            return None
        return Entry(key, self._decoded(key, entry.value or b""), entry.revision or 0)

    async def create(self, key: str, value: Value) -> int:
        """Write a key that does not exist and return its revision. Raises WrongRevisionError if it exists."""
        try:
            return await self._call(lambda bucket: bucket.create(key, self._encoded(value)))
        except nats.js.errors.KeyNotFoundError as error:
            # The key existed when the server refused the write, and expired before the library read it.
            raise WrongRevisionError(f"{self._name}: {key} has only just expired") from error

    async def put(self, key: str, value: Value, expected_revision: int | None = None) -> int:
        """Write `key` and return its revision.

        Raises WrongRevisionError if `expected_revision` is given and the key is at another one. A key that does not
        exist is at revision 0.
        """
        payload = self._encoded(value)
        if expected_revision is None:
            return await self._call(lambda bucket: bucket.put(key, payload))
        return await self._call(lambda bucket: bucket.update(key, payload, last=expected_revision))

    async def delete(self, key: str, expected_revision: int | None = None) -> None:
        """Delete `key`. Raises WrongRevisionError if `expected_revision` is given and the key is at another one."""
        await self._call(lambda bucket: bucket.delete(key, last=expected_revision))

    async def watch(self, take: Callable[[Entry[Value]], None], caught_up: Callable[[], None] | None = None) -> None:
        """Call `take` with every entry of the bucket and then with every change, until cancelled.

        Calls `caught_up` after the last entry of the bucket. If the connection or the server is lost, the watch starts
        again: it calls `take` with what has changed since, and `caught_up` again. It logs and skips an entry that it
        cannot read.
        """
        backoff = Backoff(_RETRY_S, _RETRY_S_MAX)
        seen = 0
        while True:
            watch = _Watch(self._connection, self._name, seen, self._hand_over(take), caught_up)
            try:
                await self._opened_bucket()
                await watch.run()
            except _ERRORS as error:
                log.warning("bucket watched again", bucket=self._name, error=repr(error))
            except KeyValueError as error:
                log.warning("bucket watched again", bucket=self._name, error=str(error))
            if watch.seen > seen:
                backoff.succeeded()
            seen = watch.seen
            await asyncio.sleep(backoff.failed())

    def _hand_over(self, take: Callable[[Entry[Value]], None]) -> Callable[[str, bytes | None, int, int], None]:
        def hand_over(key: str, payload: bytes | None, revision: int, created_ms: int) -> None:
            try:
                value = None if payload is None else self._decoded(key, payload)
                take(Entry(key, value, revision, created_ms))
            except KeyValueError as error:
                log.warning("entry left out", bucket=self._name, error=str(error))
            except Exception:
                log.exception("handler of a watched entry failed", bucket=self._name, key=key)

        return hand_over

    def _encoded(self, value: Value) -> bytes:
        return value if isinstance(value, bytes) else encode(value)

    def _decoded(self, key: str, payload: bytes) -> Value:
        if self._value_type is bytes:
            return payload  # type: ignore[return-value]
        try:
            value: Value = decoder_of(self._value_type).decode(payload)
        except UNREADABLE as error:
            note_malformed(self._name, f"{self._name}/{key}", payload, error)
            raise KeyValueError(f"{self._name}: the value of {key} cannot be read: {error}") from error
        return value

    async def _call(self, call: Callable[[KeyValue], Coroutine[Any, Any, Result]]) -> Result:
        """Call the library. Turns its errors into KeyValueError, except KeyNotFoundError."""
        if not self._connection.is_connected:
            # Without this check the client library would keep the call and send it when the connection is back.
            raise KeyValueError(f"{self._name}: not connected to the bus")
        try:
            return await cancellable(call(await self._opened_bucket()))
        except nats.js.errors.KeyNotFoundError:
            raise
        except nats.js.errors.InvalidKeyError as error:
            raise _InvalidKeyError(f"{self._name}: no key can have this name: {error}") from error
        except _ERRORS as error:
            if isinstance(error, _GONE):
                self._opened = None
            is_named = isinstance(error, nats.js.errors.KeyWrongLastSequenceError)
            if is_named or getattr(error, "err_code", None) in _WRONG_SEQUENCE:
                raise WrongRevisionError(f"{self._name}: {error}") from error
            raise KeyValueError(f"{self._name}: {error!r}") from error

    async def _opened_bucket(self) -> KeyValue:
        if self._opened is None:
            jetstream = self._connection.jetstream
            try:
                try:
                    self._opened = await cancellable(jetstream.key_value(self._name))
                except nats.js.errors.BucketNotFoundError:
                    replicas = self._connection.settings.bus_replicas
                    configuration = KeyValueConfig(bucket=self._name, ttl=self._life_s, history=1, replicas=replicas)
                    self._opened = await cancellable(jetstream.create_key_value(configuration))
            except _ERRORS as error:
                raise KeyValueError(f"{self._name}: {error!r}") from error
        return self._opened


class _Watch:
    """One consumer of the stream behind a bucket, from its creation to its first fault."""

    def __init__(
        self,
        connection: Connection,
        bucket: str,
        seen: int,
        hand_over: Callable[[str, bytes | None, int, int], None],
        caught_up: Callable[[], None] | None,
    ) -> None:
        self._connection = connection
        self._bucket = bucket
        self._prefix = f"$KV.{bucket}."
        self._hand_over = hand_over
        self._caught_up = caught_up
        self._delivered = 0
        self._fault: str | None = None
        self._is_current = False
        self._heard = 0.0
        self.seen = seen
        """The newest revision that `take` was called with."""

    async def run(self) -> None:
        """Watch until a fault. Raises KeyValueError, or an error of the client library."""
        loop = asyncio.get_running_loop()
        client = self._connection.client
        reconnects = self._connection.reconnects
        inbox = client.new_inbox()
        subscription = await client.subscribe(inbox, cb=self._take)
        try:
            self._heard = loop.time()
            info = await cancellable(
                self._connection.jetstream.add_consumer(
                    f"KV_{self._bucket}",
                    ConsumerConfig(
                        deliver_subject=inbox,
                        deliver_policy=DeliverPolicy.LAST_PER_SUBJECT,
                        filter_subject=f"{self._prefix}>",
                        ack_policy=AckPolicy.NONE,
                        idle_heartbeat=HEARTBEAT_S,
                        inactive_threshold=_LIFE_WITHOUT_WATCHER_S,
                        mem_storage=True,
                        num_replicas=1,
                    ),
                )
            )
            if not info.num_pending and not self._delivered:
                self._note_caught_up()
            while self._fault is None:
                await asyncio.sleep(_POLL_INTERVAL_S)
                if self._connection.reconnects != reconnects:
                    self._fault = "the connection was made again"
                elif loop.time() - self._heard > SILENCE_S_MAX:
                    self._fault = f"nothing heard for {SILENCE_S_MAX} s"
            raise KeyValueError(f"{self._bucket}: {self._fault}")
        finally:
            if client.is_connected:
                await subscription.unsubscribe()

    async def _take(self, message: Msg) -> None:
        if self._fault is not None:
            return
        self._heard = asyncio.get_running_loop().time()
        if status_of(message) == _HEARTBEAT_STATUS:
            if int((message.headers or {}).get(_LAST_DELIVERED, self._delivered)) != self._delivered:
                self._fault = "a change was missed"
            return
        metadata = message.metadata
        if metadata.sequence.consumer != self._delivered + 1:
            self._fault = "a change was missed"
            return
        self._delivered += 1
        revision = metadata.sequence.stream
        if revision > self.seen:
            self.seen = revision
            headers = message.headers or {}
            is_deleted = headers.get(_OPERATION) in _DELETED or _MARKER in headers
            payload = None if is_deleted else message.data
            created_ms = int(metadata.timestamp.timestamp() * 1000)
            self._hand_over(message.subject.removeprefix(self._prefix), payload, revision, created_ms)
        if metadata.num_pending == 0:
            self._note_caught_up()

    def _note_caught_up(self) -> None:
        if not self._is_current:
            self._is_current = True
            if self._caught_up is not None:
                self._caught_up()
