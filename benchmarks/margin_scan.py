"""The margin scan over 10,000 indebted accounts, against the 5 s between two scans (fact A8-18).

    python -m benchmarks.margin_scan [--accounts 10000] [--rounds 9]

Each account holds and owes up to five assets. Two scans are timed: one in which every account is due, as after
interest was posted to all, and one in which the mark of a single asset changed.
"""

import argparse
import random
import statistics
import time

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.figures import AssetBalance
from openspot.margin.scan import IndebtedAccounts

ASSETS = ("BTC", "ETH", "SOL", "USDT", "USDC", "BRL", "XRP", "ADA", "DOT", "LTC")
INTERVAL_S = 5


def fill(accounts: IndebtedAccounts, count: int) -> None:
    """Put `count` accounts with random balances into the index."""
    source = random.Random(1)
    for number in range(count):
        held = source.sample(ASSETS, source.randrange(1, 6))
        balances = {asset: AssetBalance(held=source.randrange(10**18, 10**21)) for asset in held}
        balances[held[0]] = AssetBalance(
            source.randrange(10**18), source.randrange(1, 10**20), source.randrange(10**15)
        )
        accounts.put(f"account-{number}", balances)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    accounts = IndebtedAccounts()
    fill(accounts, options.accounts)
    assert len(accounts) == options.accounts
    prices = {asset: (number + 1) * AMOUNT_SCALE for number, asset in enumerate(ASSETS)}
    marks = {asset: AssetPrice(each, each, each, each, PriceState.GOOD) for asset, each in prices.items()}
    accounts.scan(ASSETS, marks)
    for name, changed in (("every account due", ASSETS), ("one mark changed", ASSETS[:1])):
        seconds, looked_at = [], 0
        for _ in range(options.rounds):
            began = time.perf_counter()
            looked_at = accounts.scan(changed, marks).looked_at
            seconds.append(time.perf_counter() - began)
        median = statistics.median(seconds)
        print(
            f"{name:<18} {looked_at:>6} accounts in {1000 * median:>7.1f} ms (median of {options.rounds}, "
            f"at most {1000 * max(seconds):.1f}), {100 * median / INTERVAL_S:.2f} % of the interval"
        )


if __name__ == "__main__":
    main()
