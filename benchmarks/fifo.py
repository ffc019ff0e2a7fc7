"""FIFO cost basis beside rp2, an independent implementation, on the same history in one run.

    python -m benchmarks.fifo [--transactions 100000] [--rounds 3] [--stream 1000000]

Comparison: a history of one account with cash fees and fees paid in an asset. Each side gets its own records made
beforehand; only the computation of every gain is timed, in turns. rp2 works asset by asset, we on the whole history.
Both must find the same number of gains, the same quantity and, to the cent, the same sum.

Stream: `--stream` lines of CSV are made, parsed, checked, applied and forgotten one by one; the memory of the process
is read on the way.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from decimal import Decimal

import psutil

from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.positions.fifo import FifoBook
from openspot.positions.fifo_transaction import FifoTransaction
from openspot.positions.import_records import Refused, read_csv
from openspot.positions.import_rules import AcceptedTransaction, ImportDefaults, parse_rows, sort_out_known
from tests.support.fifo_histories import random_history
from tests.support.fifo_oracles import Rp2Oracle, decimal_of

ASSETS = ("BTC", "ETH", "SOL", "BNB")
BATCH = 1000


def compare(count: int, rounds: int) -> None:
    """Time both sides and print rates and ratio."""
    history = random_history(1, count, accounts=("main",), assets=ASSETS[:3], step_ms=60_000, unit=10**10)
    oracle = Rp2Oracle(ASSETS)
    inputs = oracle.inputs(history)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        book = FifoBook("owner")
        disposals = [disposal for item in history for disposal in book.apply(item)]
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        gains = oracle.compute(inputs)
        theirs.append(time.perf_counter() - began)
    assert len(disposals) == len(gains)
    disposed = sum((Decimal(gain.crypto_amount) for gain in gains), Decimal(0))
    assert decimal_of(sum(disposal.quantity for disposal in disposals)) == disposed
    found = decimal_of(sum(disposal.gain for disposal in disposals))
    expected = sum((Decimal(gain.fiat_gain) for gain in gains), Decimal(0))
    assert abs(found - expected) < Decimal("0.01"), (found, expected)
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"{count} transactions, {len(disposals)} gains, the same on both sides; median of {rounds} rounds")
    print(f"  openspot  {mine:>8.3f} s  {count / mine:>9,.0f} transactions/s")
    print(f"  rp2       {other:>8.3f} s  {count / other:>9,.0f} transactions/s")
    print(f"  openspot / rp2  {other / mine:.1f}  (target 5)")


def csv_lines(count: int) -> Iterator[str]:
    """A header and `count` rows. Every purchase is sold again soon, so that few lots are open at any time."""
    yield "externalId,timestamp,type,asset,quantity,value,fee\n"
    for number in range(count):
        kind = "sell" if number % 4 == 3 else "buy"
        quantity = 3 if kind == "sell" else 1
        yield f"row-{number:09d},{1_600_000_000_000 + 1000 * number},{kind},BTC,{quantity},{quantity * 100}.07,0.25\n"


def accepted(count: int) -> Iterator[FifoTransaction]:
    """The transactions of the CSV, batch by batch, as an import takes them."""
    layout, rows = read_csv(csv_lines(count))
    batch = []
    for row in parse_rows(rows, layout, ImportDefaults("main", "USD")):
        assert not isinstance(row, Refused), row
        batch.append(row)
        if len(batch) == BATCH:
            yield from (item.transaction for item in sort_out_known(batch, {}) if isinstance(item, AcceptedTransaction))
            batch = []
    yield from (item.transaction for item in sort_out_known(batch, {}) if isinstance(item, AcceptedTransaction))


def stream(count: int) -> None:
    """Import and compute `count` lines and print rate and memory."""
    process = psutil.Process()
    began = time.perf_counter()
    print(f"\n{count} lines of CSV, imported and computed one by one")
    gain = disposals = 0
    book = FifoBook("owner")
    for number, transaction in enumerate(accepted(count), start=1):
        for disposal in book.apply(transaction):
            gain += disposal.gain
            disposals += 1
        if number % max(count // 5, 1) == 0:
            memory = process.memory_info().rss / 2**20
            print(f"  {book.last_key[1]}  {time.perf_counter() - began:>6.1f} s  {memory:>6.0f} MiB", flush=True)
    seconds = time.perf_counter() - began
    print(f"  {count / seconds:,.0f} lines/s, {disposals} disposals, gain {amount_to_text(gain)}")
    # Three units bought for 100.32 each are sold for 299.82.
    assert gain == (count // 4) * (29_982 - 3 * 10_032) * AMOUNT_SCALE // 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transactions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", type=int, default=1_000_000)
    options = parser.parse_args()
    compare(options.transactions, options.rounds)
    stream(options.stream)


if __name__ == "__main__":
    main()
