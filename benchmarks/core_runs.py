"""What the core benchmarks share: worlds and records for a core, fresh processes, and tables.

Each side of a comparison runs in a process of its own, several times, and the median counts. A peer may live
in another environment: `--peer-python` names its interpreter, and its processes need the standard library
and the peer alone.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.workloads import BASE, CANCEL, DEPOSIT, IOC, QUOTE, SYMBOL, TAKE, Step

if TYPE_CHECKING:
    from openspot.engine.core.protocol import MatchingCore
    from openspot.engine.core.rust_core import RustCore

ROOT = Path(__file__).resolve().parent.parent
TAKER_FEE_BPS, MAKER_FEE_BPS = 25, 15
MODE_CANCEL_RESTING = 1
GTC = 1

Figures = dict[str, Any]
Side = Callable[[argparse.Namespace], Figures]


class AbsentError(Exception):
    """A side cannot run here; the message says why."""


def reference_core() -> "MatchingCore":
    """A new Python reference."""
    from openspot.engine.core.reference import ReferenceCore

    return ReferenceCore()


def rust_core(open_orders_expected: int = 4_194_304) -> "RustCore":
    """A new Rust core. Raises AbsentError if its wheel is not installed."""
    try:
        from openspot.engine.core.rust_core import RustCore
    except ModuleNotFoundError as error:
        raise AbsentError("the wheel openspot-matching is not installed") from error
    return RustCore(open_orders_expected)


def fund(
    target: "MatchingCore", symbols: Sequence[int], accounts: Sequence[int], mode: int = MODE_CANCEL_RESTING
) -> None:
    """Symbols that share a quote currency, and accounts with plenty of every currency and STP on."""
    from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol

    currencies = [QUOTE, *(_base(symbol) for symbol in symbols)]
    setup: list[Command | CreateSymbol] = [
        Command(CommandKind.CREATE_CURRENCY, symbol=currency) for currency in currencies
    ]
    setup += [
        CreateSymbol(symbol, 0, _base(symbol), QUOTE, 100, 100, 1, 1, TAKER_FEE_BPS, MAKER_FEE_BPS)
        for symbol in symbols
    ]
    amount = DEPOSIT // len(accounts)
    for account in accounts:
        setup.append(Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, order_type=mode, account=account))
        setup += [
            Command(CommandKind.DEPOSIT, symbol=currency, account=account, amount=amount) for currency in currencies
        ]
    results, _ = target.apply(b"".join(command.encode() for command in setup))
    assert not any(results[0::40]), "the world was refused"


def _base(symbol: int) -> int:
    return BASE if symbol == SYMBOL else QUOTE + symbol


def records(steps: Sequence[Step]) -> list[bytes]:
    """The steps of a workload as command records."""
    from openspot.engine.core.records import Command, CommandKind

    encoded = []
    for time_ns, step in enumerate(steps):
        if step.kind == CANCEL:
            command = Command(CommandKind.CANCEL, symbol=SYMBOL, timestamp=time_ns)
            command = command._replace(order_id=step.order_id, account=step.account)
        else:
            order_type = IOC if step.kind == TAKE else GTC
            reserve = step.price if step.side == 1 else 0
            command = Command(
                *(CommandKind.PLACE, step.side, order_type, 0, SYMBOL, time_ns, step.order_id),
                *(step.account, step.price, step.quantity, reserve),
            )
        encoded.append(command.encode())
    return encoded


def batches(encoded: Sequence[bytes], size: int) -> list[bytes]:
    """Records joined into batches of `size`."""
    return [b"".join(encoded[start : start + size]) for start in range(0, len(encoded), size)]


def trades_in(events: bytes) -> tuple[int, int, int]:
    """Number of trades, Σ quantity and Σ price × quantity of event records."""
    from openspot.engine.core.records import EventType, decode_events

    trades = [event for event in decode_events(events) if event.type == EventType.TRADE]
    return (
        len(trades),
        sum(trade.quantity for trade in trades),
        sum(trade.price * trade.quantity for trade in trades),
    )


def options(description: str, sides: Mapping[str, Side], *, runs: int) -> argparse.ArgumentParser:
    """The arguments that every core benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs, help="fresh processes a side; their median counts")
    parser.add_argument("--only", choices=sides, action="append", help="run this side only; repeatable")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", choices=sides, help=argparse.SUPPRESS)
    return parser


def answer_as_child(sides: Mapping[str, Side], parsed: argparse.Namespace) -> bool:
    """Run one side in this process and print its figures, if this is such a process."""
    if parsed.child is None:
        return False
    try:
        figures = sides[parsed.child](parsed)
    except AbsentError as absent:
        figures = {"absent": str(absent)}
    print(json.dumps(figures))
    return True


def measure(module: str, side: str, parsed: argparse.Namespace, *, peer: bool = False) -> tuple[Figures | None, str]:
    """Medians of several fresh runs of a side, and the reason if there are none."""
    command = [parsed.peer_python if peer else sys.executable, "-m", module, "--child", side]
    command += passed_on(parsed)
    runs = []
    for _ in range(parsed.runs):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{side} failed:\n{done.stderr}")
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        if "absent" in runs[-1]:
            return None, runs[-1]["absent"]
    return {
        name: statistics.median(run[name] for run in runs) if isinstance(value, int | float) else value
        for name, value in runs[0].items()
    }, ""


def passed_on(parsed: argparse.Namespace) -> list[str]:
    """The arguments that a child needs as well."""
    ours = {"runs", "only", "peer_python", "child"}
    return [
        part
        for name, value in vars(parsed).items()
        if name not in ours
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, the first to the left, the others to the right."""
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        cells = [
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
