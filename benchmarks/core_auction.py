"""The uncross of a large auction: the price of deep crossed books, and what each command after it takes.

Buyers and sellers each have one order at each of many prices, all of them crossed. Times are processor time of the
thread.

Run: python -m benchmarks.core_auction [--orders 200000] [--reference-orders 2000]
"""

import argparse
import statistics

from benchmarks.core_cascade import ACCOUNTS, START, SYMBOL, world
from benchmarks.core_runs import reference_core, rust_core, table
from openspot.domain.market_phase import MarketPhase
from openspot.domain.order import Side
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import Command, CommandKind


def run(core: MatchingCore, orders: int) -> list[str]:
    """The figures of an auction of `orders` orders."""
    timed = world(core)
    timed.apply(Command(CommandKind.SET_PHASE, order_type=MarketPhase.AUCTION, symbol=SYMBOL))
    for number in range(orders // 2):
        account, first_id = ACCOUNTS[number % len(ACCOUNTS)], 1_000 + 2 * number
        timed.apply(
            timed.order(first_id, account, Side.BUY, START + 1 + number),
            timed.order(first_id + 1, account, Side.SELL, START - number),
        )
    first, _ = timed.apply(Command(CommandKind.SET_PHASE, symbol=SYMBOL))
    later = []
    while core.phases():
        later.append(timed.apply(Command(CommandKind.ADVANCE_PHASE, symbol=SYMBOL))[0])
    return [
        f"{orders:,}",
        f"{first:,.2f} ms",
        f"{statistics.median(later) * 1e3:,.0f} µs",
        f"{max(later):,.2f} ms",
        f"{len(later) + 1:,}",
    ]


def main() -> None:
    """Measure both cores and print one table."""
    parser = argparse.ArgumentParser(description="The uncross of a large auction on both cores.")
    parser.add_argument("--orders", type=int, default=200_000, help="orders of the Rust core")
    parser.add_argument("--reference-orders", type=int, default=2_000, help="orders of the reference")
    parsed = parser.parse_args()
    rows = [
        ["Rust", *run(rust_core(), parsed.orders)],
        ["reference", *run(reference_core(), parsed.reference_orders)],
    ]
    table(("", "orders", "first command, with the price", "each later one", "slowest later", "commands"), rows)


if __name__ == "__main__":
    main()
