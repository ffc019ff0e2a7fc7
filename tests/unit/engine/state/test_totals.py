"""Counts of orders and trades."""

import pytest

from openspot.engine.state.totals import Totals, TradeTally


def test_sums_beyond_64_bits_survive_a_snapshot() -> None:
    totals = Totals()
    totals.placed, totals.rejected, totals.cancelled = 3, 2, 1
    tally = totals.new_tally(7)
    tally.trades += 1
    tally.quantity += 2**70
    tally.notional += 2**140
    again = Totals()
    again.restore(totals.snapshot())
    assert (again.placed, again.rejected, again.cancelled) == (3, 2, 1)
    assert again.tallies == {7: TradeTally(trades=1, quantity=2**70, notional=2**140)}
    assert again.snapshot() == totals.snapshot()


@pytest.mark.parametrize("content", [b"", b"\x01", Totals().snapshot()[:-1]])
def test_a_malformed_snapshot_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a snapshot"):
        Totals().restore(content)
