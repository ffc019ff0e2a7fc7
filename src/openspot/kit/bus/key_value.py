"""Key-value buckets of the bus, with typed values and revisions."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.js.kv import KeyValue

from openspot.kit.backoff import Backoff
from openspot.kit.bus.codec import UNREADABLE, decoder_of, encode, note_malformed
from openspot.kit.bus.connection import Connection
from openspot.kit.bus.errors import BusError, KeyValueError, WrongRevisionError
from openspot.kit.bus.preparation import bucket_configuration, stream_of_bucket
from openspot.kit.log import get_logger
from openspot.kit.tasks import cancellable, is_set_within

log = get_logger("bus")

LOOK_S_MIN, LOOK_S_MAX = 0.02, 5.0
"""A watch looks again this soon after a change or a reconnect, and at least this often."""
HINTS_MAX = 65_536
"""Writes to a watched bucket that may wait to be noted. Beyond it the client library reports that we fell behind."""
_RETRY_S, _RETRY_S_MAX = 0.2, 5.0
_NO_MESSAGE = 10037
"""The server's error code for a message that is not there; a missing stream has another one."""
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
    """A bucket whose values are JSON of one type, or raw bytes. The first use creates it, unless somebody else does.

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
        look_soon = asyncio.Event()
        self._connection.on_reconnect(look_soon.set)
        while True:
            watch = _Watch(self._connection, self._name, seen, self._hand_over(take), caught_up, look_soon)
            try:
                await self._opened_bucket()
                await watch.run()
            except _ERRORS as error:
                log.warning("bucket watched again", bucket=self._name, error=repr(error))
            except KeyValueError as error:
                # If the server has lost the bucket, the next attempt makes it again.
                self._opened = None
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
            if not self._connection.makes_streams:
                # The server returns a message that is asked for by its key as JSON. The library's other way, the direct
                # one, returns the bare value, and a process could have the server send that to any subject.
                stream, prefix = stream_of_bucket(self._name), f"$KV.{self._name}."
                self._opened = KeyValue(self._name, stream, prefix, jetstream, direct=False)
                return self._opened
            try:
                try:
                    self._opened = await cancellable(jetstream.key_value(self._name))
                except nats.js.errors.BucketNotFoundError:
                    replicas = self._connection.settings.bus_replicas
                    configuration = bucket_configuration(self._name, self._life_s, replicas)
                    self._opened = await cancellable(jetstream.create_key_value(configuration))
            except _ERRORS as error:
                raise KeyValueError(f"{self._name}: {error!r}") from error
        return self._opened


class _StoredMessage(msgspec.Struct):
    """A message of a stream, as the server returns it (JetStream's StoredMsg)."""

    subject: str
    seq: int
    time: datetime
    data: bytes = b""
    hdrs: bytes = b""

    @property
    def is_deletion(self) -> bool:
        """Whether the message marks a deleted key."""
        lines = [line.partition(":") for line in self.hdrs.decode("utf-8", "replace").splitlines()]
        headers = {name.strip(): value.strip() for name, _, value in lines}
        return headers.get(_OPERATION) in _DELETED or _MARKER in headers


class _Error(msgspec.Struct):
    """Why the server does not return a message."""

    err_code: int = 0
    description: str = ""


class _Found(msgspec.Struct):
    """The server's reply to a request for a message."""

    message: _StoredMessage | None = None
    error: _Error | None = None


_decode_found = msgspec.json.Decoder(_Found).decode


class _Watch:
    """Reads a bucket in the order of its revisions, until the first fault.

    The library would have the server push the changes. A process that may ask for that may also have the server
    publish on any subject, so this reads the changes one by one. A subscription only tells it when to look: it hears a
    write before the server has stored it, and hears those that the server refuses.
    """

    def __init__(
        self,
        connection: Connection,
        bucket: str,
        seen: int,
        hand_over: Callable[[str, bytes | None, int, int], None],
        caught_up: Callable[[], None] | None,
        look_soon: asyncio.Event,
    ) -> None:
        """`look_soon` is set when there may be a change."""
        self._connection = connection
        self._bucket = bucket
        self._prefix = f"$KV.{bucket}."
        self._request = f"{connection.api_prefix}.STREAM.MSG.GET.{stream_of_bucket(bucket)}"
        self._hand_over = hand_over
        self._caught_up = caught_up
        self._look_soon = look_soon
        self.seen = seen
        """The newest revision that `take` was called with."""

    async def run(self) -> None:
        """Watch until a fault. Raises KeyValueError, or an error of the client library."""
        client = self._connection.client
        reconnects = self._connection.reconnects
        if not self._connection.is_connected:
            raise KeyValueError(f"{self._bucket}: not connected to the bus")
        subscription = await client.subscribe(f"{self._prefix}>", cb=self._note_hint, pending_msgs_limit=HINTS_MAX)
        try:
            await self._begin_again_if_emptied()
            await self._read_changes()
            if self._caught_up is not None:
                self._caught_up()
            # At first, and after a hint or a change, look soon and then ever more rarely: a store may follow its hint.
            # It may even follow the first reading though its hint came before the subscription.
            pause_s = LOOK_S_MIN
            while True:
                hinted = await is_set_within(self._look_soon, pause_s)
                self._look_soon.clear()
                if self._connection.reconnects != reconnects:
                    raise KeyValueError(f"{self._bucket}: the connection was made again")
                found = await self._read_changes()
                if not found and pause_s == LOOK_S_MAX:
                    await self._begin_again_if_emptied()
                pause_s = LOOK_S_MIN if found or hinted else min(pause_s * 2, LOOK_S_MAX)
        finally:
            if client.is_connected:
                await subscription.unsubscribe()

    async def _note_hint(self, _: Msg) -> None:
        self._look_soon.set()

    async def _read_changes(self) -> bool:
        """Hand over every change after `seen`. Returns whether there was one."""
        found = False
        while (message := await self._asked(seq=self.seen + 1, next_by_subj=f"{self._prefix}>")) is not None:
            found = True
            self.seen = message.seq
            payload = None if message.is_deletion else message.data
            created_ms = int(message.time.timestamp() * 1000)
            self._hand_over(message.subject.removeprefix(self._prefix), payload, message.seq, created_ms)
        return found

    async def _begin_again_if_emptied(self) -> None:
        """Read from the first revision on if the server has lost the bucket and counts from one again."""
        if not self.seen:
            return
        newest = await self._asked(last_by_subj=f"{self._prefix}>")
        if newest is None or newest.seq < self.seen:
            self.seen = 0

    async def _asked(self, **wanted: str | int) -> _StoredMessage | None:
        """The message that the server finds; None if there is none. Raises KeyValueError."""
        try:
            reply = await self._connection.inbox.ask(
                self._request, encode(wanted), self._connection.settings.request_timeout_s
            )
            found = _decode_found(reply.data)
        except (BusError, *UNREADABLE) as error:
            raise KeyValueError(f"{self._bucket}: {error}") from error
        if found.error is not None and found.error.err_code == _NO_MESSAGE:
            return None
        if found.message is None:
            raise KeyValueError(f"{self._bucket}: {found.error.description if found.error else 'no message'}")
        return found.message
