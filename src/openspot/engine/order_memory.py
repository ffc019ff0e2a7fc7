"""Which orders the engine knows: all that are live, and the newest of those that ended.

It refuses an order id or external id that was used before, gives events their external ids, and answers
GetOrder about orders that have left the book. Bounded: of the ended ones the oldest are forgotten.

Entries are plain tuples, since there may be millions: plain tuples of plain values cost the least memory
and leave the garbage collector nothing to walk. KnownOrder gives their fields names.
"""

from collections import deque
from collections.abc import Collection
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from openspot.domain.order import EngineOrderType

OPEN = 0
FILLED = 1
CANCELLED = 2
REJECTED = 3


class KnownOrder(NamedTuple):
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
"""The fields of a KnownOrder; an open order's entry leaves the last two out."""

RESTING_TYPES = frozenset({int(EngineOrderType.GTC), int(EngineOrderType.POST_ONLY)})
"""Order types that can rest in a book."""
FILLED_END = (FILLED, 0)
"""What an order's entry gets behind its other fields when a fill completes it."""
_LIVE_FIELDS = 8
_ACCOUNT = 1
_SYMBOL = 2
_ORDER_TYPE = 4
_PRICE = 5
_QUANTITY = 6


class OrderMemory:
    """Orders by order id and by external id."""

    def __init__(self, ended_max: int) -> None:
        self.entries: dict[int, Entry] = {}
        """Order id → its entry. Whoever adds one adds its external id, if it has one, to `ids`, or drops the index."""
        self.ended: deque[int] = deque()
        """The ended orders that are remembered, oldest first."""
        self._ended_max = ended_max
        self._ids: dict[str, int] | None = None
        self._open_orders: dict[tuple[int, int], int] | None = None
        self._ended_counted = 0

    @property
    def ids(self) -> dict[str, int]:
        """External id → order id, made when it is first asked for.

        A replay would make most of it for orders that it soon forgets. It may also have an ended order still, whose
        external id was free again of old: that id is the newer order's.
        """
        return self.index() if self._ids is None else self._ids

    def index(self) -> dict[str, int]:
        """Make `ids`, so that whoever asks first need not wait for it."""
        self._ids = {entry[0]: order_id for order_id, entry in self.entries.items() if entry[0]}
        return self._ids

    def drop_index(self) -> None:
        """Forget `ids` and `open_orders`, which are built again when needed: entries were added without them."""
        self._ids = None
        self._open_orders = None

    @property
    def open_orders(self) -> dict[tuple[int, int], int]:
        """(account, symbol) → open orders that can rest, those included that are still on their way to the core.

        Built when it is first asked for, so a replay does not count. `trim` takes out the orders that ended. Whoever
        adds an entry of a type that can rest counts it here, or calls `drop_index`.
        """
        return self.count_open_orders() if self._open_orders is None else self._open_orders

    def count_open_orders(self) -> dict[tuple[int, int], int]:
        """Build `open_orders`, so that its first reader does not wait for it."""
        self._open_orders = {}
        for entry in self.entries.values():
            if len(entry) == _LIVE_FIELDS and entry[_ORDER_TYPE] in RESTING_TYPES:
                owner = entry[_ACCOUNT], entry[_SYMBOL]
                self._open_orders[owner] = self._open_orders.get(owner, 0) + 1
        self._ended_counted = len(self.ended)
        return self._open_orders

    def find(self, order_id: int) -> KnownOrder | None:
        """The order of this id, or None if it is unknown or forgotten."""
        entry = self.entries.get(order_id)
        return None if entry is None else KnownOrder(*entry)

    def external_id(self, order_id: int) -> str:
        """The external id of an order, empty if it has none."""
        entry = self.entries.get(order_id)
        return entry[0] if entry else ""

    def move(self, order_id: int, price: int) -> None:
        """Note an open order's new limit."""
        entry = self.entries[order_id]
        self.entries[order_id] = (*entry[:_PRICE], price, *entry[_PRICE + 1 :])

    def reduce(self, order_id: int, quantity: int) -> None:
        """Note that a quantity was taken off an open order."""
        entry = self.entries[order_id]
        self.entries[order_id] = (*entry[:_QUANTITY], entry[_QUANTITY] - quantity, *entry[_QUANTITY + 1 :])

    def end(self, order_id: int, status: int, remaining: int) -> None:
        """Note that an open order has left."""
        self.entries[order_id] = (*self.entries[order_id], status, remaining)
        self.ended.append(order_id)

    def trim(self) -> None:
        """Forget the oldest ended orders beyond the bound, and take newly ended ones out of `open_orders`."""
        if self._open_orders is not None:
            self._count_ended(self._open_orders)
        ended, forget, ids = self.ended, self.entries.pop, self._ids
        for _ in range(len(ended) - self._ended_max):
            order_id = ended.popleft()
            external_id = forget(order_id)[0]
            if ids and ids.get(external_id) == order_id:
                del ids[external_id]
        self._ended_counted = len(ended)

    def _count_ended(self, open_orders: dict[tuple[int, int], int]) -> None:
        """Take the orders that ended since the last call out of `open_orders`."""
        for order_id in islice(reversed(self.ended), len(self.ended) - self._ended_counted):
            entry = self.entries[order_id]
            if entry[_ORDER_TYPE] in RESTING_TYPES:
                owner = entry[_ACCOUNT], entry[_SYMBOL]
                open_orders[owner] -= 1
                if not open_orders[owner]:
                    del open_orders[owner]

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
            order_id
            for order_id, entry in self.entries.items()
            if len(entry) == _LIVE_FIELDS and order_id not in pending
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
