"""Prints what each strategy came to: `python -m tests.simulation.economics [SEED]`."""

import sys

from openspot.domain.money import AMOUNT_SCALE
from tests.simulation.economics.attacks import PATIENT, STRATEGIES, play


def main() -> None:
    """Play all strategies with one seed, and print a table in Markdown."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print("| Strategy | Accounts | Minutes | Attackers end with (USD) | Bound (USD) | Findings |")
    print("|---|---|---|---|---|---|")
    for strategy in (*STRATEGIES, *PATIENT):
        outcome = play(strategy, seed)
        gain = round(outcome.gain / AMOUNT_SCALE)
        findings = "; ".join(outcome.findings) or "none"
        name = f"`{strategy.name}`"
        print(f"| {name} | {strategy.accounts} | {outcome.minutes} | {gain:+,} | {strategy.gain_max:,} | {findings} |")


if __name__ == "__main__":
    main()
