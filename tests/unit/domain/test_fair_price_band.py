"""The width of a price band: the market's own while the price is good, wider and bounded while it is not."""

import pytest

from openspot.domain.fair_price.band import width_bps
from openspot.domain.fair_price.model import PriceState


@pytest.mark.parametrize(
    ("state", "unsure_s", "width"),
    [
        (PriceState.GOOD, 0, 2000),
        (PriceState.GOOD, 10_000, 2000),
        (PriceState.THIN, 0, 3000),
        (PriceState.THIN, 299.9, 3000),
        (PriceState.THIN, 300, 5000),
        (PriceState.THIN, 10_000, 9000),
        (PriceState.STALE, 0, 4000),
        (PriceState.DISPUTED, 0, 4000),
        (PriceState.DISPUTED, 299.9, 4000),
        (PriceState.DISPUTED, 300, 6000),
        (PriceState.STALE, 600, 8000),
        # 90 % at most, and five times the market's own width at most.
        (PriceState.STALE, 900, 9000),
        (PriceState.STALE, 10**9, 9000),
    ],
)
def test_a_band_of_twenty_percent(state: PriceState, unsure_s: float, width: int) -> None:
    assert width_bps(2000, state, unsure_s) == width


def test_a_narrow_band_widens_to_five_times_and_a_very_wide_one_never_shrinks() -> None:
    assert width_bps(500, PriceState.DISPUTED, 10**9) == 2500
    assert width_bps(9500, PriceState.DISPUTED, 10**9) == 9500
