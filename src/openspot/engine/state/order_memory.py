"""The orders that the engine remembers: every open one, and the newest ended ones up to a bound.

The command intake looks here for repeated ids, events get their order ids from here,
and GetOrder finds orders here that have left the book.

There may be millions of entries, so each is a plain tuple of plain values: it takes the least memory, and the
garbage collector does not track it. RememberedOrder names the fields.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from openspot.domain.order import RESTING_TYPES, Side
from openspot.engine.state.client_order_ids import ClientOrderIds

OPEN = 0
FILLED = 1
CANCELLED = 2
REJECTED = 3

WAITS = 64
"""Bit of an order's type here: it came with a trigger, so it is open until it ends, whatever its type."""
HAS_LIMIT = 128
"""Bit of an order's type here: it came with a trigger and with a limit that its owner chose."""
HAS_LIMIT_NOTE = ("limit",)
"""The note of the TERMS of such an order. The cores need not know it."""


class RememberedOrder(NamedTuple):
    """A remembered order.

    `price` is its current limit, `quantity` the ordered quantity, as amended and less later reductions, `time_ns` its
    arrival in nanoseconds since 1970, `order_type` has the bits WAITS and HAS_LIMIT, and `status` is OPEN, FILLED,
    CANCELLED or REJECTED of this module. `remaining` is the unfilled quantity of an ended order; only the core
    knows that of an open one.
    """

    order_id: str
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
"""The fields of a RememberedOrder. The entry of an open order lacks the last two."""
ORDER_ID, ACCOUNT, SYMBOL, SIDE, _ORDER_TYPE, PRICE, QUANTITY, _, _STATUS, _ = range(len(RememberedOrder._fields))
"""Indices of an entry."""

FILLED_END = (FILLED, 0)
"""Status and remaining quantity, appended to the entry of an order when a fill completes it."""


OpenOrders = tuple[dict[int, None], dict[int, None]]
"""One account's open orders on one symbol: the ids of its sells and of its buys, oldest first."""

_BUY = int(Side.BUY)


def engine_type(order_type: int) -> int:
    """The EngineOrderType of an order's type here."""
    return order_type & ~(WAITS | HAS_LIMIT)


def may_stay(order_type: int) -> bool:
    """Whether an order of this type here can be open after its PLACE: it rests, or waits for its trigger."""
    return order_type in RESTING_TYPES or bool(order_type & WAITS)


def is_open(entry: Entry) -> bool:
    """Whether the order of an entry has not ended."""
    return len(entry) == _STATUS


def add_open(
    open_orders: dict[tuple[int, int], OpenOrders], engine_order_id: int, owner: tuple[int, int], side: int
) -> None:
    """Add an order of `owner`, which is (account, symbol), to `OrderMemory.open_orders`."""
    own = open_orders.get(owner)
    if own is None:
        own = open_orders[owner] = ({}, {})
    own[side == _BUY][engine_order_id] = None


class OrderMemory:
    """Orders by engine order id and by order id."""

    def __init__(self, ended_max: int) -> None:
        self.entries: dict[int, Entry] = {}
        """Entries by engine order id. Code that adds one also adds its order id to `ids`, or calls `drop_index`."""
        self.ended: deque[int] = deque()
        """The ids of the ended orders, oldest first."""
        self.client_ids = ClientOrderIds()
        """The client order ids of open orders."""
        self._ended_max = ended_max
        self._ids: dict[str, int] | None = None
        self._open_orders: dict[tuple[int, int], OpenOrders] | None = None
        self._ended_counted = 0

    @property
    def ids(self) -> dict[str, int]:
        """Engine order ids by order id, built on first use.

        Built lazily, because a replay would add ids mostly of orders that it soon forgets. A replay trims later
        than the live engine did, so two entries can have the same order id: the index then has the newer order.
        """
        return self.index() if self._ids is None else self._ids

    def index(self) -> dict[str, int]:
        """Build `ids` now, so that the first lookup does not wait for it."""
        self._ids = {
            entry[ORDER_ID]: engine_order_id for engine_order_id, entry in self.entries.items() if entry[ORDER_ID]
        }
        return self._ids

    def drop_index(self) -> None:
        """Discard `ids` and `open_orders`, because entries were added without them. The next use builds them again."""
        self._ids = None
        self._open_orders = None

    @property
    def open_orders(self) -> dict[tuple[int, int], OpenOrders]:
        """The open orders that can rest, by (account, symbol), including those that have not reached the core yet.

        Built on first use, so a replay does not build it. `trim` removes the orders that ended. Code that adds an entry
        of a type that can rest calls `add_open`, or `drop_index`.
        """
        return self.index_open_orders() if self._open_orders is None else self._open_orders

    def index_open_orders(self) -> dict[tuple[int, int], OpenOrders]:
        """Build `open_orders` now, so that the first use does not wait for it."""
        self._open_orders = {}
        for engine_order_id, entry in self.entries.items():
            if is_open(entry) and may_stay(entry[_ORDER_TYPE]):
                add_open(self._open_orders, engine_order_id, (entry[ACCOUNT], entry[SYMBOL]), entry[SIDE])
        self._ended_counted = len(self.ended)
        return self._open_orders

    def open_engine_order_ids(self, account: int, symbols: Iterable[int], side: int = 0) -> Iterator[int]:
        """The ids of one account's open orders on these symbols and on `side`; 0 means both sides. Oldest first on each
        side of a symbol."""
        for symbol in symbols:
            sells, buys = self.open_orders.get((account, symbol), ((), ()))
            if side != Side.SELL:
                yield from buys
            if side != Side.BUY:
                yield from sells

    def open_among(
        self, engine_order_ids: Iterable[int], account: int, symbols: Collection[int], side: int = 0
    ) -> Iterator[int]:
        """Those of `engine_order_ids` that are one account's open orders on these symbols and on `side`, each once."""
        for engine_order_id in dict.fromkeys(engine_order_ids):
            entry = self.entries.get(engine_order_id)
            if entry is None or not is_open(entry) or entry[ACCOUNT] != account:
                continue
            if entry[SYMBOL] in symbols and side in (0, entry[SIDE]):
                yield engine_order_id

    def find(self, engine_order_id: int) -> RememberedOrder | None:
        """The order, or None if it is unknown or forgotten."""
        entry = self.entries.get(engine_order_id)
        return None if entry is None else RememberedOrder(*entry)

    def move(self, engine_order_id: int, price: int, change: int) -> None:
        """Record the new limit of an open order, and a signed change of its quantity."""
        entry = self.entries[engine_order_id]
        self.entries[engine_order_id] = (*entry[:PRICE], price, entry[QUANTITY] + change, *entry[QUANTITY + 1 :])

    def accept(self, engine_order_id: int, price: int, quantity: int) -> None:
        """Record the limit and the quantity with which the core accepted an order, if it changed them."""
        entry = self.entries[engine_order_id]
        if (entry[PRICE], entry[QUANTITY]) != (price, quantity):
            self.entries[engine_order_id] = (*entry[:PRICE], price, quantity, *entry[QUANTITY + 1 :])

    def reduce(self, engine_order_id: int, quantity: int) -> None:
        """Record that an open order was reduced by `quantity`."""
        entry = self.entries[engine_order_id]
        self.entries[engine_order_id] = (*entry[:QUANTITY], entry[QUANTITY] - quantity, *entry[QUANTITY + 1 :])

    def end(self, engine_order_id: int, status: int, remaining: int) -> None:
        """Record that an open order has ended."""
        self.entries[engine_order_id] = (*self.entries[engine_order_id], status, remaining)
        self.ended.append(engine_order_id)

    def trim(self) -> None:
        """Forget the oldest ended orders that exceed the bound, and remove newly ended ones from `open_orders`."""
        if self._open_orders is not None:
            self._remove_ended(self._open_orders)
        if self.client_ids:
            for engine_order_id in self._newly_ended():
                self.client_ids.release(engine_order_id)
        ended, forget, ids = self.ended, self.entries.pop, self._ids
        for _ in range(len(ended) - self._ended_max):
            engine_order_id = ended.popleft()
            order_id = forget(engine_order_id)[ORDER_ID]
            if ids and ids.get(order_id) == engine_order_id:
                del ids[order_id]
        self._ended_counted = len(ended)

    def _newly_ended(self) -> Iterator[int]:
        """The orders that ended since the last `trim`."""
        return islice(reversed(self.ended), len(self.ended) - self._ended_counted)

    def _remove_ended(self, open_orders: dict[tuple[int, int], OpenOrders]) -> None:
        """Remove the orders that ended since the last call from `open_orders`."""
        for engine_order_id in self._newly_ended():
            entry = self.entries[engine_order_id]
            if may_stay(entry[_ORDER_TYPE]):
                owner = entry[ACCOUNT], entry[SYMBOL]
                own = open_orders[owner]
                del own[entry[SIDE] == _BUY][engine_order_id]
                if not own[0] and not own[1]:
                    del open_orders[owner]

    def make_room(self, engine_order_id: int) -> None:
        """Forget the ended order with this id. A replay trims later than the live engine did and may still hold it."""
        self.ended.remove(engine_order_id)
        self._ended_counted -= 1
        del self.entries[engine_order_id]
        self.drop_index()

    @property
    def open_count(self) -> int:
        """How many orders are open, including those that have not reached the core yet."""
        return len(self.entries) - len(self.ended)

    def snapshot(self, pending: Collection[int]) -> bytes:
        """The orders except `pending` ones as bytes: equal memories give equal bytes."""
        live = sorted(
            engine_order_id
            for engine_order_id, entry in self.entries.items()
            if is_open(entry) and engine_order_id not in pending
        )
        return msgspec.msgpack.encode(
            (
                [(engine_order_id, self.entries[engine_order_id]) for engine_order_id in (*self.ended, *live)],
                len(self.ended),
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Replace all orders. Raises ValueError unless `snapshot` is complete."""
        try:
            rows, ended = msgspec.msgpack.decode(snapshot, type=tuple[list[tuple[int, tuple[Any, ...]]], int])
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the order memory: {error}") from error
        self.entries = dict(rows)
        self.drop_index()
        self.ended = deque(engine_order_id for engine_order_id, _ in rows[:ended])
        self.client_ids = ClientOrderIds()
        self._ended_counted = 0
        self.trim()
