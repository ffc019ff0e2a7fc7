"""The slowest command while one book of the Rust core grows from empty to four million orders.

No command may stall the core because a table grows. Orders come one command a call, from 100 accounts, at prices
that stress different parts: few prices (long queues), a better or a worse price each time (one new level an order,
at one end of the side), and random prices (new levels anywhere). Times are processor time of the thread, so other
processes do not count; the last column says how many commands took more than 1 ms.

Run: python -m benchmarks.core_growth [--orders 4000000]
"""

import argparse
import random
import time
from collections.abc import Callable

from benchmarks.core_runs import Figures, answer_as_child, fund, measure, options, rust_core, table
from benchmarks.workloads import SYMBOL

MODULE = "benchmarks.core_growth"
ACCOUNTS = range(1_000, 1_100)
BUY, GTC = 1, 1
DRAIN_EVERY = 256
SLOW_NS = 1_000_000
PRICE_MAX = 1 << 40

PriceOf = Callable[[int], int]
"""The scaled price of the order with a number."""


def grow(price_of: PriceOf, parsed: argparse.Namespace) -> Figures:
    """Place the orders and return the figures."""
    core = rust_core()
    fund(core, [SYMBOL], ACCOUNTS)
    place, drain, clock = core.place, core.drain_events, time.thread_time_ns
    worst = total = slow = 0
    for number in range(1, parsed.orders + 1):
        price, account = price_of(number), ACCOUNTS[number % len(ACCOUNTS)]
        before = clock()
        code = place(number, account, SYMBOL, BUY, GTC, price, 1, price, number)
        took = clock() - before
        assert code == 0, f"order {number} was rejected with code {code}"
        total += took
        worst = max(worst, took)
        slow += took > SLOW_NS
        if number % DRAIN_EVERY == 0:
            drain()
    return {
        "worst_ms": worst / 1e6,
        "mean_ns": total / parsed.orders,
        "slow": slow,
        "bytes_an_order": core.memory_bytes() / parsed.orders,
    }


def few_prices(parsed: argparse.Namespace) -> Figures:
    """49 prices."""
    return grow(lambda number: 1_000_000 - number % 49, parsed)


def better_prices(parsed: argparse.Namespace) -> Figures:
    """Each order at a better price."""
    return grow(lambda number: number, parsed)


def worse_prices(parsed: argparse.Namespace) -> Figures:
    """Each order at a worse price."""
    return grow(lambda number: parsed.orders + 1 - number, parsed)


def random_prices(parsed: argparse.Namespace) -> Figures:
    """Random prices."""
    generator = random.Random(parsed.seed)
    return grow(lambda _: generator.randrange(1, PRICE_MAX), parsed)


SIDES = {
    "49 prices": few_prices,
    "a better price each": better_prices,
    "a worse price each": worse_prices,
    "random prices": random_prices,
}


def main() -> None:
    """Run each way in fresh processes and print the medians."""
    parser = options("The slowest command while a book grows.", SIDES, runs=1)
    parser.add_argument("--orders", type=int, default=4_000_000)
    parsed = parser.parse_args()
    if answer_as_child(SIDES, parsed):
        return
    rows = []
    for name in parsed.only or SIDES:
        figures, absent = measure(MODULE, name, parsed)
        if figures is None:
            rows.append([name, absent, "", "", ""])
            continue
        rows.append(
            [
                name,
                f"{figures['worst_ms']:.2f} ms",
                f"{figures['mean_ns']:,.0f} ns",
                f"{figures['bytes_an_order']:.0f}",
                f"{figures['slow']:,.0f}",
            ]
        )
    print(f"{parsed.orders:,} orders into one empty book")
    table(("prices", "slowest command", "mean", "bytes set aside an order", "over 1 ms"), rows)


if __name__ == "__main__":
    main()
