"""The matching cores against Python-callable order books on a shallow book.

The workload is `workloads.shallow`. Ours keeps accounts, checks funds, charges fees, prevents self-trades
and emits events; the peers do none of these but matching-engine, which prevents self-trades and emits events
and is called with that prevention off, since its default would stop at the one account that it is given.
A peer's run builds its order object in the timed loop, as a caller has to; a second row has them built
before, which flatters it. Ours, call by call, takes plain integers and drains its events every 512 commands;
in batches it takes records and answers results and events as records. Time is the process's processor time,
so that what else the machine does disturbs less; that the trades are the same is seen in a second run.

Run: python -m benchmarks.core_shallow [--runs 5] [--peer-python PYTHON]
"""

import argparse
import time
from typing import TYPE_CHECKING

from benchmarks.core_runs import (
    AbsentError,
    Figures,
    Side,
    answer_as_child,
    batches,
    fund,
    measure,
    options,
    records,
    reference_core,
    rust_core,
    table,
    trades_in,
)
from benchmarks.workloads import (
    ACCOUNT_FIRST,
    ACCOUNTS,
    ADD,
    BUY,
    CANCEL,
    GTC,
    IOC,
    SYMBOL,
    TAKE,
    Step,
    shallow,
)

if TYPE_CHECKING:
    from openspot.engine.core.protocol import MatchingCore

MODULE = "benchmarks.core_shallow"
BATCH = 512
REFERENCE_COMMANDS = 60_000
"""Commands of the reference's runs: it is slow, and its pace does not change with their number."""


def _figures(commands: int, seconds: float, same: bool) -> Figures:
    return {"rate": commands / seconds, "same": "yes" if same else "NO"}


def _accounts() -> range:
    return range(ACCOUNT_FIRST, ACCOUNT_FIRST + ACCOUNTS)


def _traded(target: "MatchingCore", steps: list[Step]) -> tuple[int, int, int]:
    """What a core trades, from a second, untimed run."""
    fund(target, [SYMBOL], _accounts())
    return trades_in(target.apply(b"".join(records(steps)))[1])


def rust_calls(parsed: argparse.Namespace) -> Figures:
    """The Rust core, one Python call a command, events drained as records."""
    steps, outcome = shallow(seed=parsed.seed)
    target = rust_core()
    fund(target, [SYMBOL], _accounts())
    flat = [
        (step.kind, step.order_id, step.account, step.side, IOC if step.kind == TAKE else GTC, *step[3:])
        for step in steps
    ]
    place, cancel, drain = target.place, target.cancel, target.drain_events
    drained, now, waiting = 0, 1_700_000_000_000_000_000, 0
    began = time.process_time()
    for kind, order_id, account, side, order_type, price, quantity in flat:
        now += 1_000
        if kind == CANCEL:
            cancel(order_id, account, SYMBOL, now)
        else:
            place(order_id, account, SYMBOL, side, order_type, price, quantity, price, now)
        waiting += 1
        if waiting == BATCH:
            waiting = 0
            drained += len(drain())
    drained += len(drain())
    seconds = time.process_time() - began
    assert drained
    return _figures(len(steps), seconds, _traded(rust_core(), steps) == outcome)


def _in_batches(name: str, commands: int, size: int, seed: int) -> Figures:
    make = rust_core if name == "rust" else reference_core
    steps, outcome = shallow(commands, seed)
    target = make()
    fund(target, [SYMBOL], _accounts())
    apply = target.apply
    answered = 0
    prepared = batches(records(steps), size)
    began = time.process_time()
    for batch in prepared:
        results, events = apply(batch)
        answered += len(results) + len(events)
    seconds = time.process_time() - began
    assert answered
    return _figures(len(steps), seconds, _traded(make(), steps) == outcome)


def rust_batches(parsed: argparse.Namespace) -> Figures:
    """The Rust core in batches of records."""
    return _in_batches("rust", 300_000, BATCH, parsed.seed)


def reference_calls(parsed: argparse.Namespace) -> Figures:
    """The Python reference, one record a call."""
    return _in_batches("reference", REFERENCE_COMMANDS, 1, parsed.seed)


def reference_batches(parsed: argparse.Namespace) -> Figures:
    """The Python reference in batches of records."""
    return _in_batches("reference", REFERENCE_COMMANDS, BATCH, parsed.seed)


def _liquibook(parsed: argparse.Namespace, *, built_before: bool) -> Figures:
    try:
        import liquibook  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        raise AbsentError("liquibook is not installed there") from error
    steps, outcome = shallow(seed=parsed.seed)
    order, at_once = liquibook.SimpleOrder, liquibook.oc_immediate_or_cancel
    book = liquibook.DepthOrderBook()
    add, cancel = book.add, book.cancel
    live: dict[int, object] = {}
    if built_before:
        live = {
            step.order_id: order(step.side == BUY, step.price, step.quantity) for step in steps if step.kind != CANCEL
        }
        began = time.process_time()
        for kind, order_id, _, _, _ in steps:
            if kind == CANCEL:
                cancel(live[order_id])
            elif kind == ADD:
                add(live[order_id])
            else:
                add(live[order_id], at_once)
        seconds = time.process_time() - began
    else:
        began = time.process_time()
        for kind, order_id, side, price, quantity in steps:
            if kind == CANCEL:
                cancel(live[order_id])
                continue
            made = order(side == BUY, price, quantity)
            live[order_id] = made
            if kind == ADD:
                add(made)
            else:
                add(made, at_once)
        seconds = time.process_time() - began
    return _figures(len(steps), seconds, _liquibook_trades(steps) == outcome)


