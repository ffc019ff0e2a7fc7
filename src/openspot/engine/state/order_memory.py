"""Which orders the engine knows: all that are live, and the newest of those that ended.

It refuses an order id or external id that was used before, gives events their external ids, and answers
GetOrder about orders that have left the book. Bounded: of the ended ones the oldest are forgotten.

Entries are plain tuples, since there may be millions: plain tuples of plain values cost the least memory
and leave the garbage collector nothing to walk. RememberedOrder gives their fields names.
"""

from collections import deque
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

OPEN = 0
FILLED = 1
CANCELLED = 2
REJECTED = 3


class RememberedOrder(NamedTuple):
    """An order of the memory. `status` is one of OPEN, FILLED, CANCELLED, REJECTED of this module.

    `price` is the newest limit, `quantity` what was ordered less what was taken off since, `time_ns` when it
    came (nanoseconds since 1970), `remaining` what was left when it ended (an open order's remaining quantity is
    the core's to tell).
    """

    external_id: str
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    quantity: int
    time_ns: int
    status: int = OPEN
    remaining: int = 0


Entry = tuple[Any, ...]
"""The fields of a RememberedOrder; an open order's entry leaves the last two out."""
EXTERNAL_ID, ACCOUNT, SYMBOL, SIDE, _, PRICE, QUANTITY, _, _STATUS, _ = range(len(RememberedOrder._fields))
"""Indices of an entry."""

FILLED_END = (FILLED, 0)
"""What an order's entry gets behind its other fields when a fill completes it."""


def is_open(entry: Entry) -> bool:
    """Whether the order of an entry has not ended."""
    return len(entry) == _STATUS


class OrderMemory:
    """Orders by order id and by external id."""

    def __init__(self, ended_max: int) -> None:
        self.entries: dict[int, Entry] = {}
        """Order id → its entry. Whoever adds one adds its external id, if it has one, to `ids`, or drops the index."""
        self.ended: deque[int] = deque()
        """The ended orders that are remembered, oldest first."""
        self._ended_max = ended_max
        self._ids: dict[str, int] | None = None

    @property
    def ids(self) -> dict[str, int]:
        """External id → order id, made when it is first asked for.

        A replay would make most of it for orders that it soon forgets. It may also have an ended order still, whose
        external id was free again of old: that id is the newer order's.
        """
        return self.index() if self._ids is None else self._ids

    def index(self) -> dict[str, int]:
        """Make `ids`, so that whoever asks first need not wait for it."""
        self._ids = {entry[EXTERNAL_ID]: order_id for order_id, entry in self.entries.items() if entry[EXTERNAL_ID]}
        return self._ids

    def drop_index(self) -> None:
        """Let `ids` be made anew: entries were added without it."""
        self._ids = None

    def find(self, order_id: int) -> RememberedOrder | None:
        """The order of this id, or None if it is unknown or forgotten."""
        entry = self.entries.get(order_id)
        return None if entry is None else RememberedOrder(*entry)

    def external_id(self, order_id: int) -> str:
        """The external id of an order, empty if it has none."""
        entry = self.entries.get(order_id)
        return entry[EXTERNAL_ID] if entry else ""

    def move(self, order_id: int, price: int) -> None:
        """Note an open order's new limit."""
        entry = self.entries[order_id]
        self.entries[order_id] = (*entry[:PRICE], price, *entry[PRICE + 1 :])

    def reduce(self, order_id: int, quantity: int) -> None:
        """Note that a quantity was taken off an open order."""
        entry = self.entries[order_id]
        self.entries[order_id] = (*entry[:QUANTITY], entry[QUANTITY] - quantity, *entry[QUANTITY + 1 :])

    def end(self, order_id: int, status: int, remaining: int) -> None:
        """Note that an open order has left."""
        self.entries[order_id] = (*self.entries[order_id], status, remaining)
        self.ended.append(order_id)

    def trim(self) -> None:
        """Forget the oldest ended orders beyond the bound."""
        ended, forget, ids = self.ended, self.entries.pop, self._ids
        for _ in range(len(ended) - self._ended_max):
            order_id = ended.popleft()
            external_id = forget(order_id)[EXTERNAL_ID]
            if ids and ids.get(external_id) == order_id:
                del ids[external_id]

    def make_room(self, order_id: int) -> None:
        """Forget the ended order of this id: a replay, which trims later than of old, may still have it."""
        self.ended.remove(order_id)
        del self.entries[order_id]
        self.drop_index()

    @property
    def open_count(self) -> int:
        """How many orders are open, those included that are still on their way to the core."""
        return len(self.entries) - len(self.ended)

    def snapshot(self, pending: Collection[int]) -> bytes:
        """The memory without `pending` orders as bytes: equal memories, equal bytes."""
        live = sorted(
            order_id for order_id, entry in self.entries.items() if is_open(entry) and order_id not in pending
        )
        return msgspec.msgpack.encode(
            ([(order_id, self.entries[order_id]) for order_id in (*self.ended, *live)], len(self.ended))
        )

    def restore(self, snapshot: bytes) -> None:
        """Replace the memory. Raises ValueError on anything but a whole snapshot."""
        try:
            rows, ended = msgspec.msgpack.decode(snapshot, type=tuple[list[tuple[int, tuple[Any, ...]]], int])
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the order memory: {error}") from error
        self.entries = dict(rows)
        self.drop_index()
        self.ended = deque(order_id for order_id, _ in rows[:ended])
        self.trim()
