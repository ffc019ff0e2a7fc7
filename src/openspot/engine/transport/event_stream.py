"""/ws/events: the engine's events over WebSocket, from any retained sequence on (facts A6.4-02 to A6.4-05).

    ?fromSeq=N    every event from N on, then live events, without a gap or a repeat; if absent, live events only
    ?batch=true   each message is a JSON array of consecutive events instead of one event
    ?partition=P&partitions=K
                  only the events of partition P of K (domain/partition.py), and `skipped` for those between them

The first message is a `hello`, also in an array if batched. If the requested events are not available, the consumer
gets `{"type": "error", "code", "message"}` and is closed with 1008. A live consumer that falls behind the events in
memory, or does not read a message in time, is closed with 1013 and can resume by sequence.
"""

import asyncio
import time

import msgspec
from starlette.datastructures import QueryParams
from starlette.websockets import WebSocket, WebSocketDisconnect

from openspot.contracts.engine_events import Hello, StreamMessage
from openspot.domain.partition import PARTITIONS_MAX, Partition
from openspot.engine import metrics
from openspot.engine.engine import Engine
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_store import EventStoreError
from openspot.engine.stream.partition_filter import PartitionFilter
from openspot.http.errors import service_unavailable, validation_error
from openspot.kit.log import get_logger

log = get_logger("event_stream")

SEND_TIMEOUT_S = 10.0
CONSUMERS_MAX = 64
_CLOSE_TIMEOUT_S = 1.0
_POLICY_VIOLATION = 1008
_TRY_AGAIN_LATER = 1013
_SEQUENCE_DIGITS_MAX = 19
_COUNTS = {str(count): frozenset(map(str, range(count))) for count in range(1, PARTITIONS_MAX + 1)}
"""What `partitions` may be, and what `partition` may be then."""


class StreamEndMessage(StreamMessage, tag="error", frozen=True):
    """The last message before the engine closes a stream: why it ends."""

    code: str
    message: str


class _CannotServeError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _TooSlowError(Exception):
    """The consumer is too slow and must be disconnected."""


