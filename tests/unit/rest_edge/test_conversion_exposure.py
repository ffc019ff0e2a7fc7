"""How much is converted within an hour: to the cent, for a user and for each asset but the dollar."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from openspot.rest_edge.products.conversions.exposure import WINDOW, ExposureError, ExposureLimits, check_exposure
from openspot.rest_edge.products.conversions.store import Exposure, Quote

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LIMITS = ExposureLimits(user_cents=1000, asset_cents=5000)
QUOTE = Quote(
    quote_id="q", user_id="u1", symbol="BTC-USD", source_asset="USD", destination_asset="BTC", source_amount=1,
    destination_amount=1, spread_amount=0, spread_bps=0, value_cents=400, is_funded=True, created_at=NOW,
    expires_at=NOW,
)  # fmt: skip


def test_the_window_is_an_hour() -> None:
    assert WINDOW.total_seconds() == 3600


def test_limits_are_inclusive() -> None:
    check_exposure(LIMITS, Exposure(600, 0, 4600), QUOTE)
    with pytest.raises(ExposureError, match=r"you can convert 10.00 USD within an hour, of which 6.01 are used, and"):
        check_exposure(LIMITS, Exposure(601, 0, 0), QUOTE)
    with pytest.raises(ExposureError, match="conversions of BTC have reached what the platform takes"):
        check_exposure(LIMITS, Exposure(0, 0, 4601), QUOTE)


def test_the_dollar_has_no_limit_of_its_own_and_every_other_asset_has() -> None:
    check_exposure(LIMITS, Exposure(0, 10**9, 0), QUOTE)
    through_another = replace(QUOTE, source_asset="USDT", symbol="BTC-USDT")
    with pytest.raises(ExposureError, match="conversions of USDT"):
        check_exposure(LIMITS, Exposure(0, 4601, 0), through_another)
