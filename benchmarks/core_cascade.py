"""A cascade of stops: one trade fires many waiting orders, and each of them trades.

Sell stops wait below the market, a buyer rests below each of them, and one trade reaches them all. The command that
fires them, each ACTIVATE after it and placing a stop are timed alone. In the second row each stop's own trade fires
the next one. In the third the stops trail, and a new extreme of the price moves the triggers of all of them. The
reference compares each price with all stops, so it gets fewer. Times are processor time of the thread.

Run: python -m benchmarks.core_cascade [--orders 100000] [--reference-orders 1000]
"""

import argparse
import statistics
import time

from benchmarks.core_runs import reference_core, rust_core, table
from openspot.domain.order import Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    FLAG_ACTIVE,
    TERMS_AT_OR_BELOW,
    Command,
    CommandKind,
    CreateSymbol,
    EventType,
    decode_events,
    decode_results,
)

SYMBOL, BASE, QUOTE = 1, 1, 2
ACCOUNTS = range(10, 110)
MAKER = 200
START = 1_000_000


class Timed:
    """A core whose commands are timed one by one."""

    def __init__(self, core: MatchingCore) -> None:
        self.core = core

    def apply(self, *commands: Command | CreateSymbol) -> tuple[float, bytes]:
        """Apply commands as one batch: (milliseconds, events). None may be refused."""
        records = b"".join(command.encode() for command in commands)
        began = time.thread_time_ns()
        results, events = self.core.apply(records)
        took = (time.thread_time_ns() - began) / 1e6
        assert all(result.code == ResultCode.SUCCESS for result in decode_results(results))
        return took, events

    def order(self, number: int, account: int, side: Side, price: int, quantity: int = 1) -> Command:
        """A GTC order."""
        amount = price if side == Side.BUY else 0
        return Command(CommandKind.PLACE, side, 1, 0, SYMBOL, 0, number, account, price, quantity, amount)


def world(core: MatchingCore) -> Timed:
    """The core with a symbol, funded accounts, and a first trade at START."""
    timed = Timed(core)
    timed.apply(
        Command(CommandKind.CREATE_CURRENCY, symbol=BASE),
        Command(CommandKind.CREATE_CURRENCY, symbol=QUOTE),
        CreateSymbol(SYMBOL, 0, BASE, QUOTE, 1, 1, 1, 1, 0, 0),
        *(
            Command(CommandKind.DEPOSIT, symbol=currency, account=account, amount=10**32)
            for currency in (BASE, QUOTE)
            for account in (*ACCOUNTS, MAKER)
        ),
        # From the first terms on the core remembers prices.
        Command(CommandKind.TERMS),
        Command(CommandKind.SET_ACCOUNT, account=MAKER, flags=FLAG_ACTIVE),
    )
    timed.apply(timed.order(1, MAKER, Side.BUY, START), timed.order(2, ACCOUNTS[0], Side.SELL, START))
    return timed


def run(core: MatchingCore, stops: int, kind: TriggerKind, *, chain: bool) -> list[str]:
    """The figures of a cascade of `stops` orders."""
    timed, placing, first_id = world(core), [], 1_000
    price_of = [START - 10 - (number if chain else number % 50) for number in range(stops)]
    for number in range(stops):
        order_id, account = first_id + number, ACCOUNTS[number % len(ACCOUNTS)]
        value = price_of[number] if kind == TriggerKind.FIXED else 10 + number % 50
        terms = Command(CommandKind.TERMS, kind, flags=TERMS_AT_OR_BELOW, order_id=order_id, price=value)
        placing.append(timed.apply(terms, timed.order(order_id, account, Side.SELL, 1))[0])
    extreme = 0.0
    if kind != TriggerKind.FIXED:
        extreme, _ = timed.apply(
            timed.order(3, MAKER, Side.BUY, START + 5), timed.order(4, ACCOUNTS[0], Side.SELL, START + 5)
        )
    # In a chain each stop sells to a buyer at the trigger of the next.
    if chain:
        for number in range(stops):
            timed.apply(timed.order(first_id * 1_000 + number, MAKER, Side.BUY, price_of[number] - 1))
        trigger = price_of[0]
    else:
        trigger = START - 70
        timed.apply(timed.order(5, MAKER, Side.BUY, trigger, stops))
    buyer = timed.order(6, MAKER, Side.BUY, trigger)
    timed.apply(buyer)
    firing, events = timed.apply(timed.order(7, ACCOUNTS[0], Side.SELL, trigger))
    triggered = _triggered(events)
    activations = []
    while core.activations_due():
        took, events = timed.apply(Command(CommandKind.ACTIVATE, symbol=SYMBOL))
        triggered += _triggered(events)
        activations.append(took)
    assert triggered == stops, f"{triggered} of {stops} stops were activated"
    assert not core.waiting_orders()
    return [
        f"{stops:,}",
        f"{statistics.mean(placing) * 1e3:,.1f} µs",
        f"{extreme * 1e3:,.0f} µs" if extreme else "",
        f"{firing:,.2f} ms",
        f"{statistics.median(activations) * 1e3:,.0f} µs",
        f"{max(activations):,.2f} ms",
        f"{(firing + sum(activations)):,.0f} ms",
    ]


def _triggered(events: bytes) -> int:
    return sum(event.type == EventType.TRIGGERED for event in decode_events(events))


def main() -> None:
    """Measure both cores and print one table."""
    parser = argparse.ArgumentParser(description="A cascade of stops on both cores.")
    parser.add_argument("--orders", type=int, default=100_000, help="stops of the Rust core")
    parser.add_argument("--reference-orders", type=int, default=1_000, help="stops of the reference")
    parsed = parser.parse_args()
    rows = []
    for name, make, stops in (
        ("Rust", rust_core, parsed.orders),
        ("reference", reference_core, parsed.reference_orders),
    ):
        for what, kind, chain in (
            ("one trade fires all", TriggerKind.FIXED, False),
            ("each fires the next", TriggerKind.FIXED, True),
            ("trailing", TriggerKind.TRAILING_DISTANCE, False),
        ):
            rows.append([f"{name}, {what}", *run(make(), stops, kind, chain=chain)])
    head = ("", "stops", "place one", "new extreme", "firing", "activate 32", "slowest", "in all")
    table(head, rows)


if __name__ == "__main__":
    main()
