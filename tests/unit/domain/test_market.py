"""The configuration of the twelve markets."""

import pytest

from openspot.domain.market import load_markets
from openspot.domain.money import to_scaled
from openspot.domain.symbol import specification_error

CONFIGURATION = load_markets()


@pytest.mark.spec("A2.5-07")
def test_the_markets_are_the_twelve_of_the_spec() -> None:
    names = """
        BTC-USD ETH-USD SOL-USD BTC-BRL ETH-BRL SOL-BRL
        ETH-BTC BTC-USDT ETH-USDT SOL-USDT USDT-USD USDC-USD
    """
    assert sorted(CONFIGURATION.limits) == sorted(names.split())


@pytest.mark.spec("A8-42", "A8-43", "A8-44", "A8-45")
@pytest.mark.parametrize("symbol", sorted(CONFIGURATION.limits))
def test_each_market_has_limits_that_make_sense(symbol: str) -> None:
    limits = CONFIGURATION.limits[symbol]
    assert 0 < limits.quantity_min < limits.quantity_max
    assert 0 < limits.notional_min < limits.notional_max
    assert 0 < limits.deviation_bps_max <= 10_000
    assert 0 < limits.slippage_bps_max <= 10_000


@pytest.mark.parametrize("seed", CONFIGURATION.seeds, ids=lambda seed: seed.symbol)
def test_each_market_can_be_created_in_the_engine(seed) -> None:
    tick, lot = to_scaled(seed.tick, seed.quote_scale_k), to_scaled(seed.lot, seed.base_scale_k)
    error = specification_error(
        seed.base_scale_k, seed.quote_scale_k, tick, lot, seed.taker_fee_bps, seed.maker_fee_bps
    )
    assert error is None
    assert seed.base in CONFIGURATION.assets
    assert seed.quote in CONFIGURATION.assets


@pytest.mark.spec("A2.5-06")
def test_each_asset_has_a_deposit_scale() -> None:
    assert {asset: scale.places for asset, scale in CONFIGURATION.assets.items()} == {
        "USD": 2,
        "BRL": 2,
        "BTC": 8,
        "ETH": 18,
        "SOL": 9,
        "USDT": 6,
        "USDC": 6,
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ((10, 3, 1, 1, 1, 1), "quoteScaleK must be a power of ten"),
        ((0, 1, 1, 1, 1, 1), "baseScaleK must be a power of ten"),
        ((10**8, 10**7, 1, 1, 1, 1), "baseScaleK × quoteScaleK must not exceed 10^14"),
        ((1, 1, 0, 1, 1, 1), "tickSize must be positive"),
        ((1, 1, 1, -1, 1, 1), "lotSize must be positive"),
        ((1, 1, 1, 1, -1, 1), "takerFee must be between"),
        ((1, 1, 1, 1, 1001, 1), "takerFee must be between"),
        ((1, 1, 1, 1, 10, -11), "makerFee must be between"),
    ],
)
def test_a_bad_specification_is_refused_by_field(fields: tuple[int, ...], reason: str) -> None:
    error = specification_error(*fields)
    assert error is not None
    assert error.startswith(reason)
