"""The matching cores with the journal on, against a peer with its journal: every batch is durable before it is applied.

The workload is `workloads.shallow`; a batch is 512 commands, one fsync each, on all sides. The peer,
matching-engine, buffers each command in its log, matches it, and syncs every 512; it keeps no balances. Ours:

    core and journal           the batch is committed to the journal (SQLite, synchronous=FULL), then applied
    sequencer, whole engine    through the running engine's own sequencer and state machine: names, external ids,
                               metadata, the memory of orders; the next batch is committed while one is applied

Time is the clock's, since a commit waits for the disk. That the trades are the same is seen in a second run.

Run: python -m benchmarks.core_journal [--runs 5] [--peer-python PYTHON]
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

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
    CANCEL,
    SYMBOL,
    TAKE,
    Step,
    shallow,
)

MODULE = "benchmarks.core_journal"
BATCH = 512
COMMANDS = {"rust": 300_000, "reference": 60_000}
IN_FLIGHT = 4
"""Batches under way in the sequencer."""
TARGET = 3.0


def _figures(commands: int, seconds: float, same: bool) -> Figures:
    return {"rate": commands / seconds, "same": "yes" if same else "NO"}


def core_and_journal(name: str, parsed: argparse.Namespace) -> Figures:
    """Commit a batch, apply it."""
    from openspot.engine.journal.journal import Journal

    make = rust_core if name == "rust" else reference_core
    steps, outcome = shallow(COMMANDS[name], parsed.seed)
    accounts = range(ACCOUNT_FIRST, ACCOUNT_FIRST + ACCOUNTS)
    core = make()
    fund(core, [SYMBOL], accounts)
    prepared = [
        (part, [() if step.kind == CANCEL else ("", "") for step in steps[number * BATCH : (number + 1) * BATCH]])
        for number, part in enumerate(batches(records(steps), BATCH))
    ]
    events: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder, closing(Journal(Path(folder) / "journal.sqlite")) as journal:
        append, apply, sequence = journal.append, core.apply, 1
        began = time.perf_counter()
        for commands, notes in prepared:
            append(sequence, sequence, commands, notes)
            events.append(apply(commands)[1])
            sequence += len(notes)
        seconds = time.perf_counter() - began
    return _figures(len(steps), seconds, trades_in(b"".join(events)) == outcome)


def whole_engine(name: str, parsed: argparse.Namespace) -> Figures:
    """Through sequencer and state machine."""
    return asyncio.run(_whole_engine(name, parsed.seed))


async def _whole_engine(name: str, seed: int) -> Figures:
    from benchmarks.engine_commands import engine_commands, first_commands
    from openspot.engine.intake.sequencer import Sequencer
    from openspot.engine.journal.journal import Journal
    from openspot.engine.state.state_machine import AppliedBatch, StateMachine

    flow = engine_commands(COMMANDS[name], seed)
    prepared = []
    while part := list(islice(flow, BATCH)):
        prepared.append((b"".join(command for command, _ in part), [note for _, note in part]))
    applied: list[AppliedBatch] = []
    machine = StateMachine(rust_core() if name == "rust" else reference_core(), 250_000)
    with tempfile.TemporaryDirectory() as folder, closing(Journal(Path(folder) / "journal.sqlite")) as journal:
        sequencer = Sequencer(
            machine,
            journal,
            time.time_ns,
            batch_max=BATCH,
            queue_max=BATCH * IN_FLIGHT,
            on_applied=applied.append,
            blocked=lambda: False,
        )
        first = first_commands()
        machine.register(*first)
        await sequencer.submit(*first)
        applied.clear()
        rest = iter(prepared)

        async def work() -> None:
            for commands, notes in rest:
                # As the door does when an order comes in.
                machine.register(commands, notes)
                await sequencer.submit(commands, notes)

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        seconds = time.perf_counter() - began
        await sequencer.close()
    outcome = shallow(COMMANDS[name], seed)[1]
    traded = trades_in(b"".join(part.events.records for part in applied))
    return _figures(COMMANDS[name], seconds, traded == outcome)


def matching_engine(parsed: argparse.Namespace) -> Figures:
    """matching-engine (Python) with its own journal, synced every BATCH commands."""
    try:
        from matching_engine.engine import MatchingEngine  # type: ignore[import-not-found]
        from matching_engine.journal import Journal  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        raise AbsentError("matching-engine is not installed there") from error
    steps, outcome = shallow(COMMANDS["rust"], parsed.seed)
    process = MatchingEngine().process
    kept: list[object] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        journal.open(1)
        append, sync = journal.append, journal.sync
        began = time.perf_counter()
        for sequence, command in enumerate(_their_commands(steps), 1):
            append(command)
            kept += process(command)
            if sequence % BATCH == 0:
                sync()
        sync()
        seconds = time.perf_counter() - began
        journal.close()
    trades = [event for event in kept if type(event).__name__ == "Trade"]
    volume = sum(trade.qty for trade in trades)  # type: ignore[attr-defined]
    notional = sum(trade.qty * trade.price for trade in trades)  # type: ignore[attr-defined]
    return _figures(len(steps), seconds, (len(trades), volume, notional) == outcome)


def _their_commands(steps: Sequence[Step]) -> list[object]:
    """The steps as matching-engine's commands, built before the timed loop, as our records are."""
    from matching_engine import (  # type: ignore[import-not-found]
        CancelOrder,
        NewOrder,
        OrderType,
        SelfTradePrevention,
        SequencedCommand,
        Side,
        TimeInForce,
    )

    sides = {1: Side.BUY, 2: Side.SELL}
    lives = {ADD: TimeInForce.GTC, TAKE: TimeInForce.IOC}
    limit, off = OrderType.LIMIT, SelfTradePrevention.NONE
    return [
        SequencedCommand(
            sequence,
            sequence,
            CancelOrder(order_id, 1)
            if kind == CANCEL
            else NewOrder(order_id, 1, sides[side], price, quantity, limit, lives[kind], False, off),
        )
        for sequence, (kind, order_id, side, price, quantity) in enumerate(steps, 1)
    ]