def _liquibook_trades(steps: list[Step]) -> tuple[int, int, int]:
    """What liquibook trades, from a second, untimed run with a listener."""
    import liquibook

    fills: list[tuple[int, int]] = []

    class Listener(liquibook.OrderListener):  # type: ignore[misc]
        def on_accept(self, order: object) -> None:
            pass

        def on_cancel(self, order: object) -> None:
            pass

        def on_fill(self, resting: object, incoming: object, quantity: int, price: int) -> None:
            fills.append((quantity, price))

    listener = Listener()
    book = liquibook.DepthOrderBook()
    book.set_order_listener(listener)
    live: dict[int, object] = {}
    for step in steps:
        if step.kind == CANCEL:
            book.cancel(live[step.order_id])
            continue
        live[step.order_id] = liquibook.SimpleOrder(step.side == BUY, step.price, step.quantity)
        book.add(live[step.order_id], liquibook.oc_immediate_or_cancel if step.kind == TAKE else 0)
    return len(fills), sum(fill[0] for fill in fills), sum(fill[0] * fill[1] for fill in fills)


def liquibook_calls(parsed: argparse.Namespace) -> Figures:
    """liquibook (C++), its order objects built in the loop."""
    return _liquibook(parsed, built_before=False)


def liquibook_ready(parsed: argparse.Namespace) -> Figures:
    """liquibook (C++), its order objects built before."""
    return _liquibook(parsed, built_before=True)


def matching_engine_calls(parsed: argparse.Namespace) -> Figures:
    """matching-engine (Python), without its journal."""
    try:
        from matching_engine import (  # type: ignore[import-not-found]
            CancelOrder,
            NewOrder,
            OrderType,
            SelfTradePrevention,
            SequencedCommand,
            TimeInForce,
        )
        from matching_engine import Side as TheirSide
        from matching_engine.engine import MatchingEngine  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        raise AbsentError("matching-engine is not installed there (it needs Python 3.12)") from error
    steps, outcome = shallow(seed=parsed.seed)
    sides = {1: TheirSide.BUY, 2: TheirSide.SELL}
    lives = {ADD: TimeInForce.GTC, TAKE: TimeInForce.IOC}
    limit, off = OrderType.LIMIT, SelfTradePrevention.NONE
    kept: list[object] = []
    seconds = 0.0
    for timed in (True, False):
        process = MatchingEngine().process
        began = time.process_time()
        for sequence, (kind, order_id, side, price, quantity) in enumerate(steps, 1):
            if kind == CANCEL:
                command = CancelOrder(order_id, 1)
            else:
                command = NewOrder(order_id, 1, sides[side], price, quantity, limit, lives[kind], False, off)
            events = process(SequencedCommand(sequence, sequence, command))
            if not timed:
                kept += events
        if timed:
            seconds = time.process_time() - began
    trades = [event for event in kept if type(event).__name__ == "Trade"]
    volume = sum(trade.qty for trade in trades)  # type: ignore[attr-defined]
    notional = sum(trade.qty * trade.price for trade in trades)  # type: ignore[attr-defined]
    return _figures(len(steps), seconds, (len(trades), volume, notional) == outcome)


SIDES: dict[str, Side] = {
    "rust-calls": rust_calls,
    "rust-batches": rust_batches,
    "reference-calls": reference_calls,
    "reference-batches": reference_batches,
    "liquibook": liquibook_calls,
    "liquibook-ready": liquibook_ready,
    "matching-engine": matching_engine_calls,
}
PEERS = {"liquibook", "liquibook-ready", "matching-engine"}
NAMES = {
    "rust-calls": "ours, Rust, call by call",
    "rust-batches": f"ours, Rust, batches of {BATCH}",
    "reference-calls": "ours, Python reference, call by call",
    "reference-batches": f"ours, Python reference, batches of {BATCH}",
    "liquibook": "liquibook (C++), call by call",
    "liquibook-ready": "liquibook (C++), order objects built before",
    "matching-engine": "matching-engine (Python), call by call",
}


def main() -> None:
    """Measure every side and print one table."""
    parser = options("The cores against order books for Python, on a shallow book.", SIDES, runs=5)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    rates: dict[str, float] = {}
    rows = []
    for side in parsed.only or SIDES:
        figures, absent = measure(MODULE, side, parsed, peer=side in PEERS)
        if figures is None:
            rows.append([NAMES[side], absent, "", ""])
            continue
        rates[side] = figures["rate"]
        rows.append([NAMES[side], f"{figures['rate'] / 1e3:,.0f} k/s", figures["same"], ""])
    for row, side in zip(rows, parsed.only or SIDES, strict=True):
        if side in rates and "liquibook" in rates:
            row[3] = f"{rates[side] / rates['liquibook']:.2f}"
    print(f"300,000 commands, about 1,200 resting orders on 99 prices; medians of {parsed.runs} processes")
    table(("", "commands", "same trades", "liquibook = 1"), rows)
    if {"rust-batches", "reference-batches"} <= rates.keys():
        print(f"Rust / reference in batches: {rates['rust-batches'] / rates['reference-batches']:.0f}")


if __name__ == "__main__":
    main()
