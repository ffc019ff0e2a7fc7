"""The matching cores on exchange-core's own workload: throughput, and latency from the planned send time.

The generator is `exchange_core.py`. Throughput is that of batches of 512 records, and of one record a call,
by processor time; and of batches that are committed to the journal (SQLite, synchronous=FULL) before they are
applied, by the clock. Latency: each command has a planned time at a steady rate; whoever is due goes into the
next batch, at most 512 at a time, as in the engine's sequencer, and its latency runs from its planned time
to the batch's answer. A stall thus counts for every command that it delays.

After each run every book must equal the generator's, and the sum of every currency must be what was paid in.

Peers are absent from this table: liquibook and matching-engine have no budget orders, and the second has
neither moves nor reductions.

Run: python -m benchmarks.core_exchange_core_workload [--commands 500000] [--symbols 1] [--orders 1000]
"""

import argparse
import pickle
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.core_runs import (
    Figures,
    Side,
    answer_as_child,
    measure,
    options,
    reference_core,
    rust_core,
    table,
)
from benchmarks.exchange_core import DEPOSIT, USERS, Workload, generate
from openspot.engine.core.records import COMMAND_SIZE, CommandKind
from openspot.engine.journal.journal import Journal
from openspot.engine.state.directory import Note

if TYPE_CHECKING:
    from openspot.engine.core.protocol import MatchingCore

MODULE = "benchmarks.core_exchange_core_workload"
BATCH = 512
RATES = {"rust": (200_000, 1_000_000, 2_000_000), "reference": (10_000, 20_000)}
LATENCY_SECONDS_MAX = 5.0
"""A latency run ends after this long; a slow core's takes fewer commands."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)


def _filled(name: str, workload: Workload) -> "MatchingCore":
    core = rust_core() if name == "rust" else reference_core()
    core.apply(workload.setup)
    return core


def _checked(core: "MatchingCore", workload: Workload) -> str:
    for symbol, depth in workload.depths.items():
        if core.depth(symbol, 0) != depth:
            return "NO: books"
    totals: Counter[int] = Counter()
    for balance in core.balances():
        totals[balance.currency] += balance.total
    return "yes" if set(totals.values()) == {DEPOSIT * USERS} else "NO: sums"


def _rate(core: "MatchingCore", commands: bytes, size: int) -> float:
    step = size * COMMAND_SIZE
    prepared = [commands[start : start + step] for start in range(0, len(commands), step)]
    apply = core.apply
    began = time.process_time()
    for batch in prepared:
        apply(batch)
    return len(commands) / COMMAND_SIZE / (time.process_time() - began)


def _durable_rate(core: "MatchingCore", commands: bytes) -> float:
    """Commands a second when every batch is durable before it is applied."""
    step = BATCH * COMMAND_SIZE
    prepared: list[tuple[bytes, list[Note]]] = []
    for start in range(0, len(commands), step):
        batch = commands[start : start + step]
        prepared.append((batch, [("", "") if kind == CommandKind.PLACE else () for kind in batch[::COMMAND_SIZE]]))
    with tempfile.TemporaryDirectory() as folder, closing(Journal(Path(folder) / "journal.sqlite")) as journal:
        append, apply, sequence = journal.append, core.apply, 1
        began = time.perf_counter()
        for batch, notes in prepared:
            append(sequence, sequence, batch, notes)
            apply(batch)
            sequence += len(notes)
        return len(commands) / COMMAND_SIZE / (time.perf_counter() - began)


def _latencies_ns(core: "MatchingCore", commands: bytes, rate: int) -> list[float]:
    """Latency of each command at `rate` commands a second, ascending."""
    count = min(len(commands) // COMMAND_SIZE, int(rate * LATENCY_SECONDS_MAX))
    apply, clock, interval = core.apply, time.perf_counter_ns, 1e9 / rate
    answered: list[tuple[int, int, int]] = []
    done, began = 0, clock()
    while done < count:
        due = min(int((clock() - began) / interval) + 1, count, done + BATCH)
        if due > done:
            apply(commands[done * COMMAND_SIZE : due * COMMAND_SIZE])
            answered.append((done, due, clock() - began))
            done = due
    return sorted(answer - number * interval for first, last, answer in answered for number in range(first, last))


def _side(name: str, parsed: argparse.Namespace) -> Figures:
    workload: Workload = pickle.loads(Path(parsed.workload).read_bytes())
    core = _filled(name, workload)
    figures: Figures = {"batches": _rate(core, workload.commands, BATCH), "true": _checked(core, workload)}
    figures["calls"] = _rate(_filled(name, workload), workload.commands, 1)
    figures["durable"] = _durable_rate(_filled(name, workload), workload.commands)
    for rate in RATES[name]:
        latencies = _latencies_ns(_filled(name, workload), workload.commands, rate)
        for percentile in PERCENTILES:
            place = min(int(len(latencies) * percentile / 100), len(latencies) - 1)
            figures[f"{rate} p{percentile:g}"] = latencies[place] / 1_000
        figures[f"{rate} max"] = latencies[-1] / 1_000
    return figures


def rust(parsed: argparse.Namespace) -> Figures:
    """The Rust core."""
    return _side("rust", parsed)


def reference(parsed: argparse.Namespace) -> Figures:
    """The Python reference."""
    return _side("reference", parsed)


SIDES: dict[str, Side] = {"rust": rust, "reference": reference}


def main() -> None:
    """Generate the workload once, measure both cores on it, and print throughput and latencies."""
    parser = options("The cores on exchange-core's workload.", SIDES, runs=3)
    parser.add_argument("--commands", type=int, default=500_000)
    parser.add_argument("--symbols", type=int, default=1)
    parser.add_argument("--orders", type=int, default=1_000, help="resting orders, over all symbols")
    parser.add_argument("--workload", default="", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    workload = generate(parsed.commands, parsed.symbols, parsed.orders, parsed.seed)
    mix = ", ".join(f"{kind} {count / parsed.commands:.1%}" for kind, count in sorted(workload.kinds.items()))
    print(f"{parsed.commands:,} commands on {parsed.symbols:,} symbols with {parsed.orders:,} resting orders")
    print(f"{mix}; {workload.trades:,} trades; medians of {parsed.runs} processes\n")
    with tempfile.TemporaryDirectory() as folder:
        parsed.workload = str(Path(folder) / "workload.pickle")
        Path(parsed.workload).write_bytes(pickle.dumps(workload))
        throughput, latency = [], []
        for side in parsed.only or SIDES:
            figures, absent = measure(MODULE, side, parsed)
            if figures is None:
                throughput.append([side, absent, "", "", ""])
                continue
            rates = [f"{figures[way] / 1e3:,.0f} k/s" for way in ("batches", "durable", "calls")]
            throughput.append([f"ours, {side}", *rates, figures["true"]])
            for rate in RATES[side]:
                columns = [*(f"p{percentile:g}" for percentile in PERCENTILES), "max"]
                row = [f"{figures[f'{rate} {column}']:,.1f}" for column in columns]
                latency.append([f"ours, {side}, at {rate:,}/s", *row])
    table(("throughput", f"batches of {BATCH}", "with the journal", "one a call", "books and sums true"), throughput)
    print()
    table(("latency, µs", *(f"p{percentile:g}" for percentile in PERCENTILES), "max"), latency)


if __name__ == "__main__":
    main()
