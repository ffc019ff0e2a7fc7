"""Our FIFO against two independent implementations, on generated histories.

OPENSPOT_FIFO_HISTORIES sets how many histories there are (1,000 by default, of which `make test` runs the first
hundred), OPENSPOT_FIFO_SEED the first seed. A failure names its seed.
"""

import os
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from openspot.positions.fifo import Disposal, DisposalReason, FifoBook, Lot
from tests.support.fifo_histories import DAY_MS, random_history
from tests.support.fifo_oracles import OracleLot, Rp2Oracle, beancount_lots, decimal_of
from tests.support.parts import first_then_proof

HISTORIES = int(os.environ.get("OPENSPOT_FIFO_HISTORIES", "1000"))
FIRST_SEED = int(os.environ.get("OPENSPOT_FIFO_SEED", "0"))
CHUNK = 100
"""Histories of one test: rp2 needs a while for each."""
CHUNKS = [
    range(start, min(start + CHUNK, FIRST_SEED + HISTORIES))
    for start in range(FIRST_SEED, FIRST_SEED + HISTORIES, CHUNK)
]
SATOSHI = 10**10
ASSETS = ("BTC", "ETH", "BNB")

# rp2 computes with 31 digits, we with 18 places: they may differ where our parts are rounded down.
RP2_TOLERANCE = Decimal("1e-15")


def pair_of(disposal: Disposal) -> tuple[str, str]:
    """The disposal's key among the gains of an oracle."""
    suffix = ":fee" if disposal.reason is DisposalReason.FEE else ""
    return disposal.disposal_id + suffix, disposal.acquisition_id


@pytest.fixture(scope="module")
def rp2() -> Rp2Oracle:
    return Rp2Oracle(ASSETS)


@pytest.mark.parametrize("seeds", first_then_proof(*CHUNKS), ids=str)
def test_gains_equal_those_of_rp2(rp2: Rp2Oracle, seeds: range) -> None:
    compared = 0
    for seed in seeds:
        history = random_history(seed, 30, accounts=("main",), assets=ASSETS[:2], unit=SATOSHI)
        book = FifoBook("owner")
        found = [disposal for item in history for disposal in book.apply(item)]
        expected = {(gain.disposal_id, gain.acquisition_id): gain for gain in rp2.gains(history)}
        assert {pair_of(disposal) for disposal in found} == set(expected), f"seed {seed}"
        assert len(found) == len(expected), f"seed {seed}"
        for disposal in found:
            gain = expected[pair_of(disposal)]
            assert decimal_of(disposal.quantity) == gain.quantity, f"seed {seed}: {disposal}"
            assert abs(decimal_of(disposal.cost) - gain.cost) < RP2_TOLERANCE, f"seed {seed}: {disposal}"
            assert abs(decimal_of(disposal.proceeds) - gain.proceeds) < RP2_TOLERANCE, f"seed {seed}: {disposal}"
            compared += 1
    assert compared > 5 * len(seeds)


def lot_of(account: str, asset: str, lot: Lot) -> OracleLot:
    acquired_on = datetime.fromtimestamp(lot.acquired_at / 1000, UTC).date()
    return OracleLot(account, asset, acquired_on, decimal_of(lot.quantity), decimal_of(lot.cost))


@pytest.mark.parametrize("seeds", first_then_proof(*CHUNKS), ids=str)
def test_lots_per_account_and_through_transfers_equal_those_of_beancount(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        history = random_history(
            seed,
            40,
            accounts=("main", "cold", "desk"),
            step_ms=DAY_MS,
            fee_asset=None,
            unit=SATOSHI,
            cash_fees=False,
        )
        taken, left = beancount_lots(history)
        book = FifoBook("owner")
        for item in history:
            found = [
                lot_of(part.account, part.asset, Lot(part.acquired_at, part.acquisition_id, part.quantity, part.cost))
                for part in book.apply(item)
            ]
            assert found == taken.get(item.external_id, []), f"seed {seed}: {item}"
            compared += len(found)
        lots = [lot_of(held.account, held.asset, lot) for held in book.holdings() for lot in held.lots]
        assert lots == left, f"seed {seed}"
    assert compared > 5 * len(seeds)
