"""Real order flow of a venue, which is too large to be kept with the code and may lie beside the checkout."""

from pathlib import Path

import pytest

BITSTAMP = Path(__file__).resolve().parents[3] / "shared/data/bitstamp_btcusd_20150501_orders.csv.gz"
"""A day of level-3 order flow of Bitstamp, BTC-USD."""

needs_bitstamp = pytest.mark.skipif(
    not BITSTAMP.exists(), reason=f"the venue's order flow is not kept with the code: {BITSTAMP.name} in ../shared/data"
)

BINANCE = Path(__file__).resolve().parents[3] / "shared/data/binance_spot_btcusdt_20240808_2354-2400.ndjson.gz"
"""Six minutes of Binance's streams of BTCUSDT: best bid and ask, trades, depth, and one depth snapshot."""

needs_binance = pytest.mark.skipif(
    not BINANCE.exists(), reason=f"the venue's messages are not kept with the code: {BINANCE.name} in ../shared/data"
)