class EventStream:
    """Serves the event stream of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._events = engine.events
        self._renderer = engine.renderer
        self._epoch = engine.epoch
        self._consumers = 0
        self._encode = msgspec.json.Encoder().encode

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one connection until it ends. Raises HttpError if the handshake is refused."""
        fault = _parameter_fault(websocket.query_params)
        if fault:
            raise validation_error([fault])
        if self._consumers >= CONSUMERS_MAX:
            raise service_unavailable(f"at most {CONSUMERS_MAX} consumers", "TOO_MANY_CONSUMERS")
        parameters = websocket.query_params
        from_sequence = int(parameters["fromSeq"]) if "fromSeq" in parameters else None
        consumer = _Consumer(websocket, batched=parameters.get("batch") == "true", selection=_selection(parameters))
        await websocket.accept()
        self._consumers += 1
        metrics.CONSUMERS.inc()
        sender = asyncio.create_task(self._follow(consumer, from_sequence))
        listener = asyncio.create_task(_until_closed(websocket))
        try:
            await asyncio.wait((sender, listener), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._consumers -= 1
            metrics.CONSUMERS.dec()
            for task in (sender, listener):
                task.cancel()
            await asyncio.gather(sender, listener, return_exceptions=True)

    async def _follow(self, consumer: "_Consumer", from_sequence: int | None) -> None:
        try:
            first, last = self._events.first_sequence, self._events.last_sequence
            await consumer.send([self._encode(Hello(self._epoch, first, last))])
            sequence = last + 1 if from_sequence is None else from_sequence
            await self._send_from(consumer, sequence)
        except _CannotServeError as error:
            await consumer.end([self._encode(StreamEndMessage(error.code, str(error)))], _POLICY_VIOLATION, error.code)
        except _TooSlowError as error:
            metrics.CONSUMERS_CUT.inc()
            log.warning("disconnected a slow consumer of the event stream", reason=str(error))
            await consumer.end([], _TRY_AGAIN_LATER, "too slow: resume by fromSeq")
        except WebSocketDisconnect:
            return
        except Exception:
            log.exception("failed to serve a consumer of the event stream")

    async def _send_from(self, consumer: "_Consumer", sequence: int) -> None:
        """Send every event from `sequence` on until the consumer disconnects or is too slow."""
        if sequence > self._events.last_sequence + 1:
            raise _CannotServeError(
                "SEQUENCE_AHEAD", f"fromSeq {sequence} is ahead of the newest event {self._events.last_sequence}"
            )
        index = self._events.index_of(sequence)
        while index is None:
            sequence = await self._send_stored(consumer, sequence)
            index = self._events.index_of(sequence)
        while True:
            batch = self._events.batch(index)
            if batch is not None:
                await self._send_batch(consumer, batch, sequence)
                sequence = batch.last_sequence + 1
                index += 1
            elif self._events.has_left(index):
                raise _TooSlowError(f"it was at event {sequence}")
            else:
                await self._wait(consumer)

    async def _wait(self, consumer: "_Consumer") -> None:
        """Wait for the next events. Meanwhile the consumer learns of events that were left out before."""
        pause_s = None if consumer.selection is None else consumer.selection.pause_s
        try:
            async with asyncio.timeout(pause_s):
                await self._events.wait()
        except TimeoutError:
            assert consumer.selection is not None, "only a consumer of a partition waits with a limit"
            await consumer.send(consumer.selection.rest())

    async def _send_stored(self, consumer: "_Consumer", sequence: int) -> int:
        """Send some events from the store and return the next sequence."""
        try:
            batch = await self._events.read(sequence)
        except EventStoreError as error:
            raise _CannotServeError("EVENTS_DAMAGED", str(error)) from error
        if batch is None:
            first = self._events.first_sequence
            raise _CannotServeError(
                "SEQUENCE_NOT_RETAINED", f"event {sequence} is no longer retained; the oldest is {first}"
            )
        await self._send_batch(consumer, batch, sequence)
        return batch.last_sequence + 1

    async def _send_batch(self, consumer: "_Consumer", batch: EventBatch, sequence: int) -> None:
        messages = self._renderer.messages(batch)
        known = max(0, sequence - batch.first_sequence)
        if known:
            messages = messages[known:]
        if consumer.selection is not None:
            messages = consumer.selection.select(batch.first_sequence + known, batch.symbols[known:], messages)
        await consumer.send(messages)


class _Consumer:
    """Sends to one connection, with a time limit. `selection` is None for a consumer of all events."""

    def __init__(self, websocket: WebSocket, *, batched: bool, selection: PartitionFilter | None) -> None:
        self._websocket = websocket
        self._batched = batched
        self.selection = selection

    async def send(self, messages: list[bytes]) -> None:
        """Send JSON messages. Raises _TooSlowError, WebSocketDisconnect."""
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._send(messages)
        except TimeoutError as error:
            raise _TooSlowError(f"it did not read a message within {SEND_TIMEOUT_S} s") from error

    async def end(self, messages: list[bytes], code: int, reason: str) -> None:
        """Send the last messages and close, unless the connection is already gone."""
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._send(messages)
                await self._websocket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            log.info("a consumer of the event stream had already disconnected")

    async def _send(self, messages: list[bytes]) -> None:
        if not self._batched:
            for message in messages:
                await self._websocket.send({"type": "websocket.send", "text": message.decode()})
        elif messages:
            array = b"[" + b",".join(messages) + b"]"
            await self._websocket.send({"type": "websocket.send", "text": array.decode()})


def _parameter_fault(parameters: QueryParams) -> str | None:
    text = parameters.get("fromSeq")
    if text is not None and not (
        text.isascii() and text.isdigit() and len(text) <= _SEQUENCE_DIGITS_MAX and int(text) >= 1
    ):
        return "fromSeq must be a whole number, at least 1"
    if parameters.get("batch", "false") not in ("true", "false"):
        return "batch must be true or false"
    if ("partition" in parameters) != ("partitions" in parameters):
        return "partition and partitions must be given together"
    count = parameters.get("partitions", "1")
    if count not in _COUNTS:
        return f"partitions must be a whole number from 1 to {PARTITIONS_MAX}"
    if parameters.get("partition", "0") not in _COUNTS[count]:
        return "partition must be a whole number from 0 to partitions - 1"
    return None


def _selection(parameters: QueryParams) -> PartitionFilter | None:
    """The filter that a consumer asks for. There is nothing to filter in a single partition."""
    count = int(parameters.get("partitions", "1"))
    return None if count == 1 else PartitionFilter(Partition(int(parameters["partition"]), count), time.monotonic)


async def _until_closed(websocket: WebSocket) -> None:
    """Wait until the connection ends. Ignores what the consumer sends."""
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass
