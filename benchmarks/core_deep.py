"""The matching cores on a deep book against themselves on a shallow one.

Shallow: one symbol, 1,200 resting orders on 98 prices, 100 accounts. Deep: 12 symbols, 10^6 resting orders
on 10^5 prices, 10^4 accounts, and on each side of each symbol one price where 10^4 orders queue. Both see the
same rounds: adds at random prices of their side, moves of random resting orders to random prices, cancels of
random resting orders (in the deep book a quarter of them stand in the long queues), and sweeps that cross
many prices, 1,000 in the deep book, reckoned a fill. Commands of one round are made just before they are
timed, as a sequencer has them; time is processor time.

Run: python -m benchmarks.core_deep [--runs 3] [--peer-python PYTHON]
"""

import argparse
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core_runs import (
    AbsentError,
    Figures,
    Side,
    answer_as_child,
    fund,
    measure,
    options,
    reference_core,
    rust_core,
    table,
)
from benchmarks.workloads import ACCOUNT_FIRST, BUY, GTC, IOC, SELL

MODULE = "benchmarks.core_deep"
ROUND = 256
MID = 1_000_000
SWEEP_PRICES = 1_000
EVENT_BYTES = 144
KINDS = ("add", "move", "cancel", "fill")


class World(NamedTuple):
    """The size of a book. `prices` are those of one side of one symbol; `queue` is added at one of them."""

    symbols: int
    accounts: int
    prices: int
    orders: int
    queue: int


SHALLOW = World(symbols=1, accounts=100, prices=49, orders=1_200, queue=0)
DEEP = World(symbols=12, accounts=10_000, prices=4_166, orders=1_000_000, queue=10_000)


class Add(NamedTuple):
    """A limit order; at once if it sweeps."""

    order_id: int
    account: int
    symbol: int
    side: int
    price: int
    quantity: int
    at_once: bool = False


class Move(NamedTuple):
    """A new price for a resting order."""

    order: Add
    price: int


class Cancel(NamedTuple):
    """The end of a resting order."""

    order: Add


Operation = Add | Move | Cancel


class Flow:
    """Random operations on a world, and the orders that rest in it."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.resting: list[Add] = []
        self._order_id = 0

    def first_orders(self) -> list[Add]:
        """The orders that make the book, each price at least once, in random order."""
        world, places = self.world, []
        for symbol in range(1, world.symbols + 1):
            for side in (BUY, SELL):
                places += [(symbol, side, distance) for distance in range(1, world.prices + 1)]
                places += [(symbol, side, world.prices // 2)] * world.queue
        while len(places) < world.orders:
            places.append(self._place())
        self.random.shuffle(places)
        return [self._add(*place) for place in places]

    def adds(self) -> list[Add]:
        """A round of new orders."""
        return [self._add(*self._place()) for _ in range(ROUND)]

    def moves(self) -> list[Move]:
        """A round of moves."""
        orders = [self.random.choice(self.resting) for _ in range(ROUND)]
        return [Move(order, self._price(order.side, self._distance())) for order in orders]

    def cancels(self) -> list[Cancel]:
        """A round of cancels."""
        cancels = []
        for _ in range(ROUND):
            place = self.random.randrange(len(self.resting))
            self.resting[place], self.resting[-1] = self.resting[-1], self.resting[place]
            cancels.append(Cancel(self.resting.pop()))
        return cancels

    def sweep(self, symbol: int, side: int, prices: int) -> Add:
        """An order that takes everything at the best `prices` prices."""
        self._order_id += 1
        limit = MID + prices if side == BUY else MID - prices
        return Add(self._order_id, self._account(side), symbol, side, limit, 10**9, at_once=True)

    def _place(self) -> tuple[int, int, int]:
        return self.random.randint(1, self.world.symbols), self.random.choice((BUY, SELL)), self._distance()

    def _distance(self) -> int:
        return self.random.randint(1, self.world.prices)

    @staticmethod
    def _price(side: int, distance: int) -> int:
        return MID - distance if side == BUY else MID + distance

    def _account(self, side: int) -> int:
        # Half of the accounts buy, half sell, so that no sweep meets its own account.
        half = self.world.accounts // 2
        return ACCOUNT_FIRST + self.random.randrange(half) + (half if side == SELL else 0)

    def _add(self, symbol: int, side: int, distance: int) -> Add:
        self._order_id += 1
        price, quantity = self._price(side, distance), self.random.randint(1, 100)
        order = Add(self._order_id, self._account(side), symbol, side, price, quantity)
        self.resting.append(order)
        return order


class Subject(ABC):
    """One side under measurement. `ready` makes what `run` needs, untimed; `run` is timed."""

    fills = 0
    """How many fills the runs so far have reported."""

    @abstractmethod
    def ready(self, operations: list[Operation]) -> Any:
        """What `run` takes."""

    @abstractmethod
    def run(self, prepared: Any) -> None:
        """Carry the operations out."""

    def memory_bytes(self) -> int | None:
        """What the side says it has set aside for the book, if it says so."""
        return None


class Batches(Subject):
    """A core that takes a round as one batch of records."""

    def __init__(self, core: Any, world: World) -> None:
        from openspot.engine.core import records

        self._records = records
        self._core = core
        fund(
            core,
            range(1, world.symbols + 1),
            range(ACCOUNT_FIRST, ACCOUNT_FIRST + world.accounts),
        )

    def _encode(self, operation: Operation) -> bytes:
        kinds, command = self._records.CommandKind, self._records.Command
        if isinstance(operation, Add):
            order_id, account, symbol, side, price, quantity, at_once = operation
            order_type, reserve = (IOC if at_once else GTC), (price if side == BUY else 0)
            return command(
                kinds.PLACE, side, order_type, 0, symbol, order_id, order_id, account, price, quantity, reserve
            ).encode()
        order = operation.order
        if isinstance(operation, Move):
            return command(kinds.MOVE, order_id=order.order_id, account=order.account, price=operation.price).encode()
        return command(kinds.CANCEL, symbol=order.symbol, order_id=order.order_id, account=order.account).encode()

    def ready(self, operations: list[Operation]) -> bytes:
        return b"".join(map(self._encode, operations))

    def run(self, prepared: bytes) -> None:
        _, events = self._core.apply(prepared)
        self.fills = events[::EVENT_BYTES].count(self._records.EventType.TRADE)

    def memory_bytes(self) -> int | None:
        answer: Callable[[], int] | None = getattr(self._core, "memory_bytes", None)
        return answer() if answer else None


class Calls(Batches):
    """The Rust core, one Python call a command."""

    def ready(self, operations: list[Operation]) -> Any:
        if len(operations) > ROUND:
            return super().ready(operations)
        core = self._core
        calls: list[tuple[Any, ...]] = []
        for operation in operations:
            if isinstance(operation, Add):
                order_id, account, symbol, side, price, quantity, at_once = operation
                kind = IOC if at_once else GTC
                calls.append((core.place, order_id, account, symbol, side, kind, price, quantity, price, order_id))
            elif isinstance(operation, Move):
                order = operation.order
                calls.append((core.move_order, order.order_id, order.account, operation.price, order.order_id))
            else:
                order = operation.order
                calls.append((core.cancel, order.order_id, order.account, order.symbol, order.order_id))
        return calls

    def run(self, prepared: Any) -> None:
        if isinstance(prepared, bytes):
            super().run(prepared)
            return
        for call, *arguments in prepared:
            call(*arguments)
        self.fills = self._core.drain_events()[::EVENT_BYTES].count(self._records.EventType.TRADE)


class Liquibook(Subject):
    """The peer: a book a symbol; a move is its `replace`. Accounts, funds and fees it has none."""

    def __init__(self, world: World) -> None:
        try:
            import liquibook  # type: ignore[import-not-found]
        except ModuleNotFoundError as error:
            raise AbsentError("liquibook is not installed there") from error
        self._order = liquibook.SimpleOrder
        self._at_once = liquibook.oc_immediate_or_cancel
        self._books = [liquibook.DepthOrderBook() for _ in range(world.symbols + 1)]
        self._live: dict[int, Any] = {}

    def ready(self, operations: list[Operation]) -> Any:
        calls: list[tuple[Any, ...]] = []
        for operation in operations:
            order = operation if isinstance(operation, Add) else operation.order
            book = self._books[order.symbol]
            if isinstance(operation, Add):
                self._live[order.order_id] = self._order(order.side == BUY, order.price, order.quantity)
                conditions = (self._at_once,) if order.at_once else ()
                calls.append((book.add, self._live[order.order_id], *conditions))
            elif isinstance(operation, Move):
                calls.append((book.replace, self._live[order.order_id], 0, operation.price))
            else:
                calls.append((book.cancel, self._live[order.order_id]))
        return calls

    def run(self, prepared: Any) -> None:
        for call, *arguments in prepared:
            call(*arguments)


def _timed(subject: Subject, operations: list[Operation]) -> float:
    prepared = subject.ready(operations)
    began = time.process_time_ns()
    subject.run(prepared)
    return time.process_time_ns() - began


def _resident_bytes() -> int:
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4_096 if status.exists() else 0


def _costs(make: Callable[[World], Subject], world: World, seed: int, rounds: int, *, sweeps: bool) -> Figures:
    flow = Flow(world, seed)
    orders = flow.first_orders()
    subject = make(world)
    before = _resident_bytes()
    for start in range(0, len(orders), 10_000):
        subject.run(subject.ready([*orders[start : start + 10_000]]))
    figures: Figures = {
        "resident": (_resident_bytes() - before) / len(orders),
        "stated": (subject.memory_bytes() or 0) / len(orders),
    }
    spent = dict.fromkeys(("add", "move", "cancel"), 0.0)
    for turn in range(rounds + 1):
        for kind, operations in (("add", flow.adds), ("move", flow.moves), ("cancel", flow.cancels)):
            nanoseconds = _timed(subject, [*operations()])
            # The first round finds the caches as the building left them.
            spent[kind] += nanoseconds if turn else 0
    figures |= {kind: nanoseconds / rounds / ROUND for kind, nanoseconds in spent.items()}
    if sweeps:
        figures |= _sweeps(subject, flow)
    return figures


def _sweeps(subject: Subject, flow: Flow) -> Figures:
    """Cost of a fill: each side of each symbol is swept, a shallow one again and again, made anew between."""
    world = flow.world
    times = 1 if world is DEEP else 24
    spent, fills = 0.0, 0
    for _ in range(times):
        for symbol in range(1, world.symbols + 1):
            for side in (BUY, SELL):
                spent += _timed(subject, [flow.sweep(symbol, side, min(SWEEP_PRICES, world.prices))])
                fills += subject.fills
        if times > 1:
            subject.run(subject.ready([*flow.first_orders()]))
    return {"fill": spent / fills, "fills": fills}


def _both(make: Callable[[World], Subject], parsed: argparse.Namespace, rounds: int, *, sweeps: bool = True) -> Figures:
    figures: Figures = {}
    for name, world in (("shallow", SHALLOW), ("deep", DEEP)):
        costs = _costs(make, world, parsed.seed, rounds, sweeps=sweeps)
        figures |= {f"{name} {figure}": value for figure, value in costs.items()}
    return figures


def rust_batches(parsed: argparse.Namespace) -> Figures:
    """The Rust core in batches."""
    return _both(lambda world: Batches(rust_core(), world), parsed, rounds=200)


def rust_calls(parsed: argparse.Namespace) -> Figures:
    """The Rust core call by call."""
    return _both(lambda world: Calls(rust_core(), world), parsed, rounds=200)


def reference_batches(parsed: argparse.Namespace) -> Figures:
    """The Python reference in batches."""
    return _both(lambda world: Batches(reference_core(), world), parsed, rounds=40)


def liquibook_calls(parsed: argparse.Namespace) -> Figures:
    """liquibook. It reports no fills without a listener, so sweeps are left out."""
    return _both(Liquibook, parsed, rounds=10, sweeps=False)


SIDES: dict[str, Side] = {
    "rust-batches": rust_batches,
    "rust-calls": rust_calls,
    "reference-batches": reference_batches,
    "liquibook": liquibook_calls,
}
NAMES = {
    "rust-batches": f"ours, Rust, batches of {ROUND}",
    "rust-calls": "ours, Rust, call by call",
    "reference-batches": f"ours, Python reference, batches of {ROUND}",
    "liquibook": "liquibook (C++), call by call",
}


def main() -> None:
    """Measure every side on both books and print one table a side."""
    parser = options("The cores on a deep book against a shallow one.", SIDES, runs=3)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    print(f"Processor time in ns a command (a fill, for sweeps); medians of {parsed.runs} processes")
    for side in parsed.only or SIDES:
        figures, absent = measure(MODULE, side, parsed, peer=side == "liquibook")
        print()
        if figures is None:
            print(f"{NAMES[side]}: {absent}")
            continue
        rows = []
        for kind in KINDS:
            if f"deep {kind}" in figures:
                shallow, deep = figures[f"shallow {kind}"], figures[f"deep {kind}"]
                rows.append([kind, f"{shallow:,.0f}", f"{deep:,.0f}", f"{deep / shallow:.2f}"])
        table((NAMES[side], "shallow", "deep", "deep / shallow"), rows)
        stated = figures["deep stated"]
        said = f", {stated:,.0f} bytes of address space set aside by the book and its indexes" if stated else ""
        print(f"memory: {figures['deep resident']:,.0f} bytes a resting order in the deep book{said}")


if __name__ == "__main__":
    main()