SIDES: dict[str, Side] = {
    "rust": partial(core_and_journal, "rust"),
    "rust-engine": partial(whole_engine, "rust"),
    "reference": partial(core_and_journal, "reference"),
    "reference-engine": partial(whole_engine, "reference"),
    "matching-engine": matching_engine,
}
NAMES = {
    "rust": "ours, Rust core and journal",
    "rust-engine": "ours, Rust core, sequencer, whole engine",
    "reference": "ours, Python reference and journal",
    "reference-engine": "ours, Python reference, sequencer, whole engine",
    "matching-engine": "matching-engine (Python) with its journal",
}
PEER = "matching-engine"


def main() -> None:
    """Measure every side and print one table."""
    parser = options("The cores with the journal on, against a peer with its journal.", SIDES, runs=5)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    rates: dict[str, float] = {}
    rows = []
    for side in parsed.only or SIDES:
        figures, absent = measure(MODULE, side, parsed, peer=side == PEER)
        if figures is None:
            rows.append([NAMES[side], absent, "", ""])
            continue
        rates[side] = figures["rate"]
        rows.append([NAMES[side], f"{figures['rate'] / 1e3:,.0f} k/s", figures["same"], ""])
    for row, side in zip(rows, parsed.only or SIDES, strict=True):
        if side in rates and PEER in rates:
            row[3] = f"{rates[side] / rates[PEER]:.2f}"
    print(f"shallow book, one durable commit every {BATCH} commands; medians of {parsed.runs} processes")
    table(("", "commands", "same trades", f"{PEER} = 1"), rows)
    if {"rust", PEER} <= rates.keys():
        print(f"Rust core and journal / {PEER}: {rates['rust'] / rates[PEER]:.1f} (target {TARGET:g})")


if __name__ == "__main__":
    main()
