"""Finds retained trades by symbol and participant.

Memory and the event store find events by sequence only. This index covers the newest trades. It is updated only when a
caller asks for trades, so it costs nothing until then.
"""

import asyncio
import struct
from array import array
from collections.abc import Sequence

from openspot.contracts.engine_events import TradeEvent
from openspot.engine.admin.errors import unavailable
from openspot.engine.core.records import EVENT_SIZE, EventType
from openspot.engine.engine import Engine
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_reader import EventReader
from openspot.engine.stream.event_store import EventStoreError

EVENTS_MAX = 2_000_000
"""Only this many of the newest events are searched for trades. Older trades are in the database."""
TRADES_MAX = 1_000_000
"""The index has at most this many of the newest trades; each takes 28 bytes."""

_TRADE = int(EventType.TRADE)
_HEAD = struct.Struct("<8xI4xQ32xQQ72x")
"""Fields of an event: symbol, sequence, taker's account, maker's account."""
assert _HEAD.size == EVENT_SIZE
_SLICE = 20_000


class TradeIndex:
    """The newest trades of one engine, oldest first, one array for each field."""

    def __init__(self, engine: Engine) -> None:
        self._events = engine.events
        self._renderer = engine.renderer
        self._reader = EventReader(engine.events)
        self._sequences = array("Q")
        self._symbols = array("I")
        self._takers = array("Q")
        self._makers = array("Q")
        self._turn = asyncio.Lock()

    async def page(
        self, account: int, symbols: frozenset[int], limit: int, offset: int
    ) -> tuple[list[TradeEvent], int]:
        """Return (trades, total), newest first. Account 0 and empty `symbols` mean any. Raises AdminError."""
        async with self._turn:
            try:
                await self._catch_up()
                chosen, total = await self._search(account, symbols, limit, offset)
                return await self._read(chosen), total
            except EventStoreError as error:
                raise unavailable(str(error)) from error

    # The index

    async def _catch_up(self) -> None:
        """Index the events since the last call. Raises EventStoreError."""
        reader = self._reader
        reader.next_sequence = max(reader.next_sequence, self._events.last_sequence - EVENTS_MAX + 1)
        async for batch in reader.new_batches():
            self._take(batch)
        self._forget(len(self._sequences) - TRADES_MAX)

    def _take(self, batch: EventBatch) -> None:
        kinds = batch.records[::EVENT_SIZE]
        if _TRADE not in kinds:
            return
        for kind, (symbol, sequence, taker, maker) in zip(kinds, _HEAD.iter_unpack(batch.records), strict=True):
            if kind == _TRADE:
                self._sequences.append(sequence)
                self._symbols.append(symbol)
                self._takers.append(taker)
                self._makers.append(maker)

    def _forget(self, count: int) -> None:
        if count > 0:
            for column in (self._sequences, self._symbols, self._takers, self._makers):
                del column[:count]

    # Searching

    async def _search(self, account: int, symbols: frozenset[int], limit: int, offset: int) -> tuple[list[int], int]:
        """(sequences of the page, total), newest first."""
        if not account and not symbols:
            end = len(self._sequences) - offset
            return list(self._sequences[max(end - limit, 0) : max(end, 0)])[::-1], len(self._sequences)
        chosen: list[int] = []
        total = 0
        for end in range(len(self._sequences), 0, -_SLICE):
            part = slice(max(end - _SLICE, 0), end)
            columns = (self._sequences[part], self._symbols[part], self._takers[part], self._makers[part])
            matching = [
                sequence
                for sequence, symbol, taker, maker in zip(*columns, strict=True)
                if (not account or account in (taker, maker)) and (not symbols or symbol in symbols)
            ]
            matching.reverse()
            chosen += matching[max(offset - total, 0) : max(offset + limit - total, 0)]
            total += len(matching)
            await asyncio.sleep(0)
        return chosen, total

    async def _read(self, sequences: Sequence[int]) -> list[TradeEvent]:
        """The trades with these sequences, in this order. Omits trades that are no longer retained."""
        trades: dict[int, TradeEvent] = {}
        batch: EventBatch | None = None
        for sequence in sorted(sequences):
            if batch is None or sequence > batch.last_sequence:
                batch = await self._reader.batch(sequence)
            if batch is None:
                continue
            index = sequence - batch.first_sequence
            record = batch.records[index * EVENT_SIZE : (index + 1) * EVENT_SIZE]
            (event,) = self._renderer.events(EventBatch(sequence, record, batch.texts[index : index + 1]))
            assert isinstance(event, TradeEvent)
            trades[sequence] = event
        return [trades[sequence] for sequence in sequences if sequence in trades]
